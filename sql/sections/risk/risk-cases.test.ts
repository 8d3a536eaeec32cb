/** Tests edge cases of the section risk, with small tables of parcels and layers. */
import { beforeAll, expect, it } from 'vitest';
import type { Database } from '../../../pipelines/db/index.ts';
import { describeDatabase } from '../../../test/harness/database.ts';
import { randomOf } from '../../../pipelines/synthetic/random.ts';
import { testEnvironment } from '../../../test/harness/environment.ts';
import { createFunctions } from '../../../test/harness/functions.ts';
import { ed50, ed50Distance } from '../../../pipelines/synthetic/map-projection.ts';
import { rolledBack } from '../../../test/harness/rolled-back.ts';
import { NO_MERGERS, sqlOf } from '../../../test/harness/sql.ts';

const RISK = sqlOf('sql/sections/risk/build.sql');

// Points as SQL rows (fid, comune, longitude, latitude), given in ED50 and converted to WGS 84. The grid nodes have intervals of 0.02° in ED50. At 42° north, a
// degree of longitude is 82,853 m and a degree of latitude 111,071 m (GRS80).
const POINTS = ([[1, 'Z001', 14.02, 42.02], [2, 'Z001', 14.03, 42.03], [3, 'Z001', 14.05, 42.03], [4, 'Z002', 14.083, 42.03], [5, 'Z003', 14.25, 42.03]] as const)
  .map(([fid, belfiore, lon, lat]) => `(${fid}, '${belfiore}', ${ed50.inverse([lon, lat]).join(', ')})`);
const SETUP = `
  create schema cases;
  set search_path to cases, public;
  ${NO_MERGERS}
  create table comune_code (belfiore text);
  create table parcel (fid int4, belfiore text, area_m2 float8, point geometry(point, 4326), geom geometry(multipolygon, 4326));
  create table current_member (member_id int4, release_id int4, file_id int4, rank int4);
  create table coverage (region_code int2 default 14, theme text, belfiore text, mapped bool, release_id int4, member_id int4, position int8);
  create table comune_register (belfiore text, old_istat_code text, istat_code text, divided bool);
  create table seismic_zone (release_id int4, member_id int4, position int8, istat_code text, label text, zone int2);
  create table pga_node (ix int4, iy int4, lon float8, lat float8, ag_g float8, spacing_deg float8, release_id int4 default 1, member_id int4 default 1, position int8 default 1);
  create table flood_hazard_piece (member_id int4, position int8, class text, geom geometry(polygon, 4326), release_id int4 default 1);
  create table flood_coverage (member_id int4, class text);
  create table landslide_coverage (member_id int4);
  create table landslide_hazard_piece (member_id int4, position int8, class text, geom geometry(polygon, 4326), release_id int4 default 1);
  create index on parcel using gist (geom);

  insert into comune_register values ('Z001', '094901', '094901', false), ('Z002', '070901', '070901', false);
  -- One file with three members.
  insert into current_member select member_id, 1, 1, 1 from generate_series(1, 3) as member_id;
  insert into seismic_zone values (1, 1, 2, '094901', '2A-3B', 2);

  -- Point 1: exactly on a node. 2: in the middle of a cell with four nodes. 3: in a cell with three nodes. 4: in a cell without nodes, 2.2 km from the nearest
  -- node. 5: 16 km from the nearest node.
  insert into parcel
  select fid, belfiore, st_area(st_transform(geom, 3035)), point, geom
  from (
    select fid, belfiore, st_setsrid(st_point(lon, lat), 4326) as point, st_multi(st_makeenvelope(lon - 0.0001, lat - 0.0001, lon + 0.0001, lat + 0.0001, 4326)) as geom
    from (values ${POINTS.join(', ')}) as v (fid, belfiore, lon, lat)
  ) as p;
  insert into pga_node
  select ix, iy, ix * 0.02, iy * 0.02, ag, 0.02
  from (values (701, 2101, 0.1), (702, 2101, 0.2), (701, 2102, 0.3), (702, 2102, 0.4), (703, 2102, 0.25)) as v (ix, iy, ag);
`;

/** Returns statements that mark the comune as covered by a member's file, for the given themes. */
function covers(belfiore: string, themes: readonly string[], memberId = 1): string {
  return themes.map((theme) => `insert into coverage (theme, belfiore, mapped, release_id, member_id, position) values ('${theme}', '${belfiore}', true, 1, ${memberId}, 1);`).join('\n');
}

