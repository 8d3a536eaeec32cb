/** Runs a source's load.sql on staged rows that a test provides, without files, releases or publications. */
import { beforeAll } from 'vitest';
import type { Database, Session } from '../../pipelines/db/index.ts';
import { registerSource } from '../../pipelines/contract/registry.ts';
import { runChecks, type Violation } from '../../pipelines/db/checks.ts';
import { checksOf } from '../../pipelines/db/source-checks.ts';
import { runLoad } from '../../pipelines/ingest/load.ts';
import { describeDatabase } from './database.ts';
import { createFunctions } from './functions.ts';

export interface LoadedRows {
  readonly session: Session;
  /** Returns the checks that found violations. */
  checks(): Promise<Violation[]>;
}

/**
 * @param inserts statements that fill the staging tables
 * @param work runs with the workspace as search path, before the workspace is dropped
 */
export async function loaded<T>(database: Database, id: string, inserts: string, work: (rows: LoadedRows) => Promise<T>): Promise<T> {
  const source = await registerSource(id);
  return database.session(async (session) => {
    await createFunctions(session);
    await session.script('create schema loaded_rows; set search_path to loaded_rows, public', 'test/harness/loaded.ts');
    try {
      await session.script(source.staging.text, source.staging.file);
      // All members belong to one file, unless the test defines other members.
      await session.script("create table member as select n as member_id, 1 as file_id, 'member ' || lpad(n::text, 4, '0') as path, 'file' as file_name, null::int2 as region_code, true as is_read from generate_series(1, 1000) as n", 'test/harness/loaded.ts');
      await session.script(inserts, 'test');
      await session.script("create table release as select 1 as release_id, 'test' as source, '2020' as vintage, null::int2 as region_code", 'test/harness/loaded.ts');
      await runLoad(session, source);
      return await work({ session, checks: () => runChecks(session, checksOf(source)) });
    } finally {
      await session.script('drop schema loaded_rows cascade; reset search_path', 'test/harness/loaded.ts');
    }
  });
}

/** Function `loaded` for one database and one source. */
type Load = <T>(inserts: string, work: (rows: LoadedRows) => Promise<T>) => Promise<T>;

/** Runs a suite that loads staged rows of one source into a new database. @param id name of the source's folder */
export function describeLoad(name: string, id: string, suite: (load: Load) => void): void {
  describeDatabase(name, (engine) => {
    let database: Database;
    beforeAll(async () => {
      database = await engine.openDatabase();
    });
    suite((inserts, work) => loaded(database, id, inserts, work));
  });
}
