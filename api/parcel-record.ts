/** The record of a parcel. Its licences, a third of it, are the same for all parcels of a region: they are asked for once in a publication. */
import { regionOfFid } from '../pipelines/contract/regions.ts';
import type { Reader } from '../pipelines/db/reader.ts';
import type { Answer } from './endpoint.ts';

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
