/**
 * Measures the sweep of parcels over an elevation model of 10 m. The section's file computes heights, slopes and ruggedness of all parcels. PostGIS raster
 * computes a sample of them on the same cells, and both results must be equal.
 */
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../../pipelines/config.ts';
import { runTableFile } from '../../pipelines/build/sweep.ts';
import { readSqlFile } from '../../pipelines/contract/sql-files.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { inWorkspace } from '../../pipelines/db/catalog.ts';
import { openDatabase, type Database, type Session } from '../../pipelines/db/index.ts';
import { upgrade } from '../../pipelines/run/upgrade.ts';
import { writeGeoTiff } from '../../pipelines/synthetic/raster-writer.ts';

export interface TerrainBench {
  readonly parcels: number;
  readonly cells: number;
  readonly rasterBytes: number;
  readonly seconds: number;
  readonly peakMiB: number;
  /** Memory before the sweep: Node, and the writers of the rasters. */
  readonly baseMiB: number;
  /** Result of PostGIS raster, on a sample. */
  readonly sample: number;
  readonly peerParcelsPerSecond: number;
  /**
   * Parcels of the sample with wrong cells, or with rounded values that differ from PostGIS on the same cells. The right cells have their centre in the parcel.
   */
  readonly differing: number;
  /** Parcels of the sample for which PostGIS has other cells than the cells with their centre in the parcel. */
  readonly peerLacks: number;
}

/** Side of a parcel in metres, for the mean area of Italian parcels, 3,460 m². */
const SIDE_M = 58.8;
const [CELL_M, TILE] = [10, 5_000];
/** The point where four tiles meet, EPSG:32632. */
const [EAST, NORTH] = [700_000, 4_800_000];

/** Returns the height in metres: hills of some hundred metres with rough ground. */
function heightAt(x: number, y: number): number {
  return 500 + 180 * Math.sin(x / 900) * Math.cos(y / 1100) + 30 * Math.sin(x / 130 + y / 170) + 3 * Math.sin(x * 0.37) * Math.cos(y * 0.23);
}

export interface TerrainBenchOptions {
  readonly databaseUrl: string;
  readonly parcels?: number;
  readonly sample?: number;
}

export async function benchTerrain({ databaseUrl, parcels = 1_000_000, sample = 2_000 }: TerrainBenchOptions): Promise<TerrainBench> {
  const folder = await mkdtemp(join(tmpdir(), 'mappale-bench-terrain-'));
  const database = await openDatabase(databaseUrl);
  try {
    await upgrade(database, await loadSources());
    const files = writeTiles(folder, Math.sqrt(parcels) * SIDE_M / 2);
    const schema = 'build_14';
    await database.query(`create schema ${schema}`);
    await database.query("insert into ledger.release (source_id, vintage, fingerprint, reader, complete, state) values ('bench', '0000', 'bench', '', true, 'loaded')");
    for (const file of files) await addTile(database, schema, file);
    await makeParcels(database, schema, parcels);
    return await inWorkspace(database, schema, async (session) => {
      const base = process.memoryUsage().rss;
      let peak = base;
      const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 20);
      const startedAt = performance.now();
      await session.transaction(() => runTableFile(session, schema, readSqlFile(join(ROOT, 'sql/sections/terrain/build.sql')), null));
      const seconds = (performance.now() - startedAt) / 1000;
      clearInterval(watch);
      const [count] = await session.query<{ parcels: number; cells: number }>('select count(*) as parcels, sum(cells)::int8 as cells from terrain');
      const peer = await askPeer(session, folder, sample);
      return {
        ...count!, rasterBytes: files.reduce((sum, { path }) => sum + statSync(path).size, 0),
        seconds, peakMiB: peak / 2 ** 20, baseMiB: base / 2 ** 20, sample, ...peer,
      };
    });
  } finally {
    await database.close();
    await rm(folder, { recursive: true, force: true });
  }
}

interface TileFile {
  readonly name: string;
  readonly path: string;
  readonly west: number;
  readonly north: number;
  readonly width: number;
  readonly height: number;
}

