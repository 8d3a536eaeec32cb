/** Compares each reader, on the synthetic files of its source, with a plain binary COPY of the same rows. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase, type Database } from '../../pipelines/db/index.ts';
import { createSchema, dropSchema, inWorkspace } from '../../pipelines/db/catalog.ts';
import { RowWriter } from '../../pipelines/formats/copy.ts';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import type { MemberSink, Sink } from '../../pipelines/contract/source.ts';
import { loadSources, type RegisteredSource } from '../../pipelines/contract/registry.ts';
import { loadSynthetic } from '../../pipelines/synthetic/synthetic.ts';
import { locate } from '../../pipelines/ingest/locate.ts';
import { inputFile } from '../../pipelines/ingest/stage.ts';

export interface SourcesBenchOptions {
  /** A PostgreSQL server. A schema is created there and dropped. */
  readonly databaseUrl: string;
  /** Number of parcels of the synthetic region. */
  readonly parcels: number;
}

export interface ReaderBench {
  readonly source: string;
  readonly files: number;
  readonly megabytes: number;
  readonly rows: number;
  readonly readRowsPerSecond: number;
  readonly readMegabytesPerSecond: number;
  readonly copyRowsPerSecond: number;
}

const SCHEMA = 'bench_sources';

/** @returns for each source the rates of its reader alone and of a COPY of its rows, one after another in one process */
export async function benchSources({ databaseUrl, parcels }: SourcesBenchOptions): Promise<ReaderBench[]> {
  const folder = await mkdtemp(join(tmpdir(), 'mappale-bench-'));
  const database = await openDatabase(databaseUrl);
  try {
    const sources = await loadSources();
    const region = makeRegion({ parcels, seed: 1 });
    for (const { id } of sources) await (await loadSynthetic(id)).write(region, folder);
    const survey = await locate([folder], sources, { get: () => undefined, set() {} });
    const results: ReaderBench[] = [];
    for (const source of sources) {
      const files = survey.releases.filter((release) => release.source.id === source.id).flatMap((release) => release.files);
      const chunks = new Map<string, Buffer[]>(Object.keys(source.tables).map((table) => [table, []]));
      const startedAt = performance.now();
      const rows = await readAll(source, files, chunks);
      const readSeconds = (performance.now() - startedAt) / 1000;
      const copySeconds = await copyAll(database, source, chunks);
      const megabytes = files.reduce((sum, { size }) => sum + size, 0) / 1e6;
      results.push({
        source: source.id,
        files: files.length,
        megabytes,
        rows,
        readRowsPerSecond: rows / readSeconds,
        readMegabytesPerSecond: megabytes / readSeconds,
        copyRowsPerSecond: rows / copySeconds,
      });
    }
    return results;
  } finally {
    await database.close();
    await rm(folder, { recursive: true, force: true });
  }
}

type Files = Parameters<typeof inputFile>[0][];

async function readAll(source: RegisteredSource, files: Files, chunks: Map<string, Buffer[]>): Promise<number> {
  const writers = new Map(
    Object.entries(source.tables).map(([table, columns]) => [table, new RowWriter(columns, (chunk) => chunks.get(table)!.push(Buffer.from(chunk)))]),
  );
  const member: MemberSink = {
    memberId: 1,
    writer: (table) => writers.get(table)!,
    row: (table, position, values) => writers.get(table)!.row(position, values),
    reject() {},
    duplicate() {},
    added() {},
    drain: () => undefined,
    async close() {
      for (const writer of writers.values()) writer.flush();
    },
  };
  const sink: Sink = { reuse: async () => false, progress() {}, member: async () => member };
  for (const file of files) await source.read(inputFile(file), sink);
  return [...writers.values()].reduce((sum, writer) => sum + writer.rows, 0);
}

async function copyAll(database: Database, source: RegisteredSource, chunks: Map<string, Buffer[]>): Promise<number> {
  await dropSchema(database, SCHEMA);
  await createSchema(database, SCHEMA);
  await inWorkspace(database, SCHEMA, (session) => session.script(source.staging.text, source.staging.file));
  const startedAt = performance.now();
  for (const [table, pieces] of chunks) {
    const copy = await database.copyIn(SCHEMA, table);
    for (const piece of pieces) await copy.write(piece);
    await copy.end();
  }
  const seconds = (performance.now() - startedAt) / 1000;
  await dropSchema(database, SCHEMA);
  return seconds;
}
