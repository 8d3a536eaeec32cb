/** Tests that `DATABASE_URL` has the same meaning as in libpq. Some of the tests use a server that Debian's tools set up. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { libpqSettings, type LibpqSettings } from '../../pipelines/config.ts';
import { serverAddress } from '../../pipelines/db/server-address.ts';
import { ROOT } from '../harness/architecture/project.ts';
import { testEnvironment } from '../harness/environment.ts';
import { freePort } from '../harness/postgres.ts';
import { PROGRAM } from '../harness/program.ts';

const run = promisify(execFile);
const PATH = testEnvironment().path.join(delimiter);
const folder = mkdtempSync(join(tmpdir(), 'mappale-libpq-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('an address with omitted parts', () => {
  const services = join(folder, 'made_services.conf');
  const settings = (more: Partial<LibpqSettings> = {}): LibpqSettings => ({
    host: null, port: '1', user: null, service: null, serviceFiles: [join(folder, 'absent.conf'), services], systemUser: 'loader', ...more,
  });
  beforeAll(() => writeFileSync(services, '# comment\n[other]\nhost=other.example\n[night]\nhost = db.example\nport=5499\ndbname=italy\nuser=writer\n\n[last]\nuser=x\n'));

  it.each<[string, Partial<LibpqSettings>, string]>([
    ['postgres:///italy', {}, 'postgres localhost:5432, database italy, user loader'],
    ['postgres://db.example/italy', {}, 'postgres db.example:5432, database italy, user loader'],
    ['postgres://me@db.example/italy', {}, 'postgres db.example:5432, database italy, user me'],
    ['postgres:///?service=night', {}, 'postgres db.example:5499, database italy, user writer'],
    ['postgres://', { service: 'night' }, 'postgres db.example:5499, database italy, user writer'],
    ['postgres://me@here.example:5433/rome', { service: 'night' }, 'postgres here.example:5433, database rome, user me'],
    ['postgres:///rome', { service: 'last' }, 'postgres localhost:5432, database rome, user x'],
  ])('is completed: %s', (url, more, label) => {
    expect(serverAddress(url, settings(more)).label).toBe(label);
  });

  it('is refused with exit code 2 if it names an unknown service', () => {
    expect(() => serverAddress('postgres:///?service=absent', settings())).toThrow(expect.objectContaining({ code: 'PGSERVICE_UNKNOWN', exitCode: 2 }));
  });

  it('takes host, user, port and service file from PGHOST, PGUSER, PGPORT and PGSERVICEFILE', () => {
    const from = libpqSettings({ PGHOST: 'db.example', PGUSER: 'reader', PGPORT: '5433', PGSERVICEFILE: services });
    expect([from.host, from.user, from.port, from.serviceFiles[0]]).toEqual(['db.example', 'reader', '5433', services]);
  });
});

const debian = existsSync('/usr/bin/pg_createcluster') && process.getuid?.() === 0 ? describe : describe.skip;

debian('a Debian server with its own pg_hba.conf', () => {
  const name = `mappale${process.pid}`;
  let version = '';
  let port = 0;
  const asPostgres = async (...sql: string[]): Promise<void> => {
    for (const each of sql) await run('runuser', ['-u', 'postgres', '--', 'psql', '-q', '-p', String(port), '-c', each], { cwd: '/' });
  };
  /** Runs `status --json` as cron does, without the variables of a login shell. @returns stdout, followed by stderr if the command fails */
  const status = async (env: Readonly<Record<string, string>>): Promise<string> => {
    const { stdout } = await run('node', [PROGRAM, 'status', '--json'], { cwd: ROOT, env: { PATH: PATH, HOME: folder, ...env } })
      .catch((failed: { stdout: string; stderr: string }) => ({ stdout: failed.stdout + failed.stderr }));
    return stdout;
  };

  beforeAll(async () => {
    version = (await run('sh', ['-c', 'ls /usr/lib/postgresql | sort -V | tail -n 1'])).stdout.trim();
    port = await freePort();
    await run('pg_createcluster', [version, name, '-p', String(port), '--start', '-o', 'fsync=off']);
    const user = userInfo().username;
    await asPostgres(`create role "${user}" login superuser`, `create database italy owner "${user}"`, `create role keyed login superuser password 'made of paper'`);
    await run('node', [PROGRAM, 'migrate'], { cwd: ROOT, env: { PATH: PATH, HOME: folder, PGPORT: String(port), DATABASE_URL: 'postgres:///italy' } });
  });
  afterAll(async () => {
    await run('pg_dropcluster', ['--stop', version, name]);
  });

  it('is reached over its socket as the user of the process', async () => {
    expect(JSON.parse(await status({ DATABASE_URL: 'postgres:///italy', PGPORT: String(port) }))).toBeTypeOf('object');
  });

  it('is reached over a socket folder in PGHOST', async () => {
    expect(JSON.parse(await status({ DATABASE_URL: 'postgres:///italy', PGPORT: String(port), PGHOST: '/var/run/postgresql' }))).toBeTypeOf('object');
  });

  it('is reached by the name of a service', async () => {
    writeFileSync(join(folder, '.pg_service.conf'), `[italy]\nport=${port}\ndbname=italy\n`);
    expect(JSON.parse(await status({ DATABASE_URL: 'postgres://', PGSERVICE: 'italy' }))).toBeTypeOf('object');
  });

  it('is reached over TCP with a password from PGPASSFILE', async () => {
    const file = join(folder, 'made_pgpass');
    writeFileSync(file, `localhost:${port}:italy:keyed:made of paper\n`, { mode: 0o600 });
    expect(JSON.parse(await status({ DATABASE_URL: 'postgres://keyed@localhost/italy', PGPORT: String(port), PGPASSFILE: file }))).toBeTypeOf('object');
  });

  it('refuses a different user over the socket with the error SQL_28000', async () => {
    expect(await status({ DATABASE_URL: 'postgres:///italy', PGPORT: String(port), PGUSER: 'keyed' })).toMatch(/SQL_28000/);
  });

  it('is reached over a socket that requires a password with the password of localhost in PGPASSFILE', async () => {
    const rules = `/etc/postgresql/${version}/${name}/pg_hba.conf`;
    writeFileSync(rules, `local all keyed scram-sha-256\n${readFileSync(rules, 'utf8')}`);
    await asPostgres('select pg_reload_conf()');
    const file = join(folder, 'made_socket_pgpass');
    writeFileSync(file, 'localhost:*:italy:keyed:made of paper\n', { mode: 0o600 });
    expect(JSON.parse(await status({ DATABASE_URL: 'postgres:///italy', PGPORT: String(port), PGUSER: 'keyed', PGPASSFILE: file }))).toBeTypeOf('object');
  });
});
