/**
 * Compares the output of each source's reader with the golden file of the source. The golden file has the output for each fixture, and the version of the
 * reader. `npx vitest run test/contract/goldens.test.ts -u` writes the file. If the output for the same fixture changed and the version was not raised, the
 * test fails, names the next version and does not write the file.
 */
import { describe, expect, it } from 'vitest';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { goldenOf, trial } from '../harness/trial.ts';
import { fixturesOf, readSourceGolden, recordOf, sourceGoldenOf, type Expected, type SourceGolden } from '../harness/source-goldens.ts';
import { violations, type Versions } from '../harness/versions.ts';

describe.each((await loadSources()).map((source) => [source.id, source] as const))('source %s', (id, source) => {
  it('reads each fixture into the rows, rejects and errors of its golden file', async () => {
    const fixtures: Record<string, Expected> = {};
    for (const { name, path, input } of fixturesOf(source)) fixtures[name] = { input, output: goldenOf(await trial(source, path)) as Expected['output'] };
    expect(Object.keys(fixtures).length).toBeGreaterThan(0);
    const now: SourceGolden = { version: source.manifest.version, fixtures };
    const [before, after] = [readSourceGolden(source), now].map((golden): Versions => (
      { synthetic: 1, sources: golden === null ? {} : { [id]: recordOf(id, golden) }, tables: {} }));
    // With -u, the file is written only if the version was raised.
    expect(violations(before!, after!, new Map())).toEqual([]);
    await expect(`${JSON.stringify(now, null, 1)}\n`).toMatchFileSnapshot(sourceGoldenOf(source));
  });
});
