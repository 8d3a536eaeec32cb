/** Columns that a publisher added: their names, and a few of their values, fit to be shown and kept. */
import { MOST_SAMPLES } from '../formats/csv.ts';
import { maskTaxCode } from '../mask-tax-code.ts';

/** Characters of a sample. */
const SAMPLE_LENGTH = 40;
/** Characters of a name. */
const NAME_LENGTH = 120;
/** Columns that are kept of one member: a file with more new names has another layout, or is hostile. */
const MOST_COLUMNS = 1000;

export interface SampledColumn {
  readonly column: string;
  readonly samples: readonly string[];
  /** Where it was found first, as messages name it; empty: not said. */
  readonly at: string;
}

/** Collects what a reader reports. */
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

  /** In the order in which they were reported. */
  list(): SampledColumn[] {
    return [...this.#found].map(([column, { samples, at }]) => ({ column, samples: [...samples], at }));
  }
}

/** One line without tax codes and control characters. Masked before it is cut: half a tax code would be a person's, too. */
function shown(text: string, length: number): string {
  const line = maskTaxCode(text).replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();
  const letters = Array.from(line);
  return letters.length <= length ? line : `${letters.slice(0, length - 1).join('')}…`;
}
