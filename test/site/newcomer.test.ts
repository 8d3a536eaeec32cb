/** Tests typical mistakes of newcomers. Each mistake must end with the correct exit code and with a command that fixes it. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { program } from '../../cli/main.ts';
import { nearest } from '../../pipelines/typed.ts';
import { checkServer } from '../../pipelines/db/migrate.ts';
import { openDatabase, type Session } from '../../pipelines/db/index.ts';
import { MappaleError } from '../../pipelines/errors.ts';
import { chooseEngine } from '../../pipelines/formats/gdal-engine.ts';
import { writeAtomically } from '../../pipelines/formats/atomic-write.ts';
import { documentedErrors } from '../../scripts/site/errors.ts';
import { read, ROOT } from '../harness/architecture/project.ts';
import { describeEngines } from '../harness/database.ts';
import { childEnvironment } from '../harness/environment.ts';
import { refusal, statementIn, words } from '../harness/typed.ts';

const run = promisify(execFile);

const disk = vi.hoisted(() => ({ freeBytes: null as number | null }));
vi.mock('node:fs/promises', async (importReal) => {
  const real = await importReal<typeof import('node:fs/promises')>();
  return { ...real, statfs: async (path: string) => (disk.freeBytes === null ? real.statfs(path) : { bavail: disk.freeBytes, bsize: 1 }) };
});

/** System programs with which a suggested command may begin. */
const SYSTEM = new Set(['apt-get', 'createdb', 'createuser', 'df', 'export', 'mkdir', 'mv', 'nvm', 'pg_isready', 'psql', 'systemctl', 'unset']);

/** Returns the reason why the last line of an error report is not a valid command, or null. */
async function untypable(report: string): Promise<string | null> {
  const line = /\n {2}type: (.+)$/.exec(report)?.[1];
  if (line === undefined) return 'the last line is not a command';
  // Placeholders that the user must replace are in capitals.
  const said = words(line.replace(/^sudo (?:-u postgres )?/, '')).map((word) => (word === 'REGION' ? 'molise' : word));
  if (said[0] === 'npx') return refusal(said.slice(2));
  if (said[0] === 'make') return new RegExp(`^${said[1]}:`, 'm').test(read('Makefile')) ? null : 'the Makefile has no such target';
  return SYSTEM.has(said[0] ?? '') ? null : `unknown program: ${line}`;
}

