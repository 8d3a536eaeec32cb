/**
 * Writes synthetic incomes in the formats of four tax years: 2020 by postal code without leading zeros, 2022 without a total, 2023 at both levels,
 * 2024 only by comune. The second comune is missing from 2024, and the third is missing from 2023 and 2024. For postal codes, the section must use the
 * year 2023. For whole comuni, the section must use the newest year of each comune: 2024, 2023 or 2022.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cyclicItem, itemAt } from '../../pipelines/synthetic/items.ts';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';
import { hasIncomes } from '../../pipelines/synthetic/incomes.ts';
import { postalCodeOf } from '../../pipelines/synthetic/postal-codes.ts';
import type { Random, SyntheticRegion, SyntheticComune, SyntheticParcel } from '../../pipelines/synthetic/region.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import { BRACKET_NAMES } from './schema.ts';

/** First year in which the total is published. From this year on, no bracket is withheld alone. */
const FIRST_WITH_TOTAL = 2023;
/** Newest year with data by postal code. */
const NEWEST_BY_POSTAL_CODE = 2023;
/** Years with data of whole comuni, newest first. */
const BY_COMUNE = [2024, 2023, 2022] as const;
const WORDS = [
  'minore o uguale a zero euro', 'da 0 a 10000 euro', 'da 10000 a 15000 euro', 'da 15000 a 26000 euro', 'da 26000 a 55000 euro',
  'da 55000 a 75000 euro', 'da 75000 a 120000 euro', 'oltre 120000 euro',
];
/** Lowest and highest average income of the taxpayers in each bracket, in euro. */
const MEANS: readonly (readonly [number, number])[] = [
  [-4000, 0], [2000, 7000], [11_000, 14_000], [17_000, 24_000], [28_000, 45_000], [58_000, 70_000], [80_000, 110_000], [130_000, 400_000],
];
/** Types of income that are published between the number of taxpayers and the brackets. Two of these names contain two consecutive spaces. */
const OTHERS = [
  'Reddito da fabbricati', 'Reddito da lavoro dipendente e assimilati', 'Reddito da pensione', 'Reddito da lavoro autonomo (comprensivo dei valori nulli)',
  'Reddito di spettanza dell\'imprenditore in contabilita\' ordinaria  (comprensivo dei valori nulli)',
  'Reddito di spettanza dell\'imprenditore in contabilita\' semplificata (comprensivo dei valori nulli)', 'Reddito da partecipazione  (comprensivo dei valori nulli)',
];

interface Declared {
  readonly taxpayers: number | null;
  /** Number of taxpayers and amount in euro of each bracket; null if withheld. */
  readonly brackets: readonly (readonly [number, number] | null)[];
  readonly total: readonly [number, number];
  readonly netTax: readonly [number, number];
  readonly taxable: readonly [number, number];
}

/** Indexes of the withheld brackets since 2023, in rotation over the comuni and over the postal codes. A bracket is never withheld alone. */
const WITHHELD: readonly (readonly number[])[] = [[], [0, 7], [], [6, 7], [0, 5, 6, 7]];
const WITHHELD_BEFORE: readonly (readonly number[])[] = [[], [7], [0], []];

function declared(random: Random, taxpayers: number, unit: number, year: number): Declared {
  const weights = [1, 22, 11, 26, 30, 5, 3, 2];
  const whole = weights.map((weight, bracket): readonly [number, number] => {
    // One comune or postal code in five has no taxpayers in the lowest bracket. The value of this bracket is then 0 instead of withheld.
    const n = unit % WITHHELD.length === 2 && bracket === 0 ? 0 : Math.max(4, Math.round((taxpayers * weight * (70 + random.below(60))) / 10_400));
    const [low, high] = itemAt(MEANS, bracket);
    return [n, n * low + random.below(n * (high - low) + 1)];
  });
  const total: readonly [number, number] = [whole.reduce((sum, [n]) => sum + n, 0), whole.reduce((sum, [, euro]) => sum + euro, 0)];
  const withheld = cyclicItem(year < FIRST_WITH_TOTAL ? WITHHELD_BEFORE : WITHHELD, unit);
  return {
    taxpayers: total[0] + 10 + random.below(60),
    brackets: whole.map((bracket, index) => (withheld.includes(index) ? null : bracket)),
    total,
    netTax: [Math.round(total[0] * 0.8), Math.round(total[1] * 0.17)],
    taxable: [total[0] - 5, Math.round(total[1] * 0.96)],
  };
}

