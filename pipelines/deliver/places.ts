/** Finds the parcel that the key of each row identifies. Looks up all parcels of a batch of rows in one query. Names of comuni are queried separately. */
import { findCity, parseQuery, type ComuneHit, type FindComune, type Names, type Reading } from '../address/parse-query.ts';
import { regionName } from '../contract/regions.ts';
import type { Ask, Cell, OutputColumn, AnswerRows } from './columns.ts';
import type { Key, Named } from './keys.ts';

/** Possible statuses of a row, each with its meaning. */
export const STATUSES = {
  found: 'one parcel',
  ambiguous: 'several parcels match equally well and the first is used. For a point, this is the smallest parcel; for a reference, the smallest fid; for an address, the best match',
  approximate: 'only the street or a nearby number of the address was found; no parcel is returned',
  not_found: 'no parcel matches, although the region is published',
  not_loaded: 'the row names a place in a region that is not published',
  gone: 'the parcel with this fid or reference was published earlier and no longer exists',
  invalid: 'the key of the row is not valid',
} as const;

export type Status = keyof typeof STATUSES;

/** Result of looking up a row's key. */
export interface Placed {
  readonly status: Status;
  /** Reason for the status, as text; null if the status alone explains the result. */
  readonly reason: string | null;
  /** Number of parcels (or, for the key `street`, of addresses) that match equally well. */
  readonly candidates: number;
  readonly fid: number | null;
  /** Values of the columns that `matchColumns` returns. */
  readonly match: readonly Cell[];
}

const MATCHED: readonly OutputColumn[] = [
  { name: 'match_type', type: 'text', description: 'Part of the address that matched: number, number_without_exponent, nearest_number or street; null: no match' },
  { name: 'match_score', type: 'float8', description: 'Similarity of the given address and the matched address, 0–1; null: no match' },
  { name: 'matched_address', type: 'text', description: 'Matched address; null: no match' },
  { name: 'matched_address_id', type: 'int8', description: 'PROGRESSIVO_ACCESSO of the matched address in ANNCSU; null: no match' },
  { name: 'matched_lat', type: 'float8', description: 'Latitude of the matched address, EPSG:4326; null: no match' },
  { name: 'matched_lng', type: 'float8', description: 'Longitude of the matched address, EPSG:4326; null: no match' },
];

/** Returns the output columns that exist only for some kinds of keys. */
export function matchColumns(key: Key): readonly OutputColumn[] {
  return key === 'street' ? MATCHED : [];
}

/** Returns the values of the columns of `matchColumns` for a row without a match. */
export function unmatched(key: Key): readonly Cell[] {
  return matchColumns(key).map(() => null);
}

/** Results for the rows of a batch, in the order of the rows. */
export interface Places {
  /** Texts that identify the publications from which the results come; empty if no query was needed. */
  readonly publications: readonly string[];
  readonly placed: readonly Placed[];
}

/** Returns a gazetteer for one run, which caches the results by name and combines the queries of many rows. */
export function gazetteerOf(ask: Ask): FindComune {
  return gathered(async (keys, names) => {
    const { hits } = await ask<{ hits: readonly ComuneHit[] }>('select hits from api.find_comunes($1, $2)', [keys, names === 'similar']);
    return hits;
  });
}

/** Number of cached names at which the cache is cleared. */
const REMEMBERED = 100_000;

function gathered(find: FindComune): FindComune {
  const known = new Map<string, Promise<readonly ComuneHit[]>>();
  const asked = new Map<Names, Promise<Map<string, ComuneHit[]>>>();
  const wanted = new Map<Names, Set<string>>();
  const soon = (names: Names): Promise<Map<string, ComuneHit[]>> => {
    let answer = asked.get(names);
    if (answer === undefined) {
      // Delays the query until all rows of the batch have added their names.
      answer = new Promise<void>((resolve) => void setImmediate(resolve)).then(async () => {
        const keys = [...wanted.get(names) ?? []];
        asked.delete(names);
        wanted.delete(names);
        const byKey = new Map<string, ComuneHit[]>();
        for (const hit of await find(keys, names)) byKey.set(hit.key, [...byKey.get(hit.key) ?? [], hit]);
        return byKey;
      });
      asked.set(names, answer);
      wanted.set(names, new Set());
    }
    return answer;
  };
  return async (keys, names) => {
    if (known.size > REMEMBERED) known.clear();
    const hits = keys.map((key) => {
      const name = `${names} ${key}`;
      let one = known.get(name);
      if (one === undefined) {
        const all = soon(names);
        wanted.get(names)?.add(key);
        known.set(name, one = all.then((byKey) => byKey.get(key) ?? []));
      }
      return one;
    });
    return (await Promise.all(hits)).flat();
  };
}

/** A row of the result of the SQL lookup functions. `place` is the number of the key, from 1. */
type Line = readonly [place: number, fid: number | null, candidates: number, region: number | null, ...more: readonly unknown[]];

