/** Adds columns with parcel data to the rows of a CSV file. */
import { createReadStream, createWriteStream } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { one, type Database } from '../db/index.ts';
import { counted } from '../formats/streams.ts';
import { writeAtomically } from '../formats/atomic-write.ts';
import type { Log } from '../log.ts';
import { progressLine, secondsSince } from '../progress.ts';
import { licencesOf, type Ask } from './columns.ts';
import { csvMetadata, metadataPath } from './csvw.ts';
import { addedColumns, enriched } from './enrich.ts';
import { findKey, hasKey, type Key } from './keys.ts';
import { sameThroughout } from './publication.ts';
import type { Status } from './places.ts';
import { csvLine, guardedCells, openTable, type Delimiter } from './table.ts';

interface EnrichWork {
  readonly from: string;
  readonly out: string;
  readonly sections: readonly string[];
  /** Kind of key to use; null to use the only key in the table. */
  readonly by: Key | null;
  /** Columns in which an apostrophe is put before text that a spreadsheet program would evaluate as a formula. */
  readonly guard: 'none' | 'added' | 'all';
}

export interface EnrichedFile {
  readonly out: string;
  /** Path of the metadata file, which describes the columns and the licences. */
  readonly metadata: string;
  readonly by: Key;
  readonly key_columns: readonly string[];
  readonly delimiter: Delimiter;
  readonly sections: readonly string[];
  readonly columns_added: readonly string[];
  readonly rows: number;
  readonly statuses: Readonly<Partial<Record<Status, number>>>;
  readonly seconds: number;
  readonly attributions: readonly string[];
}

const NAMES: Readonly<Record<Delimiter, string>> = { ',': 'commas', ';': 'semicolons', '\t': 'tabs', '|': 'vertical bars' };

/**
 * Enriches a file. All values of a region come from one publication. Does not block new publications. If a new publication becomes current, the work starts
 * again.
 * @throws MappaleError `PUBLICATION_CHANGED` (exit 6), `KEY_MISSING`, `KEY_AMBIGUOUS` (exit 2); errors of the table (exit 3) and of the database
 */
export function enrichFile(database: Database, log: Log, work: EnrichWork): Promise<EnrichedFile> {
  return sameThroughout(log, () => enrichOnce(database, log, work));
}

async function enrichOnce(database: Database, log: Log, { from, out, sections, by, guard }: EnrichWork): Promise<EnrichedFile> {
  const startedAt = performance.now();
  const ask: Ask = (statement, parameters) => one(database, statement, parameters);
  const { size } = await stat(from);
  let bytes = 0;
  const stream = createReadStream(from);
  try {
    const table = await openTable(counted(stream, (read) => void (bytes = read)), from, (header) => hasKey(header));
    const key = findKey(table.header, by, from);
    const { delimiter, header } = table;
    log.info(`${basename(from)}: by ${key.key} (${key.columns.join(', ')}), fields separated by ${NAMES[delimiter]}`);
    const added = addedColumns(header, key, sections);
    const licences = await licencesOf(ask, null, sections);
    const guardedFrom = { none: Infinity, added: header.length, all: 0 }[guard];
    let rows = 0;
    const statuses: Partial<Record<Status, number>> = {};
    const lines = async function* (): AsyncGenerator<string, void, undefined> {
      yield csvLine([...header, ...added.map(({ name }) => name)], delimiter);
      for await (const batch of enriched(table.records(), { ask, key, width: header.length, sections, parallel: database.parallel })) {
        for (const { status } of batch) statuses[status] = (statuses[status] ?? 0) + 1;
        rows += batch.length;
        log.progress(progressLine(basename(from), rows, bytes, size, performance.now() - startedAt));
        yield batch.map(({ cells }) => csvLine(guardedCells(cells, guardedFrom), delimiter)).join('');
      }
    };
    const metadata = metadataPath(out);
    const own = header.map((name) => ({ name, type: 'text' as const, description: `As in ${basename(from)}` }));
    const facts = { url: basename(out), title: `${basename(from)}, enriched by parcel`, delimiter, columns: [...own, ...added], licences, publishedAt: null };
    await writeAtomically(out, async (unfinished) => {
      await pipeline(Readable.from(lines()), createWriteStream(unfinished));
      await writeAtomically(metadata, (unfinished) => writeFile(unfinished, csvMetadata(facts)));
    });
    return {
      out, metadata, by: key.key, key_columns: key.columns, delimiter, sections, columns_added: added.map(({ name }) => name), rows, statuses,
      seconds: Math.round(secondsSince(startedAt) * 100) / 100, attributions: [...new Set(licences.map(({ attribution }) => attribution))],
    };
  } finally {
    stream.destroy();
  }
}