const FLOODS = ['flood_P1', 'flood_P2', 'flood_P3'];

/**
 * Returns a statement that inserts a piece of an area. West, south, east and north are in hundredths of the side of the parcel that `square` inserts with the
 * same `column`, from the south-western corner of this parcel.
 */
function piece(table: 'flood' | 'landslide', [member, position, level]: readonly [number, number, string | null], column: number, [west, south, east, north]: readonly [number, number, number, number]): string {
  const [x, y, side] = [14.5 + column, 41, 0.0002];
  return `insert into ${table}_hazard_piece (member_id, position, class, geom) values (${member}, ${position}, ${level === null ? 'null' : `'${level}'`},
    st_makeenvelope(${x + (west / 100) * side}, ${y + (south / 100) * side}, ${x + (east / 100) * side}, ${y + (north / 100) * side}, 4326));`;
}

/** Returns a statement that inserts a parcel with its south-western corner at (14.5 + column, 41). By default, the parcel is 17 m wide and 22 m high. */
function square(fid: number, belfiore: string, column: number, side = 0.0002): string {
  return `insert into parcel
    select ${fid}, '${belfiore}', st_area(st_transform(geom, 3035)), st_pointonsurface(geom), st_multi(geom)
    from (select st_makeenvelope(14.5 + ${column}, 41, 14.5 + ${column} + ${side}, 41 + ${side}, 4326) as geom) as g;`;
}

interface Row {
  readonly fid: number;
  readonly seismic_zone: number | null;
  readonly seismic_zone_label: string | null;
  readonly seismic_zone_exact: boolean | null;
  readonly pga_g: number | null;
  readonly flood_level: string | null;
  readonly flood_share: number | null;
  readonly landslide_level: string | null;
  readonly landslide_share: number | null;
  readonly landslide_attention: boolean | null;
  readonly pga_mapped: boolean;
  readonly flood_mapped: boolean;
  readonly flood_partial: boolean;
  readonly landslide_mapped: boolean;
}

