/** Finds repeated keys among rows in binary COPY format, in 8 bytes a key: no database and no strings. */
import type { Columns } from '../contract/source.ts';

const START = 1 << 16;
const EXAMPLES = 3;

/**
 * A set of 53-bit digests. Two different keys share one with a chance of about n² / 2⁵⁴ (0.04 for 27 million): a report to be
 * looked at, not a reason to refuse.
 */
export class KeySet {
  readonly #fields: readonly number[];
  #slots = new Float64Array(START);
  #count = 0;
  repeated = 0;
  /** Places of the first repeats, `member:position`. */
  readonly examples: string[] = [];

  /** @param key names of columns of the table */
  constructor(columns: Columns, key: readonly string[]) {
    const names = Object.keys(columns);
    this.#fields = key.map((name) => {
      const index = names.indexOf(name);
      if (index < 0) throw new Error(`key column ${name} is not in the table`);
      return index + 2; // member_id and position come first
    }).sort((a, b) => a - b);
  }

  /** @param chunk whole rows without header and trailer */
  addRows(chunk: Buffer, label: string): void {
    let at = 0;
    while (at < chunk.length) {
      const fields = chunk.readInt16BE(at);
      at += 2;
      let position = 0;
      let high = 0x811c9dc5;
      let low = 0x9e3779b9;
      let next = 0;
      for (let field = 0; field < fields; field += 1) {
        const size = chunk.readInt32BE(at);
        at += 4;
        if (field === 1) position = Number(chunk.readBigInt64BE(at));
        if (field === this.#fields[next]) {
          next += 1;
          const end = at + Math.max(size, 0);
          for (let i = at; i < end; i += 1) {
            high = Math.imul(high ^ (chunk[i] ?? 0), 0x01000193);
            low = Math.imul(low ^ (chunk[i] ?? 0), 0x85ebca6b) ^ (low >>> 13);
          }
          high = Math.imul(high ^ (size + 257), 0x01000193);
          low = Math.imul(low ^ (size + 257), 0xc2b2ae35) ^ (low >>> 16);
        }
        at += Math.max(size, 0);
      }
      if (!this.#add((high >>> 0) * 2_097_152 + ((low >>> 0) & 0x1fffff) + 1)) {
        this.repeated += 1;
        if (this.examples.length < EXAMPLES) this.examples.push(`${label}:${position}`);
      }
    }
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
