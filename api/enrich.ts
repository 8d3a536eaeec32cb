/** Serves POST /tools/enrich, which adds parcel columns to the rows of a small CSV table. The endpoint runs the same code as `mappale enrich`. */
import { Readable } from 'node:stream';
import { z } from 'zod';
import { licencesOf, parseSections, type Ask, type Licence } from '../pipelines/deliver/columns.ts';
import { addedColumns, enriched, type EnrichedRow } from '../pipelines/deliver/enrich.ts';
import { findKey, hasKey, KEYS } from '../pipelines/deliver/keys.ts';
import { csvLine, guardedCells, openTable } from '../pipelines/deliver/table.ts';
import { SECTION_NAMES } from '../pipelines/contract/sections.ts';
import { MappaleError } from '../pipelines/errors.ts';
import { asInstalled } from '../pipelines/typed.ts';
import { admitRows, type Caller, type Counter } from './access.ts';
import { ApiError, invalidParameter, refusal } from './errors.ts';
import { readParameters } from './parameters.ts';

export const ENRICH_PATH = '/tools/enrich';

/** Maximum number of rows. Each row counts as a request against the token's hourly limit. */
const MOST_ROWS = 1_000;

/** Limits of the uploaded table. */
export const ENRICH_BODY = { mostBytes: 1_048_576, hint: asInstalled('; larger tables: npx mappale enrich') } as const;

/** Number of rows per database query. Each query has the usual time limit, and an address search may take several hundred milliseconds. */
const BATCH = { row: 100, street: 10 } as const;

const parameters = z.strictObject({
  sections: z.string().transform((value) => value.split(',').map((name) => name.trim())).pipe(z.array(z.enum(['all', ...SECTION_NAMES])))
    .describe(`Sections whose columns are added; all, or names separated by commas: ${SECTION_NAMES.join(', ')}; default: the sections that are used most`).optional(),
  by: z.enum(KEYS).describe(`Kind of key that identifies the parcel of a row; one of ${KEYS.join(', ')}; default: detected from the columns of the table`).optional(),
});

interface EnrichAnswer {
  /** Licences of the data, each as a value of the header Link (RFC 8288). */
  readonly links: readonly string[];
  /** CSV in UTF-8. All rows are from the same publication. */
  readonly text: string;
}

/**
 * @param body bytes of the uploaded table
 * @param tokenId number of the client's token; null is refused
 * @param identified receives the token and its rate headers, which state the requests left in this hour
 * @throws ApiError `INVALID_PARAMS`, `INSUFFICIENT_SCOPE`, `RATE_LIMITED`, `SERVICE_UNAVAILABLE`; MappaleError
 */
export async function enrichTable(
  counter: Counter, body: Buffer, query: Readonly<Record<string, unknown>>, tokenId: number | null, identified: (caller: Caller) => void,
): Promise<EnrichAnswer> {
  const given = readParameters(parameters, query);
  const sections = parseSections(given.sections?.includes('all') === true ? 'all' : given.sections?.join(','));
  const { table, key, records } = await read(body, given.by ?? null);
  if (tokenId === null) throw refusal.INVALID_API_KEY();
  await admitRows(counter, tokenId, key.key === 'street' ? 'geocoding:read' : 'parcels:read', records.length, identified);
  const ask: Ask = (statement, values) => counter.reader.call(statement, values);
  const licences = await licencesOf(ask, null, sections);
  const { header, delimiter } = table;
  const rows = enriched(Readable.from(records), { ask, key, width: header.length, sections, parallel: 1, batch: key.key === 'street' ? BATCH.street : BATCH.row });
  // The complete response is built before it is sent, so that a slow client does not block the queue and no response mixes publications.
  const text = [csvLine([...header, ...addedColumns(header, key, sections).map(({ name }) => name)], delimiter)];
  try {
    for await (const batch of rows) text.push(...batch.map(({ cells }: EnrichedRow) => csvLine(guardedCells(cells, header.length), delimiter)));
  } catch (error) {
    throw error instanceof MappaleError && error.code === 'PUBLICATION_CHANGED' ? refusal.SERVICE_UNAVAILABLE('a new publication became current', 'database') : error;
  }
  return { links: licences.map(linkOf), text: text.join('') };
}

/** @throws ApiError `INVALID_PARAMS` */
async function read(body: Buffer, by: (typeof KEYS)[number] | null) {
  try {
    const table = await openTable(Readable.from([body]), 'the table', hasKey);
    try {
      const key = findKey(table.header, by, 'the table');
      const records = [];
      for await (const record of table.records()) {
        records.push(record);
        if (records.length > MOST_ROWS) throw tooLarge(`at most ${MOST_ROWS} rows`);
      }
      return { table, key, records };
    } finally {
      table.close();
    }
  } catch (error) {
    if (!(error instanceof MappaleError)) throw error;
    throw new ApiError('INVALID_PARAMS', [error.message, error.detail].filter(Boolean).join('; '), { parameter: 'body', reason: error.code });
  }
}

function tooLarge(allowed: string): ApiError {
  return invalidParameter('body', `${allowed}${ENRICH_BODY.hint}`, 'is too large');
}

/** Returns a licence as a value of the header Link. The attribution is encoded according to RFC 8187. */
function linkOf({ url, attribution }: Licence): string {
  return `<${encodeURI(url)}>; rel="license"; title*=UTF-8''${encodeURIComponent(attribution).replaceAll("'", '%27')}`;
}
