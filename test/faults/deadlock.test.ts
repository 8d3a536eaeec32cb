/** Deadlocks with another session outside a swap: the command retries or reports them, nothing is half, and the next run succeeds. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeEngines } from '../harness/database.ts';
import { Machine, mappale, succeeded, outcomeOf, type Ended } from '../harness/faults/machine.ts';
import { currentContent, orphans, recount, withDatabase } from '../harness/published.ts';
import { smallRegion, type Region } from '../harness/faults/region.ts';

/** Advisory lock that the other session holds, and that a trigger of the command's transaction waits for. */
const LOCK = 4712;

describeEngines('a deadlock with another session', (engine) => {
  let region: Region;
  let base: string;
  let version1: string;
  let calm: Record<string, string>;

  beforeAll(async () => {
    region = await smallRegion(['ade_cadastre', 'dpc_seismic', 'ingv_mps04', 'istat_comuni', 'istat_soppressi']);
    base = await engine.createDatabase();
    succeeded(await mappale(base, 'load-region', 'molise', '--data', await region.version(0)));
    version1 = await region.version(1);
    const peaceful = await engine.copyDatabase(base);
    succeeded(await refresh(peaceful));
    calm = await withDatabase(peaceful, currentContent);
  });
  afterAll(() => region?.remove());

  const refresh = (url: string): Promise<Ended> => mappale(url, 'refresh', 'molise', '--data', version1, '--accept', 'a test', '--parallel', '1');

  /**
   * Runs a command against a session that holds what the command waits for, and then waits for a table that the command wrote.
   * The command's wait is checked for deadlocks before that of the other session.
   */
  async function deadlocked(url: string, { table }: Writes, args: readonly string[]): Promise<Ended> {
    const other = new pg.Client({ connectionString: url, application_name: 'faults' });
    await other.connect();
    try {
      await other.query(`
        alter database ${new URL(url).pathname.slice(1)} set deadlock_timeout = '2s';
        set deadlock_timeout = '60s';
        create function public.faults_wait() returns trigger language plpgsql as $$
        begin
          perform pg_advisory_xact_lock(${LOCK});
          return null;
        end $$;
        create trigger faults after insert or update or delete on ${table} for each row execute function public.faults_wait();
        select pg_advisory_lock(${LOCK});`);
      await other.query('begin');
      const machine = new Machine(url, args);
      while (!machine.over && !(await waits(other))) await sleep(10);
      expect(machine.over, 'the command waits for the other session').toBe(false);
      // Ends when the server has cancelled the command's statement.
      await other.query(`lock table ${table} in share mode`);
      await other.query(`rollback; select pg_advisory_unlock(${LOCK}); drop trigger faults on ${table}; drop function public.faults_wait()`);
      return await machine.ended;
    } finally {
      await other.end();
    }
  }

  async function waits(other: pg.Client): Promise<boolean> {
    const { rows } = await other.query<{ waits: boolean }>(`select exists (select from pg_locks where locktype = 'advisory' and objid = ${LOCK} and not granted) as waits`);
    return rows[0]!.waits;
  }

  async function whole(url: string): Promise<Record<string, string>> {
    return withDatabase(url, async (database) => {
      const listed = await currentContent(database);
      expect(await recount(database)).toEqual(listed);
      const halves = await database.query("select run_id from ledger.run where command <> 'serve' and ended_at is null");
      expect(halves).toEqual([]);
      return listed;
    });
  }

  function expectReported(ended: Ended): void {
    if (ended.code === 0) return;
    expect(ended.code, outcomeOf(ended)).toBe(6);
    expect(outcomeOf(ended)).toMatch(/\[SQL_40P01\]/);
    expect(outcomeOf(ended)).toContain('Another session and this command waited for locks of each other. Run the same command again. Published data is unchanged.');
    expect(ended.stderr).not.toMatch(/\n {4}at /);
  }

  interface Writes {
    readonly table: string;
  }

  it.each<[string, Writes]>([
    ['reads a file', { table: 'ledger.member' }],
  ])('while refresh %s keeps a whole publication, and the next refresh succeeds', async (_when, writes) => {
    const url = await engine.copyDatabase(base);
    const before = await withDatabase(url, currentContent);
    const ended = await deadlocked(url, writes, ['refresh', 'molise', '--data', version1, '--accept', 'a test', '--parallel', '1']);
    expectReported(ended);
    expect([before, calm]).toContainEqual(await whole(url));
    succeeded(await refresh(url));
    expect(await whole(url)).toEqual(calm);
    expect(await withDatabase(url, orphans)).toEqual([]);
  });

  it.each<[string, Writes, readonly string[]]>([
    ['rollback', { table: 'ledger.publication' }, ['rollback', 'molise']],
    ['pin', { table: 'ledger.hold' }, ['pin', 'molise']],
    ['withdraw', { table: 'ledger.publication' }, ['withdraw', 'molise']],
  ])('while %s runs changes nothing or all, and the same command then succeeds', async (_name, writes, args) => {
    const url = await engine.copyDatabase(base);
    succeeded(await refresh(url));
    const before = await whole(url);
    const ended = await deadlocked(url, writes, args);
    expectReported(ended);
    const after = await whole(url);
    if (ended.code !== 0) {
      expect(after).toEqual(before);
      succeeded(await mappale(url, ...args));
    }
    await whole(url);
    if (args[0] === 'pin') succeeded(await mappale(url, 'unpin', 'molise'));
  });
}, ['postgres']);
