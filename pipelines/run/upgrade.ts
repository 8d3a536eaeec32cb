/** Brings a database to this version, and notes of what an earlier one loaded the places that it did not. */
import type { Database } from '../db/index.ts';
import { migrate, type MigrateOptions, type Migration } from '../db/migrate.ts';
import type { RegisteredSource } from '../contract/registry.ts';
import { notePlacesOfOldReleases } from '../ingest/load.ts';

/** Safe to run at every start, also after one that was killed. @throws MappaleError as `migrate` does */
export async function upgrade(database: Database, sources: readonly RegisteredSource[], options: MigrateOptions = {}): Promise<Migration> {
  const done = await migrate(database, sources, options);
  if (options.dry !== true) await notePlacesOfOldReleases(database, sources);
  return done;
}
