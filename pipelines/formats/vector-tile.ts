/**
 * Writes Mapbox Vector Tiles 2.1 from geometries in TWKB, as PostGIS returns them. TWKB stores coordinates as integers in units of 1e-7 degrees, as differences
 * from the previous coordinates. Both engines can write TWKB, but only PostgreSQL can write tiles.
 */

/** Number of units along a side of a tile. */
const EXTENT = 4096;

/** Margin around a tile in units of the tile. Without a margin, the sides of the tiles would be visible as lines. */
const BUFFER = 64;

/** Highest supported zoom of a tile. */
export const HIGHEST_ZOOM = 22;

/** Number of TWKB units per degree. The query requests TWKB with 7 decimals. */
const PER_DEGREE = 1e7;

export interface TileNumber {
  readonly z: number;
  readonly x: number;
  readonly y: number;
}

export type TileValue = string | number | boolean;

export interface TileFeature {
  /** Id of the feature, a whole number from 0; null if the feature has no id. */
  readonly id: number | null;
  readonly tags: Readonly<Record<string, TileValue>>;
}

/** Returns the box of a tile including the buffer, in degrees (EPSG:4326): west, south, east, north. */
export function boxOfTile({ z, x, y }: TileNumber): readonly [number, number, number, number] {
  const [side, more] = [2 ** z, BUFFER / EXTENT];
  const latitude = (row: number): number => (Math.atan(Math.sinh(Math.PI * (1 - (2 * row) / side))) * 180) / Math.PI;
  const longitude = (column: number): number => (column / side) * 360 - 180;
  return [longitude(x - more), latitude(y + 1 + more), longitude(x + 1 + more), latitude(y - more)];
}

/** Returns the tile that contains a point. */
export function tileAt(z: number, lng: number, lat: number): TileNumber {
  const side = 2 ** z;
  const within = (value: number): number => Math.min(side - 1, Math.max(0, Math.floor(value)));
  return { z, x: within(columnOf(lng) * side), y: within(rowOf(lat) * side) };
}

/** Returns the width in degrees of one unit of a tile at a zoom. */
export function unitDegrees(z: number): number {
  return 360 / 2 ** z / EXTENT;
}

/** Returns the Web Mercator column of a longitude, from 0 in the west to 1 in the east. */
function columnOf(lng: number): number {
  return lng / 360 + 0.5;
}

function rowOf(lat: number): number {
  const sine = Math.sin((lat * Math.PI) / 180);
  return 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI);
}

/**
 * Returns a tile with one layer.
 * @param drawings concatenated TWKB with 7 decimals, one geometry for each feature
 * @param geometry kind of all geometries: areas (default) or single points
 * @throws Error for invalid geometries, or if the numbers of geometries and features differ: a bug
 */
export function vectorTile(tile: TileNumber, name: string, features: readonly TileFeature[], drawings: Uint8Array, geometry: 'areas' | 'points' = 'areas'): Buffer {
  const keys = new Map<string, number>();
  const values = new Map<string, number>();
  const layer = new Bytes();
  layer.bytes(1, Buffer.from(name));
  const reader = new Twkb(drawings);
  for (const { id, tags } of features) {
    const commands = geometry === 'points' ? pointCommands(reader.point(), tile) : commandsOf(reader.polygons(), tile);
    const feature = new Bytes();
    if (id !== null) feature.number(1, id);
    feature.packed(2, Object.entries(tags).flatMap(([key, value]) => [numberOf(keys, key), numberOf(values, JSON.stringify(value))]));
    feature.number(3, geometry === 'points' ? POINT : POLYGON);
    feature.packed(4, commands);
    layer.bytes(2, feature.done());
  }
  if (!reader.ended) throw new Error('expected one geometry per feature, found more geometries');
  for (const key of keys.keys()) layer.bytes(3, Buffer.from(key));
  for (const value of values.keys()) layer.bytes(4, valueOf(JSON.parse(value) as TileValue));
  layer.number(5, EXTENT);
  layer.number(15, 2);
  const written = new Bytes();
  written.bytes(3, layer.done());
  return Buffer.from(written.done());
}

