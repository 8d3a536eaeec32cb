/** Validates and converts a row of the Elenco dei comuni italiani. */
import { z } from 'zod';
import { REGIONS } from '../../pipelines/contract/regions.ts';

/** Published column names of each field. Names are compared without case, accents, line breaks and footnote marks. A final `*` matches any ending. */
export const COLUMNS = {
  region_code: 'Codice Regione',
  province_code: "Codice dell'Unità territoriale sovracomunale*",
  province_historic_code: 'Codice Provincia (Storico)',
  istat_code: 'Codice Comune formato alfanumerico',
  name: 'Denominazione in italiano',
  name_other: 'Denominazione altra lingua',
  region_name: 'Denominazione Regione',
  province_name: "Denominazione dell'Unità territoriale sovracomunale*",
  province_type: 'Tipologia di Unità territoriale sovracomunale',
  capoluogo: 'Flag Comune capoluogo*',
  sigla: 'Sigla automobilistica',
  code_107_2017: 'Codice Comune numerico con 107 province (dal 2017*',
  code_110: 'Codice Comune numerico con 110 province*',
  code_107: 'Codice Comune numerico con 107 province (dal 2006*',
  code_103: 'Codice Comune numerico con 103 province*',
  belfiore: 'Codice Catastale del Comune',
} as const;

export type Field = keyof typeof COLUMNS;

const UNIT = 'Unità territoriale sovracomunale';
const COMMON = [
  'Codice Regione', `Codice dell'${UNIT}*`, 'Codice Provincia (Storico)', 'Progressivo del Comune', 'Codice Comune formato alfanumerico',
  'Denominazione (Italiana e straniera)', 'Denominazione in italiano', 'Denominazione altra lingua', 'Codice Ripartizione Geografica', 'Ripartizione geografica',
  'Denominazione Regione', `Denominazione dell'${UNIT}*`, `Tipologia di ${UNIT}`, 'Flag Comune capoluogo*', 'Sigla automobilistica', 'Codice Comune formato numerico',
  'Codice Comune numerico con 110 province*', 'Codice Comune numerico con 107 province (dal 2006*', 'Codice Comune numerico con 103 province*', 'Codice Catastale del Comune',
] as const;
const nuts = (year: number): string[] => [1, 2, 3].map((level) => `Codice NUTS${level} ${year}`);

/** All columns of each edition. The editions differ in their NUTS columns and in the codes of 2017–2025. */
export const EDITIONS = {
  '2022–2023': [...COMMON, ...nuts(2010), ...nuts(2021)],
  '2024–2025': [...COMMON, ...nuts(2021), ...nuts(2024)],
  2026: [...COMMON, COLUMNS.code_107_2017, ...nuts(2021), ...nuts(2024)],
  '2026, one NUTS': [...COMMON, COLUMNS.code_107_2017, ...nuts(2024)],
  'one NUTS': [...COMMON, ...nuts(2024)],
  'three NUTS': [...COMMON, ...nuts(2010), ...nuts(2021), ...nuts(2024)],
} as const;

/** Optional columns. The codes of 2017–2025 became a separate column when Sardinia was renumbered in 2026. */
export const OPTIONAL: readonly Field[] = ['code_107_2017'];

const trimmed = z.string().transform((text) => text.replaceAll('\u00a0', ' ').trim());
const text = (expected: string) => trimmed.pipe(z.string().min(1, expected));
const code = (pattern: RegExp, expected: string) => trimmed.pipe(z.string().regex(pattern, expected));
const optional = trimmed.transform((value) => (value === '' ? null : value));
/** Former ISTAT code, which is published without leading zeros: `1001` is `001001`. Null if blank. */
const former = trimmed.pipe(z.string().regex(/^\d{0,6}$/, 'expected up to six digits')).transform((value) => (value === '' ? null : value.padStart(6, '0')));

/** Cadastral code. Istat lists a new comune with `N.d.` until the Agenzia delle Entrate assigns a code. */
const belfiore = trimmed
  .pipe(z.string().regex(/^(?!(?:n\.?d\.?)?$)/i, 'the new comune has no cadastral code yet, and so no parcels. Expected a letter and three digits'))
  .pipe(z.string().regex(/^[A-Z]\d{3}$/, 'expected a letter and three digits'));

export const schema = z.strictObject({
  region_code: code(/^\d{1,2}$/, 'expected a region code, 01–20').transform(Number).pipe(z.number().min(1, 'expected a region code, 01–20').max(REGIONS.length, 'expected a region code, 01–20')),
  province_code: code(/^\d{3}$/, 'expected three digits'),
  province_historic_code: code(/^\d{3}$/, 'expected three digits'),
  istat_code: code(/^\d{6}$/, 'expected six digits'),
  name: text('expected a name'),
  name_other: optional,
  region_name: text('expected a name'),
  province_name: text('expected a name'),
  province_type: code(/^[1-5]$/, 'expected a type of unit, 1–5').transform(Number),
  capoluogo: code(/^[01]$/, 'expected 0 or 1').transform((flag) => flag === '1'),
  sigla: code(/^[A-Z]{2}$/, 'expected two capital letters'),
  code_107_2017: former,
  code_110: former,
  code_107: former,
  code_103: former,
  belfiore,
});
