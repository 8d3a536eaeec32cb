/** Defines the quality gates of the tables of `sql/core`, and the reason for each table or column without a gate. Tables of sections define their own gates. */
import { each, presence, quantity, truth, type TableGate, type Truth, type Unwatched } from '../../pipelines/contract/gate.ts';
import type { Relation } from '../../pipelines/contract/sql-files.ts';

/** Gate of a boolean column that is true if a file covers the comune. */
const REACHED: Truth = { kind: 'truth', keeps: { share: 1, why: 'a file that covers fewer comuni than the previous file was probably truncated' } };

const KEY = 'a key';
/** Tables store a half-year as the number year × 2 + half − 1. Reports show it as `2025_1`. */
const BY_HALF_YEAR = { column: 'half_year', show: (value: string): string => `${Math.floor(Number(value) / 2)}_${(Number(value) % 2) + 1}` };
const HALF_YEAR = 'a half-year; the gate does not compare rows of different half-years';

/**
 * Maximum share of inconsistent rows, because publishers' files contain a few errors. For example, 1 of the 161,999 rents of 2017/1 has minimum and maximum
 * swapped.
 */
const MISPRINTS = 0.01;

const AGES = [
  'age_0_4', 'age_5_9', 'age_10_14', 'age_15_19', 'age_20_24', 'age_25_29', 'age_30_34', 'age_35_39', 'age_40_44', 'age_45_49', 'age_50_54', 'age_55_59',
  'age_60_64', 'age_65_69', 'age_70_74', 'age_75_plus',
];
const EDUCATION = ['education_no_title', 'education_elementary', 'education_middle_school', 'education_high_school', 'education_university'];
const HOUSEHOLDS = ['households_1_member', 'households_2_members', 'households_3_members', 'households_4_members', 'households_5_members', 'households_6_plus_members'];
const BRACKETS = ['lte_zero_n', 'from_0_to_10k_n', 'from_10k_to_15k_n', 'from_15k_to_26k_n', 'from_26k_to_55k_n', 'from_55k_to_75k_n', 'from_75k_to_120k_n', 'over_120k_n'];

/** Gate of a column with a number of persons, households or dwellings. In a small census section, a few more or fewer of them are a change of 25 %. */
const PERSONS = quantity({ within: [0, null], moves: { step: 5, why: 'census sections are small, so one person can be a change of 25 %' } });

