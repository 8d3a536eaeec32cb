/** Runs all commands of docs/first-hour.md, in order and in an empty folder, up to the first command that needs the internet. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { read } from '../harness/architecture/project.ts';
import { childEnvironment, testEnvironment } from '../harness/environment.ts';
import { PROGRAM } from '../harness/program.ts';

const run = promisify(execFile);

const [local = ''] = read('docs/first-hour.md').split(/^## A real region$/m);
/** Lines of the code blocks, without the installation. */
const LINES = [...local.matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap((match) => match[1]!.trim().split('\n')).filter((line) => line !== 'make setup');

let folder: string;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mappale-hour-'));
  // In a checkout, `npx mappale` runs the program of the checkout. In the empty folder, this script runs the compiled program of the checkout instead.
  await writeFile(join(folder, 'npx'), `#!/bin/sh\nshift\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`);
  await chmod(join(folder, 'npx'), 0o755);
  environment = childEnvironment({ PATH: [folder, ...testEnvironment().path].join(':') });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs a server and stops it after `ask`. @param ask receives the address that the server printed, and the sign-in link */
async function served(line: string, ask: (address: string, link: string) => Promise<void>): Promise<void> {
  const server = spawn('/bin/sh', ['-c', `exec ${line} --port 0`], { cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(server, 'exit');
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  const [address, link] = [(await lines.next()).value as string, (await lines.next()).value as string];
  await ask(address, link);
  server.kill('SIGINT');
  expect((await ended)[0]).toBe(0);
}

it('the commands of the first hour give the documented results', async () => {
  expect(LINES.length).toBeGreaterThan(10);
  const said = new Map<string, string>();
  const messages = new Map<string, string[]>();
  for (const line of LINES) {
    if (!line.startsWith('npx mappale serve')) {
      const { stdout, stderr } = await run('/bin/sh', ['-c', line], { cwd: folder, env: environment, maxBuffer: 1 << 26 });
      said.set(line, stdout);
      messages.set(line, stderr.trim().split('\n'));
      continue;
    }
    const [token] = /mpl_[\w-]+/.exec([...said.values()].join('\n')) ?? [];
    await served(line, async (address, link) => {
      expect(link.startsWith(`${address}/map#signin=`)).toBe(true);
      expect((await fetch(link)).headers.get('content-type')).toContain('text/html');
      const found = await fetch(`${address}/parcels/locate?lat=41.9974043&lng=14.0056138`, { headers: { 'x-api-key': token! } });
      expect(await found.json()).toMatchObject({ data: [{ cadastral_reference: 'Z001_000100.28' }] });
    });
  }
  expect([...said].filter(([, text]) => text.trim() === '').map(([line]) => line)).toEqual(LINES.filter((line) => line.startsWith('printf ')));
  const enriched = (await readFile(join(folder, 'places-enriched.csv'), 'utf8')).trim().split('\n').slice(1);
  expect(enriched.map((line) => line.split(',').slice(0, 4))).toEqual([['at home', '41.9974043', '14.0056138', 'found'], ['at sea', '42.3', '14.9', 'not_loaded']]);
  expect((await readFile(join(folder, 'molise.parquet'))).toString('latin1', 0, 4)).toBe('PAR1');
  expect(await readFile(join(folder, 'molise.html'), 'utf8')).toContain('Molise');
  // The output must contain the lines of the example in README, apart from durations.
  const timeless = (text: string): string => text.replace(/ +/g, ' ').replace(/\d+(?:\.\d+)? (?:s|min)\b/g, '…');
  const [, example = ''] = /^```console\n([\s\S]*?)^```/m.exec(read('README.md')) ?? [];
  const shown = example.trim().split('\n').filter((line) => line !== '…').map(timeless);
  expect(shown.length).toBeGreaterThan(2);
  expect(shown.filter((line) => !timeless(said.get('npx mappale load-region')!).includes(line))).toEqual([]);
  // The load prints its phases. Details are printed only with `--verbose`, and warnings of checks are in the report.
  expect(messages.get('npx mappale load-region')!.map((line) => line.replace(/\d+/g, 'N').replace(/,.*/, ''))).toEqual([
    expect.stringContaining('writing the files of a synthetic region'), 'loading N releases of N sources',
    'Italia: building N tables', 'Italia: published as N', 'Molise: building N tables', 'Molise: published as N',
  ]);
  expect(said.get('npx mappale explain Z001_000100.28 risk')).toContain('the rule gives one row, as published');
});
