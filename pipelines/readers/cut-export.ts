/**
 * Exports of a web service that may lack features. WFS and ArcGIS servers answer page by page, and a page that is full looks like a whole answer: so an
 * export of exactly a usual page limit, and one that states more features than it has, may be cut. It is loaded, and supersedes nothing.
 */
import { bytesAt } from '../formats/shapefile.ts';
import type { LocatedFile } from '../contract/survey.ts';

/** Features that servers answer at most, as they are usually set. */
const PAGE_LIMITS: readonly number[] = [1_000, 2_000, 5_000, 10_000];
/** Bytes at either end of a file in which a server's own counts are looked for. */
const EDGE_BYTES = 65_536;
const JSON_EXPORT = /\.(?:geojson|json)$/i;
const XML_EXPORT = /\.(?:gml|xml)$/i;

/** Can a file of this name come from a web service? */
export function mayBeExport(name: string): boolean {
  return JSON_EXPORT.test(name) || XML_EXPORT.test(name);
}

/** A part of a file, and how many records it holds. */
export interface ReadMember {
  /** Path inside of the file; empty: the file itself. */
  readonly path: string;
  readonly records: number;
}

/**
 * Says why a file that was read may be a cut export.
 * @param members all that was read of it
 * @returns expected … found …; null: nothing tells that it is cut
 */
export async function whyCut(file: Pick<LocatedFile, 'path' | 'name' | 'size'>, members: readonly ReadMember[]): Promise<string | null> {
  // A publisher's own zip has one GML for each of many comuni, and a comune may have any number of features.
  const exported = members.filter(({ path }) => JSON_EXPORT.test(path || file.name) || (XML_EXPORT.test(path || file.name) && members.length === 1));
  const full = exported.find(({ records }) => PAGE_LIMITS.includes(records));
  if (full !== undefined) return `expected the end of the list, found exactly ${full.records} features${full.path === '' ? '' : ` in ${full.path}`}, as many as a page of a service has`;
  const [plain] = exported;
  if (plain === undefined || plain.path !== '') return null;
  const stated = await statedMatches(file);
  return stated !== null && stated > plain.records ? `expected ${stated} features, as the file states, found ${plain.records}` : null;
}

/** Features that the server had for the answer, by its own count: WFS 2.0 `numberMatched`, GeoServer's `totalFeatures`. */
async function statedMatches({ path, size }: Pick<LocatedFile, 'path' | 'size'>): Promise<number | null> {
  const count = Math.min(size, EDGE_BYTES);
  const edges = await Promise.all([bytesAt(path, 0, count), bytesAt(path, size - count, count)]);
  const found = edges.flatMap((bytes) => [...bytes.toString('latin1').matchAll(/\b(?:numberMatched|totalFeatures)"?\s*[=:]\s*"?(\d+)/g)]);
  return found.length === 0 ? null : Math.max(...found.map(([, matched]) => Number(matched)));
}
