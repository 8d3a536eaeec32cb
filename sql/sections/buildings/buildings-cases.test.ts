/** Tests each rule of the section buildings with a few rectangles, whose coordinates are in metres of EPSG:3035. */
import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import type { Database } from '../../../pipelines/db/index.ts';
import { randomOf } from '../../../pipelines/synthetic/random.ts';
import { describeDatabase } from '../../../test/harness/database.ts';
import { createFunctions } from '../../../test/harness/functions.ts';
import { rolledBack } from '../../../test/harness/rolled-back.ts';

const SQL = readFileSync(new URL('build.sql', import.meta.url), 'utf8');

/** West, south, east, north in metres. */
type Box = readonly [number, number, number, number];

interface Parcel {
  readonly box: Box;
  readonly kind?: 'land' | 'road';
  readonly belfiore?: string;
}

interface Building {
  readonly box: Box;
  readonly source?: 'dbsn' | 'dpc' | 'trento';
  readonly counts?: boolean;
  readonly residential?: boolean;
  /** True: the ring of the footprint starts at a different corner. */
  readonly turned?: boolean;
}

interface Row extends Record<string, unknown> {
  readonly fid: number;
}

const polygon = ([west, south, east, north]: Box, turned = false): string => {
  const corners = [[west, south], [east, south], [east, north], [west, north]].map(([x, y]) => `${4_700_000 + x!} ${2_080_000 + y!}`);
  const ring = turned ? [...corners.slice(2), ...corners.slice(0, 3)] : [...corners, ...corners.slice(0, 1)];
  return `st_multi(st_transform(st_geomfromtext('polygon((${ring.join(', ')}))', 3035), 4326))::geometry(multipolygon, 4326)`;
};

const area = ([west, south, east, north]: Box): number => (east - west) * (north - south);

function over(a: Box, b: Box): number {
  return Math.max(0, Math.min(a[2], b[2]) - Math.max(a[0], b[0])) * Math.max(0, Math.min(a[3], b[3]) - Math.max(a[1], b[1]));
}

