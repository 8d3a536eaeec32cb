/**
 * Exports the parcels of a region to a file. Rows are streamed in the order of a Hilbert curve. All rows come from one publication. Two exports of the same
 * publication with the same options and the same version of the program have the same bytes.
 */
import { stat, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { firstFid, type Region } from '../contract/regions.ts';
import { one, type Database } from '../db/index.ts';
import { statementsOf } from '../db/statements.ts';
import { MappaleError } from '../errors.ts';
import type { Extent } from '../formats/parquet-writer.ts';
import { sha256OfFile } from '../formats/streams.ts';
import { writeAtomically } from '../formats/atomic-write.ts';
import type { Log } from '../log.ts';
import { progressLine, secondsSince } from '../progress.ts';
import { resultsInOrder } from '../parallel.ts';
import { tileId } from '../formats/pmtiles-writer.ts';
import { tileAt, type TileNumber } from '../formats/vector-tile.ts';
import { areaName, areaTitle, type Area } from './area.ts';
import { columnsOf, licencesOf, rowsOf, type Ask, type Cell, type Licence, type OutputColumn } from './columns.ts';
import { publicationChanged, sameThroughout } from './publication.ts';
import { stacItem, stacPath } from './stac.ts';
import { EXPORTED_ZOOMS, regionTile } from './tiles.ts';

const statement = statementsOf('deliver');

/** Number of parcels per query. Larger batches are not faster, and the batches of parallel queries use most of the memory. */
const BATCH = 1_000;

interface ExportedRow {
  /** Values of the parcel, in the order of the columns. */
  readonly cells: readonly Cell[];
  /** Geometry as WKB of a multipolygon in EPSG:4326, longitude before latitude. */
  readonly wkb: Uint8Array;
  readonly extent: Extent;
}

/** Facts about an export that are known before the rows are read. */
export interface ExportFacts {
  readonly region: Region;
  readonly area: Area;
  readonly title: string;
  readonly columns: readonly OutputColumn[];
  readonly parcels: number;
  readonly extent: Extent;
  readonly publishedAt: string;
  /** Digest of the publication's content. */
  readonly digest: string;
  readonly licences: readonly Licence[];
  /** Name and version of this program. */
  readonly createdBy: string;
  /** True if CSV contains text unchanged, even if spreadsheet programs would evaluate the text as a formula. */
  readonly verbatim: boolean;
}

interface RegionTile {
  readonly tile: TileNumber;
  readonly bytes: Buffer;
}

/** An export format. */
export interface Format {
  /** Ending of the file name, without a dot. */
  readonly ending: string;
  readonly mediaType: string;
  /** Name of the geometry column; null if the format has no geometry column. */
  readonly geometry: string | null;
  /** `region` if the format can contain only whole regions; `parts` otherwise. */
  readonly writes: 'parts' | 'region';
  /** Returns the columns that the format contains; omitted if the format contains all columns. */
  columns?(sections: readonly string[]): readonly OutputColumn[];
  /**
   * Writes the export to a file.
   * @param rows rows of parcels, which can be read only once
   * @param tiles the same parcels as map tiles, for tile formats
   * @returns a note for the user, or null
   * @throws MappaleError if a program or library that the format needs is missing, or if the file cannot be written
   */
  write(path: string, facts: ExportFacts, rows: AsyncIterable<readonly ExportedRow[]>, tiles: AsyncIterable<RegionTile>): Promise<string | null>;
  /** Writes a metadata file next to the exported file, and returns its path. */
  writeMetadata?(path: string, facts: ExportFacts): Promise<string>;
}

interface ExportWork {
  readonly region: Region;
  readonly area: Area;
  readonly sections: readonly string[];
  readonly format: Format;
  readonly out: string;
  readonly createdBy: string;
  readonly verbatim: boolean;
}

export interface Exported {
  readonly out: string;
  /** Paths of the files next to the export: the STAC item and, for some formats, a metadata file. */
  readonly companions: readonly string[];
  readonly parcels: number;
  readonly columns: number;
  readonly bytes: number;
  readonly sha256: string;
  readonly published_at: string;
  readonly digest: string;
  readonly note: string | null;
  readonly seconds: number;
}

/**
 * Exports a region or a part of a region from one publication. Does not block new publications. If a new publication becomes current, the work starts again.
 * @throws MappaleError `NOT_PUBLISHED`, `NOTHING_TO_EXPORT`, `FORMAT_OF_REGIONS` (exit 2), `PUBLICATION_CHANGED` (exit 6); errors of the format and of the
 * database
 */
export async function exportRegion(database: Database, log: Log, work: ExportWork): Promise<Exported> {
  const { region, area, format } = work;
  if (format.writes === 'region' && area.kind !== 'region') {
    throw new MappaleError('this format can contain only whole regions', {
      code: 'FORMAT_OF_REGIONS', kind: 'usage', detail: `expected a format for parts of a region, found ${format.ending}`,
      hint: 'Choose another format, or export the region.', fix: `npx mappale export ${region.slug} --format ${format.ending}`,
    });
  }
  return sameThroughout(log, () => exportOnce(database, log, work));
}

async function exportOnce(database: Database, log: Log, { region, area, sections, format, out, createdBy, verbatim }: ExportWork): Promise<Exported> {
  const startedAt = performance.now();
  const ask: Ask = (sql, parameters) => one(database, sql, parameters);
  const { facts, fids } = await look(database, ask, { region, area, sections, format, createdBy, verbatim });
  const rows = async function* (): AsyncGenerator<readonly ExportedRow[], void, undefined> {
    let written = 0;
    for await (const batch of batchesOf(database, fids, sections, facts.digest, region.code)) {
      written += batch.length;
      yield batch;
      log.progress(progressLine(basename(out), written, written, facts.parcels, performance.now() - startedAt));
    }
  };
  const { mediaType, geometry } = format;
  // Writes all files before the first file is renamed. If the disk is full, the earlier export therefore stays unchanged.
  const { note, bytes, sha256, companions } = await writeAtomically(out, async (unfinished) => {
    const note = await format.write(unfinished, facts, rows(), tilesOf(database, facts, sections));
    const { size } = await stat(unfinished);
    const digest = await sha256OfFile(unfinished);
    const stac = stacPath(out);
    const metadata = await writeAtomically(stac, async (item) => {
      await writeFile(item, stacItem(facts, { name: basename(out), mediaType, geometry, bytes: size, sha256: digest }));
      return format.writeMetadata?.(out, facts);
    });
    return { note, bytes: size, sha256: digest, companions: [stac, ...(metadata === undefined ? [] : [metadata])] };
  }, `.${format.ending}`);
  return {
    out, companions, parcels: facts.parcels, columns: facts.columns.length, bytes, sha256,
    published_at: facts.publishedAt, digest: facts.digest, note, seconds: Math.round(secondsSince(startedAt) * 100) / 100,
  };
}

type Publication = { readonly digest: string; readonly published_at: string };

async function look(
  database: Database, ask: Ask, { region, area, sections, format, createdBy, verbatim }: Omit<ExportWork, 'out'>,
): Promise<{ facts: ExportFacts; fids: Int32Array }> {
  const [publication] = await database.query<Publication>(statement('publication'), [region.code]);
  if (publication === undefined) {
    throw new MappaleError(`${region.name} is not published`, { code: 'NOT_PUBLISHED', kind: 'usage', hint: 'Check which regions are published.', fix: 'npx mappale status' });
  }
  const found = await one<{ fids: Uint8Array | null } & Readonly<Record<'west' | 'south' | 'east' | 'north', number>>>(
    database, statement('order'), [firstFid(region.code), firstFid(region.code + 1), area.kind === 'comune' ? area.belfiore : null, area.kind === 'polygons' ? area.geojson : null],
  );
  if (found.fids === null && area.kind !== 'region') {
    throw new MappaleError(`${region.name} has no parcels in this area`, {
      code: 'NOTHING_TO_EXPORT', kind: 'usage', detail: `expected parcels in ${areaName(area)}, found none`, hint: 'List the loaded comuni.',
      fix: `npx mappale report ${region.slug}`,
    });
  }
  if (found.fids === null) {
    throw new MappaleError(`${region.name} has no parcels`, { code: 'NOTHING_TO_EXPORT', kind: 'usage', detail: 'expected parcels, found only addresses', hint: 'First load the cadastral map of the region.', fix: `npx mappale load-region ${region.slug} --data FOLDER` });
  }
  const bytes = Buffer.from(found.fids.buffer, found.fids.byteOffset, found.fids.byteLength);
  const fids = Int32Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readInt32BE(index * 4));
  const columns = format.columns?.(sections) ?? columnsOf(sections);
  return {
    fids,
    facts: {
      region, area, title: areaTitle(region, area), columns, parcels: fids.length, extent: [found.west, found.south, found.east, found.north],
      publishedAt: publication.published_at, digest: publication.digest, licences: await licencesOf(ask, region.code, sections), createdBy, verbatim,
    },
  };
}

