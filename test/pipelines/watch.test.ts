/** Tests the nightly runs of `mappale watch`: the requests to publishers, the publications and the reports. */
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findRegion } from '../../pipelines/contract/regions.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { MappaleError } from '../../pipelines/errors.ts';
import { CLOCK } from '../../pipelines/clock.ts';
import { releaseHold, setHold } from '../../pipelines/ledger/hold.ts';
import { SILENT } from '../../pipelines/log.ts';
import { describeNight, sleepUntil, runNight, untilNext, type NightlyRun, type WatchContext, type NightlyOptions } from '../../pipelines/operate/watch.ts';
import type { Context } from '../../pipelines/run/context.ts';
import { describeDatabase } from '../harness/database.ts';
import { inTimeZone } from '../harness/environment.ts';
import { served, startPublisher, status, type PublisherServer } from '../harness/publishers.ts';
import { freshContext } from '../harness/fresh-context.ts';
import { syntheticFiles } from '../harness/region.ts';
import { openRun } from '../harness/run.ts';

const ZIP = '/ade_cadastre?MOLISE.zip';
const FUEL = '/mimit_fuel?anagrafica_impianti_attivi.csv';

describeDatabase('mappale watch', (engine) => {
  let files: Awaited<ReturnType<typeof syntheticFiles>>;
  let context: Context;
  let publisher: PublisherServer;
  let data: string;
  let hook: Server;
  let texts: unknown[];
  let warned: string[];
  let hookStatus = 200;
  /** Time in milliseconds that the downloads of a nightly run take. */
  let taken = 0;

  beforeAll(async () => {
    files = await syntheticFiles(40, 4, { comuni: 2, only: ['ade_cadastre', 'mimit_fuel', 'istat_comuni', 'istat_soppressi'] });
    context = await freshContext(engine);
    publisher = await startPublisher();
    const bytes = (name: string): Buffer => readFileSync(join(files.folder, name));
    publisher.routes.set(ZIP, served(bytes('MOLISE.zip')));
    publisher.routes.set(FUEL, served(bytes('anagrafica_impianti_attivi.csv')));
    data = await mkdtemp(join(tmpdir(), 'mappale-watch-'));
    // `watch` does not download these two lists here. They are in the folder as if the user had downloaded them by hand.
    await mkdir(join(data, 'by-hand'));
    for (const name of ['Elenco-comuni-italiani.csv', 'comuni-soppressi.csv']) await copyFile(join(files.folder, name), join(data, 'by-hand', name));
    texts = [];
    hook = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk)).on('end', () => {
        texts.push(JSON.parse(body));
        response.writeHead(hookStatus).end();
      });
    }).listen(0, '127.0.0.1');
    await once(hook, 'listening');
  });
  afterAll(async () => {
    await publisher?.close();
    hook?.closeAllConnections();
    hook?.close();
    await files?.remove();
    if (data !== undefined) await rm(data, { recursive: true, force: true });
  });

  /** Runs one nightly run with two sources. @param time time of the simulated clock */
  async function night(time: string, more: Partial<NightlyOptions> = {}, open: WatchContext['open'] = (work) => work(context)): Promise<NightlyRun> {
    publisher.seen.length = 0;
    [texts, warned] = [[], []];
    const sources = (await loadSources()).filter(({ id }) => ['ade_cadastre', 'mimit_fuel'].includes(id));
    const clock = { now: () => Date.parse(time) + (publisher.seen.length > 0 ? taken : 0), wait: async () => undefined };
    return runNight(
      { sources, settings: (id) => ({ url: `${publisher.url}/${id}?`, login: null, token: null }), log: { ...SILENT, warn: (message) => void warned.push(message) }, open, clock },
      { regions: null, data: [data], parallel: 2, webhookPrivate: false, keep: null, metrics: join(data, '.mappale.prom'), webhook: `http://127.0.0.1:${(hook.address() as AddressInfo).port}/hooks/secret`, ...more },
    );
  }

  const asked = (): string[] => [...new Set(publisher.seen.map(({ url }) => url))].sort();
  const figures = (): Promise<string> => readFile(join(data, '.mappale.prom'), 'utf8');

  it('reports a missing region with the exit code of usage errors', async () => {
    const line = await night('2026-11-22T02:15:00Z');
    expect(line).toMatchObject({ exit_code: 2, failures: [{ error: 'REGION_MISSING' }] });
    expect(asked()).toEqual([]);
  });

  it('downloads, publishes, and reports to the log, as JSON, to a webhook and to Prometheus', async () => {
    const line = await night('2026-11-23T02:15:00Z', { regions: [findRegion('molise')!] });
    expect(line).toMatchObject({ exit_code: 0, failures: [], regions: ['molise'], asked: ['ade_cadastre', 'mimit_fuel'], published: ['Italia', 'Molise'], downloaded: { files: 2 } });
    expect(texts).toEqual([JSON.parse(JSON.stringify(line))]);
    expect(describeNight(line)).toMatch(/^2026-11-23 02:15Z molise: asked 2 of 2 sources; 2 files downloaded \(.* kB\); published Italia, Molise; .*; exit 0$/);
    expect(await figures()).toMatch(/mappale_last_run_exit_code 0\n[\s\S]*mappale_parcels\{region="molise"\} \d+\n[\s\S]*mappale_download_asked_timestamp_seconds\{source="mimit_fuel"\} 1795400100\n/);
  });

  it('contacts no publisher again on the same day, and only daily publishers on the next day', async () => {
    expect(await night('2026-11-23T22:00:00Z')).toMatchObject({ exit_code: 0, asked: [], not_due: ['ade_cadastre', 'mimit_fuel'], published: [] });
    expect(asked()).toEqual([]);
    const next = await night('2026-11-24T02:15:00Z');
    expect(next).toMatchObject({ exit_code: 0, asked: ['mimit_fuel'], not_due: ['ade_cadastre'], downloaded: { files: 0, bytes: 0 } });
    expect([asked(), publisher.seen.length]).toEqual([[FUEL], 1]);
    expect(describeNight(next)).toContain('asked 1 of 2 sources; nothing new; nothing to publish;');
  });

  it('requests the cadastre again only on or after the publisher\'s next update date', async () => {
    await night('2027-03-09T02:15:00Z');
    expect(asked()).toEqual([FUEL]);
    await night('2027-03-10T02:15:00Z');
    expect(asked()).toEqual([ZIP, FUEL]);
  });

  it('requests a late file every seventh day for five weeks, even if a nightly run starts early, and then waits for the next date', async () => {
    const nights = ['2027-03-16T02:15:00Z', '2027-03-17T02:14:58Z', '2027-03-18T02:15:00Z', '2027-04-13T02:15:00Z', '2027-04-20T02:15:00Z'];
    const weeks: boolean[] = [];
    for (const time of nights) {
      await night(time);
      weeks.push(asked().includes(ZIP));
    }
    expect(weeks).toEqual([false, true, false, true, false]);
  });

  it('requests a daily file every night, even if the downloads end after midnight UTC', async () => {
    taken = 20 * 60_000;
    const nights: boolean[] = [];
    for (const time of ['2027-04-21T23:50:00Z', '2027-04-22T23:50:00Z', '2027-04-23T23:50:00Z']) {
      await night(time);
      nights.push(asked().includes(FUEL));
    }
    taken = 0;
    expect(nights).toEqual([true, true, true]);
  });

  it('requests files again if the recorded time of the last request is in the future or cannot be read', async () => {
    const record = join(data, 'mimit_fuel', '.asked.json');
    const before = await readFile(record, 'utf8');
    await writeFile(record, JSON.stringify({ molise: '2036-02-07T06:28:16.000Z' }));
    expect(await night('2027-04-24T02:15:00Z')).toMatchObject({ exit_code: 0, asked: ['mimit_fuel'] });
    await rm(record);
    await mkdir(record);
    expect(await night('2027-04-24T02:16:00Z')).toMatchObject({ exit_code: 2, asked: ['mimit_fuel'], failures: [{ error: 'FOLDER_UNWRITABLE' }] });
    await rm(record, { recursive: true });
    await writeFile(record, before);
  });

  it('continues with a warning if the metrics cannot be written', async () => {
    expect(await night('2027-04-21T02:15:00Z', { metrics: join(data, 'nowhere', 'mappale.prom') })).toMatchObject({ exit_code: 0 });
    expect(warned.join('\n')).toContain('the metrics could not be written');
  });

  it('reports failures of a publisher and of the webhook, publishes nothing, and tries again in the next run', async () => {
    const page = status(200, { 'content-type': 'text/html' }, '<html><title>Manutenzione</title></html>');
    const before = publisher.routes.get(FUEL)!;
    publisher.routes.set(FUEL, page);
    hookStatus = 500;
    const line = await night('2027-05-11T02:15:00Z');
    expect(line).toMatchObject({ exit_code: 3, failures: [{ error: 'DOWNLOAD_PAGE' }], published: [] });
    expect(warned.join('\n')).toMatch(/Manutenzione[\s\S]*the webhook did not accept the summary: status 500/);
    expect(warned.join('\n')).not.toContain('secret');
    expect(await figures()).toMatch(/mappale_last_run_exit_code 3\n[\s\S]*mappale_download_failed_files\{source="mimit_fuel"\} 1\n/);
    publisher.routes.set(FUEL, before);
    hookStatus = 200;
    expect(await night('2027-05-11T22:00:00Z')).toMatchObject({ exit_code: 0, asked: ['mimit_fuel'] });
  });

  it('reports a database that does not answer, in the summary and in the metrics', async () => {
    const gone = new MappaleError('the server does not answer', { code: 'SQL_ECONNREFUSED', kind: 'database' });
    const line = await night('2027-05-12T02:15:00Z', { regions: [findRegion('molise')!] }, () => Promise.reject(gone));
    expect(line).toMatchObject({ exit_code: 6, failures: [{ error: 'SQL_ECONNREFUSED' }] });
    expect(await figures()).toContain('mappale_last_run_exit_code 6\n');
  });

  it('refreshes the regions if the download folder cannot be written, and does not report that no publisher is due', async () => {
    const file = join(data, 'no-folder');
    await writeFile(file, '');
    const line = await night('2027-05-13T02:15:00Z', { data: [join(file, 'downloads'), data] });
    expect(line).toMatchObject({ publishers_reached: false, exit_code: 2 });
    expect(line.failures).toHaveLength(1);
    expect(describeNight(line)).toContain('no request to a publisher; nothing new; nothing to publish');
  });

  it('keeps the publication of a region that is pinned during the run, and publishes the region after unpin', async () => {
    const before = publisher.routes.get(FUEL)!;
    const [head = '', header = '', ...stations] = readFileSync(join(files.folder, 'anagrafica_impianti_attivi.csv'), 'utf8').trimEnd().split('\n');
    publisher.routes.set(FUEL, served(Buffer.from([head.replace(/\d{4}-\d{2}-\d{2}/, '2027-05-14'), header, ...stations.slice(1), ''].join('\n')), { etag: '"2"', modified: 'Fri, 14 May 2027 08:00:00 GMT' }));
    let pinned: Promise<void> | null = null;
    const log = { ...context.log, info: (message: string) => {
      if (/^Molise: building/.test(message)) pinned = setHold(context.database, { region: 14, kind: 'pinned', fingerprint: null, reason: 'made' }, 'here');
    } };
    const line = await night('2027-05-14T02:15:00Z', {}, (work) => work({ ...context, log }));
    await pinned!;
    expect([line.exit_code, line.failures, line.loaded, line.published]).toEqual([0, [], 1, []]);
    await releaseHold(context.database, 14, null);
    expect(await night('2027-05-14T22:00:00Z')).toMatchObject({ exit_code: 0, published: ['Molise'] });
    publisher.routes.set(FUEL, before);
  });

  it('prunes after the refresh if a number of months is set', async () => {
    const idle = await openRun(context.database);
    await context.database.query('update ledger.run set ended_at = now() where run_id = $1', [idle]);
    await context.database.query("update ledger.run set started_at = started_at - interval '2 years', ended_at = ended_at - interval '2 years'");
    const line = await night('2027-05-15T02:15:00Z', { keep: 12 });
    expect(line.exit_code).toBe(0);
    expect(line.pruned!.runs).toBeGreaterThan(0);
    expect(await context.database.query('select from ledger.run where run_id = $1', [idle])).toEqual([]);
    expect(await context.database.query('select from ledger.publication p where not exists (select from ledger.run r where r.run_id = p.run_id)')).toEqual([]);
  });

  it('ends a wait when its signal is aborted', async () => {
    const ending = new AbortController();
    const waiting = sleepUntil(Date.now() + 3_600_000, CLOCK, ending.signal);
    ending.abort();
    await expect(waiting).resolves.toBeUndefined();
  });

  it('never starts early, even if timers end early, and reads the clock at least once a minute', async () => {
    let now = 0;
    const waited: number[] = [];
    await sleepUntil(150_000, { now: () => now, wait: async (seconds) => {
      waited.push(seconds);
      now += Math.max(seconds * 1000 - 1, 1);
    } });
    expect([waited.slice(0, 3), now >= 150_000]).toEqual([[60, 60, 30.002], true]);
  });

  it('waits until the next occurrence of the configured time', () => {
    const hours = (now: string): number => untilNext('02:15', new Date(now)) / 3_600_000;
    expect([hours('2026-11-23T02:14:00'), hours('2026-11-23T02:15:00'), hours('2026-11-23T14:15:00')]).toEqual([1 / 60, 24, 12]);
  });

  it('starts at the configured time on the day after the clocks go forward or back', () => {
    inTimeZone('Europe/Rome', () => {
      const next = (now: string): string => new Date(Date.parse(now) + untilNext('02:15', new Date(now))).toISOString();
      // On 29 March 2026, 02:15 does not exist in Italy. On 25 October 2026, 02:15 exists twice.
      expect([next('2026-03-28T23:30:00Z'), next('2026-03-29T01:20:00Z')]).toEqual(['2026-03-29T01:15:00.000Z', '2026-03-30T00:15:00.000Z']);
      expect([next('2026-10-24T23:00:00Z'), next('2026-10-25T00:20:00Z')]).toEqual(['2026-10-25T00:15:00.000Z', '2026-10-26T01:15:00.000Z']);
    });
  });
});
