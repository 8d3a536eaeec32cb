/** Reads findings about the addresses of a comune, with which the comune can correct its register. */
import { FINDING_KINDS, type FindingKind } from '../contract/schemas.ts';
import { csvLine, guardedCells } from '../deliver/table.ts';
import type { Database } from '../db/index.ts';
import { statementsOf } from '../db/statements.ts';

const statement = statementsOf('findings');

const COLUMNS = ['kind', 'address_id', 'street', 'number', 'value', 'unit', 'lat', 'lng', 'other_id'] as const;

export interface Finding extends Record<(typeof COLUMNS)[number], string | number | null> {
  readonly kind: FindingKind;
  /** Null if the finding is about a street. */
  readonly address_id: number | null;
  readonly street: string | null;
  /** Null if the finding is about a street. */
  readonly number: string | null;
  readonly value: number | null;
  readonly unit: string | null;
  /** Latitude in degrees (EPSG:4326); null if the address has no point, or if the finding is about a street. */
  readonly lat: number | null;
  readonly lng: number | null;
  /** Id of the other address of the finding; for `no_numbers`, id of the street. */
  readonly other_id: number | null;
}

/** Number of findings of one kind. The kind `outside` has one number per class of distances. */
export interface FindingCount {
  readonly kind: FindingKind;
  readonly from_m: number | null;
  readonly below_m: number | null;
  /** Number of findings; null if a necessary file is not loaded. */
  readonly count: number | null;
}

export interface AddressRegister {
  /** Number of published addresses of the comune; null if no address file is loaded for the comune. */
  readonly addresses: number | null;
  /** Earlier address file; null if there is none. Without an earlier file, the findings `moved`, `new` and `missing` are unknown. */
  readonly compared_with: { readonly file: string; readonly vintage: string } | null;
  readonly findings: readonly FindingCount[];
}

interface Counted extends Record<string, unknown> {
  readonly belfiore: string;
  readonly answer: AddressRegister;
}

/** Counts the findings of comuni. @param comuni cadastral codes of comuni in the region @returns a function that returns the counts of a comune by its code */
export async function countFindings(database: Database, region: number, comuni: readonly string[]): Promise<(comune: string) => AddressRegister> {
  const counted = new Map((await database.query<Counted>(statement('counts'), [region, comuni])).map(({ belfiore, answer }) => [belfiore, answer]));
  return (comune) => {
    const register = counted.get(comune);
    if (register === undefined) throw new Error(`api.address_quality has no row for ${comune}`);
    return register;
  };
}

export function listFindings(database: Database, region: number, comune: string): Promise<Finding[]> {
  return database.query<Finding & Record<string, unknown>>(statement('list'), [region, comune, FINDING_KINDS]);
}

/** Returns a sentence with the reason for each group of unknown findings. */
export function unknownFindings({ addresses, compared_with: earlier, findings }: AddressRegister): string[] {
  if (addresses === null) return ['no file of addresses is loaded for this comune, so nothing is known about its addresses'];
  return [
    ...(findings.some(({ kind, count }) => kind === 'outside' && count === null) ? ['no boundary of this comune is loaded, so addresses outside the comune are unknown'] : []),
    ...(earlier === null ? ['the database has no earlier file of addresses of this comune, so moved, new and missing addresses are unknown'] : []),
  ];
}

/** Returns findings as CSV. An apostrophe is added before text that a spreadsheet program would evaluate as a formula. */
export function findingsCsv(findings: readonly Finding[]): string {
  return [COLUMNS, ...findings.map((finding) => guardedCells(COLUMNS.map((column) => finding[column]), 0))].map((cells) => csvLine(cells, ',')).join('');
}

/** Returns findings as a GeoJSON FeatureCollection in CRS84. `unknown` lists the findings that the database cannot determine. */
export function findingsGeojson(findings: readonly Finding[], unknown: readonly string[]): string {
  const features = findings.map(({ lat, lng, ...properties }) => ({
    type: 'Feature', geometry: lat === null || lng === null ? null : { type: 'Point', coordinates: [lng, lat] }, properties,
  }));
  return `${JSON.stringify({ type: 'FeatureCollection', features, unknown })}\n`;
}
