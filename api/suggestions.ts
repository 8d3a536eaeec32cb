/**
 * Serves GET /map/suggestions, which suggests addresses while the user types. A search needs complete words, but while the user types, the last word of
 * a street or of the following comune may be incomplete. The database's dictionary completes the word, and each completion is searched like a complete
 * query.
 */
import { z } from 'zod';
import { comuneKey, fold, normaliseStreet } from '../pipelines/address/normalise.ts';
import type { Reader } from '../pipelines/db/reader.ts';
import { ApiError } from './errors.ts';
import { search } from './geocoding.ts';
import { readParameters, searchParameters } from './parameters.ts';

export const SUGGESTIONS_PATH = '/map/suggestions';

const parameters = z.strictObject({ q: searchParameters.shape.q });

/** Maximum number of suggestions. */
const MOST = 8;

/** Maximum number of words in an incomplete name of a comune, such as `san martino in p`. */
const LONGEST = 4;

interface Address {
  readonly address_id: string | number;
  readonly street_name: string;
  readonly locality: string;
  readonly municipality_name: string | null;
  readonly match_type: string;
}

/** A comune that the query names and that has no loaded addresses. */
interface UnloadedComune {
  readonly municipality: string;
  readonly province: string;
  readonly region: string | null;
}

interface Answered {
  readonly data: readonly Address[];
  readonly not_loaded?: readonly UnloadedComune[];
}

/** A completion of the last words of a query. */
interface Completion {
  /** Number of typed words that the completion replaces. */
  readonly words: number;
  /** Word of a street name, or cadastral code of a comune. */
  readonly text: string;
  readonly is_comune: boolean;
}

/**
 * Returns JSON text like `/geocode/search`, with the `kind` of each address: `street` or `address`.
 * @throws ApiError `INVALID_PARAMS`; MappaleError (kind `database`)
 */
export async function suggestions(reader: Reader, query: Readonly<Record<string, unknown>>): Promise<string> {
  const { q } = readParameters(parameters, query);
  const { data: found, not_loaded: notLoaded } = await answered(reader, q, null);
  const said = /[\p{L}\p{M}]+$/u.exec(q);
  const known = said === null ? found : found.filter((address) => hasWord(address, fold(said[0])));
  const all = new Map(known.map((address) => [address.address_id, address]));
  if (said !== null && all.size < MOST) {
    for (const completion of await completionsOf(reader, q)) {
      if (all.size >= MOST) break;
      for (const address of await completed(reader, q, completion)) all.set(address.address_id, address);
    }
  }
  // Addresses that do not contain the last word come last. If nothing was found, the text before the last word is searched.
  const before = q.replace(/[\s,]+[\p{L}\p{M}]+$/u, '');
  const others = all.size > 0 || found.length > 0 || before === q ? found : await addresses(reader, before, null);
  for (const address of others) all.set(address.address_id, address);
  const data = [...all.values()].slice(0, MOST).map((address) => ({ ...address, kind: address.match_type === 'street' ? 'street' : 'address' }));
  // A comune without loaded addresses is reported even if streets with a similar name are suggested.
  const missing = notLoaded === undefined ? {} : { not_loaded: notLoaded };
  return JSON.stringify({ data, meta: { query: q, city: null, count: data.length, ...missing } });
}

async function addresses(reader: Reader, q: string, city: string | null): Promise<readonly Address[]> {
  return (await answered(reader, q, city)).data;
}

async function answered(reader: Reader, q: string, city: string | null): Promise<Answered> {
  try {
    const { answer } = await search(reader, q, city, MOST);
    const { data, meta } = JSON.parse(answer ?? '{"data":[],"meta":{}}') as { data: readonly Address[]; meta: Pick<Answered, 'not_loaded'> };
    return { data, ...meta.not_loaded === undefined ? {} : { not_loaded: meta.not_loaded } };
  } catch (error) {
    // The search is refused if an incomplete word and the text before it name different comuni.
    if (error instanceof ApiError) return { data: [] };
    throw error;
  }
}

/** Returns true if the street name, locality or comune of an address contains the word. */
function hasWord({ street_name, locality, municipality_name }: Address, word: string): boolean {
  return [normaliseStreet(street_name).tokens, comuneKey(locality).split(' '), comuneKey(municipality_name ?? '').split(' ')].some((words) => words.includes(word));
}

async function completionsOf(reader: Reader, q: string): Promise<readonly Completion[]> {
  const words = q.split(/[\s,]+/);
  // A comune name is completed only after at least one word of a street.
  const starts = Array.from({ length: Math.min(LONGEST, words.length - 1) }, (_, index) => comuneKey(words.slice(-1 - index).join(' ')));
  const [, last = ''] = /([a-z]+)$/.exec(fold(q)) ?? [];
  const { completions } = await reader.call<{ completions: readonly Completion[] }>('select completions from api.completions($1, $2)', [last, starts]);
  return completions;
}

async function completed(reader: Reader, q: string, { words, text, is_comune }: Completion): Promise<readonly Address[]> {
  if (is_comune) return addresses(reader, beforeLast(q, words), text);
  return (await addresses(reader, q.replace(/[\p{L}\p{M}]+$/u, text), null)).filter((address) => hasWord(address, text));
}

/** Returns the query without its last words. The function uses word positions, because a regular expression would try every possible split. */
export function beforeLast(q: string, words: number): string {
  const starts = [...q.matchAll(/[^\s,]+/g)].map(({ index }) => index);
  return q.slice(0, starts.at(-words) ?? 0).replace(/[\s,]+$/, '');
}
