/** Validates the record of a fuel station and converts its fields. */
import { z } from 'zod';
import { coordinate, optionalText, text } from '../../pipelines/readers/point-fields.ts';

export const COLUMNS = {
  station_id: 'idImpianto',
  brand: 'Bandiera',
  type: 'Tipo Impianto',
  name: 'Nome Impianto',
  address: 'Indirizzo',
  comune: 'Comune',
  province: 'Provincia',
  lat: 'Latitudine',
  lon: 'Longitudine',
} as const;

export const EDITIONS = {
  2015: ['idImpianto', 'Gestore', 'Bandiera', 'Tipo Impianto', 'Nome Impianto', 'Indirizzo', 'Comune', 'Provincia', 'Latitudine', 'Longitudine'],
} as const;

export const station = z.strictObject({
  station_id: text.pipe(z.string().regex(/^\d{1,18}$/, 'expected digits')),
  brand: optionalText,
  type: optionalText,
  name: optionalText,
  address: optionalText,
  comune: optionalText,
  /** Car plate code of the province, in some cases of a former province. */
  province: optionalText.transform((value) => value?.toUpperCase() ?? null),
  lat: coordinate,
  lon: coordinate,
});
