/** Tests the coverage of an empty section, with tables that the test defines and with a region that was loaded from only some sources. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Context } from '../../pipelines/run/context.ts';
import { SECTION_NAMES, SECTIONS } from '../../pipelines/contract/sections.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { refresh } from '../../pipelines/run/refresh.ts';
import { describeDatabase } from '../harness/database.ts';
import { testEnvironment } from '../harness/environment.ts';
import { freshContext } from '../harness/fresh-context.ts';
import { syntheticFiles, loadOptions } from '../harness/region.ts';
import { rolledBack } from '../harness/rolled-back.ts';
import { inAllRegions } from '../harness/records.ts';

const sql = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const COVERED = SECTIONS.filter(({ name, coverage }) => name !== 'basic' && coverage === 'meta').map(({ name }) => name);

describeDatabase('the coverage of a section', (engine) => {
  let context: Context;
  beforeAll(async () => {
    context = await freshContext(engine);
  });

  type Said = Record<string, string[]>;

  /** Returns the coverage of three parcels after the given SQL statements. The parcels 1400000001 to 1400000003 are in Z001, Z002 and Z003. */
  const said = (statements: string, sections: readonly string[] = COVERED): Promise<Said> => rolledBack(context.database, async (session) => {
    await session.script(`
        create schema cases;
        set search_path to cases, public;
        create view region as select 14::int2 as code, 'Molise'::text as name;
        create table omi_quotation ();
        create table income ();
        create table accesso ();
        create table land_use_piece ();
        create table school ();
        create table pharmacy ();
        create table fuel_station ();
        create table cultural_place ();
        create table point_of_interest (category text, belfiore text, regions_reached int2);
        create table census_section (section_id text);
        create table quoted_comune (belfiore text, half_year int2, perimeter_half_year int2);
        create table declared_income (belfiore text, cap text);
        create table comune_register (old_istat_code text, belfiore text, event_date date);
        insert into comune_register values ('094001', 'Z001', null), ('094002', 'Z002', null), ('094003', 'Z003', null);
        create table access_point (belfiore text);
        create table section.valuation_14 partition of section.valuation for values from (1400000000) to (1500000000);
        create table section.valuation_history_14 partition of section.valuation_history for values from (1400000000) to (1500000000);
        create table core.census_figures_14 partition of core.census_figures for values in (14);
        create table section.population_14 partition of section.population for values from (1400000000) to (1500000000);
        create table section.demographics_14 partition of section.demographics for values from (1400000000) to (1500000000);
        create table core.section_coverage_14 partition of core.section_coverage for values in (14);
        ${statements}`, 'test');
    await session.script(sql('sql/core/section_coverage.sql'), 'sql/core/section_coverage.sql');
    await session.script('insert into core.section_coverage_14 select * from section_coverage', 'test');
    const rows = await inAllRegions(session, () => session.query<{ section: string; coverage: string }>(
      `select s.section, api.section_coverage(14, 'Z00' || n, null, 'land', s.section, (api.section_record(s.section, 1400000000 + n, null::core.parcel)).linked, null, null::core.parcel) as coverage
         from unnest($1::text[]) with ordinality as s (section, nth) cross join generate_series(1, 3) as n order by s.nth, n`, [sections],
    ));
    return Object.fromEntries(sections.map((section) => [section, rows.filter((row) => row.section === section).map(({ coverage }) => coverage)]));
  });

  it('is not_loaded without any release, and not_mapped if the loaded files cover other comuni', async () => {
    expect(await said('')).toEqual(Object.fromEntries(COVERED.map((section) => [section, ['not_loaded', 'not_loaded', 'not_loaded']])));
    const other = 'insert into omi_quotation default values; insert into income default values; insert into accesso default values;';
    expect(await said(`${other} insert into census_section values ('150630000001');`, ['valuation', 'valuation_history', 'economics', 'demographics', 'address'])).toEqual({
      valuation: ['not_mapped', 'not_mapped', 'not_mapped'], valuation_history: ['not_mapped', 'not_mapped', 'not_mapped'], economics: ['not_mapped', 'not_mapped', 'not_mapped'],
      demographics: ['not_mapped', 'not_mapped', 'not_mapped'], address: ['not_mapped', 'not_mapped', 'not_mapped'],
    });
  });

  it('is mapped for quotations only in a comune with both quotations and perimeters', async () => {
    const omi = "insert into omi_quotation default values; insert into quoted_comune values ('Z001', 4051, 4051), ('Z002', 4051, null), ('Z003', null, 4051);";
    expect(await said(omi, ['valuation', 'valuation_history'])).toEqual({ valuation: ['mapped', 'not_mapped', 'not_mapped'], valuation_history: ['mapped', 'not_mapped', 'not_mapped'] });
  });

  it('is not_mapped for quotations if no half-year has quotations of the parcel\'s zone, and mapped if the parcel is in no zone', async () => {
    expect(await said(`insert into omi_quotation default values; insert into quoted_comune values ('Z001', 4051, 4037), ('Z002', 4051, 4037), ('Z003', 4051, 4037);
      insert into section.valuation_14 (fid, belfiore, zona, half_year, perimeter_half_year) values (1400000001, 'Z001', 'R1', null, 4037), (1400000002, 'Z002', 'R1', 4051, 4051);
      insert into section.valuation_history_14 (fid, since, until, belfiore, zona, half_year, perimeter_half_year, then_belfiore, then_zona) values
        (1400000001, 4030, 4051, 'Z001', 'R1', null, 4037, null, null),
        (1400000002, 4030, 4037, 'Z002', 'R1', null, 4037, null, null), (1400000002, 4038, 4051, 'Z002', 'R1', null, 4037, 'Z002', 'R1');`, ['valuation', 'valuation_history']))
      .toEqual({ valuation: ['not_mapped', 'mapped', 'mapped'], valuation_history: ['not_mapped', 'mapped', 'mapped'] });
  });

  it('is mapped for incomes if the comune has a row, and not_mapped if only its postal codes have rows', async () => {
    expect(await said("insert into income default values; insert into declared_income values ('Z001', null), ('Z002', '86001');", ['economics'])).toEqual({ economics: ['mapped', 'not_mapped', 'not_mapped'] });
  });

  it('is mapped for the census in a census section with data, and not_mapped without data or outside all census sections', async () => {
    const placed = `
      insert into section.demographics_14 values (1400000001, '940010000001', 0.5), (1400000002, '940010000002', 0.5);
      insert into core.census_figures_14 select (jsonb_populate_record(null::core.census_figures, (
        select jsonb_object_agg(c.column_name, 1) from information_schema.columns c where c.table_schema = 'core' and c.table_name = 'census_figures'
      ) || '{"region_code": 14, "section_id": "940010000001"}')).*;
      insert into section.population_14 (fid, section_id, estimated, areal, estimation_method) values (1400000001, '940010000001', 1.5, 1.5, 'areal');`;
    expect(await said(`insert into census_section values ('940010000001'), ('940010000002'); ${placed}`, ['demographics', 'population']))
      .toEqual({ demographics: ['mapped', 'not_mapped', 'not_mapped'], population: ['mapped', 'not_mapped', 'not_mapped'] });
    // Other regions are loaded, and this region was published without the census.
    expect(await said('', ['demographics', 'population'])).toEqual({ demographics: ['not_loaded', 'not_loaded', 'not_loaded'], population: ['not_loaded', 'not_loaded', 'not_loaded'] });
  });

  it('is mapped for points in a comune that every list of the section names, and in all comuni if the lists cover Italy', async () => {
    const points = 'insert into school default values; insert into fuel_station default values; insert into cultural_place default values;';
    // The lists contain no schools of the second comune.
    expect(await said(`${points} insert into point_of_interest values ('school', 'Z001', 1), ('fuel', 'Z001', 2), ('fuel', 'Z002', 2), ('fuel', null, 2), ('pharmacy', 'Z003', 19), ('culture', 'Z003', 19);`, ['poi', 'cultural_heritage']))
      .toEqual({ poi: ['mapped', 'not_mapped', 'not_mapped'], cultural_heritage: ['mapped', 'mapped', 'mapped'] });
    // The lists of two categories do not show whether the third category has points.
    const lists = ['school', 'pharmacy', 'fuel'];
    const absent = randomOf('lists of points', testEnvironment().seed).pick(lists);
    const two = lists.filter((category) => category !== absent).map((category) => `('${category}', 'Z001', 20)`).join(', ');
    expect([absent, await said(`${points} insert into point_of_interest values ${two};`, ['poi'])]).toEqual([absent, { poi: ['not_mapped', 'not_mapped', 'not_mapped'] }]);
    expect(await said(`${points} insert into point_of_interest values ${two}, ('${absent}', 'Z002', 18);`, ['poi'])).toEqual({ poi: ['mapped', 'mapped', 'mapped'] });
    expect(await said(points, ['poi', 'cultural_heritage'])).toEqual({ poi: ['not_mapped', 'not_mapped', 'not_mapped'], cultural_heritage: ['not_mapped', 'not_mapped', 'not_mapped'] });
  });

  it('is mapped for addresses in a comune with at least one address', async () => {
    expect(await said("insert into accesso default values; insert into access_point values ('Z003');", ['address'])).toEqual({ address: ['not_mapped', 'not_mapped', 'mapped'] });
  });

  describe('in the record', () => {
    let files: Awaited<ReturnType<typeof syntheticFiles>>;
    beforeAll(async () => {
      files = await syntheticFiles(300, 3, { only: ['ade_cadastre', 'istat_comuni', 'istat_soppressi', 'istat_census', 'anncsu_addresses'], comuni: 2 });
      expect((await refresh(context, loadOptions([files.folder], [14]))).failures).toEqual([]);
    });
    afterAll(() => files?.remove());

    it('is in meta for basic and for every requested section with coverage, even without a release or a value', async () => {
      const [row] = await context.database.query<{ fid: number }>('select p.fid from core.parcel p where not exists (select from section.address a where a.fid = p.fid) order by p.fid limit 1');
      const record = async (include: readonly string[]): Promise<{ meta: { coverage: Record<string, string> }; address?: unknown[] }> =>
        (await context.database.query<{ json: { meta: { coverage: Record<string, string> }; address?: unknown[] } }>('select api.parcel($1, $2) as json', [row!.fid, include]))[0]!.json;
      const { meta, address } = await record(SECTION_NAMES);
      expect(address).toEqual([]);
      expect(Object.keys(meta.coverage)).toEqual(['basic', ...COVERED]);
      expect(meta.coverage).toMatchObject({
        basic: 'mapped', subsidence: 'not_loaded', coastal_erosion: 'not_loaded', valuation: 'not_loaded', valuation_history: 'not_loaded', economics: 'not_loaded',
        demographics: 'mapped', address: 'mapped',
      });
      expect((await record(['address', 'risk'])).meta.coverage).toEqual({ basic: 'mapped', address: 'mapped' });
      expect((await record(['basic', 'risk'])).meta.coverage).toEqual({ basic: 'mapped' });
    });
  });
});
