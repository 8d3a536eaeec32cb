/** What a command works with: settings, sources, database, log; opened once, closed whatever happens. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig, ROOT, type Config } from '../config.ts';
import { onDatabase, type Access, type Database } from '../db/index.ts';
import { requireCurrent } from '../db/state.ts';
import type { Facts } from '../contract/fingerprint.ts';
import { engineOf } from '../db/engine.ts';
import { makeLog, type Log } from '../log.ts';
import { loadSources, type RegisteredSource } from '../contract/registry.ts';
import { upgrade } from './upgrade.ts';
import { sha256 } from '../contract/sql-files.ts';

export const VERSION: string = (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version;

export interface Context {
  readonly config: Config;
  readonly sources: readonly RegisteredSource[];
  readonly database: Database;
  readonly log: Log;
  /** Digest of the versions of all sources: what another version thought of a file is asked again. */
  readonly recogniser: string;
  /** Versions of the database's own code, which decide as much as ours. */
  readonly engine: Facts;
}

interface ContextOptions {
  /** What the command does: one that only looks gets read-only transactions, and a database that is not at this version is an error to it. */
  readonly access: Access;
  /** Overrides `DATABASE_URL`. */
  readonly databaseUrl?: string | undefined;
  readonly log?: Log | undefined;
}

/**
 * Opens everything, runs the work, closes. Commands that write bring the database to this version first.
 * @throws MappaleError `DATABASE_OUT_OF_DATE` (exit 6) to a command that only looks, `MIGRATION_LOSES` (exit 2) to one that writes
 */
export async function withContext<T>(options: ContextOptions, work: (context: Context) => Promise<T>): Promise<T> {
  const config = readConfig();
  const sources = await loadSources();
  const log = options.log ?? makeLog(config, process.stderr);
  return onDatabase(options.databaseUrl ?? config.databaseUrl, options.access, async (database) => {
    if (options.access === 'write') await upgrade(database, sources, { distributed: config.distributed });
    else await requireCurrent(database, sources);
    return work(await contextOf(config, sources, database, log));
  });
}

/** @param database at this version */
export async function contextOf(config: Config, sources: readonly RegisteredSource[], database: Database, log: Log): Promise<Context> {
  const engine = await engineOf(database);
  return { config, sources, database, log, recogniser: sha256(sources.map(({ id, manifest }) => `${id} ${manifest.version}`).join('\n')), engine };
}
