/**
 * Runs one benchmark, or all benchmarks if no name is given: `npm run bench -- NAME [SIZE…]`. If a comparable program exists, a benchmark measures mappale and
 * this program in turn, in one run, on the same bytes. Quote ratios instead of times, because machines differ. Measurements are appended to `history.jsonl`. To
 * compare two commits, run `npm run bench -- compare COMMIT COMMIT`.
 */
import '../help.ts';
import { readConfig } from '../../pipelines/config.ts';
import { onDatabase } from '../../pipelines/db/index.ts';
import { MappaleError } from '../../pipelines/errors.ts';
import { run as addresses } from './addresses.ts';
import { run as api } from './api.ts';
import { run as cadastre } from './cadastre.ts';
import { describeComparison } from './compare.ts';
import { run as enrich } from './enrich.ts';
import { run as exports } from './export.ts';
import { appendHistory, readHistory } from './history.ts';
import { run as load } from './load.ts';
import { circumstancesOf } from './machine.ts';
import { run as refresh } from './refresh.ts';
import { run as sections } from './sections.ts';
import { compileProgram, say, type Bench } from './shared.ts';
import { run as threshold } from './threshold.ts';
import { run as tiles } from './tiles.ts';
import { run as vector } from './vector.ts';
import { run as year } from './year.ts';

const BENCHES: Readonly<Record<string, Bench>> = {
  load,
  sections,
  cadastre,
  vector,
  addresses,
  refresh,
  threshold,
  year,
  api,
  tiles,
  enrich,
  export: exports,
};

/** @throws MappaleError `BENCH_SIZE` (exit 2) */
function parseSize(text: string): number {
  const size = Number(text);
  if (Number.isInteger(size) && size > 0) return size;
  throw new MappaleError('the size of the benchmark is not a whole number', { code: 'BENCH_SIZE', kind: 'usage', detail: `expected a number such as 200000, found ${text}` });
}

/** @throws MappaleError `BENCH_UNKNOWN`, `DATABASE_URL_MISSING` (exit 2) */
async function measure(name: string | undefined, sizes: readonly number[]): Promise<void> {
  const chosen = name === undefined ? Object.values(BENCHES) : [BENCHES[name]];
  const { databaseUrl } = readConfig();
  if (!databaseUrl.startsWith('postgres')) {
    throw new MappaleError('benchmarks need a PostgreSQL server', {
      code: 'DATABASE_URL_MISSING', kind: 'usage', hint: 'Set DATABASE_URL=postgres://… to a server on which the role may create databases. Benchmarks do not change other databases of the server.',
    });
  }
  const known = chosen.filter((bench) => bench !== undefined);
  if (known.length < chosen.length) {
    throw new MappaleError('unknown benchmark', { code: 'BENCH_UNKNOWN', kind: 'usage', detail: `expected ${Object.keys(BENCHES).join(', ')} or compare, found ${name ?? ''}` });
  }
  compileProgram();
  for (const bench of known) {
    // Reads the commit before the run, because files may change during the run.
    const circumstances = await onDatabase(databaseUrl, 'write', circumstancesOf);
    appendHistory((await bench(databaseUrl, sizes)).map((result) => ({ ...circumstances, ...result })));
  }
}

const [asked, ...args] = process.argv.slice(2);
try {
  if (asked === 'compare') say(describeComparison(readHistory(), args[0] ?? 'last~1', args[1] ?? 'last'));
  else await measure(asked, args.map(parseSize));
} catch (error) {
  if (!(error instanceof MappaleError)) throw error;
  process.stderr.write(`${error.report()}\n`);
  process.exitCode = error.exitCode;
}