/** Looks up the parcels of several keys of one kind. @param named keys of the kind `key` @throws MappaleError (kind `database`) */
export async function placesOf(ask: Ask, key: Key, named: readonly Named[], gazetteer: FindComune): Promise<Places> {
  if (named.length === 0) return { publications: [], placed: [] };
  const list = <T>(pick: (each: Named) => T): T[] => named.map(pick);
  switch (key) {
    case 'point':
      return answered(ask, named, 'select publication, answer from api.parcels_of_points($1, $2)', [
        list((each) => (each as Named & { key: 'point' }).lat), list((each) => (each as Named & { key: 'point' }).lng),
      ]);
    case 'fid': return answered(ask, named, 'select publication, answer from api.parcels_of_fids($1)', [list((each) => (each as Named & { key: 'fid' }).fid)]);
    case 'reference':
      return answered(ask, named, 'select publication, answer from api.parcels_of_references($1)', [list((each) => (each as Named & { key: 'reference' }).reference)]);
    case 'parcel': return placesOfLabels(ask, named as readonly (Named & { key: 'parcel' })[], gazetteer);
    case 'street': return placesOfAddresses(ask, named as readonly (Named & { key: 'street' })[], gazetteer);
  }
}

async function answered(
  ask: Ask, named: readonly Named[], statement: string, parameters: readonly unknown[], nothing: (index: number) => Placed = () => NOTHING,
): Promise<Places> {
  const { publication, answer } = await ask<AnswerRows>(statement, parameters);
  const placed: Placed[] = named.map((_, index) => nothing(index));
  for (const line of JSON.parse(answer ?? '[]') as Line[]) placed[line[0] - 1] = placedBy(line, placed[line[0] - 1] ?? NOTHING);
  return { publications: [publication], placed };
}

const NOTHING: Placed = { status: 'not_found', reason: null, candidates: 0, fid: null, match: [] };

function placedBy([, fid, candidates, region, ...more]: Line, otherwise: Placed): Placed {
  if (fid !== null) {
    const several = candidates > 1;
    return { status: several ? 'ambiguous' : 'found', reason: several ? `${candidates} parcels` : null, candidates, fid, match: [] };
  }
  const [retired, successor] = more;
  if (retired === true) {
    return { ...NOTHING, status: 'gone', reason: typeof successor === 'number' ? `its successor is ${successor}` : 'no successor is known' };
  }
  return region === null ? otherwise : { ...NOTHING, ...unpublished(region) };
}

/** Region code that the lookup functions return for a place outside all regions. */
const ABROAD = 0;

function unpublished(region: number): Pick<Placed, 'status' | 'reason'> {
  return { status: 'not_loaded', reason: region === ABROAD ? 'the place is outside all published regions' : `${regionName(region)} is not published` };
}

async function placesOfLabels(ask: Ask, named: readonly (Named & { key: 'parcel' })[], gazetteer: FindComune): Promise<Places> {
  const comuni = await Promise.all(named.map(({ comune }) => findCity(comune, gazetteer)));
  // Also looks up names that no comune has, because a comune catastale may have such a name.
  const asked = named.flatMap((each, index) => {
    const codes = comuni[index] ?? [];
    return (codes.length === 0 ? [null] : codes).map((belfiore) => ({ ...each, place: index + 1, belfiore }));
  });
  return answered(ask, named, 'select publication, answer from api.parcels_of_labels($1, $2, $3, $4, $5, $6)', [
    asked.map(({ place }) => place), asked.map(({ belfiore }) => belfiore), asked.map(({ comune }) => comune), asked.map(({ section }) => section),
    asked.map(({ sheet }) => sheet), asked.map(({ label }) => label),
  ], (index) => {
    const unknown = comuni[index]?.length === 0 && !/^\d{6}$/.test(named[index]?.comune ?? '');
    if (named[index]?.sheet !== null) return unknown ? { ...NOTHING, reason: 'no comune has this name' } : NOTHING;
    return { ...NOTHING, reason: 'foglio is empty, and no land register has the parcel' };
  });
}

/** Fields of a matched address that the output shows. */
interface FoundAddress {
  readonly match_type: string;
  readonly score: number;
  readonly formatted_address: string;
  readonly address_id: number;
  readonly latitude: number;
  readonly longitude: number;
}

async function placesOfAddresses(ask: Ask, named: readonly (Named & { key: 'street' })[], gazetteer: FindComune): Promise<Places> {
  const parsed = await Promise.all(named.map(({ query, city }) => parseQuery(query, city, gazetteer)));
  const readings: (readonly Reading[])[] = parsed.map(({ readings: all, contradiction }) => (contradiction === null ? all : []));
  const { publication, answer } = await ask<AnswerRows>('select publication, answer from api.parcels_of_queries($1)', [JSON.stringify(readings)]);
  const placed = parsed.map(({ contradiction, readings: all }): Placed => {
    const match = unmatched('street');
    if (contradiction !== null) return { ...NOTHING, status: 'invalid', reason: 'address and city name different comuni', match };
    return { ...NOTHING, reason: all.length === 0 ? 'the address contains no street' : null, match };
  });
  for (const [place, fid, candidates, region, address] of JSON.parse(answer ?? '[]') as Line[]) {
    placed[place - 1] = region === null ? addressed(fid, candidates, address as FoundAddress) : { ...NOTHING, ...unpublished(region), match: unmatched('street') };
  }
  return { publications: [publication], placed };
}

function addressed(fid: number | null, candidates: number, address: FoundAddress): Placed {
  const { match_type: type, score, formatted_address: text, address_id: id, latitude, longitude } = address;
  const match = [type, score, text, id, latitude, longitude];
  if (type === 'nearest_number' || type === 'street') return { status: 'approximate', reason: null, candidates, fid: null, match };
  if (candidates > 1) return { status: 'ambiguous', reason: `${candidates} places`, candidates, fid, match };
  if (fid === null) return { status: 'not_found', reason: 'the address was found, but there is no parcel within 15 m', candidates: 0, fid, match };
  return { status: 'found', reason: null, candidates, fid, match };
}
