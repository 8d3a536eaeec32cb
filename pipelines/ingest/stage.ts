/** Step 2: publisher's files → staging tables, in one pass and constant memory. */
import { createReadStream } from 'node:fs';
import { one, type CopyIn, type Database } from '../db/index.ts';
import { createSchema, dropSchema, inWorkspace } from '../db/catalog.ts';
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
import { refuseChanged } from './walk.ts';
import { statementsOf } from '../db/statements.ts';
import { stagingSchema } from '../db/workspace.ts';

/** Rejects are written in batches of this many. */
const REJECT_BATCH = 500;
/** So few refused records stop no file, whatever their share. */
export const TOLERATED = 10;
/** Reading stops when this many records were refused and they are more than half: the file is not what it seems. */
const HOPELESS = 10_000;

/** What records became: of a member, or of a release. */
export interface Counts {
  readonly records: number;
  readonly rows: number;
  readonly rejects: number;
  readonly duplicates: number;
}

/** Every record of the release is a staged row, a reject or a duplicate. */
export interface Staged {
  readonly located: Located;
  readonly releaseId: number;
  readonly schema: string;
  /** Members whose rows are taken over from an earlier release, by member of this release. */
  readonly reused: readonly { readonly memberId: number; readonly path: string; readonly fromMemberId: number; readonly fromReleaseId: number }[];
}

/** A member of an earlier, loaded release that was read by the same code and has the same bytes. */
export interface EarlierMember extends MemberFacts, Counts {
  readonly memberId: number;
  readonly releaseId: number;
  /** The member that was read, where that one was taken over, too. */
  readonly readAs: number;
}

/** Finds such a member. */
export type Reusable = (facts: MemberFacts) => EarlierMember | undefined;

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
export function inputFile({ path, name, size, recognition: { role, vintage, region } }: Pick<LocatedFile, 'path' | 'name' | 'size' | 'recognition'>): InputFile {
  return { path, name, role, vintage, region, size, open: () => createReadStream(path, { highWaterMark: 1_048_576 }), zip: () => ZipArchive.open(path) };
}

/** `file.zip!inner.csv` */
export function labelOf(name: string, path: string): string {
  return path === '' ? name : `${name}!${path}`;
}

/** A staging table that is being filled. */
interface OpenTable {
  readonly writer: RowWriter;
  readonly copy: CopyIn;
  readonly columns: Columns;
  /** What the open file's texts are like; null: a table of shapes, which has hardly any, and bytes that look like letters. */
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
  /** Writes that the database has not taken yet. */
  readonly #pending: Promise<void>[] = [];
  #failure: { readonly error: unknown } | null = null;
  readonly #rejects: RejectRow[] = [];
  #fileId = 0;
  #fileName = '';
  /** Members of the open file. */
  #members: ReadMember[] = [];
  /** Bytes of the files before the open one, with it, and read of it. */
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

  /** Notes in the ledger, and reports, that a file may be a cut export. */
  async closeFile(file: LocatedFile): Promise<void> {
    const why = await whyCut(file, this.#members);
    if (why === null) return;
    await this.#given.database.query(statementsOf('ingest')('note_cut_export'), [this.#fileId]);
    this.#given.log.warn(`${file.name}: the export of a service may be cut; it supersedes nothing [EXPORT_MAY_BE_CUT]: ${why}`);
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
    this.#given.log.debug(`${labelOf(this.#fileName, path)} is known and not read: ${reason}`);
  }

  async member(facts: MemberFacts): Promise<MemberSink> {
    const { source } = this.#given.located;
    if (this.#open) throw new Error(`${source.id}: a member was opened before the one before was closed`);
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
          'insert into ledger.duplicate (release_id, member_id, code, records) select $1, $2, * from unnest($3::text[], $4::int8[])',
          [this.#given.releaseId, memberId, [...duplicates.keys()], [...duplicates.values()]],
        );
        await addAddedColumns(this.#given.database, memberId, added.list());
        await this.#given.database.query(
          'update ledger.member set records = $2, rows = $3, rejects = $4, duplicates = $5 where member_id = $1',
          [memberId, counts.records, counts.rows, counts.rejects, counts.duplicates],
        );
      },
    };
  }

