/** Searches addresses. Parses the query with the place names in the database. The database then finds street and number. */
import type { Reader } from '../pipelines/db/reader.ts';
import { findCity, parseQuery, type FindComune } from '../pipelines/address/parse-query.ts';
import type { Answer } from './endpoint.ts';
import { ApiError } from './errors.ts';

/**
 * @param query the user's search text
 * @param city name or cadastral code of a comune; null: any comune
 * @returns the response of `/geocode/search`
 * @throws ApiError `INVALID_PARAMS` if the text and `city` name different comuni
 */
export async function search(reader: Reader, query: string, city: string | null, limit: number): Promise<Answer> {
  const { readings, contradiction } = await parseQuery(query, city, gazetteerOf(reader));
  if (contradiction !== null) {
    const [allowed, named] = ['the comune that q names, or no city', { q: contradiction.query, city: contradiction.city }];
    const problem = `q names the comune ${named.q.join(' or ')}, city names ${named.city.join(' or ')}; allowed: ${allowed}`;
    throw new ApiError('INVALID_PARAMS', problem, { parameter: 'city', allowed, ...named });
  }
  return reader.call<Answer>('select publication, answer from api.search_answer($1, $2, $3, $4)', [JSON.stringify(readings), query, city, limit]);
}

/** Returns the cadastral codes of the comuni that a name or code identifies, resolved like `city` in an address search. */
export function comuniNamed(reader: Reader, name: string): Promise<readonly string[]> {
  return findCity(name, gazetteerOf(reader));
}

function gazetteerOf(reader: Reader): FindComune {
  return async (keys, names) => {
    const { hits } = await reader.call<{ hits: Awaited<ReturnType<FindComune>> }>('select hits from api.find_comunes($1, $2)', [keys, names === 'similar']);
    return hits;
  };
}
