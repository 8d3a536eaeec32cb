/**
 * The fast path: converts the bytes of one parcel in the publisher's MapServer dialect to a row of a binary COPY. The scanner creates a string only for a
 * number that does not have eight decimals.
 *
 * The scanner accepts only known byte sequences: tags in the publisher's order and spelling, any XML white space between tags, names that agree with
 * each other, plain decimals and closed rings. For any other member, the scanner returns −1 and the strict parser reads the member. The scanner is wrong
 * only if it accepts a member that a strict parser rejects or reads differently. A property test searches for such members. Format: MapServer, WFS 2.0
 * output with GML 3.2.
 */
import { ITALY } from '../../pipelines/readers/italy.ts';
import type { RowWriter } from '../../pipelines/formats/copy.ts';
import { viewOf } from '../../pipelines/formats/wkb.ts';
import { PARCEL_GML_ID, PARCEL_ID } from './schema.ts';

/** EPSG code of RDN2008, whose axes are latitude and longitude, in this order. */
export const SRID = 6706;
const SRS_NAME = `urn:ogc:def:crs:EPSG::${SRID}`;

/** EWKB: flag of a geometry type with SRID, and the codes of the two types. */
export const EWKB_SRID_FLAG = 0x2000_0000;
export const EWKB_POLYGON = 3;
export const EWKB_MULTIPOLYGON = 6;

const UPPER = 1;
const DIGIT = 2;
/** Characters of a label that the scanner accepts: visible ASCII without markup and quotes. */
const LABEL = 4;
/** Characters that MapServer prints in a corner of an envelope. */
const CORNER = 8;

const KIND = new Uint8Array(256);
for (let c = 0x21; c < 0x7f; c += 1) if (!'"&\'<>'.includes(String.fromCharCode(c))) KIND[c]! |= LABEL;
for (let c = 0x41; c <= 0x5a; c += 1) KIND[c]! |= UPPER;
for (let c = 0x30; c <= 0x39; c += 1) KIND[c]! |= DIGIT | CORNER;
for (const c of '-. ') KIND[c.charCodeAt(0)]! |= CORNER;

const SPACE = 0x20;
const QUOTE = 0x22;
const DOT = 0x2e;
const LESS_THAN = 0x3c;
const LETTER_P = 0x50;
const UNDERSCORE = 0x5f;

/** Maximum length in bytes of a sequence of tags that is remembered. */
const RUN_BYTES = 2_048;
const { west: WEST, south: SOUTH, east: EAST, north: NORTH } = ITALY;
/** Maximum length in bytes of a number and the character after it. The scanner leaves numbers with `-` or an exponent to the strict parser. */
const NUMBER_BYTES = 40;

/** Returns whether a byte is one of the four characters that XML calls white space. */
export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/**
 * A sequence of tags with only white space between them. The text of the last match is remembered, so that the next match compares eight bytes at a
 * time, read as floating-point numbers. Tags are ASCII without NUL, so these numbers are never NaN or zero. For all other numbers, equality means
 * equal bytes.
 */
class Run {
  readonly #tags: readonly Uint8Array[];
  /** Content that is allowed before the first tag. */
  readonly #before: 'nothing' | 'space';
  words: Float64Array = new Float64Array(0);
  /** The last eight bytes of the text, for lengths that are not a multiple of eight. */
  tail = 0;
  /** Number of bytes of the remembered text; 0 if no text is remembered. */
  length = 0;
  /** Number of bytes of white space before the first tag in the last match. */
  lead = 0;

  constructor(before: 'nothing' | 'space', ...tags: readonly string[]) {
    this.#before = before;
    this.#tags = tags.map((tag) => Buffer.from(tag, 'latin1'));
  }

