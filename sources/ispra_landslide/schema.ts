/** What the class column of the landslide mosaic means. */
import { z } from 'zod';
import type { Refusal } from '../../pipelines/readers/refusal.ts';

/** Hazard classes: P4 very high … P1 moderate; AA is an area of attention, which is no level below P1. */
export type LandslideClass = 'P4' | 'P3' | 'P2' | 'P1' | 'AA';

/**
 * `Molto elevata P4`, `Elevata P3`, `Media P2`, `Moderata P1`, `Aree di Attenzione AA`: the code at the end decides, in any case.
 * `Pn.d.` (seen in a few polygons) and a missing text mean that the class was not determined: null, not a refusal.
 */
export const perFrIta = z.union([
  z.null().transform((): LandslideClass | null => null),
  z.string().trim().regex(/^$|\bP\s*n\.?\s*d\b|\b(?:AA|P[1-4])\b/i).transform((text) => (/\b(AA|P[1-4])\b/i.exec(text)?.[1]?.toUpperCase() ?? null) as LandslideClass | null),
]);

/** @returns the class, null when the publisher did not determine it, or why the record is refused */
export function classOf(published: unknown): { readonly class: LandslideClass | null; readonly label: string | null } | Refusal {
  const parsed = perFrIta.safeParse(published);
  if (!parsed.success) return { code: 'class_unknown', message: `per_fr_ita: expected a text with P4, P3, P2, P1, AA or Pn.d., found ${JSON.stringify(published)}` };
  return { class: parsed.data, label: typeof published === 'string' && published.trim() !== '' ? published.trim() : null };
}
