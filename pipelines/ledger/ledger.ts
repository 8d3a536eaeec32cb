/** The ledger of files, runs and publications. All its writes are in this module. */
import type { Figures } from '../db/figures.ts';
import { one, type Database, type Session } from '../db/index.ts';
import { statementsOf } from '../db/statements.ts';
import { EXIT, MappaleError } from '../errors.ts';
import type { Facts } from '../contract/fingerprint.ts';
import { maskTaxCode } from '../mask-tax-code.ts';
import type { Relation } from '../contract/sql-files.ts';
import type { SampledColumn } from '../contract/added-columns.ts';
import type { FilePlaces, LoadedFile } from './current-files.ts';
import type { LocatedFile, SeenFile, SeenFiles } from '../contract/survey.ts';

const ledger = statementsOf('ledger');

type ReleaseState = 'staging' | 'loaded' | 'failed';

export interface Release {
  readonly releaseId: number;
  readonly sourceId: string;
  readonly vintage: string;
  readonly region: number | null;
  readonly fingerprint: string;
  readonly complete: boolean;
  readonly state: ReleaseState;
  readonly records: number | null;
  readonly rows: number | null;
  readonly rejects: number | null;
  readonly duplicates: number | null;
  /** Rows of each layer; null before it is loaded. */
  readonly layers: Readonly<Record<string, number>> | null;
  /** Facts of the reader; null if the file was read before facts were recorded. */
  readonly inputs: Facts | null;
}

export async function releases(database: Session, state?: ReleaseState): Promise<Release[]> {
  return database.query<Release & Record<string, unknown>>(ledger('releases'), [state ?? null]);
}

/** Opens a release before staging, and deletes an unfinished one with the same fingerprint. */
export async function openRelease(
  session: Session,
  facts: { sourceId: string; vintage: string; region: number | null; fingerprint: string; reader: string; inputs: Facts; complete: boolean },
): Promise<number> {
  await session.query(ledger('forget_unfinished'), [facts.fingerprint]);
  const { sourceId, vintage, region, fingerprint, reader, inputs, complete } = facts;
  return (await one<{ id: number }>(session, ledger('add_release'), [sourceId, vintage, region, fingerprint, reader, JSON.stringify(inputs), complete])).id;
}

export async function addFile(session: Session, releaseId: number, file: LocatedFile): Promise<number> {
  const { role, vintage, dated, region, complete, place } = file.recognition;
  return (await one<{ id: number }>(session, ledger('add_file'), [
    releaseId, maskTaxCode(file.path), file.name, role, file.sha256, file.size, vintage, dated ?? null, region, complete, place ?? null,
  ])).id;
}

/** Returns every file of loaded releases, with its places. */
export async function loadedFiles(session: Session): Promise<LoadedFile[]> {
  const files = await session.query<Omit<LoadedFile, 'held'> & Record<string, unknown>>(ledger('loaded_files'));
  const held = new Map<number, FilePlaces[]>();
  for (const { fileId, ...places } of await session.query<FilePlaces & { fileId: number } & Record<string, unknown>>(ledger('places_of_files'))) {
    const mine = held.get(fileId) ?? [];
    mine.push(places);
    held.set(fileId, mine);
  }
  return files.map((file) => ({ ...file, held: held.get(file.fileId) ?? [] }));
}

/** Records the files that this run found in the data folders, and those that left. */
export async function noteFiles(session: Session, runId: number, present: readonly number[], came: readonly number[]): Promise<void> {
  await session.query(ledger('note_absent'), [[...present]]);
  await session.query(ledger('note_present'), [[...came], runId]);
}

/** Records the reason why a release cannot be loaded, and keeps the release's rejects. */
export async function failRelease(session: Session, fingerprint: string, error: MappaleError): Promise<number | null> {
  const [row] = await session.query<{ id: number }>(ledger('fail_release'), [fingerprint, JSON.stringify(error)]);
  return row?.id ?? null;
}

/** A column that a publisher added to a file in use, or a file in use that may be a cut export. */
export interface SchemaWarning {
  readonly code: 'COLUMNS_ADDED' | 'EXPORT_MAY_BE_CUT';
  readonly source: string;
  readonly vintage: string;
  readonly file: string;
  /** Null for `EXPORT_MAY_BE_CUT`, which concerns the whole file. */
  readonly column: string | null;
  /** Shown on this machine only. */
  readonly samples: readonly string[];
  /** Regions with a current publication that uses the file (0: Italy); empty if it is loaded but not published yet. */
  readonly units: readonly number[];
}

export async function addAddedColumns(session: Session, memberId: number, columns: readonly SampledColumn[]): Promise<void> {
  if (columns.length === 0) return;
  await session.query(ledger('add_added_columns'), [memberId, JSON.stringify(columns.map(({ column, samples }, index) => ({ ordinal: index + 1, name: column, samples })))]);
}

/**
 * Returns the added columns and the cut exports among the files that current publications use.
 * @param releases to include even if they are not published
 */