  /** @returns the index after the match, or −1 if there is no match */
  learn(bytes: Uint8Array, view: DataView, from: number, limit: number): number {
    let at = from;
    let first = from;
    for (const [index, tag] of this.#tags.entries()) {
      if (index > 0 || this.#before === 'space') while (at < limit && isSpace(bytes[at])) at += 1;
      if (index === 0) first = at;
      if (at + tag.length > limit) return -1;
      for (let i = 0; i < tag.length; i += 1) if (bytes[at + i] !== tag[i]) return -1;
      at += tag.length;
    }
    const size = at - from;
    this.lead = first - from;
    this.length = 0;
    if (size >= 8 && size <= RUN_BYTES) {
      if (this.words.length !== size >> 3) this.words = new Float64Array(size >> 3);
      for (let i = 0; i < this.words.length; i += 1) this.words[i] = view.getFloat64(from + i * 8, true);
      this.tail = view.getFloat64(at - 8, true);
      this.length = size;
    }
    return at;
  }
}

/** @returns the index after the match, or −1 */
function match(run: Run, bytes: Uint8Array, view: DataView, from: number, limit: number): number {
  const { length, words } = run;
  const end = from + length;
  if (length === 0 || end > limit || view.getFloat64(end - 8, true) !== run.tail) return run.learn(bytes, view, from, limit);
  const count = words.length;
  let at = from;
  for (let i = 0; i < count; i += 1) {
    if (view.getFloat64(at, true) !== words[i]) return run.learn(bytes, view, from, limit);
    at += 8;
  }
  return end;
}

/** Returns whether the `size` bytes at `a` and at `b` are equal. Both sequences end before the end of the view. */
function same(bytes: Uint8Array, view: DataView, a: number, b: number, size: number): boolean {
  let i = 0;
  for (; i + 4 <= size; i += 4) if (view.getInt32(a + i, true) !== view.getInt32(b + i, true)) return false;
  for (; i < size; i += 1) if (bytes[a + i] !== bytes[b + i]) return false;
  return true;
}

const OPEN = new Run('space', '<wfs:member>', `<CP:CadastralParcel gml:id="${PARCEL_GML_ID}`);
const ENVELOPE = new Run('nothing', '">', '<gml:boundedBy>', `<gml:Envelope srsName="${SRS_NAME}">`, '<gml:lowerCorner>');
const UPPER_CORNER = new Run('nothing', '</gml:lowerCorner>', '<gml:upperCorner>');
const GEOMETRY = new Run('nothing', '</gml:upperCorner>', '</gml:Envelope>', '</gml:boundedBy>', '<CP:msGeometry>', '<gml:');
const POLYGON = new Run('nothing', `Polygon gml:id="${PARCEL_GML_ID}`);
const POLYGON_EXTERIOR = new Run('nothing', `" srsName="${SRS_NAME}">`, '<gml:exterior>', '<gml:LinearRing>', '<gml:posList srsDimension="2">');
const MULTI = new Run('nothing', `MultiSurface gml:id="${PARCEL_GML_ID}`);
const MULTI_MEMBER = new Run('nothing', `" srsName="${SRS_NAME}">`, '<gml:surfaceMember>', `<gml:Polygon gml:id="${PARCEL_GML_ID}`);
const MULTI_EXTERIOR = new Run('nothing', '">', '<gml:exterior>', '<gml:LinearRing>', '<gml:posList srsDimension="2">');
const MULTI_NEXT = new Run('space', '<gml:surfaceMember>', `<gml:Polygon gml:id="${PARCEL_GML_ID}`);
const EXTERIOR_CLOSE = new Run('nothing', '</gml:posList>', '</gml:LinearRing>', '</gml:exterior>');
const INTERIOR_OPEN = new Run('space', '<gml:interior>', '<gml:LinearRing>', '<gml:posList srsDimension="2">');
const INTERIOR_CLOSE = new Run('nothing', '</gml:posList>', '</gml:LinearRing>', '</gml:interior>');
const SURFACE_CLOSE = new Run('space', '</gml:Polygon>', '</gml:surfaceMember>');
const MULTI_CLOSE = new Run('space', '</gml:MultiSurface>', '</CP:msGeometry>', `<CP:INSPIREID_LOCALID>${PARCEL_ID}`);
const POLYGON_CLOSE = new Run('space', '</gml:Polygon>', '</CP:msGeometry>', `<CP:INSPIREID_LOCALID>${PARCEL_ID}`);
const LABEL_OPEN = new Run('nothing', '</CP:INSPIREID_LOCALID>', `<CP:INSPIREID_NAMESPACE>${PARCEL_ID}</CP:INSPIREID_NAMESPACE>`, '<CP:LABEL>');
const REFERENCE_OPEN = new Run('nothing', '</CP:LABEL>', '<CP:NATIONALCADASTRALREFERENCE>');
const UNIT_OPEN = new Run('nothing', '</CP:NATIONALCADASTRALREFERENCE>', '<CP:ADMINISTRATIVEUNIT>');
const CLOSE = new Run('nothing', '</CP:ADMINISTRATIVEUNIT>', '</CP:CadastralParcel>', '</wfs:member>');

/** Scans the members of one document into the rows of `raw_parcel`. */
export class ParcelScanner {
  readonly #writer: RowWriter;
  /** Cadastral code in the file's name as four bytes, or null if the name has no code. */
  readonly #file: Buffer | null;
  #bytes: Uint8Array = new Uint8Array(0);
  #view: DataView = new DataView(new ArrayBuffer(0));
  /** Number of rows written. */
  rows = 0;
  /** Current index of the coordinate reader. */
  #at = 0;
  #out: DataView = new DataView(new ArrayBuffer(0));
  /** Index of the end of the EWKB. */
  #to = 0;

