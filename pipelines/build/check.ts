/** Step 5: nothing is published of which a check says that it is wrong. */
import type { Database } from '../db/index.ts';
import { inWorkspace, lookIn } from '../db/catalog.ts';
import { refuseViolations, runChecks, type Warning } from '../db/checks.ts';
import type { Log } from '../log.ts';
import { readChecks, readSectionFiles, type SqlFile } from '../contract/sql-files.ts';
import { together } from '../together.ts';
import type { Joined } from './join.ts';

/** What the ledger keeps of a step of checks. */
export interface Checked {
  readonly asked: readonly string[];
  readonly warnings: readonly Warning[];
}

/**
 * Runs the checks of the sections on what was built: a file's checks run when one of the tables that it reads was made again. Where rows were copied,
 * files that say so (`-- incremental:`) look at the others alone: the rest was looked at when it was made.
 * @param parallel files at the same time, where the engine can
 * @returns names of the checks that were asked, and what some of them found that stops nothing
 * @throws MappaleError `CHECKS_FAILED` (exit 5)
 */
export async function check(
  database: Database, { schema, products, built, incremental }: Joined, subject: string, log: Log, parallel: number,
): Promise<Checked> {
  const made = new Set<string>(built.map(({ relation }) => relation));
  const there = new Set<string>(products.map(({ relation }) => relation));
  const files = readSectionFiles('checks').filter(({ reads }) => reads.some((read) => made.has(read)) && reads.every((read) => there.has(read)));
  const ofChanged = ({ incremental: how, reads }: SqlFile): boolean =>
    incremental !== null && how?.by === 'parcels' && reads.every((read) => !made.has(read) || incremental.results.has(read));
  const violations = (await together(Math.min(parallel, database.parallel), files.filter((file) => !ofChanged(file)), (file) =>
    inWorkspace(database, schema, (session) => runChecks(session, readChecks(file))))).flat();
  const changed = files.filter(ofChanged).flatMap(readChecks);
  if (incremental !== null && changed.length > 0) {
    await inWorkspace(database, schema, async (session) => {
      if (!(await incremental.provideChanged(session))) return;
      await lookIn(session, [incremental.schema, schema]);
      violations.push(...(await runChecks(session, changed)));
    });
  }
  return { asked: files.flatMap(readChecks).map(({ name }) => name), warnings: refuseViolations(subject, violations, log) };
}
