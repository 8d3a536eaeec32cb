/** Search by text: the query is read here, with the gazetteer in the database; the street and number are found there. */
import type { Reader } from '../pipelines/db/reader.ts';
import { parseQuery, type ComuneHit } from '../pipelines/kit/address/parse-query.ts';
import type { Answer } from './endpoints.ts';

/**
 * @param query what was typed
 * @param city a comune by name or cadastral code; null: any
 * @returns the answer of `/geocode/search`
 */
export async function search(reader: Reader, query: string, city: string | null, limit: number): Promise<Answer> {
  const { readings } = await parseQuery(query, city, async (keys, fuzzy) => {
    const { hits } = await reader.call<{ hits: readonly ComuneHit[] }>('select hits from api.find_comunes($1, $2)', [keys, fuzzy]);
    return hits;
  });
  return reader.call<Answer & Record<string, unknown>>('select publication, answer from api.search_answer($1, $2, $3, $4)', [JSON.stringify(readings), query, city, limit]);
}
