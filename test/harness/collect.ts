/**
 * Runs a source's reader without a database. Collects the rows by decoding the bytes that a load would send to the database with COPY.
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { RowWriter, typesOf } from '../../pipelines/formats/copy.ts';
import type { Columns, ColumnType, InputFile, MemberFacts, MemberSink, Reject, Sink, Source } from '../../pipelines/contract/source.ts';
import { ZipArchive } from '../../pipelines/formats/zip.ts';

export interface CollectedMember {
  readonly path: string;
  readonly memberId: number;
  records: number | null;
  rows: number;
  rejects: Reject[];
  duplicates: { position: number; code: string }[];
  /** Added columns that the reader reported, with sample values. */
  added: Map<string, string[]>;
}

export interface Collected {
  readonly members: CollectedMember[];
  /** Maps tables to decoded rows with `member_id`, `position` and the table's columns. An int8 is a number, and a geometry is a Buffer of EWKB. */
  readonly rows: Record<string, Record<string, unknown>[]>;
  /** Known parts of the file that are not read, with the reason. */
  readonly asides: { readonly path: string; readonly reason: string }[];
  /** Reported numbers of bytes read, in order. */
  readonly progress: number[];
}

export interface CollectOptions {
  readonly role: string;
  readonly vintage?: string;
  readonly region?: number | null;
  /** Maximum size in bytes of the chunks in which a file that is not a zip is read. The default is 262,144. */
  readonly chunkBytes?: number;
}

/**
 * Runs the reader on one file. Returns the rows, the rejects and duplicates of each member, the parts that are not read, and the reported progress. Rows are
 * counted as in the program. Makes no assertions.
 */
export async function collect(source: Source, path: string, options: CollectOptions): Promise<Collected> {
  const members: CollectedMember[] = [];
  const rows: Collected['rows'] = {};
  const asides: Collected['asides'] = [];
  const progress: number[] = [];
  const writers = new Map<string, RowWriter>();
  for (const [table, columns] of Object.entries(source.tables)) {
    const into: Record<string, unknown>[] = (rows[table] = []);
    writers.set(table, new RowWriter(columns, (chunk) => decodeInto(chunk, columns, into)));
  }
  const sink: Sink = {
    async reuse() {
      return false;
    },
    progress(bytes) {
      progress.push(bytes);
    },
    aside(path, reason) {
      asides.push({ path, reason });
    },
    async member(facts: MemberFacts): Promise<MemberSink> {
      const member: CollectedMember = { path: facts.path, memberId: members.length + 1, records: null, rows: 0, rejects: [], duplicates: [], added: new Map() };
      members.push(member);
      const before = new Map([...writers].map(([table, writer]) => [table, writer.rows]));
      const writerOf = (table: string): RowWriter => {
        const writer = writers.get(table);
        if (writer === undefined) throw new Error(`unknown staging table ${table}`);
        writer.memberId = member.memberId;
        return writer;
      };
      return {
        memberId: member.memberId,
        writer: writerOf,
        row(table, position, values) {
          writerOf(table).row(position, values);
        },
        reject(reject) {
          member.rejects.push(reject);
        },
        duplicate(position, code) {
          member.duplicates.push({ position, code });
        },
        added(column, sample) {
          const samples = member.added.get(column) ?? [];
          member.added.set(column, sample === undefined ? samples : [...samples, sample]);
        },
        drain() {
          return undefined;
        },
        async close(records) {
          member.records = records;
          for (const [table, writer] of writers) {
            member.rows += writer.rows - (before.get(table) ?? 0);
            writer.flush();
          }
        },
      };
    },
  };
  await source.read(await inputFile(path, options), sink);
  return { members, rows, asides, progress };
}

/** Returns a file in the form that the program passes to a reader. */
export async function inputFile(path: string, options: CollectOptions): Promise<InputFile> {
  return {
    path,
    name: basename(path),
    role: options.role,
    vintage: options.vintage ?? '2000',
    region: options.region ?? null,
    size: (await stat(path)).size,
    open: () => createReadStream(path, { highWaterMark: options.chunkBytes ?? 262_144 }),
    zip: () => ZipArchive.open(path),
  };
}

function decodeInto(chunk: Buffer, columns: Columns, into: Record<string, unknown>[]): void {
  const types = typesOf(columns);
  const names = Object.keys(columns);
  let at = 0;
  const field = (type: ColumnType): unknown => {
    const size = chunk.readInt32BE(at);
    at += 4;
    if (size < 0) return null;
    const start = at;
    at += size;
    return decode(chunk.subarray(start, at), type);
  };
  while (at < chunk.length) {
    if (chunk.readInt16BE(at) !== names.length + 2) throw new Error('the row and its table have different numbers of fields');
    at += 2;
    const row: Record<string, unknown> = { member_id: field('int4'), position: field('int8') };
    for (const [index, type] of types.entries()) row[names[index]!] = field(type);
    into.push(row);
  }
}

function decode(bytes: Buffer, type: ColumnType): unknown {
  switch (type) {
    case 'text':
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    case 'int2':
      return bytes.readInt16BE();
    case 'int4':
      return bytes.readInt32BE();
    case 'int8':
      return Number(bytes.readBigInt64BE());
    case 'float8':
      return bytes.readDoubleBE();
    case 'bool':
      return bytes[0] === 1;
    case 'date':
      return new Date((bytes.readInt32BE() + 10_957) * 86_400_000).toISOString().slice(0, 10);
    case 'geometry':
      return Buffer.from(bytes);
    case 'text[]':
    case 'int4[]':
    case 'float8[]': {
      if (bytes.readInt32BE() === 0) return [];
      const element = type.slice(0, -2) as ColumnType;
      const values: unknown[] = [];
      let at = 20;
      while (at < bytes.length) {
        const size = bytes.readInt32BE(at);
        at += 4;
        values.push(size < 0 ? null : decode(bytes.subarray(at, at + Math.max(size, 0)), element));
        at += Math.max(size, 0);
      }
      return values;
    }
  }
}
