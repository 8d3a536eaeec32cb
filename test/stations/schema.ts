/** Validates the record of a station and converts its fields. */
import { z } from 'zod';

/** Maps field names to published column names. */
export const COLUMNS = { station_code: 'codice', name: 'nome', latitude: 'lat', longitude: 'lon' } as const;

/** All columns of the only known layout. */
export const EDITIONS = { 2026: ['codice', 'nome', 'lat', 'lon', 'gestore'] } as const;

const degrees = (min: number, max: number) => z.string().regex(/^\d{1,2}\.\d+$/, 'expected degrees with a decimal point').transform(Number)
  .pipe(z.number().min(min, 'expected degrees in Italy').max(max, 'expected degrees in Italy'));

export const schema = z.strictObject({
  station_code: z.string().regex(/^S\d{5}$/, 'expected S and five digits'),
  name: z.string().min(1, 'expected a name'),
  latitude: degrees(35, 47.5),
  longitude: degrees(6, 19),
});
