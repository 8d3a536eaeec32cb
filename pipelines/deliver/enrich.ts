/** Adds published parcel data to the rows of a table. Each row names a parcel. The output has the same rows in the same order. */
import type { CsvRecord } from '../formats/csv.ts';
import { resultsInOrder } from '../parallel.ts';
import { columnsOf, rowsOf, type Ask, type Cell, type OutputColumn } from './columns.ts';
import { readKey, type FoundKey, type Named } from './keys.ts';
import { gazetteerOf, matchColumns, placesOf, STATUSES, unmatched, type Placed, type Status } from './places.ts';
import { publicationChanged } from './publication.ts';

/** Number of rows per query. Looking up an address takes milliseconds, and looking up any other key takes microseconds. */
export const BATCH = { row: 5_000, street: 250 } as const;

interface EnrichOptions {
  readonly ask: Ask;
  readonly key: FoundKey;
  /** Number of columns in the user's table. */
  readonly width: number;
  readonly sections: readonly string[];
  /** Number of batches that run in parallel. */
  readonly parallel: number;
  /** Number of rows in a batch. Default: `BATCH`. */
  readonly batch?: number;
}

const OWN: readonly OutputColumn[] = [
  { name: 'status', type: 'text', description: `Result of the row: ${Object.entries(STATUSES).map(([status, meaning]) => `${status}: ${meaning}`).join('; ')}` },
  { name: 'reason', type: 'text', description: 'Reason for the status, as text; null if the status alone explains the result' },
  { name: 'candidates', type: 'int4', description: 'Number of parcels or addresses that match equally well' },
];

/**
 * Returns the columns that are added to a table. If the header already has a column of the same name, the prefix `mappale_` makes the new name unique.
 * @param header header of the user's table
 */
export function addedColumns(header: readonly string[], key: FoundKey, sections: readonly string[]): readonly OutputColumn[] {
  const taken = new Set(header);
  const free = (name: string): string => (taken.has(name) ? free(`mappale_${name}`) : name);
  return [...OWN, ...matchColumns(key.key), ...columnsOf(sections)].map((column) => ({ ...column, name: free(column.name) }));
}

export interface EnrichedRow {
  readonly status: Status;
  /** Unchanged cells of the row, followed by the cells of `addedColumns`. */
  readonly cells: readonly Cell[];
}

/**
 * Yields the enriched rows batch by batch, in the order of the table.
 * @throws MappaleError `PUBLICATION_CHANGED` (exit 6) if later rows would come from a different publication; errors of the table and of the database
 */
export async function* enriched(records: AsyncIterable<CsvRecord>, options: EnrichOptions): AsyncGenerator<readonly EnrichedRow[], void, undefined> {
  const gazetteer = gazetteerOf(options.ask);
  const publications = new Set<string>();
  const size = options.batch ?? (options.key.key === 'street' ? BATCH.street : BATCH.row);
  yield* resultsInOrder(options.parallel, batchesOf(records, size), (rows) => enrichBatch(rows, options, gazetteer, publications));
}

async function* batchesOf(records: AsyncIterable<CsvRecord>, size: number): AsyncGenerator<readonly CsvRecord[], void, undefined> {
  let rows: CsvRecord[] = [];
  for await (const record of records) {
    rows.push(record);
    if (rows.length < size) continue;
    yield rows;
    rows = [];
  }
  if (rows.length > 0) yield rows;
}

async function enrichBatch(
  rows: readonly CsvRecord[], { ask, key, width, sections }: EnrichOptions, gazetteer: ReturnType<typeof gazetteerOf>, publications: Set<string>,
): Promise<readonly EnrichedRow[]> {
  const read = rows.map(({ values, problem }) => (problem === null ? readKey(key.key, (name) => (values[key.at[name] ?? -1] ?? '').trim()) : { invalid: problem.message }));
  const named = read.filter((each): each is Named => !('invalid' in each));
  const places = await placesOf(ask, key.key, named, gazetteer);
  const fids = [...new Set(places.placed.flatMap(({ fid }) => fid ?? []))];
  const described = fids.length === 0 ? null : await rowsOf(ask, fids, sections);
  for (const publication of [...places.publications, ...(described === null ? [] : [described.publication])]) publications.add(publication);
  if (publications.size > 1) throw publicationChanged();
  const nothing = columnsOf(sections).map(() => null);
  let next = 0;
  return rows.map(({ values }, index): EnrichedRow => {
    const what = read[index];
    const placed = what !== undefined && 'invalid' in what ? invalid(what.invalid, key) : places.placed[next++] ?? invalid('', key);
    const { status, reason, candidates, fid, match } = placed;
    const own = Array.from({ length: width }, (_, column) => values[column] ?? '');
    const parcel = fid === null ? nothing : described?.cells.get(fid) ?? nothing;
    return { status, cells: [...own, status, reason, candidates, ...(match.length === 0 ? unmatched(key.key) : match), ...parcel] };
  });
}

function invalid(reason: string, { key }: FoundKey): Placed {
  return { status: 'invalid', reason, candidates: 0, fid: null, match: unmatched(key) };
}
