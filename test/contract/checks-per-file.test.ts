/**
 * Tests that the checks of a source do not report contradictions between files of a release. Several files of a release may contain the same rows, or may
 * contradict each other. Such a contradiction is the error `FILES_CONTRADICT`, which names both files. Checks run earlier and would hide this error.
 */
import { beforeAll, expect, it } from 'vitest';
import { loadSources, type RegisteredSource } from '../../pipelines/contract/registry.ts';
import type { Database } from '../../pipelines/db/index.ts';
import { describeDatabase } from '../harness/database.ts';
import { loaded } from '../harness/loaded.ts';
import { readSourceGolden } from '../harness/source-goldens.ts';

type Rows = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

/** Checks that compare different files on purpose. They are warnings, so that they do not hide the error `FILES_CONTRADICT`. */
const BETWEEN_FILES = [
  'warn total_accesses_agree', 'warn egms_pid_unique', 'warn link_zona_agrees_between_files', 'warn quotations_have_their_zone', 'warn perimeters_have_their_zone',
];

/** Number of members of a file in these tests. */
const MEMBERS = 20;

/** Returns the rows of each fixture in the golden file of a source. */
function filesOf(source: RegisteredSource): Rows[] {
  const rows = Object.values(readSourceGolden(source)?.fixtures ?? {}).flatMap(({ output }) => (output.rows === undefined ? [] : [output.rows]));
  return rows.filter((tables) => Object.values(tables).some((each) => each.length > 0));
}

/** Returns the statements that stage the rows of files. Each file has its own members. */
function statements(files: readonly Rows[]): string {
  return files.flatMap((rows, index) => [
    `update member set file_id = ${index + 1} where member_id between ${index * MEMBERS + 1} and ${(index + 1) * MEMBERS};`,
    ...Object.entries(rows).map(([table, values]) => {
      const text = JSON.stringify(values.map((row) => ({ ...row, member_id: index * MEMBERS + Number(row['member_id']) })));
      return `insert into ${table} select * from json_populate_recordset(null::${table}, $rows$${text}$rows$);`;
    }),
  ]).join('\n');
}

const sources = (await loadSources()).filter((source) => source.checks !== null && filesOf(source).length > 0);

describeDatabase('the checks of a release with several files', (engine) => {
  let database: Database;
  beforeAll(async () => {
    database = await engine.openDatabase();
  });

  it.each(
    sources.map((source) => [source.id, source] as const),
  )('report for all fixtures of %s together only violations that a fixture also has alone, except by checks between files', async (id, source) => {
    const files = filesOf(source);
    const violations = (of: readonly Rows[]): Promise<string[]> =>
      loaded(database, id, statements(of), async ({ checks }) => (await checks()).map(({ name, level }) => `${level} ${name}`));
    const alone = new Set<string>();
    for (const file of files) for (const each of await violations([file])) alone.add(each);
    // Each file is also loaded twice.
    const together = await violations([...files, ...files]);
    expect(together.filter((each) => !alone.has(each) && !BETWEEN_FILES.includes(each))).toEqual([]);
  });
});
