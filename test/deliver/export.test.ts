/** Tests that independent programs read the published content from exports. The same publication must give the same bytes. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { VectorTile } from '@mapbox/vector-tile';
import { parse } from 'csv-parse/sync';
import { PbfReader } from 'pbf';
import { SaxesParser } from 'saxes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findRegion } from '../../pipelines/contract/regions.ts';
import { SECTION_NAMES } from '../../pipelines/contract/sections.ts';
import { columnsOf, rowsOf, type Ask, type Cell } from '../../pipelines/deliver/columns.ts';
import { boxArea, polygonArea, type Area } from '../../pipelines/deliver/area.ts';
import { exportRegion, type Exported } from '../../pipelines/deliver/export.ts';
import { FORMATS, GEOPARQUET } from '../../pipelines/deliver/formats.ts';
import { one, type Database } from '../../pipelines/db/index.ts';
import { PARQUET_CODEC } from '../../pipelines/formats/parquet-writer.ts';
import { LEGENDS, regionTile } from '../../pipelines/deliver/tiles.ts';
import { tileAt } from '../../pipelines/formats/vector-tile.ts';
import { gdal } from '../../pipelines/formats/vector.ts';
import { SILENT } from '../../pipelines/log.ts';
import { describeDatabase } from '../harness/database.ts';
import { childEnvironment } from '../harness/environment.ts';
import { openPmtiles } from '../harness/pmtiles.ts';
import { loadedRegion, REGIONS } from '../harness/loaded-region.ts';

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, '../..');
const MOLISE = findRegion(14)!;
const COLUMNS = columnsOf(SECTION_NAMES);

/** Returns twice the signed area of each ring, in square degrees, by polygon of a little-endian WKB multipolygon. */
function ringsOf(wkb: Buffer): number[][] {
  let at = 9;
  const next = (): number => wkb.readUInt32LE((at += 4) - 4);
  return Array.from({ length: wkb.readUInt32LE(5) }, () => {
    at += 5;
    return Array.from({ length: next() }, () => {
      const points = Array.from({ length: next() }, () => [wkb.readDoubleLE((at += 16) - 16), wkb.readDoubleLE(at - 8)] as const);
      return points.slice(1).reduce((area, [x, y], index) => area + points[index]![0] * y - x * points[index]![1], 0);
    });
  });
}

