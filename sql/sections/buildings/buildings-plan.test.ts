/**
 * Tests the query plan of the section buildings with tables large enough to reveal a wrong plan. The tables have 60,000 parcels in 300 comuni, 60,000 buildings
 * on these parcels, and 60,000 buildings elsewhere.
 */
import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import type { Database } from '../../../pipelines/db/index.ts';
import { describeDatabase } from '../../../test/harness/database.ts';
import { createFunctions } from '../../../test/harness/functions.ts';

const BUILD = readFileSync(new URL('build.sql', import.meta.url), 'utf8');

const SETUP = `
  create schema plan;
  set search_path to plan, public;
  create table parcel as
  select
    x * 200 + y as fid,
    'Z' || lpad((x % 300)::text, 3, '0') as belfiore,
    'land' as kind,
    1760.0::float8 as area_m2,
    st_multi(st_makeenvelope(14 + x * 0.0005, 41 + y * 0.0004, 14 + (x + 1) * 0.0005, 41 + (y + 1) * 0.0004, 4326))::geometry(multipolygon, 4326) as geom
  from generate_series(0, 299) as x
  cross join generate_series(0, 199) as y
  order by 5;
  alter table parcel add primary key (fid);
  create index on parcel using gist (geom);
  create table building_coverage as select distinct belfiore, 'igm_dbsn' as source from parcel;
  create table current_member as select 1 as member_id, 1 as rank;
  create table dbsn_building as
  select
    1 as release_id,
    1 as member_id,
    i as position,
    true as counts,
    i % 2 = 0 as residential,
    100.0::float8 as area_m2,
    -- Some buildings have the same drawing, so the build treats all but one of them as copies.
    md5((i % 119000)::text)::uuid as drawing,
    st_multi(st_makeenvelope(x, y, x + 0.0001, y + 0.0001, 4326))::geometry(multipolygon, 4326) as geom
  from generate_series(1, 120000::int8) as i
  cross join lateral (
    select
      case when i % 2 = 0 then 14 else 8 end + (i * 7919 % 150000) / 1e6 as x,
      41 + (i * 104729 % 80000) / 1e6 as y
  ) as corner;
  create index on dbsn_building using gist (geom);
  create table dpc_building as select * from dbsn_building where false;
  create table trento_building as select * from dbsn_building where false;
  analyze;
`;

describeDatabase('the join of the section buildings', (engine) => {
  let database: Database;
  beforeAll(async () => {
    database = await engine.openDatabase();
    await database.session(createFunctions);
    await database.session((session) => session.script(SETUP, 'setup'));
  });

  /** Runs the statements of the build before `until` and returns the plan of a query. Parallel workers are off, because PGlite has none. */
  function planAfter(until: string, query: string): Promise<string> {
    return database.session(async (session) => {
      const made = BUILD.slice(0, BUILD.indexOf(until));
      await session.script(`begin; set local search_path to plan, public; set local max_parallel_workers_per_gather to 0; ${made}`, 'sql/sections/buildings/build.sql');
      const lines = await session.query<{ 'QUERY PLAN': string }>(`explain (costs off) ${query}`);
      await session.query('rollback');
      return lines.map((line) => line['QUERY PLAN']).join('\n');
    });
  }

  it('reads the region\'s footprints first, finds parcels with an index, and joins comuni last', async () => {
    const plan = await planAfter('create unlogged table counted_share as', 'select * from building_share');
    const building = plan.search(/Seq Scan on building/);
    const parcel = plan.search(/Index Scan using parcel_geom_idx|Bitmap Index Scan on parcel_geom_idx/);
    expect(building, plan).toBeGreaterThan(-1);
    // In a nested loop, the first relation is the outer relation.
    expect(parcel, plan).toBeGreaterThan(building);
    expect(plan).not.toMatch(/Seq Scan on parcel/);
    // Comparing all copies of a building with each other would take quadratic time.
    expect(plan).toMatch(/Hash (?:Right )?Anti Join/);
    // If comuni were joined earlier, every comune would read all buildings.
    expect(plan.search(/Scan on building_coverage|Scan using \S+ on building_coverage/), plan).toBeGreaterThan(parcel);
  });

  it('reads the table counted_share only once to unite overlapping buildings', async () => {
    const create = 'create table built_union as';
    const plan = await planAfter(create, BUILD.slice(BUILD.indexOf(create) + create.length).split(';')[0]!);
    expect(plan).toMatch(/GroupAggregate/);
    // A nested loop would read all shares again for each parcel with overlapping buildings.
    expect(plan).not.toMatch(/Materialize\n\s*->\s+Seq Scan on counted_share/);
  });
});
