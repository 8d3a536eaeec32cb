/** Tests how a migration applies a change of a source's layers to layers with rows. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../pipelines/db/index.ts';
import { migrate } from '../../pipelines/db/migrate.ts';
import { requireCurrent } from '../../pipelines/db/state.ts';
import type { MappaleError } from '../../pipelines/errors.ts';
import { loadSources, type RegisteredSource } from '../../pipelines/contract/registry.ts';
import { parseSqlFile } from '../../pipelines/contract/sql-files.ts';
import { describeDatabase } from '../harness/database.ts';
import { contentOf, FIXTURES, fixture, shapeOf } from '../harness/migration-fixture.ts';

/** Source of the test. Any source is suitable, because the test changes the source's file. */
const ID = 'dpc_seismic';
const LAYER = 'layer.seismic_zone';

interface Case {
  readonly what: string;
  /** Changes the text of the source's SQL file. */
  readonly change: (text: string) => string;
  /** Expected steps of the migration. */
  readonly steps: readonly RegExp[];
  /** Expected change of a row's JSON. Absent if the rows stay unchanged or the layer is dropped. */
  readonly rows?: (row: Record<string, unknown>) => Record<string, unknown>;
}

const column = (line: string) => (text: string): string => text.replace(/\n\) partition by/, `,\n  ${line}\n) partition by`);
const without = (name: string) => (text: string): string => text.replace(new RegExp(`\n  ${name} [^\n]*`), '').replace(new RegExp(`comment on column layer\\.seismic_zone\\.${name} is [^\n]*\n`), '').replace(/,\n\) partition/, '\n) partition');
const retyped = (name: string, type: string) => (text: string): string => text.replace(new RegExp(`\n  ${name} [a-z0-9]+`), `\n  ${name} ${type}`);

