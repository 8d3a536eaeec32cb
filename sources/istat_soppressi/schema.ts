/** Validates a row of the list of suppressed comuni and converts its cells. */
import { z } from 'zod';
import { isoDate } from '../../pipelines/readers/iso-date.ts';

/** Published column names of each field. */
export const COLUMNS = {
  istat_code: 'Codice Comune',
  name: 'Denominazione Comune',
  province_code: 'Codice Unità territoriale sovracomunale (Uts)',
  sigla: 'Sigla Automobilistica',
  divided: 'Comune soppresso per scorporo',
  event_date: 'Data evento',
  successor_istat_code: 'Codice del Comune associato alla variazione',
  successor_name: 'Denominazione Comune associato alla variazione',
} as const;

/** All columns of the only known layout. */
export const EDITIONS = {
  2024: [
    'Anno', 'Sigla Automobilistica', 'Codice Unità territoriale sovracomunale (Uts)', 'Codice Comune', 'Denominazione Comune', 'Comune soppresso per scorporo', 'Data evento',
    'Codice del Comune associato alla variazione', 'Denominazione Comune associato alla variazione', 'Codice Unità territoriale sovracomunale associato alla variazione',
    'Sigla Automobilistica associata alla variazione',
  ],
} as const;

const trimmed = z.string().transform((text) => text.trim());

export const schema = z.strictObject({
  istat_code: trimmed.pipe(z.string().regex(/^\d{6}$/, 'expected six digits')),
  name: trimmed.pipe(z.string().min(1, 'expected a name')),
  province_code: trimmed.pipe(z.string().regex(/^\d{3}$/, 'expected three digits')),
  sigla: trimmed.pipe(z.string().regex(/^[A-Z]{2}$/, 'expected two capital letters')),
  divided: trimmed.pipe(z.string().regex(/^1?$/, 'expected 1 or nothing')).transform((flag) => flag === '1'),
  event_date: trimmed.transform((text, context) => {
    const iso = isoDate(text);
    if (iso !== null) return iso;
    context.addIssue({ code: 'custom', message: 'expected a day, DD/MM/YYYY' });
    return z.NEVER;
  }),
  successor_istat_code: trimmed.pipe(z.string().regex(/^(\d{6})?$/, 'expected six digits or nothing')).transform((code) => (code === '' ? null : code)),
  successor_name: trimmed.pipe(z.string().min(1, 'expected a name')),
});