/** Writes four tiles that meet in the middle and cover all parcels. */
function writeTiles(folder: string, reach: number): TileFile[] {
  const cells = Math.min(TILE, Math.ceil(reach * 1.1 / CELL_M) + 20);
  return [[0, 0], [0, 1], [1, 0], [1, 1]].map(([x = 0, y = 0]) => {
    const [west, north] = [EAST + (x - 1) * cells * CELL_M, NORTH + (1 - y) * cells * CELL_M];
    const name = `w${480 - y * 5}${70 - 5 * (1 - x)}_s10`;
    const path = join(folder, `${name}.tif`);
    writeGeoTiff(path, { epsg: 32632, width: cells, height: cells, west, north, cell: CELL_M, noData: '-9999', row: (row) => rowOf(west, north, row, cells) });
    return { name, path, west, north, width: cells, height: cells };
  });
}

function rowOf(west: number, north: number, row: number, cells: number): Float32Array {
  return Float32Array.from({ length: cells }, (_, column) => heightAt(west + (column + 0.5) * CELL_M, north - (row + 0.5) * CELL_M));
}

async function addTile(database: Database, schema: string, { name, path, west, north, width, height }: TileFile): Promise<void> {
  const sha256 = createHash('sha256').update(readFileSync(path)).digest('hex');
  await database.query(
    `with file as (
       insert into ledger.file (release_id, path, name, role, sha256, size, vintage, complete) select max(release_id), $1, $2, 'tile', $3, $4, '0000', false from ledger.release
       returning file_id, release_id
     )
     insert into ledger.member (release_id, file_id, path) select release_id, file_id, '' from file`, [path, name, sha256, statSync(path).size],
  );
  const columns = 'name, release_id, member_id, position, epsg, width, height, west, north, cell_width, cell_height, block_width, block_height, geom';
  const rows = `select '${name}' as name, m.release_id, m.member_id, 1::int8 as position, 32632 as epsg, ${width} as width, ${height} as height, ${west}::float8 as west,
      ${north}::float8 as north, ${CELL_M}::float8 as cell_width, ${CELL_M}::float8 as cell_height, ${width} as block_width, 1 as block_height,
      st_transform(st_segmentize(st_makeenvelope(${west}, ${north - height * CELL_M}, ${west + width * CELL_M}, ${north}, 32632), 1000), 4326) as geom
    from ledger.member m join ledger.file f using (file_id) where f.name = '${name}'`;
  await database.query(`create table if not exists ${schema}.tinitaly_tile as ${rows} limit 0`);
  await database.query(`create table if not exists ${schema}.copernicus_tile as select * from ${schema}.tinitaly_tile limit 0`);
  await database.query(`insert into ${schema}.tinitaly_tile (${columns}) ${rows}`);
}

/** Creates irregular quadrangles with three more corners on each side, in the order of stored parcels. */
async function makeParcels(database: Database, schema: string, parcels: number): Promise<void> {
  const side = Math.ceil(Math.sqrt(parcels));
  await database.query(`
    create function ${schema}.corner(i int4, j int4) returns geometry language sql immutable as $$
      select st_makepoint(
        ${EAST} + (i - ${side} / 2.0) * ${SIDE_M} + 9 * sin(i * 12.9 + j * 78.2),
        ${NORTH} + (j - ${side} / 2.0) * ${SIDE_M} + 9 * cos(i * 39.3 + j * 11.1)
      )
    $$`);
  await database.query(`
    create table ${schema}.parcel as
    with drawn as (
      select i * ${side} + j as fid, st_transform(st_multi(st_segmentize(st_setsrid(st_makepolygon(st_makeline(array[
          ${schema}.corner(i, j), ${schema}.corner(i + 1, j), ${schema}.corner(i + 1, j + 1), ${schema}.corner(i, j + 1), ${schema}.corner(i, j)
        ])), 32632), 18)), 4326)::geometry(multipolygon, 4326) as geom
      from generate_series(0, ${side - 1}) as i, generate_series(0, ${side - 1}) as j
      limit ${parcels}
    )
    select fid::int4 as fid, 'land' as kind, st_pointonsurface(geom)::geometry(point, 4326) as point, geom from drawn order by geom`);
  await database.query(`alter table ${schema}.parcel add primary key (fid)`);
  await database.query(`create view ${schema}.published_parcel as select * from ${schema}.parcel where false`);
  await database.query(`analyze ${schema}.parcel`);
}