const taxpayersOf = (comune: SyntheticComune): number => 200 + 3 * comune.parcelCount;

function ofComune(region: SyntheticRegion, comune: SyntheticComune, year: number): Declared | null {
  if (!hasIncomes(comune) || (comune.index === 1 && year === 2024) || (comune.index === 2 && year > 2022)) return null;
  return declared(region.random('mef', comune.belfiore, year), taxpayersOf(comune), comune.index, year);
}

/**
 * Returns the data of one postal code of the comune, or null if the comune does not have this code or has only one code. The sum of the taxpayers of all
 * codes is smaller than the number of taxpayers of the comune. The number of taxpayers of the third code is withheld.
 */
function ofPostalCode(region: SyntheticRegion, comune: SyntheticComune, cap: string, year: number): Declared | null {
  const number = comune.postalCodes.indexOf(cap);
  if (comune.postalCodes.length === 1 || number === -1) return null;
  const found = declared(region.random('mef', comune.belfiore, cap, year), Math.floor(taxpayersOf(comune) / 4), number, year);
  return number === 2 ? { ...found, taxpayers: null } : found;
}

// --- files -------------------------------------------------------------------------------------------------------

interface Format {
  readonly year: number;
  readonly byPostalCode: boolean;
  /**
   * Text at the end of the header and at the end of every row. As in the published files, the header and the rows can end differently, and the endings differ
   * between years.
   */
  readonly headerEnd: string;
  readonly rowEnd: string;
  /** If true, codes lose their leading zeros, as in 2020. */
  readonly unpadded: boolean;
}

/** Area of a row: a comune or one of its postal codes. */
interface Where {
  readonly comune: SyntheticComune;
  readonly cap: string | null;
}

const pairs = (names: readonly string[]): string[] => names.flatMap((name) => [`${name} - Frequenza`, `${name} - Ammontare in euro`]);

function header({ year, byPostalCode, headerEnd }: Format): string {
  const total = year >= 2023 ? ['Reddito complessivo'] : [];
  return [
    'Anno di imposta', ...(byPostalCode ? ['CAP'] : []), 'Codice catastale', 'Codice Istat Comune', 'Denominazione Comune', 'Sigla Provincia', 'Regione', 'Codice Istat Regione', 'Numero contribuenti',
    ...pairs([...OTHERS, 'Reddito imponibile', 'Imposta netta', year <= 2020 ? 'Bonus spettante' : 'Trattamento spettante', 'Reddito imponibile addizionale', 'Addizionale regionale dovuta', 'Addizionale comunale dovuta', ...total]),
    ...pairs(WORDS.map((words) => `Reddito complessivo ${words}`)),
  ].join(';') + headerEnd;
}