  /**
   * @param writer writes the rows of `raw_parcel`
   * @param fileBelfiore cadastral code in the file's name, or null
   */
  constructor(writer: RowWriter, fileBelfiore: string | null) {
    this.#writer = writer;
    this.#file = fileBelfiore === null ? null : Buffer.from(fileBelfiore, 'latin1');
  }

  /** Sets the buffer that the next calls read. */
  use(bytes: Uint8Array): void {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
  }

  /**
   * Scans one member, with the white space before it.
   * @param from index where the member starts
   * @param limit index after the last byte that may be read
   * @param origin offset of the buffer's first byte in the document
   * @returns the index after the member, or −1 if the strict parser must read the member. In that case, nothing was written
   */
  scan(from: number, limit: number, origin: number): number {
    const bytes = this.#bytes;
    const view = this.#view;

    let at = match(OPEN, bytes, view, from, limit);
    if (at < 0) return -1;
    const start = origin + from + OPEN.lead;
    const reference = at;
    const dot = reference + 11;
    if (dot + 4 > limit || bytes[dot] !== DOT) return -1;
    if ((KIND[bytes[at]!]! & UPPER) === 0) return -1;
    const digits = KIND[bytes[at + 1]!]! & KIND[bytes[at + 2]!]! & KIND[bytes[at + 3]!]!
      & KIND[bytes[at + 5]!]! & KIND[bytes[at + 6]!]! & KIND[bytes[at + 7]!]! & KIND[bytes[at + 8]!]!;
    if ((digits & DIGIT) === 0) return -1;
    if ((KIND[bytes[at + 4]!]! & UPPER) === 0 && bytes[at + 4] !== UNDERSCORE) return -1;
    if ((KIND[bytes[at + 9]!]! & (UPPER | DIGIT)) === 0 || (KIND[bytes[at + 10]!]! & (UPPER | DIGIT)) === 0) return -1;
    const label = dot + 1;
    at = label;
    while (at < limit && (KIND[bytes[at]!]! & LABEL) !== 0) at += 1;
    if (at === label || at - label > 200) return -1;
    const size = at - reference;

    at = match(ENVELOPE, bytes, view, at, limit);
    if (at < 0) return -1;
    while (at < limit && (KIND[bytes[at]!]! & CORNER) !== 0) at += 1;
    at = match(UPPER_CORNER, bytes, view, at, limit);
    if (at < 0) return -1;
    while (at < limit && (KIND[bytes[at]!]! & CORNER) !== 0) at += 1;
    at = match(GEOMETRY, bytes, view, at, limit);
    if (at < 0 || at >= limit) return -1;

    const writer = this.#writer;
    writer.begin(start);
    writer.bytes(bytes, reference, reference + size);
    writer.null();
    if (this.#file === null || this.#sameComune(reference)) writer.null();
    else writer.bytes(this.#file);

    at = bytes[at] === LETTER_P ? this.#polygon(at, limit, reference, size) : this.#multiSurface(at, limit, reference, size);
    if (at < 0 || at + size > limit || !same(bytes, view, at, reference, size)) return this.#refuse();
    at = match(LABEL_OPEN, bytes, view, at + size, limit);
    if (at < 0 || at + size > limit || !same(bytes, view, at, label, size - 12)) return this.#refuse();
    at = match(REFERENCE_OPEN, bytes, view, at + size - 12, limit);
    if (at < 0 || at + size > limit || !same(bytes, view, at, reference, size)) return this.#refuse();
    at = match(UNIT_OPEN, bytes, view, at + size, limit);
    if (at < 0 || at + 4 > limit || view.getInt32(at, true) !== view.getInt32(reference, true)) return this.#refuse();
    at = match(CLOSE, bytes, view, at + 4, limit);
    if (at < 0) return this.#refuse();
    writer.end();
    this.rows += 1;
    return at;
  }

  #refuse(): -1 {
    this.#writer.abandon();
    return -1;
  }

  #sameComune(reference: number): boolean {
    const file = this.#file!;
    const bytes = this.#bytes;
    return bytes[reference] === file[0] && bytes[reference + 1] === file[1] && bytes[reference + 2] === file[2] && bytes[reference + 3] === file[3];
  }

