/**
 * Serves GET /map/explain/{id}/{section}, the result of `mappale explain`, for the map. Only a browser that was signed in on this machine may request
 * explanations, because the user of this browser can also run the command. A token gives no access. The caller of this module provides the function that
 * explains, because the server itself may call only API functions.
 */
import { z } from 'zod';
import { SECTION_NAMES } from '../pipelines/contract/sections.ts';
import type { Reader } from '../pipelines/db/reader.ts';
import { MappaleError } from '../pipelines/errors.ts';
import { refusal } from './errors.ts';
import { parcelPath, readParameters } from './parameters.ts';
import { publishedFid } from './parcel-id.ts';

export const EXPLAIN_PATH = '/map/explain/{id}/{section}';

/** Returns the result of `mappale explain FID SECTION --json`. @throws MappaleError `NOT_FOUND` and database errors */
export type Explain = (fid: number, section: string) => Promise<object>;

const parameters = z.strictObject({ ...parcelPath.shape, section: z.enum(SECTION_NAMES).describe(`Section of the record; one of ${SECTION_NAMES.join(', ')}`) });

/** Error code (SQLSTATE 57014) of a statement that a timeout cancelled. */
const TOO_LONG = 'SQL_57014';

/** @throws ApiError `INVALID_PARAMS`, `NOT_FOUND`, `GONE`, `SERVICE_UNAVAILABLE`; MappaleError */
export async function explained(reader: Reader, explain: Explain, path: Readonly<Record<string, unknown>>): Promise<object> {
  const { id: given, section } = readParameters(parameters, path);
  const id = await publishedFid(reader, given);
  try {
    return await explain(id, section);
  } catch (error) {
    if (!(error instanceof MappaleError)) throw error;
    if (error.code === 'NOT_FOUND') throw refusal.NOT_FOUND(id);
    if (error.code === TOO_LONG) throw refusal.SERVICE_UNAVAILABLE(`the explanation takes longer than the server's time limit. Run mappale explain ${id} ${section}`, 'database');
    throw error;
  }
}
