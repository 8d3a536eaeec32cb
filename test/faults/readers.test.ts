/** Tests publications while readers are active. Every record must come from one publication, and no reader may get an error. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Context } from '../../pipelines/run/context.ts';
import type { Database } from '../../pipelines/db/index.ts';
import { SECTION_NAMES } from '../../pipelines/contract/sections.ts';
import { refresh } from '../../pipelines/run/refresh.ts';
import { describeEngines } from '../harness/database.ts';
import { contextOn, loadOptions } from '../harness/region.ts';
import { FEW_SOURCES, raisePrices, REGION, seismicZones, smallRegion, type Region } from '../harness/faults/region.ts';

const PUBLICATIONS = 20;
const PARCELS = 100;
const PAUSE_MS = 20;
/** Limit of a reader's wait for a lock. A swap waits at most two seconds for a lock. */
const READER_LOCK_TIMEOUT = '20s';

/** Returns a map of fids to records as text. @param pauseMs pause after each record, so that readers leave CPU time to the publications */
async function records(database: Database, fids: readonly number[], pauseMs = 0): Promise<Map<number, string>> {
  return database.session(async (session) => {
    await session.query("select set_config('lock_timeout', $1, false)", [READER_LOCK_TIMEOUT]);
    const found = new Map<number, string>();
    for (const fid of fids) {
      const [row] = await session.query<{ record: string }>('select api.parcel($1, $2)::text as record', [fid, SECTION_NAMES]);
      found.set(fid, row!.record);
      if (pauseMs > 0) await sleep(pauseMs);
    }
    return found;
  });
}

describeEngines('a region that is published again and again', (engine) => {
  let region: Region;
  let context: Context;
  let reader: Database;
  let folders: readonly [string, string];
  const publish = async (version: number): Promise<void> => {
    const report = await refresh(context, loadOptions([folders[version]!], [REGION], { accept: { who: 'test', why: 'the test changes zones and prices' } }));
    expect(report.failures).toEqual([]);
    expect(report.units.map(({ unit }) => unit)).toContain(REGION);
  };

  beforeAll(async () => {
    region = await smallRegion(FEW_SOURCES);
    folders = [await region.version(0), await region.version(1)];
    for (const [folder, zone, euro] of [[folders[0], '1', 100], [folders[1], '4', 200]] as const) {
      await seismicZones(folder, zone);
      await raisePrices(folder, euro);
    }
    const url = await engine.createDatabase();
    context = await contextOn(await engine.openDatabase(url));
    reader = await engine.openDatabase(url);
  });
  afterAll(() => region.remove());

  it('answers each reader from one publication and without an error during twenty publications', async () => {
    const truth: Map<number, string>[] = [];
    await publish(0);
    const parcels = await reader.query<{ fid: number }>("select fid from core.parcel where kind = 'land' order by hashint4(fid), fid");
    const all = parcels.map(({ fid }) => fid);
    truth.push(await records(reader, all));
    await publish(1);
    const known = new Set((await reader.query<{ fid: number }>('select fid from core.parcel')).map(({ fid }) => fid));
    truth.push(await records(reader, all.filter((fid) => known.has(fid))));
    const differ = (fid: number): number => {
      const [one, two] = truth.map((version) => JSON.parse(version.get(fid) ?? 'null') as Record<string, unknown> | null);
      return one == null || two == null ? 0 : SECTION_NAMES.filter((section) => JSON.stringify(one[section]) !== JSON.stringify(two[section])).length;
    };
    // These parcels are in both versions, and their records differ in at least three sections.
    const fids = all.filter((fid) => differ(fid) >= 3).slice(0, PARCELS);
    expect(fids).toHaveLength(PARCELS);

    let over = false;
    const torn: string[] = [];
    const seen = [0, 0];
    const read = async (): Promise<void> => {
      while (!over) {
        for (const [fid, record] of await records(reader, fids, PAUSE_MS)) {
          const version = truth.findIndex((one) => one.get(fid) === record);
          if (version === -1) torn.push(record);
          else seen[version]! += 1;
        }
      }
    };
    const readers = [read(), read()];
    try {
      for (let number = 0; number < PUBLICATIONS; number += 1) await publish(number % 2);
    } finally {
      over = true;
    }
    await Promise.all(readers);
    expect(torn).toEqual([]);
    expect(seen[0]).toBeGreaterThan(PARCELS);
    expect(seen[1]).toBeGreaterThan(PARCELS);
    const [made] = await reader.query<{ n: number }>('select count(*) as n from ledger.publication where unit_code = $1', [REGION]);
    expect(made!.n).toBe(PUBLICATIONS + 2);
  }, 900_000);
}, ['postgres']);
