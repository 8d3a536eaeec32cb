/**
 * Detects exports of a web service that may be incomplete. WFS and ArcGIS servers return features page by page, and a full page looks like a complete response.
 * An export may be incomplete if the number of features is a usual page size. The same applies if the number is smaller than the server's count in the file.
 * Such an export is loaded, but supersedes no other file.
 */
import { bytesAt } from '../formats/shapefile.ts';
import type { LocatedFile } from '../contract/survey.ts';

/** Usual page sizes: maximum numbers of features in a server's response. */
const PAGE_LIMITS: readonly number[] = [1_000, 2_000, 5_000, 10_000];
/** Number of bytes at the start and at the end of a file to search for the server's count. */
const EDGE_BYTES = 65_536;
const JSON_EXPORT = /\.(?:geojson|json)$/i;
const XML_EXPORT = /\.(?:gml|xml)$/i;

/** Returns whether a file with this name may be an export of a web service. */
export function mayBeExport(name: string): boolean {
  return JSON_EXPORT.test(name) || XML_EXPORT.test(name);
}

/** Path and number of records of a member. */
export interface ReadMember {
  /** Path inside the file; empty for the file itself. */
  readonly path: string;
  readonly records: number;
}

/**
 * Returns the reason why a file may be an incomplete export. @param members all members of the file @returns `expected … found …`, or null if the export looks
 * complete
 */
export async function whyCut(file: Pick<LocatedFile, 'path' | 'name' | 'size'>, members: readonly ReadMember[]): Promise<string | null> {
  // Does not check several GML files in a zip, because the publisher's zips have one GML per comune with any number of features.
  const exported = members.filter(({ path }) => JSON_EXPORT.test(path || file.name) || (XML_EXPORT.test(path || file.name) && members.length === 1));
  const full = exported.find(({ records }) => PAGE_LIMITS.includes(records));
  if (full !== undefined) return `expected the end of the list, found exactly ${full.records} features${full.path === '' ? '' : ` in ${full.path}`}, a usual page size of web services`;
  const [plain] = exported;
  if (plain === undefined || plain.path !== '') return null;
  const stated = await statedMatches(file);
  return stated !== null && stated > plain.records ? `expected ${stated} features (the server's count in the file), found ${plain.records}` : null;
}

/** Returns the server's count of matching features in a file: WFS 2.0 `numberMatched`, or GeoServer's `totalFeatures`. Null if the file contains neither. */
async function statedMatches({ path, size }: Pick<LocatedFile, 'path' | 'size'>): Promise<number | null> {
  const count = Math.min(size, EDGE_BYTES);
  const edges = await Promise.all([bytesAt(path, 0, count), bytesAt(path, size - count, count)]);
  const found = edges.flatMap((bytes) => [...bytes.toString('latin1').matchAll(/\b(?:numberMatched|totalFeatures)"?\s*[=:]\s*"?(\d+)/g)]);
  return found.length === 0 ? null : Math.max(...found.map(([, matched]) => Number(matched)));
}
