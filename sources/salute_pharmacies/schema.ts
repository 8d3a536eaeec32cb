/** Validates the record of a pharmacy and converts its fields. */
import { z } from 'zod';
import { isDay, isoDate } from '../../pipelines/readers/iso-date.ts';
import { coordinate, optionalText, requiredText, text } from '../../pipelines/readers/point-fields.ts';

/** Column names of each field. The publisher has used several spellings of some names. */
export const COLUMNS = {
  pharmacy_id: ['cod_farmacia', 'codice_farmacia', 'codice_identificativo_farmacia'],
  name: ['descrizione_farmacia'],
  address: ['indirizzo'],
  istat_code: ['cod_comune', 'codice_comune', 'codice_comune_istat'],
  comune: ['comune', 'descrizione_comune'],
  type: ['descrizione_tipologia'],
  opened_on: ['data_inizio_validita'],
  closed_on: ['data_fine_validita'],
  lat: ['latitudine'],
  lon: ['longitudine'],
} as const;

/** Columns of the files of 2024 to 2026, in all spellings. `data_inizio_validita` is not listed, because some files lack this column. */
export const EDITIONS = {
  '2024–2026': [
    'cod_farmacia|codice_farmacia|codice_identificativo_farmacia', 'cod_farmacia_asl|codice_farmacia_asl', 'indirizzo', 'descrizione_farmacia', 'p_iva|partita_iva', 'cap',
    'cod_comune|codice_comune|codice_comune_istat', 'comune|descrizione_comune', 'frazione', 'cod_provincia|codice_provincia', 'sigla_provincia', 'provincia', 'cod_regione|codice_regione',
    'regione', 'data_fine_validita', 'descrizione_tipologia', 'cod_tipologia|codice_tipologia', 'latitudine', 'longitudine', 'localizzazione|localize',
  ],
} as const;

/** Fields whose column a file of these editions may lack. */
export const OPTIONAL = ['opened_on'] as const;

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', quot: '"', apos: '\'', lt: '<', gt: '>', nbsp: ' ' };

/** Character that replaces the semicolon of an entity in a cell, because this semicolon does not separate cells. */
const END = '\u0001';

/**
 * Replaces the semicolons of entities in a line before the line is split. Names contain HTML entities, such as `F.LLI ROSSI &amp; C.` and
 * `DELL&#039;ANGELO`.
 */
export function markEntities(line: string): string {
  return line.replace(/&(#\d{1,6}|amp|quot|apos|lt|gt|nbsp);/g, `&$1${END}`);
}

/** Replaces the entities of a cell with their characters. */
export function withoutEntities(cell: string): string {
  return cell.replace(new RegExp(`&(?:#(\\d{1,6})|([a-z]{2,4}))${END}`, 'g'), (entity, code: string | undefined, name: string | undefined) => {
    if (code === undefined) return ENTITIES[name ?? ''] ?? entity;
    return Number(code) <= 0x10ffff ? String.fromCodePoint(Number(code)) : entity;
  });
}

/** A day, such as `31/12/2025` or `2025-12-31`; null for `-` or an empty cell. */
const day = z.string().transform((value, context) => {
  const written = value.trim();
  if (/^-*$/.test(written)) return null;
  const iso = isoDate(written.slice(0, 10)) ?? /^\d{4}-\d{2}-\d{2}/.exec(written)?.[0] ?? null;
  if (iso !== null && isDay(iso)) return iso;
  context.addIssue({ code: 'custom', message: 'expected an existing day DD/MM/YYYY or YYYY-MM-DD, - or nothing' });
  return z.NEVER;
});

export const pharmacy = z.strictObject({
  pharmacy_id: text.pipe(z.string().regex(/^\d{1,18}$/, 'expected digits')),
  name: requiredText,
  address: optionalText,
  istat_code: text.pipe(z.string().regex(/^\d{6}$/, 'expected an ISTAT code of six digits')),
  comune: optionalText,
  type: optionalText,
  opened_on: day,
  closed_on: day,
  lat: coordinate,
  lon: coordinate,
});
