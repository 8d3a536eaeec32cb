/**
 * What the quality gate watches: for each published table the figures that a refresh may not move unnoticed, the bounds that values keep on
 * any load, and the sums that must come out. A column that is not watched says why.
 */
import type { Relation } from './sql-files.ts';

/** How far a figure may go from what is published. Where a field says otherwise than the rule, it says why. */
export interface Moves {
  /** Median and 95th percentile: share of what they were, default 0.25. */
  readonly by?: number;
  /** A smaller absolute change of them is never suspicious. */
  readonly step?: number;
  readonly why: string;
}

/** A number that is measured or counted: its share of non-null, median and 95th percentile are watched. */
export interface Quantity {
  readonly kind: 'quantity';
  /** Not a column but the quotient of two. */
  readonly of?: readonly [string, string];
  /** No value lies outside; null: open. */
  readonly within?: readonly [number | null, number | null];
  /** Nor does the median of a province, whatever is published: beyond it the unit is another. */
  readonly typical?: readonly [number, number];
  readonly moves?: Moves;
}

/** A column of which it matters whether it says something: its share of non-null is watched. */
export interface Presence {
  readonly kind: 'presence';
  readonly within?: readonly [number | null, number | null];
  /** Of values that are rare everywhere: a place keeps this share of them, too. */
  readonly keeps?: { readonly share: number; readonly why: string };
}

/** A bool: its share of true is watched. */
export interface Truth {
  readonly kind: 'truth';
  /** Rows that are true: a place keeps this share of them, too, however few they are. */
  readonly keeps?: { readonly share: number; readonly why: string };
}

export type FieldGate = Quantity | Presence | Truth;

/** Parts that make a whole, or stay below it, in each row where the whole is known. */
export interface Identity {
  readonly parts: readonly string[];
  /** `=`: where all parts are known they make the whole; `<=`: those known do not pass it. */
  readonly is: '=' | '<=';
  readonly whole: string;
  /** Share of a place's rows that may break it. */
  readonly most: number;
}

/** An identity between tables, which a file of `sql/gates` looks at: rows of slice, place, known, broken. */
export interface IdentityQuery {
  readonly file: string;
  /** What of the known is broken where it is. */
  readonly name: string;
  readonly most: number;
}

/** How a row's comune is known; `whole`: the table is one place. */
export type PlacedBy = 'belfiore' | 'istat_code' | 'fid' | 'whole';

export interface TableGate {
  /** Section of the record that its values are seen in. */
  readonly section: string;
  readonly by: PlacedBy;
  /** Rows with different values of this column are never compared with each other; `presence`: those with a value, and those without. */
  readonly slice?: { readonly column: string; readonly presence?: true; readonly show?: (value: string) => string };
  readonly fields: Readonly<Record<string, FieldGate>>;
  /** Numbers and nullable columns that are not watched, each with the reason. */
  readonly excused: Readonly<Record<string, string>>;
  readonly identities?: readonly Identity[];
  readonly queries?: readonly IdentityQuery[];
}

/** A table that is not watched as a whole, and why. */
export interface Unwatched {
  readonly unwatched: string;
}

const quantity = (more: Omit<Quantity, 'kind'> = {}): Quantity => ({ kind: 'quantity', ...more });
const truth: Truth = { kind: 'truth' };
const presence = (more: Omit<Presence, 'kind'> = {}): Presence => ({ kind: 'presence', ...more });

/** @returns the same field under each of the names */
function each<T extends FieldGate>(names: readonly string[], field: T): Record<string, T> {
  return Object.fromEntries(names.map((name) => [name, field]));
}

/** Whether a file covers a comune. */
const REACHED: Truth = { kind: 'truth', keeps: { share: 1, why: 'a file that reaches fewer comuni than the one before it was cut' } };

const KEY = 'a key';
const ORDER = 'the place in an order';
/** Half-years are numbers in the tables (year × 2 + half − 1) and 2025_1 for people. */
const BY_HALF_YEAR = { column: 'half_year', show: (value: string): string => `${Math.floor(Number(value) / 2)}_${(Number(value) % 2) + 1}` };
const HALF_YEAR = 'a half-year: figures of different ones are not compared';

