import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import source from './source.ts';
import { trial } from '../../test/harness/trial.ts';

const FOLDER = fileURLToPath(new URL('./', import.meta.url));

describe('the lists of schools', () => {
  test.each(['ANNOSCOLASTICO', 'CODICEISTITUTORIFERIMENTO'])('are rejected if the column %s is missing, even under a different file name', async (column) => {
    const folder = await mkdtemp(join(tmpdir(), 'mappale-test-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const path = join(folder, 'copy-under-another-name.csv');
    const lines = readFileSync(join(FOLDER, 'fixture/copy-under-another-name.csv'), 'utf8').split('\n');
    const renamed = lines.map((line, index) => (index === 0 ? line.replace(column, 'MADE_COLUMN') : line)).join('\n');
    await writeFile(path, renamed);
    expect((await trial(source, path)).error).toMatchObject({ code: 'COLUMNS_CHANGED', detail: expect.stringContaining(column) as unknown });
  });
});
