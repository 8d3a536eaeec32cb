/** Tests the sources and periods that a record cites. A record must cite the source of every value, the mandatory sources, and no other source. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../../pipelines/config.ts';
import type { Context } from '../../pipelines/run/context.ts';
import { HOLDERS } from '../../pipelines/contract/holders.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { SECTION_NAMES } from '../../pipelines/contract/sections.ts';
import { readSectionFiles, readSqlFile } from '../../pipelines/contract/sql-files.ts';
import { periodOf } from '../../pipelines/build/attribution.ts';
import { rowsOfFile } from '../../pipelines/build/file-rows.ts';
import { refresh } from '../../pipelines/run/refresh.ts';
import { describeDatabase } from '../harness/database.ts';
import { freshContext } from '../harness/fresh-context.ts';
import { syntheticFiles, loadOptions } from '../harness/region.ts';

const sources = await loadSources();

describe('the manifests of all sources', () => {
  it('name each holder in the same spelling', () => {
    const spellings: readonly string[] = Object.values(HOLDERS);
    const named = sources.flatMap(({ manifest }) => manifest.attribution.holder.split('; '));
    expect(named.filter((holder) => !spellings.includes(holder))).toEqual([]);
    expect(spellings.filter((holder) => !named.includes(holder)), 'named by no source').toEqual([]);
    // If a holder had two spellings, the letters of one spelling would probably be the beginning of the other spelling.
    const bare = spellings.map((holder) => holder.toLowerCase().replace(/[^a-z]/g, ''));
    expect(bare.filter((holder, index) => bare.some((other, place) => place !== index && other.startsWith(holder)))).toEqual([]);
  });

  it('include a manifest for every source that a section cites', () => {
    const cited = new Set(readSectionFiles('attribution').flatMap(({ cites }) => cites));
    expect([...cited].filter((id) => !sources.some((source) => source.id === id))).toEqual([]);
  });
});

describe('a period', () => {
  it.each([
    [[], ''], [['0000'], ''], [['2024'], '2024'], [['2024', '2022', '2023'], '2022–2024'], [['2024', '2022'], '2022, 2024'],
    [['2025_2', '2025_1', '2024_2'], '2024_2–2025_2'], [['2018_2', '2025_1', '2025_2'], '2018_2, 2025_1–2025_2'], [['basi_2021', '2021'], '2021'], [['basi_2021', '2023'], '2021, 2023'],
    [['2026-07-01', '2026-06-02', '2026-06-30'], '2026-06-02–2026-07-01'], [['2019_2023'], '2019_2023'], [['', '2025'], '2025'],
  ])('of %j is %s', (vintages, expected) => {
    expect(periodOf(vintages)).toBe(expected);
  });
});

interface License {
  readonly section: string;
  readonly source: string;
  readonly holder: string;
  readonly license: string;
  readonly reference_period: string | null;
  readonly attribution: string;
}

describeDatabase('the licences of a record', (engine) => {
  let context: Context;
  let files: Awaited<ReturnType<typeof syntheticFiles>>;
  /** Fid of a parcel that has all the sections below. */
  let fid: number;

  const licenses = async (include: readonly string[]): Promise<License[]> => {
    const [row] = await context.database.query<{ json: { meta: { licenses: License[] } } }>('select api.parcel($1, $2) as json', [fid, include]);
    return row!.json.meta.licenses;
  };
  /** Maps sections to sources and their periods. */
  const cited = async (include: readonly string[]): Promise<Record<string, Record<string, string | null>>> => {
    const found: Record<string, Record<string, string | null>> = {};
    for (const { section, source, reference_period: period } of await licenses(include)) {
      found[section] = { ...found[section], [sources.find(({ manifest }) => manifest.title === source)!.id]: period };
    }
    return found;
  };
  const run = async (): Promise<void> => expect((await refresh(context, loadOptions([files.folder], [14], { accept: { who: 'a test', why: 'the test removes files' } }))).failures).toEqual([]);

  beforeAll(async () => {
    files = await syntheticFiles(1200, 5, { comuni: 6 });
    context = await freshContext(engine);
    await run();
    [{ fid }] = await context.database.query<{ fid: number }>(
      `select min(e.fid) as fid from section.economics e join section.subsidence using (fid) join section.coastal_erosion using (fid) join section.address using (fid)
      where e.cap is not null and e.avg_residential_price_m2 is not null`,
    ) as [{ fid: number }];
  });
  afterAll(() => files?.remove());

  it('cite every source of the returned values, including postal code and comune name, with the periods of the values', async () => {
    const expected = {
      basic: { ade_cadastre: '2026-07-01', istat_comuni: '2026', postal_codes: '2025' },
      risk: { dpc_seismic: '2025', ingv_mps04: '2004', ispra_flood: '2020', ispra_landslide: '2024' },
      subsidence: { egms_vertical: '2020_2024' },
      coastal_erosion: { ispra_shoreline: '2020' },
      // A different comune has quotations and incomes of other periods.
      valuation: { omi_quotations: '2025_2' },
      valuation_history: { omi_quotations: '2015_1–2016_2, 2018_2, 2021_1, 2025_2' },
      economics: { mef_income: '2023', omi_quotations: '2025_2', postal_codes: '2025' },
      demographics: { istat_census: '2021' },
      address: { anncsu_addresses: '2026-06-02', istat_comuni: '2026' },
    };
    expect(await cited(Object.keys(expected))).toEqual(expected);
  });

  it('name Agenzia delle Entrate (OMI), MEF and ISTAT in every record, in the section that shows their data or separately', async () => {
    for (const include of [['basic'], ['economics'], ['address', 'demographics'], SECTION_NAMES] as const) {
      const found = await licenses(include);
      for (const { manifest } of sources.filter((source) => source.manifest.attribution.mandatory === true)) {
        const { holder, license } = manifest.attribution;
        const mine = found.filter((each) => each.holder === holder && each.license === license).map(({ section }) => section);
        expect(mine.length, `${manifest.id} with ${include.join(', ')}`).toBeGreaterThan(0);
        expect(mine.includes('*')).toBe(mine.length === 1 && !(include as readonly string[]).includes(mine[0]!) && mine[0] !== 'basic');
      }
    }
    // The section `basic` itself names ISTAT, because the section shows the names of comuni.
    expect((await licenses(['basic'])).filter(({ section }) => section === '*').map(({ attribution, reference_period: period }) => `${attribution.slice(0, 23)}: ${period}`)).toEqual([
      'Fonte: Ministero dell\'E: 2022–2024', 'Agenzia Entrate - OMI: 2015_1–2016_2, 2018_2, 2021_1, 2025_2',
    ]);
  });

  it('name tiles of ground motion by parcel, and hazard maps by comune', async () => {
    const used = (section: string, setup: string): Promise<string[]> => context.database.session(async (session) => {
      const file = readSqlFile(join(ROOT, `sql/sections/${section}/attribution.sql`));
      const rows = await rowsOfFile<{ key: string; source_id: string | null; vintage: string | null }>(session, file, () => session.script(`
          create schema cases;
          set local search_path to cases, public;
          create table current_member as
          select member_id, member_id as file_id, vintage, member_id as rank from (values (1, '2018_2022'), (2, '2019_2023'), (3, '2020_2024')) as v (member_id, vintage);
          ${setup}`, 'test'));
      return rows.filter(({ source_id: source }) => source !== null).map(({ key, source_id: source, vintage }) => `${key}: ${source} ${vintage}`).sort();
    });
    // Three parcels are in the tile E47N20, and one is in E47N21. One parcel is in both tiles and has a cell only in E47N21. One parcel in E46N20 has no
    // measured cell.
    expect(await used('subsidence', `
      create table motion_tile (tile_x int4, tile_y int4, member_id int4);
      insert into motion_tile values (47, 20, 2), (47, 21, 1), (46, 20, 3);
      create table parcel as
      select fid, st_transform(st_makeenvelope(x, y, x + 20, y + 20, 3035), 4326) as geom
      from (values (1, 4700101, 2000101), (2, 4700501, 2000501), (3, 4700101, 2150001), (4, 4750101, 2099990), (5, 4650001, 2050001), (6, 4700901, 2000901)) as v (fid, x, y);
      create table egms_cell as select 47501 as ix, 21000 as iy;
      create table subsidence as select unnest(array[1, 2, 3, 4, 6]) as fid;`)).toEqual([
      '3: egms_vertical 2018_2022', '4: egms_vertical 2018_2022', ': egms_vertical 2019_2023',
    ]);
    // All maps except flood P3 cover the comune Z001. No landslide map covers Z002, but a landslide area overlaps the parcel of Z002. This parcel is outside
    // the acceleration model.
    expect(await used('risk', `
      create table coverage (belfiore text, theme text, mapped bool, member_id int4);
      insert into coverage values
        ('Z001', 'flood_P1', true, 1), ('Z001', 'flood_P2', true, 2), ('Z001', 'flood_P3', false, null), ('Z001', 'landslide', true, 3), ('Z002', 'landslide', false, null);
      create table parcel (fid int4, belfiore text);
      insert into parcel values (1, 'Z001'), (2, 'Z002');
      create table risk (fid int4, pga_mapped bool, flood_level text, landslide_level text);
      insert into risk values (1, true, 'P1', null), (2, false, null, 'P3');
      create table comune_code as select belfiore from parcel;
      create table comune_suppressed (istat_code text, name text);
      create table file_place (file_id int4, places text[], names text[]);
      create table comune_register as select 'Z001' as belfiore, '070001' as old_istat_code, '070001' as istat_code, false as divided;
      create table seismic_zone as select '070001' as istat_code, 2 as member_id;
      create table pga_node as select 3 as member_id;
      create table flood_coverage as select 'P1' as class, 1 as member_id;
      create table landslide_coverage as select 3 as member_id;`)).toEqual([
      'Z001 pga: dpc_seismic 2019_2023', 'Z001 pga: ingv_mps04 2020_2024', 'Z001 pga: ispra_flood 2018_2022', 'Z001 pga: ispra_flood 2019_2023', 'Z001 pga: ispra_landslide 2020_2024',
      'Z002 - P3: ispra_landslide 2020_2024',
    ]);
  });

  it('no longer name a source after its values are removed', async () => {
    for (const name of ['cap_2025.csv', 'cap_2019.json', 'zone_cap_2025.geojson']) await rm(join(files.folder, name));
    await context.database.query("delete from ledger.release where source_id = 'postal_codes'");
    await run();
    const found = await cited(SECTION_NAMES);
    expect(Object.keys(found['basic']!)).toEqual(['ade_cadastre', 'istat_comuni']);
    // Without a postal code, a parcel has the incomes of its comune.
    expect(found['economics']).toEqual({ mef_income: '2024', omi_quotations: '2025_2' });
  });
});
