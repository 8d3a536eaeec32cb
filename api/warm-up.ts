/**
 * Runs the example query of each endpoint on each connection before the server accepts requests. The first query of a kind on a connection reads the system
 * catalogs, compiles functions and plans statements. A first query is therefore about a hundred times slower than later queries.
 */
import type { z } from 'zod';
import type { Reader } from '../pipelines/db/reader.ts';
import { ENDPOINTS } from './endpoints.ts';
import { ApiError } from './errors.ts';
import { readParameters } from './parameters.ts';

/** Fid and point of a published parcel, and code of its comune. The fid is null if no region is published. */
type Place = Readonly<Record<'fid' | 'lat' | 'lng', number | null>> & { readonly code: string };

/**
 * Runs the example query of each endpoint in `ENDPOINTS`, for a published parcel. Does nothing if no region is published.
 * @throws MappaleError (kind `database`)
 */
export async function warmUp(reader: Reader): Promise<void> {
  const { fid, lat, lng, code } = await reader.call<Place>('select fid, lat, lng, code from api.any_parcel()', []);
  if (fid === null) return;
  await reader.onEach(async (connection) => {
    for (const { lookup, parameters, example, pathParameters } of ENDPOINTS) {
      // Without the `include` of the example, a record contains all sections.
      const values: Record<string, string> = { ...example, include: '', ...('lat' in example ? { lat: String(lat), lng: String(lng) } : {}), id: String(fid), featureId: String(fid), code };
      const of = ({ shape }: z.ZodObject): Record<string, unknown> => Object.fromEntries(Object.entries(values).filter(([name]) => name in shape));
      // An example may name a publication that does not exist. The server refuses such an example only after the query, so the connection is ready
      // nevertheless.
      await lookup(connection, { path: readParameters(pathParameters, of(pathParameters)), query: readParameters(parameters, of(parameters)), base: '' }).catch(ignoreRefusal);
    }
  });
}

function ignoreRefusal(error: unknown): void {
  if (!(error instanceof ApiError)) throw error;
}
