/**
 * Published field → what it means. Source: Istat, "TRACCIATO FILE REGIONALI", 2021 data on the 2021 bases.
 * Order = order of the staging table. Ages are bands of five years, in completed years.
 */

const BANDS = [
  '0_4', '5_9', '10_14', '15_19', '20_24', '25_29', '30_34', '35_39', '40_44', '45_49', '50_54', '55_59', '60_64', '65_69', '70_74', '75_plus',
] as const;

/** Consecutive fields `P14`, `P15`, … for the age bands. */
const bands = (prefix: string, first: number): [string, string][] => BANDS.map((band, index) => [`${prefix}_${band}`, `p${first + index}`]);

/** Our name → the publisher's, as `normaliseHeader` spells it. All are counts of residents unless the name says households or dwellings. */
export const INDICATORS: Readonly<Record<string, string>> = Object.fromEntries([
  ['population_total', 'p1'],
  ['male', 'p2'],
  ['female', 'p3'],
  ...bands('age', 14),
  ...bands('male', 30),
  // P46–P66 were other things in 2011 and are not used since.
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

/** Columns that only the releases of 2023 and later have: cohabiting families, migratory background, cars. */
export const SINCE_2023: readonly string[] = ['pf9', 'em1', 'na1'];
