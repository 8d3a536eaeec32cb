/**
 * Validates and converts the text of a MEF file. The columns and their meaning come from "definizione_variabili_2024_irpef.pdf" and
 * "nota_metodologica_2024.pdf" of the Dipartimento delle Finanze.
 */
import { z } from 'zod';
import type { Columns } from '../../pipelines/contract/source.ts';

/** Normalised published names of the brackets of total income, in the published order. */
export const BRACKETS = {
  lte_zero: 'minore_o_uguale_a_zero_euro',
  from_0_to_10k: 'da_0_a_10000_euro',
  from_10k_to_15k: 'da_10000_a_15000_euro',
  from_15k_to_26k: 'da_15000_a_26000_euro',
  from_26k_to_55k: 'da_26000_a_55000_euro',
  from_55k_to_75k: 'da_55000_a_75000_euro',
  from_75k_to_120k: 'da_75000_a_120000_euro',
  over_120k: 'oltre_120000_euro',
} as const;

export type Bracket = keyof typeof BRACKETS;
export const BRACKET_NAMES = Object.keys(BRACKETS) as Bracket[];

type PairName = 'total_income' | 'net_tax' | Bracket;
/** Values that are published as a number of taxpayers and an amount. */
export const PAIRS: readonly PairName[] = ['total_income', 'net_tax', ...BRACKET_NAMES];
type Field = 'tax_year' | 'cap' | 'belfiore' | 'istat_code' | 'region_code' | 'taxpayers' | `${PairName}_n` | `${PairName}_eur`;

const pairColumns = (name: PairName, words: string): Record<string, string> => ({
  [`${name}_n`]: `${words}_frequenza`,
  [`${name}_eur`]: `${words}_ammontare_in_euro`,
});

/** Published headers of each field, normalised (without case, accents, punctuation, repeated and trailing spaces). */
export const COLUMNS = {
  tax_year: 'anno_di_imposta',
  cap: 'cap',
  belfiore: 'codice_catastale',
  istat_code: 'codice_istat_comune',
  region_code: 'codice_istat_regione',
  taxpayers: 'numero_contribuenti',
  ...pairColumns('total_income', 'reddito_complessivo'),
  ...pairColumns('net_tax', 'imposta_netta'),
  ...Object.assign({}, ...BRACKET_NAMES.map((name) => pairColumns(name, `reddito_complessivo_${BRACKETS[name]}`))) as object,
} as Readonly<Record<Field, string>>;

const pairOf = (words: string): string[] => [`${words} - Frequenza`, `${words} - Ammontare in euro`];
/**
 * Returns the columns of an edition.
 * @param key columns that come before the comune
 * @param credit name of the tax credit
 * @param total name of the total, which comes directly before the brackets; empty if no total is published
 */
const editionOf = (key: readonly string[], credit: 'Bonus spettante' | 'Trattamento spettante', total: readonly string[]): string[] => [
  'Anno di imposta', ...key, 'Codice catastale', 'Codice Istat Comune', 'Denominazione Comune', 'Sigla Provincia', 'Regione', 'Codice Istat Regione', 'Numero contribuenti',
  ...[
    'Reddito da fabbricati', 'Reddito da lavoro dipendente e assimilati', 'Reddito da pensione', 'Reddito da lavoro autonomo (comprensivo dei valori nulli)',
    'Reddito di spettanza dell\'imprenditore in contabilita\' ordinaria (comprensivo dei valori nulli)',
    'Reddito di spettanza dell\'imprenditore in contabilita\' semplificata (comprensivo dei valori nulli)', 'Reddito da partecipazione (comprensivo dei valori nulli)',
    'Reddito imponibile', 'Imposta netta', credit, 'Reddito imponibile addizionale', 'Addizionale regionale dovuta', 'Addizionale comunale dovuta',
    ...total,
  ].flatMap(pairOf),
  ...Object.values(BRACKETS).flatMap((words) => pairOf(`reddito_complessivo_${words}`)),
];

const editionsOf = (key: readonly string[]) => ({
  '2018–2020': editionOf(key, 'Bonus spettante', []),
  '2021–2022': editionOf(key, 'Trattamento spettante', []),
  '2023–2024': editionOf(key, 'Trattamento spettante', ['Reddito complessivo']),
});

/** All columns of each edition, by role. The tax credit was renamed in 2021, and the total was added in 2023. */
export const EDITIONS = {
  comunale: editionsOf([]),
  subcomunale: editionsOf(['CAP']),
} as const;

/** `CAP` is only in the files by postal code. The total is only in files since tax year 2023. */
export const OPTIONAL: readonly Field[] = ['cap', 'total_income_n', 'total_income_eur'];

/**
 * A count. A blank becomes null, which is not 0. A blank means that the value is withheld for statistical confidentiality: there are one to three taxpayers, or
 * the value would reveal such a number.
 */
const count = z.string().regex(/^\d{0,9}$/, 'expected a whole number or nothing').transform((text) => (text === '' ? null : Number(text)));
/** Amount in euro. A blank means withheld and becomes null. */
const amount = z.string().regex(/^\d{0,15}$/, 'expected whole euro without separators, or nothing').transform((text) => (text === '' ? null : Number(text)));
const signedAmount = z.string().regex(/^(?:-?\d{1,15})?$/, 'expected whole euro without separators, or nothing').transform((text) => (text === '' ? null : Number(text)));

const pairShape = (name: PairName): Record<string, z.ZodType<number | null, string>> => ({
  [`${name}_n`]: count,
  // Losses make the lowest bracket negative, and can also make a small total negative.
  [`${name}_eur`]: name === 'lte_zero' || name === 'total_income' ? signedAmount : amount,
});

/** One record. `cap` and `istat_code` are padded, because the files of some years drop leading zeros. */
export const record = z.object({
  tax_year: z.string().regex(/^20\d{2}$/, 'expected a year').transform(Number),
  /** The text `118` means 00118. */
  cap: z.string().regex(/^\d{0,5}$/, 'expected up to five digits').transform((text) => (text === '' ? null : text.padStart(5, '0'))),
  belfiore: z.string().regex(/^(?:[A-Z]\d{3}|0)$/, 'expected a cadastral code such as F205, or 0 for taxpayers without a place').transform((text) => (text === '0' ? null : text)),
  istat_code: z.string().regex(/^\d{1,6}$/, 'expected up to six digits').transform((text) => (Number(text) === 0 ? null : text.padStart(6, '0'))),
  region_code: z.string().regex(/^0?\d$|^1\d$|^20$/, 'expected a region code 1–20').transform((text) => (Number(text) === 0 ? null : Number(text))),
  taxpayers: count,
  ...Object.assign({}, ...PAIRS.map(pairShape)) as Record<`${PairName}_n` | `${PairName}_eur`, z.ZodType<number | null, string>>,
});

export const tables = {
  raw_income: {
    tax_year: 'int2 not null',
    level: 'text not null',
    belfiore: 'text',
    istat_code: 'text',
    cap: 'text',
    region_code: 'int2',
    taxpayers: 'int4',
    ...Object.assign({}, ...PAIRS.map((name) => ({ [`${name}_n`]: 'int4', [`${name}_eur`]: 'int8' }))) as Record<string, 'int4' | 'int8'>,
  },
} satisfies Record<string, Columns>;
