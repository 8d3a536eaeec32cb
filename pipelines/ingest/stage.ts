/** Step 2 of a refresh: reads the publisher's files into staging tables, in one pass and with constant memory. */
import { createReadStream } from 'node:fs';
import { one, type CopyIn, type Database } from '../db/index.ts';
import { createSchema, dropSchema } from '../db/ddl.ts';
import { inWorkspace } from '../db/layers.ts';
import { MappaleError, inputError } from '../errors.ts';
import { RowWriter, typesOf } from '../formats/copy.ts';
import { fileError } from '../formats/file-error.ts';
import { NO_DATA } from '../readers/no-data.ts';
import { MalformedText, mayBeDoubled } from '../formats/malformed-text.ts';
import type { Columns, InputFile, MemberFacts, MemberSink, Sink } from '../contract/source.ts';
import { ZipArchive } from '../formats/zip.ts';
import type { Log } from '../log.ts';
import { progressLine } from '../progress.ts';
import type { RegisteredSource } from '../contract/registry.ts';
import { addAddedColumns, addFile, addRejects, openRelease, type RejectRow } from '../ledger/ledger.ts';
import { AddedColumns } from '../contract/added-columns.ts';
import type { Located, LocatedFile } from '../contract/survey.ts';
import { whyCut, type ReadMember } from '../readers/cut-export.ts';
import { withDownload } from './download-again.ts';
import { refuseChanged } from './walk.ts';
import { statementsOf } from '../db/statements.ts';
import { stagingSchema } from '../db/workspace.ts';
import { tableOf } from '../contract/sql-files.ts';

const statement = statementsOf('ingest');

/**
 * Maximum number of earlier releases to whose rows a new release refers. The new release copies the rows of all other earlier releases, which have the fewest
 * reused rows. The limit bounds the number of partitions. With this limit, a nightly update copies at most one ninth of a region.
 */
const REFERRED_RELEASES = 8;

/** Number of rejects that one insert writes. */
const REJECT_BATCH = 500;
/** Number of rejects that a release may have even if the share of rejects is above the limit. */
export const TOLERATED = 10;
/** Number of rejects at which reading may end early. From this number on, reading ends if more than half of the records are rejects. */
const HOPELESS = 10_000;

/** Numbers of records, accepted rows, rejects and duplicates of a member or release. */
export interface Counts {
  readonly records: number;
  readonly rows: number;
  readonly rejects: number;
  readonly duplicates: number;
}

/** A staged release. Every record is a staged row, a reject or a duplicate. */
export interface Staged {
  readonly located: Located;
  readonly releaseId: number;
  readonly schema: string;
  /** Members whose rows are already in the database. */
  readonly reused: readonly ReusedMember[];
}

/** A member that has the same bytes as a member of an earlier release. The release reuses the rows of the earlier member. */
interface ReusedMember {
  /** Id of the member in the ledger. */
  readonly memberId: number;
  readonly path: string;
  /** Member to which the provenance of the rows refers, and release whose partitions contain the rows. */
  readonly fromMemberId: number;
  readonly fromReleaseId: number;
  /** `referred` if the new release refers to the rows of the earlier release; `copied` if the new release copies these rows. */
  readonly rows: 'referred' | 'copied';
}

/** A member of an earlier loaded release, with the same bytes and read with the same version of the source. */
export interface EarlierMember extends MemberFacts, Counts {
  /** Member to which the provenance of the rows refers. */
  readonly memberId: number;
  /** Release whose partitions contain the rows. */
  readonly releaseId: number;
  /** The member that was read from a file. Differs from `memberId` if the rows of `memberId` were copied from an earlier release. */
  readonly readAs: number;
}

/** Returns an earlier member with the same bytes, or undefined. */
export type Reusable = (facts: MemberFacts) => EarlierMember | undefined;

