/**
 * The first question of a kind takes a connection some hundred times as long as the next ones: it reads the catalog, compiles the functions and plans their
 * statements. So each connection is asked one of every kind before anybody waits for it.
 */
import type { z } from 'zod';
import type { Reader } from '../pipelines/db/reader.ts';
import { ENDPOINTS } from './endpoints.ts';
import { readParameters } from './parameters.ts';

/** Some parcel: its point, and the code of its comune. */
type Place = Readonly<Record<'fid' | 'lat' | 'lng', number | null>> & { readonly code: string };

/** Asks what the document shows as examples, at a place where something is published; nothing where nothing is. @throws MappaleError (kind `database`) */
export async function warmUp(reader: Reader): Promise<void> {
  const { fid, lat, lng, code } = await reader.call<Place>('select fid, lat, lng, code from api.any_parcel()', []);
  if (fid === null) return;
  await reader.onEach(async (connection) => {
    for (const { lookup, parameters, example, pathParameters } of ENDPOINTS) {
      // Without the example's sections a record has all of them.
      const values: Record<string, string> = { ...example, include: '', ...('lat' in example ? { lat: String(lat), lng: String(lng) } : {}), id: String(fid), featureId: String(fid), code };
      const of = ({ shape }: z.ZodObject): Record<string, unknown> => Object.fromEntries(Object.entries(values).filter(([name]) => name in shape));
      await lookup(connection, { path: readParameters(pathParameters, of(pathParameters)), query: readParameters(parameters, of(parameters)), base: '' });
    }
  });
}
