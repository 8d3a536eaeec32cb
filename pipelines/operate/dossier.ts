/** Reads all data for the dossier of a parcel from one publication. */
import { SECTION_NAMES } from '../contract/sections.ts';
import { one, type Database } from '../db/index.ts';
import { statementsOf } from '../db/statements.ts';

const statement = statementsOf('dossier');

/** Maximum numbers of neighbours in the list and of parcels on the map. */
const [NEIGHBOURS, DRAWN] = [50, 500];

/** Margin of the map around the parcel, as a share of the longer side of the parcel's bounding box. The margin is at least `least_deg` degrees (about 30 m). */
const MARGIN = { share: 0.6, least_deg: 0.0003 } as const;

type Position = readonly [lng: number, lat: number];

export interface Shape {
  readonly type: 'Polygon' | 'MultiPolygon';
  readonly coordinates: readonly (readonly Position[])[] | readonly (readonly (readonly Position[])[])[];
}

interface License {
  readonly section: string;
  readonly source: string;
  readonly license: string;
  readonly url: string;
  readonly attribution: string;
  readonly reference_period: string | null;
}

/** Label of a parcel, and a point inside the parcel. */
export interface Labelled {
  readonly label: string;
  readonly centroid: { readonly lat: number; readonly lng: number };
}

export interface ParcelRecord extends Readonly<Record<string, unknown>> {
  readonly fid: number;
  readonly municipality: { readonly code: string; readonly name: string | null; readonly province: string | null; readonly region: string | null };
  readonly basic: Labelled & {
    readonly cadastral_reference: string;
    readonly cadastral: { readonly sheet: string | null };
    readonly geometry: Shape;
  };
  readonly meta: {
    readonly sections_included: readonly string[];
    readonly coverage: Readonly<Record<string, string>>;
    readonly licenses: readonly License[];
  };
}

interface Neighbour {
  readonly fid: number;
  readonly label: string;
  readonly cadastral_reference: string;
  readonly area_m2: number;
  readonly kind: string;
  /** Length of the shared border in metres. */
  readonly shared_m: number;
}

interface NearParcels {
  readonly data: readonly Neighbour[];
  readonly meta: { readonly truncated: boolean };
}

interface Around {
  readonly id: number;
  readonly geometry: Shape;
  readonly properties: Labelled;
}

export interface Dossier {
  readonly record: ParcelRecord;
  /** Time of the publication in UTC. */
  readonly published_at: string;
  readonly neighbours: readonly Neighbour[];
  /** True if the parcel has more neighbours than the list contains. */
  readonly has_more_neighbours: boolean;
  /** Bounding box of the map in degrees (EPSG:4326): west, south, east, north. */
  readonly box: readonly [number, number, number, number];
  /** Parcels on the map, including the parcel of the dossier. */
  readonly around: readonly Around[];
}

/** Returns all rings of a polygon or multipolygon. */
export function ringsOf({ type, coordinates }: Shape): (readonly Position[])[] {
  return type === 'Polygon' ? [...coordinates as readonly (readonly Position[])[]] : (coordinates as readonly (readonly (readonly Position[])[])[]).flat();
}

function boxAround(shape: Shape): Dossier['box'] {
  const positions = ringsOf(shape).flat();
  const [lngs, lats] = [positions.map(([lng]) => lng), positions.map(([, lat]) => lat)];
  const least = (values: readonly number[]): number => values.reduce((a, b) => Math.min(a, b), Infinity);
  const most = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b), -Infinity);
  const [west, south, east, north] = [least(lngs), least(lats), most(lngs), most(lats)];
  const margin = Math.max(MARGIN.least_deg, MARGIN.share * Math.max(east - west, north - south));
  return [west - margin, south - margin, east + margin, north + margin];
}

/** Reads the dossier of a parcel. @returns null if no published parcel has the fid */
export async function readDossier(database: Database, fid: number): Promise<Dossier | null> {
  return database.session((session) => session.transaction(async () => {
    await session.query(statement('hold'));
    const found = await one<{ record: ParcelRecord | null; published_at: string | null }>(session, statement('record'), [fid, SECTION_NAMES]);
    const { record, published_at: publishedAt } = found;
    if (record === null || publishedAt === null) return null;
    const box = boxAround(record.basic.geometry);
    const near = await one<{ answer: NearParcels }>(session, statement('neighbours'), [fid, NEIGHBOURS]);
    const around = await one<{ answer: { features: readonly Around[] } }>(session, statement('around'), [...box, DRAWN]);
    const { data: neighbours, meta } = near.answer;
    return { record, published_at: publishedAt, neighbours, has_more_neighbours: meta.truncated, box, around: around.answer.features };
  }));
}
