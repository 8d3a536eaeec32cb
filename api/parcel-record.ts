/** Reads the record of a parcel. The licences make up a third of a record, and many records have the same citations. The server therefore caches licences. */
import type { Reader } from '../pipelines/db/reader.ts';
import type { Answer } from './endpoint.ts';
import { refusal } from './errors.ts';

/** Parts of a record, as the database returns them. `head` is null if there is no such parcel. */
interface Parts {
  readonly publication: string;
  /** JSON text before the licences. */
  readonly head: string | null;
  /** Ids of the combinations of sources that the record cites, as the text of a PostgreSQL array. Null if the record cites no source. */
  readonly citations: string | null;
  /** JSON text after the licences. */
  readonly tail: string;
}

/** Licence of one source of a section, as JSON text. Section `*`: every record has the licence, unless another licence of the record has the same terms. */
interface License {
  readonly section: string;
  readonly source: string;
  readonly license: string;
  readonly terms: string;
}

/**
 * Licences by the id of their citation. An id is a digest of a section and its sources, so equal ids have the same licences in every database. A citation has
 * about 600 bytes. The number of combinations of citations in records is much higher than the number of citations.
 */
const known = new Map<string, readonly License[]>();
const KNOWN = 10_000;

/** Licences of whole records as JSON text of about 8 kB, by the ids of the citations. Joining the licences of each record costs 3 % of the CPU time. */
const texts = new Map<string, string>();
const TEXTS = 1_000;

/** @throws MappaleError (kind `database`) */
export async function parcelRecord(reader: Reader, fid: number, sections: readonly string[]): Promise<Answer> {
  const { publication, head, citations, tail } = await reader.call<Parts & Record<string, unknown>>('select publication, head, citations, tail from api.parcel_answer($1, $2)', [fid, sections]);
  if (head === null) return { publication, answer: null };
  return { publication, answer: `${head}${texts.get(citations ?? '') ?? await licensesText(reader, sections, citations ?? '')}${tail}` };
}

/** Returns the text that `api.cited_licenses` returns for these citations. */
async function licensesText(reader: Reader, sections: readonly string[], citations: string): Promise<string> {
  const licenses = await licensesOf(reader, [...new Set(citations.match(/[0-9a-f-]{36}/g))]);
  const order = new Map(sections.map((section, index) => [section, index])).set('basic', -1);
  const place = ({ section }: License): number => order.get(section) ?? sections.length;
  const terms = new Set(licenses.filter(({ section }) => section !== '*').map((license) => license.terms));
  const shown = licenses.filter((license) => license.section !== '*' || !terms.has(license.terms));
  shown.sort((a, b) => place(a) - place(b) || (a.source < b.source ? -1 : 1));
  const text = `[${shown.map(({ license }) => license).join(', ')}]`;
  addTo(texts, TEXTS, citations, text);
  return text;
}

async function licensesOf(reader: Reader, ids: readonly string[]): Promise<License[]> {
  const found = new Map(ids.map((id) => [id, known.get(id)]));
  const missing = ids.filter((id) => found.get(id) === undefined);
  if (missing.length > 0) {
    const { licenses } = await reader.call<{ licenses: (License & { citation: string })[] }>('select licenses from api.citation_licenses($1)', [missing]);
    for (const id of missing) {
      const read = licenses.filter(({ citation }) => citation === id);
      found.set(id, read);
      addTo(known, KNOWN, id, read);
    }
  }
  return ids.flatMap((id) => found.get(id) ?? []);
}

/** Adds an entry to a cache. If the cache is full, removes the oldest entry. */
function addTo<T>(cache: Map<string, T>, most: number, key: string, value: T): void {
  const [oldest = ''] = cache.keys();
  if (cache.size >= most) cache.delete(oldest);
  cache.set(key, value);
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