function row(region: SyntheticRegion, format: Format, { comune, cap }: Where, found: Declared, random: Random): string {
  const code = (text: string): string => (format.unpadded ? text.replace(/^0+/, '') : text);
  const other = (): string[] => (random.below(6) === 0 ? ['', ''] : [String(4 + random.below(900)), String(1000 + random.below(9_000_000))]);
  const cells = [
    String(format.year), ...(cap === null ? [] : [code(cap)]), comune.belfiore, code(comune.istatCode),
    comune.italianName.normalize('NFD').replace(/\p{M}$/u, '\'').replace(/\p{M}/gu, '').toUpperCase(),
    // NA, the plate code of Napoli, must not be read as "not available".
    comune.index === 1 ? 'NA' : comune.province.sigla, region.name, format.unpadded ? String(region.code) : String(region.code).padStart(2, '0'),
    found.taxpayers === null ? '' : String(found.taxpayers),
    ...OTHERS.flatMap(other), String(found.taxable[0]), String(found.taxable[1]), String(found.netTax[0]), String(found.netTax[1]),
    ...other(), ...other(), ...other(), ...other(),
    ...(format.year >= 2023 ? [String(found.total[0]), String(found.total[1])] : []),
    ...found.brackets.flatMap((bracket) => (bracket === null ? ['', ''] : [String(bracket[0]), String(bracket[1])])),
  ];
  return cells.join(';') + format.rowEnd;
}

function* table(region: SyntheticRegion, format: Format): Generator<string> {
  yield `${header(format)}\r\n`;
  const random = region.random('mef', 'other', format.year, String(format.byPostalCode));
  for (const comune of region.comuni) {
    if (format.byPostalCode) {
      for (const cap of comune.postalCodes) {
        const found = ofPostalCode(region, comune, cap, format.year);
        if (found !== null) yield `${row(region, format, { comune, cap }, found, random)}\r\n`;
      }
    } else {
      const found = ofComune(region, comune, format.year);
      if (found !== null) yield `${row(region, format, { comune, cap: null }, found, random)}\r\n`;
    }
  }
  if (format.byPostalCode || format.year === 2020) return;
  // Taxpayers without a comune. The row is kept but never served.
  const rest = declared(region.random('mef', 'unplaced', format.year), 300, 0, format.year);
  const nowhere: SyntheticComune = { ...region.comuni[0], belfiore: '0', istatCode: '0', italianName: '0', index: 0, province: { code: '0', name: '', sigla: '0' } };
  const cells = row(region, format, { comune: nowhere, cap: null }, rest, random).split(';');
  cells[5] = 'Mancante/errata';
  cells[6] = '0';
  yield `${cells.join(';')}\r\n`;
}

async function write(region: SyntheticRegion, folder: string): Promise<void> {
  const name = (format: Format): string => `Redditi_e_principali_variabili_IRPEF_su_base_${format.byPostalCode ? 'subcomunale' : 'comunale'}_CSV_${format.year}`;
  const formats: readonly (Format & { readonly zipped: boolean })[] = [
    { year: 2020, byPostalCode: true, headerEnd: '; ', rowEnd: ';', unpadded: true, zipped: false },
    { year: 2022, byPostalCode: false, headerEnd: ' ', rowEnd: ';', unpadded: false, zipped: true },
    { year: 2023, byPostalCode: false, headerEnd: ' ', rowEnd: '', unpadded: false, zipped: true },
    { year: NEWEST_BY_POSTAL_CODE, byPostalCode: true, headerEnd: '', rowEnd: '', unpadded: false, zipped: false },
    { year: 2024, byPostalCode: false, headerEnd: '; ', rowEnd: '', unpadded: false, zipped: true },
  ];
  for (const format of formats) {
    const [file, lines] = [`${name(format)}.csv`, table(region, format)];
    if (format.zipped) await writeZip(join(folder, `${name(format)}.zip`), [[file, lines]]);
    else await writeFile(join(folder, file), [...lines].join(''));
  }
}

// --- truth -------------------------------------------------------------------------------------------------------

/** Returns the quotient of two positive integers, rounded to `decimals` decimals. Halves are rounded up, as PostgreSQL rounds a positive numeric. */
function ratio(n: bigint, d: bigint, decimals: number): number {
  const scale = 10n ** BigInt(decimals);
  return Number(((2n * n * scale) / d + 1n) / 2n) / Number(scale);
}

type Group = readonly [number, number];

/**
 * Returns the number of taxpayers with a total income and the amount in euro, or null if a bracket is withheld. In years before the total was published, the
 * result is the sum of the brackets.
 */
