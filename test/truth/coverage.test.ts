/** Tests coverage by kind of parcel. Every kind of request must return the same value, even if some random sources are not loaded. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SyntheticParcel } from '../../pipelines/synthetic/region.ts';
import { SECTION_NAMES, SECTIONS } from '../../pipelines/contract/sections.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { one } from '../../pipelines/db/index.ts';
import { columnsOf, rowsOf, type Ask } from '../../pipelines/deliver/columns.ts';
import type { ComuneCoverage } from '../../pipelines/operate/region-report.ts';
import { explain } from '../../pipelines/operate/explain.ts';
import { refresh } from '../../pipelines/run/refresh.ts';
import type { Context } from '../../pipelines/run/context.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { loadSynthetic } from '../../pipelines/synthetic/synthetic.ts';
import { describeDatabase, describeEngines } from '../harness/database.ts';
import { testEnvironment } from '../harness/environment.ts';
import { freshContext } from '../harness/fresh-context.ts';
import { loadOptions, syntheticFiles } from '../harness/region.ts';
import { queryRecords } from '../harness/records.ts';

/** Sections that the contract also defines for roads and waters. All other sections are only for land. */
const OF_EVERY_KIND = ['basic', 'risk', 'subsidence', 'coastal_erosion'];
const BUILDINGS = ['dpc_buildings', 'igm_dbsn'];
/** Maps a section to its sources. If none of these sources is loaded, the section is not loaded. */
const FED_BY: Readonly<Record<string, readonly string[]>> = {
  subsidence: ['egms_vertical'], coastal_erosion: ['ispra_shoreline'], land_cover: ['clc_land_cover'], land_use: ['urban_atlas'], nightlights: ['viirs_nightlights'],
  economics: ['mef_income'], valuation: ['omi_quotations'], valuation_history: ['omi_quotations'], demographics: ['istat_census'], population: ['istat_census'],
  cultural_heritage: ['mic_places'], poi: ['mim_schools', 'salute_pharmacies', 'mimit_fuel'], terrain: ['copernicus_dem', 'tinitaly_dem'], buildings: BUILDINGS, solar: BUILDINGS,
};
const COVERED = SECTIONS.filter(({ coverage }) => coverage === 'meta').map(({ name }) => name);
const KINDS: readonly SyntheticParcel['kind'][] = ['land', 'road', 'water'];
const [LEFT_OUT, DRAWN] = [4, 25];
/** The seed is in the names of the suites, so that a failure names it. */
const { seed } = testEnvironment();

type Words = Readonly<Record<string, string>>;
type ParcelRecord = Readonly<Record<string, unknown>> & { readonly meta: { readonly coverage: Words } };

