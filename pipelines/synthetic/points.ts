/**
 * Generates schools, pharmacies, fuel stations and places of culture of the synthetic region, with correct or incorrect published data. Every point with a
 * known position is at an access of the synthetic address file. Therefore the point's parcel is known, and the street and number of the access identify the
 * same place.
 */
import { accessesOf, type Access } from './access-points.ts';
import { itemAt } from './items.ts';
import type { LonLat, SyntheticComune, SyntheticParcel, SyntheticRegion } from './region.ts';

type PointKind = 'school' | 'pharmacy' | 'fuel' | 'culture';

export interface SyntheticPoint {
  /** Number of the point among the comune's points of the same kind, from 0. */
  readonly nth: number;
  readonly comune: SyntheticComune;
  /** Published street in capitals; empty if the publisher gives no street. */
  readonly street: string;
  /** Published house number, such as `12` or `12/A`; empty if the publisher gives no number. */
  readonly number: string;
  /** Published coordinates, which may be implausible; null if the publisher gives no coordinates. */
  readonly reported: LonLat | null;
  /**
   * True position and parcel, and distance in metres between the two; null if no published data gives the position. `byStreet` is true if the position follows
   * from street and number.
   */
  readonly placed: { readonly byStreet: boolean; readonly at: LonLat; readonly parcel: number; readonly distance: number } | null;
  /** Reason why no published data gives the position; null if the position is known. */
  readonly reason: 'swapped' | 'zero' | 'elsewhere' | 'ambiguous' | 'not_found' | 'no_number' | null;
}

/** Number of parcels per point in Italy. Italy has 87 million parcels, 55,000 schools, 20,700 pharmacies, 24,000 fuel stations and 59,000 places of culture. */
const PARCELS_PER_POINT: Readonly<Record<PointKind, number>> = { school: 1600, pharmacy: 4200, fuel: 3600, culture: 1500 };
/** Approximate minimum number of points of each kind, so that tests of small regions are meaningful. There is at most one such point per four parcels. */
const AT_LEAST: Readonly<Record<PointKind, number>> = { school: 100, pharmacy: 50, fuel: 55, culture: 190 };
/** Minimum number of parcels in a region that contains a parcel with many points. */
const CROWDED_FROM = 1_000;
/** Number of additional points at one place in the first comune, by kind. The number exceeds the maximum number of points in a parcel record. */
const CROWD: Readonly<Partial<Record<PointKind, number>>> = { fuel: 52, culture: 22 };

/** Returns the accesses of a comune that have a position, a parcel, and a street and number that are unique in the comune. */
function usable(region: SyntheticRegion, comune: SyntheticComune): { access: Access; point: LonLat; parcel: number; distance: number }[] {
  const { accesses, owners } = accessesOf(region, comune);
  // Also leaves out streets that differ only in the locality, a street with two names, and a street whose name was encoded twice.
  const numbered = accesses.filter(({ civico, specificita, snc, point, street }) => (
    civico !== '' && specificita === '' && snc === '' && point !== null && !/FORNACE|MUSEO|\u00c3/.test(street.odonimo)
  ));
  const keyOf = ({ street, civico, esponente }: Access): string => `${street.odonimo} ${civico}/${esponente}`;
  const times = new Map<string, number>();
  for (const access of numbered) times.set(keyOf(access), (times.get(keyOf(access)) ?? 0) + 1);
  return numbered.flatMap((access) => {
    const owner = owners.get(access.key);
    return access.point === null || owner === undefined || times.get(keyOf(access)) !== 1 ? [] : [{ access, point: access.point, ...owner }];
  });
}

