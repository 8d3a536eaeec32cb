/** What earlier runs on this database took: by it the next one is priced. */
import { layerBytes, publishedBytes } from '../db/catalog.ts';
import type { Database } from '../db/index.ts';
import { statementsOf } from '../db/statements.ts';
import { freeBytes } from '../formats/disk.ts';

const ledger = statementsOf('ledger');

export interface Rate {
  readonly bytesPerSecond: number;
  readonly layerPerByte: number;
}

export interface Experience {
  /** Of what was loaded: by source, and over all sources; null: nothing was. */
  readonly bySource: ReadonlyMap<string, Rate>;
  readonly all: Rate | null;
  /** Seconds and bytes of a parcel's rows; null: no region was built. */
  readonly perParcel: { readonly seconds: number; readonly bytes: number } | null;
  /** Parcels in force, by unit. */
  readonly parcels: ReadonlyMap<number, number>;
  readonly embedded: boolean;
  /** Room on the database's disk; null when it is on another machine. */
  readonly freeBytes: number | null;
}

export async function readExperience(database: Database): Promise<Experience> {
  const parcels = await database.query<{ unit: number; parcels: number }>(ledger('parcels_in_force'));
  return {
    ...(await rates(database)), perParcel: await perParcel(database), parcels: new Map(parcels.map((row) => [row.unit, row.parcels])),
    embedded: database.engine === 'pglite', freeBytes: await freeBytesOf(database),
  };
}

async function rates(database: Database): Promise<Pick<Experience, 'bySource' | 'all'>> {
  const rows = await database.query<{ release_id: number; source_id: string; bytes: number; seconds: number }>(ledger('loading_times'));
  const layers = await layerBytes(database);
  const sums = new Map<string, { bytes: number; seconds: number; layer: number }>();
  for (const row of rows) {
    for (const key of [row.source_id, '']) {
      const sum = sums.get(key) ?? { bytes: 0, seconds: 0, layer: 0 };
      sum.bytes += row.bytes;
      sum.seconds += row.seconds;
      sum.layer += layers.get(row.release_id) ?? 0;
      sums.set(key, sum);
    }
  }
  const rate = (sum: { bytes: number; seconds: number; layer: number }): Rate => ({ bytesPerSecond: sum.bytes / Math.max(sum.seconds, 1e-3), layerPerByte: sum.layer / Math.max(sum.bytes, 1) });
  const all = sums.get('');
  sums.delete('');
  return { bySource: new Map([...sums].map(([source, sum]) => [source, rate(sum)])), all: all === undefined ? null : rate(all) };
}

/** Seconds and bytes per parcel of the regions that were built here. */
async function perParcel(database: Database): Promise<Experience['perParcel']> {
  const [row] = await database.query<{ unit: number; parcels: number; seconds: number | null }>(ledger('building_time'));
  if (row === undefined || row.seconds === null) return null;
  return { seconds: row.seconds / row.parcels, bytes: (await publishedBytes(database, row.unit)) / row.parcels };
}

/** Room where the database lies, when that is this machine. */
async function freeBytesOf(database: Database): Promise<number | null> {
  const [, embedded = null] = /^pglite:(\/.*)$/.exec(database.label) ?? [];
  const [server] = database.engine === 'pglite' ? [] : await database.query<{ folder: string | null }>(statementsOf('server')('folder'));
  const folder = server?.folder ?? embedded;
  return folder === null ? null : freeBytes(folder);
}
