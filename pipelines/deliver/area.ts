/** Reads the area of an export: a whole region, a comune, a box or polygons. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { z } from 'zod';
import type { Region } from '../contract/regions.ts';
import { one, type Database } from '../db/index.ts';
import { statementsOf } from '../db/statements.ts';
import { MappaleError } from '../errors.ts';
import { quoted, retyped, withOption } from '../typed.ts';

const statement = statementsOf('deliver');

/** Area whose parcels an export writes. Polygons select the parcels whose representative points are inside a polygon or on its border. */
export type Area =
  | { readonly kind: 'region' }
  | { readonly kind: 'comune'; readonly belfiore: string }
  /** `geojson`: a geometry in EPSG:4326, longitude latitude. `name`: the area in file names and titles. */
  | { readonly kind: 'polygons'; readonly geojson: string; readonly name: string };

/** Returns the name of an area for use in file names; empty for the whole region. */
export function areaName(area: Area): string {
  switch (area.kind) {
    case 'region': return '';
    case 'comune': return area.belfiore;
    case 'polygons': return area.name;
  }
}

/** Returns the title of an export, which names its region and area. */
export function areaTitle(region: Region, area: Area): string {
  switch (area.kind) {
    case 'region': return `Parcels of ${region.name}`;
    case 'comune': return `Parcels of the comune ${area.belfiore} in ${region.name}`;
    case 'polygons': return `Parcels of ${region.name} in ${area.name}`;
  }
}

/** Parses a bounding box. @param text `west,south,east,north` in degrees @throws MappaleError `BBOX_INVALID` (exit 2) */
export function boxArea(text: string): Area {
  const sides = text.split(',').map((side) => (/^\s*-?\d{1,3}(\.\d+)?\s*$/.test(side) ? Number(side) : Number.NaN));
  const [west = Number.NaN, south = Number.NaN, east = Number.NaN, north = Number.NaN] = sides;
  if (sides.length !== 4 || !(west < east && south < north && west >= -180 && east <= 180 && south >= -90 && north <= 90)) {
    throw new MappaleError('the box is not valid', {
      code: 'BBOX_INVALID', kind: 'usage', detail: `expected west,south,east,north in degrees, found ${text}`, hint: 'Write longitude before latitude.',
      fix: retyped(withOption('--bbox', '14.60,41.50,14.70,41.60'), 'npx mappale export REGION --bbox 14.60,41.50,14.70,41.60'),
    });
  }
  const ring = [[west, south], [east, south], [east, north], [west, north], [west, south]];
  return { kind: 'polygons', name: 'box', geojson: JSON.stringify({ type: 'Polygon', coordinates: [ring] }) };
}

const position = z.tuple([z.number().min(-180).max(180), z.number().min(-90).max(90)], z.number());
const polygon = z.array(z.array(position).min(4)).min(1);
const geometry = z.union([
  z.object({ type: z.literal('Polygon'), coordinates: polygon }).transform(({ coordinates }) => [coordinates]),
  z.object({ type: z.literal('MultiPolygon'), coordinates: z.array(polygon).min(1) }).transform(({ coordinates }) => coordinates),
]);
const feature = z.object({ type: z.literal('Feature'), geometry }).transform((each) => each.geometry);
const collection = z.object({ type: z.literal('FeatureCollection'), features: z.array(feature).min(1) }).transform(({ features }) => features.flat());
const drawing = z.union([geometry, feature, collection]);

/** Matches the CRS names for longitude and latitude in degrees in GeoJSON from before RFC 7946. */
const IN_DEGREES = /CRS84$|EPSG:{1,2}4326$/;
const namedSystem = z.object({ crs: z.object({ properties: z.object({ name: z.string() }) }) });

/**
 * Reads polygons from a GeoJSON file with a geometry, a feature or a collection of features, in EPSG:4326.
 * @throws MappaleError `POLYGON_UNREADABLE`, `POLYGON_INVALID` (exit 2)
 */
export async function polygonArea(database: Database, path: string): Promise<Area> {
  const read = await readFile(path, 'utf8').then(
    (text) => JSON.parse(text.replace(/^\uFEFF/, '')) as unknown,
    (error: unknown) => {
      throw unreadable(path, `found: ${(error as Error).message}`, error);
    },
  ).catch((error: unknown) => {
    throw error instanceof SyntaxError ? unreadable(path, `expected JSON, found: ${error.message}`, error) : error;
  });
  const system = namedSystem.safeParse(read);
  if (system.success && !IN_DEGREES.test(system.data.crs.properties.name)) {
    throw unreadable(path, `expected EPSG:4326, found ${system.data.crs.properties.name}`);
  }
  const parsed = drawing.safeParse(read);
  if (!parsed.success) throw unreadable(path, 'expected GeoJSON polygons in degrees, longitude before latitude, found other content');
  const geojson = JSON.stringify({ type: 'MultiPolygon', coordinates: parsed.data });
  const { problem } = await one<{ problem: string | null }>(database, statement('polygon_problem'), [geojson]);
  if (problem !== null) {
    throw new MappaleError('the polygons are not valid', {
      code: 'POLYGON_INVALID', kind: 'usage', at: path, detail: `expected valid polygons, found: ${problem}`, hint: 'Repair the file, for example with GDAL.',
      fix: `ogr2ogr -makevalid repaired.geojson ${quoted(path)}`,
    });
  }
  return { kind: 'polygons', name: basename(path).replace(/\.(geo)?json$/i, ''), geojson };
}

function unreadable(path: string, detail: string, cause?: unknown): MappaleError {
  return new MappaleError('the polygons cannot be read', {
    code: 'POLYGON_UNREADABLE', kind: 'usage', at: path, detail, hint: 'Save the area as GeoJSON in EPSG:4326, for example with GDAL.',
    fix: `ogr2ogr -t_srs EPSG:4326 area.geojson ${quoted(path)}`, cause,
  });
}
