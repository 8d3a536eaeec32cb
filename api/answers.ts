/**
 * Answers of the endpoints as zod schemas: the document is generated from them, and tests hold every answer to it. The server itself
 * passes the database's JSON through unread.
 */
import { z } from 'zod';
import { STATUS, type ErrorCode } from './errors.ts';
import { SECTIONS, type Section } from '../pipelines/contract/sections.ts';

const nullable = <S extends z.ZodType>(schema: S, meaning: string): z.ZodType => z.union([schema, z.null()]).describe(meaning);

const whole = z.int();
const latitude = z.number().min(-90).max(90).describe('Degrees, EPSG:4326');
const longitude = z.number().min(-180).max(180).describe('Degrees, EPSG:4326');
const belfiore = z.string().regex(/^[A-Z]\d{3}$/).describe('Cadastral code of the comune: a letter and three digits');
const source = z.string().describe('What the block was made from, with the periods');

const municipality = z.strictObject({
  code: belfiore,
  name: nullable(z.string(), 'Name; null: the comune is no longer in force'),
  province: nullable(z.string(), 'Name of the province; null: as name'),
  region: nullable(z.string(), 'Name of the region; null: as name'),
}).meta({ id: 'Municipality', description: 'Comune' });

const centroid = z.strictObject({ lat: latitude, lng: longitude }).meta({ id: 'Centroid', description: 'A point inside the parcel, 7 decimals' });

// --- Sections ----------------------------------------------------------------------------------------------------------

const position = z.array(z.number()).min(2).max(2).describe('Longitude, latitude');
const ring = z.array(position).min(4);
const geometry = z.union([
  z.strictObject({ type: z.literal('Polygon').describe('One polygon'), coordinates: z.array(ring).min(1).describe('Rings: the outer one, then holes') }),
  z.strictObject({ type: z.literal('MultiPolygon').describe('Several polygons'), coordinates: z.array(z.array(ring).min(1)).min(1).describe('Polygons, each of rings: the outer one, then holes') }),
]).meta({ id: 'Geometry', description: 'GeoJSON of RFC 7946: longitude, latitude, 7 decimals, outer rings counter-clockwise' });

const kind = z.enum(['land', 'road', 'water']).describe('Land, or the strips of road and water that are mapped like parcels');

/** What every answer says of a parcel. */
const facts = {
  fid: whole.describe('Identifier, stable through reloads'),
  gml_id: z.string().describe('Identifier of the feature as published (gml:id)'),
  label: z.string().describe('Number of the parcel (particella)'),
  cadastral_reference: z.string().describe('CCCCZFFFFAS.label'),
  municipality,
  area_m2: z.number().min(0).describe('True ground area'),
  centroid,
};

const basic = z.strictObject({
  ...facts,
  kind,
  geometry,
  cadastral: z.strictObject({
    sheet: nullable(z.string(), 'Foglio, without leading zeros; null: the cadastre of the place has none'),
    section: nullable(z.string(), 'Sezione censuaria; null: the comune has none'),
    attachment: nullable(z.string(), 'Allegato; null: none'),
    development: nullable(z.string(), 'Sviluppo; null: none'),
    comune_code: belfiore,
    postal_code: nullable(z.string().regex(/^\d{5}$/), 'CAP; null: not known'),
  }).describe('What the cadastre calls it'),
}).meta({ id: 'Basic', description: 'What and where the parcel is' });

const coverage = z.enum(['mapped', 'not_mapped']).describe('mapped: the source covers this place, and a null level means none here; not_mapped: the source says nothing');

const floodCoverage = z.enum(['mapped', 'partial', 'not_mapped'])
  .describe('mapped: all three scenarios cover the comune; partial: not all, but P1 or P2, or an area was found all the same: the level is a lower bound; not_mapped: nobody has said');
const share = z.number().min(0).max(1);