describeDatabase('the build of the section buildings', (engine) => {
  let database: Database;
  beforeAll(async () => {
    database = await engine.openDatabase();
    await database.session(createFunctions);
  });

  /** Returns the rows of the section by fid. The fid is the number of the parcel, from 1. */
  function built(parcels: readonly Parcel[], buildings: readonly Building[]): Promise<Map<number, Row>> {
    const of = (source: Building['source'], columns: (building: Building) => string): string => {
      const mine = buildings.flatMap((building, index) => ((building.source ?? 'dbsn') === source ? [`(${columns(building)}, ${index + 1}, ${polygon(building.box, building.turned)})`] : []));
      return mine.length === 0 ? '' : `insert into ${source}_building select v.*, st_area(st_transform(geom, 3035)), core.drawing(geom), 1, 1 from (values ${mine.join(', ')}) as v (${source === 'dbsn' ? 'counts, residential' : 'no_use'}, position, geom);`;
    };
    return rolledBack(database, async (session) => {
      await session.script(`
        create schema cases;
        set local search_path to cases, public;
        create table parcel (fid int4 primary key, belfiore text, kind text, geom geometry(multipolygon, 4326), area_m2 float8);
        create index on parcel using gist (geom);
        create table building_coverage as
        select * from (values ('Z001', 'igm_dbsn'), ('Z002', 'dpc_buildings'), ('Z003', 'trento_cadastre'), ('Z004', null)) as v (belfiore, source);
        create table current_member as select 1 as member_id, 1 as rank;
        create table dbsn_building (counts bool, residential bool, position int8, geom geometry(multipolygon, 4326), area_m2 float8, drawing uuid, release_id int4, member_id int4);
        create table dpc_building (no_use bool, position int8, geom geometry(multipolygon, 4326), area_m2 float8, drawing uuid, release_id int4, member_id int4);
        create table trento_building (like dpc_building);
        insert into parcel select fid, belfiore, kind, geom, st_area(st_transform(geom, 3035)) from (values
          ${parcels.map(({ box, kind = 'land', belfiore = 'Z001' }, index) => `(${index + 1}, '${belfiore}', '${kind}', ${polygon(box)})`).join(', ')}
        ) as v (fid, belfiore, kind, geom);
        ${of('dbsn', ({ counts = true, residential = false }) => `${counts}, ${residential}`)}
        ${of('dpc', () => 'true')}
        ${of('trento', () => 'true')}
        analyze parcel; analyze dbsn_building; analyze dpc_building; analyze trento_building;`, 'test');
      await session.script(SQL, 'sql/sections/buildings/build.sql');
      return new Map((await session.query<Row>('select * from buildings')).map((row) => [row.fid, row]));
    });
  }

  const WEST: Parcel = { box: [0, 0, 100, 100] };
  const EAST: Parcel = { box: [100, 0, 200, 100] };

  it('counts a building on the parcel with its largest part (the smaller fid if parts are equal), and adds to each parcel the part of the footprint on that parcel', async () => {
    const rows = await built([EAST, WEST], [{ box: [95, 10, 105, 20] }, { box: [96, 30, 106, 40] }]);
    expect(rows.get(1)).toMatchObject({ count: 2, footprint_m2: 110, roof_count: 2, roof_area_m2: expect.closeTo(200, 5) as number });
    expect(rows.get(2)).toMatchObject({ count: 0, footprint_m2: 90, roof_count: 0, roof_area_m2: 0 });
  });

  it('ignores an overlap of less than 1 m², or of less than half of a parcel under 2 m²', async () => {
    const tiny: Parcel = { box: [300, 0, 301, 1.5] };
    const rows = await built([WEST, EAST, tiny], [{ box: [90, 10, 100.09, 20] }, { box: [90, 30, 100.11, 40] }, { box: [300, 0, 301, 0.8] }]);
    expect(rows.get(2)).toMatchObject({ count: 0, footprint_m2: 1.1 });
    expect(rows.get(1)).toMatchObject({ count: 2 });
    expect(rows.get(3)).toMatchObject({ count: 1, footprint_m2: 0.8, roof_count: 0, roof_area_m2: 0 });
    const less = await built([tiny], [{ box: [300, 0, 301, 0.7] }]);
    expect(less.size).toBe(0);
  });

  it('counts identical footprints as one building, whatever their first corner, and ignores ruins and buildings under construction', async () => {
    const rows = await built([WEST], [
      { box: [10, 10, 20, 20], residential: true }, { box: [10, 10, 20, 20], residential: true, turned: true },
      { box: [40, 40, 60, 60], counts: false }, { box: [10, 10, 20, 20], counts: false },
    ]);
    expect(rows.get(1)).toMatchObject({ count: 1, footprint_m2: 100, residential_count: 1, residential_footprint_m2: 100, built_share: 0.01 });
  });

  it('counts an overlap of footprints twice in the footprint area, but once in the share of the parcel', async () => {
    const rows = await built([WEST], [{ box: [10, 10, 20, 20] }, { box: [15, 10, 25, 20] }, { box: [25, 10, 35, 20] }]);
    expect(rows.get(1)).toMatchObject({ count: 3, footprint_m2: 300, built_share: 0.025 });
  });

  it('uses one source per comune, even for a building across the border of the comune', async () => {
    const parcels: Parcel[] = [WEST, { ...EAST, belfiore: 'Z002' }, { box: [0, 100, 100, 200], belfiore: 'Z003' }, { box: [100, 100, 200, 200], belfiore: 'Z004' }];
    const rows = await built(parcels, [
      { box: [94, 10, 110, 20], residential: true }, { box: [50, 50, 60, 60], source: 'dpc' }, { box: [150, 50, 160, 60], source: 'dpc' }, { box: [50, 150, 60, 160], source: 'trento' },
      { box: [20, 150, 30, 160], source: 'dpc' }, { box: [150, 150, 160, 160] }, { box: [150, 150, 160, 160], source: 'dpc' },
    ]);
    expect(rows.get(1)).toMatchObject({ count: 1, footprint_m2: 60, residential_count: 1, residential_footprint_m2: 60 });
    for (const fid of [2, 3]) expect(rows.get(fid)).toMatchObject({ count: 1, footprint_m2: 100, residential_count: null, residential_footprint_m2: null });
    expect(rows.has(4)).toBe(false);
  });

  it('counts no building on roads, and counts a building on land even if only a small part is on land', async () => {
    const rows = await built([{ ...WEST, kind: 'road' }, EAST], [{ box: [80, 10, 105, 20] }, { box: [10, 50, 20, 60] }]);
    expect([...rows.keys()]).toEqual([2]);
    expect(rows.get(2)).toMatchObject({ count: 1, footprint_m2: 50, roof_count: 1, roof_area_m2: expect.closeTo(250, 5) as number });
  });

  it('finds no building for parcels far from all buildings, even after ANALYZE', async () => {
    const squares = (east: number): Parcel[] => Array.from({ length: 900 }, (_, index) => {
      const [west, south] = [east + (index % 30) * 100, Math.floor(index / 30) * 100];
      return { box: [west, south, west + 100, south + 100] };
    });
    expect((await built(squares(0), squares(300_000))).size).toBe(0);
  });

  it('divides every footprint completely between parcels and the area outside, if neither parcels nor buildings overlap', async () => {
    const random = randomOf('footprints');
    const parcels: Parcel[] = Array.from({ length: 36 }, (_, index) => {
      const [west, south] = [(index % 6) * 30, Math.floor(index / 6) * 30];
      return { box: [west, south, west + 30, south + 30] };
    });
    // Each building is in a separate square of 20 m, with corners at multiples of 0.1 m. Buildings at the edge extend beyond the parcels.
    const buildings: Building[] = Array.from({ length: 121 }, (_, index) => {
      const [x, y] = [(index % 11) * 20 - 20, Math.floor(index / 11) * 20 - 20];
      const [west, south] = [x + random.below(90) / 10, y + random.below(90) / 10];
      return { box: [west, south, west + 2 + random.below(80) / 10, south + 2 + random.below(80) / 10] };
    });
    const rows = await built(parcels, buildings);
    let [ignored, outside] = [0, 0];
    for (const { box } of buildings) {
      const parts = parcels.map((parcel) => over(box, parcel.box));
      outside += area(box) - parts.reduce((sum, part) => sum + part, 0);
      ignored += parts.filter((part) => part < 1).reduce((sum, part) => sum + part, 0);
    }
    const found = [...rows.values()].reduce((sum, row) => sum + (row['footprint_m2'] as number), 0);
    expect(Math.abs(found + outside + ignored - buildings.reduce((sum, { box }) => sum + area(box), 0))).toBeLessThan(0.01 * rows.size);
    expect(rows.size).toBe(36);
    for (const row of rows.values()) expect(row['built_share']).toBeLessThanOrEqual(1);
    expect([...rows.values()].reduce((sum, row) => sum + (row['count'] as number), 0)).toBe(buildings.filter(({ box }) => parcels.some((parcel) => over(box, parcel.box) >= 1)).length);
  });
});