const [POINT, POLYGON] = [1, 3];

/** Returns the index of a text in the tile's table. An unknown text gets the next index. */
function numberOf(known: Map<string, number>, each: string): number {
  let number = known.get(each);
  if (number === undefined) known.set(each, number = known.size);
  return number;
}

function valueOf(value: TileValue): Uint8Array {
  const written = new Bytes();
  if (typeof value === 'string') written.bytes(1, Buffer.from(value));
  else if (typeof value === 'boolean') written.number(7, Number(value));
  else if (Number.isSafeInteger(value) && value >= 0) written.number(5, value);
  else written.double(3, value);
  return written.done();
}

/** Points of a ring in units of the tile: x, y, x, y … */
type Ring = number[];

const [MOVE_TO, LINE_TO, CLOSE_PATH] = [1, 2, 7];

/** Returns the column and row of a point in units of the tile. The point is in units of TWKB. */
function unitsOf(lng: number, lat: number, { z, x, y }: TileNumber): readonly [column: number, row: number] {
  const side = 2 ** z * EXTENT;
  return [Math.round(columnOf(lng / PER_DEGREE) * side - x * EXTENT), Math.round(rowOf(lat / PER_DEGREE) * side - y * EXTENT)];
}

function pointCommands([lng, lat]: readonly [number, number], tile: TileNumber): number[] {
  const [column, row] = unitsOf(lng, lat, tile);
  return [MOVE_TO | (1 << 3), zigzag(column), zigzag(row)];
}

/** Returns the drawing commands of a feature. @param polygons rings of each polygon in TWKB units, with the outer ring first */
function commandsOf(polygons: readonly (readonly Ring[])[], tile: TileNumber): number[] {
  const placed = (ring: Ring): Ring => {
    const points: Ring = [];
    for (let at = 0; at < ring.length; at += 2) {
      const [column, row] = unitsOf(ring[at] as number, ring[at + 1] as number, tile);
      if (column !== points.at(-2) || row !== points.at(-1)) points.push(column, row);
    }
    // Removes the last point, which equals the first.
    while (points.length > 2 && points[0] === points.at(-2) && points[1] === points.at(-1)) points.length -= 2;
    return points;
  };
  const drawn: Ring[] = [];
  for (const [outer = [], ...holes] of polygons) {
    const ring = placed(outer);
    const area = areaOf(ring);
    if (area === 0) continue;
    drawn.push(area > 0 ? ring : reversed(ring));
    for (const hole of holes.map(placed)) {
      const inside = areaOf(hole);
      if (inside !== 0) drawn.push(inside < 0 ? hole : reversed(hole));
    }
  }
  // A feature smaller than one unit is drawn as one unit, so that the feature stays visible.
  if (drawn.length === 0) {
    const [column = 0, row = 0] = placed(polygons[0]?.[0] ?? []);
    drawn.push([column, row, column + 1, row, column + 1, row + 1, column, row + 1]);
  }
  const commands: number[] = [];
  let [atX, atY] = [0, 0];
  for (const ring of drawn) {
    for (let at = 0; at < ring.length; at += 2) {
      const [toX, toY] = [ring[at] as number, ring[at + 1] as number];
      if (at === 0) commands.push(MOVE_TO | (1 << 3));
      else if (at === 2) commands.push(LINE_TO | ((ring.length / 2 - 1) << 3));
      commands.push(zigzag(toX - atX), zigzag(toY - atY));
      [atX, atY] = [toX, toY];
    }
    commands.push(CLOSE_PATH | (1 << 3));
  }
  return commands;
}

/** Returns twice the area of a ring, positive if the points are clockwise on the screen. */
function areaOf(ring: Ring): number {
  let area = 0;
  for (let at = 0; at < ring.length; at += 2) {
    const next = (at + 2) % ring.length;
    area += (ring[at] as number) * (ring[next + 1] as number) - (ring[next] as number) * (ring[at + 1] as number);
  }
  return area;
}

