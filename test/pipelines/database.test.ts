/** Tests that both engines run a statement completely or report an error. Also tests query plans, overlays and the division of areas. */
import { beforeAll, expect, it } from 'vitest';
import { openDatabase, type Database } from '../../pipelines/db/index.ts';
import { describeEngines } from '../harness/database.ts';
import { createFunctions } from '../harness/functions.ts';

// The borders of these two synthetic polygons cross at a very small angle. GEOS then throws an exception and repeats the overlay with less precision.
const CLOSE = [
  'POLYGON((14.088942250000002 41.994395780000005,14.08923549 41.99435101,14.089528720000002 41.99437747000002,14.089499180000004 41.99474923000001,14.089282110000001 41.99481305000003,'
  + '14.089065030000004 41.99480035000002,14.088942250000002 41.994395780000005))',
  'POLYGON((14.08854582 41.99481463,14.08880543 41.99484652,14.08906503 41.99480035,14.08897377 41.99497599,14.08896732 41.99515163,14.08875172 41.99518228,14.08853611 41.9951971,'
  + '14.08850093 41.99500587,14.08854582 41.99481463))',
] as const;

describeEngines('a database', (engine) => {
  let database: Database;
  beforeAll(async () => {
    database = await engine.openDatabase();
    await database.session(createFunctions);
    await database.query('create table pair as select i, $1::text as a, case when i = 50 then $2::text else $1::text end as b from generate_series(1, 100) as i', [...CLOSE]);
  });

  const OVERLAID = 'select i, st_area(st_intersection(st_geomfromtext(a), st_geomfromtext(b))) as area from pair';

  it('returns every row of a statement in which GEOS repeats an overlay, or reports an error', async () => {
    const all = await database.query(OVERLAID).then((rows) => rows.length, (error: { code?: string }) => error.code);
    expect(all).toBe(engine.name === 'pglite' ? 'SQL_BROKEN_OFF' : 100);
  });

  if (engine.name === 'pglite') it('rolls back a transaction that PGlite aborts', async () => {
    await expect(database.session((session) => session.transaction(async () => {
      await session.query('create table before_it (i int4)');
      await session.script(`create table part as ${OVERLAID}`, 'part.sql');
    }))).rejects.toThrow(/stopped a statement early/);
    expect(await database.query("select to_regclass('before_it')::text as before_it, to_regclass('part')::text as part")).toEqual([{ before_it: null, part: null }]);
    expect(await database.query('select count(*)::int4 as n from pair')).toEqual([{ n: 100 }]);
  });

  it('joins two analyzed tables whose boxes are disjoint', async () => {
    await database.query('create table north as select st_setsrid(st_point(n, 50), 4326)::geometry(point, 4326) as geom from generate_series(1, 50) as n');
    await database.query('create table south as select st_setsrid(st_point(n, 30), 4326)::geometry(point, 4326) as geom from generate_series(1, 50) as n');
    await database.query('analyze north, south');
    expect(await database.query('select count(*)::int4 as n from north a join south b on st_covers(a.geom, b.geom)')).toEqual([{ n: 0 }]);
    expect(await database.query('select count(*)::int4 as n from north a join south b on a.geom && b.geom')).toEqual([{ n: 0 }]);
  });

  if (engine.name === 'pglite') it('joins tables that an earlier version analyzed', async () => {
    const url = await engine.createDatabase();
    const earlier = await openDatabase(url);
    await earlier.query('alter type geometry set (analyze = geometry_analyze)');
    for (const latitude of [50, 30]) await earlier.query(`create table at_${latitude} as select st_setsrid(st_point(n, ${latitude}), 4326)::geometry(point, 4326) as geom from generate_series(1, 50) as n`);
    await earlier.query('analyze at_50, at_30');
    const joined = 'select count(*)::int4 as n from at_50 a join at_30 b on a.geom && b.geom';
    await expect(earlier.query(joined)).rejects.toThrow(/invalid join selectivity/);
    await earlier.close();
    expect(await (await engine.openDatabase(url)).query(joined)).toEqual([{ n: 0 }]);
  });

  it('starts no parallel workers, even for statements that the planner would run in parallel', async () => {
    const plan = await database.session(async (session) => {
      await session.script('set parallel_setup_cost = 0; set parallel_tuple_cost = 0; set min_parallel_table_scan_size = 0; set parallel_leader_participation = off', 'set.sql');
      return session.query<{ 'QUERY PLAN': string }>('explain select sum(i) from pair');
    });
    expect(plan.map((row) => row['QUERY PLAN']).join('\n')).toMatch(/^Aggregate.*\n.*Seq Scan on pair/);
  });

  it('intersects two polygons with the grid size that the engine needs', async () => {
    const rows = await database.query<{ area: number }>('select st_area(st_intersection(st_geomfromtext(a), st_geomfromtext(b), core.overlay_grid(1e-10))) as area from pair where i in (1, 50) order by i');
    // The expected area was computed from the corners with the shoelace formula.
    expect(rows[0]!.area).toBeCloseTo(2.184518305e-7, 14);
    expect(rows[1]!.area).toBeLessThan(1e-14);
  });

  it('cuts a polygon with ten thousand corners and a hole into pieces with at most 260 corners and the same total area', async () => {
    const [cut] = await database.query<{ pieces: number; corners: number; share: number }>(
      `with area as (
         select st_difference(st_buffer('srid=4326;point(12 42)'::geometry, 0.1, 2500), st_buffer('srid=4326;point(12.01 42)'::geometry, 0.03, 500)) as geom
       )
       select count(*)::int4 as pieces, max(st_npoints(piece.geom)) as corners, sum(st_area(piece.geom)) / max(st_area(area.geom)) as share
       from area cross join lateral core.area_pieces(area.geom) as piece (geom)`,
    );
    expect(cut!.pieces).toBeGreaterThan(40);
    expect(cut!.corners).toBeLessThanOrEqual(260);
    expect(cut!.share).toBeCloseTo(1, 9);
  });

  it('cuts a long ragged polygon, in any direction, into fewer than three times the pieces that its number of corners requires', async () => {
    const rows = await database.query<{ degrees: number; pieces: number; filled: number; share: number }>(
      `with bank as (
         select
           side,
           array_agg(st_makepoint(i * 0.0001, side * (0.003 + 0.0005 * sin(i / 40.0)) + 0.0001 * (i % 2)) order by i * side) as corners
         from generate_series(0, 3000) as i
         cross join (values (1), (-1)) as bank (side)
         group by side
       ),
       line as (
         select st_makeline(corner) as geom
         from (select unnest(corners) as corner from bank order by side) as every
       ),
       valley as (
         select
           degrees,
           st_setsrid(st_translate(st_rotate(st_makepolygon(st_addpoint(geom, st_startpoint(geom))), radians(degrees)), 12, 42), 4326) as geom
         from line
         cross join generate_series(0, 165, 15) as degrees
       )
       select degrees, count(*)::int4 as pieces, (max(st_npoints(valley.geom)) / 256.0)::float8 as filled, sum(st_area(piece.geom)) / max(st_area(valley.geom)) as share
       from valley cross join lateral core.area_pieces(valley.geom) as piece (geom)
       group by degrees`,
    );
    expect(rows).toHaveLength(12);
    for (const { degrees, pieces, filled, share } of rows) {
      expect(pieces / filled, `${degrees} degrees`).toBeLessThan(3);
      expect(share, `${degrees} degrees`).toBeCloseTo(1, 9);
    }
  });
});
