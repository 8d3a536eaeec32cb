/** Creates an empty folder before the tests of a file or suite, and deletes the folder afterwards. */
import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';

/** Call this function outside tests and hooks, before hooks that use the folder. @returns the path of the folder, which only tests and hooks may use */
export function temporaryFolder(): string {
  const folder = join(tmpdir(), `mappale-test-${randomUUID()}`);
  beforeAll(() => mkdir(folder));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
