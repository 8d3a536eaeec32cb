/**
 * Tests the whole process from the publishers' files to the record. Every field of every parcel of a synthetic region is compared with the truth, which the
 * generator computed without PostGIS.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Context } from '../../pipelines/run/context.ts';
import { BuildingTruth, buildingSource } from '../../pipelines/synthetic/buildings.ts';
import { covers } from '../../pipelines/synthetic/plane-geometry.ts';
import type { SyntheticRegion, SyntheticParcel } from '../../pipelines/synthetic/region.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { loadSynthetic } from '../../pipelines/synthetic/synthetic.ts';
import { regionOfFid } from '../../pipelines/contract/regions.ts';
import { SECTION_NAMES, SECTIONS } from '../../pipelines/contract/sections.ts';
import { refresh, type RefreshReport } from '../../pipelines/run/refresh.ts';
import { describeDatabase, describeEngines } from '../harness/database.ts';
import { testEnvironment } from '../harness/environment.ts';
import { freshContext } from '../harness/fresh-context.ts';
import { syntheticFiles, loadOptions } from '../harness/region.ts';

/**
 * Regions to test. A region with land registers needs fewer parcels, because only the names differ. A region as sparse as Italy is tested in addition to a
 * dense region.
 */
const REGIONS = [
  { name: 'Molise', code: 14, parcels: testEnvironment().truth, seed: 5, dense: true, form: 'lattice', repaired: 1 },
  { name: 'Molise with the density of Italy', code: 14, parcels: 1_200, seed: 6, dense: false, form: 'lattice', repaired: 1 },
  { name: 'Molise with towns and fields', code: 14, parcels: 600, seed: 1, dense: false, form: 'place', repaired: 1 },
  { name: 'Trentino-Alto Adige', code: 4, parcels: 900, seed: 5, dense: true, form: 'lattice', repaired: 0 },
] as const;

const COVERED = SECTIONS.filter(({ coverage }) => coverage === 'meta').map(({ name }) => name);

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type JsonObject = Record<string, Json>;

/** Fields that the truth may omit, by section, in addition to the `source` of each section. `affordability` computes the expected index separately. */
const SIBLINGS: Readonly<Record<string, readonly string[]>> = { economics: ['affordability_index', 'affordability_apt_size_m2'] };

/** Returns the fields at a path that the truth may omit. */
function siblingsOf(path: string): readonly string[] {
  return [...SECTION_NAMES.includes(path) ? ['source'] : [], ...SIBLINGS[path] ?? []];
}

/** Tolerance of a number, by section and field. Other numbers must be equal after the contract's rounding. */
const TOLERANCE: Readonly<Record<string, number>> = {
  // PostGIS measures kilometres of shore along a geodesic, the truth along a straight line in degrees. The results differ by a few centimetres.
  'coastal_erosion.distance_m': 0.1,
  // Means of cells, weighted by overlap and rounded to a hundredth. The last digit may differ.
  'subsidence.velocity_mm_year': 0.0101,
  'subsidence.acceleration_mm_year2': 0.0101,
  'demographics.parcel_share': 2e-6,
  // Sums of areas, and values computed from areas. Areas from proj4js and PROJ differ by a millionth of the area.
  'buildings.footprint_m2': 0.0101,
  'buildings.residential_footprint_m2': 0.0101,
  'buildings.built_share': 2e-6,
  'solar.roof_area_m2': 0.0101,
  'solar.kwp_max_total': 0.0101,
  'solar.pvout_kwh_year_total': 2.01,
  // The truth measures this distance on a sphere, and PostGIS measures it on the ellipsoid.
  'cultural_heritage.distance_m': 0.0101,
  // The last hundredth is given to the largest remainder, which is computed from hundredths of a square metre.
  'population.estimated': 0.0101,
  'population.dasymetric': 0.0101,
  'population.areal': 0.0101,
  // Both values are rounded to six decimals.
  'risk.flood_share': 2e-6,
  'risk.landslide_share': 2e-6,
  'land_cover.share': 2e-6,
  'land_use.share': 2e-6,
};

/**
 * Tolerance of the distance to the shore for parcels with many corners, in metres. PostGIS may choose a corner that is nearer on the sphere, but 0.2 %
 * farther on the ellipsoid.
 */
