/**
 * Writes Mapbox Vector Tiles 2.1 from geometries that PostGIS returns as TWKB. TWKB stores coordinates as integers in units of 1e-7 degrees, as differences
 * from the previous coordinates. Both database engines can write TWKB, but only PostgreSQL can write tiles.
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

/** Returns the width of one unit of a tile at a zoom, in degrees of longitude. */
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
  const values = new Map<TileValue, number>();
  const layer = new Bytes();
  layer.bytes(1, Buffer.from(name));
  const reader = new Twkb(drawings);
  const drawing = new Drawing(tile);
  // The buffers are reused for all features, because a tile may have thousands of features.
  const [pairs, feature] = [new Bytes(), new Bytes()];
  for (const { id, tags } of features) {
    drawing.clear();
    if (geometry === 'points') reader.point(drawing);
    else reader.areas(drawing);
    pairs.clear();
    for (const key of Object.keys(tags)) {
      pairs.varint(numberOf(keys, key));
      pairs.varint(numberOf(values, tags[key] as TileValue));
    }
    feature.clear();
    if (id !== null) feature.number(1, id);
    feature.part(2, pairs);
    feature.number(3, geometry === 'points' ? POINT : POLYGON);
    feature.part(4, drawing.commands());
    layer.part(2, feature);
  }
  if (!reader.ended) throw new Error('expected one geometry per feature, found more geometries');
  for (const key of keys.keys()) layer.bytes(3, Buffer.from(key));
  for (const value of values.keys()) layer.bytes(4, valueOf(value));
  layer.number(5, EXTENT);
  layer.number(15, 2);
  const written = new Bytes();
  written.part(3, layer);
  return Buffer.from(written.done());
}

const [POINT, POLYGON] = [1, 3];

