/**
 * Validates and converts the text of an OMI file.
 * Source of the lists of values: the record layout of the "Fornitura dati OMI" of the Agenzia delle Entrate, and the files themselves.
 */
import { z } from 'zod';
import { findRegion } from '../../pipelines/contract/regions.ts';
import type { Columns } from '../../pipelines/contract/source.ts';
import { isDay, isoDate } from '../../pipelines/readers/iso-date.ts';

/** Types of building, with the code (`Cod_Tip`) and the name (`Descr_Tipologia`) of each type. */
export const PROPERTY_TYPES: ReadonlyMap<number, string> = new Map([
  [1, 'Ville e Villini'],
  [5, 'Negozi'],
  [6, 'Uffici'],
  [7, 'Capannoni tipici'],
  [8, 'Capannoni industriali'],
  [9, 'Magazzini'],
  [10, 'Laboratori'],
  [13, 'Box'],
  [14, 'Posti auto coperti'],
  [15, 'Posti auto scoperti'],
  [16, 'Autorimesse'],
  [17, 'Centri commerciali'],
  [18, 'Uffici strutturati'],
  [19, 'Abitazioni signorili'],
  [20, 'Abitazioni civili'],
  [21, 'Abitazioni di tipo economico'],
  [22, 'Abitazioni tipiche dei luoghi'],
  [23, 'Pensioni e assimilati'],
  [24, 'Fabbricati per esercizi sportivi'],
]);

const MONTHS = ['GEN', 'FEB', 'MAR', 'APR', 'MAG', 'GIU', 'LUG', 'AGO', 'SET', 'OTT', 'NOV', 'DIC'];

/** A half-year as text (`2025_1`), and as a number for arithmetic: year × 2 + (half − 1). */
export interface Semester {
  readonly text: string;
  readonly halfYear: number;
}

/** @param year four digits @param half `1` or `2` */
export function semesterOf(year: string, half: string): Semester {
  return { text: `${year}_${half}`, halfYear: Number(year) * 2 + Number(half) - 1 };
}

export type Kind = 'VALORI' | 'ZONE';

export interface Title {
  readonly kind: Kind;
  readonly semester: Semester;
  /** ISO date of the elaboration. If two files have the same half-year, the newer file is used. */
  readonly elaborated: string;
}

const TITLE = /^\uFEFF?Quotazioni Immobiliari\s*:\s*(Valori di Mercato|Informazioni di Zona OMI)\s*-\s*Semestre\s+(\d{4})\/([12])\s*-\s*elaborazione del\s+(\d{1,2})-([A-Z]{3})-(\d{2})\b/;

/**
 * Parses the first line of a CSV, such as `Quotazioni Immobiliari : Valori di Mercato - Semestre 2018/2 - elaborazione del 27-APR-19`. Returns null
 * for any other text and for a day that does not exist.
 */
export function parseTitle(line: string): Title | null {
  const match = TITLE.exec(line);
  if (match === null) return null;
  const [, kind, year = '', half = '', day = '', monthName = '', yearOfCentury = ''] = match;
  const month = MONTHS.indexOf(monthName) + 1;
  const elaborated = `20${yearOfCentury}-${String(month).padStart(2, '0')}-${day.padStart(2, '0')}`;
  return isDay(elaborated) ? { kind: kind === 'Valori di Mercato' ? 'VALORI' : 'ZONE', semester: semesterOf(year, half), elaborated } : null;
}

const DOCUMENT = /Anno\/Semestre\s*(\d{4})\/([12])(?:\s+generato il\s+(\d{2})\/(\d{2})\/(\d{4})(?:\s+(\d{2}):(\d{2}))?)?/;

/**
 * Parses the document name of a KML, such as `GORIZIA (GO) Anno/Semestre 2018/2 generato il 22/02/2019 15:55`. Returns null for any other text. A day that does
 * not exist counts as not stated.
 */
export function parseDocumentName(text: string): { readonly semester: Semester; readonly generated: string | null; readonly time: string | null } | null {
  const match = DOCUMENT.exec(text);
  if (match === null) return null;
  const [, year = '', half = '', ...moment] = match;
  const [day = '', month = '', yearOfDay = '', hour] = moment;
  const generated = isoDate(`${day}/${month}/${yearOfDay}`);
  return { semester: semesterOf(year, half), generated, time: generated === null || hour === undefined ? null : moment.slice(3).join(':') };
}

// --- cells -------------------------------------------------------------------------------------------------------

const whole = (code: string, pattern: RegExp, words: string) => z.string().regex(pattern, `${code}: expected ${words}`);

export const belfiore = whole('belfiore_malformed', /^[A-Z]\d{3}$/, 'a cadastral code such as F205');

/** Zone code, such as `B1`. In perimeters before 2014/2, the code is written `B01`. */
export const zona = whole('zone_malformed', /^[BCDER]\d{0,3}$/, 'a zone code such as B1 or R').transform((text) => text.replace(/^([A-Z])0+(?=\d)/, '$1'));

const linkZona = whole('link_zona_malformed', /^[A-Z]{2}\d{8}$/, 'two letters and eight digits');
const fascia = z.enum(['B', 'C', 'D', 'E', 'R'], 'fascia_unknown: expected B, C, D, E or R');
const surface = z.enum(['L', 'N', '', ' '], 'surface_unknown: expected L (gross), N (net) or blank').transform((text) => (text.trim() === '' ? null : text));
const code = (reason: string) => whole(reason, /^\d{1,4}$/, 'a whole number').transform(Number);
const comuneName = z.string().regex(/\S/, 'comune_name_missing: expected the name of the comune').transform((text) => text.trim());