const risk = z.strictObject({
  seismic_zone: nullable(whole.min(1).max(4), 'Most severe zone of the comune, 1–4; null: not classified'),
  seismic_zone_label: nullable(z.string(), 'As published'),
  seismic_zone_exact: nullable(z.boolean(), 'False: the comune has several zones, or was merged from comuni of several; null: not classified'),
  pga: nullable(z.number(), 'Peak ground acceleration in g, 10 % in 50 years; null: no node within 5 km'),
  flood_level: nullable(z.enum(['P1', 'P2', 'P3', 'HPH']), 'Worst class that shares area with the parcel; HPH: a hazard without class; null: see coverage'),
  flood_share: nullable(share, 'Part of the parcel in areas of this class, each place counted once; null: no level'),
  landslide_level: nullable(z.enum(['P4', 'P3', 'P2', 'P1', 'AA']), 'Worst class that shares area with the parcel; null: see coverage'),
  landslide_share: nullable(share, 'Part of the parcel in areas of this class, each place counted once; null: no level'),
  landslide_attention: nullable(z.boolean(), 'True: an area of attention (AA) overlaps, whatever the level; null: none does, and nobody has mapped the place'),
  coverage: z.strictObject({ pga: coverage, flood: floodCoverage, landslide: coverage }).describe('Whether the sources cover this place'),
  source,
}).meta({ id: 'Risk', description: 'Natural hazards' });

const subsidence = z.strictObject({
  velocity_mm_year: z.number().describe('Negative: the ground sinks'),
  acceleration_mm_year2: z.number().describe('Millimetres per year, per year'),
  cells: whole.min(1).describe('Measured 100 m cells under the parcel'),
  risk_class: whole.min(1).max(5).describe('1 negligible … 5 very high, by the amount of the velocity'),
  risk_label: z.enum(['trascurabile', 'basso', 'medio', 'alto', 'elevato']).describe('Word of the class'),
  trend: z.enum(['stable', 'accelerating', 'decelerating']).describe('By the acceleration'),
  direction: z.enum(['stabile', 'subsidenza', 'sollevamento']).describe('Stable, sinking or rising'),
  source,
}).meta({ id: 'Subsidence', description: 'Vertical ground motion' });

const coastalErosion = z.array(z.strictObject({
  dynamic: z.enum(['erosion', 'accretion', 'stable']).describe('What the shore does'),
  avg_change_m_year: nullable(z.number(), 'Negative: erosion; null: not published, and not stable'),
  severity_index: nullable(whole.min(0).max(4), 'Null: as avg_change_m_year'),
  distance_m: z.number().min(0).max(1000).describe('True ground distance from the parcel'),
})).max(5).meta({ id: 'CoastalErosion', description: 'Shoreline within 1,000 m, nearest first' });

const euro = nullable(z.number().min(0), 'Euro per square metre; null: not quoted');
const monthly = nullable(z.number().min(0), 'Euro per square metre and month; null: not quoted');
const purchase = z.strictObject({ min_eur_m2: euro, max_eur_m2: euro }).describe('Prices');
const rental = z.strictObject({ min_eur_m2: monthly, max_eur_m2: monthly }).describe('Rents');

const valuation = z.array(z.strictObject({
  zone: z.string().describe('OMI zone'),
  fascia: nullable(z.string(), 'Band: B central … R rural'),
  microzona: nullable(whole, 'Null: not published'),
  zone_description: nullable(z.string(), 'Null: not published'),
  municipality: z.string().describe('Name (cadastral code)'),
  property_type: z.string().describe('As published: Abitazioni civili, Negozi …'),
  condition: nullable(z.string(), 'State of conservation; null: not published'),
  purchase,
  rental,
  previous_semester: z.strictObject({ purchase, rental }).describe('The same in the half-year before'),
  semester: z.string().regex(/^\d{4}_[12]$/).describe('Newest half-year that was quoted of the comune'),
  zone_perimeter_semester: nullable(z.string().regex(/^\d{4}_[12]$/), 'Half-year of the perimeter that places the parcel; null: published by a version that did not say'),
})).meta({ id: 'Valuation', description: 'Quotations of the OMI zone, one element per type and state' });

const valuationHistory = z.strictObject({
  zone_current: z.string().describe('OMI zone of the newest half-year'),
  municipality_code: belfiore,
  property_type: z.literal('Abitazioni civili').describe('Civil dwellings'),
  condition: z.literal('NORMALE').describe('Normal state of conservation'),
  semesters: z.array(z.strictObject({
    semester: z.string().regex(/^\d{4}_[12]$/).describe('Year and half-year'),
    zone: nullable(z.string(), 'Zone in which the parcel was then; null: not known'),
    purchase: z.strictObject({ min_eur_m2: euro, max_eur_m2: euro, mid_eur_m2: euro }).describe('Prices'),
    rental: z.strictObject({ min_eur_m2: monthly, max_eur_m2: monthly, mid_eur_m2: monthly }).describe('Rents'),
    gross_yield_pct: nullable(z.number(), 'A year of rent over the price; null: one of them is not quoted'),
  })).min(22).max(22).describe('Oldest first; a half-year that was not quoted keeps its element'),
  source,
}).meta({ id: 'ValuationHistory', description: 'Quotations of the OMI zone over 22 half-years' });

