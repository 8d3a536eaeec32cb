/** Faults of the server and of its connection: the run reports them, and the next run ends with the content of an undisturbed one. */
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { testEnvironment } from '../harness/environment.ts';
import { installations } from '../harness/postgres.ts';
import { Gate, IN_COPY } from './gate.ts';
import { Machine, mappale, succeeded, told, type Ended } from './machine.ts';
import { Wire } from './proxy.ts';
import { inForce, orphans, recount, withDatabase } from './published.ts';
import { FEW_SOURCES, smallRegion, type Region } from './region.ts';
import { Server } from './server.ts';

const run = promisify(execFile);
const { seed, engines } = testEnvironment();
const missing = !engines.includes('postgres') ? 'left out by MAPPALE_TEST_ENGINES' : (await installations(testEnvironment().path)).some(({ version }) => version >= 15) ? null : 'no PostgreSQL ≥ 15 on this machine';

describe.skipIf(missing !== null)(`a server that fails${missing === null ? '' : ` [not run: ${missing}]`}`, () => {
  let server: Server;
  let region: Region;
  /** Version 1 of the files, and the content of a database that loaded versions 0 and 1 undisturbed. */
  let folder: string;
  let calm: Record<string, string>;
  let first: Record<string, string>;
  let duration = 0;
  let made = 0;
  const random = randomOf('server', seed);

  beforeAll(async () => {
    server = (await Server.make())!;
    region = await smallRegion(FEW_SOURCES);
    const url = await server.database('version_0');
    succeeded(await mappale(url, 'load-region', 'molise', '--data', await region.version(0)));
    first = await withDatabase(url, inForce);
    const peaceful = await server.database('peaceful', 'version_0');
    folder = await region.version(1);
    const startedAt = performance.now();
    succeeded(await mappale(peaceful, 'refresh', 'molise', '--data', folder, '--accept', 'a test'));
    duration = performance.now() - startedAt;
    calm = await withDatabase(peaceful, inForce);
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

  async function wholeThenRecovered(url: string): Promise<void> {
    await withDatabase(url, async (database) => {
      const listed = await inForce(database);
      expect(await recount(database)).toEqual(listed);
      expect([JSON.stringify(first), JSON.stringify(calm)]).toContain(JSON.stringify(listed));
    });
    succeeded(await mappale(url, 'refresh', 'molise', '--data', folder, '--accept', 'a test'));
    await withDatabase(url, async (database) => {
      expect(await recount(database)).toEqual(calm);
      expect(await orphans(database)).toEqual([]);
    });
  }

  it('ends a backend during its COPY: the run exits with 6 and a hint', async () => {
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
    expect(told(ended)).toMatch(/SQL_57P01|SQL_CONNECTION_LOST/);
    expect(told(ended)).toContain('nothing published was touched');
    await gate.close();
    await wholeThenRecovered(url);
  });

  it('ends backends at random: the run exits with 6 or did not need them', async () => {
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

  it('loses a backend to SIGKILL and recovers with empty unlogged tables: the run does not take the staged rows for complete', async () => {
    const url = await fresh();
    const gate = await Gate.open(url);
    const boundary = 'load of ade_cadastre 2026-07-01 Molise begins';
    await gate.shut(boundary);
    const machine = refresh(url, 1);
    expect(await gate.reached(machine)).toBe(true);
    const [pid] = await gate.backends('.');
    process.kill(pid!, 'SIGKILL');
    expect((await machine.ended).code).toBe(6);
    await gate.close();
    await server.recovered();
    await wholeThenRecovered(url);
  });

  it.each([['shut down at once', 'crash'], ['killed', 'kill']] as const)('is %s during a run, and started again', async (_name, how) => {
    const url = await fresh();
    const machine = refresh(url);
    await Promise.race([sleep(duration * (0.4 + 0.4 * random.next())), machine.ended]);
    await server[how]();
    const ended = await machine.ended;
    await server.start();
    expect([0, 6]).toContain(ended.code);
    if (ended.code === 6) expect(told(ended)).toMatch(/hint/);
    await wholeThenRecovered(url);
  });

  it('does not answer: the run exits with 6 and a hint', async () => {
    const url = await fresh();
    await server.crash();
    const ended = await mappale(url, 'refresh', 'molise', '--data', folder, '--accept', 'a test');
    await server.start();
    expect(ended.code).toBe(6);
    expect(told(ended)).toContain('SQL_ECONNREFUSED');
  });

  it('is cut off: the run exits with 6, and the next run recovers', async () => {
    const url = await fresh();
    for (const share of [0.5, 0.75]) {
      const wire = await Wire.to(url);
      const machine = refresh(wire.through(url));
      await Promise.race([sleep(duration * share), machine.ended]);
      wire.cut();
      const ended = await machine.ended;
      await wire.close();
      expect([0, 6]).toContain(ended.code);
      if (ended.code === 6) expect(told(ended)).toMatch(/SQL_CONNECTION_LOST|LOCK_LOST/);
    }
    await wholeThenRecovered(url);
  });

  it('allows one writing run at a time: the second run exits with 7 and reports command, process and host of the first', async () => {
    const url = await fresh();
    const gate = await Gate.open(url);
    const boundary = 'join of Molise begins';
    await gate.shut(boundary);
    const writer = refresh(url);
    expect(await gate.reached(writer)).toBe(true);
    const second = await mappale(url, 'refresh', 'molise', '--data', folder, '--accept', 'a test');
    expect(second.code).toBe(7);
    expect(told(second)).toContain(`found refresh as process ${writer.pid} on ${hostname()}`);
    await gate.lift(boundary);
    succeeded(await writer.ended);
    await gate.close();
    await wholeThenRecovered(url);
  });

  it('closes the connection with the writer\'s lock: a second run takes over, and the first one can no longer publish', async () => {
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
    await gate.lift(boundary);
    // The second run waits for nothing: the ledger entry of the first run is closed before the second one writes.
    const heir = await mappale(url, 'refresh', 'molise', '--data', folder, '--accept', 'a test');
    const first_ = await zombie.ended;
    expect([heir.code, first_.code].sort()).toEqual(heir.code === 0 ? [0, first_.code] : [6, 6]);
    expect([0, 6]).toContain(first_.code);
    if (first_.code === 6) expect(told(first_)).toMatch(/LOCK_LOST|SQL_/);
    await gate.close();
    await wholeThenRecovered(url);
  });

  describe('on a small disk', () => {
    let disk: string;
    let refused: string | null = null;
    beforeAll(async () => {
      disk = join(server.folder, 'disk');
      await mkdir(disk, { recursive: true });
      await run('mount', ['-t', 'tmpfs', '-o', 'size=96m', 'tmpfs', disk]).catch((error: Error) => (refused = error.message.split('\n')[1] ?? error.message));
      if (refused === null) await server.give(disk);
    });
    afterAll(async () => {
      if (refused !== null) return;
      await run('umount', ['-l', disk]).catch(() => undefined);
    });

    it('fills up: the run exits with 6 and a hint, the publication stays, and with free space the next run succeeds', async (context) => {
      if (refused !== null) return context.skip(`a small disk cannot be made here: ${refused}`);
      await server.admin(`create tablespace small location '${disk}'`);
      made += 1;
      const name = `struck_${made}`;
      await server.admin(`create database ${name} template version_0 tablespace small strategy file_copy`);
      const url = server.url(name);
      const { stdout } = await run('df', ['--output=used', '-k', disk]);
      const used = Number(stdout.split('\n')[1]);
      let full: Ended | null = null;
      // So little free space that a run begins but cannot end.
      for (const spare of [128, 512, 1024, 2048]) {
        await run('mount', ['-o', `remount,size=${used + spare}k`, disk]);
        const ended = await mappale(url, 'refresh', 'molise', '--data', folder, '--accept', 'a test', '--force');
        if (ended.code === 0) break;
        expect(ended.code).toBe(6);
        if (!told(ended).includes('SQL_53100')) continue;
        full = ended;
        break;
      }
      expect(full, 'a run that found the disk full').not.toBeNull();
      expect(told(full!)).toContain('The disk of the server is full. Free room, then run the same command again');
      await run('mount', ['-o', `remount,size=${used + 200 * 1024}k`, disk]);
      await wholeThenRecovered(url);
      await server.admin(`drop database ${name} with (force)`);
      await server.admin('drop tablespace small');
    });
  });
});