const CORNERS_M = 2;

/** Longitude and latitude. */
type Corner = readonly [number, number];

/** Tolerance of a published corner, in degrees. */
const CORNER_DEGREES = 2e-7;

/** Lists with elements from several sources, with the order of the elements and their maximum number. */
const LISTS: Readonly<Record<string, { readonly by: readonly string[]; readonly most: number }>> = { poi: { by: ['category', 'name', 'id'], most: 50 } };

/** Sorts and truncates a section's list as the record does. */
function ordered(section: string, list: Json): Json {
  const order = LISTS[section];
  if (order === undefined || !Array.isArray(list)) return list;
  const keyOf = (element: Json): string => order.by.map((field) => String((element as JsonObject)[field])).join('\u0000');
  return [...list].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)).slice(0, order.most);
}

/** Merges parts of one section from several sources. */
function merge(a: JsonObject, b: JsonObject): JsonObject {
  const merged: JsonObject = { ...a };
  for (const [key, value] of Object.entries(b)) {
    const before = merged[key];
    if (Array.isArray(before) && Array.isArray(value)) merged[key] = [...before, ...value];
    else merged[key] = isObject(before) && isObject(value) ? merge(before, value) : before !== undefined && before !== null && value === null ? before : value;
  }
  return merged;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Sections that the contract (2, 6) also defines for roads and waters. */
const OF_EVERY_KIND = ['basic', 'risk', 'subsidence', 'coastal_erosion'];
/** Sections that the contract (2, 6) defines only for land. For a section that the contract does not name, `section.ts` lists the kinds. */
const OF_LAND = [
  'address', 'buildings', 'cultural_heritage', 'demographics', 'economics', 'land_cover', 'land_use', 'nightlights', 'poi', 'population', 'solar', 'terrain', 'valuation',
  'valuation_history',
];
/** Sections with a value for all land that the source maps. A parcel without a value is therefore not mapped. */
const DIVIDING = ['demographics', 'population', 'economics'];

/** Returns whether a section is defined for a kind of parcel. */
function isDefined(section: string, kind: SyntheticParcel['kind']): boolean {
  if (kind === 'land' || OF_EVERY_KIND.includes(section)) return true;
  return !OF_LAND.includes(section) && SECTIONS.some(({ name, kinds }) => name === section && kinds.includes(kind));
}

/** Returns the coverage of a section at a parcel. The coverage comes from the generator's sources or follows from the value. */
function coverageOf(region: SyntheticRegion, section: string, parcel: SyntheticParcel, expected: JsonObject): Json {
  if (!isDefined(section, parcel.kind)) return 'not_applicable';
  if (section === 'solar') return buildingSource(region, parcel.comune) === null ? 'not_mapped' : 'mapped';
  if (DIVIDING.includes(section)) return valueOrNull(expected[section]) === null ? 'not_mapped' : 'mapped';
  return ((expected['coverage'] ?? {}) as JsonObject)[section] ?? 'mapped';
}

/** Returns a section, or null if the section has no value. */
function valueOrNull(section: Json | undefined): Json {
  return section === undefined || (isObject(section) && Object.values(section).every((value) => value === null)) ? null : section;
}

/** Returns the paths where the record differs from the truth. */
function differences(path: string, expected: Json | undefined, found: Json | undefined, tolerances = TOLERANCE): string[] {
  if (typeof expected === 'number' && typeof found === 'number') {
    const tolerance = tolerances[path.replace(/\[\d+\]/g, '')] ?? 1e-9;
    return Math.abs(expected - found) <= tolerance ? [] : [`${path}: expected ${expected}, found ${found}`];
  }
  if (Array.isArray(expected) && Array.isArray(found)) {
    if (expected.length !== found.length) return [`${path}: expected ${expected.length} elements, found ${found.length}`];
    return expected.flatMap((value, index) => differences(`${path}[${index}]`, value, found[index], tolerances));
  }
  if (isObject(expected) && isObject(found)) {
    const siblings = siblingsOf(path);
    const keys = new Set([...Object.keys(expected), ...Object.keys(found).filter((key) => !siblings.includes(key))]);
    return [...keys].flatMap((key) => differences(`${path}.${key}`, expected[key], found[key], tolerances));
  }
  return expected === found ? [] : [`${path}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`];
}

/**
 * Returns the differences in the section basic and in the municipality. The area may differ by 0.011 m², the centroid must be inside the parcel, and the
 * geometry must have the same number of polygons and the same corners.
 */
function basicDifferences(region: SyntheticRegion, parcel: SyntheticParcel, expected: JsonObject, record: JsonObject): string[] {
  const basic = record['basic'] as JsonObject;
  const wanted = expected['basic'] as JsonObject;
  const found: string[] = [];
  for (const field of ['gml_id', 'label', 'cadastral_reference', 'kind']) if (basic[field] !== wanted[field]) found.push(`basic.${field}: expected ${String(wanted[field])}, found ${String(basic[field])}`);
  if (Math.abs((basic['area_m2'] as number) - (wanted['area_m2'] as number)) > 0.011) found.push(`basic.area_m2: expected ${String(wanted['area_m2'])}, found ${String(basic['area_m2'])}`);
  const { lng, lat } = basic['centroid'] as { lng: number; lat: number };
  if (!covers(parcel.polygons, [lng, lat])) found.push(`basic.centroid: ${lng} ${lat} is outside`);
  const geometry = basic['geometry'] as unknown as { type: string; coordinates: Corner[][][] };
  const corners = (polygons: readonly (readonly (readonly Corner[])[])[]): Corner[] => polygons.flatMap((rings) => rings.flatMap((ring) => ring.slice(1)));
  if (geometry.type !== 'MultiPolygon') found.push(`basic.geometry.type: ${geometry.type}`);
  if (geometry.coordinates.length !== parcel.polygons.length) found.push(`basic.geometry: ${geometry.coordinates.length} polygons, expected ${parcel.polygons.length}`);
  const [here, there] = [corners(geometry.coordinates), corners(parcel.polygons)];
  // No corner may be dropped, not even a corner on a straight edge.
  if (here.length !== there.length) found.push(`basic.geometry: ${here.length} corners, expected ${there.length}`);
  const missing = there.find(([x, y]) => !here.some(([u, v]) => Math.abs(u - x) <= CORNER_DEGREES && Math.abs(v - y) <= CORNER_DEGREES));
  if (missing !== undefined) found.push(`basic.geometry: no corner at ${missing.join(' ')}`);
  const cadastral = wanted['cadastral'] as JsonObject;
  const none = (code: Json | undefined): Json => (code === '0' || code === undefined ? null : code);
  const { comune_catastale: register, kind } = cadastral;
  found.push(...differences('basic.cadastral', {
    ...(register === undefined ? { sheet: String(cadastral['sheet']).replace(/^0+/, '') } : { sheet: null, comune_catastale: register, kind: kind ?? null }), section: cadastral['section'] ?? null, attachment: none(cadastral['attachment']), development: none(cadastral['development']),
    comune_code: cadastral['comune_code'] ?? null, postal_code: (cadastral['postal_code'] ?? null),
  }, basic['cadastral']));
  found.push(...differences('municipality', expected['municipality'], record['municipality']));
  found.push(...differences('basic.municipality', expected['municipality'], basic['municipality']));
  if (region.code !== regionOfFid(record['fid'] as number)) found.push(`fid: ${String(record['fid'])} is not of region ${region.code}`);
  return found;
}

/** Computes 80 × price / income from the truths of two sources. */
function affordability(expected: JsonObject): Json {
  const economics = expected['economics'];
  if (!isObject(economics)) return null;
  const [price, income] = [economics['avg_residential_price_m2'], economics['average_income']];
  return typeof price === 'number' && typeof income === 'number' && income > 0 ? Math.round((80 * price * 1e4) / income) / 1e4 : null;
}

/** Returns the expected section `solar`, computed from the true roofs and the true yield of two sources. */
function solar(region: SyntheticRegion, roofs: BuildingTruth, parcel: SyntheticParcel, kwhPerKwp: Json | undefined): Json {
  if (parcel.kind !== 'land' || buildingSource(region, parcel.comune) === null) return null;
  const { roofCount, roofM2 } = roofs.of(parcel) ?? { roofCount: 0, roofM2: 0 };
  if (roofCount === 0 || typeof kwhPerKwp !== 'number') return { available: false };
  const kwp = roofM2 * 0.45 * 0.21;
  const printed = Math.round(kwhPerKwp);
  return {
    available: true, n_buildings: roofCount, roof_area_m2: Math.round(roofM2 * 100) / 100, kwp_max_total: Math.round(kwp * 100) / 100,
    pvout_kwh_per_kwp: printed, pvout_kwh_year_total: Math.round(kwp * kwhPerKwp), methodology_version: '1',
    viability_class: printed >= 1400 ? 'alta' : printed >= 1200 ? 'media' : 'bassa',
  };
}

interface Prepared {
  readonly files: Awaited<ReturnType<typeof syntheticFiles>>;
  readonly truth: (parcel: SyntheticParcel) => JsonObject;
}

/** Writes the files of a region and prepares the truth of its parcels, which is computed once for each parcel. */
async function prepare({ code, parcels, seed, dense, form }: typeof REGIONS[number]): Promise<Prepared> {
  const files = await syntheticFiles(parcels, seed, { code, dense, form, everySemester: true });
  const parts = (await Promise.all((await loadSources()).map(({ id }) => loadSynthetic(id)))).flatMap((synthetic) =>
    synthetic.truth === undefined ? [] : [synthetic.truth(files.region)],
  );
  const roofs = new BuildingTruth(files.region);
  const known = new Map<string, JsonObject>();
  const compute = (parcel: SyntheticParcel): JsonObject => {
    const stated = parts.map((part) => part(parcel) as JsonObject).reduce(merge, {});
    return { ...stated, solar: solar(files.region, roofs, parcel, stated['pvout_kwh_per_kwp']) };
  };
  const truth = (parcel: SyntheticParcel): JsonObject => {
    const found = known.get(parcel.reference) ?? compute(parcel);
    known.set(parcel.reference, found);
    return found;
  };
  return { files, truth };
}

/** Files and truth by region. Both engines use the same files and truth, because computing these takes a third of the CPU time of this test. */
const prepared = new Map<string, Promise<Prepared>>();
afterAll(async () => {
  for (const each of prepared.values()) await (await each).files.remove();
});

const answers = new Map<string, string[]>();

// Only dense regions are tested on both engines, because dense regions have more cases in which engines could differ.
describe.each(REGIONS.map((each) => [each.name, each] as const))('%s', (name, region) => (region.dense ? describeEngines : describeDatabase)(`a synthetic region of ${region.parcels} parcels with every source`, (engine) => {
  const { code, dense, form, repaired } = region;
  const tolerances = form === 'lattice' ? TOLERANCE : { ...TOLERANCE, 'coastal_erosion.distance_m': CORNERS_M };
  let files: Awaited<ReturnType<typeof syntheticFiles>>;
  let truth: (parcel: SyntheticParcel) => JsonObject;
  let context: Context;
  let report: RefreshReport;

  beforeAll(async () => {
    if (!prepared.has(name)) prepared.set(name, prepare(region));
    ({ files, truth } = await prepared.get(name)!);
    context = await freshContext(engine);
    report = await refresh(context, loadOptions([files.folder], [files.region.code]));
  }, 900_000);

  it('is loaded without a failure, and every record is counted', () => {
    expect(report.failures.map((failure) => failure.report())).toEqual([]);
    for (const { records, rows, rejects, duplicates } of report.loaded) expect(records).toBe(rows + rejects + duplicates);
  });

  it('has exactly the parcels that the synthetic files contain', async () => {
    // The map of Molise also contains a malformed parcel, which is repaired. This parcel is not in the truth.
    const [row] = await context.database.query<{ good: number; repaired: number }>('select count(*) filter (where not made_valid) as good, count(*) filter (where made_valid) as repaired from core.parcel');
    expect(row).toEqual({ good: files.region.parcelCount, repaired });
  });

  it('has the true value in every field of every section of every parcel', async () => {
    const wrong = new Map<string, { count: number; example: string }>();
    const seen = new Map<string, number>();
    const lines: string[] = [];
    const words = new Set<string>();
    const batch: SyntheticParcel[] = [];
    const compare = async (): Promise<void> => {
      const rows = await context.database.query<{ reference: string; record: JsonObject }>(
        'select x.reference, api.parcel(api.parcel_by_reference(x.reference), $2) as record from unnest($1::text[]) as x (reference)',
        [batch.map(({ reference }) => reference), SECTION_NAMES],
      );
      const records = new Map(rows.map(({ reference, record }) => [reference, record]));
      for (const parcel of batch) {
        const record = records.get(parcel.reference);
        const expected = truth(parcel);
        const found = record === undefined || record === null ? ['record: missing'] : basicDifferences(files.region, parcel, expected, record);
        if (record !== undefined && record !== null) {
          lines.push(JSON.stringify({ ...record, meta: null }));
          for (const section of SECTION_NAMES) {
            if (section === 'basic') continue;
            const wanted = ordered(section, valueOrNull(expected[section])) ?? (Array.isArray(record[section]) ? [] : null);
            const empty = wanted === null || (Array.isArray(wanted) && wanted.length === 0);
            if (!empty) seen.set(section, (seen.get(section) ?? 0) + 1);
            found.push(...differences(section, wanted, record[section], tolerances));
          }
          const coverage = (record['meta'] as JsonObject)['coverage'] as JsonObject;
          for (const section of COVERED) {
            const word = coverageOf(files.region, section, parcel, expected);
            words.add(`${parcel.kind} ${String(word)}`);
            found.push(...differences(`coverage.${section}`, word, coverage[section]));
          }
          if (isObject(record['economics'] ?? null)) found.push(...differences('economics.affordability_index', affordability(expected), (record['economics'] as JsonObject)['affordability_index']));
        }
        for (const difference of found) {
          const kind = difference.split(':')[0]!.replace(/\[\d+\]/g, '[]');
          const before = wrong.get(kind);
          wrong.set(kind, { count: (before?.count ?? 0) + 1, example: before?.example ?? `${parcel.reference} ${difference}` });
        }
      }
      batch.length = 0;
    };
    for (const parcel of files.region.parcels()) {
      batch.push(parcel);
      if (batch.length === 500) await compare();
    }
    await compare();
    expect(Object.fromEntries(wrong)).toEqual({});
    // Every section must have values for many parcels. Otherwise the comparison would prove nothing.
    for (const section of SECTION_NAMES.filter((name) => name !== 'basic')) expect(seen.get(section) ?? 0, section).toBeGreaterThan(dense ? 100 : 20);
    const kinds = [...new Set([...files.region.parcels()].map(({ kind }) => kind))];
    expect(kinds.length, 'kinds of parcel').toBe(code === 4 ? 1 : 3);
    for (const kind of kinds) for (const word of kind === 'land' ? ['mapped', 'not_mapped'] : ['mapped', 'not_applicable']) expect(words).toContain(`${kind} ${word}`);
    expect(words).not.toContain('land not_applicable');
    answers.set(`${name}: ${engine.name}`, lines);
  }, 900_000);
}));

/** Matches shares, whose last of six decimals may differ. */
const SHARE = /"((?:built_|flood_|landslide_)?share)"\s*:\s*([0-9.e-]+)/g;

function alike(a: string, b: string | undefined): boolean {
  if (b === undefined || a.replace(SHARE, '"$1":0') !== b.replace(SHARE, '"$1":0')) return false;
  const [first, second] = [a, b].map((line) => [...line.matchAll(SHARE)].map(([, , share]) => Number(share)));
  return first!.every((share, index) => Math.abs(share - second![index]!) <= 2e-6);
}

it.for(REGIONS.filter(({ dense }) => dense))('both engines return the same bytes for $name, except for meta and the last decimal of shares', ({ name }, { skip }) => {
  const [first, second] = [...answers].flatMap(([key, lines]) => (key.startsWith(`${name}: `) ? [lines] : []));
  if (first === undefined || second === undefined) return skip('only one engine ran');
  const differing = first.flatMap((line, index) => (alike(line, second[index]) ? [] : [[line, second[index]]]));
  expect(differing.slice(0, 3)).toEqual([]);
});
