/** Tests that the server works on a read-only database, and counts requests and bad keys in its memory. */
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryCount } from '../../api/counts.ts';
import { openDatabase, type Database } from '../../pipelines/db/index.ts';
import { refresh } from '../../pipelines/run/refresh.ts';
import { mappale } from '../harness/faults/machine.ts';
import { Server } from '../harness/faults/server.ts';
import { describeEngines, type TestEngine } from '../harness/database.ts';
import { contextOn, loadOptions, syntheticFiles } from '../harness/region.ts';
import { violationsOf, serviceOn, type Service } from './harness.ts';

const LISTS = ['ade_cadastre', 'istat_comuni', 'istat_soppressi', 'anncsu_addresses'];
const EXPORTED = join(tmpdir(), `made_${process.pid}.csv`);
const PARCEL = 1_400_000_000;
const PATHS = ['/admin/regions', `/parcels/${PARCEL}`, '/geocode/search?q=via%20roma%201', '/parcels/locate?lat=41.5&lng=14.5', '/ogc/collections/parcels/items?limit=1'];

async function load(database: Database): Promise<void> {
  const files = await syntheticFiles(40, 4, { only: LISTS, comuni: 2 });
  try {
    expect((await refresh(await contextOn(database), loadOptions([files.folder], [14]))).failures).toEqual([]);
  } finally {
    await files.remove();
  }
}

/** Expects the responses of a server on a read-only database. */
async function holds(service: Service, key: string): Promise<void> {
  const health = await service.ask('/health');
  expect([health.status, health.body], health.text).toMatchObject([200, { status: 'ok', database: 'read_only' }]);
  expect(violationsOf('/health', health)).toEqual([]);
  const left: number[] = [];
  for (const path of PATHS) {
    const { status, headers, text } = await service.ask(path, { key });
    expect([path, status], text).toEqual([path, 200]);
    left.push(Number(headers['x-ratelimit-remaining']));
  }
  expect(left).toEqual(PATHS.map((_, index) => left[0]! - index));
  const table = await service.ask('/tools/enrich', { key, method: 'POST', body: `fid\n${PARCEL}\n${PARCEL}\n${PARCEL}\n`, headers: { 'content-type': 'text/csv' } });
  expect([table.status, table.headers['x-ratelimit-remaining']], table.text).toEqual([200, String(left.at(-1)! - 3)]);
  expect((await service.ask(PATHS[0]!)).body).toMatchObject({ error: 'API_KEY_REQUIRED' });
  const bad: number[] = [];
  for (let turn = 0; turn < 21; turn += 1) bad.push((await service.ask(PATHS[0]!, { key: `mpl_${'A'.repeat(43)}`, from: '198.51.100.7' })).status);
  expect(bad).toEqual([...Array.from({ length: 20 }, () => 401), 429]);
}

/** Ends the connections of the server, so that new connections use the new settings. */
async function reconnect(database: Database): Promise<void> {
  await database.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'mappale server'");
}

describe('counters in memory', () => {
  it('stop at the limit plus 1, do not count a batch that would exceed the limit, and restart after their period', async () => {
    let now = 1_000;
    const count = memoryCount(() => now);
    const one = (add: number) => count({ key: 'a', add, limit: 3, periodMs: 100, before: { used: 1, endsAt: 1_050 } });
    expect([await one(1), await one(0)].map(({ used, over }) => [used, over])).toEqual([[2, false], [2, false]]);
    expect(await one(2)).toEqual({ used: 2, endsAt: 1_050, over: true });
    expect([await one(1), await one(1), await one(0)].map(({ used, over }) => [used, over])).toEqual([[3, false], [4, true], [4, true]]);
    now = 1_060;
    expect(await count({ key: 'a', add: 1, limit: 3, periodMs: 100, before: null })).toEqual({ used: 1, endsAt: 1_160, over: false });
  });
});

describeEngines('a read-only database', (engine: TestEngine) => {
  let service: Service;
  let database: Database;
  let key: string;
  let url: string;
  const setReadOnly = (how: 'set default_transaction_read_only to on' | 'reset default_transaction_read_only'): Promise<void> => (
    database.script(`begin read write; alter database ${new URL(url).pathname.slice(1)} ${how}; commit`, 'test')
  );

  beforeAll(async () => {
    url = await engine.createDatabase();
    database = await engine.openDatabase(url);
    await load(database);
    service = await serviceOn(database, url, { enrich: true });
    key = await service.token();
  });
  afterAll(async () => {
    await service?.close();
    await rm(EXPORTED, { force: true });
  });

  it('is served when it becomes read-only and when it becomes writable again, and commands that write exit with code 6 in between', async () => {
    const used = async (): Promise<unknown> => database.query('select used from access.rate_window');
    expect((await service.ask('/health')).body).toMatchObject({ database: 'ok' });
    expect((await service.ask(PATHS[0]!, { key })).headers['x-ratelimit-remaining']).toBe('999');
    const counted = await used();
    await setReadOnly('set default_transaction_read_only to on');
    await reconnect(database);
    // The result of /health is cached for a second.
    await expect.poll(async () => (await service.ask('/health')).body?.['database']).toBe('read_only');
    await holds(service, key);
    expect(await used()).toEqual(counted);
    for (const command of [['migrate'], ['token', 'create', '--scopes', 'parcels:read'], ['refresh']]) {
      const { code, stderr } = await mappale(url, ...command);
      expect([command[0], code, stderr]).toEqual([command[0], 6, expect.stringContaining('DATABASE_READ_ONLY') as string]);
    }
    await setReadOnly('reset default_transaction_read_only');
    await reconnect(database);
    await expect.poll(async () => (await service.ask('/health')).body?.['database']).toBe('ok');
    expect((await service.ask(PATHS[0]!, { key })).status).toBe(200);
    expect(await used()).not.toEqual(counted);
  });

  it('can be read by the commands parcel, export and status', async () => {
    await setReadOnly('set default_transaction_read_only to on');
    for (const command of [['parcel', String(PARCEL)], ['status'], ['export', 'molise', '--out', EXPORTED]]) {
      const { code, stderr } = await mappale(url, ...command);
      expect([command[0], code], stderr).toEqual([command[0], 0]);
    }
    await setReadOnly('reset default_transaction_read_only');
  });
}, ['postgres']);

const primary = await Server.make();

describe.skipIf(primary === null)(`a streaming standby${primary === null ? ' [not run: PostgreSQL is not installed]' : ''}`, () => {
  let standby: Server | null = null;
  afterAll(async () => {
    await standby?.remove();
    await primary?.remove();
  });

  it('is served, and migrate fails with an error that states the reason', async () => {
    const url = await primary!.database('replicated');
    const database = await openDatabase(url);
    await load(database);
    const first = await serviceOn(database, url);
    const key = await first.token();
    await first.close();
    standby = await primary!.standby();
    const service = await serviceOn(database, standby.url('replicated'), { enrich: true });
    try {
      await holds(service, key);
      const { code, stderr } = await mappale(standby.url('replicated'), 'migrate');
      expect([code, stderr]).toEqual([6, expect.stringContaining('DATABASE_STANDBY') as string]);
    } finally {
      await service.close();
      await database.close();
    }
  });
});
