/**
 * Tests conflicts with locks of another session, except during a swap of publications. The command retries or reports a deadlock, nothing is partly written,
 * and the next run succeeds.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../pipelines/db/index.ts';
import { describeEngines } from '../harness/database.ts';
import { Machine, mappale, succeeded, outcomeOf, type Ended } from '../harness/faults/machine.ts';
import { migratedDatabase } from '../harness/fresh-context.ts';
import { currentContent, orphans, recount, withDatabase } from '../harness/published.ts';
import { publish, smallRegion, type Region } from '../harness/faults/region.ts';

/** Number of parcels. More parcels would only make each run longer. */
const PARCELS = 160;

/** Advisory lock that the other session holds, and that a trigger of the command's transaction waits for. */
const LOCK = 4712;

/** Arguments of a `forget` command that accepts the loss of the seismic zones. */
const FORGET = ['forget', 'classificazione-sismica-aggiornata-maggio-2025.csv', '--accept', 'a test'];

describeEngines('a lock conflict with another session', (engine) => {
  let region: Region;
  let base: string;
  let version1: string;
  /** URL of a database in which version 1 replaced version 0. `calm` is the content of this database. */
  let refreshed: string;
  let calm: Record<string, string>;

  beforeAll(async () => {
    region = await smallRegion(['ade_cadastre', 'dpc_seismic', 'ingv_mps04', 'istat_comuni', 'istat_soppressi'], PARCELS);
    base = await migratedDatabase(engine);
    await publishOn(base, await region.version(0));
    version1 = await region.version(1);
    refreshed = await engine.copyDatabase(base);
    await publishOn(refreshed, version1);
    calm = await withDatabase(refreshed, currentContent);
  });
  afterAll(() => region?.remove());

  const publishOn = (url: string, data: string): Promise<void> => withDatabase(url, (database) => publish(database, data));

  /**
   * Runs a command until its transaction has written the table and waits for another session. Then the other session does `work` and ends the wait. In a
   * deadlock, PostgreSQL cancels the command, because its `deadlock_timeout` is shorter than that of the other session.
   */
  async function halted(url: string, { table }: Writes, args: readonly string[], work: (other: pg.Client) => Promise<void>): Promise<Ended> {
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
      const machine = new Machine(url, args);
      while (!machine.over && !(await waits(other))) await sleep(10);
      expect(machine.over, 'the command waits for the other session').toBe(false);
      await work(other);
      await other.query(`select pg_advisory_unlock(${LOCK})`);
      const ended = await machine.ended;
      await other.query(`drop trigger faults on ${table}; drop function public.faults_wait()`);
      return ended;
    } finally {
      await other.end();
    }
  }

  /** Runs a command that waits for a lock of another session. Then the other session waits for a table that the command wrote. */
  function deadlocked(url: string, writes: Writes, args: readonly string[]): Promise<Ended> {
    return halted(url, writes, args, async (other) => {
      await other.query('begin');
      // This statement ends when the server has cancelled the command's statement.
      await other.query(`lock table ${writes.table} in share mode`);
      await other.query('rollback');
    });
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
    expect(outcomeOf(ended)).toContain('Another session and this command waited for each other\'s locks. Run the same command again. Published data is unchanged.');
    expect(ended.stderr).not.toMatch(/\n {4}at /);
  }

  interface Writes {
    readonly table: string;
  }

  it.each<[string, Writes]>([
    ['reads a file', { table: 'ledger.member' }],
    ['builds a table', { table: 'ledger.built' }],
  ])('leaves a complete publication while refresh %s, and the next refresh succeeds', async (_when, writes) => {
    const url = await engine.copyDatabase(base);
    const before = await withDatabase(url, currentContent);
    const ended = await deadlocked(url, writes, ['refresh', 'molise', '--data', version1, '--accept', 'a test', '--parallel', '1']);
    expectReported(ended);
    expect([before, calm]).toContainEqual(await whole(url));
    await publishOn(url, version1);
    expect(await whole(url)).toEqual(calm);
    expect(await withDatabase(url, orphans)).toEqual([]);
  });

  it.each<[string, Writes, readonly string[]]>([
    ['rollback', { table: 'ledger.publication' }, ['rollback', 'molise']],
    ['pin', { table: 'ledger.hold' }, ['pin', 'molise']],
    ['withdraw', { table: 'ledger.publication' }, ['withdraw', 'molise']],
  ])('changes nothing or everything while %s runs, and a command that failed succeeds when it is repeated', async (_name, writes, args) => {
    const url = await engine.copyDatabase(refreshed);
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

  it.each<[string, Writes]>([
    ['marks the file', { table: 'ledger.file' }],
    ['builds a table', { table: 'ledger.built' }],
  ])('leaves the file in use while forget %s, and the same command then succeeds', async (_when, writes) => {
    const url = await engine.copyDatabase(base);
    const before = await whole(url);
    const ended = await deadlocked(url, writes, FORGET);
    expect(ended.code, outcomeOf(ended)).toBe(6);
    expectReported(ended);
    expect(await whole(url)).toEqual(before);
    expect(await withDatabase(url, forgottenFiles)).toEqual([]);
    succeeded(await mappale(url, ...FORGET));
    expect(await whole(url)).not.toEqual(before);
    expect(await withDatabase(url, forgottenFiles)).toHaveLength(1);
  });

  it('keeps a release\'s ledger row and layers if it stops prune, and the next prune deletes both', async () => {
    const url = await engine.copyDatabase(refreshed);
    // Italy's tables still use the first version. The region uses only the last two versions.
    for (const number of [2, 3]) await publishOn(url, await region.version(number));
    const before = await whole(url);
    const listed = await withDatabase(url, releases);
    const ended = await deadlocked(url, { table: 'ledger.release' }, ['prune']);
    expect(ended.code, outcomeOf(ended)).toBe(6);
    expectReported(ended);
    expect(await whole(url)).toEqual(before);
    expect(await withDatabase(url, releases)).toEqual(listed);
    succeeded(await mappale(url, 'prune'));
    const left = await withDatabase(url, releases);
    expect(left.length).toBeLessThan(listed.length);
    expect(left.filter(({ tables }) => tables === 0)).toEqual([]);
    expect(await whole(url)).toEqual(before);
  });

  it('makes forget exit with 7 and restore the file if another run begins after forget marks the file and before forget\'s refresh', async () => {
    const url = await engine.copyDatabase(base);
    const before = await whole(url);
    const next = new pg.Client({ connectionString: url, application_name: 'faults' });
    await next.connect();
    try {
      let taken: Promise<unknown> | undefined;
      const ended = await halted(url, { table: 'ledger.file' }, FORGET, async (other) => {
        // The server gives the lock to this session when the run that marks the file ends.
        taken = next.query("select pg_advisory_lock(hashtextextended('mappale writer', 0))");
        while (!(await isQueued(other))) await sleep(10);
      });
      await taken;
      expect(ended.code, outcomeOf(ended)).toBe(7);
      expect(await withDatabase(url, forgottenFiles)).toEqual([]);
    } finally {
      await next.end();
    }
    expect(await whole(url)).toEqual(before);
  });

  /** Returns the loaded releases with the number of their tables in the schema layer. */
  function releases(database: Database): Promise<{ id: number; tables: number }[]> {
    return database.query<{ id: number; tables: number }>(`
      select r.release_id as id, (select count(*)::int4 from pg_class c where c.relnamespace = 'layer'::regnamespace and c.relkind = 'r' and c.relname ~ ('_' || r.release_id || '$')) as tables
      from ledger.release r where r.state = 'loaded' order by 1`);
  }

  function forgottenFiles(database: Database): Promise<unknown[]> {
    return database.query('select name from ledger.file where forgotten_at is not null');
  }

  async function isQueued(other: pg.Client): Promise<boolean> {
    const { rows } = await other.query("select from pg_locks where locktype = 'advisory' and mode = 'ExclusiveLock' and not granted and objid <> $1", [LOCK]);
    return rows.length > 0;
  }
}, ['postgres']);