describeDatabase('exporting a region', (engine) => {
  let folder: string;
  let database: Database;
  let duck: DuckDBConnection;
  let parcels: readonly { readonly fid: number; readonly wkb: string }[];
  let cells: ReadonlyMap<number, readonly Cell[]>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mappale-export-'));
    database = await engine.openDatabase(await loadedRegion(engine, ...REGIONS.usual));
    duck = await (await DuckDBInstance.create(':memory:')).connect();
    // Rings in publishers' files can have either direction.
    await database.query('update core.parcel set geom = st_reverse(geom) where fid % 3 = 0');
    parcels = await database.query("select p.fid, encode(st_asbinary(st_forcepolygonccw(p.geom), 'NDR'), 'hex') as wkb from core.parcel p order by p.fid");
    ({ cells } = await rowsOf((sql, parameters) => one(database, sql, parameters), parcels.map(({ fid }) => fid), SECTION_NAMES));
  });

  afterAll(async () => {
    duck.closeSync();
    await rm(folder, { recursive: true, force: true });
  });

  const write = (name: string, file: string): Promise<Exported> => (
    exportRegion(database, SILENT, { region: MOLISE, area: { kind: 'region' }, sections: SECTION_NAMES, format: FORMATS[name]!, out: join(folder, file), createdBy: 'mappale test', verbatim: false })
  );

  const ask = async (sql: string): Promise<Record<string, unknown>[]> => (await duck.runAndReadAll(sql)).getRowObjectsJS();

  it.each(Object.keys(FORMATS))('an export as %s gives the same bytes every time, with a STAC item that describes the file', async (name) => {
    const [first, second] = [await write(name, `once.${name}`), await write(name, `twice.${name}`)];
    expect(second.sha256).toBe(first.sha256);
    expect(first.parcels).toBe(parcels.length);
    const item = JSON.parse(await readFile(first.companions[0]!, 'utf8')) as { properties: Record<string, unknown>; assets: { data: Record<string, unknown> }; links: { rel: string }[]; bbox: number[] };
    expect(item.assets.data).toMatchObject({ href: `./once.${name}`, 'file:checksum': `1220${first.sha256}`, 'file:size': first.bytes });
    expect(item.properties).toMatchObject({ datetime: first.published_at, 'table:row_count': parcels.length });
    expect(item.links.filter(({ rel }) => rel === 'license').length).toBeGreaterThan(1);
    expect((await readdir(folder)).filter((file) => file.includes('.unfinished'))).toEqual([]);
  });

  it('DuckDB reads every parcel with every cell and its geometry from an export to GeoParquet', async () => {
    await write('geoparquet', 'molise.parquet');
    const path = join(folder, 'molise.parquet');
    // Checks that DuckDB recognises the column as a geometry, then reads the column as bytes.
    expect(await ask(`select distinct typeof(geometry) as type from read_parquet('${path}')`)).toEqual([{ type: "GEOMETRY('OGC:CRS84')" }]);
    await ask('set enable_geoparquet_conversion = false');
    const rows = await ask(`select * replace (hex(geometry) as geometry) from read_parquet('${path}') order by fid`);
    expect(rows.map(({ fid }) => fid)).toEqual(parcels.map(({ fid }) => fid));
    expect(rows.map(({ geometry }) => String(geometry).toLowerCase())).toEqual(parcels.map(({ wkb }) => wkb));
    const differing = rows.flatMap((row) => COLUMNS.flatMap(({ name }, index) => {
      const found = typeof row[name] === 'bigint' ? Number(row[name]) : row[name];
      const expected = cells.get(row['fid'] as number)?.[index];
      return found === expected ? [] : [`${String(row['fid'])} ${name}: expected ${String(expected)}, found ${String(found)}`];
    }));
    expect(differing.slice(0, 10)).toEqual([]);
  });

  it('DuckDB reads geometries of the type GEOMETRY, their boxes and the same cells from an export to GeoParquet 2', async () => {
    const [old, path] = [join(folder, 'one.parquet'), join(folder, 'two.parquet')];
    await write('geoparquet', 'one.parquet');
    await exportRegion(database, SILENT, { region: MOLISE, area: { kind: 'region' }, sections: SECTION_NAMES, format: GEOPARQUET['2'], out: path, createdBy: 'mappale test', verbatim: false });
    const [column] = await ask(`select logical_type as type from parquet_schema('${path}') where name = 'geometry'`);
    expect(String(column!['type'])).toMatch(/^GeometryType/);
    const [key] = await ask(`select decode(value) as value from parquet_kv_metadata('${path}') where decode(key) = 'geo'`);
    expect(JSON.parse(String(key!['value']))).toMatchObject({ version: '2.0.0', columns: { geometry: { encoding: 'WKB', geometry_types: ['MultiPolygon'] } } });
    await ask('set enable_geoparquet_conversion = true');
    expect(await ask(`select distinct typeof(geometry) as type from read_parquet('${path}')`)).toEqual([{ type: "GEOMETRY('OGC:CRS84')" }]);
    // DuckDB compares the bytes of the geometries.
    expect(await ask(`(from read_parquet('${path}') except from read_parquet('${old}')) union all (from read_parquet('${old}') except from read_parquet('${path}'))`)).toEqual([]);
    expect(await ask(`select count(*)::int as n from read_parquet('${path}')`)).toEqual([{ n: parcels.length }]);
    const [{ box, types }] = await ask(`select geo_bbox as box, geo_types as types from parquet_metadata('${path}') where path_in_schema = 'geometry'`) as [{ box: Record<string, number>; types: unknown }];
    const [extent] = await ask(`select min(bbox.xmin) as xmin, max(bbox.xmax) as xmax, min(bbox.ymin) as ymin, max(bbox.ymax) as ymax from read_parquet('${old}')`);
    expect(box).toMatchObject(extent!);
    expect(JSON.stringify(types)).toContain('multipolygon');
    await ask('set enable_geoparquet_conversion = false');
  });

  it('an export to GeoParquet winds outer rings counter-clockwise and holes clockwise, as declared', async () => {
    await write('geoparquet', 'wound.parquet');
    const drawn = await ask(`select st.fid, hex(st.geometry) as wkb from read_parquet('${join(folder, 'wound.parquet')}') st`);
    const wrong = drawn.filter(({ wkb }) => ringsOf(Buffer.from(String(wkb), 'hex')).some((polygon) => polygon.some((area, ring) => (ring === 0) !== (area > 0))));
    expect([drawn.length, wrong.map(({ fid }) => fid)]).toEqual([parcels.length, []]);
  });

  it('an export to GeoParquet has a column of boxes that selects the same parcels as the geometries in the database', async () => {
    await write('geoparquet', 'boxes.parquet');
    const path = join(folder, 'boxes.parquet');
    const [box] = await database.query<Record<'w' | 's' | 'e' | 'n', number>>(
      `select percentile_cont(0.3) within group (order by st_x(p.point)) as w, percentile_cont(0.3) within group (order by st_y(p.point)) as s,
         percentile_cont(0.6) within group (order by st_x(p.point)) as e, percentile_cont(0.6) within group (order by st_y(p.point)) as n from core.parcel p`,
    );
    const { w, s, e, n } = box!;
    const inside = await database.query<{ fid: number }>(
      'select p.fid from core.parcel p where p.geom && st_makeenvelope($1, $2, $3, $4, 4326) and st_xmax(p.geom) >= $1 and st_xmin(p.geom) <= $3 and st_ymax(p.geom) >= $2 and st_ymin(p.geom) <= $4 order by 1',
      [w, s, e, n],
    );
    const found = await ask(`select fid from read_parquet('${path}') where bbox.xmax >= ${w} and bbox.xmin <= ${e} and bbox.ymax >= ${s} and bbox.ymin <= ${n} order by fid`);
    expect(inside.length).toBeGreaterThan(3);
    expect(inside.length).toBeLessThan(parcels.length);
    expect(found.map(({ fid }) => fid)).toEqual(inside.map(({ fid }) => fid));
  });

  it('an export to GeoParquet declares geo 1.1, the covering, the compression, the licences and the descriptions of columns', async () => {
    const { published_at: publishedAt, digest } = await write('geoparquet', 'about.parquet');
    const path = join(folder, 'about.parquet');
    const metadata = Object.fromEntries((await ask(`select decode(key) as key, decode(value) as value from parquet_kv_metadata('${path}')`)).map(({ key, value }) => [key, JSON.parse(String(value)) as unknown]));
    expect(metadata['geo']).toMatchObject({
      version: '1.1.0', primary_column: 'geometry',
      columns: { geometry: { encoding: 'WKB', geometry_types: ['MultiPolygon'], orientation: 'counterclockwise', covering: { bbox: { xmin: ['bbox', 'xmin'], ymax: ['bbox', 'ymax'] } } } },
    });
    expect((metadata['geo'] as { columns: { geometry: object } }).columns.geometry).not.toHaveProperty('crs');
    expect(metadata['mappale']).toMatchObject({ region: 'Molise', published_at: publishedAt, digest, compression: PARQUET_CODEC.toLowerCase() });
    expect((metadata['mappale'] as { licences: { attribution: string }[] }).licences.length).toBeGreaterThan(5);
    expect(Object.entries(metadata['mappale:columns'] as object)).toEqual(COLUMNS.map(({ name, description }) => [name, description]));
    const chunks = await ask(`select distinct compression from parquet_metadata('${path}')`);
    expect(chunks).toEqual([{ compression: PARQUET_CODEC }]);
  });

  it('an export to CSV has the same cells as the API, and metadata that lists the columns with their descriptions', async () => {
    const { companions } = await write('csv', 'molise.csv');
    const rows: Record<string, string>[] = parse(await readFile(join(folder, 'molise.csv'), 'utf8'), { columns: true });
    expect(new Map(rows.map((row) => [Number(row['fid']), Object.values(row)]))).toEqual(new Map(parcels.map(({ fid }) => [fid, cells.get(fid)!.map((cell) => String(cell ?? ''))])));
    const { tableSchema } = JSON.parse(await readFile(companions[1]!, 'utf8')) as {
      tableSchema: { columns: { titles: string; 'dc:description': string }[] };
    };
    expect(tableSchema.columns.map(({ titles }) => titles)).toEqual(Object.keys(rows[0]!));
    expect(tableSchema.columns.map(({ 'dc:description': description }) => description)).toEqual(COLUMNS.map(({ description }) => description));
  });

  it('an export to GeoPackage has a QGIS style for each section on the map, with the colours of the map', async () => {
    await write('geopackage', 'styled.gpkg');
    const { dataset, layers } = await gdal('styled.gpkg', 'open', join(folder, 'styled.gpkg'), ['GPKG'], null);
    const fieldsOf = (name: string): string[] => layers.find((layer) => layer.name === name)!.fields.map((field) => field.name);
    const styles = layers.findIndex(({ name }) => name === 'layer_styles');
    const { features } = await gdal('styled.gpkg', 'read', dataset, styles, 4326, 'first');
    await gdal('styled.gpkg', 'close', dataset);
    const rows = features.map(({ values }) => Object.fromEntries(fieldsOf('layer_styles').map((name, index) => [name, values[index]])));
    const drawn = LEGENDS.filter(({ section }) => section !== null);
    expect(rows.map(({ f_table_name: table, f_geometry_column: column, useAsDefault: first }) => [table, column, first])).toEqual(drawn.map((_, index) => ['parcels', 'geom', index === 0 ? 1 : 0]));
    expect(new Set(rows.map(({ styleName }) => styleName)).size).toBe(drawn.length);
    const fields = new Set(fieldsOf('parcels'));
    for (const [index, { styleQML: qml }] of rows.entries()) {
      const { classes, none, not_mapped: notMapped } = drawn[index]!;
      const colours = [...String(qml).matchAll(/name="color" value="(\d+),(\d+),(\d+),255"/g)].map(([, ...rgb]) => `#${rgb.map((each) => Number(each).toString(16).padStart(2, '0')).join('')}`);
      for (const { color } of [...classes, none!, notMapped!]) expect(colours).toContain(color);
      const named = [...String(qml).matchAll(/&quot;(\w+)&quot;| field="(\w+)"/g)].map(([, one, other]) => one ?? other!);
      expect(named.length).toBeGreaterThan(20);
      expect(named.filter((name) => !fields.has(name))).toEqual([]);
      expect([...String(qml).matchAll(/<rule /g)].length).toBe([...String(qml).matchAll(/<symbol /g)].length);
    }
    expect(String(rows[0]!['styleQML'])).toContain('field="economics_average_income_eur" name="Declared incomes: Average income (€)"');
    expect(String(rows[0]!['styleQML'])).toContain('field="parcel_fid"');
  });

  it('an export to GeoPackage comes with a QGIS project, and the layers of the project are in the file', async () => {
    const { companions } = await write('geopackage', 'project.gpkg');
    const project = await readFile(companions.find((path) => path.endsWith('project-project.qgs'))!, 'utf8');
    expect([...project.matchAll(/<datasource>(.*?)<\/datasource>/g)].map(([, source]) => source)).toEqual(LEGENDS.filter(({ section }) => section !== null).map(() => './project.gpkg|layername=parcels'));
    expect([...project.matchAll(/<layer-tree-layer id="(\w+)"/g)].map(([, id]) => id)).toEqual([...project.matchAll(/<id>(\w+)<\/id>/g)].map(([, id]) => id));
    expect(project.match(/checked="Qt::Checked"/g)).toHaveLength(1);
    // The parser throws an error if the document is not well-formed.
    new SaxesParser().write(project).close();
  });

  it('the DuckDB examples of docs/notebooks.md run on an export and return rows', async () => {
    await write('geoparquet', 'molise.parquet');
    const page = await readFile(join(ROOT, 'docs/notebooks.md'), 'utf8');
    const examples = [...page.matchAll(/^```sql\n(.*?)^```$/gms)].map(([, text]) => text!);
    expect(examples.length).toBeGreaterThan(3);
    await ask(`set file_search_path = '${folder}'`);
    for (const example of examples) expect([example, (await ask(example)).length > 0]).toEqual([example, true]);
  });

  it.each([['geopackage', 'GPKG'], ['flatgeobuf', 'FlatGeobuf']])('GDAL reads every parcel from an export to %s', async (name, driver) => {
    const { out } = await write(name, `read.${FORMATS[name]!.ending}`);
    const { dataset, layers } = await gdal('test', 'open', out, [driver], null);
    const [layer] = layers;
    expect(layer).toMatchObject({ name: 'parcels', featureCount: parcels.length, spatial: true });
    expect(layer!.fields.map((field) => field.name)).toEqual(COLUMNS.map((column) => (column.name === 'fid' ? 'parcel_fid' : column.name)));
    const features = [];
    for (let batch = await gdal('test', 'read', dataset, 0, 4326, 'first'); ; batch = await gdal('test', 'read', dataset, 0, 4326, 'next')) {
      features.push(...batch.features);
      if (batch.ended) break;
    }
    await gdal('test', 'close', dataset);
    const differing = features.flatMap(({ values }) => {
      const fid = values[0] as number;
      const expected = cells.get(fid) ?? [];
      return values.flatMap((value, index) => (value === (typeof expected[index] === 'boolean' ? Number(expected[index]) : expected[index]) ? [] : [`${fid} ${COLUMNS[index]!.name}: expected ${String(expected[index])}, found ${String(value)}`]));
    });
    expect(differing.slice(0, 10)).toEqual([]);
    // Compares only the sizes of the geometries. A geometry that is read through GDAL has four more bytes for the SRID.
    const drawn = new Map(features.map(({ values, ewkb }) => [values[0] as number, ewkb?.length]));
    expect(drawn).toEqual(new Map(parcels.map(({ fid, wkb }) => [fid, wkb.length / 2 + 4])));
  });

  it('an export to PMTiles has every parcel at the last zoom with its drawn values, the comuni, and the licences', async () => {
    const { out } = await write('pmtiles', 'molise.pmtiles');
    const file = await openPmtiles(out);
    const header = await file.getHeader();
    const metadata = await file.getMetadata() as {
      attribution: string; vector_layers: { id: string; fields: object }[]; mappale: { licences: unknown[] };
    };
    expect(metadata.mappale.licences.length).toBeGreaterThan(5);
    expect(metadata.attribution.length).toBeGreaterThan(100);
    expect(metadata.vector_layers.map(({ id }) => id)).toEqual(['comuni', 'parcels']);
    const drawn = new Map<number, Readonly<Record<string, unknown>>>();
    const comuni = new Set<unknown>();
    const [first, last] = [tileAt(header.maxZoom, header.minLon, header.maxLat), tileAt(header.maxZoom, header.maxLon, header.minLat)];
    for (let x = first.x; x <= last.x; x += 1) {
      for (let y = first.y; y <= last.y; y += 1) {
        const tile = await file.getZxy(header.maxZoom, x, y);
        const { layers } = new VectorTile(new PbfReader(new Uint8Array(tile?.data ?? new ArrayBuffer(0))));
        for (let index = 0; index < (layers['parcels']?.length ?? 0); index += 1) {
          const { properties } = layers['parcels']!.feature(index);
          drawn.set(properties['fid'] as number, properties);
        }
        for (let index = 0; index < (layers['comuni']?.length ?? 0); index += 1) comuni.add(layers['comuni']!.feature(index).properties['belfiore']);
      }
    }
    expect([...drawn.keys()].sort((a, b) => a - b)).toEqual(parcels.map(({ fid }) => fid));
    expect(comuni.size).toBe(2);
    const values = Object.keys(metadata.vector_layers[1]!.fields).filter((name) => !name.endsWith('_coverage'));
    expect(values.length).toBeGreaterThan(15);
    const differing = parcels.flatMap(({ fid }) => values.flatMap((name) => {
      const [found, expected] = [drawn.get(fid)![name] ?? null, cells.get(fid)![COLUMNS.findIndex((column) => column.name === name)]];
      return found === expected ? [] : [`${fid} ${name}: expected ${String(expected)}, found ${String(found)}`];
    }));
    expect(differing.slice(0, 10)).toEqual([]);
  });

  describe('an export of a part of the region', () => {
    type Point = readonly [lng: number, lat: number];

    /** Returns whether a point is in a polygon, by the even-odd rule. */
    const isInside = ([x, y]: Point, ring: readonly Point[]): boolean => ring.slice(1).reduce((inside, [bx, by], index) => {
      const [ax, ay] = ring[index]!;
      return (ay > y) !== (by > y) && x < ax + ((y - ay) / (by - ay)) * (bx - ax) ? !inside : inside;
    }, false);

    const cellOf = (fid: number, column: string): Cell => cells.get(fid)![COLUMNS.findIndex(({ name }) => name === column)] ?? null;
    const pointOf = (fid: number): readonly [number, number] => [Number(cellOf(fid, 'centroid_lng')), Number(cellOf(fid, 'centroid_lat'))];

    const writePart = async (area: Area, file: string, format = 'csv'): Promise<{ fids: number[]; exported: Exported }> => {
      const out = join(folder, file);
      const exported = await exportRegion(database, SILENT, { region: MOLISE, area, sections: ['basic'], format: FORMATS[format]!, out, createdBy: 'mappale test', verbatim: false });
      const rows = parse<{ fid: string }>(await readFile(out), { columns: true });
      return { fids: rows.map(({ fid }) => Number(fid)).sort((a, b) => a - b), exported };
    };

    it('writes the parcels of one comune, and names the comune in the STAC item', async () => {
      const codes = new Set(parcels.map(({ fid }) => cellOf(fid, 'municipality_code')));
      expect(codes.size).toBe(2);
      for (const code of codes) {
        const { fids, exported } = await writePart({ kind: 'comune', belfiore: String(code) }, `${String(code)}.csv`);
        expect(fids).toEqual(parcels.filter(({ fid }) => cellOf(fid, 'municipality_code') === code).map(({ fid }) => fid));
        const item = JSON.parse(await readFile(exported.companions[0]!, 'utf8')) as { id: string; bbox: [number, number, number, number] };
        expect(item.id).toContain(`molise-${String(code)}-`);
        for (const [lng, lat] of fids.map(pointOf)) expect(lng >= item.bbox[0] && lng <= item.bbox[2] && lat >= item.bbox[1] && lat <= item.bbox[3]).toBe(true);
      }
    });

    it('writes each parcel whose representative point is in the box, without cutting the parcel', async () => {
      const points = parcels.map(({ fid }) => pointOf(fid));
      const middle = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1]!;
      const [lng, lat] = [middle(points.map(([x]) => x)), middle(points.map(([, y]) => y))];
      const { fids } = await writePart(boxArea(`${lng - 0.003},${lat - 0.002},${lng + 0.003},${lat + 0.002}`), 'box.csv');
      const expected = parcels.map(({ fid }) => fid).filter((fid) => Math.abs(pointOf(fid)[0] - lng) <= 0.003 && Math.abs(pointOf(fid)[1] - lat) <= 0.002);
      expect(expected.length).toBeGreaterThan(3);
      expect(expected.length).toBeLessThan(parcels.length);
      expect(fids).toEqual(expected);
    });

    it('writes the parcels in the polygons of a GeoJSON file, without the parcels in a hole', async () => {
      const [lng, lat] = pointOf(parcels[parcels.length >> 1]!.fid);
      const corners: readonly Point[] = [[-1, 0], [0, -1], [1, 0], [0, 1], [-1, 0]];
      const ring = (radius: number): Point[] => corners.map(([x, y]) => [lng + x * radius, lat + y * radius]);
      const path = join(folder, 'area.geojson');
      const drawn = { type: 'Polygon', coordinates: [ring(0.006), ring(0.0005)] };
      await writeFile(path, `\uFEFF${JSON.stringify({ type: 'FeatureCollection', features: [{ type: 'Feature', properties: {}, geometry: drawn }] })}`);
      const { fids, exported } = await writePart(await polygonArea(database, path), 'area.csv');
      const expected = parcels.map(({ fid }) => fid).filter((fid) => isInside(pointOf(fid), ring(0.006)) && !isInside(pointOf(fid), ring(0.0005)));
      expect(expected.length).toBeGreaterThan(3);
      expect(fids).toEqual(expected);
      expect(exported.parcels).toBe(expected.length);
    });

    it('refuses an area without parcels, and a format that supports only whole regions', async () => {
      await expect(writePart(boxArea('7.1,45.1,7.2,45.2'), 'none.csv')).rejects.toMatchObject({ code: 'NOTHING_TO_EXPORT', detail: 'expected parcels in box, found none' });
      await expect(writePart(boxArea('14.1,41.1,14.9,41.9'), 'part.pmtiles', 'pmtiles')).rejects.toMatchObject({ code: 'FORMAT_OF_REGIONS', exitCode: 2 });
      expect((await readdir(folder)).filter((name) => name.startsWith('none') || name.startsWith('part'))).toEqual([]);
    });

    it.each([
      '', '14.1,41.1,14.9', '14.9,41.1,14.1,41.9', '14.1,41.9,14.9,41.1', '14.1,41.1,14.9,91', '14.1,41.1,14.9,NaN', '14.1,41.1,14.9,41.9,0', '1e1,41,15,42',
    ])('refuses the box %j', (text) => {
      expect(() => boxArea(text)).toThrow(expect.objectContaining({ code: 'BBOX_INVALID', exitCode: 2 }) as Error);
    });

    it.each<readonly [what: string, text: string | null, code: string, detail: string]>([
      ['a missing file', null, 'POLYGON_UNREADABLE', 'no such file'],
      ['a file that is not JSON', '{"type":', 'POLYGON_UNREADABLE', 'expected JSON'],
      ['a point', '{"type":"Point","coordinates":[14,41]}', 'POLYGON_UNREADABLE', 'GeoJSON polygons'],
      [
        'metres', '{"type":"Polygon","coordinates":[[[500000,4600000],[500100,4600000],[500100,4600100],[500000,4600000]]]}', 'POLYGON_UNREADABLE', 'in degrees',
      ],
      [
        'a different coordinate system', '{"type":"Polygon","crs":{"properties":{"name":"urn:ogc:def:crs:EPSG::32633"}},"coordinates":[[[14,41],[15,41],[15,42],[14,41]]]}',
        'POLYGON_UNREADABLE', 'EPSG::32633',
      ],
      ['a polygon that crosses itself', '{"type":"Polygon","coordinates":[[[14,41],[15,42],[15,41],[14,42],[14,41]]]}', 'POLYGON_INVALID', 'Self-intersection'],
    ])('refuses %s as polygons', async (_what, text, code, detail) => {
      const path = join(folder, `refused-${code}.json`);
      await rm(path, { force: true });
      if (text !== null) await writeFile(path, text);
      await expect(polygonArea(database, path)).rejects.toMatchObject({ code, exitCode: 2, at: path, detail: expect.stringContaining(detail) as string });
    });
  });

  it('an export of a region that is not published is refused', async () => {
    await expect(exportRegion(database, SILENT, { region: findRegion(12)!, area: { kind: 'region' }, sections: ['basic'], format: FORMATS['csv']!, out: join(folder, 'lazio.csv'), createdBy: 'test', verbatim: false }))
      .rejects.toMatchObject({ code: 'NOT_PUBLISHED' });
  });
});

