/** Long reads that are of one publication, and keep no other from coming into force: they look whether one did, and begin again. */
import { MappaleError } from '../errors.ts';
import type { Log } from '../log.ts';

/** How often a read begins. */
const TRIES = 3;

/** Exit 6. @throws never; it builds the error. */
export function publicationChanged(): MappaleError {
  return new MappaleError('another publication came into force while this was under way', {
    code: 'PUBLICATION_CHANGED', kind: 'database', detail: 'expected all values to be of one publication, found two', hint: 'Run the same command again; nothing was written.',
  });
}

/** Runs the work, and starts it again if a publication interrupts it. @throws MappaleError `PUBLICATION_CHANGED`; what the work throws */
export async function sameThroughout<T>(log: Log, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof MappaleError && error.code === 'PUBLICATION_CHANGED') || attempt === TRIES) throw error;
      log.warn('another publication came into force: beginning again, so that everything is of one');
    }
  }
}
