/** Lists the classes of the Urban Atlas. Validates and converts the fields of a record. */
import { z } from 'zod';
import type { Editions } from '../../pipelines/formats/csv.ts';
import { refusalOf, type Refusal } from '../../pipelines/readers/refusal.ts';

/** Columns that no other map of this publisher has. */
export const OF_THE_YEAR: readonly string[] = ['code_2018', 'class_2018'];

/** Land-use columns that every file has. */
export const LAND_USE: Editions = { 'land use': ['country', 'fua_name', 'fua_code', ...OF_THE_YEAR, 'prod_date', 'identifier', 'perimeter', 'area', 'comment'] };

/** Classes of the mapping guide (version 6.3, 2020). */
const CODES: ReadonlySet<string> = new Set([
  '11100', '11210', '11220', '11230', '11240', '11300', '12100', '12210', '12220', '12230', '12300', '12400', '13100', '13300', '13400', '14100', '14200',
  '21000', '22000', '23000', '24000', '25000', '31000', '32000', '33000', '40000', '50000',
]);
/** Classes of places about which the publisher has no information: clouds and shadows, and missing images. */
const NO_DATA: ReadonlySet<string> = new Set(['91000', '92000']);

const text = z.union([z.string(), z.number()], 'expected a text or a number').transform((value) => String(value).trim());

const landUseRow = z.strictObject({
  fua_code: text.pipe(z.string().regex(/^[A-Z]{2}\d{3}L\d$/, 'expected the code of an urban area, such as IT025L3')),
  code: text.refine((code) => CODES.has(code), 'expected a class of the Urban Atlas, 11100 to 50000'),
  class: z.union([text, z.null()]).transform((name) => (name === '' ? null : name)),
});

type LandUseRow = z.infer<typeof landUseRow>;

/** @returns the row, or the reason why the record is rejected */
export function landUseOf(fields: Readonly<Record<string, unknown>>): LandUseRow | Refusal {
  const parsed = landUseRow.safeParse(fields);
  if (parsed.success) return parsed.data;
  const found = String(fields['code']).trim();
  return NO_DATA.has(found) ? { code: 'no_data', message: `code_2018: expected a class, found ${found}: no image` } : refusalOf(fields, parsed.error);
}
