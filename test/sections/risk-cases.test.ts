/** The rules of the section risk at their limits, on parcels and layers written by hand. */
import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import type { Database, Session } from '../../pipelines/db/index.ts';
import { describeEngines } from '../harness/database.ts';
import { createFunctions } from '../harness/functions.ts';

const RISK = readFileSync(new URL('../../sql/sections/risk.sql', import.meta.url), 'utf8');

// Lattice nodes every 0.02°. A degree of longitude at 42° north is 82,853 m, one of latitude 111,071 m (GRS80).
const SETUP = `
  create schema cases;
  set search_path to cases, public;
  create table parcel (fid int4, belfiore text, area_m2 float8, point geometry(point, 4326), geom geometry(multipolygon, 4326));
  create table comune_code (belfiore text, istat_code text, province_historic_code text);
  create table comune_register (belfiore text, old_istat_code text, istat_code text, divided bool);
  create table seismic_zone (release_id int4, member_id int4, position int8, istat_code text, label text, zone int2);
  create table pga_node (ix int4, iy int4, lon float8, lat float8, ag_g float8, spacing_deg float8, release_id int4 default 1, member_id int4 default 1, position int8 default 1);
  create table flood_hazard_piece (member_id int4, position int8, class text, geom geometry(polygon, 4326), release_id int4 default 1);
  create table flood_coverage (class text, missing_provinces text[]);
  create table landslide_hazard_piece (member_id int4, position int8, class text, geom geometry(polygon, 4326), release_id int4 default 1);
  create index on parcel using gist (geom);

  insert into comune_code values ('Z001', '094901', '094'), ('Z002', '070901', '070');
  insert into comune_register select belfiore, istat_code, istat_code, false from comune_code;
  insert into seismic_zone values (1, 1, 2, '094901', '2A-3B', 2);

  -- 1: exactly on a node. 2: in the middle of a full cell. 3: a corner is missing. 4: no corner, a node 1.9 km away. 5: 15 km from any.
  insert into parcel
  select fid, belfiore, st_area(st_transform(geom, 3035)), point, geom
  from (
    select fid, belfiore, st_setsrid(st_point(lon, lat), 4326) as point, st_multi(st_makeenvelope(lon - 0.0001, lat - 0.0001, lon + 0.0001, lat + 0.0001, 4326)) as geom
    from (values
      (1, 'Z001', 14.02, 42.02), (2, 'Z001', 14.03, 42.03), (3, 'Z001', 14.05, 42.03), (4, 'Z002', 14.083, 42.03), (5, 'Z003', 14.25, 42.03)
    ) as v (fid, belfiore, lon, lat)
  ) as p;
  insert into pga_node
  select ix, iy, ix * 0.02, iy * 0.02, ag, 0.02
  from (values (701, 2101, 0.1), (702, 2101, 0.2), (701, 2102, 0.3), (702, 2102, 0.4), (703, 2102, 0.25)) as v (ix, iy, ag);
`;

/** One parcel of its own for each rule about areas: a square of about 22 × 22 m at (14.5 + column, 41). */
function square(fid: number, belfiore: string, column: number, side = 0.0002): string {
  return `insert into parcel
    select ${fid}, '${belfiore}', st_area(st_transform(geom, 3035)), st_pointonsurface(geom), st_multi(geom)
    from (select st_makeenvelope(14.5 + ${column}, 41, 14.5 + ${column} + ${side}, 41 + ${side}, 4326) as geom) as g;`;
}

interface Row {
  readonly fid: number;
  readonly seismic_zone: number | null;
  readonly seismic_zone_label: string | null;
  readonly pga_g: number | null;
  readonly flood_level: string | null;
  readonly landslide_level: string | null;
  readonly pga_mapped: boolean;
  readonly flood_mapped: boolean;
  readonly landslide_mapped: boolean;
}

