/** Finds repeated keys among rows in binary COPY format, without a database. Needs 16 to 32 bytes of memory per key. */
import { readRows, type Columns } from '../formats/copy.ts';

const START = 1 << 16;
const EXAMPLES = 3;
const START_DIGEST: readonly [high: number, low: number] = [0x811c9dc5, 0x9e3779b9];

/**
 * A set of 53-bit digests. The probability of a collision among n different keys is about n² / 2⁵⁴ (0.04 for 27 million). A repeated key is therefore reported,
 * but is not a reason to reject a row.
 */
export class KeySet {
  readonly #fields: ReadonlySet<number>;
  #slots = new Float64Array(START);
  #count = 0;
  repeated = 0;
  /** Positions of the first repeated keys, as `member:position`. */
  readonly examples: string[] = [];

  /** @param key column names of the key */
  constructor(columns: Columns, key: readonly string[]) {
    const names = Object.keys(columns);
    this.#fields = new Set(key.map((name) => {
      const index = names.indexOf(name);
      if (index < 0) throw new Error(`key column ${name} is not in the table`);
      return index + 2; // Every row starts with the columns member_id and position.
    }));
  }

  /** Adds the keys of rows. @param chunk complete rows in binary COPY format, without header and trailer */
  addRows(chunk: Buffer, label: string): void {
    let [high, low] = START_DIGEST;
    readRows(chunk, (field, at, size) => {
      if (!this.#fields.has(field)) return;
      for (let i = at; i < at + size; i += 1) {
        const byte = chunk[i] ?? 0;
        high = Math.imul(high ^ byte, 0x01000193);
        low = Math.imul(low ^ byte, 0x85ebca6b) ^ (low >>> 13);
      }
      high = Math.imul(high ^ (size + 257), 0x01000193);
      low = Math.imul(low ^ (size + 257), 0xc2b2ae35) ^ (low >>> 16);
    }, (position) => {
      if (!this.#add((high >>> 0) * 2_097_152 + ((low >>> 0) & 0x1fffff) + 1)) {
        this.repeated += 1;
        if (this.examples.length < EXAMPLES) this.examples.push(`${label}:${position}`);
      }
      [high, low] = START_DIGEST;
    });
  }

  #add(digest: number): boolean {
    if (this.#count * 2 >= this.#slots.length) this.#grow();
    const added = insert(this.#slots, digest);
    if (added) this.#count += 1;
    return added;
  }

  #grow(): void {
    const grown = new Float64Array(this.#slots.length * 2);
    for (const digest of this.#slots) if (digest !== 0) insert(grown, digest);
    this.#slots = grown;
  }
}

function insert(slots: Float64Array, digest: number): boolean {
  const mask = slots.length - 1;
  let slot = (digest % 4_294_967_291) & mask;
  for (;;) {
    const there = slots[slot] ?? 0;
    if (there === 0) {
      slots[slot] = digest;
      return true;
    }
    if (there === digest) return false;
    slot = (slot + 1) & mask;
  }
}
