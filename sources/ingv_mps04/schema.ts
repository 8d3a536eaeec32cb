/** Validates and converts a node of the MPS04 grid. */
import { z } from 'zod';
import { ITALY, outsideItaly } from '../../pipelines/readers/italy.ts';
import { NO_DATA, isNoData } from '../../pipelines/readers/no-data.ts';
import { refusalOf, type Refusal } from '../../pipelines/readers/refusal.ts';

/** Margin around the box of Italy in degrees, because the grid extends beyond the coasts and borders. */
const MARGIN = 1;
const decimal = z.string().regex(/^-?\d+(?:\.\d+)?$/, 'expected a decimal number').transform(Number);

export const node = z.strictObject({
  /** Degrees east. */
  lon: decimal.refine((value) => value >= ITALY.west - MARGIN && value <= ITALY.east + MARGIN, 'expected a longitude of Italy, 5 to 20'),
  /** Degrees north. */
  lat: decimal.refine((value) => value >= ITALY.south - MARGIN && value <= ITALY.north + MARGIN, 'expected a latitude of Italy, 34 to 48.5'),
  /**
   * Peak ground acceleration on rock in g. Values in Italy are below 0.4. A value above 1 is in a different unit (g/10, m/s², cm/s²).
   */
  ag: decimal.refine((value) => value > 0 && value < 1, 'expected an acceleration in g, above 0 and below 1'),
});

/** Column names after normalisation: `ag(g)` becomes `ag_g`. The 475 in `ag_475` is the return period in years, for 10 % probability in 50 years. */
export const COLUMNS = {
  lon: ['lon', 'long', 'longitude', 'longitudine', 'x'],
  lat: ['lat', 'latitude', 'latitudine', 'y'],
  ag: ['ag', 'ag_g', 'ag_475', 'pga', 'pga_g', 'pga_475'],
} as const;

/** Columns that distinguish the grid from other tables with coordinates. */
const OWN: readonly (readonly string[])[] = [COLUMNS.ag, ['16perc', 'ag_16'], ['84perc', 'ag_84']];

/**
 * Returns whether a table has a column that only the grid has, and two of longitude, latitude and acceleration. The reader reports the missing columns.
 * @param names normalised column names
 */
export function isNodeTable(names: readonly string[]): boolean {
  const has = (aliases: readonly string[]): boolean => aliases.some((alias) => names.includes(alias));
  return Object.values(COLUMNS).filter(has).length >= 2 && OWN.some(has);
}

const NODE = [COLUMNS.lon.join('|'), COLUMNS.lat.join('|'), COLUMNS.ag.join('|')];
const NUMBER = 'id|fid|objectid';
/** All columns of INGV's text file, of copies without percentiles, and of copies with neither percentiles nor numbers. */
export const EDITIONS = {
  'with percentiles': [NUMBER, ...NODE, '16perc|ag_16', '84perc|ag_84'],
  'without percentiles': [NUMBER, ...NODE],
  'without numbers': NODE,
};

/**
 * Returns the reason why a node is rejected. The code is `coordinates_swapped` if the position is in Italy only after a swap, and `no_data` if only the
 * acceleration is missing, because such a node is outside the area of the model.
 */
export function refusal(fields: Readonly<Record<keyof typeof COLUMNS, string>>, error: z.ZodError): Refusal {
  const found = refusalOf(fields, error);
  const misplaced = outsideItaly(Number(fields.lon || NaN), Number(fields.lat || NaN), MARGIN);
  if (misplaced?.code === 'coordinates_swapped') return misplaced;
  return error.issues.every(({ path }) => path[0] === 'ag') && isNoData(fields.ag) ? { ...found, code: NO_DATA } : found;
}
