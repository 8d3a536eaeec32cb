/** The ledger: what was read, made and published. Every write of it stands here. */
import type { Figures } from '../db/figures.ts';
import type { Database, Session } from '../db/index.ts';
import { MappaleError } from '../errors.ts';
import type { Facts } from '../contract/fingerprint.ts';
import { maskTaxCode } from '../mask-tax-code.ts';
import type { Relation } from '../contract/sql-files.ts';
import type { FilePlaces, LoadedFile } from './force.ts';
import type { LocatedFile, SeenFile, SeenFiles } from '../contract/survey.ts';

export type ReleaseState = 'staging' | 'loaded' | 'failed';

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
  /** What it was read with; null: read before that was noted. */
  readonly inputs: Facts | null;
}

export async function releases(database: Session, state?: ReleaseState): Promise<Release[]> {
  return database.query<Release & Record<string, unknown>>(
    `select release_id as "releaseId", source_id as "sourceId", vintage, region_code::int4 as region, fingerprint, complete, state,
       records, rows, rejects, duplicates, layers, inputs
     from ledger.release where $1::text is null or state = $1 order by release_id`, [state ?? null],
  );
}

/** A release about to be staged; an unfinished one with the same fingerprint is thrown away first. */
export async function openRelease(
  session: Session,
  facts: { sourceId: string; vintage: string; region: number | null; fingerprint: string; reader: string; inputs: Facts; complete: boolean },
): Promise<number> {
  await session.query("delete from ledger.release where fingerprint = $1 and state <> 'loaded'", [facts.fingerprint]);
  const [row] = await session.query<{ id: number }>(
    `insert into ledger.release (source_id, vintage, region_code, fingerprint, reader, inputs, complete, state)
     values ($1, $2, $3, $4, $5, $6, $7, 'staging') returning release_id as id`,
    [facts.sourceId, facts.vintage, facts.region, facts.fingerprint, facts.reader, JSON.stringify(facts.inputs), facts.complete],
  );
  return row!.id;
}

export async function addFile(session: Session, releaseId: number, file: LocatedFile): Promise<number> {
  const { role, vintage, dated, region, complete, place } = file.recognition;
  const [row] = await session.query<{ id: number }>(
    `insert into ledger.file (release_id, path, name, role, sha256, size, vintage, dated, region_code, complete, place)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning file_id as id`,
    [releaseId, maskTaxCode(file.path), file.name, role, file.sha256, file.size, vintage, dated ?? null, region, complete, place ?? null],
  );
  return row!.id;
}

/** Every file of a loaded release, and what it speaks of. */
export async function loadedFiles(session: Session): Promise<LoadedFile[]> {
  const files = await session.query<Omit<LoadedFile, 'held'> & Record<string, unknown>>(
    `select f.file_id as "fileId", f.release_id as "releaseId", r.source_id as "sourceId", f.role, f.vintage, f.dated, f.region_code::int4 as region, f.complete, f.place,
       f.assigned_region_code::int4 as assigned, f.name, f.sha256, r.reader, f.present, coalesce(f.arrived_run, 0) as arrived, f.forgotten_at is not null as forgotten
     from ledger.file f join ledger.release r using (release_id) where r.state = 'loaded' order by f.file_id`,
  );
  const held = new Map<number, FilePlaces[]>();
  for (const { fileId, ...places } of await session.query<FilePlaces & { fileId: number } & Record<string, unknown>>(
    `select p.file_id as "fileId", p.layer, p.series, p.region_code::int4 as region, p.likely_region_code::int4 as "likelyRegion", p.dated, p.named, p.places
     from ledger.file_place p join ledger.file f using (file_id) join ledger.release r using (release_id) where r.state = 'loaded' order by p.file_id, p.layer, p.series, p.dated, p.places`,
  )) {
    const mine = held.get(fileId) ?? [];
    mine.push(places);
    held.set(fileId, mine);
  }
  return files.map((file) => ({ ...file, held: held.get(file.fileId) ?? [] }));
}

/** Notes which files this run found in the data folders: those that came, and those that left. */
export async function noteFiles(session: Session, runId: number, present: readonly number[], came: readonly number[]): Promise<void> {
  await session.query('update ledger.file set present = false where present and not file_id = any ($1::int4[])', [[...present]]);
  await session.query('update ledger.file set present = true, arrived_run = $2 where file_id = any ($1::int4[])', [[...came], runId]);
}

