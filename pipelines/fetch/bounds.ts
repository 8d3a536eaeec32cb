/** Enforces a minimum speed and a maximum size for a response body. */
import { inputError, type MappaleError } from '../errors.ts';
import { byteText, duration } from '../progress.ts';

/** Minimum number of bytes that must arrive in `PATIENCE_MS`. */
const LEAST = 1024 * 1024;
const PATIENCE_MS = 600_000;

interface BodyBounds {
  readonly clock: { now(): number };
  readonly most: number;
  /** Requested address without secrets, for messages. */
  readonly at: string;
}

/**
 * Yields the chunks of a body. Throws if the body arrives too slowly or is too large. If no bytes arrive at all, the connection's own timeout applies.
 * @throws input errors `DOWNLOAD_SLOW`, `DOWNLOAD_TOO_LARGE`
 */
export async function* bounded(chunks: AsyncIterable<Buffer>, { clock, most, at }: BodyBounds): AsyncGenerator<Buffer> {
  let [bytes, marked, since] = [0, 0, clock.now()];
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > most) throw tooLarge(at, most, null);
    const now = clock.now();
    if (bytes - marked >= LEAST) [marked, since] = [bytes, now];
    else if (now - since >= PATIENCE_MS) throw tooSlow(at, bytes - marked, (now - since) / 1000);
    yield chunk;
  }
}

/** Returns the error for a body that is too large. @param found size that the publisher announced; null if the limit was exceeded during the download */
export function tooLarge(at: string, most: number, found: number | null): MappaleError {
  return inputError('the download is too large', {
    code: 'DOWNLOAD_TOO_LARGE', at, detail: `expected at most ${most} bytes (${byteText(most)}), found ${found ?? 'more'}`,
    hint: 'Nothing of the download was kept. The limit is much larger than any known file of the source. Open the address in a browser. If the file is correct, save the file manually in the data folder.',
  });
}

function tooSlow(at: string, bytes: number, seconds: number): MappaleError {
  return inputError('the download is too slow', {
    code: 'DOWNLOAD_SLOW', at, detail: `expected at least ${LEAST} bytes in ${duration(PATIENCE_MS / 1000)}, found ${bytes} in ${duration(seconds)}`,
    hint: 'Run the same command again later. If the publisher allows it, the download continues where it stopped.',
  });
}
