/** Tests which comuni shore files cover, which of several files is used, and which ground-motion tiles contain a parcel. */
import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import type { Database, Row } from '../../../pipelines/db/index.ts';
import { laeaEurope } from '../../../pipelines/synthetic/map-projection.ts';
import { describeDatabase } from '../../../test/harness/database.ts';
import { createTables } from '../../../test/harness/functions.ts';
import { rolledBack } from '../../../test/harness/rolled-back.ts';
import { inAllRegions } from '../../../test/harness/records.ts';

const sql = (path: string): string => readFileSync(new URL(`../../../sql/${path}.sql`, import.meta.url), 'utf8');
const SHORE = ['core/shore_piece', 'core/coast_coverage', 'sections/coastal_erosion/build'].map(sql).join('\n');

/**
 * Comuni in a row along a shore at 42° N, each 0.05 degree (4.1 km) wide, from 14° E. The sea is to the north. Z009 is inland of Z001. Z101 is next to Z003, in
 * a different region. Each comune of the region has one parcel in the middle of its northern border, which is the shore except for Z009. The parcel of Z009 is
 * 800 m from the shore.
 */
const SETUP = `
  create schema cases;
  set search_path to cases, public;
  create table region as select 14::int2 as code, 'Molise' as name;
  create table current_member (member_id int4, release_id int4, file_id int4, rank int4, may_be_cut bool default false);
  create table parcel (fid int4, belfiore text, geom geometry(multipolygon, 4326));
  create table comune_code (belfiore text, istat_code text);
  create table comune_register (belfiore text, old_istat_code text, istat_code text, divided bool);
  create table boundary (member_id int4, position int8, kind text, code text, belfiore text, geom geometry(multipolygon, 4326));
  create table shoreline_coverage (release_id int4, member_id int4, position int8, regions int2[]);
  create table shoreline_segment (release_id int4, member_id int4, position int8, dynamic text, avg_change_m_year float8, geom geometry(multilinestring, 4326));
  create index on parcel using gist (geom);
  create table ground as
  select * from (values ('Z001', '070001', 14.00, 41.993, 42.0), ('Z002', '070002', 14.05, 41.9, 42.0), ('Z003', '070003', 14.10, 41.9, 42.0), ('Z101', '071001', 14.15, 41.9, 42.0), ('Z009', '070009', 14.00, 41.9, 41.993))
    as comune (belfiore, istat_code, west, south, north);
  insert into parcel
  select 1400000000 + right(belfiore, 1)::int4, belfiore, st_multi(st_makeenvelope(west + 0.025, north - 0.0003, west + 0.0253, north, 4326)) from ground where belfiore <> 'Z101';
  insert into comune_code select belfiore, istat_code from ground;
  insert into comune_register select belfiore, istat_code, istat_code, false from ground where belfiore <> 'Z101';
  insert into current_member values (90, 9, 90, 1);
  insert into boundary select 90, row_number() over (), 'comune', istat_code, null, st_multi(st_makeenvelope(west, south, west + 0.05, north, 4326)) from ground;
`;

interface Segment {
  readonly west: number;
  readonly east: number;
  /** Distance in metres from the northern boundary of the comuni to the segment, which is north of it. The default is 30. */
  readonly offshore?: number;
  readonly dynamic?: string | null;
  readonly rate?: number | null;
}

interface File {
  readonly rank: number;
  readonly segments: readonly Segment[];
  readonly national?: boolean;
}

function written(files: readonly File[]): string {
  return files.flatMap(({ rank, segments, national = false }, index) => {
    const member = 50 - 3 * index;
    const regions = national ? [5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20] : [12, 13, 14, 15];
    return [
      `insert into current_member values (${member}, ${member}, ${200 - index}, ${rank}); insert into shoreline_coverage values (${member}, ${member}, 1, '{${regions.join()}}');`,
      ...segments.map(({ west, east, offshore = 30, dynamic = 'erosion', rate = -1 }, position) => {
        const lat = 42 + offshore / 111_000;
        return `insert into shoreline_segment values (${member}, ${member}, ${position + 1}, ${dynamic === null ? 'null' : `'${dynamic}'`}, ${rate ?? 'null'}, st_multi(st_setsrid(st_makeline(st_point(${west}, ${lat}), st_point(${east}, ${lat})), 4326)));`;
      }),
    ];
  }).join('\n');
}