/**
 * Stages the files of a release. @throws MappaleError of the source (kind `input`), `ACCOUNTING` if records were lost, `TOO_MANY_REJECTS`
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
  const sink = new StageSink({ database, located, releaseId, schema, reusable, log });
  try {
    for (const file of located.files) {
      await sink.openFile(file);
      await readFile(source, file, sink).catch((error: unknown) => {
        throw error instanceof MappaleError ? error.knowing({ files: [file] }) : error;
      });
      await sink.closeFile(file);
    }
    return { located, releaseId, schema, reused: await sink.finish() };
  } catch (error) {
    await sink.abort();
    throw error;
  }
}

/**
 * Reads one file, and verifies that the file has not changed since the survey.
 * @throws MappaleError of the source; `FILE_CHANGED_WHILE_READ` if the file or one of its sidecars changed; system errors
 */
export async function readFile(source: RegisteredSource, file: LocatedFile, sink: Sink): Promise<void> {
  try {
    await source.read(inputFile(file), sink);
  } catch (error) {
    if (!(error instanceof MappaleError) || error.kind !== 'database') refuseChanged(file.parts, error);
    const known = fileError(error, file.name);
    throw known === null ? error : withDownload(known, source.id);
  }
  refuseChanged(file.parts);
}

/** Converts a located file to the input of a reader. */
export function inputFile({ path, name, size, recognition: { role, vintage, region } }: Pick<LocatedFile, 'path' | 'name' | 'size' | 'recognition'>): InputFile {
  return { path, name, role, vintage, region, size, open: () => createReadStream(path, { highWaterMark: 1_048_576 }), zip: () => ZipArchive.open(path) };
}

/** Returns the name of a member in messages, such as `file.zip!inner.csv`. */
export function labelOf(name: string, path: string): string {
  return path === '' ? name : `${name}!${path}`;
}

/** A staging table that is being filled. */
interface OpenTable {
  readonly writer: RowWriter;
  readonly copy: CopyIn;
  readonly columns: Columns;
  /** Encoding statistics of the open file's texts. Null for tables with geometries, because bytes of geometries can look like letters. */
  texts: MalformedText | null;
}

function textsOf(columns: Columns): MalformedText | null {
  return typesOf(columns).includes('geometry') ? null : new MalformedText(columns);
}

interface Staging {
  readonly database: Database;
  readonly located: Located;
  readonly releaseId: number;
  readonly schema: string;
  readonly reusable: Reusable;
  readonly log: Log;
}

class StageSink implements Sink {
  readonly #given: Staging;
  readonly #taken: { readonly fileId: number; readonly facts: MemberFacts; readonly from: EarlierMember }[] = [];
  readonly #tables = new Map<string, OpenTable>();
  readonly #startedAt = performance.now();
  /** Writes that the database has not yet confirmed. */
  readonly #pending: Promise<void>[] = [];
  #failure: { readonly error: unknown } | null = null;
  readonly #rejects: RejectRow[] = [];
  #fileId = 0;
  #fileName = '';
  /** Members read so far from the open file. */
  #members: ReadMember[] = [];
  /** Sizes in bytes: all files before the open file, all files up to and including the open file, and the part read from the open file. */
  #bytesBefore = 0;
  #bytesWith = 0;
  #bytesRead = 0;
  #open = false;
  #records = 0;
  #rejected = 0;

  constructor(given: Staging) {
    this.#given = given;
  }

