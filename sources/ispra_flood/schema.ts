/** Reads the class of a flood hazard area from the class column of the mosaic or of ISPRA's web services. */
import { z } from 'zod';
import type { Refusal } from '../../pipelines/readers/refusal.ts';

/** Hazard classes from low to high: extreme floods (200–500 years), medium floods (100–200) and frequent floods (20–50). */
type FloodClass = 'P1' | 'P2' | 'P3';

/**
 * Layout of the class column. The zip of the mosaic has the column `scenario` and one class per file. ISPRA's web services
 * (`nz1:aree_peric_idraulica_pN`, `idrogeo:pericolosita_idraulica_pN`) have one layer per class, with the class in the name of the column.
 */
export interface Layout {
  readonly column: string;
  /** Class of every record; null if the text or the file's name states the class. */
  readonly class: FloodClass | null;
  /** Pattern of the layer's name, which identifies the layout if the column is missing. */
  readonly layer: RegExp;
}

export const MOSAIC: Layout = { column: 'scenario', class: null, layer: /pericolosit\S{0,4}_idraulica|(?:^|\/)[HML]PH_/i };
export const SERVICES: readonly Layout[] = [
  { column: 'scenariop1', class: 'P1', layer: /peric(?:olosita)?_idraulica_p1(?![a-z0-9])/i },
  { column: 'scenariop2', class: 'P2', layer: /peric(?:olosita)?_idraulica_p2(?![a-z0-9])/i },
  { column: 'scenariop3', class: 'P3', layer: /peric(?:olosita)?_idraulica_p3(?![a-z0-9])/i },
];

const BY_PROBABILITY: Readonly<Record<string, FloodClass>> = { high: 'P3', medium: 'P2', low: 'P1' };
const BY_PREFIX: Readonly<Record<string, FloodClass>> = { HPH: 'P3', MPH: 'P2', LPH: 'P1' };

/**
 * Parses the text of the class column. In `Pericolosità idraulica elevata - HighProbabilityHazard`, the English word determines the class, in upper or lower
 * case. The Italian words occur with and without accents. In `Aree a pericolosita' idraulica media P2` of the web services, the code determines the class. A
 * missing text is null, not an error, because the name of the file or of the column may state the class.
 */
export const scenario = z.union([z.null(), z.string().trim().pipe(z.union([
  z.literal('').transform(() => null),
  z.string().transform((text, context) => {
    const code = /\b(P[1-3])$/i.exec(text)?.[1]?.toUpperCase() as FloodClass | undefined;
    const said = BY_PROBABILITY[/(High|Medium|Low)ProbabilityHazard$/i.exec(text)?.[1]?.toLowerCase() ?? ''] ?? code;
    if (said !== undefined) return { text, said };
    context.addIssue({ code: 'custom', message: 'expected a probability' });
    return z.NEVER;
  }),
]))]);

/** Returns the class in the name of a layer, such as P3 for `HPH_Mosaicatura_ISPRA_2020_…`. Returns null for any other name. */
export function classOfLayer(layer: string): FloodClass | null {
  return BY_PREFIX[/^(HPH|MPH|LPH)(?=[_ -]|$)/i.exec(layer)?.[1]?.toUpperCase() ?? ''] ?? null;
}

/**
 * @param published text of the class column
 * @param named class of the column or of the layer's name; null if neither states a class
 * @param where the column or the name that states `named`, for messages
 * @returns the class of the record, or the reason why the record is rejected. The class is null (`HPH` in the layer) if neither the text nor `named` states a
 *   class
 */
export function classOf(
  published: unknown, named: FloodClass | null, where: string,
): { readonly class: FloodClass | null; readonly scenario: string | null } | Refusal {
  const parsed = scenario.safeParse(published);
  if (!parsed.success) {
    return { code: 'scenario_unknown', message: `scenario: expected … HighProbabilityHazard, MediumProbabilityHazard, LowProbabilityHazard or … P1, P2, P3, found ${JSON.stringify(published)}` };
  }
  if (parsed.data === null) return { class: named, scenario: null };
  const { text, said } = parsed.data;
  if (named !== null && named !== said) {
    return { code: 'scenario_conflict', message: `scenario: expected ${named} by ${where}, found ${said} (${JSON.stringify(published)})` };
  }
  return { class: said, scenario: text };
}