describeDatabase('the coverage of the shore and of ground-motion tiles', (engine) => {
  let database: Database;
  beforeAll(async () => {
    database = await engine.openDatabase();
    await database.session(createTables);
    await database.session(async (session) => {
      for (const file of ['sections/coastal_erosion/record', 'sections/subsidence/record']) await session.script(sql(file), file);
    });
  });

  /** @param path `cases` for the tables of the test case, or `published` for the tables of all regions, which the functions of a record read */
  const inCase = <T>(statements: string, work: (query: <R extends Row>(text: string) => Promise<R[]>) => Promise<T>, path: 'cases' | 'published' = 'cases'): Promise<T> =>
    rolledBack(database, async (session) => {
      await session.script(SETUP, 'setup');
      await session.script(statements, 'test');
      const run = (): Promise<T> => work((text) => session.query(text));
      return path === 'cases' ? await run() : await inAllRegions(session, run);
    });

  /** Builds the section, and returns the covered comuni and the rates of change at each parcel. */
  const build = (files: readonly File[], statements = ''): Promise<{ mapped: string[]; seen: Record<string, (number | null)[]> }> => inCase(`${statements}\n${written(files)}\n${SHORE}`, async (query) => {
    const comuni = await query<{ belfiore: string; mapped: boolean }>('select belfiore, mapped from coast_coverage order by 1');
    expect(comuni.map(({ belfiore }) => belfiore)).toEqual(files.length === 0 ? [] : ['Z001', 'Z002', 'Z003', 'Z009']);
    const seen = await query<{ belfiore: string; rates: (number | null)[] }>(`
      select p.belfiore, coalesce(array_agg(c.avg_change_m_year order by c.ordinal) filter (where c.fid is not null), '{}') as rates
      from parcel p left join coastal_erosion c using (fid) group by 1 order by 1`);
    return {
      mapped: comuni.filter(({ mapped }) => mapped).map(({ belfiore }) => belfiore),
      seen: Object.fromEntries(seen.map(({ belfiore, rates }) => [belfiore, rates])),
    };
  });

  it('covers only the comuni with segments of a partial file, without neighbouring or inland comuni', async () => {
    // The segment extends from the middle of Z001 to 200 m past its border.
    const part: File = { rank: 1, segments: [{ west: 14.025, east: 14.0525 }] };
    for (const statements of ['', 'delete from boundary;']) {
      const { mapped } = await build([part], statements);
      expect(mapped, statements).toEqual(['Z001']);
    }
    // The parcel of Z002 is more than 1,000 m from the segment. Only the parcels of Z001 and of the inland comune Z009 use the segment.
    expect((await build([part])).seen).toEqual({ Z001: [-1], Z002: [], Z003: [], Z009: [-1] });
  });

  it('covers every comune along a long segment', async () => {
    expect((await build([{ rank: 1, segments: [{ west: 14.01, east: 14.14 }] }])).mapped).toEqual(['Z001', 'Z002', 'Z003']);
  });

  it('covers no comune if the segment is in another region, or more than 1,000 m from every comune', async () => {
    expect((await build([{ rank: 1, segments: [{ west: 14.151, east: 14.16 }, { west: 14.01, east: 14.015, offshore: 1010 }] }])).mapped).toEqual([]);
    expect((await build([{ rank: 1, segments: [{ west: 14.01, east: 14.015, offshore: 990 }] }])).mapped).toEqual(['Z001']);
  });

  it('does not cover a comune whose segment has no information', async () => {
    expect(await build([{ rank: 1, segments: [{ west: 14.02, east: 14.03, dynamic: null, rate: null }, { west: 14.07, east: 14.08 }] }])).toEqual({ mapped: ['Z002'], seen: { Z001: [], Z002: [-1], Z003: [], Z009: [] } });
  });

  it('covers every comune if the file has the shore of Italy, including comuni without a segment', async () => {
    const { mapped, seen } = await build([{ rank: 1, national: true, segments: [{ west: 14.12, east: 14.13 }] }]);
    expect(mapped).toEqual(['Z001', 'Z002', 'Z003', 'Z009']);
    expect(seen).toEqual({ Z001: [], Z002: [], Z003: [-1], Z009: [] });
  });

  it('covers no comune if no file is loaded', async () => {
    expect(await build([])).toEqual({ mapped: [], seen: { Z001: [], Z002: [], Z003: [], Z009: [] } });
  });

  it('uses in each comune only the segments of the newest file that covers the comune, whether the file is national or partial', async () => {
    const italy: File = { rank: 2, national: true, segments: [{ west: 14.0, east: 14.15, rate: -2 }] };
    const part: File = { rank: 1, segments: [{ west: 14.051, east: 14.099, rate: -3 }] };
    expect(await build([italy, part])).toEqual({ mapped: ['Z001', 'Z002', 'Z003', 'Z009'], seen: { Z001: [-2], Z002: [-3], Z003: [-2], Z009: [-2] } });
    expect((await build([{ ...italy, rank: 1 }, { ...part, rank: 2 }])).seen).toEqual({ Z001: [-2], Z002: [-2], Z003: [-2], Z009: [-2] });
    // The older partial file covers Z001 and Z002. The newer partial file covers only Z002.
    expect((await build([{ rank: 2, segments: [{ west: 14.01, east: 14.099, rate: -2 }] }, part])).seen).toEqual({
      Z001: [-2],
      Z002: [-3],
      Z003: [],
      Z009: [-2],
    });
  });

  it('sorts segments at equal distance by value, most severe first, and gives the mean 0 only to stable segments without a mean', async () => {
    const here = { west: 14.02, east: 14.03 };
    const segments: Segment[] = [
      { ...here, dynamic: 'accretion', rate: null }, { ...here, dynamic: 'stable', rate: null }, { ...here, dynamic: 'erosion', rate: null }, { ...here, rate: -0.7 }, { ...here, dynamic: 'accretion', rate: 2 }, { ...here, rate: -7 },
    ];
    const shown = async (list: readonly Segment[]): Promise<unknown> => inCase(`${written([{ rank: 1, segments: list }])} ${SHORE}`, (query) =>
      query('select dynamic, avg_change_m_year as rate, severity_index as severity from coastal_erosion where fid = 1400000001 order by ordinal'));
    const expected = [
      { dynamic: 'erosion', rate: -7, severity: 4 }, { dynamic: 'erosion', rate: -0.7, severity: 2 }, { dynamic: 'stable', rate: 0, severity: 0 }, { dynamic: 'accretion', rate: 2, severity: 0 },
      { dynamic: 'accretion', rate: null, severity: null },
    ];
    expect(await shown(segments)).toEqual(expected);
    expect(await shown([...segments].reverse())).toEqual(expected);
  });

  it('decides coverage by comune, and reports not_loaded if no file is loaded', async () => {
    const said = (files: readonly File[]): Promise<string[]> => inCase(`${written(files)} ${SHORE}
      create table core.coast_coverage_14 partition of core.coast_coverage for values in (14);
      insert into core.coast_coverage_14 select * from coast_coverage;`, async (query) =>
      (await query<{ coverage: string }>('select api.coverage_coastal_erosion(14, belfiore, null, null::core.parcel) as coverage from cases.parcel order by fid')).map(({ coverage }) => coverage), 'published');
    expect(await said([{ rank: 1, segments: [{ west: 14.07, east: 14.08 }] }])).toEqual(['partly_if_linked', 'mapped', 'partly_if_linked', 'partly_if_linked']);
    expect(await said([])).toEqual(['not_loaded', 'not_loaded', 'not_loaded', 'not_loaded']);
  });

  it('reports a parcel as mapped only if an EGMS tile contains its representative point, and as not_loaded if no tile is loaded', async () => {
    // The common corner of four tiles that is nearest to Molise.
    const [lon, lat] = laeaEurope.inverse([4_700_000, 2_100_000]);
    const said = (tiles: string): Promise<string[]> => inCase(`
      create table egms_tile (release_id int4, member_id int4, position int8, tile_x int4, tile_y int4);
      ${tiles}
      ${sql('core/motion_tile')}
      create table core.motion_tile_14 partition of core.motion_tile for values in (14);
      insert into core.motion_tile_14 select * from motion_tile;`, async (query) =>
      (await query<{ coverage: string }>(`select api.coverage_subsidence(14, null, st_setsrid(st_point(${lon} + x * 0.0001, ${lat} + y * 0.0001), 4326), null::core.parcel) as coverage
         from (values (1, -1, -1), (2, 1, -1), (3, -1, 1), (4, 1, 1)) as side (n, x, y) order by n`)).map(({ coverage }) => coverage), 'published');
    expect(await said('insert into egms_tile values (1, 1, 1, 46, 20);')).toEqual(['mapped', 'not_mapped', 'not_mapped', 'not_mapped']);
    expect(await said('insert into egms_tile values (1, 1, 1, 47, 21), (1, 2, 1, 46, 21);')).toEqual(['not_mapped', 'not_mapped', 'mapped', 'mapped']);
    expect(await said('')).toEqual(['not_loaded', 'not_loaded', 'not_loaded', 'not_loaded']);
  });
});
