/** Creates databases with all tables and no data, and the program's context on such a database. The tables are created once per run and engine. */
import { openDatabase } from '../../pipelines/db/index.ts';
import type { Context } from '../../pipelines/run/context.ts';
import type { TestEngine } from './database.ts';
import { contextOn } from './region.ts';

/**
 * Creates a database with all tables and no data. The database is dropped after the suite. The database is a copy, and a copy lacks the privileges that were
 * granted on the original database itself.
 * @returns its URL
 */
export function migratedDatabase(engine: TestEngine): Promise<string> {
  return engine.sharedDatabase('migrated', async (prepared) => {
    const database = await openDatabase(prepared);
    try {
      await contextOn(database);
    } finally {
      await database.close();
    }
  });
}

/** Returns the program's context on a database with all tables and no data. */
export async function freshContext(engine: TestEngine): Promise<Context> {
  return contextOn(await engine.openDatabase(await migratedDatabase(engine)));
}