/** A release that cannot be loaded, and why; its rejects stay, for people to look at. */
export async function failRelease(session: Session, fingerprint: string, error: MappaleError): Promise<number | null> {
  const [row] = await session.query<{ id: number }>(
    "update ledger.release set state = 'failed', failure = $2 where state = 'staging' and fingerprint = $1 returning release_id as id", [fingerprint, JSON.stringify(error)],
  );
  return row?.id ?? null;
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
  await session.query(
    `insert into ledger.reject (release_id, member_id, step, position, code, message, raw)
     select $1, m, s, p, c, t, decode(r, 'hex')
     from unnest($2::int4[], $3::text[], $4::int8[], $5::text[], $6::text[], $7::text[]) as x (m, s, p, c, t, r)`,
    [
      releaseId,
      rejects.map(({ memberId }) => memberId),
      rejects.map(({ step }) => step),
      rejects.map(({ position }) => position),
      rejects.map(({ code }) => code),
      rejects.map(({ message }) => message.replaceAll('\0', '\u2400')),
      rejects.map(({ raw }) => raw.toString('hex')),
    ],
  );
}

/** What the quality gate measured of the table in force; none when it was published before it measured. */
export async function figuresOf(session: Session, unit: number, relation: Relation): Promise<Figures[]> {
  return session.query<Figures & Record<string, unknown>>(
    `select f.slice, f.province, f.comune, f.rows, f.fields, f.identities
     from ledger.figure f join ledger.publication_table t using (relation, partition) join ledger.publication p using (publication_id)
     where p.unit_code = $1 and p.state = 'current' and relation = $2 order by f.slice, f.province, f.comune`, [unit, relation],
  );
}

export async function addFigures(session: Session, relation: Relation, partition: string, figures: readonly Figures[]): Promise<void> {
  await session.query(
    `insert into ledger.figure (relation, partition, slice, province, comune, rows, fields, identities)
     select $1, $2, f.slice, f.province, f.comune, f.rows, f.fields, f.identities
     from jsonb_to_recordset($3::jsonb) as f (slice text, province text, comune text, rows int8, fields jsonb, identities jsonb)`,
    [relation, partition, JSON.stringify(figures)],
  );
}

/** Files seen before, read once and written back at the end. */
export class SeenFileLedger implements SeenFiles {
  readonly #known: Map<string, SeenFile>;
  readonly #changed = new Set<string>();
  readonly #recogniser: string;

  private constructor(known: Map<string, SeenFile>, recogniser: string) {
    this.#known = known;
    this.#recogniser = recogniser;
  }

