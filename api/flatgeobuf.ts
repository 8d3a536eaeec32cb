/** Writes a page of features as FlatGeobuf, a binary format. Coordinates have x before y, as readers of FlatGeobuf expect. */
import { ColumnType } from 'flatgeobuf/lib/mjs/flat-geobuf/column-type.js';
import { GeometryType } from 'flatgeobuf/lib/mjs/flat-geobuf/geometry-type.js';
import type { HeaderMeta } from 'flatgeobuf/lib/mjs/header-meta.js';
import { crsOf } from './crs.ts';
import type { Binary } from './endpoint.ts';
import { FLATGEOBUF_TYPE } from './ogc-answers.ts';

type Ring = [number, number][];
type Outline = { readonly type: 'Polygon'; readonly coordinates: Ring[] } | { readonly type: 'MultiPolygon'; readonly coordinates: Ring[][] };

interface Feature {
  readonly id: number;
  readonly geometry: Outline;
  readonly properties: Readonly<Record<string, unknown>>;
}

interface Page {
  readonly features: readonly Feature[];
  readonly links: readonly { readonly href: string; readonly rel: string; readonly type?: string }[];
  readonly licenses: readonly { readonly url: string; readonly attribution: string }[];
}

/** Types of the columns that are not sections. The column of a section is JSON. */
const COLUMNS = {
  fid: ColumnType.Int, cadastral_reference: ColumnType.String, region_code: ColumnType.Int, municipality_code: ColumnType.String, sheet: ColumnType.String,
  label: ColumnType.String, kind: ColumnType.String, area_m2: ColumnType.Double, coverage: ColumnType.String,
} as const;

function headerOf(features: readonly Feature[]): HeaderMeta {
  const names = ['fid', ...new Set(features.flatMap(({ properties }) => Object.keys(properties)))];
  return {
    geometryType: GeometryType.MultiPolygon,
    columns: names.map((name) => ({
      name, type: Object.hasOwn(COLUMNS, name) ? COLUMNS[name as keyof typeof COLUMNS] : ColumnType.Json,
      title: null, description: null, width: -1, precision: -1, scale: -1, nullable: true, unique: false, primary_key: false,
    })),
    featuresCount: features.length,
    envelope: null, indexNodeSize: 0, crs: null, title: null, description: null, metadata: null,
  };
}

/** Returns the header Link, with the links of the page and the URLs of the licences. */
function linkHeader({ links, licenses }: Page): string {
  const licenceUrls = [...new Set(licenses.map(({ url }) => url))];
  return [
    ...links.map(({ href, rel, type }) => `<${href}>; rel="${rel}"${type === undefined ? '' : `; type="${type}"`}`),
    ...licenceUrls.map((url) => `<${url}>; rel="license"`),
  ].join(', ');
}

/** Writes a page. The library is imported when the first page is written. */
const encode: Binary['encode'] = async (answer, { crs }) => {
  const [{ buildFeature }, { buildHeader }, { parseGeometry }, { magicbytes }] = await Promise.all([
    import('flatgeobuf/lib/mjs/generic/feature.js'), import('flatgeobuf/lib/mjs/generic/featurecollection.js'),
    import('flatgeobuf/lib/mjs/geojson/geometry.js'), import('flatgeobuf/lib/mjs/constants.js'),
  ]);
  const page = JSON.parse(answer) as Page;
  const header = headerOf(page.features);
  const missing = Object.fromEntries((header.columns ?? []).map(({ name }) => [name, null]));
  const parts = page.features.map(({ id, geometry, properties }) => {
    const multi = geometry.type === 'Polygon' ? { type: 'MultiPolygon' as const, coordinates: [geometry.coordinates] } : geometry;
    return buildFeature(parseGeometry(multi), { ...missing, fid: id, ...properties }, header);
  });
  return { body: Buffer.concat([magicbytes, buildHeader(header, crsOf(crs as string | undefined).srid), ...parts]), link: linkHeader(page) };
};

export const FLATGEOBUF: Binary = { name: 'fgb', type: FLATGEOBUF_TYPE, encode };