describe('a tile of an export', () => {
  it('is refused if its comuni and its parcels are from different publications', async () => {
    const changing = (parcels: string): Ask => async <T>(statement: string) => (
      { publication: statement.includes('api.tile_parcels') ? parcels : 'first', facts: null, drawings: null } as T
    );
    const tile = tileAt(14, 14.5, 41.5);
    expect(await regionTile(changing('first'), MOLISE.code, [], tile)).toEqual({ publication: 'first', bytes: null });
    await expect(regionTile(changing('second'), MOLISE.code, [], tile)).rejects.toMatchObject({ code: 'PUBLICATION_CHANGED', exitCode: 6 });
  });
});

/** A limit on the file size truncates files in the same way as a full disk. */
describe('a file that cannot be written completely', () => {
  const cut = async (name: string, kilobytes: number): Promise<{ code: number; stderr: string; left: readonly string[] }> => {
    const folder = await mkdtemp(join(tmpdir(), 'mappale-cut-'));
    const program = `
      import { FORMATS } from ${JSON.stringify(join(ROOT, 'pipelines/deliver/formats.ts'))};
      import { writeAtomically } from ${JSON.stringify(join(ROOT, 'pipelines/formats/atomic-write.ts'))};
      const wkb = Buffer.from('0106000000010000000103000000010000000400000000000000000000000000000000000000000000000000f03f0000000000000000000000000000f03f000000000000f03f00000000000000000000000000000000', 'hex');
      const rows = Array.from({ length: 400 }, (_, fid) => ({ cells: [fid, 'x'.repeat(500)], wkb, extent: [0, 0, 1, 1] }));
      const facts = { region: { code: 14, name: 'Molise', slug: 'molise' }, area: { kind: 'region' }, title: 't', columns: [{ name: 'fid', type: 'int4', description: '' }, { name: 'text', type: 'text', description: '' }],
        parcels: rows.length, extent: [0, 0, 1, 1], publishedAt: '2026-01-01T00:00:00Z', digest: 'd', licences: [], createdBy: 'test' };
      const format = FORMATS[${JSON.stringify(name)}];
      await writeAtomically(${JSON.stringify(join(folder, 'out'))}, (path) => format.write(path, facts, (async function* () { yield rows; })(), (async function* () {})()), '.' + format.ending)
        .catch((error) => { console.error(error.code, error.detail ?? error.message); process.exit(error.exitCode ?? 1); });
      process.exit();`;
    const result = await run('bash', ['-c', `trap '' XFSZ; ulimit -f ${kilobytes}; exec "$0" --import tsx --input-type=module -e "$1"`, process.execPath, program], { cwd: ROOT, env: childEnvironment({}) })
      .then(({ stderr }) => ({ code: 0, stderr }), (error: unknown) => error as { code: number; stderr: string });
    const left = await readdir(folder);
    await rm(folder, { recursive: true });
    return { code: result.code, stderr: result.stderr, left };
  };

  // The write fails only when the file is closed, and GDAL does not report the failure.
  it.each([['flatgeobuf', 240], ['geopackage', 340]])('is removed if the format is %s', async (name, kilobytes) => {
    const { code, stderr, left } = await cut(name, kilobytes);
    expect([code, stderr.split(' ')[0], left]).toEqual([2, 'FILE_NOT_WRITTEN', []]);
  });
});