describeDatabase('the section risk, case by case', (engine) => {
  let database: Database;
  beforeAll(async () => {
    database = await engine.openDatabase();
    await database.session(createFunctions);
  });

  /** Builds the section after the setup and the given statements, and returns the rows by fid. Rolls back all changes. */
  const build = (statements: string): Promise<Map<number, Row>> => rolledBack(database, async (session) => {
    await session.script(SETUP, 'setup');
    await session.script(statements, 'test');
    await session.script(RISK, 'sql/sections/risk/build.sql');
    return new Map((await session.query<Row & Record<string, unknown>>('select * from risk order by fid')).map((row) => [row.fid, row]));
  });

  it('interpolates the acceleration from the nodes of the cell, uses the nearest node within 5 km if the cell has none, and else gives no value', async () => {
    const rows = await build('select 1');
    expect(rows.get(1)!.pga_g).toBe(0.1);
    // At equal distances the result is the mean.
    expect(rows.get(2)!.pga_g).toBe(0.25);
    // The corners have 0.2 (south-west), 0.4 (north-west) and 0.25 (north-east). The distances to the corners differ by at most 0.02 %.
    expect(rows.get(3)!.pga_g).toBeCloseTo(0.2833, 4);
    expect([rows.get(4)!.pga_g, rows.get(4)!.pga_mapped]).toEqual([0.25, true]);
    expect([rows.get(5)!.pga_g, rows.get(5)!.pga_mapped]).toEqual([null, false]);
  });

  it('transforms points of all Italy to ED50 with the same result as proj4js, to 1e-9 degrees', async () => {
    const { next } = randomOf('ED50', testEnvironment().seed);
    const points = Array.from({ length: 500 }, (_, i): [number, number, number] => [100 + i, 6.6 + next() * 11.9, 35.4 + next() * 11.7]);
    const found = await rolledBack(database, async (session) => {
      await session.script(SETUP, 'setup');
      await session.query(`insert into parcel (fid, belfiore, area_m2, point)
        select fid, 'Z001', 400, st_setsrid(st_point(lon, lat), 4326) from unnest($1::int4[], $2::float8[], $3::float8[]) as p (fid, lon, lat)`,
      [points.map(([fid]) => fid), points.map(([, lon]) => lon), points.map(([, , lat]) => lat)]);
      await session.script(RISK, 'sql/sections/risk/build.sql');
      return session.query<{ fid: number; lon: number; lat: number }>('select fid, lon, lat from cell where fid >= 100 order by fid');
    });
    expect(found).toHaveLength(points.length);
    const off = found.map(({ lon, lat }, i) => {
      const [fid, ...point] = points[i]!;
      const wanted = ed50.forward(point);
      // Checks that the expected point is shifted. The shift is 65 to 88 m east and 90 to 129 m north.
      expect(ed50Distance(point, wanted), String(fid)).toBeGreaterThan(100);
      return Math.max(Math.abs(lon - wanted[0]), Math.abs(lat - wanted[1]));
    });
    expect(Math.max(...off)).toBeLessThan(1e-9);
  });

  it('uses the acceleration of the finest grid that has a node of the cell', async () => {
    const rows = await build('insert into pga_node select ix, iy, ix * 0.05, iy * 0.05, 0.9, 0.05 from generate_series(279, 286) as ix, generate_series(839, 842) as iy');
    expect([1, 2, 3].map((fid) => rows.get(fid)!.pga_g)).toEqual([0.1, 0.25, expect.closeTo(0.2833, 4)]);
    // The cell has no fine node, so the coarse grid is used instead of the nearest fine node.
    expect([4, 5].map((fid) => rows.get(fid)!.pga_g)).toEqual([0.9, 0.9]);
  });

  it('has a row for each parcel, without values and without coverage, if only the cadastre is loaded', async () => {
    const rows = await build('delete from pga_node; delete from seismic_zone; delete from comune_register');
    expect(rows.size).toBe(5);
    for (const row of rows.values()) {
      expect(row).toMatchObject({
        seismic_zone: null,
        seismic_zone_label: null,
        pga_g: null,
        flood_level: null,
        landslide_level: null,
        pga_mapped: false,
        flood_mapped: false,
        flood_partial: false,
        landslide_mapped: false,
        seismic_zone_exact: null,
        flood_share: null,
        landslide_share: null,
        landslide_attention: null,
      });
    }
  });

  it('gives the seismic zone of the comune, and no zone if the comune is not in the classification', async () => {
    const rows = await build('select 1');
    expect([rows.get(1)!.seismic_zone, rows.get(1)!.seismic_zone_label]).toEqual([2, '2A-3B']);
    expect([rows.get(4)!.seismic_zone, rows.get(4)!.seismic_zone_label]).toEqual([null, null]);
  });

  it('gives a merged comune its most severe seismic zone (in a tie, the label of the current code), and a divided comune no zone', async () => {
    const zones = async (statements: string): Promise<unknown> => {
      const row = (await build(`
        insert into comune_register values ('Z002', '070801', '070901', false), ('Z002', '070802', '070901', false), ('Z002', '070803', '070901', true);
        ${statements}`)).get(4)!;
      return [row.seismic_zone, row.seismic_zone_label, row.seismic_zone_exact];
    };
    expect(await zones("insert into seismic_zone values (1, 1, 3, '070801', '3S', 3), (1, 1, 4, '070802', '2B-3A', 2)")).toEqual([2, '2B-3A', false]);
    expect(await zones("insert into seismic_zone values (1, 1, 3, '070901', '4', 4), (1, 1, 4, '070802', '3', 3)")).toEqual([3, '3', false]);
    expect(await zones("insert into seismic_zone values (1, 1, 3, '070901', '3S', 3), (1, 1, 4, '070802', '3A', 3)")).toEqual([3, '3S', false]);
    expect(await zones("insert into seismic_zone values (1, 1, 3, '070803', '1', 1)")).toEqual([null, null, null]);
    // A merged comune whose parts all have the same zone, and an unchanged comune.
    expect(await zones("insert into seismic_zone values (1, 1, 3, '070801', '3S', 3), (1, 1, 4, '070802', '3S', 3)")).toEqual([3, '3S', true]);
    expect(await zones("insert into seismic_zone values (1, 1, 3, '070901', '2A2B', 2)")).toEqual([2, '2A2B', false]);
    expect(await zones("insert into seismic_zone values (1, 1, 3, '070901', '2A', 2)")).toEqual([2, '2A', true]);
    // The newer of two files is used, although the older file has a more severe zone.
    expect(await zones("insert into current_member values (9, 2, 9, 2); insert into seismic_zone values (1, 1, 3, '070901', '4', 4), (2, 9, 3, '070901', '1', 1)")).toEqual([4, '4', true]);
  });

  it('ignores a flood area that shares less than 1 m² with the parcel, adds up the pieces of one area, and gives the most severe class', async () => {
    const rows = await build(`
      ${square(11, 'Z001', 0)} ${square(12, 'Z001', 0.01)} ${square(13, 'Z001', 0.02)} ${square(14, 'Z001', 0.03)} ${square(15, 'Z001', 0.04, 0.00001)} ${square(16, 'Z001', 0.05)}
      ${covers('Z001', FLOODS)}
      insert into flood_hazard_piece values
        (1, 1, 'P3', st_makeenvelope(14.4998, 40.999, 14.5, 41.001, 4326)),
        -- 0.6 m²: a strip of 25 mm along 22 m.
        (1, 2, 'P3', st_makeenvelope(14.5095, 40.999, 14.5100003, 41.001, 4326)),
        -- 2 m².
        (1, 3, 'P2', st_makeenvelope(14.5195, 40.999, 14.5200011, 41.001, 4326)),
        -- Two pieces of one area, 0.7 m² each.
        (1, 4, 'P1', st_makeenvelope(14.5295, 40.999, 14.5300008, 41.0001, 4326)), (1, 4, 'P1', st_makeenvelope(14.5295, 41.0001, 14.5300008, 41.001, 4326)),
        -- An area that contains a parcel of less than 1 m².
        (1, 5, 'P2', st_makeenvelope(14.5399, 40.999, 14.5401, 41.001, 4326)),
        -- Nested areas of several classes, and one area without a class. The most severe class is used.
        (1, 6, 'HPH', st_makeenvelope(14.54, 40.9, 14.56, 41.1, 4326)), (2, 1, 'P1', st_makeenvelope(14.54, 40.9, 14.56, 41.1, 4326)), (3, 1, 'P2', st_makeenvelope(14.5501, 40.9, 14.56, 41.1, 4326))`);
    expect([11, 12, 13, 14, 15, 16].map((fid) => rows.get(fid)!.flood_level)).toEqual([null, null, 'P2', 'P1', 'P2', 'P2']);
    expect([11, 12, 13, 14, 15, 16].map((fid) => rows.get(fid)!.flood_mapped)).toEqual([true, true, true, true, true, true]);
  });

  it('reports floods as mapped if all three scenarios cover the comune, and as partial if P1 or P2 covers the comune or an area is on the parcel', async () => {
    const verdicts = async (themes: readonly string[]): Promise<unknown> => {
      const rows = await build(`
        ${square(11, 'Z001', 0)} ${square(12, 'Z001', 0.01)} ${square(13, 'Z002', 0.02)} ${square(14, 'Z002', 0.03)}
        ${covers('Z001', themes)}
        ${piece('flood', [1, 1, 'P2'], 0.01, [-10, -10, 50, 110])} ${piece('flood', [1, 1, 'P2'], 0.03, [-10, -10, 50, 110])}`);
      return [11, 12, 13, 14].map((fid) => {
        const { flood_level: level, flood_mapped: mapped, flood_partial: partial } = rows.get(fid)!;
        expect(mapped && partial).toBe(false);
        return `${level ?? 'none'} ${mapped ? 'mapped' : partial ? 'partial' : 'not_mapped'}`;
      });
    };
    expect(await verdicts(FLOODS)).toEqual(['none mapped', 'P2 mapped', 'none not_mapped', 'P2 partial']);
    for (const themes of [['flood_P1'], ['flood_P2'], ['flood_P1', 'flood_P2'], ['flood_P1', 'flood_P3'], ['flood_P2', 'flood_P3']]) {
      expect(await verdicts(themes), themes.join()).toEqual(['none partial', 'P2 partial', 'none not_mapped', 'P2 partial']);
    }
    for (const themes of [['flood_P3'], []]) expect(await verdicts(themes), themes.join()).toEqual(['none not_mapped', 'P2 partial', 'none not_mapped', 'P2 partial']);
  });

  it('gives a flood level for an area without a class, but does not report the comune as mapped', async () => {
    const rows = await build(`${square(11, 'Z001', 0)} ${piece('flood', [1, 1, 'HPH'], 0, [0, 0, 40, 100])}`);
    expect(rows.get(11)).toMatchObject({ flood_level: 'HPH', flood_mapped: false, flood_partial: true });
    expect(rows.get(11)!.flood_share).toBeCloseTo(0.4, 4);
  });

  it('gives the share of the parcel in areas of the level, counts overlaps once, adds up pieces and adjacent areas, and gives at most 1', async () => {
    const rows = await build(`
      ${[...Array(8).keys()].map((i) => square(11 + i, 'Z001', i / 100)).join('\n')}
      ${covers('Z001', [...FLOODS, 'landslide'])}
      ${/* Two areas each cover a quarter of the parcel, and overlap in an eighth of the parcel. */ ''}
      ${piece('flood', [1, 1, 'P2'], 0, [0, 0, 50, 50])} ${piece('flood', [1, 2, 'P2'], 0, [25, 0, 75, 50])}
      ${/* Two areas each cover the whole parcel. */ ''}
      ${piece('flood', [1, 3, 'P1'], 0.01, [-10, -10, 110, 110])} ${piece('flood', [2, 1, 'P1'], 0.01, [-10, -10, 110, 110])}
      ${/* Two areas each cover the parcel except a strip. The strips are on opposite sides of the parcel. */ ''}
      ${piece('flood', [1, 4, 'P1'], 0.02, [-10, -10, 90, 110])} ${piece('flood', [2, 2, 'P1'], 0.02, [10, -10, 110, 110])}
      ${/* One area in two pieces. */ ''}
      ${piece('flood', [1, 5, 'P3'], 0.03, [0, 0, 20, 100])} ${piece('flood', [1, 5, 'P3'], 0.03, [20, 0, 40, 100])}
      ${/* An area of a more severe class in a corner of an area of a less severe class. */ ''}
      ${piece('flood', [1, 6, 'P3'], 0.04, [0, 0, 10, 10])} ${piece('flood', [1, 7, 'P1'], 0.04, [-10, -10, 110, 110])}
      ${/* Two adjacent areas. */ ''}
      ${piece('landslide', [1, 1, 'P3'], 0.05, [0, 0, 30, 100])} ${piece('landslide', [1, 2, 'P3'], 0.05, [30, 0, 60, 100])}
      ${/* An area of attention that an area with a class overlaps. */ ''}
      ${piece('landslide', [1, 3, 'AA'], 0.06, [0, 0, 100, 100])} ${piece('landslide', [1, 4, 'P1'], 0.06, [50, 0, 100, 100])}`);
    const shares = (fid: number): unknown[] => [rows.get(fid)!.flood_level, rows.get(fid)!.landslide_level, rows.get(fid)!.landslide_attention];
    expect([11, 12, 13, 14, 15, 16, 17, 18].map(shares)).toEqual([
      ['P2', null, false], ['P1', null, false], ['P1', null, false], ['P3', null, false], ['P3', null, false], [null, 'P3', false], [null, 'P1', true], [null, null, false],
    ]);
    const flood = [11, 12, 13, 14, 15, 16, 18].map((fid) => rows.get(fid)!.flood_share);
    // Half of a square in degrees is not exactly half of its area, because the northern half is narrower.
    [0.375, 1, 1, 0.4, 0.01, null, null].forEach((wanted, i) => (wanted === null ? expect(flood[i]).toBeNull() : expect(flood[i]).toBeCloseTo(wanted, 5)));
    expect(flood.slice(1, 3)).toEqual([1, 1]);
    expect(rows.get(16)!.landslide_share).toBeCloseTo(0.6, 5);
    expect(rows.get(17)!.landslide_share).toBeCloseTo(0.5, 5);
    expect(rows.get(18)!.landslide_share).toBeNull();
  });

  it('counts areas that share at least 1 m² with the parcel in total, where overlaps count once', async () => {
    // A strip of a hundredth of the parcel's width has an area of 4 m². The hazard areas have 0.6 m² each.
    const rows = await build(`
      ${square(11, 'Z001', 0)} ${square(12, 'Z001', 0.01)} ${covers('Z001', FLOODS)}
      ${piece('flood', [1, 1, 'P2'], 0, [0, 0, 0.15, 100])} ${piece('flood', [1, 2, 'P2'], 0, [99.85, 0, 100, 100])}
      ${piece('flood', [1, 3, 'P2'], 0.01, [0, 0, 0.15, 100])} ${piece('flood', [1, 4, 'P2'], 0.01, [0, 0, 0.15, 100])}`);
    expect([rows.get(11)!.flood_level, rows.get(12)!.flood_level]).toEqual(['P2', null]);
  });

  it('replaces the national file by a newer partial file only for the classes and comuni of the partial file', async () => {
    const rows = await build(`
      delete from current_member;
      -- Members 1 and 2 are the partial file, with P1 and landslides. Members 3 and 4 are the national file.
      insert into current_member values (1, 2, 20, 1), (2, 2, 20, 1), (3, 1, 10, 2), (4, 1, 10, 2);
      insert into flood_coverage values (1, 'P1'), (1, 'HPH'), (3, 'P1'), (4, 'P2'), (4, 'P3'), (4, 'HPH');
      insert into landslide_coverage values (2), (3);
      ${square(11, 'Z001', 0)} ${square(12, 'Z001', 0.01)} ${square(13, 'Z002', 0.02)} ${square(14, 'Z001', 0.03)} ${square(15, 'Z003', 0.04)}
      ${covers('Z001', ['flood_P1'], 1)} ${covers('Z001', ['flood_P2', 'flood_P3'], 4)} ${covers('Z001', ['landslide'], 2)}
      ${covers('Z002', ['flood_P1'], 3)} ${covers('Z002', ['flood_P2', 'flood_P3'], 4)} ${covers('Z002', ['landslide'], 3)}
      ${/* The national file has areas of P1 and of landslides on all these parcels. */ ''}
      ${[0, 0.01, 0.02, 0.03, 0.04].map((column, i) => piece('flood', [3, i + 1, 'P1'], column, [-10, -10, 110, 110]) + piece('landslide', [3, i + 1, 'P4'], column, [-10, -10, 110, 110])).join('\n')}
      ${/* Areas of the partial file: P1 on half of the first parcel, and a landslide on the second. */ ''}
      ${piece('flood', [1, 1, 'P1'], 0, [0, 0, 50, 100])} ${piece('landslide', [2, 1, 'P2'], 0.01, [0, 0, 50, 100])}
      ${/* For a class that the partial file does not contain, the older file is used. */ ''}
      ${piece('flood', [4, 1, 'P3'], 0.01, [0, 0, 25, 100])}
      ${/* An area without a class is used if its file is not older than all files that are used for the comune. */ ''}
      ${piece('flood', [4, 2, 'HPH'], 0.03, [0, 0, 50, 100])}`);
    const seen = (fid: number): unknown[] => [rows.get(fid)!.flood_level, rows.get(fid)!.landslide_level];
    expect([11, 12, 13, 14, 15].map(seen)).toEqual([['P1', null], ['P3', 'P2'], ['P1', 'P4'], ['HPH', null], ['P1', 'P4']]);
    expect(rows.get(11)!.flood_share).toBeCloseTo(0.5, 4);
    expect(rows.get(12)!.flood_share).toBeCloseTo(0.25, 4);
    // No file covers Z003, the comune of parcel 15, so the levels of this parcel are lower bounds.
    expect([11, 13, 15].map((fid) => rows.get(fid)!.landslide_mapped)).toEqual([true, true, false]);
    expect([11, 13, 15].map((fid) => [rows.get(fid)!.flood_mapped, rows.get(fid)!.flood_partial])).toEqual([[true, false], [true, false], [false, true]]);
  });

  it('gives the most severe landslide class (areas of attention are the least severe), and reports a parcel with only an undetermined area as unmapped', async () => {
    const statements = `
      ${square(11, 'Z001', 0)} ${square(12, 'Z001', 0.01)} ${square(13, 'Z001', 0.02)} ${square(14, 'Z001', 0.03)} ${square(15, 'Z001', 0.04)}
      ${piece('landslide', [1, 1, 'AA'], 0, [-10, -10, 110, 110])} ${piece('landslide', [1, 2, 'P1'], 0, [50, -10, 110, 110])}
      ${piece('landslide', [1, 3, null], 0.01, [-10, -10, 110, 110])}
      ${piece('landslide', [1, 4, null], 0.02, [-10, -10, 110, 110])} ${piece('landslide', [1, 5, 'AA'], 0.02, [-10, -10, 110, 110])}
      ${piece('landslide', [1, 6, 'P2'], 0.04, [-10, -10, 50, 110])}`;
    const seen = (rows: Map<number, Row>): unknown[] =>
      [11, 12, 13, 14, 15].map((fid) => [rows.get(fid)!.landslide_level, rows.get(fid)!.landslide_mapped, rows.get(fid)!.landslide_attention]);
    expect(seen(await build(`${statements} ${covers('Z001', ['landslide'])}`))).toEqual([['P1', true, true], [null, false, null], ['AA', true, true], [null, true, false], ['P2', true, false]]);
    // If no file covers the comune, a level is a lower bound, and landslide_attention is true or null.
    expect(seen(await build(statements))).toEqual([['P1', false, true], [null, false, null], ['AA', false, true], [null, false, null], ['P2', false, null]]);
  });
});
