/**
 * Writes shapefiles for synthetic regions and fixtures: .shp, .shx, .dbf, .prj and .cpg. Format: "ESRI Shapefile Technical Description", July 1998; dBASE III
 * table. Builds the whole layer in memory.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { itemAt } from './items.ts';
import { ringArea, type MultiPolygon, type Point } from './plane-geometry.ts';
import type { ZipEntry } from './zip-writer.ts';

export type ShapefileField =
  /** A field for text of at most `length` bytes (1–254). */
  | { readonly name: string; readonly type: 'text'; readonly length: number }
  /** A whole number of at most `length` characters. */
  | { readonly name: string; readonly type: 'integer'; readonly length: number }
  | { readonly name: string; readonly type: 'real'; readonly length: number; readonly decimals: number }
  /** A date, such as `2026-01-31`. */
  | { readonly name: string; readonly type: 'date' };

type ShapefileGeometry =
  | { readonly type: 'polygon'; readonly polygons: MultiPolygon }
  | { readonly type: 'line'; readonly lines: readonly (readonly Point[])[] }
  | { readonly type: 'point'; readonly point: Point };

export interface ShapefileFeature {
  /** Geometry; null for a null shape. */
  readonly geometry: ShapefileGeometry | null;
  /** Values in the order of the layer's fields. */
  readonly values: readonly (string | number | null)[];
}

export interface ShapefileLayer {
  readonly type: ShapefileGeometry['type'];
  readonly fields: readonly ShapefileField[];
  /** Features with coordinates in the CRS of `srid`. Easting precedes northing, and longitude precedes latitude. */
  readonly features: Iterable<ShapefileFeature>;
  readonly srid: keyof typeof ESRI_WKT;
  /** Date of the last change in the header of the .dbf; by default 2000-01-01. */
  readonly modified?: string;
  /** Encoding of the .dbf, by default `utf-8`. If null, the .dbf is in latin1 and the .cpg is omitted, as in old editions of published files. */
  readonly encoding?: 'utf-8' | 'latin1' | null;
}

interface ShapefileParts {
  readonly shp: Buffer;
  readonly shx: Buffer;
  readonly dbf: Buffer;
  readonly prj: Buffer;
  /** Content of the .cpg; null for a shapefile without a .cpg. */
  readonly cpg: Buffer | null;
}

const WGS84 = 'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]';
const ETRS89 = 'GEOGCS["GCS_ETRS_1989",DATUM["D_ETRS_1989",SPHEROID["GRS_1980",6378137.0,298.257222101]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]';
const RDN2008 = 'GEOGCS["GCS_RDN2008",DATUM["D_RDN2008",SPHEROID["GRS_1980",6378137.0,298.257222101]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]';
const utm = (zone: number): string =>
  `PROJCS["WGS_1984_UTM_Zone_${zone}N",${WGS84},PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",500000.0],PARAMETER["False_Northing",0.0],`
  + `PARAMETER["Central_Meridian",${zone * 6 - 183}.0],PARAMETER["Scale_Factor",0.9996],PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]`;

/** WKT of CRSs for .prj files in ArcGIS's form, by EPSG number. */
export const ESRI_WKT = {
  3035: `PROJCS["ETRS_1989_LAEA",${ETRS89},PROJECTION["Lambert_Azimuthal_Equal_Area"],PARAMETER["False_Easting",4321000.0],PARAMETER["False_Northing",3210000.0],`
    + 'PARAMETER["Central_Meridian",10.0],PARAMETER["Latitude_Of_Origin",52.0],UNIT["Meter",1.0]]',
  4326: WGS84,
  6706: RDN2008,
  7794: `PROJCS["RDN2008_Italy_zone_E-N",${RDN2008},PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",7000000.0],PARAMETER["False_Northing",0.0],`
    + 'PARAMETER["Central_Meridian",12.0],PARAMETER["Scale_Factor",0.9985],PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]',
  25832: `PROJCS["ETRS_1989_UTM_Zone_32N",${ETRS89},PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",500000.0],PARAMETER["False_Northing",0.0],`
    + 'PARAMETER["Central_Meridian",9.0],PARAMETER["Scale_Factor",0.9996],PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]',
  32632: utm(32),
  32633: utm(33),
} as const;

