/** Reads the class of a landslide hazard area from the class column of the mosaic or of ISPRA's web services. */
import { z } from 'zod';
import type { Refusal } from '../../pipelines/readers/refusal.ts';

/** Hazard classes from P4 (very high) to P1 (moderate). AA is an area of attention, which is not a level below P1. */
type LandslideClass = 'P4' | 'P3' | 'P2' | 'P1' | 'AA';

/**
 * Parses the text of the class column. In `Molto elevata P4`, `Elevata P3`, `Media P2`, `Moderata P1`, `Aree di Attenzione AA`, the first code in the text
 * determines the class, in upper or lower case. `Pn.d.` (in a few polygons) or a missing text means that the class was not determined. The class is then
 * null, and the record is kept.
 */
const perFrIta = z.union([
  z.null().transform((): LandslideClass | null => null),
  z.string().trim().regex(/^$|\bP\s*n\.?\s*d\b|\b(?:AA|P[1-4])\b/i).transform((text) => (/\b(AA|P[1-4])\b/i.exec(text)?.[1]?.toUpperCase() ?? null) as LandslideClass | null),
]);

/** Parses `cod_per_it` of the web service: the number of the class, or `AA`. A blank text or `Pn.d.` means that the class was not determined. */
const codPerIt = z.union([
  z.null().transform((): LandslideClass | null => null),
  z.union([z.string(), z.number()]).transform(String).pipe(z.string().trim().regex(/^$|^P?\s*n\.?\s*d\.?$|^(?:AA|[1-4])$/i))
    .transform((code) => (/^AA$/i.test(code) ? 'AA' : /^[1-4]$/.test(code) ? `P${code}` : null) as LandslideClass | null),
]);

/** Layout of the class column, by the name of the column. */
export interface Layout {
  readonly column: string;
  readonly codes: z.ZodType<LandslideClass | null>;
  readonly expected: string;
  /** Edition of a file without a year in its name; null if the name must have a year. */
  readonly edition: string | null;
  /** Pattern of the layer's name, which identifies the layout if the column is missing. */
  readonly layer: RegExp;
}

const TEXT = 'a text with P4, P3, P2, P1, AA or Pn.d.';
export const MOSAIC: Layout = { column: 'per_fr_ita', codes: perFrIta, expected: TEXT, edition: null, layer: /pericolosit\S{0,4}_frana/i };
/** The web services: `nz2:aree_peric_frana_pai`, which is assumed to be version 4.0, and `idrogeo:pericolosita_frane`, which is version 5.0. */
export const SERVICES: readonly Layout[] = [
  { column: 'peric_ita', codes: perFrIta, expected: TEXT, edition: '2020_2021', layer: /aree_peric_frana_pai/i },
  { column: 'cod_per_it', codes: codPerIt, expected: '1, 2, 3, 4 or AA', edition: '2024', layer: /pericolosita_frane/i },
];

/** @returns the class, or the reason why the record is rejected. The class is null if the publisher did not determine the class */
export function classOf(
  published: unknown, { column, codes, expected }: Layout,
): { readonly class: LandslideClass | null; readonly label: string | null } | Refusal {
  const parsed = codes.safeParse(published);
  if (!parsed.success) return { code: 'class_unknown', message: `${column}: expected ${expected}, found ${JSON.stringify(published)}` };
  const label = typeof published === 'string' || typeof published === 'number' ? String(published).trim() : '';
  return { class: parsed.data, label: label === '' ? null : label };
}
