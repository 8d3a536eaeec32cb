/** The joins of the section land_use at a size at which a wrong plan would show: 210,000 parcels, pieces of all Italy. */
import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import type { Database } from '../../../pipelines/db/index.ts';
import { describeDatabase } from '../../../test/harness/database.ts';
import { createFunctions } from '../../../test/harness/functions.ts';

const BUILD = readFileSync(new URL('build.sql', import.meta.url), 'utf8');

/** The query of one `create table … as` of the file. */
function queryOf(table: string): string {
  const found = new RegExp(`create table ${table} as\\n([\\s\\S]*?);\\n`).exec(BUILD);
  expect(found, table).not.toBeNull();
  return found![1]!;
}

// A region of 700 × 300 parcels of about 40 m under squares of 300 m, and twenty times as many squares elsewhere in Italy.
const SETUP = `
  create schema plan;
  set search_path to plan, public;
  create table parcel as
  select
    1400000000 + x * 300 + y as fid,
    case when x % 20 = 0 then 'road' else 'land' end as kind,
    1760.0::float8 as area_m2,
    st_setsrid(st_point(14 + x * 0.0005 + 0.00025, 41 + y * 0.0004 + 0.0002), 4326) as point,
    st_multi(st_makeenvelope(14 + x * 0.0005, 41 + y * 0.0004, 14 + (x + 1) * 0.0005, 41 + (y + 1) * 0.0004, 4326))::geometry(multipolygon, 4326) as geom
  from generate_series(0, 699) as x
  cross join generate_series(0, 299) as y
  order by 5;
  alter table parcel add primary key (fid);
  create index on parcel using gist (geom);
  create index on parcel using gist (point);
  create table land_use_piece as
  select
    1 as release_id,
    1 as member_id,
    x * 1000 + y as position,
    '11100' as code,
    st_makeenvelope(west, south, west + 0.0037, south + 0.0027, 4326)::geometry(polygon, 4326) as geom
  from generate_series(0::int8, 94) as x
  cross join generate_series(0::int8, 44) as y
  cross join generate_series(0, 20) as n
  cross join lateral (select case when n = 0 then 14 else 7 + n * 0.3 end + x * 0.0037 as west, case when n = 0 then 41 else 43 + n * 0.1 end + y * 0.0027 as south) as corner;
  create index on land_use_piece using gist (geom);
  analyze;
`;

describeDatabase('the joins of the section land_use', (engine) => {
  let database: Database;
  beforeAll(async () => {
    database = await engine.openDatabase();
    await database.session(createFunctions);
    await database.session((session) => session.script(`${SETUP} create table region_box as ${queryOf('region_box')}; create table land_use_whole as ${queryOf('land_use_whole')};
      analyze land_use_whole;`, 'setup'));
  });

  it.each(['land_use_whole', 'land_use_part'])('%s: pieces of the region drive, parcels are found by their index', async (table) => {
    const lines = await database.session(async (session) => {
      await session.script('set search_path to plan, public', 'test');
      try {
        return await session.query<{ 'QUERY PLAN': string }>(`explain (costs off) ${queryOf(table)}`);
      } finally {
        await session.script('reset search_path', 'test');
      }
    });
    const plan = lines.map((line) => line['QUERY PLAN']).join('\n');
    const piece = plan.search(/(Index Scan using \S+|Bitmap Heap Scan|Seq Scan) on land_use_piece/);
    const parcel = plan.search(/(?:Index Scan using|Bitmap Index Scan on) parcel_geom_idx/);
    expect(plan).toMatch(/Nested Loop/);
    expect(piece, plan).toBeGreaterThan(-1);
    // In a nested loop the side that is named first is the outer one.
    expect(parcel, plan).toBeGreaterThan(piece);
    expect(plan).not.toMatch(/Seq Scan on parcel/);
  });

  it('parcels inside a piece are not overlaid: two thirds of these', async () => {
    const [row] = await database.query<{ whole: number; land: number }>("select (select count(distinct fid)::int4 from plan.land_use_whole) as whole, count(*)::int4 as land from plan.parcel where kind = 'land'");
    expect(row!.whole / row!.land).toBeGreaterThan(0.66);
  });
});