const count = nullable(whole.min(0), 'Null: withheld or not published');
const money = nullable(z.number(), 'Euro; null: withheld');

const economics = z.strictObject({
  average_income: nullable(z.number(), 'total_income over earners, euro; null: withheld'),
  taxpayers: count,
  earners: nullable(whole.min(0), 'Taxpayers with a total income; before 2023 the sum of the brackets; null: withheld'),
  total_income: money,
  net_tax: money,
  tax_year: whole.describe('Year in which the income was earned: of this level the newest that was published of the comune'),
  gini_index: nullable(z.number().min(0).max(1), 'Null: withheld'),
  affordability_index: nullable(z.number(), 'Years of average income for affordability_apt_size_m2; null: no price or no income'),
  affordability_apt_size_m2: whole.describe('Size of the dwelling that affordability_index is of'),
  avg_residential_price_m2: money,
  income_brackets: z.strictObject({
    lte_zero: count, from_0_to_10k: count, from_10k_to_15k: count, from_15k_to_26k: count, from_26k_to_55k: count, from_55k_to_75k: count,
    from_75k_to_120k: count, over_120k: count,
  }).describe('Taxpayers'),
  level: z.enum(['cap', 'comune']).describe('What the figures are of'),
  source,
}).meta({ id: 'Economics', description: 'Declared incomes' });

const people = nullable(whole.min(0), 'Null: not published');

const demographics = z.strictObject({
  population_total: nullable(z.number().min(0), 'Null: not published'),
  male: people,
  female: people,
  age_brackets: z.strictObject(Object.fromEntries([...Array.from({ length: 15 }, (_, index) => `${index * 5}_${index * 5 + 4}`), '75_plus'].map((key) => [key, people]))).describe('Residents by age in years'),
  education: z.strictObject({ no_title: people, elementary: people, middle_school: people, high_school: people, university: people })
    .describe('Residents of 9 years and more by their highest title'),
  employed: people,
  foreigners: z.strictObject({ total: people, eu: people, non_eu: people }).describe('Foreign residents'),
  households: z.strictObject({
    total: people, '1_member': people, '2_members': people, '3_members': people, '4_members': people, '5_members': people, '6_plus_members': people,
  }).describe('Households by number of members'),
  dwellings: people,
  section_id: z.string().describe('Census section'),
  parcel_share: nullable(z.number().min(0).max(1), 'Part of the area of the section\'s land parcels'),
  source,
}).meta({ id: 'Demographics', description: 'Figures of the whole census section that holds the parcel\'s representative point' });

// --- Addresses ---------------------------------------------------------------------------------------------------------

const address = {
  address_id: whole.describe('PROGRESSIVO_ACCESSO of ANNCSU'),
  street_name: z.string().describe('In title case'),
  street_number: z.string().describe('Civico with its exponent: 12/A, 12 ROSSO, KM 3+200, SNC; empty: none'),
  locality: z.string().describe('In title case; empty: not known'),
  municipality_code: belfiore,
  municipality_name: nullable(z.string(), 'In Italian; null: the list of comuni lacks it, and no file names it'),
  province: nullable(z.string(), 'Name of the province; null: the list of comuni lacks the comune'),
  region: nullable(z.string(), 'Name of the region; null: not known'),
  latitude,
  longitude,
  formatted_address: z.string().describe('Street and number, locality or else comune, province'),
};
const matched = {
  match_type: z.enum(['number', 'number_without_exponent', 'nearest_number', 'street']).describe('What of the question was found: the number itself, with another exponent or colour, the nearest one, or the street alone'),
  score: z.number().min(0).max(1).describe('How much of the question agrees, less where match_type is less'),
};

