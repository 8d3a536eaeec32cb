/**
 * Answers a stream of parcel ids. Each input line contains a fid or reference. For each input line, one JSON object is written as a line, in the same order.
 */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { parcelRecord } from '../api/parcel-record.ts';
import { plainReference } from '../pipelines/contract/regions.ts';
import type { Reader } from '../pipelines/db/reader.ts';
import type { Ask } from '../pipelines/deliver/columns.ts';
import { MappaleError } from '../pipelines/errors.ts';
import { resultsInOrder } from '../pipelines/parallel.ts';
import { asFid, gone, goneParcel, notFound } from './parcel-id.ts';

/** Maximum number of bytes of a line that are read. The rest of a longer line is skipped. All identifiers are shorter than this limit. */
const MOST_BYTES = 1024;

const LF = 0x0a;

/** An input line without its line end, and without white space at its start and end. */
interface Line {
  /** Text of the line, with U+FFFD instead of invalid UTF-8. If the line is too long, the text is only its beginning. */
  readonly input: string;
  readonly isCut: boolean;
}

/**
 * Yields, for each chunk, the lines that end in the chunk. Empty lines are included, so that the nth answer belongs to the nth line. Text after the last
 * line end is a line, too.
 */
export async function* linesOf(stream: AsyncIterable<Buffer>): AsyncGenerator<readonly Line[], void, undefined> {
  let kept: Buffer[] = [];
  let size = 0;
  const keep = (bytes: Buffer): void => {
    if (size < MOST_BYTES) kept.push(bytes.subarray(0, MOST_BYTES - size));
    size += bytes.length;
  };
  const line = (): Line => {
    const input = Buffer.concat(kept).toString('utf8').trim();
    const isCut = size > MOST_BYTES;
    kept = [];
    size = 0;
    return { input, isCut };
  };
  for await (const chunk of stream) {
    const lines: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      keep(chunk.subarray(start, end));
      lines.push(line());
      start = end + 1;
    }
    if (start < chunk.length) keep(chunk.subarray(start));
    yield lines;
  }
  if (size > 0) yield [line()];
}

/** Answer to an input line. */
interface Answered {
  readonly text: string;
  readonly isFound: boolean;
}

/** Returns the fid of a published parcel, or a fid unchanged. @throws MappaleError `NOT_FOUND`, `GONE` */
type FindFid = (id: string) => number;

/** Looks up all references in a chunk of lines with one query. @throws MappaleError (kind `database`) */
async function fidsOf(ask: Ask, lines: readonly Line[]): Promise<FindFid> {
  // Text in PostgreSQL cannot contain the character NUL.
  const isReference = ({ input, isCut }: Line): boolean => !isCut && asFid(input) === null && !input.includes('\0');
  const references = [...new Set(lines.filter(isReference).map(({ input }) => plainReference(input)))];
  const { answer } = references.length === 0 ? { answer: null } : await ask<{ answer: string | null }>('select answer from api.parcels_of_references($1)', [references]);
  const found = JSON.parse(answer ?? '[]') as (readonly [place: number, fid: number | null, candidates: number, region: number | null, retired: boolean, successor: number | null])[];
  const byReference = new Map(found.map(([place, fid, , , retired, successor]) => [references[place - 1], { fid, retired, successor }]));
  return (id) => {
    const { fid, retired, successor } = byReference.get(plainReference(id)) ?? { fid: null, retired: false, successor: null };
    const published = asFid(id) ?? fid;
    if (published === null) throw retired ? gone(id, successor) : notFound(id);
    return published;
  };
}

/** @throws MappaleError (kind `database`) */
async function answer(reader: Reader, { input, isCut }: Line, findFid: FindFid, sections: readonly string[]): Promise<Answered> {
  try {
    if (isCut) throw tooLong();
    const ask: Ask = (...asked) => reader.call(...asked);
    const fid = findFid(input);
    const { answer: text } = await parcelRecord(reader, fid, sections);
    if (text === null) throw await goneParcel(ask, input, fid);
    // Line ends in the JSON text occur only between values, never in a string, so they can be replaced by spaces.
    return { text: text.replaceAll('\n', ' '), isFound: true };
  } catch (error) {
    if (!(error instanceof MappaleError) || error.kind !== 'usage') throw error;
    const { code, message, detail } = error;
    return { text: JSON.stringify({ input, error: code, message, detail }), isFound: false };
  }
}

function tooLong(): MappaleError {
  return new MappaleError('the line is too long', {
    code: 'LINE_TOO_LONG', kind: 'usage', detail: `expected a fid or a reference of at most ${MOST_BYTES} bytes, found more`, hint: 'Write one fid or reference on each line.', fix: 'npx mappale parcel --help',
  });
}

/**
 * Answers the lines of a chunk before it reads the next chunk, so a program can wait for the answer to each line. The function reads input only as fast
 * as the output is read.
 * @returns the number of lines without a published parcel
 */
export async function answerLines(reader: Reader, input: AsyncIterable<Buffer>, output: Writable, sections: readonly string[]): Promise<number> {
  let missing = 0;
  for await (const lines of linesOf(input)) {
    const findFid = await fidsOf((...asked) => reader.call(...asked), lines);
    for await (const { text, isFound } of resultsInOrder(reader.parallel, lines, (line) => answer(reader, line, findFid, sections))) {
      if (!isFound) missing += 1;
      if (!output.write(`${text}\n`)) await once(output, 'drain');
    }
  }
  return missing;
}