/** Returns the index of a key or value in the tile's table. An unknown key or value gets the next index. */
function numberOf<T>(known: Map<T, number>, each: T): number {
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

const [MOVE_TO, LINE_TO, CLOSE_PATH] = [1, 2, 7];

/** Builds the drawing commands of one feature at a time, from coordinates in TWKB units. */
class Drawing {
  readonly #commands = new Bytes();
  readonly #side: number;
  readonly #left: number;
  readonly #top: number;
  /** Points of the current ring in units of the tile: x, y, x, y … Elements from `#length` on belong to earlier rings. */
  readonly #ring: number[] = [];
  #length = 0;
  /** True if the current polygon has an area. Holes of a polygon without an area are not drawn. */
  #isDrawn = false;
  /** First point of the first polygon; null before the first polygon. */
  #first: readonly [column: number, row: number] | null = null;
  #atX = 0;
  #atY = 0;

  constructor({ z, x, y }: TileNumber) {
    this.#side = 2 ** z * EXTENT;
    this.#left = x * EXTENT;
    this.#top = y * EXTENT;
  }

  clear(): void {
    this.#commands.clear();
    this.#length = 0;
    this.#first = null;
    this.#atX = 0;
    this.#atY = 0;
  }

  /** Adds a point to the current ring. Omits a point that equals the previous point in units of the tile. */
  point(lng: number, lat: number): void {
    const column = Math.round(columnOf(lng / PER_DEGREE) * this.#side - this.#left);
    const row = Math.round(rowOf(lat / PER_DEGREE) * this.#side - this.#top);
    if (this.#length > 0 && this.#ring[this.#length - 2] === column && this.#ring[this.#length - 1] === row) return;
    this.#ring[this.#length] = column;
    this.#ring[this.#length + 1] = row;
    this.#length += 2;
  }

  /** Draws the current ring as a single point. */
  endPoint(): void {
    this.#commands.varint(MOVE_TO | (1 << 3));
    this.#moveTo(0);
    this.#length = 0;
  }

  /** Draws the current ring. @param isOuter true for the outer ring of a polygon, false for a hole */
  endRing(isOuter: boolean): void {
    const ring = this.#ring;
    if (isOuter) this.#first ??= [ring[0] ?? 0, ring[1] ?? 0];
    // Removes points at the end of the ring that equal the first point.
    while (this.#length > 2 && ring[0] === ring[this.#length - 2] && ring[1] === ring[this.#length - 1]) this.#length -= 2;
    const area = this.#area();
    if (isOuter) this.#isDrawn = area !== 0;
    // Outer rings are clockwise on the screen, and holes are counterclockwise.
    if (this.#isDrawn && area !== 0) this.#draw((area > 0) === isOuter);
    this.#length = 0;
  }

  /** Ends a polygon without rings. The position of such a polygon is the north-western corner of the tile. */
  endEmpty(): void {
    this.#first ??= [0, 0];
  }

  /** Returns the commands of the feature. A feature without an area in units of the tile is drawn as a square of one unit and stays visible. */
  commands(): Bytes {
    if (this.#commands.length === 0) {
      const [column, row] = this.#first ?? [0, 0];
      this.#ring.splice(0, 8, column, row, column + 1, row, column + 1, row + 1, column, row + 1);
      this.#length = 8;
      this.#draw(true);
    }
    return this.#commands;
  }

  #draw(isForward: boolean): void {
    const last = this.#length - 2;
    for (let at = 0; at <= last; at += 2) {
      if (at === 0) this.#commands.varint(MOVE_TO | (1 << 3));
      else if (at === 2) this.#commands.varint(LINE_TO | ((last / 2) << 3));
      this.#moveTo(isForward ? at : last - at);
    }
    this.#commands.varint(CLOSE_PATH | (1 << 3));
  }

  #moveTo(at: number): void {
    const [toX, toY] = [this.#ring[at] as number, this.#ring[at + 1] as number];
    this.#commands.varint(zigzag(toX - this.#atX));
    this.#commands.varint(zigzag(toY - this.#atY));
    this.#atX = toX;
    this.#atY = toY;
  }

  /** Returns twice the area of the current ring, positive if the points are clockwise on the screen. */
  #area(): number {
    const ring = this.#ring;
    if (this.#length === 0) return 0;
    let area = 0;
    let [fromX, fromY] = [ring[this.#length - 2] as number, ring[this.#length - 1] as number];
    for (let at = 0; at < this.#length; at += 2) {
      const [toX, toY] = [ring[at] as number, ring[at + 1] as number];
      area += fromX * toY - toX * fromY;
      fromX = toX;
      fromY = toY;
    }
    return area;
  }
}

function zigzag(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}

/** Reads concatenated TWKB geometries. */
class Twkb {
  readonly #bytes: Uint8Array;
  #at = 0;
  /** Previous point, in TWKB units. */
  #lng = 0;
  #lat = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get ended(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** Draws the next geometry, which must be a point. */
  point(drawing: Drawing): void {
    const [kind, has] = [this.#byte(), this.#byte()];
    if (kind !== POINT_7 || has !== 0) throw new Error(`expected a TWKB point with 7 decimals and no optional attributes, found ${kind}, ${has}`);
    const lng = this.#signed();
    drawing.point(lng, this.#signed());
    drawing.endPoint();
  }

  /** Draws the polygons of the next geometry. Ignores lines and points, which clipping produces where a geometry only touches the tile's side. */
  areas(drawing: Drawing): void {
    const [kind, has] = [this.#byte(), this.#byte()];
    if (kind >> 4 !== 14 || (has & ~EMPTY) !== 0) throw new Error(`expected TWKB with 7 decimals and no optional attributes, found ${kind}, ${has}`);
    if ((has & EMPTY) !== 0) return;
    this.#lng = 0;
    this.#lat = 0;
    switch (kind & 15) {
      case 1:
        this.#points(1, null);
        break;
      case 2:
      case 4:
        this.#points(this.#varint(), null);
        break;
      case 3:
        this.#polygon(drawing);
        break;
      case 5:
        this.#polygon(null);
        break;
      case 6:
        for (let left = this.#varint(); left > 0; left -= 1) this.#polygon(drawing);
        break;
      default:
        for (let left = this.#varint(); left > 0; left -= 1) this.areas(drawing);
    }
  }

  /** Reads a polygon, or several lines. @param drawing null: the geometry is not drawn */
  #polygon(drawing: Drawing | null): void {
    const rings = this.#varint();
    if (rings === 0) drawing?.endEmpty();
    for (let ring = 0; ring < rings; ring += 1) {
      this.#points(this.#varint(), drawing);
      drawing?.endRing(ring === 0);
    }
  }

  #points(count: number, drawing: Drawing | null): void {
    for (let left = count; left > 0; left -= 1) {
      this.#lng += this.#signed();
      this.#lat += this.#signed();
      drawing?.point(this.#lng, this.#lat);
    }
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

/** TWKB flag for an empty geometry. */
const EMPTY = 16;

/** Writes the fields of a protocol buffer. */
class Bytes {
  #buffer = Buffer.allocUnsafe(256);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  clear(): void {
    this.#length = 0;
  }

  number(field: number, value: number): void {
    this.varint(field * 8);
    this.varint(value);
  }

  double(field: number, value: number): void {
    this.varint(field * 8 + 1);
    this.#room(8);
    this.#length = this.#buffer.writeDoubleLE(value, this.#length);
  }

  bytes(field: number, value: Uint8Array): void {
    this.varint(field * 8 + 2);
    this.varint(value.length);
    this.#room(value.length);
    this.#buffer.set(value, this.#length);
    this.#length += value.length;
  }

  /** Writes a message or a packed list as a field. */
  part(field: number, part: Bytes): void {
    const { length } = part;
    this.varint(field * 8 + 2);
    this.varint(length);
    this.#room(length);
    part.#buffer.copy(this.#buffer, this.#length, 0, length);
    this.#length += length;
  }

  done(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  varint(value: number): void {
    this.#room(10);
    let rest = value;
    // Bitwise operators work with at most 32 bits.
    while (rest > 0x7fffffff) {
      this.#buffer[this.#length] = (rest % 128) | 128;
      this.#length += 1;
      rest = Math.floor(rest / 128);
    }
    while (rest >= 128) {
      this.#buffer[this.#length] = (rest & 127) | 128;
      this.#length += 1;
      rest >>= 7;
    }
    this.#buffer[this.#length] = rest;
    this.#length += 1;
  }

  #room(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + bytes));
    larger.set(this.done());
    this.#buffer = larger;
  }
}