const typed = process.argv;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mappale-newcomer-'));
  for (const name of ['empty', 'strangers', 'data/cadastre', 'data/nothing', 'made']) await mkdir(join(folder, name), { recursive: true });
  await writeFile(join(folder, 'strangers', 'holiday.jpg'), 'no data');
  await writeFile(join(folder, 'data', 'cadastre', 'MOLISE.zip'), 'PK\u0003\u0004 half of a download');
});
afterEach(() => {
  process.argv = typed;
  disk.freeBytes = null;
  vi.unstubAllEnvs();
  process.exitCode = undefined;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs a command on a database. @returns the error of the command, or null */
async function ended(line: readonly string[], url = `pglite:${join(folder, 'none')}`): Promise<MappaleError | null> {
  vi.stubEnv('DATABASE_URL', url);
  process.argv = [process.execPath, join(ROOT, 'pipelines/mappale.mjs'), ...line];
  try {
    await (await program()).parseAsync(process.argv);
    return null;
  } catch (error) {
    if (error instanceof MappaleError) return error;
    throw error;
  }
}

/** Returns the code, the exit code and the suggested command of an error. The command must be valid. */
async function fixOf(error: MappaleError | null): Promise<readonly [code: string, exit: number, fix: string]> {
  if (error === null) throw new Error('expected an error, found none');
  expect([error.report(), await untypable(error.report())]).toEqual([error.report(), null]);
  return [error.code, error.exitCode, error.fix!];
}

describe('a newcomer', () => {
  it.each<[what: string, line: (folder: string) => string[], code: string, exit: number, fix: (folder: string) => string]>([
    ['mistypes a region', () => ['load-region', 'mollise', '--data', 'x'], 'REGION_UNKNOWN', 2, () => 'npx mappale load-region molise --data x'],
    ['mistypes a region with two words', () => ['fetch', 'fruli venezia giula'], 'REGION_UNKNOWN', 2, () => 'npx mappale fetch friuli-venezia-giulia'],
    ['names a place that is not a region', () => ['plan', 'Atlantis'], 'REGION_UNKNOWN', 2, () => 'npx mappale plan REGION'],
    ['names an unknown source', (at) => ['fetch', 'molise', '--sources', 'istat', '--data', join(at, 'empty')], 'SOURCE_UNKNOWN', 2, () => 'npx mappale sources'],
    ['requests synthetic files of an unknown source', (at) => ['synth', '--out', join(at, 'synthetic'), '--source', 'cadastre'], 'SOURCE_UNKNOWN', 2, () => 'npx mappale sources'],
    ['requests a synthetic region that is too large', (at) => ['synth', '--out', join(at, 'synthetic'), '--parcels', '87000000'], 'SYNTHETIC_REGION', 2, () => 'npx mappale synth --help'],
    ['writes into a missing folder', (at) => ['export', 'molise', '--out', join(at, 'new', 'molise.csv')], 'FOLDER_MISSING', 2, (at) => `mkdir -p ${join(at, 'new')}`],
    ['names a folder as the file to write', (at) => ['export', 'molise', '--out', join(at, 'empty')], 'NOT_A_FILE_NAME', 2, (at) => `npx mappale export molise --out ${join(at, 'empty', 'FILE')}`],
    ['requests an export on standard output', () => ['export', 'molise', '--out', '-'], 'NOT_A_FILE_NAME', 2, () => 'npx mappale export molise --out FILE'],
    ['reads a missing database', () => ['parcel', '1400000000'], 'DATABASE_OUT_OF_DATE', 6, () => 'npx mappale load-region'],
    ['names a folder of other files as the database', () => ['load-region'], 'PGLITE_FOLDER', 2, () => 'export DATABASE_URL=pglite:.mappale/database'],
    ['requests a report without a region', () => ['report'], 'REPORT_OF_WHAT', 2, () => 'npx mappale report REGION'],
    ['requests a report in a missing folder', (at) => ['report', 'molise', '--out', join(at, 'new', 'molise.html')], 'FOLDER_MISSING', 2, (at) => `mkdir -p ${join(at, 'new')}`],
    ['names a folder as the page of a report', (at) => ['report', 'molise', '--out', join(at, 'empty')], 'NOT_A_FILE_NAME', 2, (at) => `npx mappale report molise --out ${join(at, 'empty', 'FILE')}`],
    ['mistypes a section in a list', () => ['export', 'molise', '--sections', 'risk,econmics'], 'SECTION_UNKNOWN', 2, () => 'npx mappale export molise --sections risk,economics'],
    ['mistypes a format', () => ['export', 'molise', '--format=geoparquett'], 'FORMAT_UNKNOWN', 2, () => 'npx mappale export molise --format geoparquet'],
    ['requests an unknown format', () => ['export', 'molise', '--format', 'shp'], 'FORMAT_UNKNOWN', 2, () => 'npx mappale export molise --format geoparquet'],
    ['mistypes the format of a validation', () => ['validate', 'FILE', '--format', 'junti'], 'FORMAT_UNKNOWN', 2, () => 'npx mappale validate FILE --format junit'],
    ['gives a word as the port', () => ['serve', '--port', 'http'], 'NUMBER_EXPECTED', 2, () => 'npx mappale serve --port 0'],
    ['gives the embedded database several processes', () => ['serve', '--workers', '2'], 'WORKERS_EMBEDDED', 2, () => 'npx mappale serve --workers 1'],
    ['gives fewer connections than processes', () => ['serve', '--workers', '8', '--connections', '4'], 'WORKERS_EMBEDDED', 2, () => 'npx mappale serve --workers 1 --connections 4'],
    ['trusts a proxy by its name', () => ['serve', '--trust-proxy', 'nginx'], 'PROXY_INVALID', 2, () => 'npx mappale serve --trust-proxy 127.0.0.1'],
    ['sets the nightly run to an impossible time', () => ['watch', 'molise', '--once', '--at', '25:00'], 'TIME_EXPECTED', 2, () => 'npx mappale watch molise --once --at 02:15'],
    ['gives a webhook without a scheme', () => ['watch', 'molise', '--once', '--webhook', 'example.org'], 'ADDRESS_EXPECTED', 2, () => 'npx mappale watch molise --once --webhook https://HOST/PATH'],
    ['enriches a missing table', (at) => ['enrich', join(at, 'points.csv'), '--out', join(at, 'out.csv')], 'TABLE_MISSING', 2, () => 'npx mappale enrich FILE.csv --out OTHER.csv'],
    ['gives a blank host', () => ['serve', '--host', ' '], 'ADDRESS_UNAVAILABLE', 2, () => 'npx mappale serve --host 127.0.0.1'],
  ])('%s', async (_what, line, code, exit, fix) => {
    const url = code === 'PGLITE_FOLDER' ? `pglite:${join(folder, 'strangers')}` : undefined;
    expect(await fixOf(await ended(line(folder), url))).toEqual([code, exit, fix(folder)]);
  });

  it('gets the next command as the last line of every usage error, unless a change by hand is necessary', () => {
    const byHand: Readonly<Record<string, string>> = {
      KEY_AMBIGUOUS: 'columns of the table', KEY_MISSING: 'columns of the table', CITUS_MISSING: 'servers of a cluster, by their superuser', CITUS_NO_WORKERS: 'as before',
      WORKER_WITHOUT_ROLE: 'as before', NODE_NOT_RESTRICTED: 'as before',
    };
    const silent = documentedErrors().filter(({ kind, fix }) => kind === 'usage' && fix === '').map(({ code }) => code);
    expect([...new Set(silent)].sort()).toEqual(Object.keys(byHand).sort());
  });

  it('gets the help command of the command or subcommand as the last line after an unknown option', async () => {
    const all = (parent: Command, above: string): [string, Command][] => parent.commands.flatMap((each) => {
      const name = `${above} ${each.name()}`;
      return [[name, each] as [string, Command], ...all(each, name)];
    });
    for (const [name, each] of all(await program(), 'mappale')) {
      let said = '';
      each.configureOutput({ writeErr: (text) => (said += text) }).exitOverride();
      await expect(each.parseAsync(['--no-such-option'], { from: 'user' })).rejects.toMatchObject({ exitCode: 1 });
      expect(said.trimEnd().split('\n').at(-1)).toBe(`(see the examples: npx ${name} --help)`);
    }
  });

  it('gets an error with the next command, before anything is created, if the disk is too small for the embedded database', async () => {
    disk.freeBytes = 100 * 1024 ** 2;
    expect(await fixOf(await ended(['load-region']))).toEqual(['DISK_FULL', 2, 'export DATABASE_URL=pglite:/OTHER_DISK/mappale']);
    expect(existsSync(join(folder, 'none'))).toBe(false);
  });

  it('gets an error and no partial file if the disk becomes full while a file is written', async () => {
    const out = join(folder, 'molise.parquet');
    process.argv = [process.execPath, join(ROOT, 'pipelines/mappale.mjs'), 'export', 'molise', '--out', out];
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' });
    const error = await writeAtomically(out, async (unfinished) => {
      await writeFile(unfinished, 'a part');
      throw full;
    }).catch((thrown: unknown) => thrown as MappaleError);
    expect(await fixOf(error)).toEqual(['DISK_FULL', 2, 'npx mappale export molise --out /OTHER_DISK/molise.parquet']);
    expect((await readdir(folder)).filter((name) => name.startsWith('molise.parquet'))).toEqual([]);
  });

  it('gets the command make setup if GDAL is missing', async () => {
    const absent = (): Promise<never> => Promise.reject(new Error('Cannot find package'));
    const error = await chooseEngine(null, { native: absent, wasm: absent }).catch((thrown: unknown) => thrown as MappaleError);
    expect(await fixOf(error as MappaleError)).toEqual(['GDAL_MISSING', 2, 'make setup']);
  });

  it('gets the required version of Node and the next command if Node is too old', async () => {
    const older = 'data:text/javascript,Object.defineProperty(process, "versions", { value: { ...process.versions, node: "18.20.4" } })';
    const failed = await run(process.execPath, ['--import', older, join(ROOT, 'pipelines/mappale.mjs'), 'status'], { env: childEnvironment({}) })
      .then(() => null, (error: unknown) => error as { code: number; stderr: string });
    expect(failed?.code).toBe(2);
    expect(failed?.stderr).toContain('expected Node 20.19 or newer, found 18.20.4');
    expect(await untypable(failed!.stderr.trimEnd())).toBeNull();
  });

  it('gets only suggestions that are similar', () => {
    expect(nearest('lombardy', ['lombardia', 'piemonte'])).toEqual(['lombardia']);
    expect(nearest('Sicila', ['sicilia', 'sardegna'])).toEqual(['sicilia']);
    expect(nearest('rsik', ['risk', 'solar', 'poi'])).toEqual(['risk']);
    expect(nearest('Bavaria', ['umbria', 'basilicata'])).toEqual([]);
  });
});

describe('a server that does not meet the requirements', () => {
  /** Returns a session of a server of the given version that offers the given extensions. No extension is installed in the database. */
  const serverWith = (version: string, extensions: readonly { name: string; version: string }[]): Session => ({
    query: async (sql: string) => (sql.includes('server_version') ? [{ version }] : extensions.map((each) => ({ ...each, installed: false }))),
  }) as unknown as Session;
  const others = ['pg_trgm', 'unaccent', 'fuzzystrmatch'].map((name) => ({ name, version: '1.0' }));
  it.each<[what: string, session: Session, code: string, fix: string]>([
    ['is too old', serverWith('13.4', []), 'POSTGRES_TOO_OLD', 'sudo apt-get install -y postgresql-15 postgresql-15-postgis-3'],
    ['has no PostGIS', serverWith('16.2', others), 'EXTENSION_MISSING', 'sudo apt-get install -y postgresql-16-postgis-3'],
    ['has an old PostGIS', serverWith('15.8', [{ name: 'postgis', version: '3.1.4' }, ...others]), 'POSTGIS_TOO_OLD', 'sudo apt-get install -y postgresql-15-postgis-3'],
    ['lacks the extensions of PostgreSQL itself', serverWith('15.8', [{ name: 'postgis', version: '3.4.0' }]), 'EXTENSION_MISSING', 'sudo apt-get install -y postgresql-contrib'],
  ])('%s', async (_what, session, code, fix) => {
    expect(await fixOf(await checkServer(session, 'postgres db:5432').then(() => null, (error: unknown) => error as MappaleError))).toEqual([code, 6, fix]);
  });

  /**
   * Starts a server that answers each message of a client with the next of the given answers.
   * @returns the server's URL for a user and database, its port, and a function that stops the server
   */
  async function answering(...answers: readonly Buffer[]): Promise<{ url: string; port: number; close(): Promise<void> }> {
    const sockets = new Set<Socket>();
    const server: Server = createServer((socket) => {
      sockets.add(socket);
      const left = [...answers];
      socket.on('error', () => undefined).on('data', () => void socket.write(left.shift() ?? ''));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return {
      port, url: `postgres://me@127.0.0.1:${port}/italy`,
      close: async () => {
        for (const socket of sockets) socket.destroy();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  }
  const message = (kind: string, body: Buffer): Buffer => {
    const head = Buffer.alloc(5);
    head.write(kind);
    head.writeInt32BE(body.length + 4, 1);
    return Buffer.concat([head, body]);
  };
  const refused = (state: string, words_: string): Buffer => message('E', Buffer.from(`SFATAL\0VFATAL\0C${state}\0M${words_}\0\0`));

  it.each<[what: string, answers: readonly Buffer[], code: string, fix: (port: number) => string]>([
    ['a wrong password', [refused('28P01', 'password authentication failed for user "me"')], 'SQL_28P01', (port) => `export DATABASE_URL=postgres://me:PASSWORD@127.0.0.1:${port}/italy`],
    ['a missing password', [[10, 'SCRAM-SHA-256\0\0'], [11, 'r=nonce,s=c2FsdA==,i=4096']].map(([step, words_]) => message('R', Buffer.from([0, 0, 0, Number(step), ...Buffer.from(String(words_))]))), 'SQL_28P01', (port) => `export DATABASE_URL=postgres://me:PASSWORD@127.0.0.1:${port}/italy`],
    ['an unknown user', [refused('28000', 'role "me" does not exist')], 'SQL_28000', (port) => `sudo -u postgres createuser -p ${port} me`],
  ])('refuses %s', async (_what, answers, code, fix) => {
    const server = await answering(...answers);
    vi.stubEnv('PGPASSWORD', '');
    expect(await fixOf(await ended(['status'], server.url))).toEqual([code, 6, fix(server.port)]);
    await server.close();
  });

  it('causes an error with the next command if it does not answer or has an unknown name', async () => {
    const gone = await answering();
    await gone.close();
    expect(await fixOf(await ended(['status'], gone.url))).toEqual(['SQL_ECONNREFUSED', 6, 'sudo systemctl start postgresql']);
    expect(await fixOf(await ended(['status'], `postgres:///italy?host=${folder}`))).toEqual(['SQL_ENOENT', 6, 'sudo systemctl start postgresql']);
    const [code, exit, fix] = await fixOf(await ended(['status'], 'postgres://me@no-such-host.invalid/italy'));
    expect([/^SQL_(ENOTFOUND|EAI_AGAIN)$/.test(code), exit, fix]).toEqual([true, 6, 'export DATABASE_URL=postgres://me@HOST:5432/italy']);
  });
});

describeEngines('a newcomer with a server', (engine) => {
  const named = (url: string, database: string, user?: string): string => {
    const changed = new URL(url);
    changed.pathname = `/${database}`;
    if (user !== undefined) changed.username = user;
    return changed.href;
  };

  it('gets a command that fixes the problem as the last line, if the database, PostGIS or rights are missing', async () => {
    const url = await engine.createDatabase();
    const admin = await engine.openDatabase(url);
    const name = `${new URL(url).pathname.slice(1)}_new`;
    const role = `${name}_reader`;
    await admin.query(`create role ${role} login password 'newcomer'`);
    const mine = named(url, name, role).replace(`${role}@`, `${role}:newcomer@`).replace(/:[^:@/]*@/, ':newcomer@');
    try {
      const [code, exit, fix] = await fixOf(await ended(['load-region', 'molise', '--data', join(folder, 'empty')], mine));
      expect([code, exit, fix.startsWith('createdb ') && fix.endsWith(` -U ${role} ${name}`)]).toEqual(['SQL_3D000', 6, true]);
      await admin.query(`create database ${name} template template0 encoding 'UTF8'`);
      const there = await openDatabase(named(url, name));
      try {
        const forbidden = await fixOf(await ended(['migrate', '--json'], mine));
        expect(forbidden.slice(0, 2)).toEqual(['EXTENSION_FORBIDDEN', 6]);
        await there.script(statementIn(forbidden[2]), 'the last line');
        const closed = await fixOf(await ended(['migrate', '--json'], mine));
        expect(closed.slice(0, 2)).toEqual(['SQL_42501', 6]);
        await there.script(statementIn(closed[2]), 'the last line');
        // The dry run creates nothing. The next run creates everything.
        vi.spyOn(process.stdout, 'write').mockReturnValue(true);
        expect(await ended(['migrate', '--json', '--dry-run'], mine)).toBeNull();
        expect(await there.query("select to_regnamespace('ledger') as made")).toEqual([{ made: null }]);
        expect(await ended(['migrate', '--json'], mine)).toBeNull();

        // If a different role connects, the suggested URL contains the name of the owner.
        await admin.query(`create role ${role}_other login password 'newcomer'`);
        const other = mine.replace(`${role}:`, `${role}_other:`);
        for (const line of [['status'], ['load-region', 'molise', '--data', join(folder, 'empty')], ['migrate', '--json']]) {
          const [what, how, typed] = await fixOf(await ended(line, other));
          expect([what, how, typed]).toEqual(['DATABASE_NOT_OURS', 6, `export DATABASE_URL=${mine.replace(':newcomer@', ':PASSWORD@').split('?')[0]}`]);
        }
        const wrong = async (line: readonly string[]): Promise<readonly unknown[]> => fixOf(await ended(line, mine));
        expect(await wrong(['load-region', 'molise', '--data', join(folder, 'nowhere')])).toEqual(['DATA_MISSING', 2, `npx mappale fetch REGION --data ${join(folder, 'nowhere')}`]);
        expect(await wrong(['load-region', 'molise', '--data', join(folder, 'data', 'nothing')])).toEqual(['DATA_EMPTY', 2, `npx mappale load-region molise --data ${join(folder, 'data')}`]);
        expect(await wrong(['export', 'molise', '--out', join(folder, 'made', 'molise.parquet')])).toEqual(['NOT_PUBLISHED', 2, 'npx mappale load-region molise --data FOLDER']);
        expect(await wrong(['token', 'revoke', '7'])).toEqual(['TOKEN_UNKNOWN', 2, 'npx mappale token list']);
      } finally {
        vi.restoreAllMocks();
        await there.close();
      }
    } finally {
      await admin.query(`drop database if exists ${name} with (force)`);
      await admin.query(`drop role ${role}`);
      await admin.query(`drop role if exists ${role}_other`);
    }
  });

  it('learns whether mappale or a different program uses a port, and gets a free port', async () => {
    const url = await engine.createDatabase();
    expect(await ended(['migrate'], url)).toBeNull();
    for (const [answer, found] of [['{"status":"ok","version":"9.9.9","dataset":{}}', /found mappale 9\.9\.9 at http/], ['hello', /another program/]] as const) {
      const { createServer: createHttp } = await import('node:http');
      const taken = createHttp((_request, response) => void response.end(answer)).listen(0, '127.0.0.1');
      await once(taken, 'listening');
      const { port } = taken.address() as AddressInfo;
      const error = await ended(['serve', '--port', String(port)], url);
      const [code, exit, fix] = await fixOf(error);
      expect([code, exit]).toEqual(['PORT_IN_USE', 2]);
      expect(error?.detail).toMatch(found);
      const other = Number(/^npx mappale serve --port (\d+)$/.exec(fix)?.[1]);
      expect(other).toBeGreaterThan(port);
      taken.closeAllConnections();
      await new Promise((resolve) => taken.close(resolve));
    }
  });
}, ['postgres']);
