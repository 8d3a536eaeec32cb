/** Finds the current paths of raster files. If a file is missing or changed, the values computed from the file are kept. */
import { basename } from 'node:path';
import type { Session } from '../db/index.ts';
import { statementsOf } from '../db/statements.ts';
import { fileError } from '../formats/file-error.ts';
import { openRaster, type Raster } from '../formats/raster.ts';
import { sha256OfFile } from '../formats/streams.ts';
import type { SeenFile } from '../contract/survey.ts';
import { isUntouched, stampOfFile } from '../ingest/walk.ts';
import type { Tile } from './sweep-mosaic.ts';

/** A row of a raster layer, with the raster's file. */
type TileRow = Omit<Tile, 'open'> & { readonly member: string; readonly path: string; readonly sha256: string; readonly size: number };
type Seen = SeenFile & { readonly path: string; readonly sha256: string };

const statement = statementsOf('sweep');

/** Returns the rasters of a workspace, sorted by model and name. @param tiles name of the view of the raster layer */
export async function tilesOf(session: Session, schema: string, tiles: string): Promise<Tile[]> {
  const rows = await session.query<TileRow & Record<string, unknown>>(statement('tiles', { tiles: { schema, table: tiles } }));
  if (rows.length === 0) return [];
  const seen = await session.query<Seen & Record<string, unknown>>(statement('places'), [[...new Set(rows.map(({ sha256 }) => sha256))]]);
  const found = new Map<string, Promise<string | null>>();
  return Promise.all(rows.map(async ({ member, path, sha256, size, ...tile }) => {
    const places = new Map<string, Seen | null>([[path, null], ...seen.filter((each) => each.sha256 === sha256).map((each) => [each.path, each] as const)]);
    // A zip may contain several rasters, so each file is searched only once.
    const file = found.get(sha256) ?? find(places, sha256, size);
    found.set(sha256, file);
    const here = await file;
    return { ...tile, open: here === null ? null : () => openTile(here, member, sha256) };
  }));
}

/** Opens a raster. An error names the file with the problem, so that the region can be built without the file. */
async function openTile(path: string, member: string, sha256: string): Promise<Raster> {
  const naming = (error: unknown): never => {
    throw fileError(error, path)?.knowing({ files: [{ name: basename(path), sha256 }] }) ?? error;
  };
  const raster = await openRaster(path, member).catch(naming);
  return { grid: raster.grid, readBlock: (column, row) => raster.readBlock(column, row).catch(naming), close: () => raster.close() };
}

/** Returns the first path whose file has the given SHA-256 and size, or null. */
async function find(places: ReadonlyMap<string, Seen | null>, sha256: string, size: number): Promise<string | null> {
  for (const [path, seen] of places) {
    const stamp = stampOfFile(path);
    if (stamp === null || stamp.size !== size) continue;
    // A file that was not modified since its hash was computed still has the same bytes.
    if ((seen !== null && isUntouched(seen, stamp)) || (await sha256OfFile(path)) === sha256) return path;
  }
  return null;
}
