/** Tests which changes make a table stale, which changes do not, and how stale tables are reported. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Context } from '../../pipelines/run/context.ts';
import { digestOfFacts, readerFacts, sqlFacts, whyChanged, type Facts } from '../../pipelines/contract/fingerprint.ts';
import { productFiles } from '../../pipelines/plan/products.ts';
import { loadSources, type RegisteredSource } from '../../pipelines/contract/registry.ts';
import { factName, parseSqlFile, tableFiles, tableOf, type Relation, type SqlFile } from '../../pipelines/contract/sql-files.ts';
import { isDone, staleOf, type Plan } from '../../pipelines/plan/plan.ts';
import { preview, refresh } from '../../pipelines/run/refresh.ts';
import { describeDatabase } from '../harness/database.ts';
import { freshContext } from '../harness/fresh-context.ts';
import { syntheticFiles, loadOptions } from '../harness/region.ts';

const SOURCES = await loadSources();
const MAKERS = tableFiles();
/** Files that build the tables of Italy and of the region that is loaded here. */
const MADE_HERE = [...productFiles(0), ...productFiles(14)];

describe('facts', () => {
  const engine: Facts = { PostgreSQL: '15', PostGIS: '3.3', GEOS: '3.11', PROJ: '9.1' };

  it('change with the statements of an SQL file, but not with its comments, layout or description', () => {
    const files = [...MAKERS, ...SOURCES.flatMap(({ staging, load }) => [staging, load])];
    for (const file of files) {
      const edited = file.text.replace(/^(-- purpose:)/m, '$1 other words of').replace(/\n(?!--)/g, '\n\n   /* said */ ');
      expect(edited).not.toBe(file.text);
      expect(sqlFacts(parseSqlFile(file.file, edited))).toEqual(sqlFacts(file));
      expect(sqlFacts(parseSqlFile(file.file, `${file.text}select 1;\n`))).not.toEqual(sqlFacts(file));
    }
  });

  it('include the version of every file that builds a table', () => {
    expect(MAKERS.filter(({ version }) => version === null || !Number.isInteger(version) || version < 1).map(({ file }) => file)).toEqual([]);
    for (const file of MAKERS) {
      const raised = parseSqlFile(file.file, file.text.replace(/^-- version: .*$/m, `-- version: ${file.version! + 1}`));
      expect(whyChanged({ ...sqlFacts(file), ...engine }, { ...sqlFacts(raised), ...engine })).toBe(`version of ${factName(file)} ${file.version} → ${file.version! + 1}`);
    }
  });

  it('name the file of a table as sql/core/<table>.sql or sql/sections/<table>.sql', () => {
    const names = MAKERS.map(factName);
    expect(new Set(names).size).toBe(names.length);
    // A file that builds a table only for some regions has its own name.
    const usual = MAKERS.filter(({ regions }) => regions === null);
    expect(usual.map(({ section, writes: [table] }) => `sql/${section === null ? 'core' : 'sections'}/${tableOf(table!)}.sql`)).toEqual(usual.map(factName));
  });

  it('contain only the version of a reader, its SQL and the fields that are inserted into SQL, but not its code', () => {
    for (const { id, facts, manifest } of SOURCES) {
      expect(facts[`version of ${id}`]).toBe(String(manifest.version));
      expect(Object.keys(facts).filter((name) => !/^(?:version|places|areas|repeats) of |\.sql$/.test(name))).toEqual([]);
    }
  });

  it('change with each field of a reader that is inserted into SQL', () => {
    const changes: Readonly<Record<string, (source: RegisteredSource) => RegisteredSource>> = {
      places: (source) => ({ ...source, places: Object.fromEntries(Object.entries(source.places ?? {}).map(([layer, columns]) => [layer, { ...columns, place: 'other' }])) }),
      areas: (source) => ({ ...source, layers: Object.fromEntries(Object.entries(source.layers).map(([name, layer]) => [name, { ...layer, areasOf: 'raw_other' }])) }),
      repeats: (source) => ({ ...source, keys: Object.fromEntries(Object.keys(source.keys ?? {}).map((table) => [table, ['other']])) }),
    };
    for (const [field, change] of Object.entries(changes)) {
      const having = SOURCES.filter(({ id, facts }) => `${field} of ${id}` in facts);
      expect(having.length, field).toBeGreaterThan(2);
      for (const source of having) expect(whyChanged(readerFacts(source), readerFacts(change(source)))).toBe(`${field} of ${source.id} changed`);
    }
  });

  it('include a function that SQL calls, but not a function that only a comment names', () => {
    const calling = MAKERS.find(({ text }) => text.includes('core.overlay_grid('))!;
    expect(Object.keys(sqlFacts(calling))).toContain('sql/functions/overlay_grid.sql');
    expect(Object.keys(sqlFacts(parseSqlFile('sql/core/x.sql', `${calling.text.replace(/core\.overlay_grid\(/g, 'least(')}-- core.gini(\n`)))).not.toContain('sql/functions/gini.sql');
  });

  it('include functions that a called function calls', () => {
    const direct = MAKERS.find(({ text }) => text.includes('core.area_pieces(') && !text.includes('core.overlay_grid('))!;
    expect(Object.keys(sqlFacts(direct))).toEqual(expect.arrayContaining(['sql/functions/area_pieces.sql', 'sql/functions/overlay_grid.sql']));
  });

  it('yield the reasons for a difference as text', () => {
    const was = { ...engine, 'sql/sections/risk.sql': 'a', 'core.parcel': 'b', 'old.sql': 'c' };
    const now = { ...engine, GEOS: '3.12', 'sql/sections/risk.sql': 'x', 'core.parcel': 'y', 'new.sql': 'z' };
    expect(whyChanged(was, was)).toBeNull();
    expect(whyChanged({ ...engine, 'omi 1': 'a', 'omi 2': 'a', 'omi 3': 'a', 'omi 4': 'a', 'egms 1': 'b' }, { ...engine, 'omi 1': 'b', 'omi 2': 'b', 'omi 3': 'b', 'omi 4': 'b' })).toBe('omi 1 … omi 4 (4) changed; egms 1 is gone');
    expect(whyChanged(was, now)).toBe('GEOS 3.11 → 3.12; sql/sections/risk.sql changed; core.parcel changed; new.sql is new; old.sql is gone');
    expect(whyChanged({ 'sql/sections/risk.sql': 'a', 'core.parcel': 'b' }, now)).toBe('an earlier version of the program recorded no inputs');
    expect(whyChanged(null, now)).toBe('an earlier version of the program recorded no inputs');
  });

  it('have the same digest in any order', () => {
    expect(digestOfFacts({ a: '1', b: '2' })).toBe(digestOfFacts({ b: '2', a: '1' }));
    expect(digestOfFacts({ a: '1', b: '2' })).not.toBe(digestOfFacts({ a: '2', b: '1' }));
  });
});