type Drawing = { readonly fid: number; readonly wkb: Uint8Array } & Readonly<Record<'west' | 'south' | 'east' | 'north', number>>;

/** Yields the batches of rows in order, and requests the next batches in advance. @throws MappaleError `PUBLICATION_CHANGED` */
async function* batchesOf(
  database: Database, fids: Int32Array, sections: readonly string[], digest: string, region: number,
): AsyncGenerator<readonly ExportedRow[], void, undefined> {
  const tags = new Set<string>();
  const starts = Array.from({ length: Math.ceil(fids.length / BATCH) }, (_, index) => index * BATCH);
  yield* resultsInOrder(database.parallel, starts, (at) => batchOf(database, [...fids.subarray(at, at + BATCH)], sections, { digest, region, tags }));
}

/** Reads the columns and geometries of a batch in one transaction. A swap waits until this transaction ends. */
function batchOf(
  database: Database, fids: readonly number[], sections: readonly string[],
  { digest, region, tags }: { readonly digest: string; readonly region: number; readonly tags: Set<string> },
): Promise<readonly ExportedRow[]> {
  return database.transaction(async (session) => {
    const { publication, cells } = await rowsOf((sql, parameters) => one(session, sql, parameters), fids, sections);
    const [current] = await session.query<Publication>(statement('publication'), [region]);
    tags.add(publication);
    if (tags.size > 1 || current?.digest !== digest) throw publicationChanged();
    const drawings = new Map((await session.query<Drawing>(statement('drawings'), [fids])).map((drawing) => [drawing.fid, drawing]));
    return fids.map((fid): ExportedRow => {
      const [row, drawing] = [cells.get(fid), drawings.get(fid)];
      if (row === undefined || drawing === undefined) throw publicationChanged();
      return { cells: row, wkb: drawing.wkb, extent: [drawing.west, drawing.south, drawing.east, drawing.north] };
    });
  });
}

