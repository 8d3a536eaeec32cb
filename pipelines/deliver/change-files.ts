/** Writes the changelog of a region to a file, with one line or row for each parcel that a publication added, removed or changed. */
import { createWriteStream } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Region } from '../contract/regions.ts';
import { SECTION_NAMES } from '../contract/sections.ts';
import { one, type Database } from '../db/index.ts';
import { statementsOf } from '../db/statements.ts';
import { MappaleError } from '../errors.ts';
import { writeAtomically } from '../formats/atomic-write.ts';
import { ParquetFile } from '../formats/parquet-writer.ts';
import { changesAfter, type ChangeLine, type ChangesFrom, type ChangesRefusal } from './changes.ts';
import { licencesOf, type Ask, type Cell, type OutputColumn } from './columns.ts';
import { csvLine, guardedCells } from './table.ts';

/** Number of parcels that one query compares. */
const BATCH = 1_000;

const COLUMNS: readonly OutputColumn[] = [
  { name: 'publication', type: 'int4', description: 'Number of the publication, rollback or withdrawal' },
  { name: 'published_at', type: 'text', description: 'Time of the publication in UTC' },
  { name: 'op', type: 'text', description: 'add, remove or change' },
  { name: 'fid', type: 'int4', description: 'Parcel identifier' },
  { name: 'cadastral_reference', type: 'text', description: 'National cadastral reference' },
  { name: 'comune', type: 'text', description: 'Cadastral code of the comune; null: a parcel of a land register in a withdrawn region' },
  { name: 'columns', type: 'text', description: 'JSON object with the new values, by export column, and the new geometry as GeoJSON; empty for a removed parcel' },
];

interface WrittenChanges {
  readonly region: Region;
  readonly from: ChangesFrom;
  readonly format: ChangeFormat;
  readonly out: string;
  readonly createdBy: string;
  /** True if CSV contains text unchanged, even if spreadsheet programs would evaluate the text as a formula. */
  readonly verbatim: boolean;
}

export interface Changes {
  readonly out: string;
  /** Path of the file with the required attributions. */
  readonly licenses: string;
  /** Path of the file that lists the publications, with the numbers of changed parcels by comune and the last day of each source's data. */
  readonly publications: string;
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
  /** Number of the newest publication. `--since` with this number returns later changes. */
  readonly publication: number;
  readonly bytes: number;
}

type Lines = AsyncIterable<readonly ChangeLine[]>;
type Write = (path: string, lines: Lines, work: WrittenChanges) => Promise<void>;

function cellsOf({ columns, ...line }: ChangeLine): readonly Cell[] {
  const { publication, published_at, op, fid, cadastral_reference, comune } = line;
  return [publication, published_at, op, fid, cadastral_reference, comune, JSON.stringify(columns)];
}

/** Writes the changes as lines of text. @param head header line; empty if the format has no header */
async function writeText(path: string, lines: Lines, head: string, textOf: (line: ChangeLine) => string): Promise<void> {
  const texts = async function* (): AsyncGenerator<string, void, undefined> {
    if (head !== '') yield head;
    for await (const batch of lines) yield batch.map(textOf).join('');
  };
  await pipeline(Readable.from(texts()), createWriteStream(path));
}

/** Functions that write a changelog, by name of the format. */
const WRITERS = {
  jsonl: (path, lines) => writeText(path, lines, '', (line) => `${JSON.stringify(line)}\n`),
  csv: (path, lines, { verbatim }) => writeText(
    path, lines, csvLine(COLUMNS.map(({ name }) => name), ','), (line) => csvLine(guardedCells(cellsOf(line), verbatim ? Infinity : 0), ','),
  ),
  parquet: async (path, lines, { region, createdBy }) => {
    const descriptions = Object.fromEntries(COLUMNS.map(({ name, description }) => [name, description]));
    const file = new ParquetFile(path, {
      columns: COLUMNS, createdBy,
      metadata: { mappale: JSON.stringify({ title: `Changes of parcels of ${region.name}`, created_by: createdBy }), 'mappale:columns': JSON.stringify(descriptions) },
    });
    for await (const batch of lines) for (const line of batch) await file.add(cellsOf(line));
    await file.close();
  },
} satisfies Record<string, Write>;

export type ChangeFormat = keyof typeof WRITERS;
export const CHANGE_FORMATS = Object.keys(WRITERS) as readonly ChangeFormat[];

/**
 * Writes all changes after a position in the changelog. Also writes a file with the attributions and a file with the publications. Omits publications that
 * become current while the files are written. The next call writes these publications.
 * @throws MappaleError `NO_HISTORY`, `NOT_PUBLISHED`, `CHANGES_NOT_KEPT`, `PUBLICATION_UNKNOWN` (exit 2)
 */
export async function writeChanges(database: Database, work: WrittenChanges): Promise<Changes> {
  const { region, from, format, out } = work;
  const ask: Ask = (sql, parameters) => one(database, sql, parameters);
  const counts = { add: 0, remove: 0, change: 0 };
  let publication = 0;
  const lines = async function* (): AsyncGenerator<readonly ChangeLine[], void, undefined> {
    const all = changesAfter(ask, { region: region.code, from, until: null, most: BATCH }, (refusal) => refused(region, refusal));
    let next = await all.next();
    for (; next.done !== true; next = await all.next()) {
      for (const { op } of next.value) counts[op] += 1;
      yield next.value;
    }
    publication = next.value;
  };
  const [licenses, publications] = [`${out}-licenses.json`, `${out}-publications.json`];
  const bytes = await writeAtomically(out, async (unfinished) => {
    await WRITERS[format](unfinished, lines(), work);
    const cited = await licencesOf(ask, region.code, SECTION_NAMES);
    await writeAtomically(licenses, (file) => writeFile(file, `${JSON.stringify(cited, null, 2)}\n`));
    const start = 'day' in from ? [null, from.day] : [from.publication, null];
    const counted = await one<{ publications: unknown }>(database, statementsOf('changes')('counts_since'), [region.code, ...start, publication]);
    await writeAtomically(publications, (file) => writeFile(file, `${JSON.stringify(counted.publications, null, 2)}\n`));
    return (await stat(unfinished)).size;
  }, `.${format}`);
  return { out, licenses, publications, added: counts.add, removed: counts.remove, changed: counts.change, publication, bytes };
}

function refused({ name, slug }: Region, { reason, kept_since: keptSince = '', kept_after: keptAfter = 0 }: ChangesRefusal): MappaleError {
  switch (reason) {
    case 'never_kept': return new MappaleError('there is no history, because the database is distributed over several nodes', {
      code: 'NO_HISTORY', kind: 'usage', hint: 'Export the region instead.', fix: `npx mappale export ${slug}`,
    });
    case 'not_published': return new MappaleError(`${name} was never published`, {
      code: 'NOT_PUBLISHED', kind: 'usage', hint: 'Check which regions are published.', fix: 'npx mappale status',
    });
    case 'not_kept': return new MappaleError('these changes are no longer kept', {
      code: 'CHANGES_NOT_KEPT', kind: 'usage', detail: `expected publication ${keptAfter} or ${keptSince}, or later, because earlier changes are deleted`, hint: 'Export the region. Then request the changes since the exported publication.', fix: `npx mappale export ${slug}`,
    });
    case 'unknown': return new MappaleError('there is no such publication', {
      code: 'PUBLICATION_UNKNOWN', kind: 'usage', hint: 'Use the day of your last export.', fix: `npx mappale changes ${slug} --since YYYY-MM-DD`,
    });
  }
}
