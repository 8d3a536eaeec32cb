/** Collects the names of columns that a publisher added, and sample values without tax codes. */
import { MOST_SAMPLES } from '../formats/csv.ts';
import { maskTaxCode } from '../mask-tax-code.ts';

/** Maximum length of a sample value, in characters. */
const SAMPLE_LENGTH = 40;
/** Maximum length of a column name, in characters. */
const NAME_LENGTH = 120;
/** Maximum number of collected columns per member. A file with more unknown columns has a different layout or is an attack. */
const MOST_COLUMNS = 1000;

export interface SampledColumn {
  readonly column: string;
  readonly samples: readonly string[];
  /** Position of the column's first occurrence, for messages; empty if unknown. */
  readonly at: string;
}

/** The added columns of one member, each with a few sample values. */
export class AddedColumns {
  readonly #found = new Map<string, { readonly samples: Set<string>; readonly at: string }>();

  add(column: string, sample?: string, at: string = ''): void {
    const name = shown(column, NAME_LENGTH);
    let found = this.#found.get(name);
    if (found === undefined) {
      if (this.#found.size >= MOST_COLUMNS) return;
      this.#found.set(name, found = { samples: new Set(), at });
    }
    const { samples } = found;
    const value = sample === undefined || samples.size >= MOST_SAMPLES ? '' : shown(sample, SAMPLE_LENGTH);
    if (value !== '') samples.add(value);
  }

  /** Returns the columns in the order in which they were reported. */
  list(): SampledColumn[] {
    return [...this.#found].map(([column, { samples, at }]) => ({ column, samples: [...samples], at }));
  }
}

/**
 * Shortens a text to one line without tax codes and control characters. Tax codes are masked before the text is cut, because half a tax code also identifies a
 * person.
 */
function shown(text: string, length: number): string {
  const line = maskTaxCode(text).replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();
  const letters = Array.from(line);
  return letters.length <= length ? line : `${letters.slice(0, length - 1).join('')}…`;
}
