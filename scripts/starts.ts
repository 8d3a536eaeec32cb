/**
 * Measures the CPU time of short commands of the compiled program, as a ratio to the CPU time of an empty Node process. Run `npm run build` first.
 *
 *   npm run starts                                # --help and --version
 *   npm run starts -- --database postgres://…     # also status and parcel, in a database with a published region
 */
import './help.ts';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { ROOT } from '../pipelines/config.ts';
import { childEnvironment } from '../test/harness/environment.ts';
import { textTable } from '../pipelines/text-table.ts';

/** Number of runs of each command. The table shows the median. */
const RUNS = 7;

const PROGRAM = join(ROOT, 'dist/pipelines/mappale.mjs');
const USAGE = pathToFileURL(join(ROOT, 'scripts/bench/usage.mjs')).href;

const { values: { database } } = parseArgs({ options: { database: { type: 'string' } } });

interface Ended {
  readonly cpuS: number;
  readonly text: string;
}

function runOnce(words: readonly string[]): Ended {
  const { status, stdout, stderr, output } = spawnSync(process.execPath, ['--import', USAGE, ...words], {
    env: childEnvironment(database === undefined ? {} : { DATABASE_URL: database }), stdio: ['ignore', 'pipe', 'pipe', 'pipe'], encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`expected exit code 0 of ${words.join(' ')}, found ${status}: ${stderr}`);
  const { userCPUTime, systemCPUTime } = JSON.parse(output[3] ?? '') as Record<'userCPUTime' | 'systemCPUTime', number>;
  return { cpuS: (userCPUTime + systemCPUTime) / 1e6, text: stdout };
}

function medianS(words: readonly string[]): number {
  return Array.from({ length: RUNS }, () => runOnce(words).cpuS).sort((a, b) => a - b)[Math.floor(RUNS / 2)] ?? 0;
}

const commands = [['--version'], ['--help']];
if (database !== undefined) {
  const fid = /mappale parcel (\d+)/.exec(runOnce([PROGRAM]).text)?.[1];
  if (fid === undefined) throw new Error('expected a published region in DATABASE_URL, found none');
  commands.push(['status'], ['parcel', fid]);
}
const emptyS = medianS(['-e', '0']);
const rows = commands.map((words): [string, number] => [words.join(' '), medianS([PROGRAM, ...words])]);
const table = [['node -e 0', emptyS] as const, ...rows].map(([name, cpuS]) => [name, cpuS.toFixed(3), (cpuS / emptyS).toFixed(1)]);
process.stdout.write(`${textTable(table, ['command', 'CPU s', 'ratio'])}\n`);
