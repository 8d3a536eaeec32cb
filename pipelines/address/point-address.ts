/** Columns for the normalised address of a point, split into parts. Staging tables and layers of all point sources have these columns. */
import type { Layer, LayerColumns, SharedColumns } from '../contract/source.ts';
import { comuneKey } from './normalise.ts';
import { splitAddress } from './split-address.ts';

export const ADDRESS_COLUMNS = {
  comune_key: ['text', 'Comune, normalised like core.comune_key; null if not stated'],
  street_types: ['text[] not null', 'Types that the street of the address may have, normalised; empty if none is written'],
  street_words: ['text[] not null', 'Distinct words of the street\'s name, normalised and sorted; empty if no street is written'],
  number: ['int4', 'House number; null if none'],
  exponent: ['text', 'Suffix of the house number, upper case; null if none'],
  colour: ['text', 'ROSSO or NERO; null if not written'],
} as const satisfies SharedColumns;

export const PUBLISHED_COMUNE = {
  comune: ['text', 'Name of the comune as published; null if not stated'],
} as const satisfies SharedColumns;

export const PUBLISHED_POSITION = {
  lat: ['float8', 'Latitude as published; null if not stated'],
  lon: ['float8', 'Longitude as published; null if not stated'],
} as const satisfies SharedColumns;

/** Layer column `place` for a list whose rows state a province and a comune. */
export const PLACE_OF_POINT: LayerColumns = {
  place: ['text not null', 'Province and comune as published, which are the place of the row. A newer part supersedes older parts with the same place'],
};

/**
 * Returns the layer of a list of points.
 * @param published columns of the staging table
 * @param derived columns that `load.sql` derives
 */
export function pointLayer(texts: Pick<Layer, 'description' | 'position'>, published: SharedColumns, derived: LayerColumns = {}): Layer {
  return {
    ...texts,
    columns: {
      ...published,
      ...derived,
      regions_reached: ['int2 not null', 'Number of regions of Italy, of 20, with rows in the file. A file with rows in 15 or more regions covers Italy'],
    },
  };
}

/** Returns the values of the columns in `ADDRESS_COLUMNS`. @param comune as published; in `BOLZANO * BOZEN` the Italian name comes first */
export function addressValues(address: string | null, comune: string | null): readonly unknown[] {
  const { streetTypes, streetWords, number, exponent, colour } = splitAddress(address);
  const key = comuneKey((comune ?? '').split(/\s\*\s|\//)[0] ?? '');
  return [key === '' ? null : key, streetTypes, streetWords, number, exponent, colour];
}