/**
 * Yields the tiles that are not empty, in the order of tile numbers. At zooms with parcels, does not read the subtiles of an empty tile.
 * @throws MappaleError `PUBLICATION_CHANGED`
 */
async function* tilesOf(
  database: Database, { region, extent, digest }: ExportFacts, sections: readonly string[],
): AsyncGenerator<RegionTile, void, undefined> {
  const tags = new Set<string>();
  const { comuni, parcels, last } = EXPORTED_ZOOMS;
  const look = async (tile: TileNumber): Promise<{ tile: TileNumber; bytes: Buffer | null }> => {
    const { publication, bytes } = await database.session((session) => {
      const ask: Ask = (sql, parameters) => one(session, sql, parameters);
      return regionTile(ask, region.code, sections, tile);
    });
    tags.add(publication);
    if (tags.size > 1) throw publicationChanged();
    return { tile, bytes };
  };
  let found = tilesIn(extent, comuni);
  for (let z: number = comuni; z <= last; z += 1) {
    const parents: TileNumber[] = [];
    for await (const { tile, bytes } of resultsInOrder(database.parallel, found, look)) {
      if (bytes !== null) yield { tile, bytes };
      // At zooms without parcels, the subtiles of empty tiles are read too, because a region may have parcels but no boundaries.
      if (bytes !== null || z < parcels) parents.push(tile);
    }
    found = inOrder(parents.flatMap((tile) => quartersOf(tile)).filter((tile) => isWithin(tile, extent)));
  }
  const [current] = await database.query<Publication>(statement('publication'), [region.code]);
  if (current?.digest !== digest) throw publicationChanged();
}

/** Returns the north-western and the south-eastern tile of an extent. */
function cornersOf([west, south, east, north]: Extent, z: number): readonly [TileNumber, TileNumber] {
  return [tileAt(z, west, north), tileAt(z, east, south)];
}

function isWithin({ z, x, y }: TileNumber, extent: Extent): boolean {
  const [first, last] = cornersOf(extent, z);
  return x >= first.x && x <= last.x && y >= first.y && y <= last.y;
}

function tilesIn(extent: Extent, z: number): TileNumber[] {
  const [first, last] = cornersOf(extent, z);
  const tiles: TileNumber[] = [];
  for (let x = first.x; x <= last.x; x += 1) for (let y = first.y; y <= last.y; y += 1) tiles.push({ z, x, y });
  return inOrder(tiles);
}

function quartersOf({ z, x, y }: TileNumber): TileNumber[] {
  return [0, 1, 2, 3].map((quarter) => ({ z: z + 1, x: 2 * x + (quarter & 1), y: 2 * y + (quarter >> 1) }));
}

function inOrder(tiles: TileNumber[]): TileNumber[] {
  return tiles.sort((a, b) => tileId(a) - tileId(b));
}
