/** Defines the state that all plugins of a server share. */
import type { Reader } from '../pipelines/db/reader.ts';
import type { Log } from '../pipelines/log.ts';
import type { Admit, AdmitOpen, Counter } from './access.ts';
import type { ServerMetrics } from './metrics.ts';
import { remember } from './remember.ts';
import type { SignIn } from './sign-in.ts';
import type { Shared } from './workers.ts';

export interface Service {
  readonly reader: Reader;
  /** Version of the program. */
  readonly version: string;
  readonly log: Log;
  readonly metrics: ServerMetrics;
  readonly shared: Shared;
  readonly counter: Counter;
  readonly signIn: SignIn | null;
  readonly admit: Admit;
  readonly admitOpen: AdmitOpen;
  readonly published: Published;
}

/** Time in milliseconds for which the content of `/health` and `/metrics`, and the identifier of the current publications, are reused. */
export const REMEMBERED_MS = 1_000;

/** Returns an identifier of the current publications of all regions. @throws MappaleError if the database is not available */
export type Published = () => Promise<string>;

/** Returns a function that reads the identifier of the current publications from the database at most once a second. A failure is reused for a second, too. */
export function publishedBy(reader: Reader): Published {
  const read = remember(REMEMBERED_MS, async () => {
    try {
      return await reader.call<{ publication: string }>('select publication from api.map_publication()', []);
    } catch (error) {
      return { error };
    }
  });
  return async () => {
    const found = await read();
    if ('error' in found) throw found.error;
    return found.publication;
  };
}
