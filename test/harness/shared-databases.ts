/**
 * Shares databases between suites. A database is prepared once per run and copied by each suite that needs the same content. Runs in Vitest's main process.
 */
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Preparation of the template database with one content. `prepared` resolves to the template's URL, or to null if the preparation failed. */
interface Preparation {
  readonly prepared: Promise<string | null>;
  readonly finish: (url: string | null) => void;
}

export class SharedDatabases {
  readonly #preparations = new Map<string, Preparation>();

  /**
   * Waits while another worker prepares the same content.
   * @returns the URL of the template, or null if the caller must prepare the template and call `finish`
   */
  async find(content: string): Promise<string | null> {
    for (;;) {
      const preparation = this.#preparations.get(content);
      if (preparation === undefined) break;
      const url = await preparation.prepared;
      if (url !== null) return url;
    }
    let finish: Preparation['finish'] = () => undefined;
    const prepared = new Promise<string | null>((resolve) => (finish = resolve));
    this.#preparations.set(content, { prepared, finish });
    return null;
  }

  /** @param url null if the preparation failed. The next caller of `find` tries again. */
  finish(content: string, url: string | null): void {
    const preparation = this.#preparations.get(content);
    if (url === null) this.#preparations.delete(content);
    preparation?.finish(url);
  }

  /** Removes the folders of the embedded databases. Databases on the server are dropped together with all other test databases. */
  async remove(): Promise<void> {
    for (const { prepared } of this.#preparations.values()) {
      const url = await Promise.race([prepared, Promise.resolve(null)]);
      if (url?.startsWith('pglite:') === true) await rm(dirname(url.slice('pglite:'.length)), { recursive: true, force: true });
    }
  }
}
