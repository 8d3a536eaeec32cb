/**
 * Decodes text whose encoding changes inside the file: as UTF-8 if the bytes are valid UTF-8, otherwise as Windows-1252. (ZONE 2018/2 has lines in
 * both encodings, and some KML files declare UTF-8 but are Latin-1.)
 */
import { isUtf8 } from 'node:buffer';
import { lineTooLong } from '../../pipelines/readers/delimited-lines.ts';

/** Maximum length of a line. The longest line of a real file is 400 bytes long, and a file without line ends must not fill the memory. */
const MAX_LINE_BYTES = 1024 * 1024;

/**
 * Characters of the bytes 0x80–0x9F in Windows-1252; U+FFFD if a byte has no character. The characters are listed here, because in some versions of Node,
 * TextDecoder decodes these bytes as Latin-1.
 */
const C1 = '€\uFFFD‚ƒ„…†‡ˆ‰Š‹Œ\uFFFDŽ\uFFFD\uFFFD‘’“”•–—˜™š›œ\uFFFDžŸ';

function cp1252(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += byte >= 0x80 && byte <= 0x9f ? C1.charAt(byte - 0x80) : String.fromCharCode(byte);
  return text;
}

/** Decodes a line as UTF-8, or as Windows-1252 if it is not valid UTF-8. */
export function decodeLine(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString('utf8') : cp1252(bytes);
}

export interface Line {
  /** Line number, from 1. */
  readonly number: number;
  /** Text of the line without the line end. */
  readonly text: string;
  /** True for a last line without a line end. */
  readonly isOpen: boolean;
}

/**
 * Splits bytes into lines (LF or CR LF) and decodes each line separately. Yields the lines of each chunk as one array.
 * @param at name of the file in messages
 * @throws input error `LINE_TOO_LONG`
 */
export async function* readLines(chunks: AsyncIterable<Buffer>, at: string): AsyncGenerator<readonly Line[]> {
  let rest: Buffer = Buffer.alloc(0);
  let number = 0;
  const split = (bytes: Buffer, isOpen: boolean): Line[] => {
    const lines: Line[] = [];
    const whole = isUtf8(bytes);
    if (whole) {
      for (const text of bytes.toString('utf8').split('\n')) {
        lines.push({ number: (number += 1), text: text.endsWith('\r') ? text.slice(0, -1) : text, isOpen });
      }
      return lines;
    }
    let start = 0;
    while (start <= bytes.length) {
      const found = bytes.indexOf(0x0a, start);
      const end = found === -1 ? bytes.length : found;
      const text = decodeLine(bytes.subarray(start, end));
      lines.push({ number: (number += 1), text: text.endsWith('\r') ? text.slice(0, -1) : text, isOpen });
      start = end + 1;
    }
    return lines;
  };
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = bytes.lastIndexOf(0x0a);
    if (end === -1) {
      if (bytes.length > MAX_LINE_BYTES) throw lineTooLong('OMI file', `${at}:${number + 1}`, MAX_LINE_BYTES);
      rest = bytes;
      continue;
    }
    rest = bytes.subarray(end + 1);
    yield split(bytes.subarray(0, end), false);
  }
  if (rest.length > 0) yield split(rest, true);
}

/**
 * Decodes each byte sequence of a stream: valid UTF-8 as UTF-8, and every other byte as Windows-1252. This class is used for XML, in which a line may be as
 * long as the file.
 */
export class MixedDecoder {
  #rest: Buffer = Buffer.alloc(0);

  write(chunk: Buffer): string {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const end = bytes.length - incompleteTail(bytes);
    this.#rest = bytes.subarray(end);
    return this.#decode(bytes.subarray(0, end));
  }

  end(): string {
    const rest = this.#rest;
    this.#rest = Buffer.alloc(0);
    return this.#decode(rest);
  }

  #decode(bytes: Buffer): string {
    if (isUtf8(bytes)) return bytes.toString('utf8');
    let text = '';
    let at = 0;
    while (at < bytes.length) {
      const size = sequenceLength(bytes.readUInt8(at));
      const end = at + size;
      if (size > 0 && end <= bytes.length && isUtf8(bytes.subarray(at, end))) {
        text += bytes.toString('utf8', at, end);
        at = end;
      } else {
        text += cp1252(bytes.subarray(at, at + 1));
        at += 1;
      }
    }
    return text;
  }
}

/** Returns the number of bytes of the UTF-8 sequence that starts with this byte, or 0 if no sequence starts with it. */
function sequenceLength(lead: number): number {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  if (lead >= 0xf0 && lead <= 0xf4) return 4;
  return 0;
}

/** Returns the number of final bytes that may be the start of a UTF-8 sequence. The next chunk may contain the rest of this sequence. */
function incompleteTail(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes.readUInt8(bytes.length - back);
    if (byte >= 0x80 && byte < 0xc0) continue;
    return sequenceLength(byte) > back ? back : 0;
  }
  return 0;
}
