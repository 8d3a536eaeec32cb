/** Opens the settings, sources, database and log of a command, and always closes the database at the end. */
import { readConfig, type Config } from '../config.ts';
import { onDatabase, type Access, type Database } from '../db/index.ts';
import { requireCurrent } from '../db/state.ts';
import type { Facts } from '../contract/fingerprint.ts';
import { engineOf } from '../db/engine.ts';
import { makeLog, type Log } from '../log.ts';
import { loadSources, type RegisteredSource } from '../contract/registry.ts';
import { upgrade } from './upgrade.ts';
import { sha256 } from '../contract/sql-files.ts';

export interface Context {
  readonly config: Config;
  readonly sources: readonly RegisteredSource[];
  readonly database: Database;
  readonly log: Log;
  /** Digest of the versions of all sources. If this digest changes, the next survey recognises all files again. */
  readonly recogniser: string;
  /** Versions of the database engine, which affect built values. */
  readonly engine: Facts;
}

interface ContextOptions {
  /** Access that the command needs. `read` uses read-only transactions and requires a database that this version has upgraded. */
  readonly access: Access;
  /** Overrides `DATABASE_URL`. */
  readonly databaseUrl?: string | undefined;
  readonly log?: Log | undefined;
}

/**
 * Opens a context, runs the work and closes the context. For a command that writes, upgrades the database first.
 * @throws the errors of `openDatabase`
 * @throws the errors of `requireCurrent` for read-only commands, such as `DATABASE_OUT_OF_DATE` (exit 6)
 * @throws the errors of `migrate` for commands that write, such as `MIGRATION_LOSES` (exit 2)
 */
export async function withContext<T>(options: ContextOptions, work: (context: Context) => Promise<T>): Promise<T> {
  const config = readConfig();
  const log = options.log ?? makeLog(config, process.stderr);
  // Loads the sources while the database is opened. If the database cannot be opened, only that error is reported.
  const loading = loadSources();
  loading.catch(() => undefined);
  return onDatabase(options.databaseUrl ?? config.databaseUrl, options.access, async (database) => {
    const sources = await loading;
    if (options.access === 'write') await upgrade(database, sources, { distributed: config.distributed });
    else await requireCurrent(database, sources);
    return work(await contextOf(config, sources, database, log));
  });
}

/** Returns the context of a command. @param database a database that this version has upgraded */
export async function contextOf(config: Config, sources: readonly RegisteredSource[], database: Database, log: Log): Promise<Context> {
  const engine = await engineOf(database);
  return { config, sources, database, log, recogniser: sha256(sources.map(({ id, manifest }) => `${id} ${manifest.version}`).join('\n')), engine };
}
