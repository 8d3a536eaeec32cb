import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { goldenOf, trial } from '../../test/harness/trial.ts';
import source from './source.ts';

const FOLDER = fileURLToPath(new URL('./', import.meta.url));

describe('the list of stations', () => {
  test.each(readdirSync(join(FOLDER, 'fixture')))('is read from %s with the rows of its golden file', async (name) => {
    const golden = JSON.parse(readFileSync(join(FOLDER, 'golden', name.replace(/\.csv$/, '.json')), 'utf8')) as unknown;
    expect(goldenOf(await trial(source, join(FOLDER, 'fixture', name)))).toEqual(golden);
  });
});
