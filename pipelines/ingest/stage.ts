/** Step 2: publisher's files → staging tables, in one pass and constant memory. */
import { createReadStream } from 'node:fs';
import type { CopyIn, Database } from '../db/index.ts';
import { createSchema, dropSchema, inWorkspace } from '../db/catalog.ts';
import { MappaleError, inputError } from '../errors.ts';
import { RowWriter } from '../formats/copy.ts';
import { fileError } from '../formats/file-error.ts';
import { NO_DATA } from '../readers/no-data.ts';
import { OddText, mayBeDoubled } from '../formats/odd-text.ts';
import type { Columns, InputFile, MemberFacts, MemberSink, Reject, Sink } from '../contract/source.ts';
import { ZipArchive } from '../formats/zip.ts';
import type { Log } from '../log.ts';
import { progressLine } from '../progress.ts';
import type { RegisteredSource } from '../contract/registry.ts';
import { addFile, addRejects, openRelease, type RejectRow } from '../ledger/ledger.ts';
import type { Located, LocatedFile } from '../contract/survey.ts';
import { refuseChanged } from './walk.ts';
import { stagingSchema } from '../db/workspace.ts';

/** Rejects are written in batches of this many. */
const REJECT_BATCH = 500;
/** So few refused records stop no file, whatever their share. */
export const TOLERATED = 10;
/** Reading stops when this many records were refused and they are more than half: the file is not what it seems. */
const HOPELESS = 10_000;

export interface MemberCount {
  readonly memberId: number;
  /** `file.zip!inner.csv` */
  readonly label: string;
  readonly records: number;
  readonly rows: number;
  readonly rejects: number;
  readonly duplicates: number;
}

/** State 2: every record of the release is a staged row, a reject or a duplicate. */
export interface Staged {
  readonly state: 'staged';
  readonly located: Located;
  readonly releaseId: number;
  readonly schema: string;
  readonly members: readonly MemberCount[];
  /** Members whose rows are taken over from an earlier release, by member of this release. */
  readonly reused: readonly { readonly memberId: number; readonly path: string; readonly fromMemberId: number; readonly fromReleaseId: number }[];
}

/** Finds a member of an earlier, loaded release that was read by the same code and has the same bytes. */
export type Reusable = (facts: MemberFacts) => { readonly memberId: number; readonly releaseId: number; readonly readAs: number; readonly records: number; readonly rows: number; readonly rejects: number; readonly duplicates: number } | undefined;

/**
 * @throws MappaleError of the source (kind `input`), `ACCOUNTING` when records were lost, `TOO_MANY_REJECTS`
 */
export async function stage(database: Database, located: Located, fingerprint: string, reusable: Reusable, log: Log): Promise<Staged> {
  const { source } = located;
  const releaseId = await openRelease(database, {
    sourceId: source.id, vintage: located.vintage, region: located.region, fingerprint, reader: source.reader, inputs: source.facts, complete: located.complete,
  });
  const schema = stagingSchema(releaseId);
  await dropSchema(database, schema);
  await createSchema(database, schema);
  await inWorkspace(database, schema, (session) => session.script(source.staging.text, source.staging.file));
  const sink = new StageSink(database, located, releaseId, schema, reusable, log);
  try {
    for (const file of located.files) {
      await sink.openFile(file);
      await readFile(source, file, sink);
    }
    await sink.finish();
  } catch (error) {
    await sink.abort();
    throw error;
  }
  return { state: 'staged', located, releaseId, schema, members: sink.members, reused: sink.reused };
}

/**
 * Reads one file: what was hashed, or nothing.
 * @throws MappaleError of the source; `FILE_CHANGED_WHILE_READ` when it, or a file that belongs to it, is not as it was found; what the system says of it
 */
export async function readFile(source: RegisteredSource, file: LocatedFile, sink: Sink): Promise<void> {
  try {
    await source.read(inputFile(file), sink);
  } catch (error) {
    if (!(error instanceof MappaleError) || error.kind !== 'database') refuseChanged(file.parts, error);
    throw fileError(error, file.name) ?? error;
  }
  refuseChanged(file.parts);
}

/** A file as a reader sees it. */
export function inputFile(file: LocatedFile): InputFile {
  return {
    path: file.path,
    name: file.name,
    role: file.recognition.role,
    vintage: file.recognition.vintage,
    region: file.recognition.region,
    size: file.size,
    open: () => createReadStream(file.path, { highWaterMark: 1_048_576 }),
    zip: () => ZipArchive.open(file.path),
  };
}

