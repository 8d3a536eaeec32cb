/** The record of a parcel. Its licences, a third of it, are the same for all parcels of a region: they are asked for once in a publication. */
import { regionOfFid } from '../pipelines/contract/regions.ts';
import type { Reader } from '../pipelines/db/reader.ts';
import type { Answer } from './endpoint.ts';
import { refusal } from './errors.ts';

/** How a record ends with these licences. The database leaves them out. */
function endWith(licenses: string): string {
  return `"licenses":${licenses},"attribution_required":true}}`;
}

const WITHOUT = endWith('[]');

interface Licences {
  readonly publication: string;
  /** JSON text of the list. */
  readonly licenses: string;
}

/** By region and sections. Which publication they are of tells a database from another one, too. */
const known = new Map<string, Licences>();
/** Choices of sections are made by callers: beyond so many all are asked for again. */
const KNOWN = 1000;

/** @throws MappaleError (kind `database`) */
export async function parcelRecord(reader: Reader, fid: number, sections: readonly string[]): Promise<Answer> {
  const key = [regionOfFid(fid), ...sections].join(' ');
  const before = known.get(key);
  const { publication, answer, licenses } = await reader.call<Answer & { licenses: string | null }>(
    'select publication, answer, licenses from api.parcel_answer($1, $2, $3)', [fid, sections, before?.publication ?? null],
  );
  if (answer === null) return { publication, answer };
  if (!answer.endsWith(WITHOUT)) throw new Error(`the record of ${fid} does not end with ${WITHOUT}`);
  const cited = licenses ?? before?.licenses;
  if (cited === undefined) throw new Error(`the record of ${fid} came without its licences`);
  if (licenses !== null) {
    if (known.size >= KNOWN) known.clear();
    known.set(key, { publication, licenses });
  }
  return { publication, answer: answer.slice(0, -WITHOUT.length) + endWith(cited) };
}

interface Refused {
  readonly reason: 'not_kept' | 'never_kept' | 'withdrawn' | 'withdrawn_then' | 'not_there' | 'gone';
  readonly kept_since: string | null;
  readonly successor_fid?: number | null;
}

/**
 * The record as it was answered at the end of a day, with the licences of then.
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
