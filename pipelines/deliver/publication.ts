/**
 * Runs long reads that must not mix values of an earlier and a later publication, without blocking new publications. If a new publication becomes current, the
 * read starts again.
 */
import { MappaleError } from '../errors.ts';
import type { Log } from '../log.ts';

/** Maximum number of attempts of a read. */
const TRIES = 3;

/** Returns the error (exit 6) for a long read during which a different publication became current. */
export function publicationChanged(): MappaleError {
  return new MappaleError('another publication became current during this command', {
    code: 'PUBLICATION_CHANGED', kind: 'database', detail: 'expected all values from one publication, found two publications', hint: 'Nothing was written. Run the same command again.',
  });
}

/**
 * Runs work, and runs the work again if a different publication becomes current meanwhile.
 * @throws MappaleError `PUBLICATION_CHANGED` if this happens in every attempt; errors of the work
 */
export async function sameThroughout<T>(log: Log, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof MappaleError && error.code === 'PUBLICATION_CHANGED') || attempt === TRIES) throw error;
      log.warn('another publication became current. Starting again, so that all values come from one publication');
    }
  }
}
