/** Resolves the id of a parcel in a path, which is the fid or the national cadastral reference. */
import { spellingsOf } from '../pipelines/contract/regions.ts';
import type { Reader } from '../pipelines/db/reader.ts';
import type { Answer } from './endpoint.ts';
import { ApiError, invalidParameter, refusal, type Successor } from './errors.ts';
import { LARGEST_FID, PARCEL_ID_FORMS } from './parameters.ts';
import { parcelAsOf, parcelRecord } from './parcel-record.ts';

/** Pattern of a reference of the national cadastre or of the land registers of Trento and Bolzano. */
const REFERENCE = /^(?:[A-Z]\d{3}[A-Z_]\d{4}[0-9A-Z]{2}\.|IT\.(?:TN|BZ)\.[0-9A-Z]{1,6}\.)[^\s.].{0,39}$|^IT\.(?:TN|BZ)\.[0-9A-Z]{1,6}\.\..{1,39}$/;

type ParcelId = { readonly fid: number } | { readonly spellings: readonly string[] };

interface Found {
  /** Fid of the published parcel that has the reference. Null: there is no such parcel. */
  readonly current: number | null;
  /** Fids of all parcels that ever had the reference. A currently published parcel comes first. */
  readonly fids: readonly number[];
  /** Null: the reference is current or was never published. */
  readonly successors: readonly Successor[] | null;
}

/** @throws ApiError `INVALID_PARAMS` */
function readParcelId(id: string): ParcelId {
  if (/^\d+$/.test(id)) {
    if (Number(id) > LARGEST_FID) throw invalidParameter('id', PARCEL_ID_FORMS);
    return { fid: Number(id) };
  }
  const spellings = spellingsOf(id);
  if (!REFERENCE.test(spellings.at(-1) ?? '')) throw invalidParameter('id', PARCEL_ID_FORMS);
  return { spellings };
}

async function find(reader: Reader, spellings: readonly string[]): Promise<Found> {
  return reader.call<Found & Record<string, unknown>>('select current_fid as current, fids, successors from api.parcels_of_reference($1)', [spellings]);
}

/**
 * Returns the fid of the published parcel that has a reference. If the id is a fid, returns this fid without checking whether the parcel is published.
 * @throws ApiError `INVALID_PARAMS`, `NOT_FOUND`, `GONE`; MappaleError (kind `database`)
 */
export async function publishedFid(reader: Reader, id: string): Promise<number> {
  const given = readParcelId(id);
  if ('fid' in given) return given.fid;
  const { current, successors } = await find(reader, given.spellings);
  if (current !== null) return current;
  throw successors === null ? refusal.NOT_FOUND(id) : refusal.GONE(id, successors);
}

/**
 * Returns the fid of a parcel that has or had a reference. A currently published parcel takes precedence. If the id is a fid, returns this fid without checking
 * whether the parcel was ever published.
 * @throws ApiError `INVALID_PARAMS`, `NOT_FOUND`; MappaleError (kind `database`)
 */
export async function everFid(reader: Reader, id: string): Promise<number> {
  const given = readParcelId(id);
  if ('fid' in given) return given.fid;
  const [fid] = (await find(reader, given.spellings)).fids;
  if (fid === undefined) throw refusal.NOT_FOUND(id);
  return fid;
}

/** Returns the current record of a parcel. @throws ApiError `INVALID_PARAMS`, `NOT_FOUND`, `GONE`; MappaleError (kind `database`) */
export async function recordOf(reader: Reader, id: string, sections: readonly string[]): Promise<Answer> {
  const fid = await publishedFid(reader, id);
  const found = await parcelRecord(reader, fid, sections);
  if (found.answer !== null) return found;
  throw await notPublished(reader, fid);
}

/** Returns the error for a parcel without a current record: `GONE` if it was published earlier, else `NOT_FOUND`. */
export async function notPublished(reader: Reader, fid: number): Promise<ApiError> {
  const { retired } = await reader.call<{ retired: { successor_fid: number | null } | null }>('select retired_parcel as retired from api.retired_parcel($1)', [fid]);
  if (retired === null) return refusal.NOT_FOUND(fid);
  const { successors } = await reader.call<{ successors: readonly Successor[] }>(
    'select successors from api.successors($1)', [retired.successor_fid === null ? [] : [retired.successor_fid]],
  );
  return refusal.GONE(fid, successors);
}

/**
 * Returns the record of a parcel at the end of a day. A reference means the parcel that had the reference on this day.
 * @param day YYYY-MM-DD
 * @throws ApiError `INVALID_PARAMS`, `NOT_FOUND`, `GONE`; MappaleError (kind `database`)
 */
export async function recordThen(reader: Reader, id: string, sections: readonly string[], day: string): Promise<Answer> {
  const given = readParcelId(id);
  if ('fid' in given) return parcelAsOf(reader, given.fid, sections, day);
  const { fids } = await find(reader, given.spellings);
  let refused: ApiError | null = null;
  for (const fid of fids) {
    try {
      const found = await parcelAsOf(reader, fid, sections, day);
      if (found.answer === null || given.spellings.includes(referenceIn(found.answer))) return found;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // If some parcels were retired and others did not exist yet, the error for a retired parcel is returned.
      if (refused === null || error.code === 'GONE') refused = error;
    }
  }
  throw refused ?? refusal.NOT_FOUND(id);
}

/**
 * Returns the reference in a record. A parcel keeps its fid when its comune changes code, so the record of an earlier day may have a different reference than
 * the current record.
 */
function referenceIn(answer: string): string {
  return (JSON.parse(answer) as { basic: { cadastral_reference: string } }).basic.cadastral_reference;
}
