/**
 * Lists the published fields that the source reads, with their meaning, and all columns of each release. Source of the meanings: Istat, "TRACCIATO FILE
 * REGIONALI", 2021 data on the 2021 bases. The indicator columns of the staging table are in the same order. Each age band covers five years of age, except the
 * last band (75 and more).
 */
import type { LayerColumns } from '../../pipelines/contract/source.ts';

const BANDS = [
  '0_4', '5_9', '10_14', '15_19', '20_24', '25_29', '30_34', '35_39', '40_44', '45_49', '50_54', '55_59', '60_64', '65_69', '70_74', '75_plus',
] as const;

/** Returns consecutive fields `P14`, `P15`, … for the age bands. @param of text about the sex, appended to each description */
const bands = (prefix: string, first: number, of = ''): Field[] => BANDS.map((band, index) => {
  const years = band === '75_plus' ? '75 and more' : band.replace('_', '–');
  return [`${prefix}_${band}`, `p${first + index}`, `Residents aged ${years} years${of}.`];
});

/** Field name, published column name as normalised by `normaliseHeader`, and description of the column. */
type Field = readonly [name: string, published: string, description: string];

const FIELDS: readonly Field[] = [
  ['population_total', 'p1', 'Residents.'],
  ['male', 'p2', 'Residents, male.'],
  ['female', 'p3', 'Residents, female.'],
  ...bands('age', 14),
  ...bands('male', 30, ', male'),
  // P46–P66 had a different meaning in 2011 and have not been used since.
  ...bands('female', 67, ', female'),
  ['aged_9_plus', 'p83', 'Residents aged 9 years and more, to whom the education fields refer.'],
  ['education_no_title', 'p86', 'Residents aged 9 and more without a school title.'],
  ['education_elementary', 'p87', 'Residents aged 9 and more with primary school (licenza elementare).'],
  ['education_middle_school', 'p88', 'Residents aged 9 and more with lower secondary school (licenza media).'],
  ['education_high_school', 'p89', 'Residents aged 9 and more with upper secondary school, vocational qualifications included.'],
  ['education_university', 'p90', 'Residents aged 9 and more with a tertiary title, doctorates included.'],
  ['employed', 'p101', 'Employed residents aged 15–64.'],
  ['italians_0_14', 'it1', 'Italian residents aged 0–14.'],
  ['italians_15_64', 'it2', 'Italian residents aged 15–64.'],
  ['italians_65_plus', 'it3', 'Italian residents aged 65 and more.'],
  ['foreigners', 'st1', 'Foreign and stateless residents.'],
  ['foreigners_eu', 'st16', 'Foreign residents with the citizenship of an EU country.'],
  ['foreigners_non_eu', 'st19', 'Foreign residents without the citizenship of an EU country.'],
  ['foreigners_0_14', 'st22', 'Foreign residents aged 0–14.'],
  ['foreigners_15_64', 'st23', 'Foreign residents aged 15–64.'],
  ['foreigners_65_plus', 'st24', 'Foreign residents aged 65 and more.'],
  ['households', 'pf1', 'Resident households.'],
  ['households_1_member', 'pf3', 'Resident households of 1 member.'],
  ['households_2_members', 'pf4', 'Resident households of 2 members.'],
  ['households_3_members', 'pf5', 'Resident households of 3 members.'],
  ['households_4_members', 'pf6', 'Resident households of 4 members.'],
  ['households_5_members', 'pf7', 'Resident households of 5 members.'],
  ['households_6_plus_members', 'pf8', 'Resident households of 6 or more members.'],
  ['dwellings_occupied', 'a2', 'Dwellings occupied by at least one resident.'],
];

/** Published name of each field, as normalised by `normaliseHeader`. All fields are counts of residents unless the name contains households or dwellings. */
export const INDICATORS: Readonly<Record<string, string>> = Object.fromEntries(FIELDS.map(([name, published]) => [name, published]));

/** Columns of the indicators in the layer. */
export const INDICATOR_COLUMNS: LayerColumns = Object.fromEntries(FIELDS.map(([name, , description]) => [name, ['int4 not null', description]]));

const range = (prefix: string, from: number, to: number): string[] => Array.from({ length: to - from + 1 }, (_, index) => `${prefix}${from + index}`);

/** The 126 columns, apart from the dwelling columns, that all releases for the census sections of 2021 contain. */
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

/** First columns of the three topics that only the releases of 2023 and later contain: cohabiting families, migratory background and cars. */
export const SINCE_2023: readonly string[] = ['pf9', 'em1', 'na1'];
