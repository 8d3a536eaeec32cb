/** Opens a run in the ledger, for tests that call single steps. A step can commit only while its run is open. */
import type { Database } from '../../pipelines/db/index.ts';

/** Returns the run_id of a new open run. */
export async function openRun(database: Database): Promise<number> {
  const [run] = await database.query<{ id: number }>(
    "insert into ledger.run (command, arguments, version, host, pid) values ('test', '{}', 'test', 'test', 0) returning run_id as id",
  );
  return run!.id;
}
