/** Upgrades a database to this version of the program, and records the places (such as comuni) of releases that an earlier version loaded without places. */
import type { Database } from '../db/index.ts';
import { migrate, type MigrateOptions, type Migration } from '../db/migrate.ts';
import { statementsOf } from '../db/statements.ts';
import type { RegisteredSource } from '../contract/registry.ts';
import type { OldRelease } from '../ingest/load.ts';

/** Upgrades a database. Does nothing if the database is up to date. May be called after a killed run. @throws the errors of `migrate` */
export async function upgrade(database: Database, sources: readonly RegisteredSource[], options: MigrateOptions = {}): Promise<Migration> {
  const done = await migrate(database, sources, options);
  if (options.dry === true) return done;
  const old = await database.query<OldRelease>(statementsOf('ingest')('releases_without_places'));
  // Imports the code on demand, because most databases have no such releases.
  if (old.length > 0) await (await import('../ingest/load.ts')).notePlacesOfOldReleases(database, sources, old);
  return done;
}
