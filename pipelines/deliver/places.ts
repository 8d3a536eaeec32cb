/** Parcels of what rows name, a batch at a time: each kind of key is one question to the database. */
import { findCity, parseQuery, type ComuneHit, type FindComune, type Names, type Reading } from '../address/parse-query.ts';
import { unitName } from '../contract/regions.ts';
import type { Ask, Cell, OutputColumn, AnswerRows } from './columns.ts';
import type { Key, Named } from './keys.ts';

/** How a row ended. */
export const STATUSES = {
  found: 'one parcel',
  ambiguous: 'several are as good; the first is given: at a point the smallest, of a reference that of the smallest fid, of an address the best',
  approximate: 'of an address only the street or a number nearby was found: no parcel is given',
  not_found: 'none, where parcels are published',
  not_loaded: 'the place is in a region that is not published',
  gone: 'the fid was published once, and is no longer',
  invalid: 'the row names no place',
} as const;

export type Status = keyof typeof STATUSES;

/** Result of looking up a row's key. */
export interface Placed {
  readonly status: Status;
  /** For people; null: the status says it all. */
  readonly reason: string | null;
  /** Parcels that are as good. */
  readonly candidates: number;
  readonly fid: number | null;
  /** Cells of `matchColumns`. */
  readonly match: readonly Cell[];
}

const MATCHED: readonly OutputColumn[] = [
  { name: 'match_type', type: 'text', description: 'Matched part of the address: number, number_without_exponent, nearest_number or street; null: nothing' },
  { name: 'match_score', type: 'float8', description: 'How much of the address agrees, 0–1; null: nothing was found' },
  { name: 'matched_address', type: 'text', description: 'The address that was found; null: none' },
  { name: 'matched_address_id', type: 'int8', description: 'PROGRESSIVO_ACCESSO of ANNCSU; null: none was found' },
  { name: 'matched_lat', type: 'float8', description: 'Latitude of the access, EPSG:4326; null: none was found' },
  { name: 'matched_lng', type: 'float8', description: 'Longitude of the access, EPSG:4326; null: none was found' },
];

/** Columns that a kind of key has of its own. */
export function matchColumns(key: Key): readonly OutputColumn[] {
  return key === 'street' ? MATCHED : [];
}

/** @returns cells of `matchColumns` where nothing was found */
export function unmatched(key: Key): readonly Cell[] {
  return matchColumns(key).map(() => null);
}

/** Rows of a batch, in their order. */
export interface Places {
  /** The publications that they were found in; empty: nothing was asked. */
  readonly publications: readonly string[];
  readonly placed: readonly Placed[];
}

/** The gazetteer of one run: what many rows ask is asked once, and together. */
export function gazetteerOf(ask: Ask): FindComune {
  return gathered(async (keys, names) => {
    const { hits } = await ask<{ hits: readonly ComuneHit[] }>('select hits from api.find_comunes($1, $2)', [keys, names === 'similar']);
    return hits;
  });
}

/** Names that are kept; beyond these all are asked again. */
const REMEMBERED = 100_000;

function gathered(find: FindComune): FindComune {
  const known = new Map<string, Promise<readonly ComuneHit[]>>();
  const asked = new Map<Names, Promise<Map<string, ComuneHit[]>>>();
  const wanted = new Map<Names, Set<string>>();
  const soon = (names: Names): Promise<Map<string, ComuneHit[]>> => {
    let answer = asked.get(names);
    if (answer === undefined) {
      // All rows of a batch are read up to their next question before it goes out.
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

/** Row of the lookup functions' result. */
type Line = readonly [place: number, fid: number | null, candidates: number, region: number | null, ...more: readonly unknown[]];

/**
 * @param named all of one kind of key
 * @throws MappaleError (kind `database`)
 */
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

/** Replaces a region's code where the region is unknown. */
const ABROAD = 0;

function unpublished(region: number): Pick<Placed, 'status' | 'reason'> {
  return { status: 'not_loaded', reason: region === ABROAD ? 'it is in no published region' : `${unitName(region)} is not published` };
}

async function placesOfLabels(ask: Ask, named: readonly (Named & { key: 'parcel' })[], gazetteer: FindComune): Promise<Places> {
  const comuni = await Promise.all(named.map(({ comune }) => findCity(comune, gazetteer)));
  // A comune catastale may have a name that no comune bears.
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

/** Fields of an address that are shown with its parcel. */
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
    return { ...NOTHING, reason: all.length === 0 ? 'no street is named' : null, match };
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
  if (fid === null) return { status: 'not_found', reason: 'the address is known, and no parcel within 15 m has it', candidates: 0, fid, match };
  return { status: 'found', reason: null, candidates, fid, match };
}
