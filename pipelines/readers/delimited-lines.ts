/** Reads tables with one record per line. Some publishers' fields contain quotes and separators that a CSV parser would read wrongly. */
import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { inputError } from '../contract/source.ts';
import type { MappaleError } from '../errors.ts';
import { ODD_TEXT } from '../formats/malformed-text.ts';

const LF = 0x0a;
const CR = 0x0d;
/** Matches a character that is neither white space nor a separator. Spreadsheet programs add lines without such a character at the end. */
const CONTENT = /[^\s;,|]/;
/** Maximum length of a line in bytes, much longer than published lines. Without a limit, a file without line ends would fill the memory. */
const MAX_LINE_BYTES = 65_536;

export interface Line {
  /** Number of the line, from 1. */
  readonly number: number;
  readonly text: string;
  /** True for a last line without a line end. */
  readonly isOpen: boolean;
}

/** Returns the error for a line that is too long. @param subject name of the file in the message, such as `table` @param most maximum length in bytes */
export function lineTooLong(subject: string, at: string, most: number): MappaleError {
  return inputError(`a line of the ${subject} is too long`, {
    code: 'LINE_TOO_LONG', at, detail: `expected a line end within ${most} bytes, found none`, hint: 'Download the file again.',
  });
}

/**
 * Yields the lines of a text that have content, without line ends. Decodes each line separately as UTF-8 or windows-1252, because an export may contain names
 * from programs with different encodings.
 * @throws input errors `LINE_TOO_LONG`, `ENCODING_WRONG`
 */
export async function* linesOf(stream: AsyncIterable<Buffer>, at: string): AsyncGenerator<Line, void, undefined> {
  let number = 0;
  let carry: Buffer = Buffer.alloc(0);
  const lineOf = (bytes: Buffer, isOpen: boolean): Line | null => {
    number += 1;
    if (bytes.length > MAX_LINE_BYTES) throw lineTooLong('table', `${at}:${number}`, MAX_LINE_BYTES);
    const text = decodeLine(bytes.at(-1) === CR ? bytes.subarray(0, -1) : bytes);
    const odd = isUtf8(bytes) ? null : ODD_TEXT.exec(text);
    if (odd !== null) {
      throw inputError('the encoding of the file is not the publisher\'s encoding', {
        code: 'ENCODING_WRONG', at: `${at}:${number}`,
        detail: `expected text in UTF-8 or windows-1252, found ${JSON.stringify(odd[0])}, which seems to be text in a different encoding`,
        hint: 'Use the downloaded file. A spreadsheet program may change the encoding when it saves a file.',
      });
    }
    return !CONTENT.test(text) ? null : { number, text: number === 1 ? text.replace(/^\uFEFF/, '') : text, isOpen };
  };
  for await (const chunk of stream) {
    const bytes = carry.length === 0 ? chunk : Buffer.concat([carry, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
      const line = lineOf(bytes.subarray(start, end), false);
      if (line !== null) yield line;
      start = end + 1;
    }
    carry = Buffer.from(bytes.subarray(start));
    if (carry.length > MAX_LINE_BYTES) throw lineTooLong('table', `${at}:${number + 1}`, MAX_LINE_BYTES);
  }
  const last = carry.length === 0 ? null : lineOf(carry, true);
  if (last !== null) yield last;
}

/** Decodes a line as UTF-8, or as windows-1252 if the line is not valid UTF-8. */
export function decodeLine(bytes: Buffer): string {
  // Decodes as a stream, because some versions of Node decode windows-1252 as Latin-1 otherwise.
  return isUtf8(bytes) ? bytes.toString('utf8') : new TextDecoder('windows-1252').decode(bytes, { stream: true });
}

/** Matches a quoted cell and the following blanks, up to the separator. */
const QUOTED = { ';': /"((?:[^"]|"")*)"[ \t]*(?=;|$)/y, ',': /"((?:[^"]|"")*)"[ \t]*(?=,|$)/y, '|': /"((?:[^"]|"")*)"[ \t]*(?=\||$)/y } as const;

/** Splits a line into cells. Only a cell that starts and ends with a quotation mark is quoted, because names contain unpaired quotation marks. */
export function cellsOf(line: string, separator: keyof typeof QUOTED): string[] {
  const cells: string[] = [];
  let start = 0;
  while (start <= line.length) {
    const quoted = QUOTED[separator];
    quoted.lastIndex = start;
    const match = line[start] === '"' ? quoted.exec(line) : null;
    if (match !== null) {
      cells.push((match[1] ?? '').replaceAll('""', '"'));
      start = quoted.lastIndex + 1;
      continue;
    }
    const end = line.indexOf(separator, start);
    cells.push(line.slice(start, end === -1 ? undefined : end));
    if (end === -1) break;
    start = end + 1;
  }
  return cells;
}
