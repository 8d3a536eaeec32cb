/** Tests the swap of a region's tables during a long read. The swap waits, tries again, and either succeeds or reports the blocking session. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rollback } from '../../pipelines/build/publish.ts';
import type { Database } from '../../pipelines/db/index.ts';
import type { MappaleError } from '../../pipelines/errors.ts';
import type { Context } from '../../pipelines/run/context.ts';
import { refresh } from '../../pipelines/run/refresh.ts';
import { currentContent } from '../harness/published.ts';
import { REGION, seismicZones } from '../harness/faults/region.ts';
import { describeEngines } from '../harness/database.ts';
import { migratedDatabase } from '../harness/fresh-context.ts';
import { contextOn, loadOptions, syntheticFiles } from '../harness/region.ts';
import { openRun } from '../harness/run.ts';
import { statementIn } from '../harness/typed.ts';

const SOURCES = ['ade_cadastre', 'dpc_seismic', 'istat_comuni'];

describeEngines('a swap during a long read', (engine) => {
  let context: Context;
  let database: Database;
  let reader: Database;
  let files: Awaited<ReturnType<typeof syntheticFiles>>;
  let fid: number;

  beforeAll(async () => {
    files = await syntheticFiles(120, 11, { only: SOURCES, comuni: 2 });
    await seismicZones(files.folder, '1');
    const url = await migratedDatabase(engine);
    database = await engine.openDatabase(url);
    reader = await engine.openDatabase(url);
    context = await contextOn(database);
    expect((await refresh(context, loadOptions([files.folder], [REGION]))).failures).toEqual([]);
    const [parcel] = await reader.query<{ fid: number }>("select fid from core.parcel where kind = 'land' order by fid limit 1");
    ({ fid } = parcel!);
    await seismicZones(files.folder, '4');
  });
  afterAll(() => files.remove());

  const zone = async (): Promise<number> => {
    const [found] = await reader.query<{ zone: number }>("select (api.parcel($1, array['risk']) -> 'risk' ->> 'seismic_zone')::int4 as zone", [fid]);
    return found!.zone;
  };
  /** Starts a read that continues until the test calls `end`. */
  const longRead = async (): Promise<{ readonly pid: number; end(): Promise<unknown> }> => {
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    let work: Promise<void> = Promise.resolve();
    const pid = await new Promise<number>((begun, failed) => {
      work = reader.transaction(async (session) => {
        await session.query('select api.hold_publication()');
        const [process] = await session.query<{ pid: number }>('select pg_backend_pid() as pid, count(*) from core.parcel');
        begun(process!.pid);
        await ended;
      });
      work.catch(failed);
    });
    return {
      pid,
      end: () => {
        end();
        return work.catch((error: unknown) => error);
      },
    };
  };
  /** Waits until the swap is waiting for its lock (`waits`), or until the swap is not waiting (not `waits`). */
  const untilWaiting = async (waits: boolean): Promise<void> => {
    for (;;) {
      const [found] = await reader.query<{ waits: boolean }>("select exists (select from pg_locks where not granted and relation = 'ledger.publication_lock'::regclass and mode = 'AccessExclusiveLock') as waits");
      if (found!.waits === waits) return;
      await sleep(5);
    }
  };

  it('lets other readers continue, tries again, and publishes when the long read has ended', async () => {
    const long = await longRead();
    const refreshed = refresh(context, loadOptions([files.folder], [REGION], { accept: { who: 'test', why: 'the test changes zones' } }));
    await untilWaiting(true);
    // This read waits behind the lock request of the swap. The read returns because the swap gives up its request while the long read continues.
    expect(await zone()).toBe(1);
    await untilWaiting(false);
    await untilWaiting(true);
    expect(await zone()).toBe(1);
    expect(await long.end()).toBeUndefined();
    const { failures, units } = await refreshed;
    expect([failures, units.map(({ unit }) => unit)]).toEqual([[], [REGION]]);
    expect(await zone()).toBe(4);
  });

  it('changes nothing if all attempts fail, and reports the blocking session and the command to end that session', async () => {
    const before = await currentContent(database);
    const long = await longRead();
    const run = await openRun(database);
    const error = await rollback(database, REGION, run, { lockTimeoutMs: 50, tries: 2 }).catch((thrown: unknown) => thrown as MappaleError) as MappaleError;
    expect(error).toMatchObject({ code: 'PUBLISH_BLOCKED', exitCode: 6, detail: expect.stringContaining(`found mappale (process ${long.pid}, user `) });
    expect([await currentContent(database), await zone()]).toEqual([before, 4]);
    const typed = statementIn(error.fix);
    expect(typed).toBe(`select pg_terminate_backend(${long.pid})`);
    await database.query(typed);
    expect(await long.end()).toMatchObject({ kind: 'database' });
    await rollback(database, REGION, run);
    expect(await zone()).toBe(1);
  });
}, ['postgres']);
