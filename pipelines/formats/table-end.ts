/** Detects tables that end inside a line, as after a download that was cut short. */
import { inputError } from '../errors.ts';

/** Matches a line of blanks and of end-of-file marks, which some old programs write (Ctrl-Z). */
const END_MARKS = /^[\s\0\x1a]*$/;

/**
 * Checks the last line of a table. Many complete files have no line end after the last line. A last line without a line end that also lacks columns was cut,
 * and an unknown number of lines is missing. A cut inside the last column, or exactly at a line end, cannot be detected.
 */
export class TableEnd {
  /** Number of columns of the widest record so far. In some tables, all records have fewer columns than the header. */
  #widest = 0;
  /** Length of the longest first cell so far. */
  #longestFirst = 0;

  /**
   * Takes note of a record, and checks the last line if it has no line end. A single text that is longer than all first cells is a footer, such as `Fonte: …`,
   * and is no error here. A shorter footer is refused, because a cut first cell looks the same.
   * @param columns number of columns in the header
   * @param openAt file and line of a line without a line end; null for any other line
   * @throws input error `FILE_TRUNCATED`
   */
  take(cells: readonly string[], columns: number, openAt: string | null): void {
    if (openAt !== null) this.#check(cells, columns, openAt);
    this.#widest = Math.max(this.#widest, cells.length);
    this.#longestFirst = Math.max(this.#longestFirst, cells[0]?.length ?? 0);
  }

  #check(cells: readonly string[], columns: number, at: string): void {
    const expected = this.#widest === 0 ? columns : Math.min(columns, this.#widest);
    if (cells.length >= expected) return;
    const [first = ''] = cells;
    if (cells.length === 1 && (END_MARKS.test(first) || (this.#longestFirst > 0 && first.length > this.#longestFirst))) return;
    throw inputError('the file ends inside a line', {
      code: 'FILE_TRUNCATED', at, detail: `expected ${expected} columns in the last line, found ${cells.length} and no line end`,
      hint: 'The download was probably cut short, and an unknown number of lines is missing. Download the file again.',
    });
  }
}
