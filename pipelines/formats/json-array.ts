/** Reads JSON lists of any length, with one element in memory at a time. The parser is stream-json. */
import { Readable, Transform, pipeline } from 'node:stream';
import { MappaleError, inputError } from '../errors.ts';
import { columnsChanged } from './csv.ts';
import { utf8Text } from './streams.ts';

/**
 * Yields the elements of a JSON list in file order, with the same values as `JSON.parse`. The encoding must be UTF-8, with or without a byte order mark.
 * @param stream the file's bytes
 * @param at name of the file in messages
 * @throws input errors `JSON_MALFORMED`, `ENCODING_WRONG`, `COLUMNS_CHANGED` for an object with a repeated name. The last elements before the error may be
 * missing
 */
export async function* jsonArray(stream: AsyncIterable<Buffer>, at: string): AsyncGenerator {
  const wrongEncoding = (cause: unknown): MappaleError => inputError('the JSON is not in UTF-8', {
    code: 'ENCODING_WRONG', at, detail: 'expected UTF-8, which JSON requires, found invalid bytes', hint: 'Save the file in UTF-8.', cause,
  });
  // Imports the parser only here, so that commands that read no files start faster.
  const [{ parser: jsonParser }, { streamArray }] = await Promise.all([import('stream-json/parser.js'), import('stream-json/streamers/stream-array.js')]);
  const parser = streamArray.asStream();
  // The empty callback prevents an unhandled error. The loop below receives the error from the parser.
  pipeline(Readable.from(utf8Text(stream, wrongEncoding)), jsonParser.asStream({ packKeys: true }), refusingRepeated(at), parser, () => undefined);
  try {
    for await (const { value } of parser as AsyncIterable<{ readonly value: unknown }>) yield value;
  } catch (error) {
    if (error instanceof MappaleError || !isSyntax(error)) throw error;
    throw inputError('the JSON cannot be divided into elements', {
      code: 'JSON_MALFORMED', at, detail: `expected one list, found: ${error.message.replace(/\.$/, '')}`,
      hint: 'The file was truncated or changed manually. Download the file again, or repair the file.', cause: error,
    });
  } finally {
    parser.destroy();
  }
}

interface Token {
  readonly name: string;
  readonly value?: unknown;
}

/** Returns a transform that refuses repeated names in an object. A repeated name is ambiguous, and the parser would keep the second value. */
function refusingRepeated(at: string): Transform {
  /** Names read so far in each open object; null for an open list. */
  const open: (Set<string> | null)[] = [];
  return new Transform({
    objectMode: true,
    transform(token: Token, _encoding, done) {
      if (token.name === 'startObject') open.push(new Set());
      else if (token.name === 'startArray') open.push(null);
      else if (token.name === 'endObject' || token.name === 'endArray') open.pop();
      else if (token.name === 'keyValue') {
        const names = open.at(-1);
        const name = String(token.value);
        if (names?.has(name) === true) {
          done(columnsChanged(at, `expected the known columns, found doubled: "${name}"`));
          return;
        }
        names?.add(name);
      }
      done(null, token);
    },
  });
}

/** Returns whether an error is a syntax error. Only the message distinguishes the parser's errors. */
function isSyntax(error: unknown): error is Error {
  return error instanceof Error && /^(?:Parser |Top-level object )/.test(error.message);
}