const SHAPE_TYPE = { point: 1, line: 3, polygon: 5 } as const;

/** Returns the parts of a geometry in the form of a shapefile, with clockwise outer rings and counter-clockwise holes. */
function partsOf(geometry: ShapefileGeometry): readonly (readonly Point[])[] {
  if (geometry.type === 'line') return geometry.lines;
  if (geometry.type === 'point') return [[geometry.point]];
  return geometry.polygons.flatMap((polygon) => polygon.map((ring, index) => ((ringArea(ring) > 0) === (index === 0) ? [...ring].reverse() : ring)));
}

type Bounds = [number, number, number, number];

function extend(bounds: Bounds, points: Iterable<Point>): Bounds {
  for (const [x, y] of points) {
    bounds[0] = Math.min(bounds[0], x);
    bounds[1] = Math.min(bounds[1], y);
    bounds[2] = Math.max(bounds[2], x);
    bounds[3] = Math.max(bounds[3], y);
  }
  return bounds;
}

function writeBounds(into: Buffer, at: number, bounds: Bounds): void {
  bounds.forEach((value, index) => into.writeDoubleLE(Number.isFinite(value) ? value : 0, at + index * 8));
}

function shapeContent(geometry: ShapefileGeometry | null): Buffer {
  if (geometry === null) return Buffer.alloc(4);
  if (geometry.type === 'point') {
    const content = Buffer.alloc(20);
    content.writeInt32LE(SHAPE_TYPE.point, 0);
    content.writeDoubleLE(geometry.point[0], 4);
    content.writeDoubleLE(geometry.point[1], 12);
    return content;
  }
  const parts = partsOf(geometry);
  const points = parts.reduce((sum, part) => sum + part.length, 0);
  const content = Buffer.alloc(44 + parts.length * 4 + points * 16);
  content.writeInt32LE(SHAPE_TYPE[geometry.type], 0);
  writeBounds(content, 4, extend([Infinity, Infinity, -Infinity, -Infinity], parts.flat()));
  content.writeInt32LE(parts.length, 36);
  content.writeInt32LE(points, 40);
  let at = 44;
  let first = 0;
  for (const part of parts) {
    at = content.writeInt32LE(first, at);
    first += part.length;
  }
  for (const part of parts) for (const [x, y] of part) at = content.writeDoubleLE(y, content.writeDoubleLE(x, at));
  return content;
}

function mainHeader(bytes: number, type: ShapefileLayer['type'], bounds: Bounds): Buffer {
  const header = Buffer.alloc(100);
  header.writeInt32BE(9994, 0);
  header.writeInt32BE(bytes / 2, 24);
  header.writeInt32LE(1000, 28);
  header.writeInt32LE(SHAPE_TYPE[type], 32);
  writeBounds(header, 36, bounds);
  return header;
}

const width = (field: ShapefileField): number => (field.type === 'date' ? 8 : field.length);

function cell(field: ShapefileField, value: string | number | null, encoding: 'utf-8' | 'latin1'): Buffer {
  const size = width(field);
  const bytes = Buffer.alloc(size, 0x20);
  if (value === null) return bytes;
  const text = field.type === 'real' ? Number(value).toFixed(field.decimals) : field.type === 'date' ? String(value).replaceAll('-', '') : String(value);
  const written = Buffer.from(text, encoding);
  if (written.length > size) throw new RangeError(`expected at most ${size} bytes in field ${field.name}, found "${text}"`);
  written.copy(bytes, field.type === 'integer' || field.type === 'real' ? size - written.length : 0);
  return bytes;
}

/**
 * Returns the bytes of a layer's files.
 * @throws RangeError if a value or a field name is too long, or if the length of a field is not 1–254
 * @throws TypeError if the type of a geometry or the number of values does not match
 */
