/** Step 5 of a refresh: runs checks. A build that violates a check of the level `error` is not published. */
import type { Database } from '../db/index.ts';
import { lookIn } from '../db/ddl.ts';
import { inWorkspace } from '../db/layers.ts';
import { refuseViolations, runChecks, type Warning } from '../db/checks.ts';
import type { Log } from '../log.ts';
import { readChecks, readSectionFiles, type SqlFile } from '../contract/sql-files.ts';
import { inParallel } from '../parallel.ts';
import type { Joined } from './join.ts';

/** Result of the checks, as stored in the ledger. */
export interface Checked {
  readonly asked: readonly string[];
  readonly warnings: readonly Warning[];
}

/**
 * Runs the checks of the sections on a build. A file of checks runs only if the region has all tables that the file reads, and at least one of these tables was
 * built. A file with an `-- incremental:` line checks only the changed parcels if all built tables that it reads were patched. All other rows were checked when
 * they were built.
 * @param parallel largest number of files that run at the same time, if the engine allows it
 * @returns names of the checks that ran, and their warnings
 * @throws MappaleError `CHECKS_FAILED` (exit 5)
 */
export async function check(
  database: Database, { schema, products, built, incremental }: Joined, subject: string, log: Log, parallel: number,
): Promise<Checked> {
  const made = new Set<string>(built.map(({ relation }) => relation));
  const there = new Set<string>(products.map(({ relation }) => relation));
  const files = readSectionFiles('checks').filter(({ reads }) => reads.some((read) => made.has(read)) && reads.every((read) => there.has(read)));
  const ofChanged = ({ incremental: how, reads }: SqlFile): boolean =>
    incremental !== null && (how?.by === 'parcels' || how?.by === 'sharing') && reads.every((read) => !made.has(read) || incremental.results.has(read));
  const whole = files.filter((file) => !ofChanged(file));
  await inWorkspace(database, schema, async (session) => {
    // Creates all remaining views, because the headers of check files do not list layers.
    if (files.length > 0) await incremental?.views.provideRest(session);
    await incremental?.provideIndexedParcels(session, whole.flatMap(({ reads }) => reads));
  });
  const violations = (await inParallel(Math.min(parallel, database.parallel), whole, (file) =>
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
