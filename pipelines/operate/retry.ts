/** Tries refused records again with the rules of today, each as a small file of its own. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createReadStream } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Context } from '../run/context.ts';
import { MappaleError } from '../errors.ts';
import { RowWriter } from '../formats/copy.ts';
import type { InputFile, MemberSink, Sink } from '../contract/source.ts';
import { ZipArchive } from '../formats/zip.ts';
import type { RegisteredSource } from '../contract/registry.ts';

export interface RetryOutcome {
  readonly source: string;
  readonly vintage: string;
  readonly code: string;
  readonly tried: number;
  /** Records that today's reader accepts. */
  readonly passed: number;
  /** Refused by load.sql or in binary files: only the whole file can say. */
  readonly untried: number;
}

interface Refused {
  readonly release_id: number;
  readonly source_id: string;
  readonly vintage: string;
  readonly region: number | null;
  readonly role: string;
  readonly step: string;
  readonly code: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly raw: Uint8Array;
}

/**
 * A raw record between its member's opening and closing lines is a readable file. Releases of which a record passes now are
 * marked, so that the next refresh reads their files anew: a release is immutable and never mended in place.
 */
export async function retry(context: Context, sourceId: string | null): Promise<RetryOutcome[]> {
  const refused = await context.database.query<Refused & Record<string, unknown>>(
    `select x.release_id, r.source_id, r.vintage, r.region_code::int4 as region, f.role, x.step, x.code, m.before, m.after, x.raw
     from ledger.reject x join ledger.release r using (release_id) join ledger.member m using (member_id) join ledger.file f on f.file_id = m.file_id
     where ($1::text is null or r.source_id = $1) order by x.reject_id`,
    [sourceId],
  );
  const outcomes = new Map<string, { source: string; vintage: string; code: string; tried: number; passed: number; untried: number }>();
  const reload = new Set<number>();
  const folder = await mkdtemp(join(tmpdir(), 'mappale-retry-'));
  try {
    for (const record of refused) {
      const key = `${record.source_id} ${record.vintage} ${record.code}`;
      const outcome = outcomes.get(key) ?? { source: record.source_id, vintage: record.vintage, code: record.code, tried: 0, passed: 0, untried: 0 };
      outcomes.set(key, outcome);
      const source = context.sources.find(({ id }) => id === record.source_id);
      if (source === undefined || record.step !== 'stage' || record.before === null) {
        outcome.untried += 1;
        continue;
      }
      outcome.tried += 1;
      if (await passes(source, record, folder)) {
        outcome.passed += 1;
        reload.add(record.release_id);
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  if (reload.size > 0) {
    // Another fingerprint than any file can have: the release stays in use until its files were read again.
    await context.database.query("update ledger.release set fingerprint = 'retry ' || release_id, reader = 'retry' where release_id = any ($1)", [[...reload]]);
  }
  return [...outcomes.values()];
}

async function passes(source: RegisteredSource, record: Refused, folder: string): Promise<boolean> {
  const path = join(folder, 'record');
  const content = Buffer.concat([Buffer.from(record.before!, 'utf8'), Buffer.from(record.raw), Buffer.from(record.after ?? '', 'utf8')]);
  await writeFile(path, content);
  const file: InputFile = {
    path, name: 'record', role: record.role, vintage: record.vintage, region: record.region, size: content.length,
    open: () => createReadStream(path),
    zip: () => ZipArchive.open(path),
  };
  const sink = new CountingSink(source);
  try {
    await source.read(file, sink);
  } catch (error) {
    if (error instanceof MappaleError) return false;
    throw error;
  }
  return sink.rejects === 0 && sink.rows() > 0;
}

/** Counts rows and rejects of one small file. */
class CountingSink implements Sink {
  rejects = 0;
  readonly #writers: Map<string, RowWriter>;

  constructor(source: RegisteredSource) {
    this.#writers = new Map(Object.entries(source.tables).map(([table, columns]) => [table, new RowWriter(columns, () => undefined)]));
  }

  rows(): number {
    return [...this.#writers.values()].reduce((sum, writer) => sum + writer.rows, 0);
  }

  async reuse(): Promise<boolean> {
    return false;
  }

  progress(): void {}

  async member(): Promise<MemberSink> {
    const writer = (table: string): RowWriter => this.#writers.get(table)!;
    return {
      memberId: 0,
      writer,
      row: (table, position, values) => writer(table).row(position, values),
      reject: () => {
        this.rejects += 1;
      },
      duplicate() {},
      drain: () => undefined,
      async close() {},
    };
  }
}
