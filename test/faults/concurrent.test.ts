/** Tests several processes that load regions into one database at the same time, as several hosts would. */
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeEngines } from '../harness/database.ts';
import { syntheticFiles } from '../harness/region.ts';
import { Gate } from '../harness/faults/gate.ts';
import { Machine, mappale, succeeded, outcomeOf } from '../harness/faults/machine.ts';
import { currentContent, orphans, recount, withDatabase } from '../harness/published.ts';

/** Maps names of cadastre files to region codes. The regions may share comuni, because no list of comuni is loaded. */
const REGIONS: Readonly<Record<string, number>> = {
  ABRUZZO: 13, BASILICATA: 17, CALABRIA: 18, CAMPANIA: 15, LAZIO: 12, LIGURIA: 7, MARCHE: 11, MOLISE: 14, PUGLIA: 16, UMBRIA: 10,
};
const CODES = Object.values(REGIONS).sort((a, b) => a - b);

describeEngines('concurrent loads', (engine) => {
  let files: { readonly folder: string; remove(): Promise<void> };
  beforeAll(async () => {
    files = await syntheticFiles(200, 11, { only: ['ade_cadastre'] });
    for (const name of Object.keys(REGIONS)) if (name !== 'MOLISE') await copyFile(join(files.folder, 'MOLISE.zip'), join(files.folder, `${name}.zip`));
  });
  afterAll(() => files.remove());

  const concurrent = (url: string): Machine => new Machine(url, ['refresh', '--data', files.folder, '--concurrent', '--parallel', '1']);

  /** Returns a database of the current version, and a gate that can pause a run in the database. */
  async function prepared(): Promise<{ url: string; gate: Gate }> {
    const url = await engine.createDatabase();
    succeeded(await mappale(url, 'migrate'));
    return { url, gate: await Gate.open(url) };
  }

  const builders = (url: string): Promise<{ region: number; run: number }[]> => withDatabase(url, (database) => database.query<{ region: number; run: number }>(
    'select unit_code::int4 as region, run_id as run from ledger.publication where unit_code > 0 order by 1',
  ));

  const openRuns = async (url: string): Promise<number> => (
    await withDatabase(url, (database) => database.query('select run_id from ledger.run where ended_at is null'))
  ).length;

  async function whole(url: string): Promise<void> {
    await withDatabase(url, async (database) => {
      expect(await recount(database)).toEqual(await currentContent(database));
      expect(await orphans(database)).toEqual([]);
      expect(await database.query('select from ledger.run where ended_at is null')).toEqual([]);
    });
  }

  /** Waits until the given number of regions is published. */
  async function published(url: string, count: number, run: Machine): Promise<void> {
    while (!run.over && (await builders(url)).length < count) await sleep(50);
    expect((await builders(url)).length).toBe(count);
  }

  it('build each of ten regions once in two processes, and refuse runs without --concurrent meanwhile', async () => {
    const { url, gate } = await prepared();
    // The first process is paused while building a region, and the second process builds all other regions.
    await gate.shut('join of Liguria begins');
    const first = concurrent(url);
    expect(await gate.reached(first)).toBe(true);
    const second = concurrent(url);
    await published(url, 9, second);
    // Runs without --concurrent are refused, even if they write other data.
    for (const others of [['refresh', '--data', files.folder], ['prune']]) {
      const alone = await mappale(url, ...others);
      expect([alone.code, outcomeOf(alone)]).toEqual([7, expect.stringContaining('ALREADY_RUNNING')]);
    }
    expect([first.over, second.over]).toEqual([false, false]);
    await gate.lift('join of Liguria begins');
    for (const run of [first, second]) succeeded(await run.ended);
    const built = await builders(url);
    expect(built.map(({ region }) => region)).toEqual(CODES);
    expect(new Set(built.map(({ run }) => run)).size).toBe(2);
    await whole(url);
    await gate.close();
  });

  it('build the regions of a killed process in the process that is still running', async () => {
    const { url, gate } = await prepared();
    await gate.shut('check of Liguria begins');
    const first = concurrent(url);
    expect(await gate.reached(first)).toBe(true);
    const second = concurrent(url);
    await published(url, 9, second);
    expect(second.over).toBe(false);
    await first.kill();
    await gate.lift('check of Liguria begins');
    succeeded(await second.ended);
    const built = await builders(url);
    expect(built.map(({ region }) => region)).toEqual(CODES);
    expect(new Set(built.map(({ run }) => run)).size).toBe(1);
    // The next run closes the ledger entry of the killed run.
    succeeded(await mappale(url, 'prune'));
    await whole(url);
    await gate.close();
  });

  it('load each release only once and mark no file as absent if two processes read the same files', async () => {
    const { url, gate } = await prepared();
    await gate.shut('stage of ade_cadastre 2026-07-01 Molise begins');
    const first = concurrent(url);
    expect(await gate.reached(first)).toBe(true);
    const second = concurrent(url);
    // A process opens its run after planning. The second process therefore plans before the first process has loaded a file.
    while (!second.over && (await openRuns(url)) < 2) await sleep(50);
    expect(second.over).toBe(false);
    await gate.lift('stage of ade_cadastre 2026-07-01 Molise begins');
    for (const run of [first, second]) succeeded(await run.ended);
    expect((await builders(url)).map(({ region }) => region)).toEqual(CODES);
    const releases = await withDatabase(url, (database) => database.query<{ n: number; whole: number }>("select count(*)::int4 as n, count(*) filter (where state = 'loaded')::int4 as whole from ledger.release"));
    expect(releases).toEqual([{ n: 10, whole: 10 }]);
    const found = await withDatabase(url, (database) => database.query<{ n: number; absent: number }>(
      'select count(*)::int4 as n, count(*) filter (where not present)::int4 as absent from ledger.file',
    ));
    expect(found).toEqual([{ n: 10, absent: 0 }]);
    await whole(url);
    await gate.close();
  });
}, ['postgres']);