function totalOf({ brackets, total }: Declared, year: number): Group | null {
  if (year >= FIRST_WITH_TOTAL) return total;
  const known = brackets.filter((bracket) => bracket !== null);
  return known.length < brackets.length ? null : known.reduce<Group>(([n, euro], bracket) => [n + bracket[0], euro + bracket[1]], [0, 0]);
}

/**
 * Computes the Gini index from the grouped Lorenz curve, in whole numbers: 1 − Σ n_i (A_(i−1) + A_i) / (N · A). If a total is published, the withheld brackets
 * are one group. If no total is published, the withheld brackets and the bracket of zero or less are left out.
 */
function gini({ brackets, total }: Declared, year: number): number {
  const withTotal = year >= FIRST_WITH_TOTAL;
  const known = brackets.slice(withTotal ? 0 : 1).filter((bracket) => bracket !== null);
  const groups = known.map(([n, euro]) => ({ n: BigInt(n), a: BigInt(Math.max(0, euro)) })).filter(({ n }) => n > 0n);
  if (withTotal) {
    const restN = BigInt(total[0] - known.reduce((sum, [n]) => sum + n, 0));
    const restA = BigInt(total[1] - known.reduce((sum, [, euro]) => sum + euro, 0));
    if (restN > 0n) groups.push({ n: restN, a: restA > 0n ? restA : 0n });
  }
  groups.sort((x, y) => (x.a * y.n < y.a * x.n ? -1 : 1));
  const n = groups.reduce((sum, group) => sum + group.n, 0n);
  const a = groups.reduce((sum, group) => sum + group.a, 0n);
  let reached = 0n;
  let area = 0n;
  for (const group of groups) {
    area += group.n * (2n * reached + group.a);
    reached += group.a;
  }
  return ratio(n * a - area, n * a, 4);
}

/**
 * Returns a function that returns the expected section `economics` of a parcel, without the price, which comes from OMI, and without the affordability, which
 * depends on the price.
 */
function truth(region: SyntheticRegion): (parcel: SyntheticParcel) => Record<string, unknown> {
  const known = new Map<string, Record<string, unknown> | null>();
  const find = (comune: SyntheticComune, cap: string | null): { level: 'cap' | 'comune'; year: number; found: Declared } | null => {
    const byCode = cap === null ? null : ofPostalCode(region, comune, cap, NEWEST_BY_POSTAL_CODE);
    if (byCode !== null) return { level: 'cap', year: NEWEST_BY_POSTAL_CODE, found: byCode };
    for (const year of BY_COMUNE) {
      const found = ofComune(region, comune, year);
      if (found !== null) return { level: 'comune', year, found };
    }
    return null;
  };
  return (parcel) => {
    const { comune } = parcel;
    if (parcel.kind !== 'land') return { economics: null };
    const cap = comune.postalCodes.length > 1 ? postalCodeOf(parcel) : null;
    const key = `${comune.belfiore} ${cap ?? ''}`;
    let section = known.get(key);
    if (section === undefined) {
      const declaration = find(comune, cap);
      if (declaration === null) section = null;
      else {
        const { level, year, found } = declaration;
        const total = totalOf(found, year);
        section = {
          average_income: total === null ? null : ratio(BigInt(total[1]), BigInt(total[0]), 2),
          taxpayers: found.taxpayers,
          earners: total?.[0] ?? null,
          total_income: total?.[1] ?? null,
          net_tax: found.netTax[1],
          tax_year: year,
          gini_index: gini(found, year),
          affordability_apt_size_m2: 80,
          income_brackets: Object.fromEntries(BRACKET_NAMES.map((name, index) => [name, found.brackets[index]?.[0] ?? null])),
          level,
        };
      }
      known.set(key, section);
    }
    return { economics: section };
  };
}

const synthetic: Synthetic = { write, truth };
export default synthetic;
