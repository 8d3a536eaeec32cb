/** Step 5: queries whose rows are offences. */
import type { Database, Session } from '../db/index.ts';
import { inWorkspace, lookIn } from '../db/catalog.ts';
import { MappaleError } from '../errors.ts';
import type { Log } from '../log.ts';
import { readChecks, readSqlFolder, type Check, type SqlFile } from '../sql-files.ts';
import type { Joined } from './join.ts';

/** State 5: the built tables keep every rule; only such may be published. */
export interface Checked {
  readonly state: 'checked';
  readonly joined: Joined;
}

/**
 * Runs `sql/checks` on what was built: a file's checks run when one of the tables that it reads was made again. Where rows were carried over, files
 * that say so (`-- carries:`) look at the others alone: the rest was looked at when it was made.
 * @throws MappaleError `CHECKS_FAILED` (exit 5)
 */
export async function check(database: Database, joined: Joined, subject: string, log: Log): Promise<Checked> {
  const built = new Set<string>(joined.built.map(({ relation }) => relation));
  const there = new Set<string>(joined.products.map(({ relation }) => relation));
  const files = readSqlFolder('sql/checks').filter((file) => file.reads.some((read) => built.has(read)) && file.reads.every((read) => there.has(read)));
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

export interface Offence extends Check {
  /** How many rows the query returned, at most 1,000 are counted. */
  readonly rows: number;
  readonly samples: readonly Record<string, unknown>[];
}

const COUNTED = 1000;
const SAMPLES = 10;

/** Runs checks in the workspace that is the session's search path. @returns those that found something */
export async function runChecks(session: Session, checks: readonly Check[]): Promise<Offence[]> {
  const offences: Offence[] = [];
  for (const check of checks) {
    await session.query('begin');
    try {
      await session.script(`declare offences no scroll cursor for\n${check.sql}`, check.file);
      const rows = await session.query('fetch 1000 from offences');
      if (rows.length > 0) offences.push({ ...check, rows: Math.min(rows.length, COUNTED), samples: rows.slice(0, SAMPLES) });
    } finally {
      await session.query('rollback');
    }
  }
  return offences;
}

/** @returns the error (exit 5) that names every offence with examples */
export function offencesError(subject: string, offences: readonly Offence[]): MappaleError {
  return new MappaleError(`${subject}: checks failed`, {
    code: 'CHECKS_FAILED', kind: 'checks',
    at: [...new Set(offences.map(({ file }) => file))].join(', '),
    detail: offences.map(({ name, expects, rows, samples }) => `${name}: expected ${expects}, found ${rows}${rows === COUNTED ? ' or more' : ''} rows, e.g. ${JSON.stringify(samples[0])}`).join('\n          '),
    hint: 'Nothing of it is published. Look at the rows named; the queries stand in the files named.',
  });
}