/** Returns the points of a kind in a comune: valid points, followed by points with missing or faulty data, such as swapped coordinates. */
export function pointsOf(region: SyntheticRegion, comune: SyntheticComune, kind: PointKind): SyntheticPoint[] {
  const random = region.random('points', kind, comune.belfiore);
  const places = usable(region, comune);
  const points: SyntheticPoint[] = [];
  if (places.length === 0) return points;
  const perPoint = Math.min(PARCELS_PER_POINT[kind], Math.max(4, region.parcelCount / AT_LEAST[kind]));
  const add = (point: Omit<SyntheticPoint, 'nth' | 'comune'>): void => void points.push({ nth: points.length, comune, ...point });
  const numberOf = ({ civico, esponente }: Access): string => (esponente === '' ? civico : `${civico}/${esponente}`);
  /** Adds a point whose position follows from correct coordinates, or otherwise from street and number. */
  const good = ({ access, point, parcel, distance }: (typeof places)[number], reported: LonLat | null): void =>
    add({
      street: access.street.odonimo, number: numberOf(access), reported, placed: { byStreet: reported !== point, at: point, parcel, distance }, reason: null,
    });
  const count = Math.max(1, Math.round(comune.parcelCount / perPoint));
  for (let i = 0; i < count; i += 1) {
    const place = itemAt(places, random.below(places.length));
    good(place, kind === 'school' || (kind === 'culture' && i % 4 < 3) ? null : place.point);
  }
  const [first] = places;
  const crowd = comune.index === 0 && region.parcelCount >= CROWDED_FROM ? CROWD[kind] ?? 0 : 0;
  if (first !== undefined) for (let i = 0; i < crowd; i += 1) good(first, first.point);

  const place = itemAt(places, random.below(places.length));
  const nowhere = { placed: null, number: '9999', street: 'VIA ROMA' };
  const [lon, lat] = place.point;
  if (kind !== 'pharmacy') {
    add({ ...nowhere, reported: null, street: '', number: '', reason: 'no_number' });
    add({ ...nowhere, reported: null, number: '', reason: 'no_number' });
    add({ ...nowhere, reported: null, reason: 'not_found' });
  }
  if (kind === 'school' || kind === 'fuel') {
    // Two streets have the name CONTRADA FORNACE, and the access with the number 202 has no plausible position.
    add({ ...nowhere, reported: null, street: 'CONTRADA FORNACE', number: '109', reason: 'ambiguous' });
    add({ ...nowhere, reported: null, number: '202', reason: 'not_found' });
  }
  if (kind !== 'school') {
    good(place, null);
    good(place, [0, 0]);
    good(place, [lat, lon]);
    good(place, [lon + 1, lat]);
    add({ ...nowhere, reported: [lat, lon], reason: 'swapped' });
    add({ ...nowhere, reported: [0, 0], reason: 'zero' });
    add({ ...nowhere, reported: [lon + 1, lat], reason: 'elsewhere' });
  }
  return points;
}

/**
 * Returns a function that returns the true points of a parcel, in the order of the published file. `answer` converts a point to the form in a parcel record.
 */
export function pointsByParcel<T>(
  region: SyntheticRegion, kind: PointKind, answer: (point: SyntheticPoint, placed: NonNullable<SyntheticPoint['placed']>) => T,
): (parcel: SyntheticParcel) => readonly T[] {
  let current: { readonly comune: SyntheticComune; readonly byParcel: ReadonlyMap<number, readonly T[]> } | null = null;
  return ({ comune, index }) => {
    if (current?.comune !== comune) {
      const byParcel = new Map<number, T[]>();
      for (const point of pointsOf(region, comune, kind)) {
        if (point.placed !== null) byParcel.set(point.placed.parcel, [...(byParcel.get(point.placed.parcel) ?? []), answer(point, point.placed)]);
      }
      current = { comune, byParcel };
    }
    return current.byParcel.get(index) ?? [];
  };
}

/**
 * Returns a number that is unique among the points of a kind. The number consists of the comune's number, counted from 1, and three digits for the point. Zeros
 * pad the number to `digits` digits.
 */
export function serialOf({ comune, nth }: SyntheticPoint, digits: number): string {
  return String((comune.index + 1) * 1000 + nth).padStart(digits, '0');
}

/** Rounds coordinates to seven decimals, as in parcel records. */
export function coordinatesOf([lon, lat]: LonLat): { readonly lat: number; readonly lng: number } {
  const round = (degrees: number): number => Math.round(degrees * 1e7) / 1e7;
  return { lat: round(lat), lng: round(lon) };
}
