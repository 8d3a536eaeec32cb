/**
 * Tests that the version of a reader or of a table's SQL is raised when its output changes. Without a new version, a database would keep the old output.
 * `versions.json` contains the version of each core table and a digest of its output. If a golden file changes without a new version, the test fails and names
 * the next version number. `test/contract/goldens.test.ts` for sources, and `test/sections/goldens.test.ts` for tables of sections, check the rule before they
 * write a golden file.
 *
 * After raising the version, run `npx vitest run test/contract/versions.test.ts -u`, or the test of the golden files for a source or a section.
 */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { SECTION_FOLDER } from '../../pipelines/contract/sql-files.ts';
import { ROOT } from '../harness/architecture/project.ts';
import { currentVersions, RECORD, recordedVersions, violations, type Recorded, type Upstream, type Versions } from '../harness/versions.ts';

const sources = await loadSources();
const { versions, upstream } = await currentVersions();
const recorded = await recordedVersions();
const isOfSection = (file: string): boolean => file.startsWith(`${SECTION_FOLDER}/`);

describe('the output of sources and tables', () => {
  it('changes only if a version was raised', () => {
    expect(violations(recorded, versions, upstream)).toEqual([]);
  });

  it('is recorded with its version in versions.json (npx vitest run test/contract/versions.test.ts -u)', async () => {
    // Writes no record if the test above fails, because a new record would hide that failure.
    if (violations(recorded, versions, upstream).length > 0) throw new Error('first raise the versions named by the test above');
    const common = Object.fromEntries(Object.entries(versions.tables).filter(([file]) => !isOfSection(file)));
    await expect(`${JSON.stringify({ synthetic: versions.synthetic, tables: common }, null, 1)}\n`).toMatchFileSnapshot(join(ROOT, RECORD));
  });

  it('is recorded with its version in a golden file for a section (npx vitest run test/sections/goldens.test.ts -u)', () => {
    const ofSections = Object.entries(versions.tables).filter(([file]) => isOfSection(file));
    expect(ofSections.length).toBeGreaterThan(15);
    expect(ofSections.filter(([file, { version }]) => recorded.tables[file]?.version !== version).map(([file]) => file)).toEqual([]);
  });

  it('is recorded with its version in a golden file for a source (npx vitest run test/contract/goldens.test.ts -u)', () => {
    expect(sources.length).toBeGreaterThan(20);
    expect(Object.entries(versions.sources).filter(([id, { version }]) => recorded.sources[id]?.version !== version).map(([id]) => id)).toEqual([]);
  });
});

describe('the rule for versions', () => {
  const record: Versions = {
    synthetic: 1,
    sources: { a: { version: 3, goldens: { 'x.json': 'in1 out1', 'y.json': 'in2 out2' } }, b: { version: 1, goldens: {} } },
    tables: { 'sql/core/t.sql': { version: 2, goldens: { 'test/sections/golden/core-t.json': 'g1' } }, 'sql/sections/s/build.sql': { version: 5, goldens: { 'sql/sections/s/golden/s.json': 'g2' } } },
  };
  const above: Upstream = new Map([['sql/core/t.sql', ['a']], ['sql/sections/s/build.sql', ['sql/core/t.sql', 'a']]]);
  const source = (change: Partial<Recorded>): Versions => ({ ...record, sources: { ...record.sources, a: { ...record.sources['a']!, ...change } } });
  const table = (name: string, change: Partial<Recorded>, from = record): Versions => ({
    ...from,
    tables: { ...from.tables, [name]: { ...from.tables[name]!, ...change } },
  });

  it('names the version to raise if a golden file changes without a new version', () => {
    expect(violations(record, source({ goldens: { 'x.json': 'in1 other', 'y.json': 'in2 out2' } }), above)).toEqual([
      'the output of sources/a for the same files changed (golden/x.json) while its version is still 3: raise `version` in the manifest of sources/a to 4',
    ]);
    expect(violations(record, table('sql/sections/s/build.sql', { goldens: { 'sql/sections/s/golden/s.json': 'other' } }), above)).toEqual([
      'the output of sql/sections/s/build.sql changed (sql/sections/s/golden/s.json) while its version is still 5: raise its `-- version:` to 6; '
      + 'if only the synthetic files changed, raise SYNTHETIC in test/harness/versions.ts to 2',
    ]);
  });

  it('accepts a raised version and reports a lowered version', () => {
    expect(violations(record, source({ version: 4, goldens: { 'x.json': 'in1 other', 'y.json': 'in2 out2' } }), above)).toEqual([]);
    expect(violations(record, table('sql/sections/s/build.sql', { version: 6, goldens: { 'sql/sections/s/golden/s.json': 'other' } }), above)).toEqual([]);
    expect(violations(record, source({ version: 2 }), above)).toEqual(['the version of sources/a was 3 and is 2. A version must not be lowered.']);
    expect(violations(record, table('sql/core/t.sql', { version: 1 }), above)).toEqual(['the version of sql/core/t.sql was 2 and is 1. A version must not be lowered.']);
  });

  it('requires nothing for a new or changed fixture, a new source, new synthetic files, or a new version of an input', () => {
    expect(violations(record, source({ goldens: { 'x.json': 'in9 other', 'y.json': 'in2 out2', 'z.json': 'in3 out3' } }), above)).toEqual([]);
    expect(violations(record, { ...record, sources: { ...record.sources, c: { version: 1, goldens: { 'x.json': 'in out' } } } }, above)).toEqual([]);
    expect(violations(record, { ...table('sql/core/t.sql', { goldens: { 'test/sections/golden/core-t.json': 'other' } }), synthetic: 2 }, above)).toEqual([]);
    expect(violations(record, table('sql/sections/s/build.sql', { goldens: { 'sql/sections/s/golden/s.json': 'other' } }, table('sql/core/t.sql', { version: 3 })), above)).toEqual([]);
    expect(violations(record, table('sql/sections/s/build.sql', { goldens: { 'sql/sections/s/golden/s.json': 'other' } }, source({ version: 4 })), above)).toEqual([]);
  });

  it('requires a new version of a changed table, even if the version of a table that is built from it was raised', () => {
    const changed = table('sql/sections/s/build.sql', { version: 6 }, table('sql/core/t.sql', { goldens: { 'test/sections/golden/core-t.json': 'other' } }));
    expect(violations(record, changed, above)).toEqual([
      'the output of sql/core/t.sql changed (test/sections/golden/core-t.json) while its version is still 2: raise its `-- version:` to 3; '
      + 'if only the synthetic files changed, raise SYNTHETIC in test/harness/versions.ts to 2',
    ]);
  });
});