/** Returns all tables that depend on the given layers, directly or through other tables, according to the file headers. */
function dependents(layers: readonly Relation[]): Relation[] {
  const touched = new Set<Relation>(layers);
  for (let before = -1; before !== touched.size;) {
    before = touched.size;
    for (const file of MADE_HERE) if (file.reads.some((read) => touched.has(read))) touched.add(file.writes[0]!);
  }
  return [...touched].filter((relation) => !layers.includes(relation)).sort();
}

describeDatabase('a loaded region', (engine) => {
  let synthetic: Awaited<ReturnType<typeof syntheticFiles>>;
  let context: Context;
  const planned = async (changed: Partial<Context> = {}): Promise<Plan> =>
    (await preview({ ...context, ...changed }, loadOptions([synthetic.folder], null))).plan;
  const staleIn = ({ builds }: Plan): Record<string, string> =>
    Object.fromEntries(builds.flatMap(({ products }) => staleOf(products).map(({ relation, why }) => [relation, why])));

  beforeAll(async () => {
    synthetic = await syntheticFiles(40, 5, { comuni: 2 });
    context = await freshContext(engine);
    await refresh(context, loadOptions([synthetic.folder], null));
  });
  afterAll(() => synthetic.remove());

  it('is not stale after the load', async () => {
    const found = await planned();
    expect(isDone(found)).toBe(true);
    expect(staleIn(found)).toEqual({});
  });

  it('is stale only in the tables that depend on a source if the version of the source changed', async () => {
    // Sources of other regions have no file here. With a different PROJ, the plan reads every file again, and thus names all sources that have a file.
    const here = new Set((await planned({ engine: { ...context.engine, PROJ: '99.1' } })).loads.map(({ located }) => located.source.id));
    expect(here.size).toBeGreaterThan(15);
    for (const raised of SOURCES.filter(({ id }) => here.has(id))) {
      const version = raised.manifest.version + 1;
      const source = { ...raised, manifest: { ...raised.manifest, version } };
      const facts = readerFacts(source);
      const sources = SOURCES.map((each) => (each === raised ? { ...source, facts, reader: digestOfFacts(facts) } : each));
      const found = await planned({ sources });
      expect(found.loads.map(({ located }) => located.source.id).filter((id, index, all) => all.indexOf(id) === index)).toEqual([raised.id]);
      for (const { why } of found.loads) expect(why).toBe(`version of ${raised.id} ${version - 1} → ${version}`);
      expect(Object.keys(staleIn(found)).sort()).toEqual(dependents(raised.layer.writes));
    }
  });

  it('is stale in all tables if a part of the engine was replaced, and the reason names that part', async () => {
    for (const part of Object.keys(context.engine)) {
      const found = await planned({ engine: { ...context.engine, [part]: '99.1' } });
      const expected = `${part} ${context.engine[part]!} → 99.1`;
      expect(found.loads.length).toBeGreaterThan(15);
      expect(found.loads.filter(({ why }) => why !== expected)).toEqual([]);
      expect(Object.keys(staleIn(found)).sort()).toEqual(MADE_HERE.map(({ writes }) => writes[0]!).sort());
      expect(Object.entries(staleIn(found)).filter(([, why]) => !why.includes(expected))).toEqual([]);
    }
  });

  it('is stale in a single table if the version of the table\'s SQL changed', async () => {
    const [file] = MAKERS.filter(({ writes }) => writes[0] === 'section.risk') as [SqlFile];
    await context.database.query(`update ledger.publication_table set inputs = inputs || '{"version of sql/sections/risk.sql": "0"}', fingerprint = 'another' where relation = 'section.risk'`);
    expect(staleIn(await planned())).toEqual({ 'section.risk': `version of ${factName(file)} 0 → ${file.version}` });
    await refresh(context, loadOptions([synthetic.folder], null));
    expect(staleIn(await planned())).toEqual({});
  });
});
