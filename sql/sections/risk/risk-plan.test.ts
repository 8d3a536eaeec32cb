/** Tests the query plan of the acceleration with tables large enough to reveal a wrong plan: 210,000 parcels and the nodes of all Italy. */
import { beforeAll, expect, it } from 'vitest';
import type { Database } from '../../../pipelines/db/index.ts';
import { describeDatabase } from '../../../test/harness/database.ts';
import { createFunctions } from '../../../test/harness/functions.ts';
import { rolledBack } from '../../../test/harness/rolled-back.ts';
import { splitAt, sqlOf } from '../../../test/harness/sql.ts';

const RISK = sqlOf('sql/sections/risk/build.sql');

// A region of 700 × 300 parcels of about 40 m, and the nodes of Italy.
const SETUP = `
  create schema plan;
  set search_path to plan, public;
  create table parcel as
  select
    1400000000 + x * 300 + y as fid,
    'Z001' as belfiore,
    1760.0::float8 as area_m2,
    st_setsrid(st_point(14 + x * 0.0005 + 0.00025, 41 + y * 0.0004 + 0.0002), 4326) as point,
    st_multi(st_makeenvelope(14 + x * 0.0005, 41 + y * 0.0004, 14 + (x + 1) * 0.0005, 41 + (y + 1) * 0.0004, 4326))::geometry(multipolygon, 4326) as geom
  from generate_series(0, 699) as x
  cross join generate_series(0, 299) as y
  order by 5;
  alter table parcel add primary key (fid);
  create index on parcel using gist (geom);
  create table pga_node as
  select
    ix,
    iy,
    ix * 0.02::float8 as lon,
    iy * 0.02::float8 as lat,
    0.1::float8 as ag_g,
    0.02::float8 as spacing_deg,
    1 as release_id,
    1 as member_id,
    1::int8 as position
  from generate_series(330, 660) as ix
  cross join generate_series(1880, 2200) as iy;
  create index on pga_node (ix, iy);
  analyze;
`;

describeDatabase('the acceleration query of the section risk', (engine) => {
  let database: Database;

  beforeAll(async () => {
    database = await engine.openDatabase();
    await database.session(createFunctions);
    await database.session((session) => session.script(SETUP, 'setup'));
  });

  it('finds grid nodes by integers, compares no geometries and needs no merge join', async () => {
    const lines = await rolledBack(database, async (session) => {
      await session.script('set local search_path to plan, public', 'test');
      for (const table of ['cell', 'cell_node']) await session.script(`create table ${table} as ${splitAt(RISK, table).query}; analyze ${table}`, 'sql/sections/risk/build.sql');
      await session.script(`create index on cell_node (ix, iy); create view near_node as ${splitAt(RISK, 'near_node').query}`, 'sql/sections/risk/build.sql');
      return session.query<{ 'QUERY PLAN': string }>(`explain (costs off) ${splitAt(RISK, 'pga').query}`);
    });
    const plan = lines.map((line) => line['QUERY PLAN']).join('\n');
    expect(plan).toMatch(/Hash Cond: .*ix.*iy|Index Cond: .*ix.*iy/);
    expect(plan).not.toMatch(/st_d|&&|Merge Join/i);
  });
});