export async function schemaWarnings(session: Session, releases: readonly number[] = []): Promise<SchemaWarning[]> {
  return session.query<SchemaWarning & Record<string, unknown>>(ledger('schema_warnings'), [[...releases]]);
}

/** A warning about one file, with the columns that its publisher added. The warning has no sample values, so that it may be sent to other machines. */
export interface FileWarning extends Pick<SchemaWarning, 'code' | 'source' | 'vintage' | 'file'> {
  /** Empty for `EXPORT_MAY_BE_CUT`. */
  readonly columns: readonly string[];
}

/** Groups warnings by code and file. @param warnings in the order of their files */
export function warningsByFile(warnings: readonly SchemaWarning[]): (FileWarning & { readonly added: readonly SchemaWarning[] })[] {
  const files = new Map<string, SchemaWarning[]>();
  for (const warning of warnings) {
    const key = JSON.stringify([warning.code, warning.source, warning.vintage, warning.file]);
    files.set(key, [...files.get(key) ?? [], warning]);
  }
  return [...files.values()].flatMap((added) => {
    const [first] = added;
    if (first === undefined) return [];
    const { code, source, vintage, file } = first;
    return [{ code, source, vintage, file, columns: added.flatMap(({ column }) => column ?? []), added }];
  });
}

/** Groups warnings by code and file and removes the samples. */
export function withoutSamples(warnings: readonly SchemaWarning[]): FileWarning[] {
  return warningsByFile(warnings).map(({ added: _, ...warning }) => warning);
}

export interface RejectRow {
  readonly memberId: number;
  readonly step: 'stage' | 'load';
  readonly position: number;
  readonly code: string;
  readonly message: string;
  readonly raw: Buffer;
}

export async function addRejects(session: Session, releaseId: number, rejects: readonly RejectRow[]): Promise<void> {
  if (rejects.length === 0) return;
  await session.query(ledger('add_rejects'), [
    releaseId,
    rejects.map(({ memberId }) => memberId),
    rejects.map(({ step }) => step),
    rejects.map(({ position }) => position),
    rejects.map(({ code }) => code),
    rejects.map(({ message }) => message.replaceAll('\0', '\u2400')),
    rejects.map(({ raw }) => raw.toString('hex')),
  ]);
}

/** Returns the quality gate's statistics of the published table; empty if it was published without statistics. */
export async function figuresOf(session: Session, unit: number, relation: Relation): Promise<Figures[]> {
  return session.query<Figures & Record<string, unknown>>(ledger('figures'), [unit, relation]);
}

export async function addFigures(session: Session, relation: Relation, partition: string, figures: readonly Figures[]): Promise<void> {
  await session.query(ledger('add_figures'), [relation, partition, JSON.stringify(figures)]);
}

/** Files of earlier surveys, which are read once and written at the end. */
export class SeenFileLedger implements SeenFiles {
  readonly #known: Map<string, SeenFile>;
  readonly #changed = new Set<string>();
  readonly #recogniser: string;

  private constructor(known: Map<string, SeenFile>, recogniser: string) {
    this.#known = known;
    this.#recogniser = recogniser;
  }

  /** @param recogniser digest of all readers; results with another digest are ignored */
  static async read(database: Session, recogniser: string): Promise<SeenFileLedger> {
    const rows = await database.query<SeenFile & { path: string; recogniser: string } & Record<string, unknown>>(ledger('seen_files'));
    const known = new Map(rows.filter((row) => row.recogniser === recogniser).map(({ path, recogniser: _, ...seen }) => [path, seen]));
    return new SeenFileLedger(known, recogniser);
  }

  get(path: string): SeenFile | undefined {
    return this.#known.get(maskTaxCode(path));
  }

  set(path: string, seen: SeenFile): void {
    this.#known.set(maskTaxCode(path), seen);
    this.#changed.add(maskTaxCode(path));
  }

