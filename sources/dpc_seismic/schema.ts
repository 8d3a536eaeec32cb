/** Validates and converts a row of the seismic classification. */
import { z } from 'zod';

/** Published column names of each field in all editions. */
export const COLUMNS = {
  region_name: 'Regione',
  sigla: 'SIGLA_PROV',
  name: ['COMUNE', 'Denominazione'],
  istat_code: ['COD_ISTAT_COMUNE', 'CodiceIstat'],
  label: ['ZONA_SISMICA', 'Classificazione*'],
} as const;

/** All columns of each edition. In a name, `*` is the year. */
export const EDITIONS = {
  '2020–2022': ['Regione', 'Province', 'CodiceIstat', 'Denominazione', 'Classificazione*'],
  '2023–2025': ['REGIONE', "PROV/CITTA'_METROPOLITANA", 'SIGLA_PROV', 'COMUNE', 'COD_ISTAT_COMUNE', 'ZONA_SISMICA'],
} as const;

/** The editions until 2022 have no car plate codes. */
export const OPTIONAL = ['sigla'] as const;

/**
 * Pattern of a label, such as `3`, `2B` or `2A-3A-3B`. The editions until 2022 write several zones without dashes, such as `2A3A3B` and `12A`. Since 2025,
 * Basilicata has subzones from `1a` to `3b`, including `2c` and `2d`.
 */
const LABEL = /^[1-4][A-DS]?(-?[1-4][A-DS]?)*$/i;

/** Returns the most severe zone of a label, which is the smallest digit. */
export function mostSevere(label: string): number {
  return Math.min(...[...label.matchAll(/[1-4]/g)].map(([digit]) => Number(digit)));
}

const trimmed = z.string().transform((text) => text.replaceAll('\u00a0', ' ').trim());

export const schema = z
  .strictObject({
    region_name: trimmed.pipe(z.string().min(1, 'expected a name')),
    sigla: trimmed.pipe(z.string().regex(/^([A-Z]{2})?$/, 'expected two capital letters')).transform((sigla) => (sigla === '' ? null : sigla)),
    name: trimmed.pipe(z.string().min(1, 'expected a name')),
    istat_code: trimmed.pipe(z.string().regex(/^\d{4,6}$/, 'expected four to six digits')).transform((code) => code.padStart(6, '0')),
    label: trimmed.pipe(z.string().regex(LABEL, 'expected zones 1–4, each with A, B, C, D, S or nothing, joined by dashes')),
  })
  .transform((row) => ({ ...row, zone: mostSevere(row.label) }));
