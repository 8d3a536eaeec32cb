/**
 * Generates repeatable random numbers with mulberry32, for synthetic data. The seed is a 32-bit hash of a key. The numbers are not cryptographically secure.
 */
import { itemAt } from './items.ts';
import type { Random } from './region.ts';

/** Hashes a key with FNV-1a over UTF-16 code units, followed by the mixer of murmur3. Similar keys have different hashes. */
export function hashKey(key: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i += 1) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Returns the stream of random numbers of a key. The same key always gives the same stream. */
export function randomOf(...key: readonly (string | number)[]): Random {
  let state = hashKey(key.join('\u0000'));
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    next,
    below: (n) => Math.floor(next() * n),
    pick: (values) => itemAt(values, Math.floor(next() * values.length)),
  };
}