const parcelAddress = z.array(z.strictObject(address).meta({ id: 'Address' })).max(20)
  .meta({ id: 'ParcelAddresses', description: 'Access points inside the parcel, or within 15 m where it is the nearest land parcel' });

/** The block of each section; null or [] where the place has no data. */
export const SECTION_SCHEMAS: Readonly<Record<Section, z.ZodType>> = {
  basic,
  risk: nullable(risk, 'Null: no data'),
  subsidence: nullable(subsidence, 'Null: no measured cell'),
  coastal_erosion: coastalErosion,
  valuation,
  valuation_history: nullable(valuationHistory, 'Null: in no OMI zone'),
  economics: nullable(economics, 'Null: no data'),
  demographics: nullable(demographics, 'Null: in no census section'),
  address: parcelAddress,
};

// --- Answers -----------------------------------------------------------------------------------------------------------

export const error = z.strictObject({
  error: z.enum(Object.keys(STATUS) as [ErrorCode, ...ErrorCode[]]).describe('Code, for programs'),
  message: z.string().describe('What is wrong and what would be right, for people'),
  details: z.record(z.string(), z.unknown()).optional().describe('The same for programs: parameter, allowed, retry_after_seconds …'),
}).meta({ id: 'Error', description: 'Why there is no other answer' });

export const health = z.strictObject({
  status: z.enum(['ok', 'unavailable']).describe('Of the service as a whole'),
  version: z.string().regex(/^\d+\.\d+\.\d+/).describe('Of the program'),
  timestamp: z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/).describe('When this was found; UTC'),
  database: z.enum(['ok', 'unreachable']).describe('Whether it answers'),
  dataset: nullable(z.strictObject({
    regions: z.array(z.strictObject({
      code: whole.describe('ISTAT code, 1–20'),
      name: nullable(z.string(), 'Null: no list of comuni is loaded'),
      published_at: z.string().describe('When its publication came into force; UTC'),
    })).describe('Regions that are published'),
    addresses: whole.min(0).describe('How many are published'),
    parcels: whole.min(0).describe('How many are published'),
  }), 'What is published; null: the database does not answer'),
}).meta({ id: 'Health', description: 'How the service is' });

export const parcel = z.strictObject({
  fid: facts.fid,
  municipality,
  basic,
  ...Object.fromEntries(Object.entries(SECTION_SCHEMAS).filter(([name]) => name !== 'basic').map(([name, schema]) => [name, schema.optional()])),
  meta: z.strictObject({
    sections_included: z.array(z.string()).describe('Sections of this answer'),
    coverage: z.strictObject(Object.fromEntries(SECTIONS.filter((name) => name !== 'risk').map((name) => [name, z.enum(['mapped', 'not_mapped', 'not_loaded']).optional().describe(`Of ${name}`)])))
      .describe('Of each section that was asked for, but risk, which says it by level: mapped: null or [] means none here; not_mapped: the files loaded do not reach here; not_loaded: there are none'),
    licenses: z.array(z.strictObject({
      section: z.string().describe('Section whose values are from the source; *: always to be shown'),
      source: z.string().describe('Title of the dataset'),
      holder: z.string().describe('Whose it is'),
      license: z.string().describe('Name of the licence'),
      url: z.string().describe('Text of the licence, or where the dataset is published'),
      reference_period: nullable(z.string(), 'Years, half-years or days that made the values of this region; null: none of its values come from the source, or it says no date'),
      attribution: z.string().describe('Words to be shown'),
    })).describe('Attributions that must be shown with the data'),
    attribution_required: z.literal(true).describe('Always'),
  }).describe('What was asked, and what must be shown with it'),
}).meta({ id: 'Parcel', description: 'fid, municipality and one block per section that was asked for' });

function list(id: string, item: z.ZodType, order: string, meta: z.ZodRawShape): z.ZodType {
  return z.strictObject({
    data: z.array(item).describe(order),
    meta: z.strictObject({ ...meta, count: whole.min(0).describe('Elements of data') }).describe('What was asked, and how much was found'),
  }).meta({ id });
}

const point = z.strictObject({ lat: latitude, lng: longitude }).meta({ id: 'Point', description: 'One of the points that were asked for' });

const locatedParcel = z.strictObject({
  point: point.optional(),
  ...facts,
  kind: kind.optional(),
  geometry: geometry.optional(),
}).meta({ id: 'LocatedParcel', description: 'point: only where several were asked for; kind and geometry: only with geometry=true' });

