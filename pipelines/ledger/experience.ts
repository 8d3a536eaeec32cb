/** What earlier runs on this database took: by it the next one is priced. */
import { layerBytes, publishedBytes } from '../db/catalog.ts';
import type { Database } from '../db/index.ts';
import { freeBytes } from '../formats/disk.ts';

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
  const parcels = await database.query<{ unit: number; parcels: number }>(
    `select p.unit_code::int4 as unit, t.rows as parcels from ledger.publication p join ledger.publication_table t using (publication_id)
     where p.state = 'current' and t.relation = 'core.parcel'`,
  );
  return {
    ...(await rates(database)), perParcel: await perParcel(database), parcels: new Map(parcels.map((row) => [row.unit, row.parcels])),
    embedded: database.engine === 'pglite', freeBytes: await freeBytesOf(database),
  };
}

async function rates(database: Database): Promise<Pick<Experience, 'bySource' | 'all'>> {
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
async function perParcel(database: Database): Promise<Experience['perParcel']> {
  const [row] = await database.query<{ unit: number; parcels: number; seconds: number }>(
    `select p.unit_code::int4 as unit, t.rows as parcels,
       (select sum(extract(epoch from s.ended_at - s.started_at))::float8 from ledger.step s where s.run_id = p.run_id and s.step in ('join', 'check', 'guard', 'gate', 'publish') and s.ended_at is not null) as seconds
     from ledger.publication p join ledger.publication_table t using (publication_id)
     where p.unit_code > 0 and t.relation = 'core.parcel' and t.rows > 0 order by p.publication_id limit 1`,
  );
  if (row === undefined || row.seconds === null) return null;
  return { seconds: row.seconds / row.parcels, bytes: (await publishedBytes(database, row.unit)) / row.parcels };
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
