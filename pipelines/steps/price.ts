/** What a refresh will cost: minutes, disk and memory, from what earlier runs on this database took. */
import type { Database } from '../db/index.ts';
import { layerBytes, publishedBytes } from '../db/catalog.ts';
import { MappaleError } from '../errors.ts';
import { freeBytes } from '../kit/disk.ts';
import type { Plan } from './refresh.ts';

/**
 * Where nothing was measured yet, what an invented region of 200,000 parcels took on two cores with PostgreSQL: compressed bytes read per
 * second, what each release and each region costs however small it is, bytes of layer per byte of file.
 */
const ASSUMED = { bytesPerSecond: 2_000_000, secondsPerRelease: 0.15, layerPerByte: 12, secondsPerRegion: 2.5, secondsPerParcel: 200e-6, bytesPerParcel: 1500 } as const;
/** How much longer the embedded database takes. */
const EMBEDDED = 2.5;
/** This process: readers, buffers and the largest geometry. The server needs its own. */
const MEMORY_BYTES = 400 * 1024 * 1024;
/** A full disk is worse than a refused run. */
const SPARE = 1.2;

export interface Price {
  readonly seconds: number;
  readonly diskBytes: number;
  readonly memoryBytes: number;
  /** Room on the database's disk; null when it is on another machine. */
  readonly freeBytes: number | null;
  /** Share of the estimate that comes from measurements on this database, 0–1. */
  readonly measured: number;
}

interface Rate {
  readonly bytesPerSecond: number;
  readonly layerPerByte: number;
}

/** Rates of what was loaded: by source, and over all sources. */
async function rates(database: Database): Promise<{ bySource: Map<string, Rate>; all: Rate | null }> {
  const rows = await database.query<{ release_id: number; source_id: string; bytes: number; seconds: number }>(
    `select r.release_id, r.source_id, (select sum(f.size) from ledger.file f where f.release_id = r.release_id)::int8 as bytes,
       extract(epoch from r.loaded_at - r.created_at)::float8 as seconds
     from ledger.release r where r.state = 'loaded' and r.loaded_at > r.created_at`,
  );
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
async function perParcel(database: Database): Promise<{ seconds: number; bytes: number } | null> {
  const [row] = await database.query<{ unit: number; parcels: number; seconds: number }>(
    `select p.unit_code::int4 as unit, t.rows as parcels,
       (select sum(extract(epoch from s.ended_at - s.started_at))::float8 from ledger.step s where s.run_id = p.run_id and s.step in ('join', 'check', 'guard', 'gate', 'publish') and s.ended_at is not null) as seconds
     from ledger.publication p join ledger.publication_table t using (publication_id)
     where p.unit_code > 0 and t.relation = 'core.parcel' and t.rows > 0 order by p.publication_id limit 1`,
  );
  if (row === undefined || row.seconds === null) return null;
  return { seconds: row.seconds / row.parcels, bytes: (await publishedBytes(database, row.unit)) / row.parcels };
}

/** @returns the price of a plan; parcels of regions that are not loaded yet are guessed from the size of their files */
export async function price(database: Database, plan: Plan): Promise<Price> {
  const { bySource, all } = await rates(database);
  const each = await perParcel(database);
  const slower = database.engine === 'pglite' ? EMBEDDED : 1;
  let seconds = 0;
  let disk = 0;
  let measured = 0;
  for (const { located } of plan.toLoad) {
    const bytes = located.files.reduce((sum, { size }) => sum + size, 0);
    const known = bySource.get(located.source.id);
    const cost = known !== undefined ? bytes / known.bytesPerSecond : slower * (ASSUMED.secondsPerRelease + bytes / ASSUMED.bytesPerSecond);
    seconds += cost;
    if (known !== undefined) measured += cost;
    disk += bytes * ((known ?? all)?.layerPerByte ?? ASSUMED.layerPerByte);
  }
  const [published] = await database.query<{ parcels: number }>(
    `select coalesce(sum(t.rows), 0)::int8 as parcels from ledger.publication p join ledger.publication_table t using (publication_id)
     where p.state = 'current' and t.relation = 'core.parcel' and p.unit_code = any ($1)`, [plan.units.filter(({ stale }) => stale.length > 0).map(({ unit }) => unit)],
  );
  // About 200 bytes of nested zip a parcel.
  const coming = plan.toLoad.filter(({ located }) => located.source.layer.writes.includes('layer.cadastral_parcel')).reduce((sum, { located }) => sum + located.files.reduce((bytes, { size }) => bytes + size, 0), 0) / 200;
  const parcels = Math.max(published!.parcels, coming);
  const regions = plan.units.filter(({ unit, stale }) => unit > 0 && stale.length > 0).length;
  const build = each !== null ? parcels * each.seconds : slower * (regions * ASSUMED.secondsPerRegion + parcels * ASSUMED.secondsPerParcel);
  seconds += build;
  if (each !== null) measured += build;
  disk += parcels * (each?.bytes ?? ASSUMED.bytesPerParcel);
  return { seconds, diskBytes: disk, memoryBytes: MEMORY_BYTES, freeBytes: await freeBytesOf(database), measured: seconds === 0 ? 1 : measured / seconds };
}

/** Room where the database lies, when that is this machine. */
async function freeBytesOf(database: Database): Promise<number | null> {
  let folder: string | null = null;
  if (database.engine === 'pglite') folder = database.label.startsWith('pglite:/') ? database.label.slice('pglite:'.length) : null;
  else {
    const [row] = await database.query<{ local: boolean; folder: string | null }>(
      `select coalesce(inet_server_addr() in ('127.0.0.1', '::1'), true) as local,
         case when pg_has_role(current_user, 'pg_read_all_settings', 'member') then current_setting('data_directory', true) end as folder`,
    );
    folder = row!.local ? row!.folder : null;
  }
  return folder === null ? null : freeBytes(folder);
}

/** @throws MappaleError `NO_ROOM` (exit 2) when the disk would fill up, unless forced */
export function refuseWithoutRoom(cost: Price, force: boolean): void {
  if (force || cost.freeBytes === null || cost.diskBytes * SPARE <= cost.freeBytes) return;
  throw new MappaleError('there is not enough room for this load', {
    code: 'NO_ROOM', kind: 'usage', detail: `expected ${gib(cost.diskBytes * SPARE)} free (the estimate and a fifth), found ${gib(cost.freeBytes)}`,
    hint: 'Free room (mappale prune), use another disk, or run again with --force.',
  });
}

export function gib(bytes: number): string {
  return bytes < 100 * 1024 ** 2 ? `${Math.ceil(bytes / 1024 ** 2)} MiB` : `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
}