  async write(database: Session): Promise<void> {
    // Written in a fixed order, so that two commands with the same folders do not deadlock.
    const rows = [...this.#changed].sort().map((path) => ({ path, ...this.#known.get(path) }));
    if (rows.length === 0) return;
    await database.query(ledger('note_seen_files'), [JSON.stringify(rows), this.#recogniser]);
    this.#changed.clear();
  }
}

/** Acceptance of a refused publication: user and reason. */
export interface Acceptance {
  /** `user@host`. */
  readonly who: string;
  readonly why: string;
}

/** A writing run, alone or concurrent with other runs. */
export interface Run {
  readonly runId: number;
  /**
   * @param detailOf returns facts of the result to store with the step
   * @throws MappaleError `LOCK_LOST` (exit 6) if the run lost its lock
   */
  step<T>(step: string, subject: string, work: () => Promise<T>, detailOf?: (result: T) => unknown): Promise<T>;
  /** Returns a known value, or reads it again if other runs may have changed it. */
  current<T>(known: T, again: () => Promise<T>): Promise<T>;
  /** Changes data that all regions are built from (releases, files). Only one run does this at a time, and others wait. */
  shared<T>(work: () => Promise<T>): Promise<T>;
  /** Changes Italy's tables, which regions read. Waits until no other run builds a region. Within `shared`. */
  italy<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Builds a region, which only one run does at a time. After `shared`.
   * @param wait called before waiting for another run that builds the region; null to not wait
   * @returns null if another run builds it
   */
  region<T>(unit: number, work: () => Promise<T>, wait: (() => void) | null): Promise<T | null>;
}

export interface RunOptions<T> {
  /** Returns the exit code of the result, and facts to keep with the run. */
  readonly endingOf?: (result: T) => { readonly exitCode: number; readonly report: unknown };
  /** Lets other runs with this option work at the same time, on any host (PostgreSQL only). */
  readonly concurrent?: boolean;
}

/**
 * Runs a command that writes: takes the writer's lock, opens a run in the ledger, and closes it with the result.
 * @throws MappaleError `ALREADY_RUNNING` (exit 7) that names the other run
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
          return recordStep(database, { runId, step, subject }, inner, detailOf);
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

/** Returns the runs that ended without recording a result. */
export async function deadRuns(session: Session): Promise<Set<number>> {
  return new Set((await session.query<{ id: number }>(ledger('dead_runs'))).map(({ id }) => id));
}

/** Returns the runs without a recorded end: active or killed runs. */
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
    code: 'LOCK_LOST', kind: 'database', detail: 'expected the lock until the end, found that the server closed its connection',
    hint: 'Run the same command again. Published data is unchanged.', cause,
  });
}

/**
 * Locks the run's row in the ledger inside a transaction that writes durable data. The next writer must close this row before it
 * writes, so a run that lost its lock cannot commit during or after another run.
 * @throws MappaleError `LOCK_LOST` (exit 6)
 */
export async function fence(session: Session, runId: number): Promise<void> {
  const rows = await session.query(ledger('hold_run'), [runId]);
  if (rows.length === 0) throw lockLost();
}

type Coordination = Pick<Run, 'current' | 'shared' | 'italy' | 'region'>;

/** Operations of the connection that holds a writer's locks. */
interface Writer extends Coordination {
  /** Opens a run in one transaction; it counts as alive while this connection lives. */
  open(work: (session: Session) => Promise<{ id: number }>): Promise<{ id: number }>;
  /** @throws MappaleError `LOCK_LOST` (exit 6) */
  verify(): Promise<unknown>;
}

/** Coordination without further locks, for a run that is the only writer. */
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

/** Holds the locks of a writer on a separate connection. The server releases them when the process dies. */
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
        verify: () => locks.verify(),
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
    async region(unit, work, wait) {
      const name = `region ${unit}`;
      if (!(await locks.take(name, 'alone'))) {
        if (wait === null) return null;
        wait();
        await locks.wait(name, 'alone');
      }
      return during(name, work);
    },
  };
}

/** Advisory locks of one connection, by name. */
class Locks {
  readonly #session: Session;
  /** Steps that begin at the same moment share one query, because the connection handles one at a time. */
  #asked: Promise<unknown> | undefined;

  constructor(session: Session) {
    this.#session = session;
  }

  /** @returns false if another connection has the lock */
  async take(name: string, how: 'alone' | 'shared'): Promise<boolean> {
    return (await one<{ taken: boolean }>(this.#session, ledger(how === 'shared' ? 'try_share' : 'try_lock'), [`mappale ${name}`])).taken;
  }

  async wait(name: string, how: 'alone' | 'shared'): Promise<void> {
    await this.#session.query(ledger(how === 'shared' ? 'share' : 'lock'), [`mappale ${name}`]);
  }

  async free(name: string): Promise<void> {
    await this.#session.query(ledger('unlock'), [`mappale ${name}`]).catch(() => undefined);
  }

  async freeAll(): Promise<void> {
    await this.#asked?.catch(() => undefined);
    await this.#session.query(ledger('unlock_all')).catch(() => undefined);
  }

  verify(): Promise<unknown> {
    return (this.#asked ??= this.#session.query(ledger('is_alive')).catch((error: unknown) => {
      throw lockLost(error);
    }).finally(() => (this.#asked = undefined)));
  }
}

async function alreadyRunning(session: Session): Promise<MappaleError> {
  const [writer] = await session.query<{ command: string; host: string; pid: number; started_at: Date }>(ledger('writer'));
  return new MappaleError('another run is writing to this database', {
    code: 'ALREADY_RUNNING', kind: 'locked',
    detail: writer === undefined
      ? 'expected no other writer, found one that has not yet recorded its name'
      : `expected no other writer, found ${writer.command} as process ${writer.pid} on ${writer.host}, since ${writer.started_at.toISOString()}`,
    hint: 'Wait until it ends, then run the same command again. Loads of several regions can run at the same time if each has --concurrent.',
  });
}