describeDatabase(`the coverage of every section (seed ${seed})`, (engine) => {
  const random = randomOf('coverage of kinds', seed);
  const leftOut = new Set<string>();
  while (leftOut.size < LEFT_OUT) for (const source of random.pick(Object.values(FED_BY))) leftOut.add(source);
  const missing = COVERED.filter((section) => FED_BY[section]?.every((source) => leftOut.has(source)));
  let files: Awaited<ReturnType<typeof syntheticFiles>>;
  let context: Context;
  let parcels: readonly { readonly fid: number; readonly kind: SyntheticParcel['kind']; readonly belfiore: string }[];
  const records = new Map<number, ParcelRecord>();

  beforeAll(async () => {
    const only = (await loadSources()).map(({ id }) => id).filter((id) => !leftOut.has(id));
    files = await syntheticFiles(600, 1 + random.below(1_000), { only, comuni: 4, dense: true });
    context = await freshContext(engine);
    expect((await refresh(context, loadOptions([files.folder], [14]))).failures.map((failure) => failure.report())).toEqual([]);
    // The generator defines the kind of each parcel.
    const kinds = new Map([...files.region.parcels()].map(({ reference, kind }) => [reference, kind]));
    const all = (await context.database.query<{ fid: number; reference: string; belfiore: string }>(
      'select fid, reference, belfiore from core.parcel where not made_valid order by fid'))
      .map(({ fid, reference, belfiore }) => ({ fid, belfiore, kind: kinds.get(reference)! }));
    parcels = KINDS.flatMap((kind) => {
      const some = all.filter((parcel) => parcel.kind === kind);
      return some.length <= DRAWN ? some : Array.from({ length: DRAWN }, () => random.pick(some));
    });
    for (const { fid } of parcels) records.set(fid, (await one<{ record: ParcelRecord }>(context.database, 'select api.parcel($1, $2) as record', [fid, SECTION_NAMES])).record);
  });
  afterAll(() => files?.remove());

  const about = `seed ${seed}, without ${[...leftOut].join(', ')}`;

  it('is not_applicable exactly for the kinds of parcel that a section does not support, even if the section is not loaded', () => {
    expect(new Set(parcels.map(({ kind }) => kind))).toEqual(new Set(KINDS));
    expect(missing.length, about).toBeGreaterThan(1);
    const wrong = parcels.flatMap(({ fid, kind }) => COVERED.flatMap((section) => {
      const { [section]: block, meta: { coverage: { [section]: word } } } = records.get(fid)!;
      const isMade = kind === 'land' || OF_EVERY_KIND.includes(section);
      const isEmpty = block === null || (Array.isArray(block) && block.length === 0);
      const isLoaded = !missing.includes(section);
      const isRight = isMade ? word !== 'not_applicable' && (word !== 'not_loaded') === isLoaded : word === 'not_applicable' && isEmpty;
      return isRight ? [] : [`${fid} ${kind} ${section}: ${word}, ${JSON.stringify(block)}`];
    }));
    expect(wrong, about).toEqual([]);
  });

  it('is the same in whole records, in features, in columns and in records as of tomorrow', async () => {
    const ask: Ask = (statement, parameters) => one(context.database, statement, parameters);
    const names = columnsOf(SECTION_NAMES).map(({ name }) => name);
    const { cells } = await rowsOf(ask, parcels.map(({ fid }) => fid), SECTION_NAMES);
    for (const { fid } of parcels) {
      const { meta: { coverage } } = records.get(fid)!;
      const [read] = await queryRecords<{ whole: ParcelRecord; then: ParcelRecord }>(
        context.database,
        'select (select api.whole_record(r.head, $2, r.citations)::json from api.parcel_record($1, $2, null::core.parcel) r) as whole, (api.parcel_as_of($1, $2, current_date + 1)).answer::json as then',
        [fid, SECTION_NAMES],
      );
      const { whole, then } = read!;
      const features = await queryRecords<{ section: string; word: string }>(
        context.database, "select s.section, api.feature_text($1, s.section, null)::json #>> '{properties,coverage}' as word from unnest($2::text[]) as s (section)", [fid, COVERED],
      );
      const feature = Object.fromEntries(features.map(({ section, word }) => [section, word]));
      expect([whole.meta.coverage, then.meta.coverage, feature], about).toEqual([coverage, coverage, coverage]);
      const columns = COVERED.filter((section) => section !== 'basic').map((section) => [section, cells.get(fid)![names.indexOf(`${section}_coverage`)]]);
      expect({ basic: 'mapped', ...Object.fromEntries(columns) }).toEqual(coverage);
    }
  });

  it('does not depend on roads and waters for a whole comune', async () => {
    for (const belfiore of new Set(parcels.map((parcel) => parcel.belfiore))) {
      const { coverage } = await one<{ coverage: Pick<ComuneCoverage, 'parcels_asked' | 'sections'> }>(
        context.database, 'select api.quality_coverage(14, $1) as coverage', [belfiore],
      );
      expect(coverage.sections.length).toBeGreaterThan(SECTION_NAMES.length);
      for (const { section, state, answers } of coverage.sections) {
        expect(Object.keys(answers)).not.toContain('not_applicable');
        expect(Object.values(answers).reduce((sum, count) => sum + count, 0)).toBe(coverage.parcels_asked);
        expect([section, state === 'not_loaded'], about).toEqual([section, missing.includes(section)]);
      }
    }
  });

  it('is not_applicable for sections that exist only for land if all parcels are roads or waters', async () => {
    const roads = parcels.filter(({ kind }) => kind !== 'land').map(({ fid }) => fid);
    const answers = await context.database.query<{ section: string; answers: Record<string, number> }>('select section, answers from api.quality_answers($1)', [roads]);
    for (const { section, answers: words } of answers) {
      if (OF_EVERY_KIND.includes(section)) expect(Object.keys(words), section).not.toContain('not_applicable');
      else expect(words, section).toEqual({ not_applicable: roads.length });
    }
  });

  it('is explained as not applicable for roads and waters if the section exists only for land parcels', async () => {
    const drawn = KINDS.map((kind) => random.pick(parcels.filter((parcel) => parcel.kind === kind)));
    for (const { fid, kind } of drawn) {
      const ofLand = SECTION_NAMES.filter((name) => !OF_EVERY_KIND.includes(name));
      for (const section of [random.pick(OF_EVERY_KIND), random.pick(ofLand), random.pick(ofLand)]) {
        const { not_applicable: reason, reproduced, evidence } = await explain(context, fid, section);
        const isMade = kind === 'land' || OF_EVERY_KIND.includes(section);
        expect([fid, section, reason, reproduced]).toEqual([fid, section, isMade ? null : `this section exists only for land parcels, and this parcel is ${kind}`, true]);
        if (!isMade) expect(evidence).toEqual([]);
      }
    }
  });
});

describeEngines(`the coverage of the census (seed ${seed})`, (engine) => {
  it('is not_mapped for land parcels in no census section, and for parcels of a census section without data', async () => {
    const only = ['ade_cadastre', 'istat_comuni', 'istat_soppressi', 'istat_census'];
    // The fourth comune begins with a sheet that no census section covers.
    const files = await syntheticFiles(400, 1 + (seed % 1_000), { only, comuni: 4 });
    try {
      const context = await freshContext(engine);
      expect((await refresh(context, loadOptions([files.folder], [14]))).failures.map((failure) => failure.report())).toEqual([]);
      const truth = (await loadSynthetic('istat_census')).truth!(files.region);
      const found = new Map((await context.database.query<{ reference: string; words: Words }>(
        "select p.reference, api.parcel(p.fid, array['demographics', 'population'])::json #> '{meta,coverage}' as words from core.parcel p",
      )).map(({ reference, words }) => [reference, words]));
      const counts = new Map<string, number>();
      const wrong = [...files.region.parcels()].flatMap((parcel) => {
        const { reference, kind } = parcel;
        const values = truth(parcel);
        return ['demographics', 'population'].flatMap((section) => {
          const word = kind !== 'land' ? 'not_applicable' : values[section] === null ? 'not_mapped' : 'mapped';
          counts.set(word, (counts.get(word) ?? 0) + 1);
          return found.get(reference)?.[section] === word ? [] : [`${reference} ${section}: expected ${word}, found ${String(found.get(reference)?.[section])}`];
        });
      });
      expect(wrong.slice(0, 5)).toEqual([]);
      expect(counts.get('not_mapped')).toBeGreaterThan(100);
      expect(counts.get('mapped')).toBeGreaterThan(100);
      expect(counts.get('not_applicable')).toBeGreaterThan(5);
    } finally {
      await files.remove();
    }
  });
});