class StageSink implements Sink {
  readonly members: MemberCount[] = [];
  readonly reused: { memberId: number; path: string; fromMemberId: number; fromReleaseId: number }[] = [];
  readonly #database: Database;
  readonly #located: Located;
  readonly #releaseId: number;
  readonly #schema: string;
  readonly #reusable: Reusable;
  readonly #log: Log;
  readonly #taken: { fileId: number; label: string; path: string; crc32: number | null; size: number | null; region: number | null; found: NonNullable<ReturnType<Reusable>> }[] = [];
  readonly #writers = new Map<string, RowWriter>();
  readonly #copies = new Map<string, CopyIn>();
  readonly #startedAt = performance.now();
  #pending: Promise<void> | undefined;
  #failure: unknown = null;
  #rejects: RejectRow[] = [];
  #file: { id: number; file: LocatedFile } | null = null;
  /** What the open file's texts are like, by table; tables of shapes have hardly any, and bytes that look like letters. */
  readonly #texts = new Map<string, OddText>();
  #doneBytes = 0;
  #fileBytes = 0;
  #open = false;
  #rows = 0;
  #rejected = 0;

  constructor(database: Database, located: Located, releaseId: number, schema: string, reusable: Reusable, log: Log) {
    this.#database = database;
    this.#located = located;
    this.#releaseId = releaseId;
    this.#schema = schema;
    this.#reusable = reusable;
    this.#log = log;
  }

