/** Geometries in well-known binary, little-endian, XY. */

/** Flag of EWKB: an SRID follows the type. */
const WITH_SRID = 0x20000000;
/** WKB type of a collection that must hold simple members → what it is when they are linear. */
const LINEAR: Readonly<Record<number, number>> = { 11: 5, 12: 6 };

/**
 * Walks WKB or EWKB of simple features.
 * @param position is told where the numbers of a position begin
 * @param geometry is told of each geometry's type, and where it stands
 * @returns the first answer that is not null, at which it ends
 */
export function walkWkb<T>(wkb: Buffer, position: (at: number) => T | null, geometry: (type: number, at: number) => T | null = () => null): T | null {
  let at = 0;
  const counted = (each: () => T | null): T | null => {
    const count = wkb.readUInt32LE(at);
    at += 4;
    for (let left = count; left > 0; left -= 1) {
      const found = each();
      if (found !== null) return found;
    }
    return null;
  };
  const point = (): T | null => {
    at += 16;
    return position(at - 16);
  };
  const line = (): T | null => counted(point);
  const walk = (): T | null => {
    const type = wkb.readUInt32LE(at + 1);
    const found = geometry(type, at + 1);
    if (found !== null) return found;
    at += (type & WITH_SRID) === 0 ? 5 : 9;
    switch (type & 0xff) {
      case 1:
        return point();
      case 2:
        return line();
      case 3:
        return counted(line);
      default:
        return counted(walk);
    }
  };
  return walk();
}

/**
 * Numbers must be finite, types simple features. MultiCurve and MultiSurface of straight members, as some desktop programs write, become
 * MultiLineString and MultiPolygon, in place.
 * @returns null, or what is wrong
 */
export function checkWkb(wkb: Buffer): string | null {
  // An exponent of all ones is an infinity or not a number; cheaper than reading the double.
  const isNumber = (at: number): boolean => (wkb.readUInt16LE(at + 6) & 0x7ff0) !== 0x7ff0;
  return walkWkb(wkb, (at) => (isNumber(at) && isNumber(at + 8) ? null : 'a coordinate is not a number'), (type, at) => {
    const linear = LINEAR[type];
    if (linear !== undefined) wkb.writeUInt32LE(linear, at);
    return linear === undefined && (type < 1 || type > 7) ? `geometry type ${type} has curves or surfaces that are not simple features` : null;
  });
}

/** EWKB of PostGIS, in memory of its own: the SRID, and its flag, on the outermost geometry only. */
export function toEwkb(wkb: Buffer, srid: number): Buffer {
  const ewkb = Buffer.allocUnsafeSlow(wkb.length + 4);
  ewkb[0] = 1;
  ewkb.writeUInt32LE((wkb.readUInt32LE(1) | WITH_SRID) >>> 0, 1);
  ewkb.writeUInt32LE(srid, 5);
  wkb.copy(ewkb, 9, 5);
  return ewkb;
}
