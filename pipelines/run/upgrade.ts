/** Upgrades a database to this version, and records the places of releases that an earlier version loaded. */
import type { Database } from '../db/index.ts';
import { migrate, type MigrateOptions, type Migration } from '../db/migrate.ts';
import type { RegisteredSource } from '../contract/registry.ts';
import { notePlacesOfOldReleases } from '../ingest/load.ts';

/** Upgrades a database. Does nothing if the database is up to date. May be called after a killed run. @throws the errors of `migrate` */
export async function upgrade(database: Database, sources: readonly RegisteredSource[], options: MigrateOptions = {}): Promise<Migration> {
  const done = await migrate(database, sources, options);
  if (options.dry !== true) await notePlacesOfOldReleases(database, sources);
  return done;
}