  /** Scans the rest of a geometry's `gml:id`: the parcel's reference and a number, `.1` or `.1.2`. @returns the index of the closing quote, or −1 */
  #geometryId(from: number, limit: number, reference: number, size: number): number {
    const bytes = this.#bytes;
    let at = from + size;
    if (from < 0 || at + 2 > limit || !same(bytes, this.#view, from, reference, size) || bytes[at] !== DOT) return -1;
    while (at < limit && (bytes[at] === DOT || (KIND[bytes[at]!]! & DIGIT) !== 0)) at += 1;
    return bytes[at] === QUOTE ? at : -1;
  }

  #polygon(from: number, limit: number, reference: number, size: number): number {
    const bytes = this.#bytes;
    const view = this.#view;
    let at = this.#geometryId(match(POLYGON, bytes, view, from, limit), limit, reference, size);
    if (at < 0) return -1;
    at = match(POLYGON_EXTERIOR, bytes, view, at, limit);
    if (at < 0) return -1;
    const sizeAt = this.#openMultiPolygon();
    at = this.#rings(at, limit);
    if (at < 0) return -1;
    at = match(POLYGON_CLOSE, bytes, view, at, limit);
    this.#closeMultiPolygon(sizeAt, 1);
    return at;
  }

  #multiSurface(from: number, limit: number, reference: number, size: number): number {
    const bytes = this.#bytes;
    const view = this.#view;
    let at = this.#geometryId(match(MULTI, bytes, view, from, limit), limit, reference, size);
    if (at < 0) return -1;
    at = match(MULTI_MEMBER, bytes, view, at, limit);
    const sizeAt = this.#openMultiPolygon();
    let polygons = 0;
    for (;;) {
      at = this.#geometryId(at, limit, reference, size);
      if (at < 0) return -1;
      at = match(MULTI_EXTERIOR, bytes, view, at, limit);
      if (at < 0) return -1;
      at = this.#rings(at, limit);
      if (at < 0) return -1;
      polygons += 1;
      at = match(SURFACE_CLOSE, bytes, view, at, limit);
      if (at < 0) return -1;
      let next = at;
      while (next < limit && isSpace(bytes[next])) next += 1;
      if (bytes[next + 1] === 0x2f) break;
      at = match(MULTI_NEXT, bytes, view, at, limit);
    }
    at = match(MULTI_CLOSE, bytes, view, at, limit);
    this.#closeMultiPolygon(sizeAt, polygons);
    return at;
  }

