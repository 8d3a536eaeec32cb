/**
 * Tests commands and the server behind a connection pooler. Writing commands refuse a pooler that does not keep sessions. With transaction pooling, reading
 * commands except `explain`, and the server, answer in the same way as without a pooler.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { SCOPES } from '../../api/access.ts';
import { program } from '../../cli/main.ts';
import { createToken } from '../../cli/token.ts';
import { openDatabase, type Database } from '../../pipelines/db/index.ts';
import { openReader } from '../../pipelines/db/reader.ts';
import { tileAt } from '../../pipelines/formats/vector-tile.ts';
import { withRun } from '../../pipelines/ledger/runs.ts';
import { refresh } from '../../pipelines/run/refresh.ts';
import { askEach, DOCUMENT, serviceOn, type Service } from '../api/harness.ts';
import { describeEngines, type TestEngine } from '../harness/database.ts';
import { PGBOUNCER, PgBouncer } from '../harness/pgbouncer.ts';
import { contextOn, loadOptions, syntheticFiles } from '../harness/region.ts';

const SOURCES = ['ade_cadastre', 'istat_comuni', 'istat_soppressi', 'istat_boundaries', 'anncsu_addresses', 'ispra_flood'];

/**
 * Settings of the database that mappale's sessions must replace. The search path is already correct, so a pooler that drops settings cannot be detected by
 * the search path.
 */
const ODD = ["timezone = 'Asia/Tokyo'", "datestyle = 'SQL, DMY'", "extra_float_digits = '-15'", "bytea_output = 'escape'", 'search_path = public'];

const REFUSED = { code: 'SESSIONS_NOT_KEPT', kind: 'database', exitCode: 6 };

