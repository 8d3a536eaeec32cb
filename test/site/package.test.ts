/** Tests the npm package. The package is built from a copy of the checkout, installed by an ordinary user, and run from a different folder. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { copyCheckout, type Checkout } from '../harness/checkout.ts';
import { describeDatabase } from '../harness/database.ts';
import { childEnvironment } from '../harness/environment.ts';

const run = promisify(execFile);

interface Lock {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly hasInstallScript?: boolean }>>;
}

/** Matches the addresses of modules that the help of the program does not need. */
const HEAVY = /node_modules\/(?!commander\/)|\/sources\/|\/sql\/|\/api\/|\/pipelines\/(?:db|contract|readers|run)\//;

/** Module that prints the address of each module that a process loads. */
const TRACE = `import { register } from 'node:module';
register('data:text/javascript,' + encodeURIComponent("import { writeSync } from 'node:fs'; export async function load(url, context, next) { writeSync(2, url + '\\\\n'); return next(url, context); }"));`;

/** Ids of an ordinary user, so that the package is not installed as root. Empty if this process does not run as root. */
const OTHER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

const hasRegistry = await run('npm', ['view', 'commander', 'version'], { timeout: 20_000 }).then(() => true, () => false);

let copy: Checkout;
let scratch: string;
let tarball: string;

beforeAll(async () => {
  copy = await copyCheckout();
  scratch = await mkdtemp(join(tmpdir(), 'mappale-package-'));
  await chmod(scratch, 0o755);
  await copy.run('npm', ['pack', '--pack-destination', scratch]);
  tarball = join(scratch, (await readdir(scratch)).find((name) => name.endsWith('.tgz')) ?? 'missing.tgz');
}, 600_000);
afterAll(async () => {
  await copy.remove();
  await rm(scratch, { recursive: true, force: true });
});

describe('the compiled program', () => {
  const compiled = (...args: readonly string[]): Promise<{ stdout: string; stderr: string }> =>
    run(process.execPath, ['--import', join(scratch, 'trace.mjs'), join(copy.folder, 'dist/pipelines/mappale.mjs'), ...args], { env: childEnvironment({}) });

  beforeAll(() => writeFile(join(scratch, 'trace.mjs'), TRACE));

  it.each(['--help', '--version'])('loads neither sources nor the packages of a server for %s', async (option) => {
    const { stderr } = await compiled(option);
    const loaded = stderr.trim().split('\n');
    expect(loaded.some((url) => url.endsWith('/dist/cli/main.js'))).toBe(true);
    expect(loaded.filter((url) => HEAVY.test(url))).toEqual([]);
  });

  it('computes the same fingerprint of each reader as the checkout', async () => {
    const registry = join(copy.folder, 'dist/pipelines/contract/registry.js');
    const script = `const { loadSources } = await import(${JSON.stringify(registry)}); console.log(JSON.stringify((await loadSources()).map(({ id, reader, layer }) => [id, reader, layer.digest])));`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { maxBuffer: 1e7 });
    expect(JSON.parse(stdout)).toEqual((await loadSources()).map(({ id, reader, layer }) => [id, reader, layer.digest]));
  });

  it('is not run by a checkout, so a broken compiled program has no effect on the checkout', async () => {
    await writeFile(join(copy.folder, 'dist/cli/main.js'), 'throw new Error("a stale dist/ was run");');
    expect(await copy.run(process.execPath, [join(copy.folder, 'pipelines/mappale.mjs'), '--version'])).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('the package', () => {
  it('has no TypeScript sources, no tests, and no dependency that runs a script at installation', async () => {
    const { stdout } = await run('tar', ['-tzf', tarball], { maxBuffer: 1e7 });
    const files = stdout.trim().split('\n');
    expect(files.length).toBeGreaterThan(400);
    expect(files.filter((file) => /\.ts$|\/(?:fixture|golden|test|scripts)\//.test(file))).toEqual([]);
    const { packages } = JSON.parse(await readFile(join(copy.folder, 'package-lock.json'), 'utf8')) as Lock;
    expect(Object.entries(packages).filter(([, { dev, hasInstallScript }]) => dev !== true && hasInstallScript === true).map(([folder]) => folder)).toEqual([]);
  });
});

it.skipIf(!hasRegistry)(hasRegistry ? 'the npm registry answers' : 'an ordinary user installs the package [not run, no npm registry]', () => {
  expect(hasRegistry).toBe(true);
});

if (hasRegistry) describeDatabase('an ordinary user', (engine) => {
  let home: string;
  let environment: NodeJS.ProcessEnv;
  const mappale = (...args: readonly string[]): Promise<{ stdout: string; stderr: string }> =>
    run('mappale', [...args], { ...OTHER, cwd: '/', env: environment, maxBuffer: 1e8 });

  beforeAll(async () => {
    home = join(scratch, 'home');
    await mkdir(home);
    if (OTHER.uid !== undefined) await chown(home, OTHER.uid, OTHER.gid);
    const { HOME: _home, XDG_DATA_HOME: _data, MAPPALE_HOME: _mappale, ...rest } = childEnvironment({ TMPDIR: home });
    const url = engine.name === 'postgres' ? { DATABASE_URL: await engine.createDatabase() } : {};
    const path = [join(home, 'npm/bin'), dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
    environment = { ...Object.fromEntries(Object.entries(rest).filter(([name]) => !/^npm_/i.test(name))), ...url, HOME: home, PATH: path };
    await run('npm', ['install', '--global', '--prefix', join(home, 'npm'), '--no-audit', '--no-fund', tarball], { ...OTHER, cwd: home, env: environment });
  }, 600_000);

  it('gets help that names commands as the user types them', async () => {
    expect((await mappale('--help')).stdout).toContain('load-region');
    const { stdout } = await mappale('status', '--help');
    expect([stdout.includes('$ mappale status'), stdout.includes('npx')]).toEqual([true, false]);
  });

  it('loads the demo region into the home folder, prints a record and serves the region', async () => {
    // The command may leave out a source, and then exits with code 3.
    await mappale('load-region').catch((error: { code: number; stderr: string }) => expect([3, error.stderr]).toEqual([error.code, error.stderr]));
    expect(await readdir(join(home, '.local/share/mappale'))).toContain('demo');
    expect((await mappale('status')).stdout).toContain('Molise');
    const fid = /mappale parcel (\d+)/.exec((await mappale()).stdout)?.[1] ?? 'none';
    expect(JSON.parse((await mappale('parcel', fid)).stdout)).toMatchObject({ fid: Number(fid) });
    const server = spawn('mappale', ['serve', '--port', '0'], { ...OTHER, cwd: '/', env: environment, stdio: ['ignore', 'pipe', 'ignore'] });
    const ended = once(server, 'exit');
    const [base] = (await once(createInterface({ input: server.stdout }), 'line')) as [string];
    const statuses = await Promise.all(['/health', '/map', '/map/maplibre-gl.mjs', '/docs/swagger-ui.js'].map(async (path) => (await fetch(base + path)).status));
    server.kill('SIGTERM');
    expect([statuses, (await ended)[0]]).toEqual([[200, 200, 200, 200], 0]);
  }, 600_000);
});
