/**
 * Tests the coverage of the land cover map with partial files, the map of Italy, and several files. Comuni are squares, and polygons are rectangles.
 */
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { ROOT } from '../../../pipelines/config.ts';
import { readSqlFile } from '../../../pipelines/contract/sql-files.ts';
import type { Database } from '../../../pipelines/db/index.ts';
import { describeDatabase } from '../../../test/harness/database.ts';
import { createFunctions } from '../../../test/harness/functions.ts';
import { rolledBack } from '../../../test/harness/rolled-back.ts';

const COVERAGE = readSqlFile(join(ROOT, 'sql/core/land_coverage.sql')).text;

/** Four comuni in a row from 14° E 41° N, each a square of 0.1 degree with a parcel in the middle. Z004 is not in the list of comuni. */
const SETUP = `
  create schema cases;
  set search_path to cases, public;
  create table region as select 14::int2 as code, 'Molise' as name;
  create table current_member (member_id int4, release_id int4, file_id int4, rank int4);
  create table parcel (fid int4, belfiore text, point geometry(point, 4326));
  create table comune_code (belfiore text, istat_code text);
  create table comune_register (belfiore text, old_istat_code text, istat_code text, divided bool);
  create table boundary (member_id int4, position int8, kind text, code text, belfiore text, geom geometry(multipolygon, 4326), release_id int4, area_m2 float8);
  create table land_cover_reach (release_id int4, member_id int4, position int8, regions int2[]);
  create table land_cover_piece (member_id int4, position int8, code text, geom geometry(polygon, 4326));
  create index on land_cover_piece using gist (geom);
  create index on parcel using gist (point);
  insert into parcel select n, 'Z00' || n, st_setsrid(st_point(13.95 + n / 10.0, 41.05), 4326) from generate_series(1, 4) as n;
  insert into comune_code select belfiore, '09490' || fid from parcel where fid < 4;
  insert into comune_register select belfiore, istat_code, istat_code, false from comune_code;
`;

const BOUNDARIES = `insert into current_member values (90, 9, 90, 1);
  insert into boundary select 90, fid, 'comune', '09490' || fid, case when fid = 4 then 'Z004' end, st_multi(st_makeenvelope(13.9 + fid / 10.0, 41, 14 + fid / 10.0, 41.1, 4326)) from parcel;`;

const ITALY = Array.from({ length: 15 }, (_, i) => i + 1);

/** Returns statements that load a file with one member and one polygon. Each box is a piece of the polygon, from a western to an eastern longitude. */
function file(member: number, rank: number, boxes: readonly (readonly [number, number])[], regions: readonly number[] = [14]): string {
  return `insert into current_member values (${member}, ${member}, ${member}, ${rank}); insert into land_cover_reach values (${member}, ${member}, 1, '{${regions.join()}}');
    ${boxes.map(([west, east]) => `insert into land_cover_piece values (${member}, 1, '211', st_makeenvelope(${west}, 41.02, ${east}, 41.08, 4326));`).join('\n')}`;
}

describeDatabase('the coverage of the land cover map', (engine) => {
  let database: Database;
  beforeAll(async () => {
    database = await engine.openDatabase();
    await database.session(createFunctions);
  });

  /** Runs statements that load files. @returns the member that covers each comune, or null */
  const speaking = (...statements: string[]): Promise<Record<string, number | null>> => rolledBack(database, async (session) => {
    await session.script(SETUP, 'setup');
    await session.script(statements.join('\n'), 'test');
    await session.script(COVERAGE, 'sql/core/land_coverage.sql');
    const rows = await session.query<{ belfiore: string; mapped: boolean; member_id: number | null }>('select belfiore, mapped, member_id from land_coverage order by 1');
    for (const { mapped, member_id: member } of rows) expect(mapped).toBe(member !== null);
    return Object.fromEntries(rows.map(({ belfiore, member_id: member }) => [belfiore, member]));
  });

  it('includes no comune if there is no current file', async () => {
    expect(await speaking(BOUNDARIES)).toEqual({});
  });

  it('includes all comuni for a file of 15 regions, and for other files only the comuni that overlap a polygon', async () => {
    expect(await speaking(BOUNDARIES, file(1, 1, [[14, 14.1]], ITALY))).toEqual({ Z001: 1, Z002: 1, Z003: 1, Z004: 1 });
    expect(await speaking(BOUNDARIES, file(1, 1, [[14, 14.1]], ITALY.slice(1)))).toEqual({ Z001: 1, Z002: null, Z003: null, Z004: null });
    // The polygon overlaps each of two comuni by a strip of 0.000001° (8 cm) along 6.7 km.
    expect(await speaking(BOUNDARIES, file(1, 1, [[14.099999, 14.100001]]))).toEqual({ Z001: 1, Z002: 1, Z003: null, Z004: null });
    // A strip of 0.000000001° (0.08 mm) along 6.7 km has an area of 0.6 m², and the areas of the pieces of a polygon are summed. The minimum is 1 m².
    expect(await speaking(BOUNDARIES, file(1, 1, [[14, 14.100000001]]))).toEqual({ Z001: 1, Z002: null, Z003: null, Z004: null });
    for (const boxes of [[[14, 14.100000003]], [[14, 14.100000001], [14.05, 14.100000001]]] as const) {
      expect(await speaking(BOUNDARIES, file(1, 1, boxes))).toEqual({ Z001: 1, Z002: 1, Z003: null, Z004: null });
    }
    expect(await speaking(file(1, 1, [[14.12, 14.18], [14.32, 14.38]]))).toEqual({ Z001: null, Z002: 1, Z003: null, Z004: 1 });
    // A comune without a boundary is located by its parcels.
    expect(await speaking(BOUNDARIES, "delete from boundary where belfiore = 'Z004';", file(1, 1, [[14.02, 14.08], [14.32, 14.38]]))).toEqual({ Z001: 1, Z002: null, Z003: null, Z004: 1 });
  });

  it('includes no comune if a map has no features nearby, even after ANALYZE, and with or without boundaries', async () => {
    const elsewhere = file(1, 1, Array.from({ length: 200 }, (_, i) => [8 + i / 1000, 8.001 + i / 1000] as const), [1]);
    const analyzed = "insert into parcel select n, 'Z001', st_setsrid(st_point(14 + n / 10000.0, 41.05), 4326) from generate_series(5, 900) as n; analyze;";
    const none = { Z001: null, Z002: null, Z003: null, Z004: null };
    expect(await speaking(BOUNDARIES, elsewhere, analyzed)).toEqual(none);
    expect(await speaking(elsewhere, analyzed)).toEqual(none);
  });

  it('uses the newest file that covers each comune, and combines partial files', async () => {
    expect(await speaking(BOUNDARIES, file(1, 2, [[14, 14.4]], ITALY), file(2, 1, [[14.12, 14.18]]))).toEqual({ Z001: 1, Z002: 2, Z003: 1, Z004: 1 });
    expect(await speaking(BOUNDARIES, file(1, 1, [[14, 14.4]], ITALY), file(2, 2, [[14.12, 14.18]]))).toEqual({ Z001: 1, Z002: 1, Z003: 1, Z004: 1 });
    expect(await speaking(BOUNDARIES, file(1, 2, [[14, 14.1]]), file(2, 1, [[14.1, 14.2]]))).toEqual({ Z001: 1, Z002: 2, Z003: null, Z004: null });
  });
});