  /**
   * Writes the start of the EWKB. `#closeMultiPolygon` later writes the length of the field and the number of polygons. @returns the index of the field
   * length
   */
  #openMultiPolygon(): number {
    const writer = this.#writer;
    writer.ensure(64);
    this.#look();
    const sizeAt = writer.length;
    const out = this.#out;
    out.setUint8(sizeAt + 4, 1);
    out.setUint32(sizeAt + 5, (EWKB_MULTIPOLYGON | EWKB_SRID_FLAG) >>> 0, true);
    out.setUint32(sizeAt + 9, SRID, true);
    this.#to = sizeAt + 17;
    writer.length = this.#to;
    return sizeAt;
  }

  #closeMultiPolygon(sizeAt: number, polygons: number): void {
    this.#out.setUint32(sizeAt + 13, polygons, true);
    this.#out.setInt32(sizeAt, this.#to - sizeAt - 4);
    this.#writer.length = this.#to;
  }

  /** Updates the view of the writer's buffer. The writer replaces the buffer when the buffer grows and when a chunk is sent. */
  #look(): void {
    const { buffer } = this.#writer;
    if (this.#out.buffer !== buffer.buffer) this.#out = viewOf(buffer);
  }

  #grow(): void {
    this.#writer.length = this.#to;
    this.#writer.ensure(65_536);
    this.#look();
  }

  /** Reads the rings of one polygon, from the exterior's first coordinate to the white space before `</gml:Polygon>`. */
  #rings(from: number, limit: number): number {
    const bytes = this.#bytes;
    const view = this.#view;
    if (this.#to + 64 > this.#out.byteLength) this.#grow();
    const polygonAt = this.#to;
    this.#out.setUint8(polygonAt, 1);
    this.#out.setUint32(polygonAt + 1, EWKB_POLYGON, true);
    this.#to = polygonAt + 9;
    let rings = 1;
    let at = this.#ring(from, limit);
    if (at < 0) return -1;
    at = match(EXTERIOR_CLOSE, bytes, view, at, limit);
    if (at < 0) return -1;
    for (;;) {
      let next = at;
      while (next < limit && isSpace(bytes[next])) next += 1;
      if (bytes[next + 1] === 0x2f) break;
      at = match(INTERIOR_OPEN, bytes, view, at, limit);
      if (at < 0) return -1;
      at = this.#ring(at, limit);
      if (at < 0) return -1;
      at = match(INTERIOR_CLOSE, bytes, view, at, limit);
      if (at < 0) return -1;
      rings += 1;
    }
    this.#out.setUint32(polygonAt + 5, rings, true);
    return at;
  }

  /**
   * Reads `lat lon lat lon … ` up to `<`. The ring must have at least four positions, and the last position must equal the first. Writes the
   * longitude before the latitude.
   */
  #ring(from: number, limit: number): number {
    const bytes = this.#bytes;
    if (this.#to + 64 > this.#out.byteLength) this.#grow();
    const countAt = this.#to;
    let to = countAt + 4;
    let out = this.#out;
    let room = out.byteLength - 32;
    let count = 0;
    let firstLat = 0;
    let firstLon = 0;
    let lat = 0;
    let lon = 0;
    this.#at = from;
    for (;;) {
      lat = this.#number(limit);
      // The number is NaN or outside Italy, or no single space follows. Comparisons with NaN are false.
      if (!(lat >= SOUTH && lat <= NORTH) || bytes[this.#at] !== SPACE) return -1;
      this.#at += 1;
      lon = this.#number(limit);
      if (!(lon >= WEST && lon <= EAST)) return -1;
      if (to > room) {
        this.#to = to;
        this.#grow();
        out = this.#out;
        room = out.byteLength - 32;
      }
      out.setFloat64(to, lon, true);
      out.setFloat64(to + 8, lat, true);
      to += 16;
      if (count === 0) {
        firstLat = lat;
        firstLon = lon;
      }
      count += 1;
      if (bytes[this.#at] === SPACE) this.#at += 1;
      else if (bytes[this.#at] !== LESS_THAN) return -1;
      if (bytes[this.#at] === LESS_THAN) break;
    }
    if (count < 4 || lat !== firstLat || lon !== firstLon) return -1;
    out.setUint32(countAt, count, true);
    this.#to = to;
    return this.#at;
  }

  /**
   * Reads a plain decimal with the rounding of `Number`. The digits of a number with eight decimals become one integer, which is divided by 10^8. The integer
   * and 10^8 are exact in a double. `#anyNumber` reads all other numbers. @returns NaN if the text is not a plain decimal
   */
  #number(limit: number): number {
    const bytes = this.#bytes;
    const view = this.#view;
    const from = this.#at;
    if (from + 16 > limit) return NaN;
    let at = from;
    let whole = bytes[at]! - 0x30;
    if (whole < 0 || whole > 9) return NaN;
    let byte = bytes[at + 1]!;
    if (byte !== DOT) {
      if (byte < 0x30 || byte > 0x39) return this.#anyNumber(limit);
      whole = whole * 10 + byte - 0x30;
      at += 1;
      byte = bytes[at + 1]!;
      if (byte !== DOT) return this.#anyNumber(limit);
    }
    at += 2;
    // The publisher prints eight decimals. The decimals are read as two words of four digits, with the first digit in the lowest byte.
    const a = view.getInt32(at, true);
    const b = view.getInt32(at + 4, true);
    const digitsA = (a & 0xf0f0f0f0) | (((a + 0x06060606) & 0xf0f0f0f0) >>> 4);
    const digitsB = (b & 0xf0f0f0f0) | (((b + 0x06060606) & 0xf0f0f0f0) >>> 4);
    if (digitsA !== 0x33333333 || digitsB !== 0x33333333) return this.#anyNumber(limit);
    byte = bytes[at + 8]!;
    if (byte >= 0x30 && byte <= 0x39) return this.#anyNumber(limit);
    let high = a & 0x0f0f0f0f;
    let low = b & 0x0f0f0f0f;
    high = (high * 10 + (high >>> 8)) & 0x00ff00ff;
    low = (low * 10 + (low >>> 8)) & 0x00ff00ff;
    const fraction = ((high & 0xff) * 100 + (high >>> 16)) * 10_000 + (low & 0xff) * 100 + (low >>> 16);
    this.#at = at + 8;
    return (whole * 1e8 + fraction) / 1e8;
  }

  /** Reads a plain decimal that has fewer than `NUMBER_BYTES` bytes. @returns NaN for any other text */
  #anyNumber(limit: number): number {
    const bytes = this.#bytes;
    const from = this.#at;
    const stop = Math.min(limit, from + NUMBER_BYTES);
    let at = from;
    while (at < stop && (KIND[bytes[at]!]! & DIGIT) !== 0) at += 1;
    if (at === from) return NaN;
    if (bytes[at] === DOT) {
      at += 1;
      const decimals = at;
      while (at < stop && (KIND[bytes[at]!]! & DIGIT) !== 0) at += 1;
      if (at === decimals) return NaN;
    }
    if (at >= stop) return NaN;
    this.#at = at;
    return Number(Buffer.from(bytes.buffer, bytes.byteOffset + from, at - from).toString('latin1'));
  }
}