  /** @returns the members that are taken over */
  async finish(): Promise<Staged['reused']> {
    if (this.#open) throw new Error(`${this.#given.located.source.id}: the last member was not closed`);
    const reused = await this.#writeTaken();
    await this.#flush();
    for (const [name, { writer, copy }] of this.#tables) {
      const taken = await copy.end();
      if (taken === writer.rows) continue;
      throw new MappaleError('the database took another number of rows than were sent', {
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

  /** Members that are taken over, in one statement: of a thousand comuni all but a few are. */
  async #writeTaken(): Promise<Staged['reused']> {
    if (this.#taken.length === 0) return [];
    const members = this.#taken.map(({ fileId, facts: { path, crc32, size, region }, from: { readAs, records, rows, rejects, duplicates } }) =>
      ({ file_id: fileId, path, crc32, size, region_code: region, taken_from: readAs, records, rows, rejects, duplicates }));
    const written = await this.#given.database.query<{ fileId: number; path: string; memberId: number }>(statementsOf('ingest')('take_members'), [this.#given.releaseId, JSON.stringify(members)]);
    const ids = new Map(written.map(({ fileId, path, memberId }) => [`${fileId} ${path}`, memberId]));
    return this.#taken.map(({ fileId, facts: { path }, from }) => {
      const memberId = ids.get(`${fileId} ${path}`);
      if (memberId === undefined) throw new Error(`the ledger gave ${path} no number`);
      this.#records += from.records;
      return { memberId, path, fromMemberId: from.memberId, fromReleaseId: from.releaseId };
    });
  }

  async #newMember({ path, crc32, size, envelope, region }: MemberFacts): Promise<number> {
    const { id } = await one<{ id: number }>(
      this.#given.database,
      'insert into ledger.member (release_id, file_id, path, crc32, size, before, after, region_code) values ($1, $2, $3, $4, $5, $6, $7, $8) returning member_id as id',
      [this.#given.releaseId, this.#fileId, path, crc32 ?? null, size ?? null, envelope?.before ?? null, envelope?.after ?? null, region ?? null],
    );
    // Copies are opened here, where waiting is possible, and not in the hot loop.
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

  /** A file whose names are all unreadable would be published as it is. @throws MappaleError `ENCODING_WRONG` */
  #refuseDoubled(): void {
    const doubled = [...this.#tables.values()].map(({ texts }) => texts).find((texts) => texts?.throughout === true);
    if (doubled == null) return;
    throw inputError('text is in another encoding than the publisher uses', {
      code: 'ENCODING_WRONG', at: doubled.examples.map(({ at }) => at).join(', '),
      detail: `expected text, found ${doubled.odd} of ${doubled.seen} texts beyond ASCII that were encoded twice, like ${JSON.stringify(doubled.examples[0]?.text.slice(0, 60))}`,
      hint: 'Use the file as downloaded; a program that saves it again may change its encoding.',
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
    hint: `See why: npx mappale rejects --source ${located.source.id}`,
  });
}

/** records = rows + rejects + duplicates. @throws MappaleError `ACCOUNTING` (exit 1) */
export function refuseLoss(at: string, { records, rows, rejects, duplicates }: Counts, when: string): void {
  if (records === rows + rejects + duplicates) return;
  throw new MappaleError(`records are unaccounted for after ${when}`, {
    code: 'ACCOUNTING', kind: 'bug', at,
    detail: `expected ${records} records = rows + rejects + duplicates, found ${rows} + ${rejects} + ${duplicates} = ${rows + rejects + duplicates}`,
    hint: 'Nothing of this release is used. Please report it with the file.',
  });
}
