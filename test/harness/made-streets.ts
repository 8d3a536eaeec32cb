/** Adds streets with given numbers to the published addresses of a comune. */
import { normaliseStreet } from '../../pipelines/address/normalise.ts';
import type { Database } from '../../pipelines/db/index.ts';

export interface MadeStreet {
  readonly name: string;
  /** House numbers. If the list is empty, the street gets one access with the number 1. */
  readonly numbers: readonly number[];
  readonly locality?: string;
}

/** Id of the first added street. This id is higher than the ids of all synthetic streets and accesses. */
const FIRST_ID = 8_000_000_000;
/** Added words have numbers above this number, which is higher than the number of words in any synthetic region. */
const FIRST_TOKEN = 5_000_000;
/** Number of the first added street name. This number is higher than the number of names in any synthetic region. */
const FIRST_NAME = 5_000_000;

/** @param belfiore code of a comune of the region. The comune must have published addresses. */
export async function addStreets(database: Database, region: number, belfiore: string, streets: readonly MadeStreet[]): Promise<void> {
  const named = streets.map((street, index) => ({ ...street, id: FIRST_ID + index, ...normaliseStreet(street.name) }));
  const words = [...new Set(named.flatMap(({ tokens }) => tokens))];
  await database.query(
    `insert into core.token (region_code, id, text, df, weight)
     select $1::int2, $1::int4 * 10000000 + $2::int4 + w.n, w.text, 1, 8 from unnest($3::text[]) with ordinality as w (text, n)
     where not exists (select from core.token t where t.region_code = $1::int2 and t.text = w.text)`, [region, FIRST_TOKEN, words],
  );
  for (const { id, name, type, tokens, numbers, locality = null } of named) {
    await database.query(
      'insert into core.street values ($1::int2, $2, $3, $4::text, $4::text, $5::text, core.comune_key($5::text), $6::int4, $6::int4, 0, 0, $7)', [region, id, belfiore, name, locality, Math.max(numbers.length, 1), id - FIRST_ID],
    );
    await database.query(
      `insert into core.street_name
       select $1::int2, $2, 1, $3, 'odonimo', $4, array_agg(distinct t.id order by t.id), sum(t.weight), core.comune_key($6::text), $7, 1000000, $8, 1
       from core.token t where t.region_code = $1::int2 and t.text = any ($5)`, [region, id, belfiore, type, tokens, locality, Math.max(numbers.length, 1), FIRST_NAME + id - FIRST_ID],
    );
    for (const [index, number] of (numbers.length === 0 ? [1] : numbers).entries()) {
      await database.query(
        `insert into core.access_point (region_code, address_id, street_id, belfiore, number, geom, quality, release_id, member_id, position)
         select $1, $2, $3, $4, $5, st_setsrid(st_makepoint(14.5, 41.5), 4326), 'good', 0, 0, 0`, [region, id * 10 + index, id, belfiore, number],
      );
    }
    if (locality !== null) {
      await database.query(
        `insert into core.comune_name values ($1, core.comune_key($2::text), $3, 'locality', $2::text) on conflict do nothing`, [region, locality, belfiore],
      );
    }
  }
}
