/** Tests the parallel build of a region's tables. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { refresh } from '../../pipelines/run/refresh.ts';
import { describeDatabase } from '../harness/database.ts';
import { freshContext } from '../harness/fresh-context.ts';
import { loadOptions, syntheticFiles } from '../harness/region.ts';

describeDatabase('a region with tables built in parallel', (engine) => {
  let files: Awaited<ReturnType<typeof syntheticFiles>>;
  beforeAll(async () => {
    files = await syntheticFiles(400, 9);
  });
  afterAll(() => files?.remove());

  it('has the same digests with one and four parallel builds, and leaves no workspace', async () => {
    const digests = [];
    for (const parallel of [1, 4]) {
      const { database } = await freshContext(engine).then(async (context) => {
        expect((await refresh(context, loadOptions([files.folder], [14], { parallel }))).failures).toEqual([]);
        return context;
      });
      expect(await database.query("select nspname from pg_namespace where starts_with(nspname, 'build_')")).toEqual([]);
      digests.push(await database.query<{ relation: string; rows: number; digest: string }>('select relation, rows, digest from ledger.publication_table order by relation'));
    }
    expect(digests[0]!.length).toBeGreaterThan(40);
    expect(digests[1]).toEqual(digests[0]);
  });

  it('reports the error of a table after all running builds have ended, and builds that table in the next run', async () => {
    const context = await freshContext(engine);
    await context.database.query(`create function public.stop_here() returns event_trigger language plpgsql as $$
      begin
        if exists (select from pg_event_trigger_ddl_commands() where object_identity like '%.overlay_area') then raise exception 'stopped here'; end if;
      end $$`);
    await context.database.query("create event trigger stop_here on ddl_command_end when tag in ('CREATE TABLE AS') execute function public.stop_here()");
    await expect(refresh(context, loadOptions([files.folder], [14], { parallel: 4 }))).rejects.toThrow('stopped here');
    expect(await context.database.query('select unit_code from ledger.publication where unit_code = 14')).toEqual([]);
    const busy = await context.database.query("select query from pg_stat_activity where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid() and state <> 'idle'");
    expect(busy).toEqual([]);
    await context.database.query('drop event trigger stop_here');
    expect((await refresh(context, loadOptions([files.folder], [14], { parallel: 4 }))).failures).toEqual([]);
    expect(await context.database.query("select nspname from pg_namespace where starts_with(nspname, 'build_')")).toEqual([]);
  });

  it('starts with the table that took longest in the last run', async () => {
    const context = await freshContext(engine);
    const { database } = context;
    const tables = ['section.risk', 'section.subsidence'] as const;
    await refresh(context, loadOptions([files.folder], [14], { parallel: 1 }));
    for (const longest of tables) {
      await database.query("update ledger.step set detail = jsonb_build_object('seconds', jsonb_build_object($1::text, 1000)) where step = 'join'", [longest]);
      // All tables must be rebuilt, as if a different version of the program had built them.
      await database.query("update ledger.publication_table set fingerprint = 'another', inputs = '{}' from ledger.publication p where p.publication_id = publication_table.publication_id and unit_code = 14");
      expect((await refresh(context, loadOptions([files.folder], [14], { parallel: 1 }))).failures).toEqual([]);
      const made = await database.query<{ relation: string }>(`
        select t.relation from ledger.publication_table t join ledger.publication p using (publication_id) join pg_class c on c.relname = t.partition
        where p.state = 'current' and t.relation = any ($1) order by c.oid`, [tables]);
      expect(made.map(({ relation }) => relation)).toEqual([longest, ...tables.filter((each) => each !== longest)]);
    }
  });
});
