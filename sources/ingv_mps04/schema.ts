/** One node of the MPS04 grid as text, and what it means. */
import { z } from 'zod';

const decimal = z.string().regex(/^-?\d+(?:\.\d+)?$/, 'expected a decimal number').transform(Number);

export const node = z.strictObject({
  /** Degrees east. */
  lon: decimal.refine((value) => value >= 5 && value <= 20, 'expected a longitude of Italy, 5 to 20'),
  /** Degrees north. */
  lat: decimal.refine((value) => value >= 34 && value <= 49, 'expected a latitude of Italy, 34 to 49'),
  /** Peak ground acceleration on rock in g. No place in Italy reaches 0.4; above 1 the unit is another one (g/10, m/s², cm/s²). */
  ag: decimal.refine((value) => value > 0 && value < 1, 'expected an acceleration in g, above 0 and below 1'),
});

/** Columns by their normalised names: `ag(g)` is `ag_g`. `ag_475`: the return period in years that 10 % in 50 years amounts to. */
export const COLUMNS = {
  lon: ['lon', 'long', 'longitude', 'longitudine', 'x'],
  lat: ['lat', 'latitude', 'latitudine', 'y'],
  ag: ['ag', 'ag_g', 'ag_475', 'pga', 'pga_g', 'pga_475'],
} as const;
