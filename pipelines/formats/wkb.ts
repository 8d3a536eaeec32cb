/** Geometries in well-known binary, little-endian, XY. */

/** WKB type of a collection that must hold simple members → what it is when they are linear. */
const LINEAR: Readonly<Record<number, number>> = { 11: 5, 12: 6 };

/**
 * Walks little-endian 2D WKB in place: numbers must be finite, types simple features. MultiCurve and MultiSurface of straight members, as some
 * desktop programs write, become MultiLineString and MultiPolygon.
 * @returns null, or what is wrong
 */
export function checkWkb(wkb: Buffer): string | null {
  let at = 0;
  const coordinates = (count: number): string | null => {
    for (const end = at + count * 16; at < end; at += 8) {
      // An exponent of all ones is an infinity or not a number; cheaper than reading the double.
      if ((wkb[at + 7]! & 0x7f) === 0x7f && wkb[at + 6]! >= 0xf0) return 'a coordinate is not a number';
    }
    return null;
  };
  const walk = (): string | null => {
    const type = wkb.readUInt32LE(at + 1);
    const typeAt = at + 1;
    at += 5;
    if (type === 1) return coordinates(1);
    const count = wkb.readUInt32LE(at);
    at += 4;
    if (type === 2) return coordinates(count);
    if (type === 3) {
      for (let ring = 0; ring < count; ring += 1) {
        const points = wkb.readUInt32LE(at);
        at += 4;
        const wrong = coordinates(points);
        if (wrong !== null) return wrong;
      }
      return null;
    }
    const linear = LINEAR[type];
    if ((type < 4 || type > 7) && linear === undefined) return `geometry type ${type} has curves or surfaces that are not simple features`;
    if (linear !== undefined) wkb.writeUInt32LE(linear, typeAt);
    for (let member = 0; member < count; member += 1) {
      const wrong = walk();
      if (wrong !== null) return wrong;
    }
    return null;
  };
  return walk();
}

/** EWKB of PostGIS, in memory of its own: the type's flag 0x20000000, then the SRID, on the outermost geometry only. */
export function toEwkb(wkb: Buffer, srid: number): Buffer {
  const ewkb = Buffer.allocUnsafeSlow(wkb.length + 4);
  ewkb[0] = 1;
  ewkb.writeUInt32LE((wkb.readUInt32LE(1) | 0x20000000) >>> 0, 1);
  ewkb.writeUInt32LE(srid, 5);
  wkb.copy(ewkb, 9, 5);
  return ewkb;
}
