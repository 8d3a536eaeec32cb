import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import source from './source.ts';
import { goldenOf, trial } from '../../test/harness/trial.ts';

const FOLDER = fileURLToPath(new URL('./', import.meta.url));

describe('the register of fuel stations', () => {
  test.each(readdirSync(join(FOLDER, 'fixture')))('is read from %s and matches the golden file', async (name) => {
    const golden = JSON.parse(readFileSync(join(FOLDER, 'golden', name.replace(/\.csv$/, '.json')), 'utf8')) as unknown;
    expect(goldenOf(await trial(source, join(FOLDER, 'fixture', name)))).toEqual(golden);
  });
});