const region = z.string().transform((text, context): number => {
  const found = findRegion(text);
  if (found === undefined) {
    context.addIssue({ code: 'custom', message: 'region_unknown: expected the name of a region' });
    return z.NEVER;
  }
  return found.code;
});

/** Price in whole euro per square metre. 0 or blank means not quoted and becomes null. */
const purchase = whole('price_malformed', /^(?:\d{1,9}| ?)$/, 'whole euro without separators').transform((text) => (Number(text) === 0 ? null : Number(text)));

/**
 * Rent in euro per square metre and month, with a decimal comma and with or without a leading zero (`,9`). 0 or blank (in seven rows of 2017/1) means
 * not quoted and becomes null.
 */
const rental = whole('price_malformed', /^(?:\d{1,6}(?:,\d{1,4})?|,\d{1,4}| ?)$/, 'a number with a decimal comma').transform((text) => {
  const value = Number(text.replace(',', '.'));
  return value === 0 ? null : value;
});

const CONDITIONS: Readonly<Record<string, string>> = { N: 'NORMALE', O: 'OTTIMO', S: 'SCADENTE' };

export const valori = {
  Regione: region,
  Comune_amm: belfiore,
  Comune_descrizione: comuneName,
  Fascia: fascia,
  Zona: zona,
  LinkZona: linkZona,
  Cod_Tip: code('type_unknown'),
  Descr_Tipologia: z.string(),
  /** The value may be blank for garages and parking spaces. */
  Stato: z.enum(['NORMALE', 'OTTIMO', 'SCADENTE', '', ' '], 'condition_unknown: expected NORMALE, OTTIMO, SCADENTE or blank').transform((text) => (text.trim() === '' ? null : text)),
  Stato_prev: z.enum(['P', '', ' '], 'prevalent_unknown: expected P or blank').transform((text) => text === 'P'),
  Compr_min: purchase,
  Compr_max: purchase,
  Sup_NL_compr: surface,
  Loc_min: rental,
  Loc_max: rental,
  Sup_NL_loc: surface,
} as const;

export const zone = {
  Regione: region,
  Comune_amm: belfiore,
  Comune_descrizione: comuneName,
  Fascia: fascia,
  /** Text in single quotes. The quotes are not part of the text. */
  Zona_Descr: z.string().transform((text) => {
    const bare = text.trim().replace(/^'(.*)'$/s, '$1').trim();
    return bare === '' ? null : bare;
  }),
  Zona: zona,
  LinkZona: linkZona,
  Cod_tip_prev: code('prevalent_type_malformed'),
  Descr_tip_prev: z.string(),
  /** State as one letter (VALORI states it as a word). `0` or blank means none. */
  Stato_prev: z.enum(['N', 'O', 'S', '0', '', ' '], 'condition_unknown: expected N, O, S, 0 or blank').transform((text) => CONDITIONS[text] ?? null),
  /** Cadastral microzones start at 1. 0 or blank means none. */
  Microzona: whole('microzona_malformed', /^(?:\d{1,4}|\s*)$/, 'a whole number or blank').transform((text) => (Number(text) === 0 ? null : Number(text))),
} as const;

/** Columns of each CSV. The reader finds columns by name. */
export const HEADERS: Readonly<Record<Kind, readonly string[]>> = {
  VALORI: [
    'Area_territoriale', 'Regione', 'Prov', 'Comune_ISTAT', 'Comune_cat', 'Sez', 'Comune_amm', 'Comune_descrizione', 'Fascia', 'Zona', 'LinkZona',
    'Cod_Tip', 'Descr_Tipologia', 'Stato', 'Stato_prev', 'Compr_min', 'Compr_max', 'Sup_NL_compr', 'Loc_min', 'Loc_max', 'Sup_NL_loc',
  ],
  ZONE: [
    'Area_territoriale', 'Regione', 'Prov', 'Comune_ISTAT', 'Comune_cat', 'Sez', 'Comune_amm', 'Comune_descrizione', 'Fascia', 'Zona_Descr', 'Zona', 'LinkZona',
    'Cod_tip_prev', 'Descr_tip_prev', 'Stato_prev', 'Microzona',
  ],
};

/** All names of `Data` elements in the perimeters of each edition. */
export const PERIMETER_EDITIONS = { 'since 2014/2': ['CODCOM', 'CODZONA', 'LINKZONA'], 'before 2014/2, with links': ['LINKZONA'], 'before 2014/2': [] } as const;

// --- staging -----------------------------------------------------------------------------------------------------

/** First columns of `raw_quotation` and `raw_zone`. */
const OF_A_ZONE = {
  semester: 'text not null',
  half_year: 'int2 not null',
  elaborated: 'date not null',
  region_code: 'int2 not null',
  belfiore: 'text not null',
  comune_name: 'text not null',
  fascia: 'text not null',
  zona: 'text not null',
  link_zona: 'text not null',
} as const;

export const tables = {
  raw_quotation: {
    ...OF_A_ZONE,
    cod_tip: 'int2 not null',
    type: 'text not null',
    stato: 'text',
    stato_prev: 'bool not null',
    purchase_min_eur_m2: 'int4',
    purchase_max_eur_m2: 'int4',
    purchase_surface: 'text',
    rental_min_eur_m2_month: 'float8',
    rental_max_eur_m2_month: 'float8',
    rental_surface: 'text',
  },
  raw_zone: {
    ...OF_A_ZONE,
    description: 'text',
    prevalent_cod_tip: 'int2',
    prevalent_type: 'text',
    prevalent_stato: 'text',
    microzona: 'int4',
  },
  raw_perimeter: {
    semester: 'text not null',
    half_year: 'int2 not null',
    generated: 'date',
    belfiore: 'text not null',
    zona: 'text not null',
    geom: 'geometry(multipolygon, 4326) not null',
  },
} as const satisfies Record<string, Columns>;
