/** Reads and converts geometries in well-known binary, little-endian, XY. */

/** Flag of EWKB: an SRID follows the type. */
const WITH_SRID = 0x20000000;
/** Maps the WKB types MultiCurve (11) and MultiSurface (12) to MultiLineString (5) and MultiPolygon (6), for geometries whose members are all straight. */
const LINEAR: Readonly<Record<number, number>> = { 11: 5, 12: 6 };

/** Returns a view of the bytes. Reading a number from the view is faster than from the `Buffer`. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * Visits the geometries and positions in WKB or EWKB, until a callback returns a result that is not null. @param position called with the offset of each
 * position @param geometry called with the type of each geometry and the offset of the type @returns the first result that is not null, or null
 */
export function walkWkb<T>(wkb: Buffer, position: (at: number) => T | null, geometry: (type: number, at: number) => T | null = () => null): T | null {
  const view = viewOf(wkb);
  let at = 0;
  const nextCount = (): number => {
    at += 4;
    return view.getUint32(at - 4, true);
  };
  const repeated = (each: () => T | null): T | null => {
    for (let left = nextCount(); left > 0; left -= 1) {
      const found = each();
      if (found !== null) return found;
    }
    return null;
  };
  const positions = (count: number): T | null => {
    for (const end = at + count * 16; at < end; at += 16) {
      const found = position(at);
      if (found !== null) return found;
    }
    return null;
  };
  const line = (): T | null => positions(nextCount());
  const walk = (): T | null => {
    const type = view.getUint32(at + 1, true);
    const found = geometry(type, at + 1);
    if (found !== null) return found;
    at += (type & WITH_SRID) === 0 ? 5 : 9;
    switch (type & 0xff) {
      case 1:
        return positions(1);
      case 2:
        return line();
      case 3:
        return repeated(line);
      default:
        return repeated(walk);
    }
  };
  return walk();
}

/**
 * Checks that all coordinates are finite and all types are simple features. Some desktop programs write MultiCurve and MultiSurface with straight members. The
 * function converts these types to MultiLineString and MultiPolygon in place.
 * @returns null, or a description of the error
 */
export function checkWkb(wkb: Buffer): string | null {
  // A double is infinity or NaN if all bits of its exponent are 1. This test is faster than reading the double.
  const view = viewOf(wkb);
  const isNumber = (at: number): boolean => (view.getUint16(at + 6, true) & 0x7ff0) !== 0x7ff0;
  return walkWkb(wkb, (at) => (isNumber(at) && isNumber(at + 8) ? null : 'a coordinate is not a number'), (type, at) => {
    const linear = LINEAR[type];
    if (linear !== undefined) wkb.writeUInt32LE(linear, at);
    return linear === undefined && (type < 1 || type > 7) ? `geometry type ${type} has curves or surfaces that are not simple features` : null;
  });
}

/** Converts WKB to PostGIS's EWKB in a new buffer. Only the outermost geometry gets an SRID. */
export function toEwkb(wkb: Buffer, srid: number): Buffer {
  const ewkb = Buffer.allocUnsafeSlow(wkb.length + 4);
  ewkb[0] = 1;
  ewkb.writeUInt32LE((wkb.readUInt32LE(1) | WITH_SRID) >>> 0, 1);
  ewkb.writeUInt32LE(srid, 5);
  wkb.copy(ewkb, 9, 5);
  return ewkb;
}

/** WKB types by GeoJSON geometry type. */
const GEOJSON_TYPES: Readonly<Record<string, number>> = { Point: 1, LineString: 2, Polygon: 3, MultiPoint: 4, MultiLineString: 5, MultiPolygon: 6 };

/**
 * Converts a GeoJSON geometry to WKB in XY. Ignores elevations and other ordinates.
 * @returns the WKB, or a description of the error for an invalid geometry
 */
export function geoJsonWkb(geometry: unknown): Buffer | string {
  const { type, coordinates, geometries } = geometry as { readonly type?: unknown; readonly coordinates?: unknown; readonly geometries?: unknown };
  if (type === 'GeometryCollection' && Array.isArray(geometries)) {
    const parts = geometries.map(geoJsonWkb);
    const wrong = parts.find((part) => typeof part === 'string');
    return wrong ?? Buffer.concat([header(7, parts.length), ...parts as Buffer[]]);
  }
  const number = typeof type === 'string' ? GEOJSON_TYPES[type] : undefined;
  if (number === undefined) return `expected a type of geometry, found ${JSON.stringify(type ?? null).slice(0, 60)}`;
  try {
    return Buffer.concat(geometryParts(number, coordinates));
  } catch (error) {
    if (error instanceof NotCoordinates) return error.message;
    throw error;
  }
}

class NotCoordinates extends Error {}

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new NotCoordinates('expected a list of coordinates, found another value');
}

function header(type: number, count: number | null): Buffer {
  const bytes = Buffer.alloc(count === null ? 5 : 9);
  bytes[0] = 1;
  bytes.writeUInt32LE(type, 1);
  if (count !== null) bytes.writeUInt32LE(count, 5);
  return bytes;
}

function geometryParts(type: number, coordinates: unknown): Buffer[] {
  if (type === 1) return [header(1, null), positionsOf([coordinates])];
  const members = listOf(coordinates);
  // The members of a multi-geometry are geometries, and the members of a polygon are rings.
  if (type > 3) return [header(type, members.length), ...members.flatMap((member) => geometryParts(type - 3, member))];
  if (type === 2) return [header(2, members.length), positionsOf(members)];
  return [header(3, members.length), ...members.flatMap((ring) => {
    const count = Buffer.alloc(4);
    count.writeUInt32LE(listOf(ring).length);
    return [count, positionsOf(listOf(ring))];
  })];
}

function positionsOf(positions: readonly unknown[]): Buffer {
  const bytes = Buffer.allocUnsafe(positions.length * 16);
  positions.forEach((position, index) => {
    const [x, y] = listOf(position);
    if (typeof x !== 'number' || typeof y !== 'number') throw new NotCoordinates('a coordinate is not a number');
    bytes.writeDoubleLE(x, index * 16);
    bytes.writeDoubleLE(y, index * 16 + 8);
  });
  return bytes;
}

type MultiPolygon = { readonly type: 'MultiPolygon'; readonly coordinates: number[][][][] };

/** Converts a multipolygon in little-endian WKB to GeoJSON, without changing the coordinates. */
export function multiPolygonOf(wkb: Uint8Array): MultiPolygon {
  const view = viewOf(wkb);
  let at = 5;
  const counted = <T>(each: () => T): T[] => {
    const count = view.getUint32(at, true);
    at += 4;
    return Array.from({ length: count }, each);
  };
  const position = (): number[] => {
    at += 16;
    return [view.getFloat64(at - 16, true), view.getFloat64(at - 8, true)];
  };
  const polygon = (): number[][][] => {
    // Skips the byte order and the type of the member.
    at += 5;
    return counted(() => counted(position));
  };
  return { type: 'MultiPolygon', coordinates: counted(polygon) };
}
