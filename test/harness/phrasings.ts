/** Reads queries with the address that each query must find first, and runs such queries. */
import type { ComuneHit, Names, ParsedQuery } from '../../pipelines/address/parse-query.ts';
import type { Database } from '../../pipelines/db/index.ts';

export interface Asked {
  readonly query: string;
  readonly street: string;
  /** Null if the query names a street without a number. */
  readonly number: number | null;
  readonly kind: string;
}

/** @param text tab-separated lines of query, street, number and kind, below a header. Lines that begin with `#` are comments. */
export function rowsAsked(text: string): Asked[] {
  return text.trimEnd().split('\n').filter((line) => !line.startsWith('#')).slice(1).map((line) => {
    const [query = '', street = '', number = '', kind = ''] = line.split('\t');
    return { query, street, number: number === '' ? null : Number(number), kind };
  });
}

export interface FirstFound {
  readonly street_name: string;
  readonly street_number: string;
  readonly municipality_code: string;
  readonly locality: string;
}

type Parse = (query: string, city: string | null, find: (keys: readonly string[], names: Names) => Promise<readonly ComuneHit[]>) => Promise<ParsedQuery>;

/** Returns at most ten addresses that a search finds in the published tables, best first. */
export async function allOf(database: Database, query: string, parse: Parse, city: string | null = null): Promise<readonly FirstFound[]> {
  const parsed = await parse(query, city, async (keys, names) => {
    const [row] = await database.query<{ hits: ComuneHit[] }>('select api.geocode_comune($1, $2) as hits', [keys, names === 'similar']);
    return row!.hits;
  });
  const [row] = await database.query<{ found: FirstFound[] }>('select api.geocode_search($1, 10) as found', [JSON.stringify(parsed)]);
  return row!.found;
}

/** Returns the address at rank 1, or undefined if nothing was found. */
export async function firstOf(database: Database, query: string, parse: Parse, city: string | null = null): Promise<FirstFound | undefined> {
  return (await allOf(database, query, parse, city))[0];
}
