/** Reads the record of a parcel. The licences make up a third of a record and are the same for many parcels, so the server caches the licences. */
import type { Reader } from '../pipelines/db/reader.ts';
import type { Answer } from './endpoint.ts';
import { refusal } from './errors.ts';

/** Parts of a record, as the database returns them. `head` is null if there is no such parcel. */
interface Parts {
  readonly publication: string;
  /** JSON text before the licences. */
  readonly head: string | null;
  /** Ids of the combinations of sources that the record cites, as the text of a PostgreSQL array. */
  readonly citations: string;
  /** JSON text after the licences. */
  readonly tail: string;
}

/**
 * Licences as JSON text, by the ids of the citations. An id is a digest of a section and its sources, so equal ids have the same licences in every database.
 * Two synthetic regions have about a thousand different texts, each about 8 kB long.
 */
const known = new Map<string, string>();
const KNOWN = 1_000;

/** @throws MappaleError (kind `database`) */
export async function parcelRecord(reader: Reader, fid: number, sections: readonly string[]): Promise<Answer> {
  const { publication, head, citations, tail } = await reader.call<Parts & Record<string, unknown>>('select publication, head, citations, tail from api.parcel_answer($1, $2)', [fid, sections]);
  if (head === null) return { publication, answer: null };
  return { publication, answer: `${head}${known.get(citations) ?? await readLicenses(reader, sections, citations)}${tail}` };
}

async function readLicenses(reader: Reader, sections: readonly string[], citations: string): Promise<string> {
  const { licenses } = await reader.call<{ licenses: string }>('select licenses from api.cited_licenses($1, $2)', [sections, citations]);
  const [oldest = ''] = known.keys();
  if (known.size >= KNOWN) known.delete(oldest);
  known.set(citations, licenses);
  return licenses;
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