/**
 * Runs PostGIS raster on tiles of 100 × 100 cells with an index, as its manual describes. It computes slopes and ruggedness (Wilson) beforehand. It has no
 * ruggedness by Riley, and its aspect is not compared.
 */
async function askPeer(session: Session, folder: string, sample: number): Promise<Pick<TerrainBench, 'peerParcelsPerSecond' | 'differing' | 'peerLacks'>> {
  await session.query('create extension if not exists postgis_raster schema public');
  await session.query("set postgis.gdal_enabled_drivers to 'GTiff'");
  const reach = Math.sqrt(sample) * SIDE_M / 2;
  await session.query(
    `create table sampled as select p.fid, st_transform(p.geom, 32632) as geom from parcel p cross join lateral (select st_transform(p.point, 32632) as point offset 0) q
     where abs(st_x(q.point) - ${EAST}) < ${reach} and abs(st_y(q.point) - ${NORTH}) < ${reach}`,
  );
  const cells = Math.ceil(reach / CELL_M) + 20;
  const [west, north, path] = [EAST - cells * CELL_M, NORTH + cells * CELL_M, join(folder, 'peer.tif')];
  writeGeoTiff(path, { epsg: 32632, width: 2 * cells, height: 2 * cells, west, north, cell: CELL_M, noData: '-9999', row: (row) => rowOf(west, north, row, 2 * cells) });
  await session.query('create table model as select st_setsrid(st_fromgdalraster($1), 32632) as rast', [readFileSync(path)]);
  await session.query('analyze sampled');
  const startedAt = performance.now();
  for (const [name, what] of [['height', 'rast'], ['slope', "st_slope(rast, 1, '32BF', 'DEGREES')"], ['tri', "st_tri(rast, 1, '32BF')"]] as const) {
    await session.query(`create table ${name}_tile as select st_tile(${what}, 100, 100) as rast from model`);
    await session.query(`create index on ${name}_tile using gist (st_convexhull(rast))`);
    await session.query(`analyze ${name}_tile`);
    await session.query(`
      create table ${name}_of as
      select s.fid, (st_summarystats(st_union(st_clip(r.rast, s.geom)))).*
      from sampled s join ${name}_tile r on st_intersects(st_convexhull(r.rast), s.geom)
      group by s.fid`);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  // If PostGIS has fewer cells, the cells with their centre in the parcel are counted one by one.
  const [found] = await session.query<{ rows: number; differing: number; lacks: number }>(`
    with compared as (
      select
        h.count <> t.cells as lacks,
        greatest(abs(t.elevation_min_m - h.min), abs(t.elevation_max_m - h.max), abs(t.elevation_mean_m - h.mean), abs(t.elevation_std_m - h.stddev), abs(t.slope_mean_deg - s.mean),
          abs(t.slope_max_deg - s.max)) > 0.0501 or abs(t.tri_mean_m - w.mean) > 0.00501 as differs,
        t.cells <> (
          select count(*)
          from generate_series(floor(st_xmin(p.geom) / ${CELL_M})::int4, floor(st_xmax(p.geom) / ${CELL_M})::int4) as x,
            generate_series(floor(st_ymin(p.geom) / ${CELL_M})::int4, floor(st_ymax(p.geom) / ${CELL_M})::int4) as y
          where st_contains(p.geom, st_setsrid(st_makepoint((x + 0.5) * ${CELL_M}, (y + 0.5) * ${CELL_M}), 32632))
        ) as wrong
      from sampled p join terrain t using (fid) join height_of h using (fid) join slope_of s using (fid) join tri_of w using (fid)
    )
    select count(*) as rows, count(*) filter (where wrong or (differs and not lacks)) as differing, count(*) filter (where lacks and not wrong) as lacks from compared`);
  return { peerParcelsPerSecond: found!.rows / seconds, differing: found!.differing, peerLacks: found!.lacks };
}
