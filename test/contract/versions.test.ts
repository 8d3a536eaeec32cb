/**
 * Tests that the version of a reader or of a table's SQL is raised when its output changes. Without a new version, a database would keep the old output.
 * `versions.json` has the version and the output of each. If a golden file changes without a new version, the test fails and names the next version
 * number.
 *
 * After raising the version, run `npx vitest run test/contract/versions.test.ts -u`.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { SECTION_FOLDER, sectionFolders, sha256, tableFiles } from '../../pipelines/contract/sql-files.ts';
import { ROOT } from '../harness/architecture/project.ts';
import { goldenOf } from '../harness/golden.ts';

/** Version of the synthetic region behind the golden files of tables. Raise this version if the synthetic files change but the rules do not. */
const SYNTHETIC = 1;

interface Recorded {
  readonly version: number;
  /** Maps a golden file to the digests of its inputs and of its content. */
  readonly goldens: Readonly<Record<string, string>>;
}

interface Versions {
  readonly synthetic: number;
  /** Recorded versions of readers, by source id. */
  readonly sources: Readonly<Record<string, Recorded>>;
  /** Recorded versions of tables, by SQL file. */
  readonly tables: Readonly<Record<string, Recorded>>;
}

/** Maps a table to the tables and sources from which the table is built, directly or indirectly. */
type Upstream = ReadonlyMap<string, readonly string[]>;

function digest(...texts: readonly (string | Buffer)[]): string {
  return sha256(texts.map((text) => sha256(text)).join('\n')).slice(0, 12);
}

async function found(): Promise<{ versions: Versions; upstream: Upstream }> {
  const sources = await loadSources();
  const makers = tableFiles();
  const upstream = new Map(makers.map((file) => {
    const reached = new Set<string>();
    const follow = (each: typeof file): void => each.reads.forEach((read) => {
      const maker = makers.find(({ writes }) => writes[0] === read);
      const source = sources.find(({ layer }) => layer.writes.includes(read));
      if (source !== undefined) reached.add(source.id);
      if (maker === undefined || maker === file || reached.has(maker.file)) return;
      reached.add(maker.file);
      follow(maker);
    });
    follow(file);
    return [file.file, [...reached]] as const;
  }));
  return {
    upstream,
    versions: {
      synthetic: SYNTHETIC,
      sources: Object.fromEntries(sources.map(({ id, folder, manifest }) => {
        const fixtures = readdirSync(join(ROOT, folder, 'fixture')).sort();
        const goldens = readdirSync(join(ROOT, folder, 'golden')).sort().map((name) => {
          const stem = name.replace(/\.json$/, '');
          const from = fixtures.filter((fixture) => fixture.startsWith(`${stem}.`)).map((fixture) => readFileSync(join(ROOT, folder, 'fixture', fixture)));
          return [name, `${digest(...from)} ${digest(JSON.stringify(JSON.parse(readFileSync(join(ROOT, folder, 'golden', name), 'utf8'))))}`] as const;
        });
        return [id, { version: manifest.version, goldens: Object.fromEntries(goldens) }] as const;
      })),
      tables: Object.fromEntries(makers.map((file) => {
        const golden = goldenOf(file);
        return [file.file, { version: file.version!, goldens: { [golden]: digest(readFileSync(join(ROOT, golden))) } }] as const;
      })),
    },
  };
}

/** Returns a line for each contradiction with the recorded versions. Each line states what to do. */
function violations(was: Versions, now: Versions, upstream: Upstream): string[] {
  const lowered = (name: string, before: Recorded | undefined, after: Recorded): string[] =>
    before !== undefined && after.version < before.version ? [`the version of ${name} was ${before.version} and is ${after.version}. A version must not be lowered.`] : [];
  const raised = (before: Recorded | undefined, after: Recorded | undefined): boolean =>
    before === undefined || after === undefined || after.version > before.version;
  const reported: string[] = [];
  for (const [id, after] of Object.entries(now.sources)) {
    const before = was.sources[id];
    reported.push(...lowered(`sources/${id}`, before, after));
    if (before === undefined || raised(before, after)) continue;
    const changed = Object.entries(after.goldens).filter(([name, text]) => before.goldens[name]?.split(' ')[0] === text.split(' ')[0] && before.goldens[name] !== text).map(([name]) => name);
    if (changed.length > 0) {
      reported.push(`the output of sources/${id} for the same files changed (golden/${changed.join(', golden/')}) while its version is still ${after.version}: raise \`version\` in sources/${id}/manifest.ts to ${after.version + 1}`);
    }
  }
  for (const [file, after] of Object.entries(now.tables)) {
    const before = was.tables[file];
    reported.push(...lowered(file, before, after));
    const isNew =
      now.synthetic > was.synthetic
      || (upstream.get(file) ?? []).some((name) => raised(was.tables[name] ?? was.sources[name], now.tables[name] ?? now.sources[name]));
    if (before === undefined || raised(before, after) || isNew) continue;
    for (const [name, text] of Object.entries(after.goldens)) {
      if (before.goldens[name] === text) continue;
      reported.push(`the output of ${file} changed (${name}) while its version is still ${after.version}: raise its \`-- version:\` to ${after.version + 1}; `
        + `if only the synthetic files changed, raise SYNTHETIC in test/contract/versions.test.ts to ${now.synthetic + 1}`);
    }
  }
  return reported;
}

/**
 * Path of the recorded versions. The versions of a section's tables are recorded in the section's folder, which can thus be moved or deleted as a whole.
 */