describeEngines('the section risk, case by case', (engine) => {
  let database: Database;
  beforeAll(async () => {
    database = await engine.openDatabase();
    await database.session(createFunctions);
  });

  /** Builds the section over what the statements make of the setup; everything is gone afterwards. */
  const build = (statements: string): Promise<Map<number, Row>> => database.session(async (session: Session) => {
    await session.script('begin', 'test');
    try {
      await session.script(SETUP, 'setup');
      await session.script(statements, 'test');
      await session.script(RISK, 'sql/sections/risk.sql');
      return new Map((await session.query<Row & Record<string, unknown>>('select * from risk order by fid')).map((row) => [row.fid, row]));
    } finally {
      await session.script('rollback', 'test');
    }
  });

  it('acceleration: on a node, inside a cell, without a corner, at the edge of the grid, beyond it', async () => {
    const rows = await build('select 1');
    expect(rows.get(1)!.pga_g).toBe(0.1);
    // Equal distances: the mean.
    expect(rows.get(2)!.pga_g).toBe(0.25);
    // Corners 0.2 (south-west), 0.4 (north-west), 0.25 (north-east), as far as one another but for 0.02 %.
    expect(rows.get(3)!.pga_g).toBeCloseTo(0.2833, 4);
    expect([rows.get(4)!.pga_g, rows.get(4)!.pga_mapped]).toEqual([0.25, true]);
    expect([rows.get(5)!.pga_g, rows.get(5)!.pga_mapped]).toEqual([null, false]);
  });

  it('without any source but the cadastre: a row for each parcel, nothing known, nothing mapped', async () => {
    const rows = await build('delete from pga_node; delete from seismic_zone; delete from comune_code; delete from comune_register');
    expect(rows.size).toBe(5);
    for (const row of rows.values()) {
      expect(row).toMatchObject({ seismic_zone: null, seismic_zone_label: null, pga_g: null, flood_level: null, landslide_level: null, pga_mapped: false, flood_mapped: false, landslide_mapped: false });
    }
  });

  it('seismic zone: by comune; a comune that is not in the classification has none', async () => {
    const rows = await build('select 1');
    expect([rows.get(1)!.seismic_zone, rows.get(1)!.seismic_zone_label]).toEqual([2, '2A-3B']);
    expect([rows.get(4)!.seismic_zone, rows.get(4)!.seismic_zone_label]).toEqual([null, null]);
  });

  it('seismic zone: of comuni that became one the most severe, of equal ones the label of the code in force; what was divided says nothing', async () => {
    const zones = async (statements: string): Promise<unknown> => {
      const row = (await build(`
        insert into comune_register values ('Z002', '070801', '070901', false), ('Z002', '070802', '070901', false), ('Z002', '070803', '070901', true);
        ${statements}`)).get(4)!;
      return [row.seismic_zone, row.seismic_zone_label];
    };
    expect(await zones("insert into seismic_zone values (1, 1, 3, '070801', '3S', 3), (1, 1, 4, '070802', '2B-3A', 2)")).toEqual([2, '2B-3A']);
    expect(await zones("insert into seismic_zone values (1, 1, 3, '070901', '4', 4), (1, 1, 4, '070802', '3', 3)")).toEqual([3, '3']);
    expect(await zones("insert into seismic_zone values (1, 1, 3, '070901', '3S', 3), (1, 1, 4, '070802', '3A', 3)")).toEqual([3, '3S']);
    expect(await zones("insert into seismic_zone values (1, 1, 3, '070803', '1', 1)")).toEqual([null, null]);
  });

  it('flood: a border is not an area, a square metre is, and the parts of a cut area count together', async () => {
    const rows = await build(`
      ${square(11, 'Z001', 0)} ${square(12, 'Z001', 0.01)} ${square(13, 'Z001', 0.02)} ${square(14, 'Z001', 0.03)} ${square(15, 'Z001', 0.04, 0.00001)} ${square(16, 'Z001', 0.05)}
      insert into flood_coverage values ('P1', '{}'), ('P2', '{}'), ('P3', '{}');
      insert into flood_hazard_piece values
        (1, 1, 'P3', st_makeenvelope(14.4998, 40.999, 14.5, 41.001, 4326)),
        -- 0.5 m²: a strip of 22 mm along 22 m.
        (1, 2, 'P3', st_makeenvelope(14.5095, 40.999, 14.5100003, 41.001, 4326)),
        -- 2 m².
        (1, 3, 'P2', st_makeenvelope(14.5195, 40.999, 14.5200011, 41.001, 4326)),
        -- Twice 0.7 m², two pieces of one area.
        (1, 4, 'P1', st_makeenvelope(14.5295, 40.999, 14.5300008, 41.0001, 4326)), (1, 4, 'P1', st_makeenvelope(14.5295, 41.0001, 14.5300008, 41.001, 4326)),
        -- All of a parcel that is smaller than a square metre.
        (1, 5, 'P2', st_makeenvelope(14.5399, 40.999, 14.5401, 41.001, 4326)),
        -- Nested classes and one without a name: the worst counts.
        (1, 6, 'HPH', st_makeenvelope(14.54, 40.9, 14.56, 41.1, 4326)), (2, 1, 'P1', st_makeenvelope(14.54, 40.9, 14.56, 41.1, 4326)), (3, 1, 'P2', st_makeenvelope(14.5501, 40.9, 14.56, 41.1, 4326))`);
    expect([11, 12, 13, 14, 15, 16].map((fid) => rows.get(fid)!.flood_level)).toEqual([null, null, 'P2', 'P1', 'P2', 'P2']);
    expect([11, 12, 13, 14, 15, 16].map((fid) => rows.get(fid)!.flood_mapped)).toEqual([true, true, true, true, true, true]);
  });

  it('flood: where P1 was not mapped, no area says nothing; where P3 alone was not, it still says none', async () => {
    const statements = (missing: string): string => `
      ${square(11, 'Z001', 0)} ${square(12, 'Z002', 0.01)} ${square(13, 'Z001', 0.02)} ${square(14, 'Z009', 0.03)}
      insert into flood_coverage values ${missing};
      insert into flood_hazard_piece values (1, 1, 'P2', st_makeenvelope(14.5199, 40.9, 14.5210, 41.1, 4326))`;
    const p1 = await build(statements("('P1', array['094']), ('P2', '{}'), ('P3', '{}')"));
    // The third is on an area: what is drawn is known. The fourth is in a comune that nobody knows.
    expect([11, 12, 13, 14].map((fid) => [p1.get(fid)!.flood_level, p1.get(fid)!.flood_mapped])).toEqual([[null, false], [null, true], ['P2', true], [null, false]]);
    const p3 = await build(statements("('P1', '{}'), ('P2', '{}'), ('P3', array['094'])"));
    expect([11, 12, 13].map((fid) => [p3.get(fid)!.flood_level, p3.get(fid)!.flood_mapped])).toEqual([[null, true], [null, true], ['P2', true]]);
    const withoutP1 = await build(statements("('P2', '{}'), ('P3', '{}')"));
    expect([11, 12, 13].map((fid) => [withoutP1.get(fid)!.flood_level, withoutP1.get(fid)!.flood_mapped])).toEqual([[null, false], [null, false], ['P2', true]]);
  });

  it('landslide: the worst class, attention last; an undetermined area alone leaves the parcel unmapped', async () => {
    const rows = await build(`
      ${square(11, 'Z001', 0)} ${square(12, 'Z001', 0.01)} ${square(13, 'Z001', 0.02)} ${square(14, 'Z001', 0.03)}
      insert into landslide_hazard_piece values
        (1, 1, 'AA', st_makeenvelope(14.499, 40.9, 14.501, 41.1, 4326)), (1, 2, 'P1', st_makeenvelope(14.5001, 40.9, 14.501, 41.1, 4326)),
        (1, 3, null, st_makeenvelope(14.509, 40.9, 14.511, 41.1, 4326)),
        (1, 4, null, st_makeenvelope(14.519, 40.9, 14.521, 41.1, 4326)), (1, 5, 'AA', st_makeenvelope(14.519, 40.9, 14.521, 41.1, 4326))`);
    expect([11, 12, 13, 14].map((fid) => [rows.get(fid)!.landslide_level, rows.get(fid)!.landslide_mapped])).toEqual([['P1', true], [null, false], ['AA', true], [null, true]]);
  });
});
