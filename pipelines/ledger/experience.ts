/** Reads the speed and size of earlier loads and builds on this database, from which a plan estimates time and disk space. */
import { REGIONS } from '../contract/regions.ts';
import type { Database, Row, Session } from '../db/index.ts';
import { statementsOf } from '../db/statements.ts';
import { freeBytes } from '../formats/disk.ts';

const ledger = statementsOf('ledger');

interface Rate {
  readonly bytesPerSecond: number;
  readonly layerPerByte: number;
}

export interface Experience {
  /** Load rates by source; the key `''` contains the rate over all sources. `layerPerByte` is the number of layer bytes for each byte of a file. */
  readonly bySource: ReadonlyMap<string, Rate>;
  /** Load rate over all sources; null before the first load. */
  readonly all: Rate | null;
  /** Build seconds and bytes per parcel of the first region that was built; null if no region was built. */
  readonly perParcel: { readonly seconds: number; readonly bytes: number } | null;
  /** Number of published parcels, by region. */
  readonly parcels: ReadonlyMap<number, number>;
  readonly embedded: boolean;
  /** Free bytes on the database's disk; null if the disk is unknown, such as the disk of a database on another machine. */
  readonly freeBytes: number | null;
}

export async function readExperience(database: Database): Promise<Experience> {
  const parcels = await database.query<{ region: number; parcels: number }>(ledger('published_parcels'));
  const rates = await database.query<Rate & { source: string } & Row>(ledger('loading_rates'));
  const [perParcel] = await database.query<{ seconds: number; bytes: number }>(
    ledger('building_rate'), [REGIONS.map(({ code }) => code), REGIONS.map(({ name }) => name)],
  );
  const bySource = new Map(rates.map(({ source, bytesPerSecond, layerPerByte }) => [source, { bytesPerSecond, layerPerByte }]));
  return {
    bySource, all: bySource.get('') ?? null, perParcel: perParcel ?? null, parcels: new Map(parcels.map((row) => [row.region, row.parcels])),
    embedded: database.engine === 'pglite', freeBytes: await freeBytesOf(database),
  };
}

/** Returns the free bytes on the database's disk; null if the disk is unknown, such as the disk of a database on another machine. */
async function freeBytesOf(database: Database): Promise<number | null> {
  const [, embedded = null] = /^pglite:(\/.*)$/.exec(database.label) ?? [];
  const [server] = database.engine === 'pglite' ? [] : await database.query<{ folder: string | null }>(statementsOf('server')('folder'));
  const folder = server?.folder ?? embedded;
  return folder === null ? null : freeBytes(folder);
}

/** Returns the seconds of each table's last build in this region, or in a different region if this region has none. @param name name of the region */
export async function tableSeconds(session: Session, name: string): Promise<ReadonlyMap<string, number>> {
  const rows = await session.query<{ relation: string; seconds: number }>(ledger('table_seconds'), [name]);
  return new Map(rows.map(({ relation, seconds }) => [relation, seconds]));
}
