/**
 * Validates and converts the fields of the layer of shoreline change.
 *
 * ISPRA documents the classes: retreat or advance by more than 5 m between the two surveys, stable, and "no information". ISPRA does not document the columns.
 * The columns are therefore found by the names in COLUMNS, and any other name is reported.
 */
import { z } from 'zod';
import { isNoData } from '../../pipelines/readers/no-data.ts';
import { firstIssue, shown, type Refusal } from '../../pipelines/readers/refusal.ts';

export type Dynamic = 'erosion' | 'accretion' | 'stable';

/** Accepted names of each column, as normalised by `normaliseHeader`. */
export const COLUMNS = {
  dynamic: ['dinamica', 'dinamica_litoranea', 'dinamica_l', 'dinamica_2006_2020', 'dinamica_0', 'tipo_dinamica', 'tipo_dinam', 'tendenza', 'classe', 'dynamic'],
  /** Mean change in m/year, positive seaward. */
  rate: ['avg_change_m_year', 'avg_change', 'variazione_media_m_anno', 'var_media_m_anno', 'var_m_anno', 'tasso_m_anno', 'm_anno'],
  /** Change between the two surveys in metres, positive seaward. */
  change: ['variazione_m', 'var_m', 'variazione', 'spostamento_m', 'spostament'],
} as const;

const CLASSES: Readonly<Record<string, Dynamic | null>> = {
  erosione: 'erosion', 'in erosione': 'erosion', arretramento: 'erosion', 'in arretramento': 'erosion', erosion: 'erosion',
  avanzamento: 'accretion', 'in avanzamento': 'accretion', accrescimento: 'accretion', progradazione: 'accretion', accretion: 'accretion',
  stabilita: 'stable', stabile: 'stable', stable: 'stable',
  '': null, 'nessuna informazione': null, 'senza informazione': null, 'senza informazioni': null, 'no information': null, 'informazione non disponibile': null,
  'non disponibile': null, 'non definita': null, 'non definito': null, 'non determinata': null, 'n d': null, nd: null,
};

/** Normalises a text to lower-case words without accents. Any run of other characters, such as an apostrophe in place of an accent, becomes a space. */
function plain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().replace(/[^a-z]+/g, ' ').trim();
}

/** Maximum absolute rate in m/year. A higher value means coastal works, a wrong unit or a no-data value. */
const MAX_RATE_M_YEAR = 100;

const MAX_CHANGE_M = 2000;

/** Accepts null or a number from −limit to +limit. A no-data value, such as NaN or −9999, becomes null. */
function within(limit: number, unit: string): z.ZodType<number | null> {
  return z.custom<number | null>((value) => value === null || isNoData(value) || (typeof value === 'number' && Math.abs(value) <= limit), `expected a number within ±${limit} ${unit}`)
    .transform((value) => (isNoData(value) ? null : value));
}

const published = z.strictObject({
  /** Class of the segment; null if the text is missing, blank or one of the publisher's texts for "no information". */
  dynamic: z.union([z.null(), z.string()]).transform((text, context): Dynamic | null => {
    const found = CLASSES[plain(text ?? '')];
    if (found !== undefined) return found;
    context.addIssue({ code: 'custom', message: 'expected erosione, avanzamento, stabilità or a name for no information' });
    return z.NEVER;
  }),
  rate: within(MAX_RATE_M_YEAR, 'm/year'),
  change: within(MAX_CHANGE_M, 'm'),
});

/**
 * Converts the fields of a segment. If the segment has a change instead of a mean change, the change is divided by the number of years.
 * @param years number of years between the two surveys; null if neither the layer's name nor the file's name states the years
 * @returns the class and the mean change per year, or the reason why the record is rejected
 */
export function segmentOf(
  fields: { readonly dynamic: unknown; readonly rate: unknown; readonly change: unknown },
  years: number | null,
): { readonly dynamic: Dynamic | null; readonly rate: number | null } | Refusal {
  const parsed = published.safeParse(fields);
  if (!parsed.success) {
    const issue = firstIssue(parsed.error);
    const field = issue.field as keyof typeof fields;
    return { code: field === 'dynamic' ? 'dynamic_unknown' : `${field}_invalid`, message: `${field}: ${issue.message}, found ${shown(fields[field])}` };
  }
  const { dynamic, rate, change } = parsed.data;
  if (rate !== null) return { dynamic, rate };
  if (change === null) return { dynamic, rate: null };
  if (years === null)
    return {
      code: 'period_unknown',
      message: `change: expected the years of the two surveys in the layer's name, such as 2006_2020, to make ${change} m a yearly mean`,
    };
  return { dynamic, rate: change / years };
}

/**
 * Returns the number of years between the two surveys in the name of a layer or file: `Dinamica_Litoranea_2006_2020` is 14. Returns null if the name does not
 * contain two increasing years.
 */
export function yearsOf(layer: string): number | null {
  const found = /(?<!\d)((?:19|20)\d\d)[_-]((?:19|20)\d\d)(?!\d)/.exec(layer);
  if (found === null) return null;
  const years = Number(found[2]) - Number(found[1]);
  return years > 0 ? years : null;
}
