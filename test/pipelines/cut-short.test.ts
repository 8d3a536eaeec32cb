/** Tests that a zip that was cut short is assigned to a source by its name. Such a file therefore affects only the sections of that source. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MappaleError } from '../../pipelines/errors.ts';
import { recognise } from '../../pipelines/ingest/locate.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { syntheticFiles } from '../harness/region.ts';

let files: Awaited<ReturnType<typeof syntheticFiles>>;

beforeAll(async () => {
  files = await syntheticFiles(160, 3, { comuni: 4 });
});
afterAll(() => files.remove());

it('the error about a zip that was cut short names the source of the complete zip', async () => {
  const sources = await loadSources();
  const names = (await readdir(files.folder)).filter((name) => name.endsWith('.zip'));
  expect(names.length).toBeGreaterThan(20);
  const wrong: unknown[] = [];
  for (const name of names) {
    const path = join(files.folder, name);
    const content = await readFile(path);
    const complete = await recognise({ path, size: content.length }, sources);
    const size = Math.floor(content.length * 0.6);
    await writeFile(path, content.subarray(0, size));
    const error: unknown = await recognise({ path, size }, sources).then(() => null, (reason: unknown) => reason);
    expect(error, name).toMatchObject({ code: 'ZIP_UNREADABLE' });
    const named = error instanceof MappaleError ? error.source : undefined;
    if (named !== complete?.source) wrong.push({ name, expected: complete?.source, named });
  }
  expect(wrong).toEqual([]);
});
