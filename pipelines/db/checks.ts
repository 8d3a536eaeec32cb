/** Runs check queries in a workspace. Each returned row is a violation. */
import type { Check } from '../contract/sql-files.ts';
import { MappaleError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Session } from './types.ts';

export interface Violation extends Check {
  /** Number of rows that the query returned, at most `COUNTED`. */
  readonly rows: number;
  readonly samples: readonly Record<string, unknown>[];
}

/** Maximum number of rows that a check counts. */
const COUNTED = 1000;
const SAMPLES = 10;

/** Runs checks in the workspace that the session's search path names. @returns the checks that found violations */
export async function runChecks(session: Session, checks: readonly Check[]): Promise<Violation[]> {
  const violations: Violation[] = [];
  for (const check of checks) {
    try {
      await session.script(`begin; declare violations no scroll cursor for\n${check.sql}`, check.file);
      const rows = await session.query(`fetch ${COUNTED} from violations`);
      if (rows.length > 0) violations.push({ ...check, rows: rows.length, samples: rows.slice(0, SAMPLES) });
    } finally {
      await session.query('rollback');
    }
  }
  return violations;
}

/** A violation of level `warn`, as stored in the ledger. */
export type Warning = Pick<Violation, 'name' | 'expects' | 'rows'>;

/** Logs and returns the violations of level `warn`. @throws MappaleError `CHECKS_FAILED` (exit 5) for violations of level `error`, with a sample row of each */
export function refuseViolations(subject: string, violations: readonly Violation[], log: Log): Warning[] {
  const warnings = violations.filter(({ level }) => level === 'warn').map(({ name, expects, rows }) => ({ name, expects, rows }));
  for (const { expects, rows, name } of warnings) log.debug(`${subject}: expected: ${expects}. Violating rows: ${rows}`, { check: name });
  const errors = violations.filter(({ level }) => level === 'error');
  if (errors.length === 0) return warnings;
  throw new MappaleError(`${subject}: checks failed`, {
    code: 'CHECKS_FAILED', kind: 'checks',
    at: [...new Set(errors.map(({ file }) => file))].join(', '),
    detail: errors.map(({ name, expects, rows, samples }) =>
      `${name}: expected ${expects}, found ${rows}${rows === COUNTED ? ' or more' : ''} rows, e.g. ${JSON.stringify(samples[0])}`).join('\n          '),
    hint: 'Nothing was published. Check the listed rows. The queries are in the listed files.',
  });
}
