/** Tests edge cases of the section land_cover, with rectangles and with random maps. */
import { beforeAll, expect, it } from 'vitest';
import type { Database } from '../../../pipelines/db/index.ts';
import { randomOf } from '../../../pipelines/synthetic/random.ts';
import { describeDatabase } from '../../../test/harness/database.ts';
import { createFunctions } from '../../../test/harness/functions.ts';
import { rolledBack } from '../../../test/harness/rolled-back.ts';
import { sqlOf } from '../../../test/harness/sql.ts';

const BUILD = sqlOf('sql/sections/land_cover/build.sql');

const SETUP = `
  create schema cases;
  set search_path to cases, public;
  create table parcel (fid int4, belfiore text default 'Z001', kind text default 'land', area_m2 float8, point geometry(point, 4326), geom geometry(multipolygon, 4326));
  create table current_member (member_id int4, release_id int4, file_id int4, rank int4);
  create table land_coverage (region_code int2 default 14, belfiore text, mapped bool, release_id int4, member_id int4, position int8);
  create table land_cover_piece (release_id int4 default 1, member_id int4 default 1, position int8, code text, geom geometry(polygon, 4326));
  create table land_cover_class (release_id int4 default 1, member_id int4 default 1, position int8 default 1, code text, description text);
  create table land_cover_reach (release_id int4 default 1, member_id int4, position int8 default 1, regions int2[] default '{}');
  create index on parcel using gist (geom);
  create index on land_cover_piece using gist (geom);
  insert into land_cover_class (code, description) values ('112', 'Rado'), ('211', 'Seminativi'), ('223', 'Oliveti'), ('311', 'Boschi'), ('512', 'Acqua');
  insert into current_member values (1, 1, 1, 2), (2, 2, 2, 1);
  insert into land_cover_reach (member_id) values (1);
  insert into land_coverage (belfiore, mapped, member_id) values ('Z001', true, 1);
`;

type Box = readonly [west: number, south: number, east: number, north: number];

/** A box in units of 0.0002° (16 by 22 m) from 10° E 44° N, near the central meridian of EPSG:3035. Boxes that are symmetric to 10° E have equal areas. */
const envelope = ([west, south, east, north]: Box): string => `st_makeenvelope(${10 + west * 0.0002}, ${44 + south * 0.0002}, ${10 + east * 0.0002}, ${44 + north * 0.0002}, 4326)`;

const parcel = (fid: number, box: Box, kind = 'land'): string => `insert into parcel (fid, kind, area_m2, point, geom)
  select ${fid}, '${kind}', st_area(st_transform(g, 3035)), st_pointonsurface(g), st_multi(g) from (select ${envelope(box)} as g) as drawn;`;

const polygon = (position: number, code: string, box: Box, member = 1): string => `insert into land_cover_piece (member_id, position, code, geom) values (${member}, ${position}, '${code}', ${envelope(box)});`;

interface Found {
  readonly [column: string]: unknown;
  readonly fid: number;
  readonly code: string;
  readonly share: number;
}