export const CORE_GATES: Readonly<Record<Relation, TableGate | Unwatched>> = {
  'core.parcel': {
    section: 'basic',
    by: 'belfiore',
    fields: { area_m2: quantity({ within: [0, null] }), section: presence() },
    excused: {
      fid: KEY, made_valid: 'describes the drawing of the publisher', sheet: 'part of the reference; null in land registers', attachment: 'see sheet', development: 'see sheet',
    },
  },
  'core.sheet': {
    section: 'basic',
    by: 'belfiore',
    fields: { section: presence(), scale_denominator: presence({ within: [100, 50_000] }) },
    excused: {},
  },
  'core.access_point': {
    section: 'address',
    by: 'belfiore',
    fields: {
      geom: presence(),
      number: presence({ within: [0, null] }),
      exponent: presence(),
      colour: presence(),
      metric_m: presence(),
      snc: presence(),
      snc_after: presence(),
      metodo: presence({ within: [1, 5] }),
    },
    excused: { address_id: KEY, street_id: KEY },
  },
  'core.street': {
    section: 'address',
    by: 'belfiore',
    fields: {
      ...each(
        ['accesses', 'located'],
        quantity({ within: [0, null], moves: { step: 3, why: 'half of the streets have only a few access points, so one access point can be a change of 25 %' } }),
      ),
      locality: presence(),
    },
    excused: { street_id: KEY, locality_key: 'the key of locality in the address search' },
  },
  'core.comune_catastale': { unwatched: 'names of comuni catastali; the gate compares their parcels in core.parcel' },
  'core.token': { unwatched: 'words of the address search, built from core.street' },
  'core.street_name': { unwatched: 'names of the address search, built from core.street' },
  'core.comune_name': { unwatched: 'names of the address search, built from core.street and the lists of comuni' },
  'core.place_name': { unwatched: 'names of the address search, built from the lists of comuni' },
  'core.comune_found': { unwatched: 'names of unlisted comuni, taken from file names' },
  'core.comune_register': { unwatched: 'codes of comuni, built from the lists of ISTAT' },
  'core.section_coverage': { unwatched: 'comuni that files cover; the gate compares the rows and values of the sections' },
  'core.point_of_interest': {
    section: 'poi',
    // The gate compares the region as a whole, because a comune has few points and the comune of some points is unknown.
    by: 'whole',
    slice: { column: 'category' },
    fields: { geom: presence() },
    excused: {
      categories: 'text of the publisher',
      class: 'only places of culture have a class',
      catalog_code: 'only places of culture have a catalogue code',
      address: 'text of the publisher',
      locality: 'text of the publisher',
      province: 'text of the publisher',
      belfiore: 'may be unknown for points without a location',
      placed_by: 'as geom',
      address_id: KEY,
      reason: 'as geom',
      regions_reached: 'describes the file; the gate counts missing rows in the table with the rows of the file',
    },
  },
  'section.unplaced': { unwatched: 'points without a location; points with a location are gated in core.point_of_interest' },
  'core.shore_piece': { unwatched: 'pieces of the shore; the gate compares the values of nearby parcels in section.coastal_erosion' },
  'core.coverage': { section: 'risk', by: 'belfiore', slice: { column: 'theme' }, fields: { mapped: REACHED }, excused: {} },
  'core.building_coverage': {
    section: 'buildings', by: 'belfiore',
    fields: { source: presence({ keeps: { share: 1, why: 'a file that covers fewer comuni than the previous file was probably truncated' } }) },
    excused: { has_uses: 'depends on the source' },
  },
  'core.coast_coverage': { section: 'coastal_erosion', by: 'belfiore', fields: { mapped: REACHED }, excused: {} },
  'core.land_coverage': { section: 'land_cover', by: 'belfiore', fields: { mapped: REACHED }, excused: {} },
  'core.urban_area': { unwatched: 'published boundaries; the gate compares the values of parcels in section.land_use' },
  'core.raster_tile': { unwatched: 'extents of files; the gate compares the rows of the sections, which decrease if an extent decreases' },
  'core.motion_tile': { section: 'subsidence', by: 'whole', fields: {}, excused: { tile_x: KEY, tile_y: KEY } },
  'core.comune': {
    section: 'basic',
    by: 'belfiore',
    fields: { sigla: presence() },
    excused: { name_other: 'second language; only some provinces have one', region_code: KEY },
  },
  'core.province': { section: 'basic', by: 'whole', fields: { abbreviation: presence() }, excused: { region_code: KEY } },
  'core.region': { section: 'basic', by: 'whole', fields: { area_km2: quantity({ within: [0, 30_000] }) }, excused: { code: KEY } },
  'core.quotation': {
    section: 'valuation',
    by: 'belfiore',
    slice: BY_HALF_YEAR,
    fields: {
      ...each(['purchase_min_eur_m2', 'purchase_max_eur_m2'], quantity({ within: [1, 100_000], typical: [100, 10_000] })),
      ...each(['rental_min_eur_m2_month', 'rental_max_eur_m2_month'], quantity({ within: [0.05, 1000], typical: [0.3, 60] })),
      stato: presence(),
      stato_prev: truth,
    },
    excused: { half_year: HALF_YEAR, cod_tip: 'building type code' },
    identities: [
      { parts: ['purchase_min_eur_m2'], is: '<=', whole: 'purchase_max_eur_m2', most: MISPRINTS },
      { parts: ['rental_min_eur_m2_month'], is: '<=', whole: 'rental_max_eur_m2_month', most: MISPRINTS },
    ],
  },
  'core.quotation_zone': {
    section: 'valuation',
    by: 'belfiore',
    slice: BY_HALF_YEAR,
    fields: { description: presence(), microzona: presence() },
    excused: { half_year: HALF_YEAR },
    queries: [{ file: 'sql/gates/quotation_zone.sql', name: 'zones that ZONE lists as quoted but that have no row in VALORI', most: 0.1 }],
  },
  'core.quoted_comune': {
    section: 'valuation',
    by: 'belfiore',
    fields: { half_year: presence(), perimeter_half_year: presence(), listed: truth },
    excused: {},
  },
  'core.declared_income': {
    section: 'economics',
    by: 'belfiore',
    slice: { column: 'cap', presence: true },
    fields: {
      ...each(['taxpayers', 'earners', 'total_income_eur', 'net_tax_eur'], quantity({ within: [0, null] })),
      average_income_eur: quantity({ of: ['total_income_eur', 'earners'], typical: [8_000, 60_000] }),
      ...each(
        BRACKETS,
        quantity({
          within: [0, null],
          moves: { by: 0.5, step: 20, why: 'the limits of brackets are fixed while incomes rise, and the withheld small brackets differ each year' },
        }),
      ),
      gini_index: quantity({ within: [0, 1] }),
    },
    excused: { tax_year: 'a year', cap: 'distinguishes rows' },
    identities: [
      { parts: BRACKETS, is: '=', whole: 'earners', most: MISPRINTS },
      { parts: BRACKETS, is: '<=', whole: 'earners', most: MISPRINTS },
      { parts: ['earners'], is: '<=', whole: 'taxpayers', most: MISPRINTS },
    ],
  },
  'core.census_figures': {
    section: 'demographics',
    by: 'istat_code',
    fields: each(
      [
        'population_total',
        'male',
        'female',
        ...AGES,
        ...EDUCATION,
        'employed',
        'foreigners',
        'foreigners_eu',
        'foreigners_non_eu',
        'households',
        ...HOUSEHOLDS,
        'dwellings_occupied',
      ],
      PERSONS,
    ),
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
};
