/** Validates the record of a school and converts its fields. */
import { z } from 'zod';
import { findRegion } from '../../pipelines/contract/regions.ts';
import type { Editions } from '../../pipelines/formats/csv.ts';
import { optionalText, requiredText, text } from '../../pipelines/readers/point-fields.ts';

export const COLUMNS = {
  school_year: 'ANNOSCOLASTICO',
  region: 'REGIONE',
  province: 'PROVINCIA',
  school_id: 'CODICESCUOLA',
  name: 'DENOMINAZIONESCUOLA',
  address: 'INDIRIZZOSCUOLA',
  belfiore: 'CODICECOMUNESCUOLA',
  comune: 'DESCRIZIONECOMUNE',
  type: 'DESCRIZIONETIPOLOGIAGRADOISTRUZIONESCUOLA',
} as const;

const OF_ALL = [
  'ANNOSCOLASTICO', 'AREAGEOGRAFICA', 'REGIONE', 'PROVINCIA', 'CODICESCUOLA', 'DENOMINAZIONESCUOLA', 'INDIRIZZOSCUOLA', 'CAPSCUOLA', 'CODICECOMUNESCUOLA', 'DESCRIZIONECOMUNE',
  'DESCRIZIONETIPOLOGIAGRADOISTRUZIONESCUOLA', 'INDIRIZZOEMAILSCUOLA', 'INDIRIZZOPECSCUOLA', 'SITOWEBSCUOLA',
];
/** Columns that every list of state schools has and no other list has. */
export const OF_STATE_ONLY: readonly string[] = [
  'CODICEISTITUTORIFERIMENTO', 'DENOMINAZIONEISTITUTORIFERIMENTO', 'DESCRIZIONECARATTERISTICASCUOLA', 'INDICAZIONESEDEDIRETTIVO', 'INDICAZIONESEDEOMNICOMPRENSIVO',
];
const OF_STATE = [...OF_ALL, ...OF_STATE_ONLY];

/** All columns of each list, by role. Only lists of state schools may have a column for the site of lessons (`SEDESCOLASTICA`). */
export const EDITIONS: Readonly<Record<string, Editions>> = {
  STAT: { 'state schools': [...OF_STATE, 'SEDESCOLASTICA'] },
  AUTSTAT: { 'state schools of autonomous provinces': OF_STATE, 'state schools': [...OF_STATE, 'SEDESCOLASTICA'] },
  PAR: { 'private schools': OF_ALL },
  AUTPAR: { 'private schools': OF_ALL },
};

/** Converts `202021` to `2020_2021`. Returns null if the text is not a school year. */
export function schoolYear(written: string): string | null {
  const [, first, last] = /^(20\d{2})(\d{2})$/.exec(written.trim()) ?? [];
  return first !== undefined && Number(last) === (Number(first) + 1) % 100 ? `${first}_${Number(first) + 1}` : null;
}

export const school = z.strictObject({
  school_year: z.string().transform((value, context) => {
    const year = schoolYear(value);
    if (year !== null) return year;
    context.addIssue({ code: 'custom', message: 'expected a school year such as 202425' });
    return z.NEVER;
  }),
  /** Null if no region has this name. */
  region: z.string().transform((value) => findRegion(value)?.code ?? null),
  province: optionalText,
  school_id: text.pipe(z.string().regex(/^[A-Z0-9]{10}$/i, 'expected ten letters and digits')).transform((code) => code.toUpperCase()),
  name: requiredText,
  address: optionalText,
  belfiore: text.pipe(z.string().regex(/^[A-Z]\d{3}$/i, 'expected a cadastral code such as F205')).transform((code) => code.toUpperCase()),
  comune: optionalText,
  type: optionalText,
});
