/** Records each run of a writing command in the ledger, with its steps and result. Takes the locks of the run. */
import { one, type Database, type Session } from '../db/index.ts';
import { Locks } from '../db/locks.ts';
import { statementsOf } from '../db/statements.ts';
import { EXIT, MappaleError } from '../errors.ts';

const ledger = statementsOf('ledger');

/** A run of a command that writes. Other runs may write at the same time. */
export interface Run {
  readonly runId: number;
  /**
   * Runs a step and records the step in the ledger. @param detailOf returns the facts of the result to store with the step
   * @throws MappaleError `LOCK_LOST` (exit 6) if the run no longer holds the lock
   */
  step<T>(step: string, subject: string, work: () => Promise<T>, detailOf?: (result: T) => unknown): Promise<T>;
  /** Returns a known value, or reads the value again if other runs may have changed the value. */
  current<T>(known: T, again: () => Promise<T>): Promise<T>;
  /**
   * Runs work that changes releases or files, from which all regions are built. Waits while another run does such work. After the work, no other run can change
   * Italy's tables until this run ends.
   */
  shared<T>(work: () => Promise<T>): Promise<T>;
  /** Runs work that changes Italy's tables, which builds of regions read. Waits until no other run builds a region. Call within `shared`. */
  italy<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Runs work that builds a region. Only one run may build the same region at a time. Call after `shared`. @param wait called before waiting for another run
   * that builds the region; null if the call must not wait @returns null if another run builds the region and `wait` is null
   */
  region<T>(region: number, work: () => Promise<T>, wait: (() => void) | null): Promise<T | null>;
}

export interface RunOptions<T> {
  /** Returns the exit code of the run, and the facts to store with the run. */
  readonly endingOf?: (result: T) => { readonly exitCode: number; readonly report: unknown };
  /** True if the command may run at the same time as other commands with this option, on any host (PostgreSQL only). */
  readonly concurrent?: boolean;
}

/**
 * Runs a command that writes: takes the writer's lock, opens a run in the ledger, and closes the run with the result.
 * @throws MappaleError `ALREADY_RUNNING` (exit 7) with the other run
 */
export async function withRun<T>(
  database: Database,
  facts: { command: string; arguments: unknown; version: string; host: string },
  work: (run: Run) => Promise<T>,
  { endingOf = () => ({ exitCode: EXIT.done, report: null }), concurrent = false }: RunOptions<T> = {},
): Promise<T> {
  const withLocks = concurrent ? asOneOfWriters : asOnlyWriter;
  return withLocks(database, async (writer) => {
    const { command, version, host } = facts;
    const { id: runId } = await writer.open(async (session) => {
      await session.query(ledger('close_dead_runs'));
      return one<{ id: number }>(session, ledger('add_run'), [command, JSON.stringify(facts.arguments), version, host, process.pid]);
    });
    const finish = (outcome: string, exitCode: number, report: unknown): Promise<unknown> =>
      database.query(ledger('end_run'), [runId, outcome, exitCode, JSON.stringify(report)]);
    try {
      const result = await work({
        runId,
        step: async (step, subject, inner, detailOf) => {
          await writer.verify();
          try {
            return await recordStep(database, { runId, step, subject }, inner, detailOf);
          } catch (error) {
            // If this run has lost its lock, the next run may have dropped the tables of this run. The error may be a consequence of the lost lock.
            if (!(error instanceof MappaleError && error.kind === 'database')) await writer.verify();
            throw error;
          }
        },
        current: writer.current, shared: writer.shared, italy: writer.italy, region: writer.region,
      });
      const { exitCode, report } = endingOf(result);
      await finish('done', exitCode, report);
      return result;
    } catch (error) {
      const known = error instanceof MappaleError ? error : null;
      await finish('failed', known?.exitCode ?? 1, known ?? { message: String(error) }).catch(() => undefined);
      throw error;
    }
  });
}

/** Returns the ids of the runs that ended without recording a result. */
export async function deadRuns(session: Session): Promise<Set<number>> {
  return new Set((await session.query<{ id: number }>(ledger('dead_runs'))).map(({ id }) => id));
}

/** Returns the ids of the runs without a recorded end: active or killed runs. */
export async function openRuns(session: Session): Promise<number[]> {
  const rows = await session.query<{ id: number }>(ledger('open_runs'));
  return rows.map(({ id }) => id);
}