  async openFile(file: LocatedFile): Promise<void> {
    if (this.#file !== null) this.#doneBytes += this.#file.file.size;
    this.#fileBytes = 0;
    this.#texts.clear();
    this.#file = { id: await addFile(this.#database, this.#releaseId, file), file };
  }

  progress(bytes: number): void {
    this.#fileBytes = Math.max(this.#fileBytes, bytes);
    const total = this.#located.files.reduce((sum, { size }) => sum + size, 0);
    this.#log.progress(progressLine(this.#located.source.id, this.#rows, this.#doneBytes + this.#fileBytes, total, performance.now() - this.#startedAt));
  }

  reusable(facts: MemberFacts): boolean {
    return this.#reusable(facts) !== undefined;
  }

  async reuse(facts: MemberFacts): Promise<boolean> {
    const found = this.#reusable(facts);
    if (found === undefined) return false;
    this.#taken.push({ fileId: this.#file!.id, label: this.#label(facts), path: facts.path, crc32: facts.crc32 ?? null, size: facts.size ?? null, region: facts.region ?? null, found });
    return true;
  }

  async member(facts: MemberFacts): Promise<MemberSink> {
    if (this.#open) throw new Error(`${this.#located.source.id}: a member was opened before the one before was closed`);
    this.#open = true;
    const memberId = await this.#newMember(facts);
    const rowsBefore = this.#rowCount();
    let rejects = 0;
    const duplicates = new Map<string, number>();
    return {
      memberId,
      writer: (table) => this.#writer(table, memberId),
      row: (table, position, values) => this.#writer(table, memberId).row(position, values),
      reject: (reject) => {
        rejects += 1;
        this.#reject(memberId, reject);
      },
      duplicate: (_position, code) => {
        duplicates.set(code, (duplicates.get(code) ?? 0) + 1);
      },
      drain: () => this.#drain(),
      close: async (records) => {
        this.#open = false;
        for (const writer of this.#writers.values()) writer.flush();
        await this.#drain();
        await this.#writeRejects();
        this.#refuseDoubled();
        const count: MemberCount = {
          memberId, label: this.#label(facts), records, rows: this.#rowCount() - rowsBefore, rejects,
          duplicates: [...duplicates.values()].reduce((sum, n) => sum + n, 0),
        };
        this.#rows += count.rows;
        if (count.records !== count.rows + count.rejects + count.duplicates) throw lost(count, 'reading');
        this.members.push(count);
        for (const [code, records_] of duplicates) {
          await this.#database.query('insert into ledger.duplicate (release_id, member_id, code, records) values ($1, $2, $3, $4)', [this.#releaseId, memberId, code, records_]);
        }
        await this.#closeMember(memberId, count);
      },
    };
  }

  async finish(): Promise<void> {
    if (this.#open) throw new Error(`${this.#located.source.id}: the last member was not closed`);
    await this.#writeTaken();
    for (const writer of this.#writers.values()) writer.flush();
    await this.#drain();
    for (const [table, copy] of this.#copies) {
      const taken = await copy.end();
      const sent = this.#writers.get(table)!.rows;
      if (taken !== sent) {
        throw new MappaleError('the database took another number of rows than were sent', {
          code: 'ACCOUNTING', kind: 'bug', at: `${this.#schema}.${table}`, detail: `expected ${sent}, found ${taken}`,
        });
      }
    }
    this.#copies.clear();
    const records = this.members.reduce((sum, member) => sum + member.records, 0);
    refuseRejects(this.#located, records, this.#rejected);
  }

  async abort(): Promise<void> {
    for (const copy of this.#copies.values()) await copy.abort().catch(() => undefined);
    await this.#writeRejects().catch(() => undefined);
  }

  #label(facts: MemberFacts): string {
    const { name } = this.#file!.file;
    return facts.path === '' ? name : `${name}!${facts.path}`;
  }

  #rowCount(): number {
    let rows = 0;
    for (const writer of this.#writers.values()) rows += writer.rows;
    return rows;
  }

  /** Members that are taken over, in one statement: of a thousand comuni all but a few are. */
  async #writeTaken(): Promise<void> {
    if (this.#taken.length === 0) return;
    const written = await this.#database.query<{ fileId: number; path: string; memberId: number }>(
      `insert into ledger.member (release_id, file_id, path, crc32, size, region_code, taken_from, records, rows, rejects, duplicates)
       select $1, file_id, path, crc32, size, region_code, taken_from, records, rows, rejects, duplicates
       from unnest($2::int4[], $3::text[], $4::int8[], $5::int8[], $6::int2[], $7::int4[], $8::int8[], $9::int8[], $10::int8[], $11::int8[])
         as x (file_id, path, crc32, size, region_code, taken_from, records, rows, rejects, duplicates)
       returning file_id as "fileId", path, member_id as "memberId"`,
      [
        this.#releaseId, this.#taken.map(({ fileId }) => fileId), this.#taken.map(({ path }) => path), this.#taken.map(({ crc32 }) => crc32), this.#taken.map(({ size }) => size),
        this.#taken.map(({ region }) => region),
        this.#taken.map(({ found }) => found.readAs), this.#taken.map(({ found }) => found.records), this.#taken.map(({ found }) => found.rows),
        this.#taken.map(({ found }) => found.rejects), this.#taken.map(({ found }) => found.duplicates),
      ],
    );
    const ids = new Map(written.map(({ fileId, path, memberId }) => [`${fileId} ${path}`, memberId]));
    for (const { fileId, path, label, found } of this.#taken) {
      const memberId = ids.get(`${fileId} ${path}`)!;
      this.reused.push({ memberId, path, fromMemberId: found.memberId, fromReleaseId: found.releaseId });
      this.members.push({ memberId, label, records: found.records, rows: found.rows, rejects: found.rejects, duplicates: found.duplicates });
    }
  }

  async #newMember(facts: MemberFacts): Promise<number> {
    const [row] = await this.#database.query<{ id: number }>(
      'insert into ledger.member (release_id, file_id, path, crc32, size, before, after, region_code) values ($1, $2, $3, $4, $5, $6, $7, $8) returning member_id as id',
      [this.#releaseId, this.#file!.id, facts.path, facts.crc32 ?? null, facts.size ?? null, facts.envelope?.before ?? null, facts.envelope?.after ?? null, facts.region ?? null],
    );
    // Copies are opened here, where waiting is possible, and not in the hot loop.
    for (const table of Object.keys(this.#located.source.tables)) {
      if (this.#copies.has(table)) continue;
      const copy = await this.#database.copyIn(this.#schema, table);
      this.#copies.set(table, copy);
      const columns = this.#located.source.tables[table]!;
      const isShapes = Object.values(columns).includes('geometry');
      this.#writers.set(table, new RowWriter(columns, (chunk) => {
        if (!isShapes && mayBeDoubled(chunk)) this.#textsOf(table, columns).addRows(chunk, this.#file?.file.name ?? '');
        this.#write(copy, chunk);
      }));
    }
    return row!.id;
  }

  async #closeMember(memberId: number, count: { records: number; rows: number; rejects: number; duplicates: number }): Promise<void> {
    await this.#database.query(
      'update ledger.member set records = $2, rows = $3, rejects = $4, duplicates = $5 where member_id = $1',
      [memberId, count.records, count.rows, count.rejects, count.duplicates],
    );
  }

  #writer(table: string, memberId: number): RowWriter {
    const writer = this.#writers.get(table);
    if (writer === undefined) throw new Error(`${this.#located.source.id}: unknown staging table ${table}`);
    writer.memberId = memberId;
    return writer;
  }

