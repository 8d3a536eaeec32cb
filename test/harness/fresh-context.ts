/** A database with all tables and no data, which is migrated once per run, and the program's context on it. */
import { openDatabase } from '../../pipelines/db/index.ts';
import type { Context } from '../../pipelines/run/context.ts';
import type { TestEngine } from './database.ts';
import { contextOn } from './region.ts';

/**
 * Creates a database with all tables and no data, dropped after the suite. The rights on the database itself are not copied.
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

/** Returns the program's context on such a database. */
export async function freshContext(engine: TestEngine): Promise<Context> {
  return contextOn(await engine.openDatabase(await migratedDatabase(engine)));
}