/** Publishers' files have a misprint now and then (one rent of 161,999 rows in 2017/1 has its ends swapped). */
const MISPRINTS = 0.01;

const AGES = [
  'age_0_4', 'age_5_9', 'age_10_14', 'age_15_19', 'age_20_24', 'age_25_29', 'age_30_34', 'age_35_39', 'age_40_44', 'age_45_49', 'age_50_54', 'age_55_59',
  'age_60_64', 'age_65_69', 'age_70_74', 'age_75_plus',
];
const EDUCATION = ['education_no_title', 'education_elementary', 'education_middle_school', 'education_high_school', 'education_university'];
const HOUSEHOLDS = ['households_1_member', 'households_2_members', 'households_3_members', 'households_4_members', 'households_5_members', 'households_6_plus_members'];
const BRACKETS = ['lte_zero_n', 'from_0_to_10k_n', 'from_10k_to_15k_n', 'from_15k_to_26k_n', 'from_26k_to_55k_n', 'from_55k_to_75k_n', 'from_75k_to_120k_n', 'over_120k_n'];

/** Of whole persons, a few of which make a quarter of a small section. */
const PERSONS = quantity({ within: [0, null], moves: { step: 5, why: 'census sections are small: one person more is a quarter of four' } });

export const GATES: Readonly<Record<Relation, TableGate | Unwatched>> = {
  'core.parcel': {
    section: 'basic', by: 'belfiore',
    fields: { area_m2: quantity({ within: [0, null] }), section: presence() },
    excused: { fid: KEY, made_valid: 'how the publisher drew it' },
  },
  'core.sheet': {
    section: 'basic', by: 'belfiore',
    fields: { section: presence(), scale_denominator: presence({ within: [100, 50_000] }) },
    excused: {},
  },
  'core.access_point': {
    section: 'address', by: 'belfiore',
    fields: { geom: presence(), number: presence({ within: [0, null] }), exponent: presence(), colour: presence(), metric_m: presence(), snc: presence(), snc_after: presence(), metodo: presence({ within: [1, 5] }) },
    excused: { address_id: KEY, street_id: KEY },
  },
  'core.street': {
    section: 'address', by: 'belfiore',
    fields: {
      ...each(['accesses', 'located'], quantity({ within: [0, null], moves: { step: 3, why: 'half of the streets have a handful of accesses: one more or less is a quarter' } })),
      locality: presence(),
    },
    excused: { street_id: KEY, locality_key: 'locality, as the search writes it' },
  },
  'core.token': { unwatched: 'words of the address search, made from core.street' },
  'core.street_name': { unwatched: 'names of the address search, made from core.street' },
  'core.comune_name': { unwatched: 'names of the address search, made from core.street and the lists of comuni' },
  'core.place_name': { unwatched: 'names of the address search, made from the lists of comuni' },
  'core.comune_found': { unwatched: 'names of comuni that the list lacks, as files are called' },
  'core.comune_register': { unwatched: 'codes of comuni, made from the lists of ISTAT' },
  'core.section_coverage': { unwatched: 'comuni that files speak of: where they fall silent, the rows and values of the sections do' },
  'core.shore_piece': { unwatched: 'the shore as it was cut: what it says near parcels is watched in section.coastal_erosion' },
  'core.coverage': { section: 'risk', by: 'belfiore', slice: { column: 'theme' }, fields: { mapped: REACHED }, excused: {} },
  'core.coast_coverage': { section: 'coastal_erosion', by: 'belfiore', fields: { mapped: REACHED }, excused: {} },
  'core.motion_tile': { section: 'subsidence', by: 'whole', fields: {}, excused: { tile_x: KEY, tile_y: KEY } },
  'core.comune': { section: 'basic', by: 'belfiore', fields: { sigla: presence() }, excused: { name_other: 'second language, of some provinces only', region_code: KEY } },
  'core.province': { section: 'basic', by: 'whole', fields: { abbreviation: presence() }, excused: { region_code: KEY } },
  'core.region': { section: 'basic', by: 'whole', fields: { area_km2: quantity({ within: [0, 30_000] }) }, excused: { code: KEY } },
  'core.quotation': {
    section: 'valuation', by: 'belfiore', slice: BY_HALF_YEAR,
    fields: {
      ...each(['purchase_min_eur_m2', 'purchase_max_eur_m2'], quantity({ within: [1, 100_000], typical: [100, 10_000] })),
      ...each(['rental_min_eur_m2_month', 'rental_max_eur_m2_month'], quantity({ within: [0.05, 1000], typical: [0.3, 60] })),
      stato: presence(), stato_prev: truth,
    },
    excused: { half_year: HALF_YEAR, cod_tip: 'a code of a type of building' },
    identities: [
      { parts: ['purchase_min_eur_m2'], is: '<=', whole: 'purchase_max_eur_m2', most: MISPRINTS },
      { parts: ['rental_min_eur_m2_month'], is: '<=', whole: 'rental_max_eur_m2_month', most: MISPRINTS },
    ],
  },
  'core.quotation_zone': {
    section: 'valuation', by: 'belfiore', slice: BY_HALF_YEAR,
    fields: { description: presence(), microzona: presence() },
    excused: { half_year: HALF_YEAR },
    queries: [{ file: 'sql/gates/quotation_zone.sql', name: 'quoted zones of ZONE without a row in VALORI', most: 0.1 }],
  },
  'core.quoted_comune': { section: 'valuation', by: 'belfiore', fields: { half_year: presence(), perimeter_half_year: presence(), listed: truth }, excused: {} },
  'core.declared_income': {
    section: 'economics', by: 'belfiore', slice: { column: 'cap', presence: true },
    fields: {
      ...each(['taxpayers', 'earners', 'total_income_eur', 'net_tax_eur'], quantity({ within: [0, null] })),
      average_income_eur: quantity({ of: ['total_income_eur', 'earners'], typical: [8_000, 60_000] }),
      ...each(BRACKETS, quantity({ within: [0, null], moves: { by: 0.5, step: 20, why: 'brackets stay while incomes rise, and small ones are withheld in other places each year' } })),
      gini_index: quantity({ within: [0, 1] }),
    },
    excused: { tax_year: 'a year', cap: 'told apart by it' },
    identities: [
      { parts: BRACKETS, is: '=', whole: 'earners', most: MISPRINTS },
      { parts: BRACKETS, is: '<=', whole: 'earners', most: MISPRINTS },
      { parts: ['earners'], is: '<=', whole: 'taxpayers', most: MISPRINTS },
    ],
  },
  'core.census_figures': {
    section: 'demographics', by: 'istat_code',
    fields: each(['population_total', 'male', 'female', ...AGES, ...EDUCATION, 'employed', 'foreigners', 'foreigners_eu', 'foreigners_non_eu', 'households', ...HOUSEHOLDS, 'dwellings_occupied'], PERSONS),
    excused: { reference_year: 'a year' },
    identities: [
      { parts: ['male', 'female'], is: '=', whole: 'population_total', most: MISPRINTS },
      { parts: AGES, is: '=', whole: 'population_total', most: MISPRINTS },
      { parts: EDUCATION, is: '<=', whole: 'population_total', most: MISPRINTS },
      { parts: ['employed'], is: '<=', whole: 'population_total', most: MISPRINTS },
      { parts: ['foreigners'], is: '<=', whole: 'population_total', most: MISPRINTS },
      { parts: ['foreigners_eu', 'foreigners_non_eu'], is: '=', whole: 'foreigners', most: MISPRINTS },
      { parts: HOUSEHOLDS, is: '=', whole: 'households', most: MISPRINTS },
    ],
  },
  'section.risk': {
    section: 'risk', by: 'fid',
    fields: {
      seismic_zone: quantity({ within: [1, 4] }), seismic_zone_label: presence(),
      pga_g: quantity({ within: [0, 1] }),
      ...each(['flood_level', 'landslide_level'], presence({ keeps: { share: 0.5, why: 'a tenth of the land lies in hazard areas: to lose all of it moves the share by less than 0.2' } })),
      ...each(['flood_share', 'landslide_share'], quantity({ within: [0, 1], moves: { step: 0.2, why: 'most parcels lie wholly in an area: of the few that do not one is a quarter soon' } })),
      ...each(['pga_mapped', 'flood_mapped', 'landslide_mapped', 'landslide_attention', 'seismic_zone_exact'], truth),
    },
    excused: { fid: KEY, flood_partial: 'falls where more is mapped: each scenario is watched in core.coverage' },
  },
  'section.subsidence': {
    section: 'subsidence', by: 'fid',
    fields: {
      velocity_mm_year: quantity({ within: [-300, 300], moves: { step: 2, why: 'the ground hardly moves: a quarter of nothing is noise, 2 mm/year are another direction' } }),
      acceleration_mm_year2: quantity({ within: [-300, 300], moves: { step: 1, why: 'the ground hardly moves: a quarter of nothing is noise' } }),
      cells: quantity({ within: [1, null], moves: { step: 2, why: 'most parcels cover one to three cells' } }),
    },
    excused: { fid: KEY, risk_class: 'follows from the velocity' },
  },
  'section.coastal_erosion': {
    section: 'coastal_erosion', by: 'fid',
    fields: {
      avg_change_m_year: quantity({ within: [-100, 100], moves: { step: 0.5, why: 'most shores hardly move: a quarter of nothing is noise' } }),
      distance_m: quantity({ within: [0, 1000] }),
    },
    excused: { fid: KEY, ordinal: ORDER, severity_index: 'follows from the mean change' },
  },
  'section.valuation': {
    section: 'valuation', by: 'fid',
    fields: { half_year: presence(), previous_zona: presence() },
    excused: { fid: KEY, perimeter_half_year: HALF_YEAR, previous_belfiore: 'there with previous_zona' },
  },
  'section.valuation_history': {
    section: 'valuation_history', by: 'fid',
    fields: { half_year: presence(), then_zona: presence() },
    excused: { fid: KEY, since: HALF_YEAR, until: HALF_YEAR, perimeter_half_year: HALF_YEAR, then_belfiore: 'there with then_zona' },
  },
  'section.economics': {
    section: 'economics', by: 'fid',
    fields: { avg_residential_price_m2: quantity({ within: [1, 100_000] }), cap: presence() },
    excused: { fid: KEY },
  },
  'section.demographics': {
    section: 'demographics', by: 'fid',
    fields: { parcel_share: quantity({ within: [0, 1] }) },
    excused: { fid: KEY },
  },
  'section.postal_code': { section: 'basic', by: 'fid', fields: {}, excused: { fid: KEY, edition: 'a year, of the table that the code is from' } },
  'section.address': {
    section: 'address', by: 'fid',
    fields: { inside: truth, distance_m: quantity({ within: [0, 15], moves: { step: 3, why: 'half of the points lie inside or within centimetres' } }) },
    excused: { fid: KEY, ordinal: ORDER, address_id: KEY },
  },
};

/** @returns null for a table that is not watched. @throws Error for a table that nobody declared: a bug */
export function gateOf(relation: Relation): TableGate | null {
  const gate = GATES[relation];
  if (gate === undefined) throw new Error(`${relation} has no entry in pipelines/contract/gates.ts`);
  return 'unwatched' in gate ? null : gate;
}

/** `male + female = population_total`. */
export function identityName({ parts, is, whole }: Identity): string {
  const sum = parts.length > 3 ? `${parts[0]!} + … + ${parts.at(-1)!}` : parts.join(' + ');
  return `${sum} ${is} ${whole}`;
}

/** What the rows of a slice are called; empty where the table has none. */
export function sliceName({ slice }: TableGate, value: string): string {
  return slice === undefined ? '' : slice.show?.(value) ?? value;
}
