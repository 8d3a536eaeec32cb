/** Tests `sql/steps/outline_differs.sql` on random rectangles. The expected result comes from a comparison of all parcels before and after a change. */
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { rowsOfFile } from '../../pipelines/build/file-rows.ts';
import { ROOT } from '../../pipelines/config.ts';
import { readSqlFile } from '../../pipelines/contract/sql-files.ts';
import type { Database } from '../../pipelines/db/index.ts';
import { describeEngines } from '../harness/database.ts';

const COMUNI = ['A001', 'A002', 'A003'] as const;

interface Parcel {
  readonly comune: string;
  readonly west: number;
  readonly south: number;
}

/** A parcel before and after a change. Null if the parcel does not exist. */
interface Change {
  readonly before: Parcel | null;
  readonly after: Parcel | null;
}

/** A parcel with its south-west corner at one of a few whole degrees, so that several parcels often touch the same side of their common box. */
const parcel = fc.record({ comune: fc.constantFrom(...COMUNI), west: fc.integer({ min: 7, max: 10 }), south: fc.integer({ min: 40, max: 43 }) });
const unchanged = parcel.map((each): Change => ({ before: each, after: each }));
const changed = fc.record({ before: fc.option(parcel), after: fc.option(parcel) });

const SETTING = `
  create table comune_register (old_istat_code text, belfiore text, divided bool);
  create table comune_code (istat_code text, belfiore text);
  create table current_member (member_id int4, rank int4);
  create table boundary (code text, belfiore text, kind text, release_id int4, member_id int4, position int8, area_m2 float8, geom geometry);
  create table published_parcel (fid int4, belfiore text, geom geometry);
  create table changed_parcel (fid int4, belfiore text, geom geometry);
  create table changed_fid (fid int4);
  create index on published_parcel using gist (geom);
  insert into current_member values (1, 1);
  insert into comune_register select c, c, false from unnest('{${COMUNI.join(',')}}'::text[]) c;
  insert into boundary (code, belfiore, kind, member_id) select c, c, 'comune', 1 from unnest('{${COMUNI.join(',')}}'::text[]) c`;

function outlineOf(parcels: readonly (Parcel | null)[]): string {
  const found = parcels.filter((each) => each !== null);
  const [wests, souths] = [found.map(({ west }) => west), found.map(({ south }) => south)];
  const box = [Math.min(...wests), Math.min(...souths), Math.max(...wests), Math.max(...souths)];
  return JSON.stringify([[...new Set(found.map(({ comune }) => comune))].sort(), box]);
}

async function write(database: Database, table: string, parcels: readonly (readonly [number, Parcel | null])[]): Promise<void> {
  const rows = parcels.flatMap(([fid, each]) => (each === null ? [] : [{ fid, ...each }]));
  await database.query(
    `insert into ${table} select fid, comune, st_makeenvelope(west, south, west + 0.5, south + 0.5, 4326)
     from jsonb_to_recordset($1) as r (fid int4, comune text, west int4, south int4)`,
    [JSON.stringify(rows)],
  );
}

describeEngines('the outline of all parcels', (engine) => {
  it('differs if and only if a change of parcels changes their common box or the set of their comuni', async () => {
    const database = await engine.openDatabase();
    await database.script(SETTING, 'outline.test.ts');
    const step = readSqlFile(join(ROOT, 'sql/steps/outline_differs.sql'));
    const seen = { true: 0, false: 0 };
    await fc.assert(fc.asyncProperty(fc.array(unchanged, { maxLength: 6 }), fc.array(changed, { minLength: 1, maxLength: 4 }), async (same, different) => {
      await database.script('truncate published_parcel, changed_parcel, changed_fid', 'outline.test.ts');
      const all = [...same, ...different].map((change, fid) => [fid, change] as const);
      const of = all.filter(([fid, { before, after }]) => fid >= same.length && (before !== null || after !== null));
      fc.pre(of.length > 0);
      await write(database, 'published_parcel', all.map(([fid, { before }]) => [fid, before]));
      await write(database, 'changed_parcel', of.map(([fid, { after }]) => [fid, after]));
      await database.query('insert into changed_fid select unnest($1::int4[])', [of.map(([fid]) => fid)]);
      const [found] = await database.session((session) => rowsOfFile<{ differs: boolean }>(session, step));
      const differs = outlineOf(all.map(([, { before }]) => before)) !== outlineOf(all.map(([, { after }]) => after));
      seen[`${differs}`] += 1;
      expect(found).toEqual({ differs });
    }), { numRuns: 120 });
    expect(Math.min(seen.true, seen.false)).toBeGreaterThan(15);
  });
});
