/** The joins of the section risk at a size at which a wrong plan would show: 210,000 parcels, pieces of all Italy. */
import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import type { Database } from '../../../pipelines/db/index.ts';
import { describeDatabase } from '../../../test/harness/database.ts';
import { createFunctions } from '../../../test/harness/functions.ts';

const RISK = readFileSync(new URL('../../../sql/sections/risk/build.sql', import.meta.url), 'utf8');

/** The query of one `create table … as` or `create view … as` of the file. */
function queryOf(table: string): string {
  const found = new RegExp(`create (?:table|view) ${table} as\\n([\\s\\S]*?);\\n`).exec(RISK);
  expect(found, table).not.toBeNull();
  return found![1]!;
}

const TABLES = ['flood_silent', 'landslide_silent', 'cell_node'];
const VIEWS = ['flood_share', 'landslide_share', 'near_node'];

// A region of 700 × 300 parcels of about 40 m; hazards in it, and twenty times as many elsewhere in Italy.
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
  create table member_in_force as select 1 as member_id, 1 as release_id, 1 as file_id, 1 as rank;
  create table coverage as
  select
    14::int2 as region_code,
    theme,
    'Z001' as belfiore,
    true as mapped,
    1 as release_id,
    1 as member_id,
    1::int8 as position
  from unnest(array['flood_P1', 'flood_P2', 'flood_P3', 'landslide']) as theme;
  create table flood_coverage as
  select
    1 as member_id,
    class
  from unnest(array['P1', 'P2', 'P3']) as class;
  create table landslide_coverage as select 1 as member_id;
  create table flood_hazard_piece as
  select
    1 as release_id,
    1 as member_id,
    i as position,
    'P' || 1 + i % 3 as class,
    st_buffer(st_setsrid(st_point(case when i % 20 = 0 then 14 + (i * 7919 % 35000) / 100000.0 else 7 + (i * 7919 % 600000) / 100000.0 end, case when i % 20 = 0 then 41 + (i * 104729 % 12000) / 100000.0 else 38 + (i * 104729 % 800000) / 100000.0 end), 4326), 0.0015, 16)::geometry(polygon, 4326) as geom
  from generate_series(1, 40000::int8) as i;
  create index on flood_hazard_piece using gist (geom);
  create table landslide_hazard_piece as select * from flood_hazard_piece;
  create index on landslide_hazard_piece using gist (geom);
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

describeDatabase('the joins of the section risk', (engine) => {
  let database: Database;

  beforeAll(async () => {
    database = await engine.openDatabase();
    await database.session(createFunctions);
    await database.session((session) => session.script(SETUP, 'setup'));
  });

  const planOf = (table: string, before = ''): Promise<string> => database.session(async (session) => {
    await session.script(`set search_path to plan, public; create table region_box as ${queryOf('region_box')}; create table cell as ${queryOf('cell')}; analyze cell;
      ${TABLES.map((name) => `create table ${name} as ${queryOf(name)};`).join('\n')}
      create index on cell_node (ix, iy); analyze cell_node;
      ${VIEWS.map((view) => `create view ${view} as ${queryOf(view)};`).join('\n')} ${before}`, 'sql/sections/risk/build.sql');
    try {
      const lines = await session.query<{ 'QUERY PLAN': string }>(`explain (costs off) ${queryOf(table)}`);
      return lines.map((line) => line['QUERY PLAN']).join('\n');
    } finally {
      await session.script(`drop view ${VIEWS.join(', ')}; drop table region_box, cell, ${TABLES.join(', ')}; drop table if exists flood_area; reset search_path`, 'test');
    }
  });

  it.each(['flood', 'landslide'])('%s: pieces of the region drive, parcels are found by their index', async (hazard) => {
    const plan = await planOf(`${hazard}_area`);
    const piece = plan.search(new RegExp(`(Index Scan using \\S+|Bitmap Heap Scan) on ${hazard}_hazard_piece`));
    const parcel = plan.search(/(?:Index Scan using|Bitmap Index Scan on) parcel_geom_idx/);
    expect(plan).toMatch(/Nested Loop/);
    expect(piece, plan).toBeGreaterThan(-1);
    // In a nested loop the side that is named first is the outer one.
    expect(parcel, plan).toBeGreaterThan(piece);
    expect(plan).not.toMatch(/Seq Scan on parcel/);
  });

  it('areas that overlap: their parcels alone are looked up, and pieces under them by their index', async () => {
    const plan = await planOf('flood_union', `create table flood_area as
      select fid, 'P1' as class, 1760.0::float8 as parcel_m2, 500.0::float8 as shared_m2 from parcel cross join generate_series(1, 2) where fid % 500 = 0; analyze flood_area;`);
    expect(plan).toMatch(/Index Scan using parcel_pkey on parcel/);
    expect(plan).toMatch(/(Index Scan using \S+|Bitmap Heap Scan) on flood_hazard_piece/);
    expect(plan).not.toMatch(/Seq Scan on (parcel|flood_hazard_piece)/);
  });

  it('acceleration: nodes are found by their integers, no geometry is compared, and no parcels are sorted for it', async () => {
    const plan = await planOf('pga');
    expect(plan).toMatch(/Hash Cond: .*ix.*iy|Index Cond: .*ix.*iy/);
    expect(plan).not.toMatch(/st_d|&&|Merge Join/i);
  });
});
