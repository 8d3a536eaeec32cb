/** Parses the text of `<coordinates>` in KML. Perimeters have millions of points, so points of the usual form are parsed from bytes. */

const SPACE = 0x20;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;

/** Maximum number of digits for which every integer is exact as a floating-point number. */
const MOST_DIGITS = 15;
/** Powers of ten. Each power is exact as a floating-point number. */
const POWERS = Array.from({ length: MOST_DIGITS + 1 }, (_, exponent) => 10 ** exponent);

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
    const lonEnd = afterNumber(bytes, at);
    const latEnd = bytes[lonEnd] === COMMA ? afterNumber(bytes, lonEnd + 1) : -1;
    const end = latEnd === -1 ? -1 : afterPoint(bytes, latEnd);
    if (end === -1) return null;
    points.push(decimal(bytes, at, lonEnd), decimal(bytes, lonEnd + 1, latEnd));
    at = end;
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

function afterDigits(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at]! >= ZERO && bytes[at]! <= NINE) at += 1;
  return at;
}

/** Returns the end of a plain decimal, or −1 if there is none or if it has more than `MOST_DIGITS` digits. */
function afterNumber(bytes: Uint8Array, from: number): number {
  const first = bytes[from] === MINUS ? from + 1 : from;
  const whole = afterDigits(bytes, first);
  if (whole === first) return -1;
  if (bytes[whole] !== DOT) return whole - first <= MOST_DIGITS ? whole : -1;
  const end = afterDigits(bytes, whole + 1);
  return end > whole + 1 && end - first - 1 <= MOST_DIGITS ? end : -1;
}

/** Returns the end of a point whose latitude ends at `from`, or −1 if more of the latitude follows or if the point has a character that is not ASCII. */
function afterPoint(bytes: Uint8Array, from: number): number {
  let at = from;
  if (at < bytes.length && bytes[at] !== COMMA && !isSpace(bytes[at]!)) return -1;
  for (; at < bytes.length && !isSpace(bytes[at]!); at += 1) if (bytes[at]! > 0x7e) return -1;
  return at;
}

/** Returns the value of a plain decimal. The quotient of two exact numbers is the floating-point number nearest to the decimal, as from `Number`. */
function decimal(bytes: Uint8Array, from: number, to: number): number {
  const isNegative = bytes[from] === MINUS;
  let value = 0;
  let fraction = 0;
  for (let at = isNegative ? from + 1 : from; at < to; at += 1) {
    const byte = bytes[at]!;
    if (byte === DOT) fraction = to - at - 1;
    else value = value * 10 + byte - ZERO;
  }
  if (fraction > 0) value /= POWERS[fraction]!;
  return isNegative ? -value : value;
}
