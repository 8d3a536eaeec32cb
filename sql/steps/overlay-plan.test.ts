/**
 * Tests the query plans of the step overlay with tables large enough to reveal a wrong plan. The tables contain 210,000 parcels under squares of 300 m, and
 * twenty times as many squares elsewhere.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Database, Session } from '../../pipelines/db/index.ts';
import { describeDatabase } from '../../test/harness/database.ts';
import { createFunctions } from '../../test/harness/functions.ts';
import { rolledBack } from '../../test/harness/rolled-back.ts';
import { splitAt, sqlOf } from '../../test/harness/sql.ts';

const SECTIONS = {
  risk: { maps: ['flood', 'landslide'], layers: ['flood_hazard_piece', 'landslide_hazard_piece'] },
  land_cover: { maps: ['land_cover'], layers: ['land_cover_piece'] },
  land_use: { maps: ['land_use'], layers: ['land_use_piece'] },
} as const;

const SETUP = `
  create schema plan;
  set search_path to plan, public;
  create table parcel as
  select
    1400000000 + x * 300 + y as fid,
    'Z001' as belfiore,
    case when x % 20 = 0 then 'road' else 'land' end as kind,
    1760.0::float8 as area_m2,
    st_setsrid(st_point(14 + x * 0.0005 + 0.00025, 41 + y * 0.0004 + 0.0002), 4326) as point,
    st_multi(st_makeenvelope(14 + x * 0.0005, 41 + y * 0.0004, 14 + (x + 1) * 0.0005, 41 + (y + 1) * 0.0004, 4326))::geometry(multipolygon, 4326) as geom
  from generate_series(0, 699) as x
  cross join generate_series(0, 299) as y
  order by 6;
  alter table parcel add primary key (fid);
  create index on parcel using gist (geom);
  create table square as
  select
    1 as release_id,
    1 as member_id,
    x * 1000 + y as position,
    'P1' as class,
    '211' as code,
    st_makeenvelope(west, south, west + 0.0037, south + 0.0027, 4326)::geometry(polygon, 4326) as geom
  from generate_series(0::int8, 94) as x
  cross join generate_series(0::int8, 44) as y
  cross join generate_series(0, 20) as n
  cross join lateral (select case when n = 0 then 14 else 7 + n * 0.3 end + x * 0.0037 as west, case when n = 0 then 41 else 43 + n * 0.1 end + y * 0.0027 as south) as corner;
  ${Object.values(SECTIONS).flatMap(({ layers }) => layers).map((layer) => `create table ${layer} as select * from square; create index on ${layer} using gist (geom);`).join('\n')}
  create table current_member as select 1 as member_id, 1 as release_id, 1 as file_id, 1 as rank;
  create table coverage as
  select
    theme,
    'Z001' as belfiore,
    true as mapped,
    1 as member_id
  from unnest(array['flood_P1', 'flood_P2', 'flood_P3', 'landslide']) as theme;
  create table flood_coverage as select 1 as member_id, unnest(array['P1', 'P2', 'P3']) as class;
  create table landslide_coverage as select 1 as member_id;
  create table land_coverage as select 'Z001' as belfiore, true as mapped, 1 as member_id;
  create table land_cover_reach as select 1 as member_id;
  analyze;
`;

describeDatabase('the step overlay', (engine) => {
  let database: Database;

  beforeAll(async () => {
    database = await engine.openDatabase();
    await database.session(createFunctions);
    await database.session((session) => session.script(SETUP, 'setup'));
  });

  describe.each(Object.entries(SECTIONS))('in the section %s', (section, { maps, layers }) => {
    const text = sqlOf(`sql/sections/${section}/build.sql`);
    const scans = layers.map((layer) => new RegExp(`(Index Scan using \\S+|Bitmap Heap Scan) on ${layer}`));

    /** Runs all statements before the one that creates the given table, calls `work` with the query of this table, and rolls back. */
    const before = <T>(table: string, work: (session: Session, query: string) => Promise<T>): Promise<T> => rolledBack(database, async (session) => {
      const { above, query } = splitAt(text, table);
      await session.script(`set local search_path to plan, public; ${above}`, section);
      return work(session, query);
    });
    const explained = async (session: Session, query: string): Promise<string> =>
      (await session.query<{ 'QUERY PLAN': string }>(`explain (costs off) ${query}`)).map((line) => line['QUERY PLAN']).join('\n');

    it('starts the join from pieces of the region and finds parcels with an index', async () => {
      const plan = await before('overlay_area', explained);
      const parcel = plan.search(/(?:Index Scan using|Bitmap Index Scan on) parcel_geom_idx/);
      expect(plan).toMatch(/Nested Loop/);
      for (const scan of scans) {
        expect(plan).toMatch(scan);
        // In a nested loop, the first relation is the outer relation.
        expect(parcel, plan).toBeGreaterThan(plan.search(scan));
      }
      expect(plan).not.toMatch(/Seq Scan on parcel/);
    });

    it('searches only parcels with overlapping areas, and finds the pieces under these parcels with an index', async () => {
      const plan = await before('overlay_area', async (session) => {
        await session.script(`
          create table overlay_area as
          select fid, '${maps[0]}' as map, '211' as class, 1 as release_id, 1 as member_id, n as position, 1760.0::float8 as parcel_m2, false as is_whole, 500.0::float8 as shared_m2
          from parcel cross join generate_series(1::int8, 2) as n where fid % 500 = 1;
          analyze overlay_area;`, 'test');
        return explained(session, splitAt(text, 'overlay_union').query);
      });
      expect(plan).toMatch(/Index Scan using parcel_pkey on parcel/);
      for (const scan of scans) expect(plan).toMatch(scan);
      expect(plan).not.toMatch(/Seq Scan on (parcel|\w+_piece)/);
    });
  });

  it('needs no intersection for two thirds of the land parcels, because one piece covers each of these parcels', async () => {
    const { above } = splitAt(sqlOf('sql/sections/land_cover/build.sql'), 'overlay_union');
    const [row] = await rolledBack(database, async (session) => {
      await session.script(`set local search_path to plan, public; ${above}`, 'land_cover');
      return session.query<{ whole: number; land: number }>(
        "select (select count(distinct fid)::int4 from overlay_area where is_whole) as whole, count(*)::int4 as land from parcel where kind = 'land'",
      );
    });
    expect(row!.whole / row!.land).toBeGreaterThan(0.66);
  });
});
