/** Parses the text of `<coordinates>` in KML. Perimeters have millions of points, so points of the usual form are parsed from bytes. */
import { decimalOf, type DecimalForm } from './decimal.ts';

const SPACE = 0x20;
const COMMA = 0x2c;

/** Form of coordinates in degrees. */
const DEGREES: DecimalForm = { sign: 'minus', whole: 3, fraction: 12 };

/**
 * Parses points of the form `lon,lat,0`, separated by white space.
 * @returns longitude, latitude, longitude, latitude, …, or the fault of the first malformed point as `code: expected … found …`
 */
export function readPoints(text: string): number[] | string {
  return plainPoints(text) ?? anyPoints(text);
}

/** Parses points in any form that `Number` accepts. @returns the points, or the fault of the first malformed point */
function anyPoints(text: string): number[] | string {
  const points: number[] = [];
  for (const tuple of text.split(/\s+/)) {
    if (tuple === '') continue;
    const comma = tuple.indexOf(',');
    const second = tuple.indexOf(',', comma + 1);
    const lon = comma > 0 ? Number(tuple.slice(0, comma)) : Number.NaN;
    const latText = tuple.slice(comma + 1, second === -1 ? undefined : second);
    const lat = latText === '' ? Number.NaN : Number(latText);
    if (!Number.isFinite(lon) || !Number.isFinite(lat)) return `coordinate_malformed: expected lon,lat,height, found ${JSON.stringify(tuple.slice(0, 60))}`;
    points.push(lon, lat);
  }
  return points;
}

/**
 * Parses points whose numbers are plain decimals, such as `14.251,-40.8`, in text of ASCII characters. This is faster than `anyPoints`.
 * @returns null if the text has another form, which `anyPoints` reads
 */
function plainPoints(text: string): number[] | null {
  const points: number[] = [];
  // Bytes are read faster than the characters of a string.
  const bytes = Buffer.from(text);
  for (let at = afterSpace(bytes, 0); at < bytes.length; at = afterSpace(bytes, at)) {
    const lonEnd = numberEnd(bytes, at);
    const latEnd = numberEnd(bytes, lonEnd + 1);
    const lon = decimalOf(bytes, at, lonEnd, DEGREES);
    const lat = decimalOf(bytes, lonEnd + 1, latEnd, DEGREES);
    if (bytes[lonEnd] !== COMMA || Number.isNaN(lon) || Number.isNaN(lat)) return null;
    points.push(lon, lat);
    for (at = latEnd; at < bytes.length && !isSpace(bytes[at]!); at += 1) if (bytes[at]! > 0x7e) return null;
  }
  return points;
}

function isSpace(byte: number): boolean {
  return byte === SPACE || (byte >= 0x09 && byte <= 0x0d);
}

function afterSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && isSpace(bytes[at]!)) at += 1;
  return at;
}

/** Returns the index of the next comma or white space, or the end of the text. */
function numberEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== COMMA && !isSpace(bytes[at]!)) at += 1;
  return at;
}
