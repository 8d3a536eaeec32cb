/** Recognises the publisher's files by the content of the first document, at any depth of nested zips. */
import { constants, inflateRawSync } from 'node:zlib';
import { isDay } from '../../pipelines/readers/iso-date.ts';
import { newestEntry, stemOf } from '../../pipelines/readers/packaging.ts';
import { findRegion } from '../../pipelines/contract/regions.ts';
import { MappaleError, type Probe, type Recognition } from '../../pipelines/contract/source.ts';
import { regionOfSigla } from './provinces.ts';

const LOCAL_HEADER = 0x04034b50;
/** Maximum size in bytes to which the start of an entry is inflated. If the start inflates to more bytes, the zip is opened instead. */
const HEAD_INFLATED_BYTES = 8 * 1024 * 1024;
/** Maximum number of inspected entries. If none of these entries is from the cadastre, the zip is left to other sources. */
const TRIED = 3;

/** Vintage of a file without a date. */
const UNDATED = '0000-00-00';

/** Role of a file, indexed by the number of zips around its first document. */
const ROLES = ['gml', 'comune', 'provincia', 'regione', 'italia'] as const;

export async function recognise(probe: Probe): Promise<Recognition | null> {
  if (probe.entries === null) {
    if (!isOurs(probe.head)) return null;
    return { role: 'gml', vintage: dayOfDocument(probe.head) ?? UNDATED, region: null, complete: false };
  }
  const inside = probe.entries.filter(({ path, isFolder }) => !isFolder && /\.(zip|gml)$/i.test(path));
  for (const entry of inside.slice(0, TRIED)) {
    const depth = await depthOf(probe, entry.path, await probe.headOf(entry.path), ROLES.length);
    if (depth === null) continue;
    const role = ROLES[depth];
    if (role === undefined) return null;
    const vintage = newestEntry(inside) ?? (await dayInside(probe, entry.path)) ?? UNDATED;
    return { role, vintage, region: regionOf(role, probe.name, inside.map(({ path }) => stemOf(path))), complete: isWhole(role, probe.name) };
  }
  return null;
}

/** Returns the day on which the publisher's server wrote a document, or null. */
function dayOfDocument(head: Buffer): string | null {
  const day = /\stimeStamp=["'](\d{4}-\d{2}-\d{2})/.exec(head.toString('latin1'))?.[1];
  return day !== undefined && isDay(day) ? day : null;
}

/** Returns the date of an entry whose zip has no dates, because another program made the zip. @param path path of a document or of an inner zip */
async function dayInside(probe: Probe, path: string): Promise<string | null> {
  if (/\.gml$/i.test(path)) return dayOfDocument(await probe.headOf(path));
  const inside = (await probe.entriesOf(path)).filter((entry) => !entry.isFolder && /\.(zip|gml)$/i.test(entry.path));
  const [first] = inside;
  return newestEntry(inside) ?? (first === undefined ? null : dayInside(probe, `${path}/${first.path}`));
}

/**
 * Returns whether a file is complete: the zip of a region or of Italy, with the publisher's name, such as `MOLISE.zip` or `ITALIA.zip`. A zip of provinces with
 * a different name may contain only some provinces.
 */
function isWhole(role: (typeof ROLES)[number], name: string): boolean {
  return role === 'regione' ? findRegion(stemOf(name)) !== undefined : role === 'italia' && /^italia$/i.test(stemOf(name));
}

function regionOf(role: (typeof ROLES)[number], name: string, inside: readonly string[]): number | null {
  if (role === 'provincia') return regionOfSigla(stemOf(name)) ?? null;
  if (role !== 'regione') return null;
  const named = findRegion(stemOf(name));
  if (named !== undefined) return named.code;
  const regions = new Set(inside.map(regionOfSigla));
  const [only] = regions;
  return regions.size === 1 && only !== undefined ? only : null;
}

/**
 * Returns the number of zips around the first document, or null if the document is not from the cadastre. A zip starts with its first entry, so the
 * first bytes contain the start of all nested levels. A zip that does not start with an entry must be opened.
 * @param path path inside the probed zip
 * @param levels maximum number of levels to inspect, because a zip may contain itself
 */
async function depthOf(probe: Probe, path: string, head: Buffer, levels: number): Promise<number | null> {
  if (levels === 0) return null;
  if (/\.gml$/i.test(path)) return isOurs(head) ? 1 : null;
  const first = firstEntry(head) ?? (await firstListed(probe, path));
  if (first === null) return null;
  const depth = await depthOf(probe, `${path}/${first.path}`, first.head, levels - 1);
  return depth === null ? null : depth + 1;
}

/** Returns the first document or zip in the central directory of a zip, or null if there is none or if the file is not a zip. */
async function firstListed(probe: Probe, path: string): Promise<{ path: string; head: Buffer } | null> {
  try {
    const first = (await probe.entriesOf(path)).find((entry) => !entry.isFolder && /\.(zip|gml)$/i.test(entry.path));
    return first === undefined ? null : { path: first.path, head: await probe.headOf(`${path}/${first.path}`) };
  } catch (error) {
    // The file is named like a zip but is not a zip, so the file is not from the cadastre.
    if (error instanceof MappaleError && error.kind === 'input') return null;
    throw error;
  }
}

/** Returns the path and the start of the first file in the zip that starts with the given bytes, or null if the file cannot be read from these bytes. */
function firstEntry(zip: Buffer): { path: string; head: Buffer } | null {
  let at = 0;
  while (at + 30 <= zip.length && zip.readUInt32LE(at) === LOCAL_HEADER) {
    const method = zip.readUInt16LE(at + 8);
    const data = at + 30 + zip.readUInt16LE(at + 26) + zip.readUInt16LE(at + 28);
    const path = zip.toString('utf8', at + 30, at + 30 + zip.readUInt16LE(at + 26));
    if (path.endsWith('/')) {
      at = data;
      continue;
    }
    const bytes = zip.subarray(data);
    if (method === 0) return { path, head: bytes };
    if (method !== 8) return null;
    try {
      return { path, head: inflateRawSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: HEAD_INFLATED_BYTES }) };
    } catch {
      return null;
    }
  }
  return null;
}

/** Returns whether the bytes are the start of a MapServer WFS collection of parcels or sheets. The collection may be empty. */
function isOurs(head: Buffer): boolean {
  const text = head.toString('latin1');
  if (!/<(?:\w+:)?FeatureCollection\s/.test(text) || !text.includes('http://mapserver.gis.umn.edu/mapserver') || !text.includes('http://www.opengis.net/wfs/2.0')) return false;
  return /<(?:\w+:)?Cadastral(?:Parcel|Zoning)[\s>]/.test(text) || /TYPENAMES?=(?:\w+:)?Cadastral(?:Parcel|Zoning)\b/i.test(text);
}