const RECORD = 'test/contract/versions.json';
const recordsOf = (section: string): string => `${SECTION_FOLDER}/${section}/golden/versions.json`;
const { versions, upstream } = await found();

function recorded(): Versions {
  const read = (file: string): unknown => (existsSync(join(ROOT, file)) ? JSON.parse(readFileSync(join(ROOT, file), 'utf8')) : {});
  const common = read(RECORD) as Versions;
  return { ...common, tables: Object.assign({}, common.tables, ...sectionFolders().map((section) => read(recordsOf(section)) as object)) as Versions['tables'] };
}

/** Returns the content of each record file. */
function records(): Map<string, unknown> {
  const tables = Object.entries(versions.tables);
  const of = (section: string | null): Versions['tables'] => Object.fromEntries(tables.filter(([file]) => (section === null ? !file.startsWith(SECTION_FOLDER) : file.startsWith(`${SECTION_FOLDER}/${section}/`))));
  return new Map<string, unknown>([
    [RECORD, { ...versions, tables: of(null) }],
    ...sectionFolders().map((section) => [recordsOf(section), of(section)] as const),
  ]);
}

describe('the output of sources and tables', () => {
  it('changes only if a version was raised', () => {
    expect(violations(recorded(), versions, upstream)).toEqual([]);
  });

  it('is recorded with its version in versions.json (npx vitest run test/contract/versions.test.ts -u)', async () => {
    // This test runs after the test above, because a new record would hide the result of that test.
    if (violations(recorded(), versions, upstream).length > 0) throw new Error('first raise the versions named by the test above');
    for (const [file, record] of records()) await expect(`${JSON.stringify(record, null, 1)}\n`).toMatchFileSnapshot(join(ROOT, file));
  });
});

describe('the rule', () => {
  const record: Versions = {
    synthetic: 1,
    sources: { a: { version: 3, goldens: { 'x.json': 'in1 out1', 'y.json': 'in2 out2' } }, b: { version: 1, goldens: {} } },
    tables: { 'sql/core/t.sql': { version: 2, goldens: { 'test/sections/golden/core-t.json': 'g1' } }, 'sql/sections/s/build.sql': { version: 5, goldens: { 'sql/sections/s/golden/s.json': 'g2' } } },
  };
  const above: Upstream = new Map([['sql/core/t.sql', ['a']], ['sql/sections/s/build.sql', ['sql/core/t.sql', 'a']]]);
  const source = (change: Partial<Recorded>): Versions => ({ ...record, sources: { ...record.sources, a: { ...record.sources['a']!, ...change } } });
  const table = (name: string, change: Partial<Recorded>, from = record): Versions => ({
    ...from,
    tables: { ...from.tables, [name]: { ...from.tables[name]!, ...change } },
  });

  it('names the version to raise if a golden file changes without a new version', () => {
    expect(violations(record, source({ goldens: { 'x.json': 'in1 other', 'y.json': 'in2 out2' } }), above)).toEqual([
      'the output of sources/a for the same files changed (golden/x.json) while its version is still 3: raise `version` in sources/a/manifest.ts to 4',
    ]);
    expect(violations(record, table('sql/sections/s/build.sql', { goldens: { 'sql/sections/s/golden/s.json': 'other' } }), above)).toEqual([
      'the output of sql/sections/s/build.sql changed (sql/sections/s/golden/s.json) while its version is still 5: raise its `-- version:` to 6; '
      + 'if only the synthetic files changed, raise SYNTHETIC in test/contract/versions.test.ts to 2',
    ]);
  });

  it('accepts a raised version and reports a lowered version', () => {
    expect(violations(record, source({ version: 4, goldens: { 'x.json': 'in1 other', 'y.json': 'in2 out2' } }), above)).toEqual([]);
    expect(violations(record, table('sql/sections/s/build.sql', { version: 6, goldens: { 'sql/sections/s/golden/s.json': 'other' } }), above)).toEqual([]);
    expect(violations(record, source({ version: 2 }), above)).toEqual(['the version of sources/a was 3 and is 2. A version must not be lowered.']);
    expect(violations(record, table('sql/core/t.sql', { version: 1 }), above)).toEqual(['the version of sql/core/t.sql was 2 and is 1. A version must not be lowered.']);
  });

  it('requires nothing for a new fixture, a new source, new synthetic files, or a new version of an input', () => {
    expect(violations(record, source({ goldens: { 'x.json': 'in9 other', 'y.json': 'in2 out2', 'z.json': 'in3 out3' } }), above)).toEqual([]);
    expect(violations(record, { ...record, sources: { ...record.sources, c: { version: 1, goldens: { 'x.json': 'in out' } } } }, above)).toEqual([]);
    expect(violations(record, { ...table('sql/core/t.sql', { goldens: { 'test/sections/golden/core-t.json': 'other' } }), synthetic: 2 }, above)).toEqual([]);
    expect(violations(record, table('sql/sections/s/build.sql', { goldens: { 'sql/sections/s/golden/s.json': 'other' } }, table('sql/core/t.sql', { version: 3 })), above)).toEqual([]);
    expect(violations(record, table('sql/sections/s/build.sql', { goldens: { 'sql/sections/s/golden/s.json': 'other' } }, source({ version: 4 })), above)).toEqual([]);
  });

  it('requires new versions for changed tables, but not for unchanged tables that are built from them', () => {
    const changed = table('sql/sections/s/build.sql', { version: 6 }, table('sql/core/t.sql', { goldens: { 'test/sections/golden/core-t.json': 'other' } }));
    expect(violations(record, changed, above)).toHaveLength(1);
  });
});