export function shapefileParts(layer: ShapefileLayer): ShapefileParts {
  const encoding = layer.encoding === 'utf-8' || layer.encoding === undefined ? 'utf-8' : 'latin1';
  const shp: Buffer[] = [];
  const shx: Buffer[] = [];
  const rows: Buffer[] = [];
  const bounds: Bounds = [Infinity, Infinity, -Infinity, -Infinity];
  let offset = 100;
  for (const { geometry, values } of layer.features) {
    if (geometry !== null && geometry.type !== layer.type) throw new TypeError(`expected a ${layer.type} in the layer, found a ${geometry.type}`);
    if (values.length !== layer.fields.length) throw new TypeError(`expected ${layer.fields.length} values for the fields of the layer, found ${values.length}`);
    if (geometry !== null) for (const part of partsOf(geometry)) extend(bounds, part);
    const content = shapeContent(geometry);
    const header = Buffer.alloc(8);
    header.writeInt32BE(rows.length + 1, 0);
    header.writeInt32BE(content.length / 2, 4);
    shp.push(header, content);
    const entry = Buffer.alloc(8);
    entry.writeInt32BE(offset / 2, 0);
    entry.writeInt32BE(content.length / 2, 4);
    shx.push(entry);
    offset += 8 + content.length;
    rows.push(Buffer.concat([Buffer.from(' '), ...layer.fields.map((field, index) => cell(field, itemAt(values, index), encoding))]));
  }
  return {
    shp: Buffer.concat([mainHeader(offset, layer.type, bounds), ...shp]),
    shx: Buffer.concat([mainHeader(100 + shx.length * 8, layer.type, bounds), ...shx]),
    dbf: dbf(layer.fields, rows, layer.modified ?? '2000-01-01'),
    prj: Buffer.from(ESRI_WKT[layer.srid], 'latin1'),
    cpg: layer.encoding === null ? null : Buffer.from(encoding === 'utf-8' ? 'UTF-8' : 'ISO-8859-1'),
  };
}

function dbf(fields: readonly ShapefileField[], rows: readonly Buffer[], modified: string): Buffer {
  const headerSize = 32 + fields.length * 32 + 1;
  const header = Buffer.alloc(headerSize);
  header[0] = 0x03;
  // Writes the given date instead of today, so that the same content gives the same bytes.
  const [year, month, day] = modified.split('-').map(Number);
  header[1] = (year ?? 0) - 1900;
  header[2] = month ?? 0;
  header[3] = day ?? 0;
  header.writeUInt32LE(rows.length, 4);
  header.writeUInt16LE(headerSize, 8);
  header.writeUInt16LE(1 + fields.reduce((sum, field) => sum + width(field), 0), 10);
  fields.forEach((field, index) => {
    const at = 32 + index * 32;
    if (Buffer.byteLength(field.name) > 10) throw new RangeError(`field name ${field.name} is longer than 10 bytes`);
    if (width(field) < 1 || width(field) > 254) throw new RangeError(`field ${field.name} must hold 1–254 bytes`);
    header.write(field.name, at, 'latin1');
    header.write({ text: 'C', integer: 'N', real: 'N', date: 'D' }[field.type], at + 11, 'latin1');
    header[at + 16] = width(field);
    header[at + 17] = field.type === 'real' ? field.decimals : 0;
  });
  header[headerSize - 1] = 0x0d;
  return Buffer.concat([header, ...rows, Buffer.from([0x1a])]);
}

function named(parts: ShapefileParts): (readonly [string, Buffer])[] {
  return (['shp', 'shx', 'dbf', 'prj', 'cpg'] as const).flatMap((extension) => {
    const bytes = parts[extension];
    return bytes === null ? [] : [[extension, bytes] as const];
  });
}

/** Writes `<folder>/<name>.shp` and the sidecars. Creates the folder if necessary. */
export async function writeShapefile(folder: string, name: string, layer: ShapefileLayer): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [extension, bytes] of named(shapefileParts(layer))) await writeFile(join(folder, `${name}.${extension}`), bytes);
}

/** Returns `<path>.shp` and the sidecars as entries of a zip. */
export function shapefileEntries(path: string, layer: ShapefileLayer): ZipEntry[] {
  return named(shapefileParts(layer)).map(([extension, bytes]) => [`${path}.${extension}`, bytes]);
}
