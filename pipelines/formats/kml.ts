/**
 * Placemarks of a KML file, streamed: constant memory but for one placemark. For files whose text is not always what XML asks for:
 * an ampersand that starts no entity and control characters are read as text.
 * Holes stay holes (`innerBoundaryIs`), every part of a `MultiGeometry` is kept.
 */
import type { SaxesTagPlain } from 'saxes';
import { MappaleError } from '../errors.ts';
import { BoundedSaxes } from './xml.ts';

/** Longitude, latitude, longitude, latitude, … in degrees. */
export type Ring = readonly number[];

export interface Part {
  /** Outer ring first. */
  readonly rings: readonly Ring[];
  /** Why it cannot be used, `code: expected … found …`; null when it can. */
  readonly fault: string | null;
  /** Holes without area, left out. */
  readonly refusedHoles: readonly { readonly fault: string; readonly raw: string }[];
  /** The `<Polygon>` element as it was read. */
  readonly raw: string;
}

export interface Placemark {
  /** 1-based number in the file. */
  readonly number: number;
  readonly name: string;
  readonly description: string;
  /** `ExtendedData`: `CODCOM`, `CODZONA`, `LINKZONA`. */
  readonly data: ReadonlyMap<string, string>;
  readonly parts: readonly Part[];
  /** First XML fault inside the placemark; null when it is well-formed. */
  readonly fault: string | null;
  /** The whole element as it was read. */
  readonly raw: string;
}

export interface KmlHandler {
  placemark(placemark: Placemark): void;
  /** A fault outside placemarks, or a document that ends early: the rest cannot be trusted. */
  broken(message: string): void;
}

/** An ampersand that starts no entity (`SANT&ANTONIO`): a parser would swallow everything up to the next semicolon. */
const BARE_AMPERSAND = /&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});)/g;
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
/** A placemark may be as long as this: a million positions. The longest zones of the publishers have some ten thousand. */
export const PLACEMARK_CHARS = 32 * 1024 * 1024;
/** How much of a placemark that is too long is kept. */
const EXCERPT_CHARS = 65_536;
/** A tag or an entity is kept together at the border of two chunks, up to this length. */
const MAX_TAG_CHARS = 4096;
/** Elements whose text is wanted, by the element around them. */
const TEXT_OF: Readonly<Record<string, readonly string[]>> = {
  name: ['Placemark'],
  description: ['Placemark'],
  value: ['Data'],
  coordinates: ['LinearRing'],
};

export class KmlReader {
  readonly #parser = new BoundedSaxes(PLACEMARK_CHARS);
  readonly #handler: KmlHandler;
  readonly #path: string[] = [];
  /** Decoded text since the start of the current placemark, and the position of its first character in the stream. */
  #kept: { readonly start: number; readonly text: string }[] = [];
  #written = 0;
  #rest = '';
  #placemarks = 0;
  #networkLinks = 0;

  #inPlacemark = false;
  /** The open placemark is too long: the rest of it is passed over. */
  #skipping = false;
  #start = 0;
  #name = '';
  #description = '';
  #data = new Map<string, string>();
  #parts: Part[] = [];
  #fault: string | null = null;
  #dataName = '';
  #polygonStart = 0;
  #rings: Ring[] = [];
  #partFault: string | null = null;
  #refusedHoles: { readonly fault: string; readonly raw: string }[] = [];
  #outer = true;
  #capture: string | null = null;

  constructor(handler: KmlHandler) {
    this.#handler = handler;
    this.#parser.on('opentag', (tag) => this.#open(tag));
    this.#parser.on('closetag', (tag) => this.#close(tag));
    const text = (chunk: string): void => {
      if (this.#capture !== null) this.#capture += chunk;
    };
    this.#parser.on('text', text);
    this.#parser.on('cdata', text);
    this.#parser.on('error', (error) => {
      if (this.#inPlacemark) this.#fault ??= error.message;
      else this.#handler.broken(error.message);
    });
  }

