/** Tests faults of the database server and of its connection. The run reports the fault, and the next run gives the content of an undisturbed run. */
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { testEnvironment } from '../harness/environment.ts';
import { installations } from '../harness/postgres.ts';
import { Gate, IN_COPY, nameOf } from '../harness/faults/gate.ts';
import { Machine, mappale, succeeded, outcomeOf, type Ended } from '../harness/faults/machine.ts';
import { Wire } from '../harness/faults/proxy.ts';
import { currentContent, orphans, recount, withDatabase } from '../harness/published.ts';
import { FEW_SOURCES, publish, smallRegion, type Region } from '../harness/faults/region.ts';
import { Server } from '../harness/faults/server.ts';
import { SmallDisk } from '../harness/faults/small-disk.ts';

/** Number of parcels. More parcels would only make each run longer. */
const PARCELS = 160;

const { seed, engines, kills } = testEnvironment();
const missing = !engines.includes('postgres') ? 'left out by MAPPALE_TEST_ENGINES' : (await installations(testEnvironment().path)).some(({ version }) => version >= 15) ? null : 'PostgreSQL 15 or newer is not installed';

describe.skipIf(missing !== null)(`a server that fails${missing === null ? '' : ` [not run: ${missing}]`}`, () => {
  let server: Server;
  let region: Region;
  /** Folder with version 1 of the files. `first` is the content after version 0, and `calm` is the content after version 1, both without faults. */
  let folder: string;
  let calm: Record<string, string>;
  let first: Record<string, string>;
  let duration = 0;
  let made = 0;
  const random = randomOf('server', seed);

  beforeAll(async () => {
    server = (await Server.make())!;
    region = await smallRegion(FEW_SOURCES, PARCELS);
    const version0 = await region.version(0);
    first = await withDatabase(await server.database('version_0'), async (database) => {
      await publish(database, version0);
      return currentContent(database);
    });
    const peaceful = await server.database('peaceful', 'version_0');
    folder = await region.version(1);
    const startedAt = performance.now();
    succeeded(await mappale(peaceful, 'refresh', 'molise', '--data', folder, '--accept', 'a test', '--parallel', '1'));
    duration = performance.now() - startedAt;
    calm = await withDatabase(peaceful, currentContent);
    expect(calm).not.toEqual(first);
  });
  afterAll(async () => {
    await region?.remove();
    await server?.remove();
  });

  /** Returns a database on which version 0 is published. */
  const fresh = (): Promise<string> => {
    made += 1;
    return server.database(`struck_${made}`, 'version_0');
  };
  const refresh = (url: string, parallel = 2): Machine => new Machine(url, ['refresh', 'molise', '--data', folder, '--accept', 'a test', '--parallel', String(parallel)]);

  async function whole(url: string): Promise<void> {
    await withDatabase(url, async (database) => {
      const listed = await currentContent(database);
      expect(await recount(database)).toEqual(listed);
      expect([JSON.stringify(first), JSON.stringify(calm)]).toContain(JSON.stringify(listed));
    });
  }

  async function wholeThenRecovered(url: string): Promise<void> {
    await whole(url);
    await withDatabase(url, async (database) => {
      await publish(database, folder);
      expect(await recount(database)).toEqual(calm);
      expect(await orphans(database)).toEqual([]);
    });
  }

  it('makes a run exit with 6 and a hint if a backend is terminated during its COPY', async () => {
    const url = await fresh();
    const gate = await Gate.open(url);
    await gate.shut(IN_COPY);
    const machine = refresh(url, 1);
    expect(await gate.reached(machine)).toBe(true);
    const copies = await gate.backends('^copy ');
    expect(copies.length).toBeGreaterThan(0);
    for (const pid of copies) await gate.terminate(pid);
    await gate.lift(IN_COPY);
    const ended = await machine.ended;
    expect(ended.code).toBe(6);
    expect(outcomeOf(ended)).toMatch(/SQL_57P01|SQL_CONNECTION_LOST/);
    expect(outcomeOf(ended)).toContain('Published data is unchanged');
    await gate.close();
    await wholeThenRecovered(url);
  });

  it('makes a run exit with 6 if random backends are terminated, unless the run no longer needs the backends', async () => {
    const url = await fresh();
    const gate = await Gate.open(url);
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const machine = refresh(url);
      await Promise.race([sleep(duration * (0.3 + 0.6 * random.next())), machine.ended]);
      const pids = await gate.backends('.');
      if (pids.length > 0) await gate.terminate(random.pick(pids));
      expect([0, 6]).toContain((await machine.ended).code);
    }
    await gate.close();
    await wholeThenRecovered(url);
  });

  it('recovers with empty unlogged tables after SIGKILL of a backend, and the next run stages the rows again', async () => {
    const url = await fresh();
    const gate = await Gate.open(url);
    /** Returns the number of rows in each unlogged table of a staging schema. */
    const staged = (): Promise<number[]> => withDatabase(url, async (database) => {
      const tables = await database.query<{ name: string }>(
        `select oid::regclass::text as name from pg_class
         where relkind = 'r' and relpersistence = 'u' and starts_with(relnamespace::regnamespace::text, 'staging_') order by 1`,
      );
      return Promise.all(tables.map(async ({ name }) => (await database.query<{ n: number }>(`select count(*)::int4 as n from ${name}`))[0]!.n));
    });
    const boundary = 'load of ade_cadastre 2026-07-01 Molise begins';
    await gate.shut(boundary);
    const machine = refresh(url, 1);
    expect(await gate.reached(machine)).toBe(true);
    const before = await staged();
    expect(before.some((rows) => rows > 0)).toBe(true);
    const [pid] = await gate.backends('.');
    process.kill(pid!, 'SIGKILL');
    expect((await machine.ended).code).toBe(6);
    await gate.close();
    await server.recovered();
    expect(await staged()).toEqual(before.map(() => 0));
    await wholeThenRecovered(url);
  });

  it.each([['shut down at once', 'crash'], ['killed', 'kill']] as const)('is %s during a run and then restarted, and the next run recovers', async (_name, how) => {
    const url = await fresh();
    const machine = refresh(url);
    await Promise.race([sleep(duration * (0.4 + 0.4 * random.next())), machine.ended]);
    await server[how]();
    const ended = await machine.ended;
    await server.start();
    expect([0, 6]).toContain(ended.code);
    if (ended.code === 6) expect(outcomeOf(ended)).toMatch(/hint/);
    await wholeThenRecovered(url);
  });

  it('refuses connections, and the run exits with 6 and reports SQL_ECONNREFUSED', async () => {
    const url = await fresh();
    await server.crash();
    const ended = await mappale(url, 'refresh', 'molise', '--data', folder, '--accept', 'a test');
    await server.start();
    expect(ended.code).toBe(6);
    expect(outcomeOf(ended)).toContain('SQL_ECONNREFUSED');
  });

  it('loses the connection to a run, the run exits with 6 unless it has already ended, and the next run recovers', async () => {
    const url = await fresh();
    for (const share of [0.5, 0.75]) {
      const wire = await Wire.to(url);
      const machine = refresh(wire.through(url));
      await Promise.race([sleep(duration * share), machine.ended]);
      wire.cut();
      const ended = await machine.ended;
      await wire.close();
      expect([0, 6]).toContain(ended.code);
      if (ended.code === 6) expect(outcomeOf(ended)).toMatch(/SQL_CONNECTION_LOST|LOCK_LOST/);
    }
    await wholeThenRecovered(url);
  });

  it('allows one writing run at a time, and a second run exits with 7 and reports command, process and host of the first', async () => {
    const url = await fresh();
    const gate = await Gate.open(url);
    const boundary = 'join of Molise begins';
    await gate.shut(boundary);
    const writer = refresh(url);
    expect(await gate.reached(writer)).toBe(true);
    const second = await mappale(url, 'refresh', 'molise', '--data', folder, '--accept', 'a test');
    expect(second.code).toBe(7);
    expect(outcomeOf(second)).toContain(`found refresh as process ${writer.pid} on ${hostname()}`);
    await gate.lift(boundary);
    succeeded(await writer.ended);
    await gate.close();
    await wholeThenRecovered(url);
  });

  it('closes the connection that holds the writer\'s lock, a second run takes over, and the first run can no longer publish', async () => {
    const url = await fresh();
    const gate = await Gate.open(url);
    const boundary = 'publish of Molise begins';
    await gate.shut(boundary);
    const zombie = refresh(url);
    expect(await gate.reached(zombie)).toBe(true);
    const holders = await withDatabase(url, (database) => database.query<{ pid: number }>(
      "select distinct l.pid from pg_locks l where l.locktype = 'advisory' and l.granted and l.classid <> 4711 and l.database = (select oid from pg_database where datname = current_database())",
    ));
    expect(holders).toHaveLength(1);
    await gate.terminate(holders[0]!.pid);
    await gate.letLaterPass();
    // The second run need not wait for the first run. The second run closes the ledger entry of the first run before writing.
    succeeded(await mappale(url, 'refresh', 'molise', '--data', folder, '--accept', 'a test'));
    expect(await withDatabase(url, currentContent)).toEqual(calm);
    expect(zombie.over).toBe(false);
    await gate.lift(boundary);
    const ended = await zombie.ended;
    expect(ended.code, outcomeOf(ended)).toBe(6);
    expect(outcomeOf(ended)).toMatch(/LOCK_LOST|SQL_/);
    expect(await withDatabase(url, currentContent)).toEqual(calm);
    await gate.close();
    await wholeThenRecovered(url);
  });

  describe('on a full disk', () => {
    /** Values in KiB from which each random case draws the free space that is left on the small disk. Every step is also tested with 0 KiB. */
    const SPARES = [16, 64, 256, 1024] as const;
    /** Steps that write to the database. */
    const STEPS = ['stage', 'load', 'join', 'publish'] as const;
    /** SQL that fills the existing log segments except for 64 KiB. A segment of 1,048,576 bytes has 1,045,488 bytes without the headers of its pages. */
    const USE_SEGMENTS = `select pg_logical_emit_message(false, 'full disk', repeat('-', greatest(1,
      (1048576 * (1 + (select count(*) from pg_ls_waldir() where name > pg_walfile_name(pg_current_wal_insert_lsn()) and name ~ '^[0-9A-F]{24}$'))
        - (pg_current_wal_insert_lsn() - '0/0') % 1048576 - 65536) * 1045488 / 1048576)::int))`;
    const disks: SmallDisk[] = [];
    afterAll(async () => {
      for (const disk of disks) await disk.unmount();
    });

    /** Mounts a small disk for the server. If this machine cannot create one, skips the test with the reason and returns null. */
    async function smallDisk(context: TestContext): Promise<SmallDisk | null> {
      const disk = await SmallDisk.mount(join(server.folder, `disk_${disks.length}`));
      if (typeof disk === 'string') {
        context.skip(`this machine cannot create a small disk: ${disk}`);
        return null;
      }
      disks.push(disk);
      await server.give(disk.folder);
      return disk;
    }

    /**
     * Returns, by step, the boundary at which the step begins for the last time in an undisturbed run, such as `stage of dpc_seismic 2025 begins`. Runs on a
     * full disk have the same order, because these runs and the undisturbed run are not parallel.
     */
    async function lastOfEach(): Promise<Map<string, string>> {
      const steps = await withDatabase(server.url('peaceful'), (database) => database.query<{ step: string; subject: string }>(
        'select step, subject from ledger.step where run_id = (select max(run_id) from ledger.step) order by step_id',
      ));
      return new Map(steps.map(({ step, subject }) => [step, nameOf({ step, subject, edge: 'begins' })]));
    }

    /** Runs a refresh and makes the disk small at a boundary. @returns how the run ended, and the step in which it failed or null */
    async function runOn(disk: SmallDisk, url: string, boundary: string, spareKib: number): Promise<{ ended: Ended; failedIn: string | null }> {
      const gate = await Gate.open(url);
      await gate.shut(boundary);
      const machine = refresh(url, 1);
      if (await gate.reached(machine)) {
        // The checkpoint renames the old log segments now, so that the run cannot gain space by a checkpoint of its own.
        await server.admin('checkpoint');
        await disk.shrink(spareKib);
        await server.admin(USE_SEGMENTS);
      }
      await gate.lift(boundary);
      const ended = await machine.ended;
      await disk.grow();
      await server.recovered();
      await gate.close();
      const open = await withDatabase(url, (database) => database.query<{ step: string }>(
        'select step from ledger.step where run_id = (select max(run_id) from ledger.step) and ended_at is null order by step_id',
      ));
      return { ended, failedIn: open[0]?.step ?? null };
    }

    /**
     * Runs a refresh whose disk is small from the beginning of a step.
     * @returns the step in which the run failed, an empty text if the run failed outside all steps, or null if the space sufficed
     */
    async function failedOn(
      disk: SmallDisk, url: string, [step, spareKib]: readonly [step: typeof STEPS[number], spareKib: number], codes: RegExp,
    ): Promise<string | null> {
      const { ended, failedIn } = await runOn(disk, url, (await lastOfEach()).get(step)!, spareKib);
      const where = `${spareKib} KiB left when ${step} begins, failed in ${failedIn ?? 'no step'}, exit ${ended.code}, MAPPALE_TEST_SEED=${seed}`;
      process.stderr.write(`full disk: ${where}\n`);
      if (ended.code === 0 && spareKib > 0) return null;
      expect(ended.code, `${where}\n${outcomeOf(ended)}`).toBe(6);
      expect(outcomeOf(ended), where).toMatch(codes);
      await whole(url);
      return failedIn ?? '';
    }

    /**
     * Fills the disk at the beginning of each step, and with random space left at the beginning of random steps.
     * @param another returns a database on the disk on which version 0 is published
     */
    async function walk(disk: SmallDisk, another: () => Promise<string>, codes: RegExp): Promise<void> {
      const url = await another();
      const failed: (string | null)[] = [];
      for (const step of STEPS) failed.push(await failedOn(disk, url, [step, 0], codes));
      expect(failed).toEqual(STEPS);
      await wholeThenRecovered(url);
      // One random case for each 20 kills, because a case needs its own database and two refreshes.
      for (let draw = 0; draw < Math.max(1, Math.ceil(kills / 20)); draw += 1) {
        // A run with enough space left succeeds, so each random case needs a database with version 0.
        const drawn = await another();
        await failedOn(disk, drawn, [random.pick(STEPS), random.pick(SPARES)], codes);
        await wholeThenRecovered(drawn);
      }
    }

    it('makes a run exit with 6 if the disk of the tables fills up in any step, unless the space left suffices, and allows the next run to recover', async (context) => {
      const disk = await smallDisk(context);
      if (disk === null) return;
      await server.admin(`create tablespace small location '${disk.folder}'`);
      let databases = 0;
      await walk(disk, async () => {
        databases += 1;
        await server.admin(`create database full_tables_${databases} template version_0 tablespace small strategy file_copy`);
        return server.url(`full_tables_${databases}`);
      }, /SQL_53100[\s\S]*The disk of the server is full\. Free space, then run the same command again/);
      for (let number = 1; number <= databases; number += 1) await server.admin(`drop database full_tables_${number} with (force)`);
      await server.admin('drop tablespace small');
    });

    it('makes a run exit with 6 if the disk of the write-ahead log fills up in any step, unless the space left suffices, and allows the next run to recover', async (context) => {
      const disk = await smallDisk(context);
      if (disk === null) return;
      await server.moveLog(disk.folder);
      await walk(disk, fresh, /SQL_53100|SQL_57P0[123]|SQL_CONNECTION_LOST|LOCK_LOST/);
    });
  });
});