async function recordStep<T>(
  database: Database, { runId, step, subject }: { readonly runId: number; readonly step: string; readonly subject: string },
  work: () => Promise<T>, detailOf?: (result: T) => unknown,
): Promise<T> {
  const { id } = await one<{ id: number }>(database, ledger('add_step'), [runId, step, subject]);
  const result = await work();
  await database.query(ledger('end_step'), [id, detailOf === undefined ? null : JSON.stringify(detailOf(result))]);
  await database.checkpoint();
  return result;
}

function lockLost(cause?: unknown): MappaleError {
  return new MappaleError('this run lost its lock', {
    code: 'LOCK_LOST', kind: 'database', detail: 'expected the lock until the end of the run, found that the server had closed the connection with the lock',
    hint: 'Run the same command again. Published data is unchanged.', cause,
  });
}

/**
 * Locks the run's row in the ledger inside a transaction that writes durable data. Before the next run writes, that run must close this row. Therefore a run
 * without the lock cannot commit during or after another run.
 * @throws MappaleError `LOCK_LOST` (exit 6)
 */
export async function fence(session: Session, runId: number): Promise<void> {
  const rows = await session.query(ledger('hold_run'), [runId]);
  if (rows.length === 0) throw lockLost();
}

type Coordination = Pick<Run, 'current' | 'shared' | 'italy' | 'region'>;

/** Operations on the connection that holds the locks of a writing run. */
interface Writer extends Coordination {
  /** Opens a run in one transaction. The run counts as active while this connection is open. */
  open(work: (session: Session) => Promise<{ id: number }>): Promise<{ id: number }>;
  /** @throws MappaleError `LOCK_LOST` (exit 6) */
  verify(): Promise<unknown>;
}

/** Coordination of a run that writes alone and needs no further locks. */
const ALONE: Coordination = { current: async (known) => known, shared: (work) => work(), italy: (work) => work(), region: (_unit, work) => work() };

function asOnlyWriter<T>(database: Database, work: (writer: Writer) => Promise<T>): Promise<T> {
  return asWriter(database, { lock: 'alone', coordinate: () => ALONE }, work);
}

function asOneOfWriters<T>(database: Database, work: (writer: Writer) => Promise<T>): Promise<T> {
  return asWriter(database, { lock: 'shared', coordinate: concurrentLocks }, work);
}

interface WriterOptions {
  readonly lock: 'alone' | 'shared';
  readonly coordinate: (locks: Locks) => Coordination;
}

/** Takes the locks of a run on a separate connection. The server releases the locks even if the process is killed. */
async function asWriter<T>(database: Database, { lock, coordinate }: WriterOptions, work: (writer: Writer) => Promise<T>): Promise<T> {
  if (database.engine === 'pglite') return work({ ...ALONE, open: (inner) => database.session(inner), verify: async () => undefined });
  return database.session(async (session) => {
    const locks = new Locks(session);
    if (!(await locks.take('writer', lock))) throw await alreadyRunning(session);
    try {
      return await work({
        ...coordinate(locks),
        open: (inner) => session.transaction(async () => {
          const run = await inner(session);
          await session.query(ledger('live'), [run.id]);
          return run;
        }),
        verify: () => locks.verify().catch((error: unknown) => {
          throw lockLost(error);
        }),
      });
    } finally {
      await locks.freeAll();
    }
  });
}

function concurrentLocks(locks: Locks): Coordination {
  const during = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } finally {
      await locks.free(name);
    }
  };
  return {
    current: (_known, again) => again(),
    async shared(work) {
      await locks.wait('shared', 'alone');
      return during('shared', async () => {
        const result = await work();
        // Prevents other runs from changing Italy's tables until this run ends.
        await locks.wait('italy', 'shared');
        return result;
      });
    },
    async italy(work) {
      await locks.wait('italy', 'alone');
      return during('italy', work);
    },
    async region(region, work, wait) {
      const name = `region ${region}`;
      if (!(await locks.take(name, 'alone'))) {
        if (wait === null) return null;
        wait();
        await locks.wait(name, 'alone');
      }
      return during(name, work);
    },
  };
}

async function alreadyRunning(session: Session): Promise<MappaleError> {
  const [writer] = await session.query<{ command: string; host: string; pid: number; started_at: Date }>(ledger('writer'));
  return new MappaleError('another run is writing to this database', {
    code: 'ALREADY_RUNNING', kind: 'locked',
    detail: writer === undefined
      ? 'expected no other run that writes, found a run that has not yet recorded its name'
      : `expected no other run that writes, found ${writer.command} as process ${writer.pid} on ${writer.host}, since ${writer.started_at.toISOString()}`,
    hint: 'Wait until the other run ends, then run the same command again. Loads of several regions can run at the same time if each has --concurrent.',
  });
}