  #textsOf(table: string, columns: Columns): OddText {
    const texts = this.#texts.get(table) ?? new OddText(columns);
    this.#texts.set(table, texts);
    return texts;
  }

  /** A file whose names are all unreadable would be published as it is. @throws MappaleError `ENCODING_WRONG` */
  #refuseDoubled(): void {
    const doubled = [...this.#texts.values()].find(({ throughout }) => throughout);
    if (doubled === undefined) return;
    throw inputError('text is in another encoding than the publisher uses', {
      code: 'ENCODING_WRONG', at: doubled.examples.map(({ at }) => at).join(', '),
      detail: `expected text, found ${doubled.odd} of ${doubled.seen} texts beyond ASCII that were encoded twice, like ${JSON.stringify(doubled.examples[0]?.text.slice(0, 60))}`,
      hint: 'Use the file as downloaded; a program that saves it again may change its encoding.',
    });
  }

  #write(copy: CopyIn, chunk: Buffer): void {
    if (this.#failure !== null) return;
    try {
      const wait = copy.write(chunk);
      if (wait === undefined) return;
      const before = this.#pending;
      this.#pending = (before === undefined ? wait : Promise.all([before, wait]).then(() => undefined)).catch((error: unknown) => {
        this.#failure ??= error;
      });
    } catch (error) {
      this.#failure = error;
    }
  }

  #drain(): Promise<void> | undefined {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    if (this.#pending === undefined && this.#rejects.length < REJECT_BATCH) return undefined;
    return this.#wait();
  }

  async #wait(): Promise<void> {
    const pending = this.#pending;
    this.#pending = undefined;
    await pending;
    if (this.#failure !== null) throw this.#failure;
    if (this.#rejects.length >= REJECT_BATCH) await this.#writeRejects();
  }

  #reject(memberId: number, reject: Reject): void {
    if (reject.code !== NO_DATA) this.#rejected += 1;
    const raw = typeof reject.raw === 'string' ? Buffer.from(reject.raw, 'utf8') : Buffer.from(reject.raw);
    this.#rejects.push({ memberId, step: 'stage', position: reject.position, code: reject.code, message: reject.message, raw });
    if (this.#rejected >= HOPELESS && this.#rejected > this.#rowCount()) refuseRejects(this.#located, this.#rejected + this.#rowCount(), this.#rejected);
  }

  async #writeRejects(): Promise<void> {
    const rejects = this.#rejects;
    this.#rejects = [];
    await addRejects(this.#database, this.#releaseId, rejects);
  }
}

/** `1.00 %` */
export function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`;
}

/** @throws MappaleError `TOO_MANY_REJECTS` (exit 4) above the manifest's limit, and when nothing is left */
export function refuseRejects(located: Located, records: number, rejects: number): void {
  const limit = located.source.manifest.envelope.rejectShare;
  if (records === 0 || (rejects < records && (rejects / records <= limit || rejects <= TOLERATED))) return;
  throw new MappaleError(`${located.source.id}: too many records were refused`, {
    code: 'TOO_MANY_REJECTS', kind: 'rejects', at: located.files.map(({ name }) => name).join(', '),
    detail: `expected at most ${TOLERATED} of ${records} records or ${percent(limit)} of them, and one that can be used, found ${rejects} (${percent(rejects / records)})`,
    hint: `See why: mappale rejects --source ${located.source.id}`,
  });
}

export function lost(count: MemberCount, when: string): MappaleError {
  return new MappaleError(`records are unaccounted for after ${when}`, {
    code: 'ACCOUNTING', kind: 'bug', at: count.label,
    detail: `expected ${count.records} records = rows + rejects + duplicates, found ${count.rows} + ${count.rejects} + ${count.duplicates} = ${count.rows + count.rejects + count.duplicates}`,
    hint: 'Nothing of this release is used. Please report it with the file.',
  });
}