/** Matches values that differ between two responses, which are times, the URL of the database and free disk space. */
const DIFFERING = /("(?:published_at|in_force_since|generated_at|timestamp)" ?: ?)"[^"]+"|("database": )"postgres [^"]+"|("freeBytes": )\d+/g;

if (PGBOUNCER === null) describe.skip('a connection pooler [not run: pgbouncer is not installed (apt-get install pgbouncer)]', () => it('is in front of the database', () => undefined));
else describeEngines('a connection pooler', suite, ['postgres']);

function suite(engine: TestEngine): void {
  let url: string;
  let files: Awaited<ReturnType<typeof syntheticFiles>>;
  /** The first pooler ignores the startup settings of a connection. The second pooler refuses the settings. */
  let poolers: readonly [PgBouncer, PgBouncer];
  let empty: string;
  const opened: Database[] = [];

  async function open(address: string, access: 'read' | 'write'): Promise<Database> {
    const database = await openDatabase(address, access);
    opened.push(database);
    return database;
  }

  beforeAll(async () => {
    url = await engine.createDatabase();
    const direct = await engine.openDatabase(url);
    for (const setting of ODD) await direct.query(`alter database ${new URL(url).pathname.slice(1)} set ${setting}`);
    empty = await mkdtemp(join(tmpdir(), 'mappale-empty-'));
    poolers = await Promise.all([
      PgBouncer.before(url, ['ignore_startup_parameters=options,extra_float_digits']), PgBouncer.before(url, ['server_round_robin=1']),
    ]);
    files = await syntheticFiles(60, 11, { only: SOURCES, comuni: 2 });
    // The region is loaded through a pooler that keeps sessions.
    const database = await open(poolers[0].url('session'), 'write');
    expect((await refresh(await contextOn(database), loadOptions([files.folder], [files.region.code]))).failures).toEqual([]);
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
    process.exitCode = undefined;
  });
  afterAll(async () => {
    await Promise.all(opened.map((database) => database.close()));
    await Promise.all(poolers.map((pooler) => pooler.close()));
    await Promise.all([files.remove(), rm(empty, { recursive: true, force: true })]);
  });

  /** Runs a command in this process. @returns the output of the command */
  async function run(address: string, ...args: readonly string[]): Promise<string> {
    vi.stubEnv('DATABASE_URL', address);
    let printed = '';
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
      printed += String(text);
      return true;
    });
    vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    try {
      await (await program()).parseAsync(['node', 'mappale', ...args]);
    } finally {
      vi.restoreAllMocks();
    }
    return printed;
  }

  it.each(['transaction', 'transaction_2', 'transaction_1', 'statement'] as const)('makes writing commands refuse the pool %s, idle or busy', async (pool) => {
    for (const pooler of poolers) {
      await expect(openDatabase(pooler.url(pool), 'write')).rejects.toMatchObject(REFUSED);
      // Except in the pool `statement`, other clients keep the server connections busy.
      const reads = pool === 'statement' ? [] : await Promise.all([0, 1, 2].map(() => open(pooler.url(pool), 'read')));
      let isOver = false;
      const others = Promise.allSettled(reads.map(async (database) => {
        while (!isOver) await database.query('select pg_sleep(0.0005)::text');
      }));
      for (let turn = 0; turn < 10; turn += 1) {
        const found = await openDatabase(pooler.url(pool), 'write').catch((error: unknown) => error);
        isOver ||= turn === 9 || !(found instanceof Error);
        expect(found).toMatchObject(REFUSED);
      }
      await others;
    }
  });

  it('with transaction pooling makes simultaneous loads fail before a run starts, and leaves the workspaces of another run unchanged', async () => {
    const direct = await engine.openDatabase(url);
    const region = files.region.code;
    await direct.script(`create schema build_${region}; create table build_${region}.kept (one int4); create schema staging_999`, 'test');
    const [before] = await direct.query('select count(*)::int4 as runs from ledger.run');
    const load = async (): Promise<unknown> => {
      const database = await open(poolers[0].url('transaction'), 'write');
      return refresh(await contextOn(database), loadOptions([files.folder], [region]));
    };
    for (const { status, ...rest } of await Promise.allSettled([load(), load()])) expect([status, rest]).toMatchObject(['rejected', { reason: REFUSED }]);
    expect(await direct.query(`select to_regclass('build_${region}.kept') is not null as kept, to_regnamespace('staging_999') is not null as staged`)).toEqual([{ kept: true, staged: true }]);
    expect(await direct.query('select count(*)::int4 as runs from ledger.run')).toEqual([before]);
    await direct.script(`drop schema build_${region} cascade; drop schema staging_999`, 'test');
  });

  it('with transaction pooling makes every writing command fail with an error', async () => {
    const region = String(files.region.code);
    const commands = [
      ['load-region', region, '--data', files.folder], ['refresh', '--data', files.folder], ['migrate'], ['migrate', '--dry-run'],
      ['withdraw', region, '--reason', 'made'], ['rollback', region], ['pin', region, '--reason', 'made'], ['unpin', region], ['prune'], ['forget', 'made.zip', '--reason', 'made'],
      ['token', 'create', '--scopes', 'parcels:read'], ['token', 'revoke', '1'],
    ];
    for (const args of commands) await expect(run(poolers[0].url('transaction'), ...args), args.join(' ')).rejects.toMatchObject(REFUSED);
    expect(await run(poolers[0].url('transaction'), 'watch', '--once', '--data', files.folder)).toContain('SESSIONS_NOT_KEPT');
    expect(process.exitCode).toBe(6);
    await expect(run(poolers[0].url('transaction'), 'refresh', '--data', files.folder)).rejects.toMatchObject({
      detail: expect.stringContaining('pool_mode=transaction') as string, hint: expect.stringContaining('pool_mode=session') as string,
    });
  });

  it('gives each lock to one session and keeps the program\'s settings, with session pooling and without a pooler', async () => {
    const facts = { command: 'test', arguments: {}, version: 'test', host: 'test' };
    for (const [pooling, address] of [['session', poolers[0].url('session')], ['session', poolers[1].url('session')], [null, url]] as const) {
      for (let turn = 0; turn < 5; turn += 1) {
        const again = await openDatabase(address, 'write');
        expect(again.pooling).toBe(pooling);
        await again.close();
      }
      const [one, other] = [await open(address, 'write'), await open(address, 'write')];
      await withRun(one, facts, () => expect(withRun(other, facts, async () => undefined)).rejects.toMatchObject({ code: 'ALREADY_RUNNING' }));
      const settings = `select current_setting('timezone') as zone, current_setting('datestyle') as dates, current_setting('extra_float_digits') as digits,
        current_setting('bytea_output') as bytea, current_setting('synchronous_commit') as commits`;
      const ours = [{ zone: 'UTC', dates: expect.stringMatching(/^ISO/) as string, digits: '1', bytea: 'hex', commits: 'off' }];
      for (let turn = 0; turn < 3; turn += 1) {
        expect(await one.session(async (session) => {
          const found = await session.query(settings);
          await session.query("set timezone = 'Europe/Rome'");
          return found;
        })).toEqual(ours);
      }
    }
  });

  it('with transaction pooling does not change the output of reading commands, except explain, which is refused', async () => {
    const direct = await engine.openDatabase(url);
    const [parcel] = await direct.query<{ fid: number }>("select fid from core.parcel where kind = 'land' order by fid limit 1");
    const [fid, region] = [String(parcel!.fid), String(files.region.code)];
    const out = (name: string): string => join(empty, `made_${name}`);
    const commands = [
      ['status', '--json'], ['parcel', fid], ['history', fid, '--json'], ['plan', '--data', files.folder, '--json'], ['rejects', '--json'], ['token', 'list', '--json'],
      ['sources', '--json'], ['report', region, '--json'],
    ];
    const expected = new Map<readonly string[], string>();
    for (const args of commands) expected.set(args, (await run(url, ...args)).replace(DIFFERING, '$1$2$3'));
    for (const pooler of poolers) {
      for (const args of commands) expect((await run(pooler.url('transaction'), ...args)).replace(DIFFERING, '$1$2$3'), args.join(' ')).toBe(expected.get(args));
    }
    for (const [name, address] of [['pooled.csv', poolers[0].url('transaction_1')], ['direct.csv', url]] as const) await run(address, 'export', region, '--format', 'csv', '--out', out(name));
    expect(await readFile(out('pooled.csv'), 'utf8')).toBe(await readFile(out('direct.csv'), 'utf8'));
    // `diff` reads the tables before it detects that there is no previous publication.
    await expect(run(poolers[0].url('transaction'), 'diff', region)).rejects.toMatchObject({ code: 'NO_PREVIOUS' });
    // `explain` sets the search path, which needs a session.
    await expect(run(poolers[0].url('transaction'), 'explain', fid, 'basic')).rejects.toMatchObject(REFUSED);
    expect(await run(poolers[0].url('session'), 'explain', fid, 'basic')).toBe(await run(url, 'explain', fid, 'basic'));
    await expect(run(poolers[0].url('statement'), 'status')).rejects.toMatchObject(REFUSED);
  });

  it('is reported by doctor, and is an error with transaction pooling', async () => {
    const found = JSON.parse(await run(poolers[0].url('transaction'), 'doctor', '--json')) as readonly { ok: boolean; code?: string; found: string }[];
    expect(found.filter(({ ok }) => !ok)).toMatchObject([{ code: 'SESSIONS_NOT_KEPT', found: expect.stringContaining('pool_mode=transaction') as string }]);
    expect(await run(poolers[0].url('session'), 'doctor')).toContain('a connection pooler that keeps sessions');
    expect(await run(url, 'doctor')).not.toContain('pooler');
  });

  it('with transaction pooling does not change the responses of the server', async () => {
    const direct = await engine.openDatabase(url);
    const services: Service[] = [];
    for (const address of [url, poolers[0].url('transaction'), poolers[1].url('transaction_2')]) services.push(await serviceOn(await open(address, 'read'), address));
    const [parcel] = await direct.query<{ fid: number; lat: number; lng: number }>(
      "select fid, st_y(c) as lat, st_x(c) as lng from (select fid, st_transform(st_pointonsurface(geom), 4326) as c from core.parcel where kind = 'land' order by fid limit 1) p",
    );
    const { fid, lat, lng } = parcel!;
    const tile = (zoom: number): string => {
      const { z, x, y } = tileAt(zoom, lng, lat);
      return `/tiles/${z}/${x}/${y}?layer=parcels`;
    };
    const examples = Object.entries(DOCUMENT.paths).filter(([path, { get }]) => !path.includes('{') && (get.security.length > 0 || path.startsWith('/ogc'))).map(([path, { get }]) =>
      `${path}?${get.parameters.filter(({ example }) => example !== undefined).map(({ name, example }) => `${name}=${encodeURIComponent(String(example))}`).join('&')}`);
    const found = ['/health', `/parcels/${fid}`, `/parcels/locate?lat=${lat}&lng=${lng}`, '/geocode/search?q=via%20roma%201', '/ogc/collections/parcels/items?limit=5', tile(14), tile(16)];
    const paths = [...found, '/parcels/1', ...examples];
    const { token } = await createToken(direct, SCOPES, 'test', null);
    // Requests run simultaneously, on fewer connections than the server has.
    const [plain, ...pooled] = await Promise.all(services.map(async (service) => (
      (await askEach(service, paths, token)).map(({ status, text }, index) => `${paths[index]} ${status} ${text.replace(DIFFERING, '$1$2$3')}`))));
    expect(plain!.slice(0, found.length).map((each) => each.split(' ', 2))).toEqual(found.map((path) => [path, '200']));
    expect(paths.length).toBeGreaterThan(15);
    for (const each of pooled) expect(each).toEqual(plain);
    await Promise.all(services.map((service) => service.close()));
  });

  it('with transaction pooling keeps the rights and limits of the server', async () => {
    const address = poolers[0].url('transaction');
    const reader = await openReader(await open(address, 'read'), address, { connections: 3, statementTimeoutMs: 100 });
    expect(reader.restricted).toBe(true);
    expect(await reader.call('select current_user::text as name, current_setting($1) as read_only', ['transaction_read_only'])).toEqual({ name: 'mappale_api', read_only: 'on' });
    await expect(reader.call('select fid from core.parcel limit $1', [1])).rejects.toMatchObject({ code: 'SQL_42501' });
    await expect(reader.call('select pg_sleep($1)::text as slept', [5])).rejects.toMatchObject({ code: 'SQL_57014' });
    // After a transaction, the PostgreSQL process keeps none of the transaction's settings.
    const database = await open(address, 'read');
    for (let turn = 0; turn < 5; turn += 1) expect(await database.query('select current_user::text = session_user::text as same')).toEqual([{ same: true }]);
    await reader.close();
  });
}
