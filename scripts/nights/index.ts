/**
 * Simulates nights of an unattended machine: `npm run nights -- --nights 365 --seed 1`. Each night runs `mappale watch --once` in a separate process. The
 * simulated publishers change files, fail, repeat files, and send truncated or wrong content. The option `--database` is the URL of an empty PostgreSQL
 * database. Exits with 1 if a night does not have the expected result or the database grows too much.
 */
import '../help.ts';
import { appendFileSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { describeYear, growthViolations, lineOfNight } from './report.ts';
import { runYear } from './year.ts';

const { values } = parseArgs({ options: {
  nights: { type: 'string', default: '365' }, seed: { type: 'string', default: '1' }, parcels: { type: 'string', default: '900' }, database: { type: 'string' },
  group: { type: 'string' }, out: { type: 'string' }, start: { type: 'string', default: '2026-11-14T02:15:00Z' },
} });

const { database, out } = values;
if (database === undefined) {
  process.stderr.write('npm run nights -- --database postgres://USER@HOST/EMPTY_DATABASE [--nights 365] [--seed 1] [--parcels 900] [--group corruption] [--out FILE.json]\n');
  process.exit(2);
}

const year = await runYear({
  nights: Number(values.nights), seed: Number(values.seed), parcels: Number(values.parcels), start: Date.parse(values.start), group: values.group ?? null,
  databaseUrl: database,
  folder: await mkdtemp(join(tmpdir(), 'mappale-nights-')),
  report: (night) => {
    process.stdout.write(`${lineOfNight(night)}\n`);
    if (out !== undefined) appendFileSync(`${out}.lines`, `${JSON.stringify(night)}\n`);
  },
});
const growth = growthViolations(year);
process.stdout.write(`\n${describeYear(year)}\n${growth.map((line) => `VIOLATION: ${line}\n`).join('')}`);
if (out !== undefined) writeFileSync(out, `${JSON.stringify({ options: values, growth, nights: year }, null, 1)}\n`);
process.exitCode = growth.length > 0 || year.some(({ violations }) => violations.length > 0) ? 1 : 0;
