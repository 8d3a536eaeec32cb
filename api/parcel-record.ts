/** Reads the record of a parcel. The licences make up a third of a record and are the same for many parcels, so the server caches the licences. */
import type { Reader } from '../pipelines/db/reader.ts';
import type { Answer } from './endpoint.ts';
import { refusal } from './errors.ts';

/** Parts of a record, as the database returns them. `head` is null if there is no such parcel. */
interface Parts {
  readonly publication: string;
  /** JSON text before the licences. */
  readonly head: string | null;
  /** Keys of the combinations of sources that the record cites. */
  readonly citations: readonly string[] | null;
  /** JSON text after the licences. */
  readonly tail: string;
}

/** A combination of sources that a section of a record cites. */
interface Combination {
  readonly section: string;
  readonly sources: readonly string[];
  /** JSON texts, one per source. */
  readonly licenses: readonly string[];
  /** Names of the rights holder and of the licence, for each source. */
  readonly terms: readonly string[];
}

/**
 * Licences by key of the combination. A key is a digest of the combination, so equal combinations have the same key in every database. A region has a
 * few hundred combinations.
 */
const known = new Map<string, Combination>();
const KNOWN = 20_000;

/** @throws MappaleError (kind `database`) */
export async function parcelRecord(reader: Reader, fid: number, sections: readonly string[]): Promise<Answer> {
  const { publication, head, citations, tail } = await reader.call<Parts & Record<string, unknown>>('select publication, head, citations, tail from api.parcel_answer($1, $2)', [fid, sections]);
  if (head === null) return { publication, answer: null };
  return { publication, answer: `${head}${licensesOf(await combinationsOf(reader, citations ?? []))}${tail}` };
}

/** Returns the combinations of sources with the given keys. Only combinations that are not in the cache are read from the database. */
async function combinationsOf(reader: Reader, keys: readonly string[]): Promise<Combination[]> {
  const missing = keys.filter((key) => !known.has(key));
  if (missing.length > 0) {
    if (known.size >= KNOWN) known.clear();
    const wanted = known.size === 0 ? keys : missing;
    const { combinations } = await reader.call<{ combinations: readonly [string, string, readonly string[], readonly string[], readonly string[]][] }>('select combinations from api.citations($1)', [wanted]);
    for (const [key, section, sources, licenses, terms] of combinations) known.set(key, { section, sources, licenses, terms });
  }
  return keys.map((key) => {
    const combination = known.get(key);
    if (combination === undefined) throw new Error(`the combination of sources ${key} is not in the ledger`);
    return combination;
  });
}

/** Name used instead of a section for attributions that every answer must show. */
const EVERYWHERE = '*';

/** Returns the licences as JSON text, by section and source, like `api.cited_licenses`. */
function licensesOf(combinations: readonly Combination[]): string {
  const terms = new Set(combinations.flatMap((each) => (each.section === EVERYWHERE ? [] : each.terms)));
  const sections = [...new Set(combinations.map(({ section }) => section))].sort((a, b) => Number(a === EVERYWHERE) - Number(b === EVERYWHERE));
  const sorted = sections.flatMap((wanted) => combinations.filter(({ section }) => section === wanted)
    .flatMap(({ section, sources, licenses, terms: own }) => sources.map((source, index) => ({ section, source, license: licenses[index] ?? '', term: own[index] ?? '' })))
    .filter(({ section, term }) => section !== EVERYWHERE || !terms.has(term))
    .sort((a, b) => (a.source < b.source ? -1 : 1)));
  return `[${sorted.map(({ license }) => license).join(',')}]`;
}

interface Refused {
  readonly reason: 'not_kept' | 'never_kept' | 'withdrawn' | 'withdrawn_then' | 'not_there' | 'gone';
  readonly kept_since: string | null;
  readonly successor_fid?: number | null;
}

/**
 * Returns the record at the end of a day, with the licences of this day.
 * @param day YYYY-MM-DD
 * @throws ApiError `NOT_FOUND`, `GONE`; MappaleError (kind `database`)
 */
export async function parcelAsOf(reader: Reader, fid: number, sections: readonly string[], day: string): Promise<Answer> {
  const { publication, answer, refused } = await reader.call<Answer & { refused: Refused | null }>(
    'select publication, answer, refusal as refused from api.parcel_as_of($1, $2, $3)', [fid, sections, day],
  );
  if (refused === null) return { publication, answer };
  const { reason, kept_since, successor_fid = null } = refused;
  throw reason === 'gone' ? refusal.GONE_THEN(fid, day, successor_fid) : refusal.NOT_THEN(fid, day, kept_since, reason);
}