  /** Placemarks opened so far: the count of records. */
  get placemarks(): number {
    return this.#placemarks;
  }

  /** Files that an index names (provincial KMZ). */
  get networkLinks(): number {
    return this.#networkLinks;
  }

  write(decoded: string): void {
    let text = this.#rest + decoded;
    let cut = text.length;
    for (const [opens, closes] of [['&', ';'], ['<', '>']] as const) {
      const open = text.lastIndexOf(opens);
      if (open !== -1 && text.length - open < MAX_TAG_CHARS && !text.includes(closes, open)) cut = Math.min(cut, open);
    }
    this.#rest = text.slice(cut);
    text = text.slice(0, cut);
    this.#feed(text);
  }

  end(): void {
    this.#feed(this.#rest);
    this.#rest = '';
    const open = this.#path.at(-1);
    if (open !== undefined) this.#handler.broken(`the document ends inside <${open}>`);
    else this.#parser.close();
  }

  #feed(text: string): void {
    const clean = text.replace(BARE_AMPERSAND, '&amp;').replace(CONTROL, '\uFFFD');
    if (clean === '') return;
    if (!this.#inPlacemark) this.#kept = [];
    if (!this.#skipping) this.#kept.push({ start: this.#written, text: clean });
    this.#written += clean.length;
    try {
      this.#parser.write(clean);
    } catch (error) {
      // Beyond a bound the parser cannot go on; what the handler throws is its own.
      if (error instanceof MappaleError) throw error;
      this.#handler.broken(error instanceof Error ? error.message : String(error));
    }
    if (this.#inPlacemark && !this.#skipping && this.#written - this.#start > PLACEMARK_CHARS) this.#skip();
  }

  #skip(): void {
    this.#skipping = true;
    this.#fault ??= `a placemark of more than ${PLACEMARK_CHARS} characters (its first ${EXCERPT_CHARS} are kept)`;
    this.#kept = [{ start: this.#start, text: this.#slice(this.#start).slice(0, EXCERPT_CHARS) }];
    this.#capture = null;
    this.#rings = [];
    this.#parts = [];
  }

  #slice(start: number): string {
    const end = this.#parser.position;
    let raw = '';
    for (const piece of this.#kept) raw += piece.text.slice(Math.max(0, start - piece.start), Math.max(0, end - piece.start));
    return raw;
  }

  #open(tag: SaxesTagPlain): void {
    const name = local(tag.name);
    const around = this.#path.at(-1);
    this.#path.push(name);
    if (name === 'NetworkLink') this.#networkLinks += 1;
    if (name === 'Placemark') {
      this.#placemarks += 1;
      this.#inPlacemark = true;
      this.#start = this.#elementStart('<Placemark');
      this.#name = '';
      this.#description = '';
      this.#data = new Map();
      this.#parts = [];
      this.#fault = null;
      return;
    }
    if (!this.#inPlacemark || this.#skipping) return;
    if (name === 'Data') this.#dataName = tag.attributes['name'] ?? '';
    if (name === 'Polygon') {
      this.#polygonStart = this.#elementStart('<Polygon');
      this.#rings = [];
      this.#partFault = null;
      this.#refusedHoles = [];
    }
    if (name === 'outerBoundaryIs') this.#outer = true;
    if (name === 'innerBoundaryIs') this.#outer = false;
    if (around !== undefined && TEXT_OF[name]?.includes(around) === true) this.#capture = '';
  }

  #close(tag: SaxesTagPlain): void {
    const name = local(tag.name);
    this.#path.pop();
    const around = this.#path.at(-1);
    if (!this.#inPlacemark || (this.#skipping && name !== 'Placemark')) return;
    if (this.#capture !== null && around !== undefined && TEXT_OF[name]?.includes(around) === true) {
      const text = this.#capture;
      this.#capture = null;
      if (name === 'name') this.#name = text.trim();
      else if (name === 'description') this.#description = text;
      else if (name === 'value') this.#data.set(this.#dataName, text.trim());
      else this.#ring(text);
    }
    if (name === 'Polygon') {
      const fault = this.#partFault ?? (this.#rings.length === 0 ? (this.#refusedHoles[0]?.fault ?? 'ring_missing: expected an outer ring, found none') : null);
      this.#parts.push({ rings: this.#rings, fault, refusedHoles: this.#refusedHoles, raw: this.#slice(this.#polygonStart) });
    }
    if (name === 'Placemark') {
      this.#inPlacemark = false;
      this.#skipping = false;
      this.#handler.placemark({
        number: this.#placemarks,
        name: this.#name,
        description: this.#description,
        data: this.#data,
        parts: this.#parts,
        fault: this.#fault,
        raw: this.#slice(this.#start),
      });
    }
  }

  /** Where the tag that was just closed by `>` began; it is never divided between two pieces. */
  #elementStart(tag: string): number {
    const piece = this.#kept.at(-1)!;
    return piece.start + Math.max(0, piece.text.lastIndexOf(tag, this.#parser.position - piece.start));
  }

  #ring(text: string): void {
    const ring = parseCoordinates(text);
    if (typeof ring === 'string') {
      // A hole without area takes nothing away from the part around it.
      if (!this.#outer && ring.startsWith('ring_too_short')) {
        this.#refusedHoles.push({ fault: ring, raw: `<Polygon><innerBoundaryIs><LinearRing><coordinates>${text}</coordinates></LinearRing></innerBoundaryIs></Polygon>` });
      } else {
        this.#partFault ??= ring;
      }
      return;
    }
    if (this.#outer && this.#rings.length > 0) this.#partFault ??= 'ring_repeated: expected one outer ring per polygon, found another';
    else if (!this.#outer && this.#rings.length === 0) this.#partFault ??= 'ring_missing: expected the outer ring first, found an inner one';
    else this.#rings.push(ring);
  }
}

function local(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/**
 * `lon,lat,0 lon,lat,0 …` as numbers; a ring that is not closed is closed.
 * @returns the ring, or its fault as `code: expected … found …`
 */
export function parseCoordinates(text: string): Ring | string {
  const ring: number[] = [];
  for (const tuple of text.split(/\s+/)) {
    if (tuple === '') continue;
    const comma = tuple.indexOf(',');
    const second = tuple.indexOf(',', comma + 1);
    const lon = comma > 0 ? Number(tuple.slice(0, comma)) : Number.NaN;
    const latText = tuple.slice(comma + 1, second === -1 ? undefined : second);
    const lat = latText === '' ? Number.NaN : Number(latText);
    if (!Number.isFinite(lon) || !Number.isFinite(lat)) return `coordinate_malformed: expected lon,lat,height, found ${JSON.stringify(tuple.slice(0, 60))}`;
    ring.push(lon, lat);
  }
  const size = ring.length;
  if (size >= 2 && (ring[0] !== ring[size - 2] || ring[1] !== ring[size - 1])) ring.push(ring[0]!, ring[1]!);
  const corners = new Set<string>();
  for (let i = 0; i < ring.length && corners.size < 3; i += 2) corners.add(`${ring[i]} ${ring[i + 1]}`);
  if (corners.size < 3) return `ring_too_short: expected at least 3 different points, found ${corners.size}`;
  return ring;
}

/** EWKB (little-endian, SRID 4326, XY) of a multipolygon: polygons → rings → lon, lat, … */
export function multiPolygon(polygons: readonly (readonly Ring[])[]): Buffer {
  let size = 13;
  for (const rings of polygons) {
    size += 9;
    for (const ring of rings) size += 4 + ring.length * 8;
  }
  const bytes = Buffer.allocUnsafe(size);
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
      for (const value of ring) at = bytes.writeDoubleLE(value, at);
    }
  }
  return bytes;
}
