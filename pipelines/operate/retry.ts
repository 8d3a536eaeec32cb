/** Reads rejected records again with the current readers. Each record becomes a small file. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Context } from '../run/context.ts';
import { statementsOf } from '../db/statements.ts';
import { MappaleError } from '../errors.ts';
import type { RegisteredSource } from '../contract/registry.ts';
import { inputFile } from '../ingest/stage.ts';
import { ValidationSink } from './validate.ts';

const operate = statementsOf('operate');

/** Selects rejected records by source and reason. An absent value selects all. */
export interface RetryFilter {
  readonly source?: string | undefined;
  /** Code of the reason. */
  readonly code?: string | undefined;
}

export interface RetryOutcome {
  readonly source: string;
  readonly vintage: string;
  readonly code: string;
  readonly tried: number;
  /** Number of records that the current reader accepts. */
  readonly passed: number;
  /** Number of records that cannot be read alone: records that load.sql rejected, records from binary files, and records of sources that no longer exist. */
  readonly untried: number;
}

interface Refused {
  readonly release: number;
  readonly source: string;
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
 * Reads rejected records again. Writes each raw record to a file, with the stored text before and after the record (`MemberFacts.envelope`), so that the reader
 * can read the file. If the reader now accepts a record, marks the release, so that the next refresh reads the release's files again. The release itself never
 * changes.
 */
export async function retry({ database, sources }: Context, { source: only, code: reason }: RetryFilter): Promise<RetryOutcome[]> {
  const refused = await database.query<Refused & Record<string, unknown>>(operate('refused'), [only ?? null, reason ?? null]);
  const outcomes = new Map<string, RetryOutcome>();
  const reload = new Set<number>();
  const folder = await mkdtemp(join(tmpdir(), 'mappale-retry-'));
  try {
    for (const record of refused) {
      const { source: id, vintage, code, step, release } = record;
      const source = sources.find((each) => each.id === id);
      const passed = source === undefined || step !== 'stage' || record.before === null ? null : await passes(source, record, record.before, folder);
      if (passed === true) reload.add(release);
      const key = `${id} ${vintage} ${code}`;
      const { tried, passed: before, untried } = outcomes.get(key) ?? { tried: 0, passed: 0, untried: 0 };
      outcomes.set(key, {
        source: id, vintage, code, tried: tried + Number(passed !== null), passed: before + Number(passed === true), untried: untried + Number(passed === null),
      });
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  if (reload.size > 0) {
    await database.query(operate('read_again'), [[...reload]]);
  }
  return [...outcomes.values()];
}

async function passes(source: RegisteredSource, { role, vintage, region, raw, after }: Refused, before: string, folder: string): Promise<boolean> {
  const path = join(folder, 'record');
  const content = Buffer.concat([Buffer.from(before, 'utf8'), Buffer.from(raw), Buffer.from(after ?? '', 'utf8')]);
  await writeFile(path, content);
  const sink = new ValidationSink(source, 'record', null);
  try {
    await source.read(inputFile({ path, name: 'record', size: content.length, recognition: { role, vintage, region, complete: false } }), sink);
  } catch (error) {
    if (error instanceof MappaleError) return false;
    throw error;
  }
  return sink.rejects === 0 && sink.rows > 0;
}
