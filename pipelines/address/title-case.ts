/** Converts the publishers' upper-case names to Italian title case for display. Adds no accents. */
import { ABBREVIATIONS, STREET_TYPES, roman } from './words.ts';

/** Prepositions and conjunctions that stay in lower case inside a name. Articles are capitalised: `Via La Spezia`. */
const SMALL: ReadonlySet<string> = new Set([
  'di', 'de', 'del', 'dello', 'della', 'dei', 'degli', 'delle', 'da', 'dal', 'dallo', 'dalla', 'dai', 'dagli', 'dalle', 'a', 'al', 'allo', 'alla', 'ai', 'agli',
  'alle', 'in', 'nel', 'nello', 'nella', 'nei', 'negli', 'nelle', 'su', 'sul', 'sullo', 'sulla', 'sui', 'sugli', 'sulle', 'con', 'per', 'tra', 'fra', 'e', 'ed',
  'km',
]);
const SMALL_ELIDED: ReadonlySet<string> = new Set(['d', 'dell', 'nell', 'all', 'dall', 'sull', 'l']);
const UPPER: ReadonlySet<string> = new Set(['ss', 'sp', 'sr', 'sc', 'snc']);

/** Converts a name to title case: `PIAZZA DELL'INDIPENDENZA` → `Piazza dell'Indipendenza`, `VIA XX SETTEMBRE` → `Via XX Settembre`. */
export function titleCase(name: string): string {
  const lower = name.toLocaleLowerCase('it');
  let first = true;
  return lower.replace(/\p{L}[\p{L}\p{M}]*/gu, (word, offset: number) => {
    const next = lower[offset + word.length];
    const isFirst = first;
    first = false;
    if (UPPER.has(word) || (roman(word) !== null && lower[offset - 1] !== "'")) return word.toLocaleUpperCase('it');
    // The second part of an abbreviation stays in lower case: `P.zza`, `F.lli`.
    const head = /(\p{L})[./]$/u.exec(lower.slice(0, offset))?.[1];
    if (head !== undefined && (STREET_TYPES.has(head + word) || ABBREVIATIONS.has(head + word))) return word;
    const isLast = offset + word.length === lower.length;
    if (!isFirst && !isLast && (next === "'" || next === '’' ? SMALL_ELIDED.has(word) || word === 'de' : next !== '.' && SMALL.has(word))) return word;
    return word.charAt(0).toLocaleUpperCase('it') + word.slice(1);
  });
}
