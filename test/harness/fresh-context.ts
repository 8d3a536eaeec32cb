/** The program's context on a database that is migrated once per run. */
import { openDatabase } from '../../pipelines/db/index.ts';
import type { Context } from '../../pipelines/run/context.ts';
import type { TestEngine } from './database.ts';
import { contextOn } from './region.ts';

/** Returns the program's context on a fresh database, a copy of a database that is migrated once per run. */
export async function freshContext(engine: TestEngine): Promise<Context> {
  const url = await engine.sharedDatabase('migrated', async (prepared) => {
    const database = await openDatabase(prepared);
    try {
      await contextOn(database);
    } finally {
      await database.close();
    }
  });
  return contextOn(await engine.openDatabase(url));
}