  /** @param recogniser digest of all readers: what another version saw is not believed, except the files' hashes */
  static async read(database: Session, recogniser: string): Promise<SeenFileLedger> {
    const rows = await database.query<{ path: string; size: number; modified_ms: number; changed_us: number | null; sha256: string | null; recogniser: string; recognition: SeenFile['recognition'] }>(
      'select path, size, modified_ms, changed_us, sha256, recogniser, recognition from ledger.seen_file',
    );
    const known = new Map(rows.filter((row) => row.recogniser === recogniser).map((row) => [
      row.path, { size: row.size, modifiedMs: row.modified_ms, changedUs: row.changed_us, sha256: row.sha256, recognition: row.recognition },
    ]));
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
    // In one order: two commands that look at the same folders do not wait for each other in a ring.
    const rows = [...this.#changed].sort().map((path) => ({ path, ...this.#known.get(path)! }));
    if (rows.length === 0) return;
    await database.query(
      `insert into ledger.seen_file (path, size, modified_ms, changed_us, sha256, recogniser, recognition)
       select r->>'path', (r->>'size')::int8, (r->>'modifiedMs')::int8, (r->>'changedUs')::int8, r->>'sha256', $2, nullif(r->'recognition', 'null'::jsonb)
       from jsonb_array_elements($1::jsonb) as x (r)
       on conflict (path) do update set size = excluded.size, modified_ms = excluded.modified_ms, changed_us = excluded.changed_us, sha256 = excluded.sha256,
         recogniser = excluded.recogniser, recognition = excluded.recognition`,
      [JSON.stringify(rows), this.#recogniser],
    );
    this.#changed.clear();
  }
}

/** Who accepts what is refused, and why. */
export interface Acceptance {
  /** `user@host`. */
  readonly who: string;
  readonly why: string;
}

/** One command that writes; holds the only writer's place while it lives. */
export interface Run {
  readonly runId: number;
  /** @throws MappaleError `LOCK_LOST` (exit 6) when the run no longer is the one writer */
  step<T>(step: string, subject: string, work: () => Promise<T>): Promise<T>;
}

/**
 * Runs a command that writes: takes the one writer's lock, opens the ledger's run, closes it with its outcome.
 * @throws MappaleError `ALREADY_RUNNING` (exit 7), naming the holder
 */
export async function withRun<T>(
  database: Database,
  facts: { command: string; arguments: unknown; version: string; host: string },
  work: (run: Run) => Promise<T>,
): Promise<T> {
  const lock = await takeWriterLock(database);
  try {
    await database.query("update ledger.run set ended_at = now(), outcome = 'interrupted' where ended_at is null");
    const [row] = await database.query<{ id: number }>(
      'insert into ledger.run (command, arguments, version, host, pid) values ($1, $2, $3, $4, $5) returning run_id as id',
      [facts.command, JSON.stringify(facts.arguments), facts.version, facts.host, process.pid],
    );
    const runId = row!.id;
    const finish = (outcome: string, exitCode: number, report: unknown): Promise<unknown> => database.query(
      'update ledger.run set ended_at = now(), outcome = $2, exit_code = $3, report = $4 where run_id = $1',
      [runId, outcome, exitCode, JSON.stringify(report)],
    );
    try {
      const result = await work({
        runId,
        step: async (step, subject, inner) => {
          await lock.verify();
          return recordStep(database, runId, step, subject, inner);
        },
      });
      await finish('done', 0, null);
      return result;
    } catch (error) {
      const known = error instanceof MappaleError ? error : null;
      await finish('failed', known?.exitCode ?? 1, known ?? { message: String(error) }).catch(() => undefined);
      throw error;
    }
  } finally {
    await lock.release();
  }
}

/** Runs that never said how they ended: they work now, or were killed. */
export async function openRuns(session: Session): Promise<number[]> {
  const rows = await session.query<{ id: number }>('select run_id as id from ledger.run where ended_at is null');
  return rows.map(({ id }) => id);
}

async function recordStep<T>(database: Database, runId: number, step: string, subject: string, work: () => Promise<T>): Promise<T> {
  const [row] = await database.query<{ id: number }>(
    'insert into ledger.step (run_id, step, subject) values ($1, $2, $3) returning step_id as id', [runId, step, subject],
  );
  const result = await work();
  await database.query('update ledger.step set ended_at = now() where step_id = $1', [row!.id]);
  await database.checkpoint();
  return result;
}

function lockLost(cause?: unknown): MappaleError {
  return new MappaleError('this run is no longer the only writer', {
    code: 'LOCK_LOST', kind: 'database', detail: 'expected to hold the writer\'s lock to the end, found that the server closed the connection that held it',
    hint: 'Run the same command again: what is published is whole.', cause,
  });
}

/**
 * Inside a transaction that makes something durable: holds the run's line in the ledger, which the next writer must close before it
 * writes. A run that lost its lock can therefore never commit beside, or after, another.
 * @throws MappaleError `LOCK_LOST` (exit 6)
 */
export async function fence(session: Session, runId: number): Promise<void> {
  const rows = await session.query('select from ledger.run where run_id = $1 and ended_at is null for share', [runId]);
  if (rows.length === 0) throw lockLost();
}

interface WriterLock {
  /** @throws MappaleError `LOCK_LOST` (exit 6) */
  verify(): Promise<void>;
  release(): Promise<void>;
}

/** Held on a connection of its own until released: the server frees it when the process dies. */
async function takeWriterLock(database: Database): Promise<WriterLock> {
  if (database.engine === 'pglite') return { verify: async () => undefined, release: async () => undefined };
  let release = (): void => undefined;
  let verify = async (): Promise<unknown> => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let holding: Promise<void> = Promise.resolve();
  await new Promise<void>((resolve, reject) => {
    holding = database.session(async (session) => {
      const [taken] = await session.query<{ taken: boolean }>("select pg_try_advisory_lock(hashtextextended('mappale writer', 0)) as taken");
      if (taken?.taken !== true) {
        const [holder] = await session.query<{ command: string; host: string; pid: number; started_at: Date }>(
          'select command, host, pid, started_at from ledger.run where ended_at is null order by run_id desc limit 1',
        );
        throw new MappaleError('another run is writing to this database', {
          code: 'ALREADY_RUNNING', kind: 'locked',
          detail: holder === undefined ? 'expected no other writer, found one that has not yet written its name'
            : `expected no other writer, found ${holder.command} as process ${holder.pid} on ${holder.host}, since ${holder.started_at.toISOString()}`,
          hint: 'Wait until it ends, then run the same command again.',
        });
      }
      verify = () => session.query('select 1');
      resolve();
      await released;
      await session.query("select pg_advisory_unlock(hashtextextended('mappale writer', 0))");
    });
    holding.catch(reject);
  });
  return {
    verify: async () => {
      await verify().catch((error: unknown) => {
        throw lockLost(error);
      });
    },
    release: async () => {
      release();
      await holding.catch(() => undefined);
    },
  };
}
