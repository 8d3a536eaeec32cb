/**
 * Checks the columns of documents in which each record names its properties, such as XML and JSON. A record may omit a property without a value. A column is
 * missing if none of the records before the check has the property.
 */
import { expectColumns, knownBy, MOST_SAMPLES, type AddedColumnSink, type ExpectedColumns } from '../formats/csv.ts';

/** Number of records after which the columns of a document are checked. The columns of a shorter document are checked at the end. */
const ENOUGH = 100;

type Expected<K extends string> = ExpectedColumns<K> | ((names: readonly string[]) => ExpectedColumns<K>);

export class PropertyColumns<K extends string> {
  readonly #expected: (names: readonly string[]) => ExpectedColumns<K>;
  /** Number of records after which the columns are checked. */
  readonly #enough: number;
  readonly #sink: AddedColumnSink;
  readonly #isKnown: (name: string) => boolean;
  /** Statistics of each property, by name: whether the source lists the property, the number of repetitions in records, and the number of reported samples. */
  readonly #seen = new Map<string, { known: boolean; twice: number; samples: number }>();
  #records = 0;
  #judged = false;

  /** @param expected expected columns. If this is a function of the names of all properties, the columns are checked only at the end of the document. */
  constructor(expected: Expected<K>, sink: AddedColumnSink) {
    this.#expected = typeof expected === 'function' ? expected : () => expected;
    this.#enough = typeof expected === 'function' ? Infinity : ENOUGH;
    this.#sink = sink;
    this.#isKnown = knownBy(this.#expected([]));
  }

  /**
   * Counts the properties of one record, and reports unknown properties to the sink. Checks the columns after `ENOUGH` records.
   * @param names published names, including repeated names @param valueOf returns the value of the property with this index
   * @returns the name of a known property that the record contains more than once, or null
   * @throws input error `COLUMNS_CHANGED`
   */
  take(names: readonly string[], valueOf: (index: number) => unknown): string | null {
    this.#records += 1;
    let doubled: string | null = null;
    for (const [index, name] of names.entries()) {
      let seen = this.#seen.get(name);
      if (seen === undefined) {
        this.#seen.set(name, seen = { known: this.#isKnown(name), twice: 0, samples: 0 });
        if (!seen.known) this.#sink.added(name);
      }
      if (names.indexOf(name) < index) {
        seen.twice += 1;
        if (seen.known) doubled = name;
      }
      if (!seen.known && seen.samples < MOST_SAMPLES) this.#sample(seen, name, valueOf(index));
    }
    if (this.#records >= this.#enough && !this.#judged) this.#judge();
    return doubled;
  }

  /** Marks the columns of the document as checked. Call this function if another reader has found a record with all known properties. */
  complete(): void {
    this.#judged = true;
  }

  /** Ends the document. Checks the columns if they were not checked before and the document has records. @throws input error `COLUMNS_CHANGED` */
  end(): void {
    if (!this.#judged && this.#records > 0) this.#judge();
  }

  #sample(seen: { samples: number }, name: string, value: unknown): void {
    if (value === null || value === undefined || value === '') return;
    seen.samples += 1;
    this.#sink.added(name, typeof value === 'string' ? value : JSON.stringify(value));
  }

  #judge(): void {
    this.#judged = true;
    const names = [...this.#seen].flatMap(([name, { twice }]) => (twice >= this.#records ? [name, name] : [name]));
    expectColumns(names, this.#expected([...this.#seen.keys()]));
  }
}
