/** Tests that the numbers of changed parcels are added later if a run fails after a publication and before it counts the changes. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rollback, withdraw } from '../../pipelines/build/publish.ts';
import type { Database } from '../../pipelines/db/index.ts';
import type { Context } from '../../pipelines/run/context.ts';
import { refresh, type RefreshReport } from '../../pipelines/run/refresh.ts';
import { describeEngines } from '../harness/database.ts';
import { REGION, seismicZones } from '../harness/faults/region.ts';
import { freshContext } from '../harness/fresh-context.ts';
import { loadOptions, syntheticFiles } from '../harness/region.ts';
import { openRun } from '../harness/run.ts';

const SOURCES = ['ade_cadastre', 'dpc_seismic', 'istat_comuni'];

/** Kind and hint of the error of a run that fails after a publication. */
const isPublished = {
  kind: 'database',
  hint: 'The publication, rollback or withdrawal is complete. Only the numbers of changed parcels are missing. The next refresh adds them.',
};

/** Counts and sources of one swap. */
type Counted = Readonly<Record<'counts' | 'sources', unknown>>;

describeEngines('the numbers of changed parcels', (engine) => {
  let context: Context;
  let database: Database;
  let files: Awaited<ReturnType<typeof syntheticFiles>>;

  beforeAll(async () => {
    files = await syntheticFiles(120, 11, { only: SOURCES, comuni: 2 });
    context = await freshContext(engine);
    ({ database } = context);
    await database.query(`create function public.refuse() returns trigger language plpgsql as $$ begin raise exception 'refused by the test'; end $$`);
    await publishZone('1');
  });
  afterAll(() => files.remove());

  const again = (): Promise<RefreshReport> => refresh(context, loadOptions([files.folder], [REGION], { accept: { who: 'test', why: 'a test' } }));
  const publishZone = async (zone: string): Promise<RefreshReport> => {
    await seismicZones(files.folder, zone);
    return again();
  };
  /** Refuses rows in a table while a function runs. */
  async function refusing<T>(table: string, work: () => Promise<T>): Promise<T> {
    await database.query(`create trigger refuse before insert on ${table} for each row execute function public.refuse()`);
    try {
      return await work();
    } finally {
      await database.query(`drop trigger refuse on ${table}`);
    }
  }
  /** Returns the counts and sources of a swap of the region. @param back number of later swaps of the region */
  async function counted(back = 0): Promise<Counted> {
    const [found] = await database.query<Counted & Record<string, unknown>>(
      `select (select jsonb_agg(to_jsonb(c) - 'swap_id' order by c.belfiore) from ledger.swap_count c where c.swap_id = s.swap_id) as counts,
         (select jsonb_agg(to_jsonb(r) - 'swap_id' order by r.source_id) from ledger.swap_source r where r.swap_id = s.swap_id) as sources
       from ledger.swap s where s.unit_code = $1 order by s.swap_id desc offset $2 limit 1`, [REGION, back],
    );
    return found!;
  }
  const zones = async (): Promise<unknown> => database.query('select distinct seismic_zone as zone from section.risk where seismic_zone is not null');

  it.each([
    { table: 'ledger.swap_count', zone: '3', left: { counts: null, sources: null } },
    { table: 'ledger.swap_source', zone: '4', left: { sources: null } },
  ])('are added by the next refresh if the run fails when it writes to $table, and the error states that the data is published', async ({ table, zone, left }) => {
    expect((await publishZone('2')).failures).toEqual([]);
    const undisturbed = await counted();
    expect(undisturbed.counts).not.toBeNull();
    expect(undisturbed.sources).not.toBeNull();
    await expect(refusing(table, () => publishZone(zone))).rejects.toMatchObject(isPublished);
    expect(await zones()).toEqual([{ zone: Number(zone) }]);
    expect(await counted()).toMatchObject(left);
    expect((await again()).failures).toEqual([]);
    expect(await counted()).toEqual(undisturbed);
  });

  it('are added by the next refresh for each publication, rollback and withdrawal', async () => {
    for (const zone of ['4', '1']) expect((await publishZone(zone)).failures).toEqual([]);
    const undisturbed = await counted();
    const whileRefused = (work: () => Promise<unknown>): Promise<void> => expect(refusing('ledger.swap_count', work)).rejects.toMatchObject(isPublished);
    await whileRefused(() => publishZone('2'));
    await whileRefused(async () => rollback(database, REGION, await openRun(database)));
    await again();
    for (const back of [0, 1]) expect(await counted(back)).toEqual(undisturbed);
    await whileRefused(() => publishZone('3'));
    await whileRefused(async () => withdraw(database, REGION, await openRun(database), 'a test'));
    await again();
    const withdrawal = await counted();
    expect(withdrawal.counts).toHaveLength(2);
    expect(withdrawal.sources).toBeNull();
    // While the region is withdrawn, the parcels before and after the publication cannot be compared.
    expect(await counted(1)).toEqual({ counts: null, sources: null });
    await rollback(database, REGION, await openRun(database));
    await again();
    expect(await counted(2)).toEqual(undisturbed);
  });

  it('do not prevent a refresh if they still cannot be counted, and the refresh logs a warning', async () => {
    await expect(refusing('ledger.swap_count', () => publishZone('4'))).rejects.toMatchObject(isPublished);
    const warned: string[] = [];
    const log = { ...context.log, warn: (message: string) => void warned.push(message) };
    const report = await refusing('ledger.swap_count', () => refresh({ ...context, log }, loadOptions([files.folder], [REGION])));
    expect(report.failures).toEqual([]);
    expect(warned.filter((message) => /^the changed parcels of publication \d+ are not counted: refused by the test/.test(message))).toHaveLength(1);
  });
});
