/**
 * Creates the STAC 1.1 catalogue of exports. Each region is a collection, and each file is an item. The newest item of each region also has the name
 * `latest.json`, so that clients can use a fixed name.
 */
import type { ExportedFile } from './exports.ts';

type Json = Readonly<Record<string, unknown>>;

const JSON_TYPE = 'application/json';
const GEOJSON_TYPE = 'application/geo+json';
const LATEST = 'latest.json';

/**
 * Returns the STAC documents, by path relative to the catalogue. Links between documents are relative.
 * @param files URL of the folder with the exports, with a trailing slash
 */
export function stacDocuments(exports: readonly ExportedFile[], files: string): ReadonlyMap<string, Json> {
  const documents = new Map<string, Json>();
  const regions = [...new Map(exports.map(({ region }) => [region.slug, region])).values()].toSorted((a, b) => a.code - b.code);
  documents.set('catalog.json', {
    type: 'Catalog', stac_version: '1.1.0', id: 'mappale', title: 'mappale: exports', description: 'Exported cadastral parcels with official data, by region',
    links: [
      { rel: 'root', href: './catalog.json', type: JSON_TYPE },
      ...regions.map(({ slug, name }) => ({ rel: 'child', href: `./${slug}/collection.json`, type: JSON_TYPE, title: name })),
    ],
  });
  for (const { slug, name } of regions) {
    const own = exports.filter(({ region }) => region.slug === slug);
    documents.set(`${slug}/collection.json`, collectionOf(slug, name, own));
    for (const each of own) documents.set(`${slug}/${each.name}.json`, itemOf(each, files));
    const [newest] = own;
    if (newest !== undefined) documents.set(`${slug}/${LATEST}`, itemOf(newest, files));
  }
  return documents;
}

function collectionOf(id: string, title: string, exports: readonly ExportedFile[]): Json {
  const side = (index: number, of: (...values: number[]) => number): number => of(...exports.map(({ item }) => item.bbox[index] ?? 0));
  const times = exports.map(({ item }) => item.properties.datetime).sort();
  const licences = new Map(exports.flatMap(({ item }) => item.links.filter(({ rel }) => rel === 'license').map((link) => [link.href, link] as const)));
  const providers = new Map(exports.flatMap(({ item }) => item.properties.providers.map((each) => [each.name, each] as const)));
  return {
    type: 'Collection', stac_version: '1.1.0', stac_extensions: ['https://stac-extensions.github.io/version/v1.2.0/schema.json'],
    id, title, description: `Exports of ${title}: one item for each file`,
    license: 'other', providers: [...providers.values()],
    extent: {
      spatial: { bbox: [[side(0, Math.min), side(1, Math.min), side(2, Math.max), side(3, Math.max)]] },
      temporal: { interval: [[times[0], times.at(-1)]] },
    },
    links: [
      { rel: 'root', href: '../catalog.json', type: JSON_TYPE },
      { rel: 'parent', href: '../catalog.json', type: JSON_TYPE },
      { rel: 'latest-version', href: `./${LATEST}`, type: GEOJSON_TYPE, title: 'Newest export' },
      ...exports.map(({ name, item }) => ({ rel: 'item', href: `./${name}.json`, type: GEOJSON_TYPE, title: item.properties.title })),
      ...licences.values(),
    ],
  };
}

function itemOf({ name, region, item }: ExportedFile, files: string): Json {
  const { data } = item.assets;
  return {
    ...item,
    // Adds the file name to the identifier, because the items of one export have the same identifier in every format.
    id: `${item.id}-${name}`, collection: region.slug,
    links: [
      { rel: 'root', href: '../catalog.json', type: JSON_TYPE },
      { rel: 'parent', href: './collection.json', type: JSON_TYPE },
      { rel: 'collection', href: './collection.json', type: JSON_TYPE },
      ...item.links,
    ],
    assets: { data: { ...data, href: files + encodeURIComponent(name) } },
  };
}
