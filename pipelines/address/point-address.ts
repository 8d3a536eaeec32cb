/** The columns of staging tables that hold the address of a point, split and normalised: the same for every publisher of points. */
import type { Columns } from '../formats/copy.ts';
import { comuneKey } from './normalise.ts';
import { splitAddress } from './split-address.ts';

export const ADDRESS_COLUMNS = {
  comune_key: 'text',
  street_types: 'text[] not null',
  street_words: 'text[] not null',
  number: 'int4',
  exponent: 'text',
  colour: 'text',
} satisfies Columns;

/** Their values. @param comune as published; of two names, `BOLZANO * BOZEN`, the Italian one stands first */
export function addressValues(address: string | null, comune: string | null): readonly unknown[] {
  const { streetTypes, streetWords, number, exponent, colour } = splitAddress(address);
  const key = comuneKey((comune ?? '').split(/\s\*\s|\//)[0] ?? '');
  return [key === '' ? null : key, streetTypes, streetWords, number, exponent, colour];
}
