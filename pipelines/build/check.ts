/** Step 5: nothing is published of which a check says that it is wrong. */
import type { Database } from '../db/index.ts';
import { inWorkspace, lookIn } from '../db/catalog.ts';
import { offencesError, runChecks } from '../db/checks.ts';
import type { Log } from '../log.ts';
import { readChecks, readSectionFiles, type SqlFile } from '../contract/sql-files.ts';
import type { Joined } from './join.ts';

/** State 5: the built tables keep every rule; only such may be published. */
export interface Checked {
  readonly state: 'checked';
  readonly joined: Joined;
}

/**
 * Runs the checks of the sections on what was built: a file's checks run when one of the tables that it reads was made again. Where rows were carried over, files
 * that say so (`-- carries:`) look at the others alone: the rest was looked at when it was made.
 * @throws MappaleError `CHECKS_FAILED` (exit 5)
 */
export async function check(database: Database, joined: Joined, subject: string, log: Log): Promise<Checked> {
  const built = new Set<string>(joined.built.map(({ relation }) => relation));
  const there = new Set<string>(joined.products.map(({ relation }) => relation));
  const files = readSectionFiles('checks').filter((file) => file.reads.some((read) => built.has(read)) && file.reads.every((read) => there.has(read)));
  if (files.length > 0) {
    const { carrying } = joined;
    const isCarried = (file: SqlFile): boolean => carrying !== null && file.carries?.by === 'parcels' && file.reads.every((read) => !built.has(read) || carrying.results.has(read));
    await inWorkspace(database, joined.schema, async (session) => {
      const offences = await runChecks(session, files.filter((file) => !isCarried(file)).flatMap(readChecks));
      if (carrying !== null && files.some(isCarried) && (await carrying.provideChanged(session))) {
        await lookIn(session, [carrying.schema, joined.schema]);
        offences.push(...(await runChecks(session, files.filter(isCarried).flatMap(readChecks))));
      }
      for (const offence of offences) if (offence.level === 'warn') log.warn(`${subject}: ${offence.expects}: ${offence.rows} rows say otherwise`, { check: offence.name });
      const errors = offences.filter(({ level }) => level === 'error');
      if (errors.length > 0) throw offencesError(subject, errors);
    });
  }
  return { state: 'checked', joined };
}