  async openFile(file: LocatedFile): Promise<void> {
    this.#bytesBefore = this.#bytesWith;
    this.#bytesWith += file.size;
    this.#bytesRead = 0;
    for (const table of this.#tables.values()) table.texts = textsOf(table.columns);
    this.#fileId = await addFile(this.#given.database, this.#given.releaseId, file);
    this.#fileName = file.name;
    this.#members = [];
  }

  /** Closes a file. If the file may be an incomplete export, marks the file in the ledger and prints a warning. */
  async closeFile(file: LocatedFile): Promise<void> {
    const why = await whyCut(file, this.#members);
    if (why === null) return;
    await this.#given.database.query(statement('note_cut_export'), [this.#fileId]);
    this.#given.log.warn(`${file.name}: the export of a service may be incomplete. The file supersedes no other file [EXPORT_MAY_BE_CUT]: ${why}`);
  }

  progress(bytes: number): void {
    this.#bytesRead = Math.max(this.#bytesRead, bytes);
    const { source, files } = this.#given.located;
    const total = files.reduce((sum, { size }) => sum + size, 0);
    this.#given.log.progress(progressLine(source.id, this.#rows(), this.#bytesBefore + this.#bytesRead, total, performance.now() - this.#startedAt));
  }

  reusable(facts: MemberFacts): boolean {
    return this.#given.reusable(facts) !== undefined;
  }

  async reuse(facts: MemberFacts): Promise<boolean> {
    const from = this.#given.reusable(facts);
    if (from !== undefined) {
      this.#taken.push({ fileId: this.#fileId, facts, from });
      this.#members.push({ path: facts.path, records: from.records });
    }
    return from !== undefined;
  }

  aside(path: string, reason: string): void {
    this.#given.log.debug(`${labelOf(this.#fileName, path)} is known, but mappale does not read it: ${reason}`);
  }

  async member(facts: MemberFacts): Promise<MemberSink> {
    const { source } = this.#given.located;
    if (this.#open) throw new Error(`${source.id}: a member was opened before the previous member was closed`);
    this.#open = true;
    const memberId = await this.#newMember(facts);
    const rowsBefore = this.#rows();
    let rejects = 0;
    const duplicates = new Map<string, number>();
    const added = new AddedColumns();
    const writerOf = (name: string): RowWriter => {
      const table = this.#tables.get(name);
      if (table === undefined) throw new Error(`${source.id}: unknown staging table ${name}`);
      table.writer.memberId = memberId;
      return table.writer;
    };
    return {
      memberId,
      writer: writerOf,
      row: (table, position, values) => writerOf(table).row(position, values),
      reject: ({ position, code, message, raw }) => {
        rejects += 1;
        if (code !== NO_DATA) this.#rejected += 1;
        this.#rejects.push({ memberId, step: 'stage', position, code, message, raw: typeof raw === 'string' ? Buffer.from(raw, 'utf8') : Buffer.from(raw) });
        if (this.#rejected >= HOPELESS && this.#rejected > this.#rows()) refuseRejects(this.#given.located, this.#rejected + this.#rows(), this.#rejected);
      },
      duplicate: (_position, code) => {
        duplicates.set(code, (duplicates.get(code) ?? 0) + 1);
      },
      added: (column, sample) => added.add(column, sample),
      drain: () => this.#drain(),
      close: async (records) => {
        this.#open = false;
        await this.#flush();
        await this.#writeRejects();
        this.#refuseDoubled();
        this.#records += records;
        this.#members.push({ path: facts.path, records });
        const counts = { records, rows: this.#rows() - rowsBefore, rejects, duplicates: [...duplicates.values()].reduce((sum, n) => sum + n, 0) };
        refuseLoss(labelOf(this.#fileName, facts.path), counts, 'reading');
        await this.#given.database.query(
          statement('add_duplicates'),
          [this.#given.releaseId, memberId, [...duplicates.keys()], [...duplicates.values()]],
        );
        await addAddedColumns(this.#given.database, memberId, added.list());
        await this.#given.database.query(
          statement('count_member'),
          [memberId, counts.records, counts.rows, counts.rejects, counts.duplicates],
        );
      },
    };
  }

  /** Ends the staging, after all writes are confirmed. @returns the reused members */
  async finish(): Promise<Staged['reused']> {
    if (this.#open) throw new Error(`${this.#given.located.source.id}: the last member was not closed`);
    const reused = await this.#writeTaken();
    await this.#flush();
    for (const [name, { writer, copy }] of this.#tables) {
      const taken = await copy.end();
      if (taken === writer.rows) continue;
      throw new MappaleError('the number of rows in the database differs from the number of sent rows', {
        code: 'ACCOUNTING', kind: 'bug', at: `${this.#given.schema}.${name}`, detail: `expected ${writer.rows}, found ${taken}`,
      });
    }
    this.#tables.clear();
    refuseRejects(this.#given.located, this.#records, this.#rejected);
    return reused;
  }

  async abort(): Promise<void> {
    for (const { copy } of this.#tables.values()) await copy.abort().catch(() => undefined);
    await this.#writeRejects().catch(() => undefined);
  }

  #rows(): number {
    let rows = 0;
    for (const { writer } of this.#tables.values()) rows += writer.rows;
    return rows;
  }

  /** Records all reused members with one statement, because usually most comuni of a release are unchanged, and a release may have a thousand comuni. */
  async #writeTaken(): Promise<Staged['reused']> {
    if (this.#taken.length === 0) return [];
    const referred = referredReleases(this.#given.located.source, this.#taken.map(({ from }) => from));
    const members = this.#taken.map(({ fileId, facts: { path, crc32, size, region }, from }) => {
      const { memberId, releaseId, readAs, records, rows, rejects, duplicates } = from;
      const [rowMember, rowRelease] = referred.has(releaseId) ? [memberId, releaseId] : [null, null];
      return {
        file_id: fileId, path, crc32, size, region_code: region, taken_from: readAs, row_member_id: rowMember, row_release_id: rowRelease,
        records, rows, rejects, duplicates,
      };
    });
    const written = await this.#given.database.query<{ fileId: number; path: string; memberId: number }>(statement('take_members'), [this.#given.releaseId, JSON.stringify(members)]);
    const ids = new Map(written.map(({ fileId, path, memberId }) => [`${fileId} ${path}`, memberId]));
    return this.#taken.map(({ fileId, facts: { path }, from }) => {
      const memberId = ids.get(`${fileId} ${path}`);
      if (memberId === undefined) throw new Error(`the ledger assigned no number to ${path}`);
      this.#records += from.records;
      return { memberId, path, fromMemberId: from.memberId, fromReleaseId: from.releaseId, rows: referred.has(from.releaseId) ? 'referred' : 'copied' };
    });
  }

  async #newMember({ path, crc32, size, envelope, region }: MemberFacts): Promise<number> {
    const { id } = await one<{ id: number }>(
      this.#given.database,
      statement('add_member'),
      [this.#given.releaseId, this.#fileId, path, crc32 ?? null, size ?? null, envelope?.before ?? null, envelope?.after ?? null, region ?? null],
    );
    // Opens the COPY streams here, because opening is asynchronous and the loop over records is synchronous.
    for (const [name, columns] of Object.entries(this.#given.located.source.tables)) {
      if (this.#tables.has(name)) continue;
      const copy = await this.#given.database.copyIn(this.#given.schema, name);
      const table: OpenTable = {
        copy, columns, texts: textsOf(columns),
        writer: new RowWriter(columns, (chunk) => {
          if (table.texts !== null && mayBeDoubled(chunk)) table.texts.addRows(chunk, this.#fileName);
          this.#write(copy, chunk);
        }),
      };
      this.#tables.set(name, table);
    }
    return id;
  }

  /**
   * Refuses a file if more than a fifth of a table's different non-ASCII texts were encoded twice. One or two such texts per table are accepted.
   * @throws MappaleError `ENCODING_WRONG`
   */
  #refuseDoubled(): void {
    const doubled = [...this.#tables.values()].map(({ texts }) => texts).find((texts) => texts?.throughout === true);
    if (doubled == null) return;
    throw inputError('the encoding of the text is not the publisher\'s encoding', {
      code: 'ENCODING_WRONG', at: doubled.examples.map(({ at }) => at).join(', '),
      detail: `expected UTF-8 encoded once, found ${doubled.odd} of ${doubled.seen} non-ASCII texts that were encoded twice, such as ${JSON.stringify(doubled.examples[0]?.text.slice(0, 60))}`,
      hint: 'Use the downloaded file. A program may change the encoding when it saves a file.',
    });
  }

  #write(copy: CopyIn, chunk: Buffer): void {
    if (this.#failure !== null) return;
    const fail = (error: unknown): void => {
      this.#failure ??= { error };
    };
    try {
      const wait = copy.write(chunk);
      if (wait !== undefined) this.#pending.push(wait.catch(fail));
    } catch (error) {
      fail(error);
    }
  }

  #drain(): Promise<void> | undefined {
    return this.#failure === null && this.#pending.length === 0 && this.#rejects.length < REJECT_BATCH ? undefined : this.#wait();
  }

  async #wait(): Promise<void> {
    await Promise.all(this.#pending.splice(0));
    if (this.#failure !== null) throw this.#failure.error;
    if (this.#rejects.length >= REJECT_BATCH) await this.#writeRejects();
  }

  async #flush(): Promise<void> {
    for (const { writer } of this.#tables.values()) writer.flush();
    await this.#wait();
  }

  async #writeRejects(): Promise<void> {
    await addRejects(this.#given.database, this.#given.releaseId, this.#rejects.splice(0));
  }
}

/**
 * Returns the earlier releases to whose rows a new release refers: the releases with the most reused rows, at most `REFERRED_RELEASES`. The set is empty if the
 * source keeps all vintages, or if a layer of the source has no places. Only in layers with places, each row belongs to one current file.
 */
function referredReleases({ layer, places = {}, manifest }: RegisteredSource, taken: readonly EarlierMember[]): ReadonlySet<number> {
  if (manifest.keep !== 'newest' || !layer.writes.every((relation) => tableOf(relation) in places)) return new Set();
  const rows = new Map<number, number>();
  for (const { releaseId, rows: more } of taken) rows.set(releaseId, (rows.get(releaseId) ?? 0) + more);
  const largest = [...rows].sort(([a, rowsOfA], [b, rowsOfB]) => rowsOfB - rowsOfA || a - b).slice(0, REFERRED_RELEASES);
  return new Set(largest.map(([releaseId]) => releaseId));
}

/** Formats a share, such as `1.00 %`. */
export function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`;
}

/** @throws MappaleError `TOO_MANY_REJECTS` (exit 4) if all records are rejects, or if the rejects exceed both `TOLERATED` and the manifest's share */
export function refuseRejects(located: Located, records: number, rejects: number): void {
  const limit = located.source.manifest.envelope.rejectShare;
  if (records === 0 || (rejects < records && (rejects / records <= limit || rejects <= TOLERATED))) return;
  throw new MappaleError(`${located.source.id}: too many records were refused`, {
    code: 'TOO_MANY_REJECTS', kind: 'rejects', at: located.files.map(({ name }) => name).join(', '),
    detail: `expected at most ${TOLERATED} rejects or ${percent(limit)} of ${records} records, and at least one usable record, found ${rejects} (${percent(rejects / records)})`,
    hint: `To see the reasons: npx mappale rejects --source ${located.source.id}`,
  });
}

/** Verifies that records = rows + rejects + duplicates. @throws MappaleError `ACCOUNTING` (exit 1) */
export function refuseLoss(at: string, { records, rows, rejects, duplicates }: Counts, when: string): void {
  if (records === rows + rejects + duplicates) return;
  throw new MappaleError(`the number of records is wrong after ${when}`, {
    code: 'ACCOUNTING', kind: 'bug', at,
    detail: `expected ${records} records = rows + rejects + duplicates, found ${rows} + ${rejects} + ${duplicates} = ${rows + rejects + duplicates}`,
    hint: 'The release is not used. Report the error and attach the file.',
  });
}
