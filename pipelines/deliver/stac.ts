/** Creates the STAC 1.1 item of an exported file. The item describes the content, extent, time and licences of the file. */
import { areaName } from './area.ts';
import type { OutputColumn } from './columns.ts';
import type { ExportFacts } from './export.ts';

interface Asset {
  /** File name without folder, because file and item are in the same folder. */
  readonly name: string;
  readonly mediaType: string;
  /** Name of the geometry column; null if the file has no geometry column. */
  readonly geometry: string | null;
  readonly bytes: number;
  readonly sha256: string;
}

/** Returns the path of the STAC item of an exported file. */
export function stacPath(path: string): string {
  return `${path}.stac.json`;
}

/** Names of column types for STAC's table extension, which does not define such names. */
const TYPES: Readonly<Record<OutputColumn['type'], string>> = { int2: 'int16', int4: 'int32', int8: 'int64', float8: 'double', text: 'string', bool: 'boolean' };

/** Returns the STAC item as JSON text. */
export function stacItem(facts: ExportFacts, { name, mediaType, geometry, bytes, sha256 }: Asset): string {
  const { region, area, title, columns, parcels, extent, publishedAt, digest, licences, createdBy } = facts;
  const [west, south, east, north] = extent;
  const part = areaName(area);
  const holders = [...new Set(licences.map(({ holder }) => holder))];
  return `${JSON.stringify({
    type: 'Feature',
    stac_version: '1.1.0',
    stac_extensions: ['https://stac-extensions.github.io/table/v1.2.0/schema.json', 'https://stac-extensions.github.io/file/v2.1.0/schema.json'],
    id: ['mappale', region.slug, ...(part === '' ? [] : [part]), digest].join('-'),
    geometry: { type: 'Polygon', coordinates: [[[west, south], [east, south], [east, north], [west, north], [west, south]]] },
    bbox: extent,
    properties: {
      datetime: publishedAt, created: publishedAt, updated: publishedAt, title,
      // The value `other` means that several licences apply, each to some of the columns.
      license: 'other',
      attribution: [...new Set(licences.map(({ attribution }) => attribution))].join('; '),
      providers: [...holders.map((holder) => ({ name: holder, roles: ['producer', 'licensor'] })), { name: createdBy, roles: ['processor'] }],
      'table:row_count': parcels,
      ...(geometry === null ? {} : { 'table:primary_geometry': geometry }),
      'table:columns': columns.map(({ name: column, type, description }) => ({ name: column, type: TYPES[type], description })),
    },
    links: [...new Map(licences.map(({ url, license }) => [url, license]))].map(([href, license]) => ({ rel: 'license', href, title: license })),
    assets: { data: { href: `./${name}`, type: mediaType, title, roles: ['data'], 'file:size': bytes, 'file:checksum': `1220${sha256}` } },
  }, null, 2)}\n`;
}
