/**
 * Published field → meaning. Source: Istat, "TRACCIATO FILE REGIONALI", 2021 data on the 2021 bases.
 * The order is that of the staging table. Ages are bands of five years, in completed years.
 */

const BANDS = [
  '0_4', '5_9', '10_14', '15_19', '20_24', '25_29', '30_34', '35_39', '40_44', '45_49', '50_54', '55_59', '60_64', '65_69', '70_74', '75_plus',
] as const;

/** Returns consecutive fields `P14`, `P15`, … for the age bands. */
const bands = (prefix: string, first: number): [string, string][] => BANDS.map((band, index) => [`${prefix}_${band}`, `p${first + index}`]);

/** The project's name → the publisher's, as `normaliseHeader` spells it. All are counts of residents unless the name contains households or dwellings. */
export const INDICATORS: Readonly<Record<string, string>> = Object.fromEntries([
  ['population_total', 'p1'],
  ['male', 'p2'],
  ['female', 'p3'],
  ...bands('age', 14),
  ...bands('male', 30),
  // P46–P66 had other meanings in 2011 and are unused since.
  ...bands('female', 67),
  ['aged_9_plus', 'p83'],
  ['education_no_title', 'p86'],
  ['education_elementary', 'p87'],
  ['education_middle_school', 'p88'],
  ['education_high_school', 'p89'],
  ['education_university', 'p90'],
  ['employed', 'p101'],
  ['italians_0_14', 'it1'],
  ['italians_15_64', 'it2'],
  ['italians_65_plus', 'it3'],
  ['foreigners', 'st1'],
  ['foreigners_eu', 'st16'],
  ['foreigners_non_eu', 'st19'],
  ['foreigners_0_14', 'st22'],
  ['foreigners_15_64', 'st23'],
  ['foreigners_65_plus', 'st24'],
  ['households', 'pf1'],
  ['households_1_member', 'pf3'],
  ['households_2_members', 'pf4'],
  ['households_3_members', 'pf5'],
  ['households_4_members', 'pf6'],
  ['households_5_members', 'pf7'],
  ['households_6_plus_members', 'pf8'],
  ['dwellings_occupied', 'a2'],
] as [string, string][]);

const range = (prefix: string, from: number, to: number): string[] => Array.from({ length: to - from + 1 }, (_, index) => `${prefix}${from + index}`);

/** The 126 columns of all releases on the 2021 bases, without the dwellings. */
const INDICATOR_BASE = [
  'CODREG', 'REGIONE', 'CODPRO', 'PROVINCIA', 'CODCOM', 'COMUNE', 'PROCOM', 'SEZ21_ID', 'COM_ASC1', 'COM_ASC2', 'COM_ASC3',
  ...range('P', 1, 3), ...range('P', 14, 45), ...range('P', 67, 103), ...range('IT', 1, 12), 'ST1', 'ST2', 'ST2_B', ...range('ST', 3, 5), ...range('ST', 16, 33),
  'PF1', ...range('PF', 3, 8),
];

/** All columns of each release of the indicators. */
export const INDICATOR_EDITIONS = {
  '2021 (issue of July 2024)': [...INDICATOR_BASE, 'A2'],
  '2021 (issue of May 2026)': [...INDICATOR_BASE, 'A2', 'A3', 'A8', 'E3'],
  2023: [...INDICATOR_BASE, 'PF9', ...range('EM', 1, 6), 'NA1', 'A2', 'A3', 'A5', 'A8'],
} as const;

const SECTION_BASE = [
  'COD_REG', 'COD_UTS', 'PRO_COM', 'SEZ21', 'SEZ21_ID', 'COD_TIPO_S', 'TIPO_LOC', 'LOC21_ID', 'COD_ZIC', 'COD_ISAM', 'COD_ACQUE', 'COD_ISOLE', 'COD_MONT_D', 'COD_AREA_S',
  'COM_ASC1', 'COM_ASC2', 'COM_ASC3', 'POP21', 'FAM21',
];

/** All columns of each issue of the geometry. */
export const SECTION_EDITIONS = {
  2021: [...SECTION_BASE, 'SHAPE_Leng', 'SHAPE_Area'],
  '2021 (with dwellings and buildings)': [...SECTION_BASE, 'ABI21', 'EDI21', 'SHAPE_Leng', 'SHAPE_Area'],
} as const;

/** Columns that only the releases of 2023 and later have: cohabiting families, migratory background, cars. */
export const SINCE_2023: readonly string[] = ['pf9', 'em1', 'na1'];
