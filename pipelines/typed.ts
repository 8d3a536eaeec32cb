/** Provides commands and similar names to suggest to the user. Commands have the form for a checkout or for the npm package. */

/** True if the program runs as compiled code, as in the npm package. */
const IS_PACKAGE = import.meta.url.endsWith('.js');

/** Command that installs gdal-async, which reads vector files faster than gdal3.js. */
export const GDAL_SETUP: string = IS_PACKAGE ? 'npm install --global gdal-async' : 'make setup-gdal';
/** Command that installs the program's packages again. */
export const PACKAGES_SETUP: string = IS_PACKAGE ? 'npm install --global mappale' : 'make setup';

/** Replaces `npx mappale` with `mappale` in a text if the program runs from the npm package. @param text text that contains no data from files */
export function asInstalled(text: string): string {
  return IS_PACKAGE ? text.replaceAll('npx mappale', 'mappale') : text;
}

/** Quotes a word for a shell. */
export function quoted(word: string): string {
  return /^[\w./:@%+,=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * Returns the command line of this process with changed arguments.
 * @param change returns the changed arguments
 * @param otherwise command to return if the process was not started as `mappale`
 */
export function retyped(change: (words: readonly string[]) => readonly string[], otherwise: string): string {
  const [, program = '', ...words] = process.argv;
  if (!/mappale(?:\.mjs)?$/.test(program)) return otherwise;
  return ['npx mappale', ...change(words).map(quoted)].join(' ');
}

/** Returns a change for `retyped` that sets an option to a value. The change replaces the current value or appends the option. */
export function withOption(option: string, value: string): (words: readonly string[]) => readonly string[] {
  return (words) => {
    const at = words.indexOf(option);
    return at === -1 ? [...words.filter((word) => !word.startsWith(`${option}=`)), option, value] : [...words.slice(0, at + 1), value, ...words.slice(at + 2)];
  };
}

/** Returns a change for `retyped` that replaces all occurrences of a wrong word, including those in lists and after `--option=`. */
export function withWord(wrong: string, right: string): (words: readonly string[]) => readonly string[] {
  return (words) => words.map((word) => word.split(/([,=])/).map((part) => (part === wrong ? right : part)).join(''));
}

/**
 * Returns at most three similar names, nearest first. A name is similar if it differs from the typed text by at most a third of the letters, or by one letter.
 * Case, accents and punctuation do not count.
 */
export function nearest(typed: string, names: readonly string[]): string[] {
  const plain = (text: string): string => text.normalize('NFD').toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
  const most = Math.max(1, Math.floor(plain(typed).length / 3));
  return names.map((name) => ({ name, distance: distanceOf(plain(typed), plain(name)) })).filter(({ distance }) => distance <= most)
    .sort((a, b) => a.distance - b.distance).slice(0, 3).map(({ name }) => name);
}

/** Returns the smallest number of changes that turn one word into another: inserted, deleted or replaced letters, and swapped neighbouring letters. */
function distanceOf(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const now = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1] ? (before[column - 2] ?? 0) + 1 : Infinity;
      now.push(Math.min((last[column] ?? 0) + 1, (now[column - 1] ?? 0) + 1, (last[column - 1] ?? 0) + (same ? 0 : 1), swapped));
    }
    [before, last] = [last, now];
  }
  return last[b.length] ?? 0;
}

/** Returns text such as `Did you mean molise or marche? `, or an empty text if no name is similar to the typed text. */
export function didYouMean(typed: string, names: readonly string[]): string {
  const near = nearest(typed, names);
  return near.length === 0 ? '' : `Did you mean ${near.join(' or ')}? `;
}