const KEEPS: readonly Case[] = [
  { what: 'comments and layout', change: (text) => text.replace(/^create table/m, '/* of all Italy */ create\n    table'), steps: [] },
  { what: 'a description', change: (text) => text.replace(/(comment on table layer\.seismic_zone is ')/, '$1New: '), steps: [] },
  { what: 'a nullable column', change: column('note text'), steps: [/layer\.seismic_zone: column note added, empty/], rows: (row) => ({ ...row, note: null }) },
  { what: 'a column with a default value', change: column('edition int4 not null default 7'), steps: [/column edition added/], rows: (row) => ({ ...row, edition: 7 }) },
  {
    what: 'a generated column', change: column('code_length int4 generated always as (length(istat_code)) stored'), steps: [/column code_length added/],
    rows: (row) => ({ ...row, code_length: String(row['istat_code']).length }),
  },
  { what: 'a dropped column', change: without('name'), steps: [/column name dropped/], rows: ({ name: _, ...row }) => row },
  { what: 'a type with a larger range', change: retyped('position', 'numeric'), steps: [/column position made numeric/] },
  { what: 'a column that becomes nullable', change: (text) => text.replace(/(\n {2}istat_code text) not null/, '$1'), steps: [/column istat_code may be empty/] },
  { what: 'a column that becomes not null, if the column has no nulls', change: (text) => text.replace(/(\n {2}sigla text)/, '$1 not null'), steps: [/column sigla may not be empty/] },
  { what: 'an additional index', change: (text) => `${text}-- serves: nothing\ncreate index on layer.seismic_zone (name);\n`, steps: [/indexes created again/] },
  { what: 'a dropped index', change: (text) => text.replace(/create index[^\n]*\n/, ''), steps: [/indexes created again/] },
  { what: 'a constraint that the rows satisfy', change: column('check (position > 0)'), steps: [/CHECK .* added/] },
  {
    what: 'an additional layer', change: (text) => `${text.replace(`-- writes: ${LAYER}`, `-- writes: ${LAYER}, layer.seismic_note`)}create table layer.seismic_note (release_id int4 not null) partition by list (release_id);\n`,
    steps: [/layer\.seismic_note: created, empty/],
  },
  {
    what: 'a dropped layer', change: () => '-- purpose: none\n-- reads: none\n-- writes: layer.seismic_other\n-- grain: none\n-- crs: none\ncreate table layer.seismic_other (release_id int4 not null) partition by list (release_id);\n',
    steps: [/layer\.seismic_other: created, empty/, /layer\.seismic_zone: dropped, because the source no longer has this layer/],
  },
];

const LOSES: readonly (Pick<Case, 'what' | 'change'> & { readonly first?: string })[] = [
  { what: 'a new not-null column without a default value', change: column('edition int4 not null') },
  { what: 'a narrower type', change: retyped('position', 'int2') },
  { what: 'an incompatible type', change: retyped('istat_code', 'int4') },
  { what: 'a column that becomes not null, although the column has nulls', change: (text) => text.replace(/(\n {2}sigla text)/, '$1 not null'), first: `update ${LAYER} set sigla = null where position = 2` },
  { what: 'a constraint that the rows violate', change: column('check (position < 0)') },
  { what: 'a different partitioning', change: (text) => text.replace('partition by list (release_id)', 'partition by range (release_id)') },
];

/** Returns all sources, with a changed file for the tested source. */
function changed(sources: readonly RegisteredSource[], change: (text: string) => string, version?: number): RegisteredSource[] {
  return sources.map((source) => {
    if (source.id !== ID) return source;
    const text = change(source.layer.text);
    if (text === source.layer.text) throw new Error('the case changes nothing');
    // `layers` describes the expected database objects of the source, but cannot express all cases. If `layers` is empty, no objects are expected.
    const manifest = { ...source.manifest, version: version ?? source.manifest.version };
    return { ...source, manifest, layer: parseSqlFile(source.layer.file, text), layers: {} };
  });
}

describeDatabase('layers with rows', (engine) => {
  const made = fixture(FIXTURES[0]!);
  let database: Database;
  let sources: readonly RegisteredSource[];
  let original: RegisteredSource;
  /** Id of the loaded release, which is also the key of the layer's partition. */
  let release: number;

  const rows = (): Promise<Record<string, unknown>[]> => database.query<{ row: Record<string, unknown> }>(`select to_jsonb(t) as row from ${LAYER} t order by member_id, position`).then((found) => found.map(({ row }) => row));
  const everything = (): Promise<Record<string, string>> => database.session(async (session) => contentOf(session, await shapeOf(session)));
  /** Returns the content of the layers of the source, and of the releases, files and members in the ledger. */
  const near = (): Promise<Record<string, string>> => database.session(async (session) => contentOf(session, new Map([...(await shapeOf(session))].filter(([table]) => /^(layer\.seismic|ledger\.(release|file|member)$)/.test(table)))));
  const isOut = (all: readonly RegisteredSource[]): Promise<boolean> => requireCurrent(database, all).then(() => false, (error: MappaleError) => error.code === 'DATABASE_OUT_OF_DATE');

  beforeAll(async () => {
    database = await engine.openDatabase(await made.restore(engine));
    sources = await loadSources();
    original = sources.find(({ id }) => id === ID)!;
    await migrate(database, sources);
    release = (await database.query<{ id: number }>('select release_id as id from ledger.release where source_id = $1', [ID]))[0]!.id;
    await database.query(`create table public.kept as select * from ${LAYER}`);
  });

  /** Each case starts from the original file and the originally loaded rows. */
  beforeEach(async () => {
    await database.session(async (session) => {
      for (const { name } of await session.query<{ name: string }>("select relname as name from pg_class where relnamespace = 'layer'::regnamespace and relkind = 'p' and relname like 'seismic%'")) await session.query(`drop table layer.${name} cascade`);
      await session.script(original.layer.text, original.layer.file);
      await session.query(`create table ${LAYER}_${release} partition of ${LAYER} for values in (${release})`);
      await session.query(`insert into ${LAYER} select * from public.kept`);
      await session.query('update ledger.applied_file set sha256 = $2, version = $3 where file = $1', [original.layer.file, original.layer.digest, original.manifest.version]);
    });
  });

  describe('are migrated without confirmation if the change is', () => {
    for (const { what, change, steps, rows: expected = (row: Record<string, unknown>) => row } of KEEPS) {
      it(what, async () => {
        const all = changed(sources, change);
        const was = await rows();
        // A change of comments and layout needs no migration, so reading commands continue to work.
        expect(await isOut(all)).toBe(what !== 'comments and layout');
        const found = await migrate(database, all);
        expect(found.losses).toEqual([]);
        for (const step of steps) expect(found.steps.some((line) => step.test(line)), `${step} in ${found.steps.join('; ')}`).toBe(true);
        expect(found.steps).toHaveLength(steps.length);
        if (what !== 'a dropped layer') expect(await rows()).toEqual(was.map(expected));
        expect(await isOut(all)).toBe(false);
        expect(await migrate(database, all)).toEqual({ steps: [], losses: [] });
      });
    }

    it('a new description of a column', async () => {
      await migrate(database, changed(sources, (text) => text.replace(/(comment on column layer\.seismic_zone\.name is ')/, '$1New: ')));
      const [found] = await database.query<{ text: string }>(`select col_description('${LAYER}'::regclass, attnum) as text from pg_attribute where attrelid = '${LAYER}'::regclass and attname = 'name'`);
      expect(found!.text).toMatch(/^New: /);
    });

    it('the removal of a column that a view of an interrupted build reads', async () => {
      await database.query('create schema build_14');
      await database.query(`create view build_14.seismic_zone as select * from ${LAYER}`);
      expect((await migrate(database, changed(sources, without('sigla')))).steps).toEqual([`${LAYER}: column sigla dropped`]);
    });
  });

  describe('are unchanged if the change would lose rows:', () => {
    for (const { what, change, first } of LOSES) {
      it(what, async () => {
        if (first !== undefined) await database.query(first);
        const all = changed(sources, change);
        const was = await near();
        const error = await migrate(database, all).then(() => null, (thrown: MappaleError) => thrown);
        expect({ code: error?.code, exit: error?.exitCode, at: error?.at }).toEqual({ code: 'MIGRATION_LOSES', exit: 2, at: original.folder });
        expect(error!.detail).toMatch(/^dpc_seismic: layer\.seismic_zone: .+\. The upgrade would lose 5 rows of 1 release \(2025\), which were read from 1 file\. Files that no longer exist, so that their rows cannot be read again: ./);
        expect(error!.detail).toContain('classificazione-sismica-aggiornata-maggio-2025.csv');
        expect(error!.fix).toContain('mappale migrate --yes');
        expect(await near()).toEqual(was);
        // A dry run reports the same losses and changes nothing.
        expect((await migrate(database, all, { dry: true })).losses).toMatchObject([{ source: ID, rows: 5, files: 1 }]);
        expect(await near()).toEqual(was);
        expect(await isOut(all)).toBe(true);
        expect(await isOut(sources)).toBe(false);
      });
    }

    it('several changes, if one of them loses rows', async () => {
      const was = await near();
      await expect(migrate(database, changed(sources, (text) => column('note text')(retyped('position', 'int2')(text))))).rejects.toMatchObject({ code: 'MIGRATION_LOSES' });
      expect(await near()).toEqual(was);
    });
  });

  it('cannot be used or migrated by a program with a lower version of the source', async () => {
    await migrate(database, changed(sources, column('note text'), 8));
    await expect(migrate(database, sources)).rejects.toMatchObject({ code: 'DATABASE_NEWER', exitCode: 6 });
    await expect(requireCurrent(database, sources)).rejects.toMatchObject({ code: 'DATABASE_NEWER', detail: expect.stringContaining('version 8 of dpc_seismic') as string });
    await requireCurrent(database, changed(sources, column('note text'), 9));
  });

  if (engine.name === 'postgres') it('cannot be changed while another program writes', async () => {
    const all = changed(sources, column('note text'));
    await database.session(async (session) => {
      await session.query("select pg_advisory_lock(hashtextextended('mappale writer', 0))");
      await expect(migrate(database, all)).rejects.toMatchObject({ code: 'ALREADY_RUNNING', exitCode: 7 });
      // A migration without changes succeeds.
      expect(await migrate(database, sources)).toEqual({ steps: [], losses: [] });
      await session.query("select pg_advisory_unlock(hashtextextended('mappale writer', 0))");
    });
  });

  it('lose only the rows of the changed source, with its releases in the ledger, if the user confirms the loss', async () => {
    const was = await everything();
    const { steps } = await migrate(database, changed(sources, LOSES[0]!.change), { lose: true });
    expect(steps).toEqual([expect.stringMatching(/^dpc_seismic: 5 rows of 1 releases deleted \(/)]);
    const after = await everything();
    const differing = [...new Set([...Object.keys(was), ...Object.keys(after)])].filter((table) => was[table] !== after[table]);
    expect(differing.sort()).toEqual([`${LAYER}_${release}`, 'ledger.duplicate', 'ledger.file', 'ledger.member', 'ledger.release'].sort());
  });
});