function reversed(ring: Ring): Ring {
  const points: Ring = [];
  for (let at = ring.length - 2; at >= 0; at -= 2) points.push(ring[at] as number, ring[at + 1] as number);
  return points;
}

function zigzag(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}

/** Reads concatenated TWKB geometries. */
class Twkb {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get ended(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** Returns the next geometry, which must be a point. */
  point(): [number, number] {
    const [kind, has] = [this.#byte(), this.#byte()];
    if (kind !== POINT_7 || has !== 0) throw new Error(`expected a TWKB point with 7 decimals and no optional attributes, found ${kind}, ${has}`);
    return [this.#signed(), this.#signed()];
  }

  /** Returns the rings of the next geometry's polygons. Ignores lines and points, which clipping produces where a geometry only touches the tile's side. */
  polygons(): Ring[][] {
    const [kind, has] = [this.#byte(), this.#byte()];
    if (kind >> 4 !== 14 || (has & ~EMPTY) !== 0) throw new Error(`expected TWKB with 7 decimals and no optional attributes, found ${kind}, ${has}`);
    if ((has & EMPTY) !== 0) return [];
    const point: [number, number] = [0, 0];
    switch (kind & 15) {
      case 1:
        this.#points(1, point);
        return [];
      case 2:
        this.#ring(point);
        return [];
      case 3:
        return [this.#polygon(point)];
      case 4:
        this.#points(this.#varint(), point);
        return [];
      case 5:
        this.#polygon(point);
        return [];
      case 6:
        return Array.from({ length: this.#varint() }, () => this.#polygon(point));
      default:
        return Array.from({ length: this.#varint() }, () => this.polygons()).flat();
    }
  }

  #polygon(point: [number, number]): Ring[] {
    return Array.from({ length: this.#varint() }, () => this.#ring(point));
  }

  #ring(point: [number, number]): Ring {
    return this.#points(this.#varint(), point);
  }

  /** Reads the points of a ring. @param point the previous point; changed to the last point of the ring */
  #points(count: number, point: [number, number]): Ring {
    const ring: Ring = new Array<number>(count * 2);
    for (let at = 0; at < ring.length; at += 2) {
      point[0] += this.#signed();
      point[1] += this.#signed();
      [ring[at], ring[at + 1]] = point;
    }
    return ring;
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new Error('TWKB ends inside a geometry');
    this.#at += 1;
    return byte;
  }

  #varint(): number {
    let value = 0;
    for (let unit = 1; ; unit *= 128) {
      const byte = this.#byte();
      value += (byte & 127) * unit;
      if (byte < 128) return value;
    }
  }

  #signed(): number {
    const value = this.#varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
}

/** First byte of a TWKB point with 7 decimals. */
const POINT_7 = (14 << 4) | 1;

/** Flag of TWKB for an empty geometry. */
const EMPTY = 16;

/** Writes the fields of a protocol buffer. */
class Bytes {
  #buffer = Buffer.allocUnsafe(256);
  #length = 0;

  number(field: number, value: number): void {
    this.#varint(field * 8);
    this.#varint(value);
  }

  double(field: number, value: number): void {
    this.#varint(field * 8 + 1);
    this.#room(8);
    this.#length = this.#buffer.writeDoubleLE(value, this.#length);
  }

  bytes(field: number, value: Uint8Array): void {
    this.#varint(field * 8 + 2);
    this.#varint(value.length);
    this.#room(value.length);
    this.#buffer.set(value, this.#length);
    this.#length += value.length;
  }

  packed(field: number, values: readonly number[]): void {
    const inside = new Bytes();
    for (const value of values) inside.#varint(value);
    this.bytes(field, inside.done());
  }

  done(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  #room(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + bytes));
    larger.set(this.done());
    this.#buffer = larger;
  }

  #varint(value: number): void {
    this.#room(10);
    let rest = value;
    while (rest >= 128) {
      this.#buffer[this.#length] = (rest % 128) | 128;
      this.#length += 1;
      rest = Math.floor(rest / 128);
    }
    this.#buffer[this.#length] = rest;
    this.#length += 1;
  }
}