describeDatabase('the build of the section land_cover', (engine) => {
  let database: Database;
  beforeAll(async () => {
    database = await engine.openDatabase();
    await database.session(createFunctions);
  });

  const built = <T>(statements: string, query: string): Promise<T[]> => rolledBack(database, async (session) => {
    await session.script(SETUP, 'setup');
    await session.script(statements, 'test');
    await session.script(BUILD, 'sql/sections/land_cover/build.sql');
    return (await session.query(query)) as T[];
  });
  const classes = (...statements: string[]): Promise<Found[]> => built(statements.join('\n'), 'select fid, code, share from land_cover order by fid');

  it('returns the largest class with its share, and the share 1 for a parcel inside one polygon', async () => {
    expect(await classes(parcel(1, [-1, 0, 1, 1]), parcel(2, [-4, 0, -2, 1]), polygon(1, '311', [-9, -1, 0.5, 2]), polygon(2, '112', [0.5, -1, 9, 2])))
      .toEqual([{ fid: 1, code: '311', share: 0.75 }, { fid: 2, code: '311', share: 1 }]);
  });

  it('returns the smaller class code if the areas rounded to 0.01 m² are equal', async () => {
    // The border is in the middle, or eight micrometres to the west. In the second case, class 512 has 0.0004 m² more, but both areas round to 392.12 m².
    for (const middle of [0, -5e-7]) {
      expect(await classes(parcel(1, [-1, 0, 1, 1.1]), polygon(1, '512', [middle, -1, 9, 2]), polygon(2, '211', [-9, -1, middle, 2]))).toMatchObject([{ code: '211', share: 0.5 }]);
    }
    // If the border is 1.6 millimetres west of the middle, class 512 has 0.07 m² more.
    expect(await classes(parcel(1, [-1, 0, 1, 1]), polygon(1, '512', [-1e-4, -1, 9, 2]), polygon(2, '211', [-9, -1, -1e-4, 2]))).toMatchObject([{ code: '512' }]);
  });

  it('adds up the polygons of a class, and the pieces of a polygon', async () => {
    expect(await classes(
      parcel(1, [-5, 0, 5, 1]), polygon(1, '311', [-5, -1, -3, 2]), polygon(2, '112', [-3, -1, 0, 2]), polygon(3, '311', [0, -1, 2, 2]), polygon(4, '512', [2, -1, 5, 2]),
      parcel(2, [-5, 10, 5, 11]), polygon(5, '223', [-6, 9, 0, 12]), polygon(5, '223', [0, 9, 6, 12]),
    )).toMatchObject([{ fid: 1, code: '311', share: 0.4 }, { fid: 2, code: '223', share: 1 }]);
  });

  it('counts an overlap of two polygons of a class once', async () => {
    expect(await classes(parcel(1, [-5, 0, 5, 1]), polygon(1, '311', [-5, -1, 0, 2]), polygon(2, '311', [-3, -1, 1, 2]), polygon(3, '112', [1, -1, 5, 2]))).toMatchObject([{ code: '311', share: 0.6 }]);
  });

  it('gives a class only for an overlap of at least 1 m², or of at least half of a parcel under 2 m²', async () => {
    // A unit of latitude is 22.2 m, a unit of longitude 16 m.
    expect(await classes(
      parcel(1, [-1, 0, 1, 1]), polygon(1, '311', [0.998, -1, 9, 2]),
      parcel(2, [-1, 10, 1, 11]), polygon(2, '311', [0.996, 9, 9, 12]),
      parcel(3, [0, 20, 0.05, 0.05 + 20]), polygon(3, '311', [0.02, 19, 9, 22]),
      parcel(4, [0, 30, 0.05, 0.05 + 30]), polygon(4, '311', [0.03, 29, 9, 32]),
      parcel(5, [0, 40, 1, 41]), polygon(5, '311', [1, 39, 2, 42]),
    )).toMatchObject([{ fid: 2, share: 0.002 }, { fid: 3, share: 0.6 }]);
  });

  it('returns no row for roads, waters and parcels outside the map', async () => {
    expect(await classes(parcel(1, [0, 0, 1, 1], 'road'), parcel(2, [1, 0, 2, 1], 'water'), parcel(3, [2, 0, 3, 1]), parcel(4, [20, 0, 21, 1]), polygon(1, '311', [-9, -9, 9, 9]))).toMatchObject([{ fid: 3 }]);
    expect(await classes(parcel(1, [0, 0, 1, 1]))).toEqual([]);
  });

  it('uses the file that is selected for the comune if two files cover the parcel', async () => {
    const two = `${parcel(1, [-1, 0, 1, 1])} ${polygon(1, '311', [-9, -1, 9, 2])} ${polygon(2, '112', [-9, -1, 9, 2], 2)} insert into land_cover_reach (member_id) values (2);`;
    expect(await classes(two)).toMatchObject([{ code: '311', share: 1 }]);
    expect(await classes(`${two} update land_coverage set member_id = 2;`)).toMatchObject([{ code: '112', share: 1 }]);
  });

  it('gives no class if no feature of the map is near the parcels, even after ANALYZE', async () => {
    const many = (table: string, select: string): string => `insert into ${table} ${select} from generate_series(1, 30) as x cross join generate_series(1, 30) as y;`;
    expect(await classes(
      many('parcel', `select 100 * x + y, 'Z001', 'land', 350, st_setsrid(st_point(10 + x / 1000.0, 44 + y / 1000.0), 4326), st_multi(st_makeenvelope(10 + x / 1000.0, 44 + y / 1000.0, 10.001 + x / 1000.0, 44.001 + y / 1000.0, 4326))`),
      many('land_cover_piece', `select 1, 1, x, '311', st_makeenvelope(16 + x / 1000.0, 40 + y / 1000.0, 16.001 + x / 1000.0, 40.001 + y / 1000.0, 4326)`),
      'analyze parcel; analyze land_cover_piece;',
    )).toEqual([]);
  });

  it('gives the same shares as an overlay of complete polygons on random maps without gaps, and shares that add up to 1', async () => {
    const random = randomOf(13, 'land cover');
    const codes = ['112', '211', '223', '311', '512'];
    const statements: string[] = [];
    let count = 0;
    const divide = ([west, south, east, north]: Box, depth: number): void => {
      if (depth === 0) {
        statements.push(polygon(count += 1, random.pick(codes), [west, south, east, north]));
      } else if (random.below(2) === 0) {
        const x = west + (east - west) * (0.2 + 0.6 * random.next());
        divide([west, south, x, north], depth - 1);
        divide([x, south, east, north], depth - 1);
      } else {
        const y = south + (north - south) * (0.2 + 0.6 * random.next());
        divide([west, south, east, y], depth - 1);
        divide([west, y, east, north], depth - 1);
      }
    };
    divide([0, 0, 40, 40], 7);
    for (let fid = 1; fid <= 200; fid += 1) {
      const [x, y] = [random.next() * 36, random.next() * 36];
      statements.push(parcel(fid, [x, y, x + 0.2 + 3 * random.next(), y + 0.2 + 3 * random.next()]));
    }
    const rows = await built<{ fid: number; code: string; naive: string; share: number; most: number; sum: number }>(statements.join('\n'), `
      with overlay as (
        select parcel.fid, piece.code, sum(st_area(st_transform(st_intersection(parcel.geom, piece.geom), 3035))) as m2
        from parcel join land_cover_piece as piece on st_intersects(parcel.geom, piece.geom)
        group by 1, 2
      )
      select
        land_cover.fid, land_cover.code, land_cover.share,
        (select code from overlay where overlay.fid = land_cover.fid order by round(m2::numeric, 2) desc, code limit 1) as naive,
        (select max(m2) / min(parcel.area_m2) from overlay join parcel using (fid) where overlay.fid = land_cover.fid) as most,
        (select sum(shared_m2) / min(parcel.area_m2) from overlay_area as part join parcel using (fid) where part.fid = land_cover.fid) as sum
      from land_cover order by fid`);
    expect(rows).toHaveLength(200);
    for (const { fid, code, naive, share, most, sum } of rows) {
      expect([code, share <= 1], String(fid)).toEqual([naive, true]);
      expect(share, String(fid)).toBeCloseTo(most, 5);
      expect(sum, String(fid)).toBeCloseTo(1, 5);
    }
    expect(rows.filter(({ share }) => share < 1).length).toBeGreaterThan(50);
  });
});
