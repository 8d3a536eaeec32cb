/** Tests the memory of a command that only reads the embedded database. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { describeEngines } from '../harness/database.ts';
import { childEnvironment } from '../harness/environment.ts';
import { migratedDatabase } from '../harness/fresh-context.ts';
import { PROGRAM } from '../harness/program.ts';

const MOST_KB = 500_000;
/** Module that prints the peak memory of the process, in kB, on standard error at exit. */
const REPORT = "data:text/javascript,process.on('exit', () => process.stderr.write(`memory ${process.resourceUsage().maxRSS}`))";

describeEngines('a command that only reads the embedded database', (engine) => {
  it('uses less than 500 MB of memory', async () => {
    const env = childEnvironment({ DATABASE_URL: await migratedDatabase(engine) });
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--import', REPORT, PROGRAM, 'status'], { env });
    expect(stdout).toMatch(/^database: pglite:/);
    expect(Number(/memory (\d+)$/.exec(stderr)?.[1])).toBeLessThan(MOST_KB);
  });
}, ['pglite']);
