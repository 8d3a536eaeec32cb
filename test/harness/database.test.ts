/** Tests that the harness creates new databases and removes them completely. */
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../pipelines/db/index.ts';
import { describeEngines } from './database.ts';

describeEngines('a test database', (engine) => {
  it('has PostGIS', async () => {
    const database = await engine.openDatabase();
    expect(await database.query('select st_astext(st_point(12, 42, 4326)) as point')).toEqual([{ point: 'POINT(12 42)' }]);
    expect(database.engine).toBe(engine.name);
  });

  it('is empty even if a test wrote to another database', async () => {
    const first = await engine.openDatabase();
    await first.query('create table written (id int4)');
    const second = await engine.openDatabase();
    const tables = (database: typeof first): Promise<unknown[]> =>
      database.query("select tablename::text as name from pg_tables where schemaname = 'public' and tablename <> 'spatial_ref_sys'");
    expect(await tables(first)).toEqual([{ name: 'written' }]);
    expect(await tables(second)).toEqual([]);
  });

  it('can be opened again by its URL', async () => {
    const url = await engine.createDatabase();
    const first = await openDatabase(url);
    await first.query('create table written as select 7 as id');
    await first.close();
    const second = await engine.openDatabase(url);
    expect(await second.query('select id from written')).toEqual([{ id: 7 }]);
  });

  it('with shared content is prepared once, and a change to one copy does not change the next copy', async () => {
    let prepared = 0;
    const copy = (): Promise<string> => engine.sharedDatabase('rows of a test of the harness', async (url) => {
      prepared += 1;
      const database = await openDatabase(url);
      await database.query('create table shared as select 7 as id');
      await database.close();
    });
    const first = await engine.openDatabase(await copy());
    await first.query('insert into shared values (8)');
    const second = await engine.openDatabase(await copy());
    expect(await second.query('select id from shared')).toEqual([{ id: 7 }]);
    expect(prepared).toBe(1);
  });
});

describe('after a suite', () => {
  const urls: string[] = [];

  describeEngines('that created a database', (engine) => {
    it('creates the database', async () => {
      urls.push(await engine.createDatabase());
    });
  });

  it('the database is dropped', async () => {
    expect(urls.length).toBeGreaterThan(0);
    for (const url of urls) {
      if (url.startsWith('pglite:')) expect(existsSync(url.slice('pglite:'.length))).toBe(false);
      else await expect(openDatabase(url)).rejects.toThrow(/does not exist/);
    }
  });
});
