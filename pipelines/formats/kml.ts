/**
 * Streams the placemarks of a KML file, with one placemark in memory at a time. The reader accepts bare ampersands, and replaces control characters, although
 * XML allows neither. The reader keeps holes (`innerBoundaryIs`) and all parts of a `MultiGeometry`.
 */
import { ElementReader, type Element, type FoundElement } from './elements.ts';
import { readPoints } from './kml-points.ts';
import { viewOf } from './wkb.ts';

/** Coordinates of a ring in degrees (EPSG:4326): longitude, latitude, longitude, latitude, … */
export type Ring = readonly number[];

export interface Part {
  /** Rings of the polygon; the outer ring is first. */
  readonly rings: readonly Ring[];
  /** Reason why the polygon cannot be used, as `code: expected … found …`; null for a usable polygon. */
  readonly fault: string | null;
  /** Holes without area, which are not in `rings`. */
  readonly refusedHoles: readonly { readonly fault: string; readonly raw: string }[];
  /** Text of the `<Polygon>` element, with bare ampersands and control characters replaced. */
  readonly raw: string;
}

export interface Placemark {
  /** Number of the placemark in the file, from 1. */
  readonly number: number;
  readonly name: string;
  readonly description: string;
  /** Names of the fields in `ExtendedData`, in file order, including repeated names. */
  readonly names: readonly string[];
  /** Values of the fields in `ExtendedData`, by name, such as `CODCOM`, `CODZONA` and `LINKZONA`. */
  readonly data: ReadonlyMap<string, string>;
  readonly parts: readonly Part[];
  /** First fault inside the placemark, such as malformed XML or an excessive length; null if there is no fault. */
  readonly fault: string | null;
  /** Text of the whole `<Placemark>` element, with bare ampersands and control characters replaced. Contains only the start of an element that is too long. */
  readonly raw: string;
}

interface KmlHandler {
  placemark(placemark: Placemark): void;
  /**
   * Called for an XML fault outside placemarks, for a text or nesting that exceeds a limit, or for an early end of the document. The rest of the document is
   * then unusable.
   */
  broken(message: string): void;
}

/** Matches an ampersand that is not the start of an entity (`SANT&ANTONIO`). An XML parser would read such text as an entity up to the next semicolon. */
const BARE_AMPERSAND = /&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});)/g;
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
/** Maximum length of a placemark in characters, sufficient for a million positions. The longest published zones have some ten thousand positions. */
export const PLACEMARK_CHARS = 32 * 1024 * 1024;
/** Maximum length in characters of a tag or entity that is split between two chunks. */
const MAX_TAG_CHARS = 4096;
/** Maximum lengths of a placemark and of a text in characters. */
const MOST = { text: PLACEMARK_CHARS, element: PLACEMARK_CHARS };

export class KmlReader {
  readonly #reader: ElementReader;
  /** Unparsed text at the end of the last chunk: an incomplete tag or entity. */
  #rest = '';
  /** Number of placemarks so far. Each placemark is a record. */
  placemarks = 0;
  /** Number of links to other files so far. Only the index of a provincial KMZ has links. */
  networkLinks = 0;

  constructor(handler: KmlHandler) {
    this.#reader = new ElementReader({
      what: 'a placemark',
      most: MOST,
      strict: false,
      wants: (name) => {
        if (name === 'NetworkLink') this.networkLinks += 1;
        return name === 'Placemark';
      },
      found: (found) => {
        this.placemarks += 1;
        handler.placemark(placemarkOf(found, this.placemarks));
      },
      broken: (message) => handler.broken(message),
    });
  }

  write(decoded: string): void {
    const text = this.#rest + decoded;
    let cut = text.length;
    for (const [opens, closes] of [['&', ';'], ['<', '>']] as const) {
      const open = text.lastIndexOf(opens);
      if (open !== -1 && text.length - open < MAX_TAG_CHARS && !text.includes(closes, open)) cut = Math.min(cut, open);
    }
    this.#rest = text.slice(cut);
    this.#feed(text.slice(0, cut));
  }

  end(): void {
    this.#feed(this.#rest);
    this.#reader.end();
  }

  #feed(text: string): void {
    this.#reader.write(text.replace(BARE_AMPERSAND, '&amp;').replace(CONTROL, '\uFFFD'));
  }
}

