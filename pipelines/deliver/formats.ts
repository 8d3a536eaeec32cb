/** Defines the export formats. */
import { createWriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { MappaleError } from '../errors.ts';
import { GeoParquetFile, PARQUET_CODEC, type GeoParquetVersion } from '../formats/parquet-writer.ts';
import { PmtilesFile } from '../formats/pmtiles-writer.ts';
import { gdal, type VectorValue } from '../formats/vector.ts';
import type { GeoPackageLayer, WrittenFormat } from '../formats/gdal.ts';
import { writeAtomically } from '../formats/atomic-write.ts';
import { notWritten } from '../formats/file-error.ts';
import { areaName } from './area.ts';
import type { OutputColumn } from './columns.ts';
import { csvMetadata, metadataPath } from './csvw.ts';
import type { ExportFacts, Format } from './export.ts';
import { qgisAliases, qgisProject, qgisStyleDocument, qgisStyles } from './qgis.ts';
import { csvLine, guardedCells } from './table.ts';
import { drawnColumns, EXPORTED_ZOOMS, MOST_FEATURES, TILE_LAYERS } from './tiles.ts';

/** Number of features in one message to the thread that runs GDAL. */
const FEATURES = 500;

/** Returns the metadata of an exported file as JSON text. */
function about({ title, region, area, publishedAt, digest, licences, createdBy }: ExportFacts, more: Readonly<Record<string, string>> = {}): string {
  const part = areaName(area);
  return JSON.stringify({ title, region: region.name, ...(part === '' ? {} : { area: part }), published_at: publishedAt, digest, created_by: createdBy, ...more, licences });
}

const geoparquetOf = (version: GeoParquetVersion): Format => ({
  ending: 'parquet',
  mediaType: 'application/vnd.apache.parquet',
  geometry: 'geometry',
  writes: 'parts',
  async write(path, facts, rows) {
    const { columns, extent, createdBy } = facts;
    const descriptions = Object.fromEntries(columns.map(({ name, description }) => [name, description]));
    const metadata = { mappale: about(facts, { compression: PARQUET_CODEC.toLowerCase() }), 'mappale:columns': JSON.stringify(descriptions) };
    const file = new GeoParquetFile(path, { columns, extent, createdBy, metadata, version });
    for await (const batch of rows) await file.add(batch);
    await file.close();
    return PARQUET_CODEC === 'ZSTD' ? null : 'compressed with snappy, because zstd needs Node 22.15';
  },
});

const csv: Format = {
  ending: 'csv',
  mediaType: 'text/csv',
  geometry: null,
  writes: 'parts',
  async write(path, { columns, verbatim }, rows) {
    const guardedFrom = verbatim ? Infinity : 0;
    const lines = async function* (): AsyncGenerator<string, void, undefined> {
      yield csvLine(columns.map(({ name }) => name), ',');
      for await (const batch of rows) yield batch.map(({ cells }) => csvLine(guardedCells(cells, guardedFrom), ',')).join('');
    };
    await pipeline(Readable.from(lines()), createWriteStream(path));
    return 'without geometries. The representative points are in centroid_lat and centroid_lng';
  },
  async writeMetadata(path, { title, columns, licences, publishedAt }) {
    const metadata = metadataPath(path);
    const facts = { url: basename(path), title, delimiter: ',', columns, licences, publishedAt };
    await writeAtomically(metadata, (unfinished) => writeFile(unfinished, csvMetadata(facts)));
    return metadata;
  },
};

const GDAL_TYPES: Readonly<Record<OutputColumn['type'], GeoPackageLayer['fields'][number]['type']>> = {
  int2: 'integer', int4: 'integer', int8: 'integer', float8: 'real', text: 'string', bool: 'integer',
};

/** Name of the layer in formats that GDAL writes. */
const LAYER = 'parcels';

interface GdalFormat {
  readonly format: WrittenFormat;
  /** Names of GDAL's layer options for title and description. */
  readonly described: readonly [title: string, about: string];
  /** Tables to write after the parcels. */
  readonly tables?: (facts: ExportFacts) => readonly WrittenTable[];
}

interface WrittenTable {
  readonly layer: GeoPackageLayer;
  readonly rows: readonly (readonly VectorValue[])[];
}

/** Returns the function that writes a format with GDAL, in a separate thread. */
function byGdal({ format, described, tables }: GdalFormat): Format['write'] {
  return async (path, facts, rows) => {
    const { columns, title } = facts;
    const at = basename(path);
    const name = LAYER;
    const written = <T>(work: Promise<T>): Promise<T> => work.catch((error: unknown) => {
      throw error instanceof MappaleError ? error : notWritten(path, format, error as Error);
    });
    const dataset = await written(gdal(at, 'create', path, format, facts.publishedAt));
    try {
      await written(gdal(at, 'addLayer', dataset, {
        name, srid: 4326, geometry: 'MultiPolygon', options: [`${described[0]}=${title}`, `${described[1]}=${about(facts)}`],
        fields: columns.map((column) => ({ name: layerField(column.name), type: GDAL_TYPES[column.type] })),
      }));
      for await (const batch of rows) {
        for (let from = 0; from < batch.length; from += FEATURES) {
          const features = batch.slice(from, from + FEATURES).map(({ cells, wkb }) => ({
            values: cells.map((cell) => (typeof cell === 'boolean' ? Number(cell) : cell)), geometry: wkb,
          }));
          await written(gdal(at, 'addFeatures', dataset, name, features));
        }
      }
      await written(gdal(at, 'flush', dataset, name));
      for (const { layer, rows: values } of tables?.(facts) ?? []) {
        await written(gdal(at, 'addLayer', dataset, layer));
        await written(gdal(at, 'addFeatures', dataset, layer.name, values.map((row) => ({ values: row, geometry: null }))));
        await written(gdal(at, 'flush', dataset, layer.name));
      }
    } catch (error) {
      await gdal(at, 'close', dataset).catch(() => undefined);
      throw error;
    }
    await written(gdal(at, 'close', dataset));
    return 'true is 1 and false is 0';
  };
}

/** Returns the field name for a column. The column `fid` is renamed, because `fid` is the row number in a GeoPackage. */
function layerField(name: string): string {
  return name === 'fid' ? 'parcel_fid' : name;
}

const flatgeobuf: Format = {
  ending: 'fgb', mediaType: 'application/vnd.flatgeobuf', geometry: 'geometry', writes: 'parts', write: byGdal({ format: 'FlatGeobuf', described: ['TITLE', 'DESCRIPTION'] }),
};

const geopackage: Format = {
  ending: 'gpkg',
  mediaType: 'application/geopackage+sqlite3',
  geometry: 'geom',
  writes: 'parts',
  write: byGdal({ format: 'GPKG', described: ['IDENTIFIER', 'DESCRIPTION'], tables: (facts) => [layerStyles(facts)] }),
  async writeMetadata(path, facts) {
    const project = `${path.slice(0, path.length - extname(path).length)}-project.qgs`;
    const styles = qgisStyles(facts.columns, layerField);
    const aliases = qgisAliases(facts.columns, layerField);
    await writeAtomically(project, (unfinished) => writeFile(unfinished, qgisProject(facts, { file: basename(path), table: LAYER, styles, aliases })));
    return project;
  },
};

/** Returns the table `layer_styles`, from which QGIS reads the styles of a layer. QGIS applies the first style when the layer is opened. */
function layerStyles({ columns, publishedAt }: ExportFacts): WrittenTable {
  const names = ['f_table_catalog', 'f_table_schema', 'f_table_name', 'f_geometry_column', 'styleName', 'styleQML', 'styleSLD', 'useAsDefault', 'description', 'owner', 'ui', 'update_time'];
  const aliases = qgisAliases(columns, layerField);
  return {
    layer: {
      name: 'layer_styles', srid: 4326, geometry: 'None', options: ['FID=id'],
      fields: names.map((name) => ({ name, type: name === 'useAsDefault' ? 'integer' : 'string' })),
    },
    rows: qgisStyles(columns, layerField).map((style, index) => [
      '', '', LAYER, geopackage.geometry, style.title, qgisStyleDocument(style, aliases), '', index === 0 ? 1 : 0, '', '', null, publishedAt,
    ]),
  };
}

const pmtiles: Format = {
  ending: 'pmtiles',
  mediaType: 'application/vnd.pmtiles',
  geometry: null,
  writes: 'region',
  columns: drawnColumns,
  async write(path, facts, _rows, tiles) {
    const { title, columns, extent, licences } = facts;
    const { comuni, parcels, last } = EXPORTED_ZOOMS;
    const file = new PmtilesFile(path, {
      bounds: extent, minzoom: comuni, maxzoom: last,
      metadata: {
        name: title, description: `${title} and their comuni, with the values of parcel records`, type: 'overlay',
        attribution: [...new Set(licences.map(({ attribution }) => attribution))].join('; '),
        vector_layers: [
          { id: 'comuni', minzoom: comuni, maxzoom: last, fields: TILE_LAYERS.find(({ name }) => name === 'comuni')?.fields ?? {} },
          { id: 'parcels', minzoom: parcels, maxzoom: last, fields: Object.fromEntries(columns.map(({ name, description }) => [name, description])) },
        ],
        mappale: JSON.parse(about(facts)) as unknown,
      },
    });
    try {
      for await (const { tile, bytes } of tiles) await file.add(tile, bytes);
      await file.close();
    } finally {
      await file.abort();
    }
    return `parcels from zoom ${parcels}. A tile with more than ${MOST_FEATURES} parcels contains only the largest. Zooms above ${last} are drawn from the tiles of zoom ${last}`;
  },
};

export const FORMATS: Readonly<Record<string, Format>> = { geoparquet: geoparquetOf('1.1.0'), flatgeobuf, geopackage, pmtiles, csv };

/** GeoParquet formats, by the major version that the user chooses. */
export const GEOPARQUET: Readonly<Record<'1' | '2', Format>> = { 1: geoparquetOf('1.1.0'), 2: geoparquetOf('2.0.0') };
