/** What the one text column of the flood mosaic means. */
import { z } from 'zod';
import type { Refusal } from '../../pipelines/readers/refusal.ts';

/** Hazard classes from low to high: extreme (200–500 years), medium (100–200) and frequent floods (20–50). */
export type FloodClass = 'P1' | 'P2' | 'P3';

const BY_PROBABILITY: Readonly<Record<string, FloodClass>> = { high: 'P3', medium: 'P2', low: 'P1' };
const BY_PREFIX: Readonly<Record<string, FloodClass>> = { HPH: 'P3', MPH: 'P2', LPH: 'P1' };

/**
 * `Pericolosità idraulica elevata - HighProbabilityHazard`: the English word decides, in any case, because the Italian ones are written with and
 * without the accent. A missing text is null, not an error: the file's name may still say the class.
 */
export const scenario = z.union([z.null(), z.string().trim().pipe(z.union([
  z.literal('').transform(() => null),
  z.string().transform((text, context) => {
    const said = BY_PROBABILITY[/(High|Medium|Low)ProbabilityHazard$/i.exec(text)?.[1]?.toLowerCase() ?? ''];
    if (said !== undefined) return { text, said };
    context.addIssue({ code: 'custom', message: 'expected a probability' });
    return z.NEVER;
  }),
]))]);

/** Class by the name of the layer: `HPH_Mosaicatura_ISPRA_2020_…` → P3; null for another name. */
export function classOfLayer(layer: string): FloodClass | null {
  return BY_PREFIX[/^(HPH|MPH|LPH)(?=[_ -]|$)/i.exec(layer)?.[1]?.toUpperCase() ?? ''] ?? null;
}

/**
 * @param published the column `scenario`
 * @returns the class, null when neither text nor name says one (the contract's `HPH`), or why the record is refused
 */
export function classOf(published: unknown, layer: string): { readonly class: FloodClass | null; readonly scenario: string | null } | Refusal {
  const parsed = scenario.safeParse(published);
  if (!parsed.success) {
    return { code: 'scenario_unknown', message: `scenario: expected … HighProbabilityHazard, MediumProbabilityHazard or LowProbabilityHazard, found ${JSON.stringify(published)}` };
  }
  const named = classOfLayer(layer);
  if (parsed.data === null) return { class: named, scenario: null };
  const { text, said } = parsed.data;
  if (named !== null && named !== said) {
    return { code: 'scenario_conflict', message: `scenario: expected ${named} in a file named ${layer}, found ${said} (${JSON.stringify(published)})` };
  }
  return { class: said, scenario: text };
}