function placemarkOf({ element, fault, raw }: FoundElement, number: number): Placemark {
  const data = new Map<string, string>();
  const names: string[] = [];
  const parts: Part[] = [];
  const take = (each: Element): void => {
    if (each.name === 'Polygon' && fault === null) parts.push(partOf(each, raw));
    if (each.name === 'Data') {
      names.push(each.attributes['name'] ?? '');
      for (const { name, text } of each.children) if (name === 'value') data.set(each.attributes['name'] ?? '', text.trim());
    }
    each.children.forEach(take);
  };
  take(element);
  const textOf = (wanted: string): string => element.children.findLast(({ name }) => name === wanted)?.text ?? '';
  return { number, name: textOf('name').trim(), description: textOf('description'), names, data, parts, fault, raw: raw(element) };
}

function partOf(polygon: Element, raw: FoundElement['raw']): Part {
  const rings: Ring[] = [];
  const refusedHoles: { readonly fault: string; readonly raw: string }[] = [];
  let fault: string | null = null;
  const take = (text: string, kind: 'outer' | 'inner'): void => {
    const ring = parseCoordinates(text);
    if (typeof ring !== 'string') {
      if (kind === 'outer' && rings.length > 0) fault ??= 'ring_repeated: expected one outer ring per polygon, found a second outer ring';
      else if (kind === 'inner' && rings.length === 0) fault ??= 'ring_missing: expected the outer ring first, found an inner ring';
      else rings.push(ring);
    } else if (kind === 'inner' && ring.startsWith('ring_too_short')) {
      // Leaves out a hole without area, because such a hole does not change the polygon.
      const hole = `<innerBoundaryIs><LinearRing><coordinates>${text}</coordinates></LinearRing></innerBoundaryIs>`;
      refusedHoles.push({ fault: ring, raw: `<Polygon>${hole}</Polygon>` });
    } else {
      fault ??= ring;
    }
  };
  const walk = ({ name, children }: Element, kind: 'outer' | 'inner'): void => {
    for (const child of children) {
      if (child.name === 'coordinates' && name === 'LinearRing') take(child.text, kind);
      else walk(child, child.name === 'outerBoundaryIs' ? 'outer' : child.name === 'innerBoundaryIs' ? 'inner' : kind);
    }
  };
  walk(polygon, 'outer');
  if (rings.length === 0) fault ??= refusedHoles[0]?.fault ?? 'ring_missing: expected an outer ring, found none';
  return { rings, fault, refusedHoles, raw: raw(polygon) };
}

/**
 * Parses a ring of the form `lon,lat,0 lon,lat,0 …`. Closes the ring if the last point differs from the first.
 * @returns the ring, or the ring's fault as `code: expected … found …`
 */
export function parseCoordinates(text: string): Ring | string {
  const ring = readPoints(text);
  if (typeof ring === 'string') return ring;
  const size = ring.length;
  if (ring[0] !== ring[size - 2] || ring[1] !== ring[size - 1]) ring.push(...ring.slice(0, 2));
  const corners = new Set<string>();
  for (let i = 0; i < ring.length && corners.size < 3; i += 2) corners.add(ring.slice(i, i + 2).join(' '));
  if (corners.size < 3) return `ring_too_short: expected at least 3 different points, found ${corners.size}`;
  return ring;
}

/** Returns the EWKB (little-endian, SRID 4326, XY) of a multipolygon: polygons → rings → lon, lat, … */
export function multiPolygon(polygons: readonly (readonly Ring[])[]): Buffer {
  let size = 13;
  for (const rings of polygons) {
    size += 9;
    for (const ring of rings) size += 4 + ring.length * 8;
  }
  const bytes = Buffer.allocUnsafe(size);
  const view = viewOf(bytes);
  bytes[0] = 1;
  let at = bytes.writeUInt32LE(0x20000006, 1);
  at = bytes.writeUInt32LE(4326, at);
  at = bytes.writeUInt32LE(polygons.length, at);
  for (const rings of polygons) {
    bytes[at] = 1;
    at = bytes.writeUInt32LE(3, at + 1);
    at = bytes.writeUInt32LE(rings.length, at);
    for (const ring of rings) {
      at = bytes.writeUInt32LE(ring.length / 2, at);
      for (const value of ring) {
        view.setFloat64(at, value, true);
        at += 8;
      }
    }
  }
  return bytes;
}