const locatedFeature = z.strictObject({
  type: z.literal('Feature').describe('GeoJSON'),
  id: whole.describe('fid'),
  geometry,
  properties: z.strictObject({ point: point.optional(), ...facts, kind }).describe('The parcel'),
}).meta({ id: 'LocatedFeature', description: 'The parcel as GeoJSON' });

const counts = {
  limit: whole.describe('As asked for'),
  count: whole.min(0).describe('Parcels in this answer'),
  truncated: z.boolean().describe('Whether there are more'),
};

const locatedMeta = z.union([
  z.strictObject({ mode: z.literal('point').describe('A point was asked for'), lat: latitude, lng: longitude, ...counts }),
  z.strictObject({
    mode: z.literal('points').describe('Several points were asked for'),
    points: z.array(z.strictObject({ lat: latitude, lng: longitude, count: counts.count, truncated: counts.truncated })).describe('As asked for, each with what was found there'),
    ...counts,
  }),
  z.strictObject({
    mode: z.literal('bbox').describe('A box was asked for'),
    bbox: z.array(z.number()).min(4).max(4).describe('minLng, minLat, maxLng, maxLat as asked for'),
    after: nullable(whole, 'As asked for; null: from the first parcel on'),
    ...counts,
  }),
]).meta({ id: 'LocatedMeta', description: 'What was asked, and how much was found' });

export const located = z.union([
  z.strictObject({ data: z.array(locatedParcel).describe('Smallest first; of a box, by fid'), meta: locatedMeta }),
  z.strictObject({
    type: z.literal('FeatureCollection').describe('GeoJSON, with format=geojson'), features: z.array(locatedFeature).describe('In the order of data'), meta: locatedMeta,
  }),
]).meta({ id: 'LocatedParcels' });

export const searched = z.strictObject({
  data: z.array(locatedParcel).describe('By sheet, then label'),
  meta: z.strictObject({
    mode: z.literal('search').describe('A search by sheet and label'),
    comune: z.string().describe('As asked for'),
    foglio: nullable(z.string(), 'Sheet without leading zeros; null: any'),
    label: nullable(z.string(), 'As asked for; null: any'),
    sezione: nullable(z.string(), 'As asked for; null: any'),
    ...counts,
  }).describe('What was asked, and how much was found'),
}).meta({ id: 'SearchedParcels' });

export const found = list('FoundAddresses', z.strictObject({ ...address, ...matched }).meta({ id: 'FoundAddress' }), 'Best match first', {
  query: z.string().describe('q as asked for'), city: nullable(z.string(), 'As asked for; null: none was given'),
});

export const near = list('NearAddresses', z.strictObject({ ...address, distance_meters: z.number().min(0).describe('True ground distance') }).meta({ id: 'NearAddress' }), 'Nearest first, ties by address_id', {
  lat: latitude, lng: longitude, radius_m: whole.describe('As asked for'),
});

export const regions = list('Regions', z.strictObject({
  code: whole.describe('ISTAT code, 1–20'),
  name: nullable(z.string(), 'As Istat writes it; null: no list of comuni is loaded, and no file names it'),
  area_km2: nullable(z.number(), 'Square kilometres; null: no boundaries are loaded'),
}).meta({ id: 'Region' }), 'By code', {});

export const provinces = list('Provinces', z.strictObject({
  code: z.string().describe('ISTAT code, 3 digits'),
  name: z.string().describe('As Istat writes it'),
  abbreviation: nullable(z.string(), 'Car plate code; null: none published'),
  region_code: whole.describe('ISTAT code of the region'),
}).meta({ id: 'Province' }), 'By code', {});

export const municipalities = list('Municipalities', z.strictObject({
  code: belfiore,
  istat_code: nullable(z.string().regex(/^\d{6}$/), 'Province and comune; null: the list of comuni lacks it'),
  name: nullable(z.string(), 'In Italian; null: the list lacks it, and no file names it'),
  province: nullable(z.string(), 'Name of the province; null: the list of comuni lacks it'),
  region: nullable(z.string(), 'Name of the region; null: not known'),
}).meta({ id: 'MunicipalityEntry' }), 'By ISTAT code, those without one last', {});
