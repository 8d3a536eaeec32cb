/**
 * What a reader or a table's SQL makes changes together with its version: else what was made before would not be made again. Files `versions.json`
 * have, for each, the version and what it made; a golden file that differs while the version does not is an offence, and named with the number to raise.
 *
 * Then: `npx vitest run test/contract/versions.test.ts -u`
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { SECTION_FOLDER, sectionFolders, sha256, tableFiles } from '../../pipelines/contract/sql-files.ts';
import { ROOT } from '../architecture/project.ts';
import { goldenOf } from '../harness/golden.ts';

/** Of the synthetic region behind the golden files of tables. Raised when its files change, and no rule does. */
const SYNTHETIC = 1;

interface Recorded {
  readonly version: number;
  /** Golden file → what it is made from, and what it holds. */
  readonly goldens: Readonly<Record<string, string>>;
}

interface Versions {
  readonly synthetic: number;
  /** By manifest. */
  readonly sources: Readonly<Record<string, Recorded>>;
  /** By SQL file. */
  readonly tables: Readonly<Record<string, Recorded>>;
}

/** Tables and sources that a table is made from, directly or not. */
type Upstream = ReadonlyMap<string, readonly string[]>;

function digest(...texts: readonly (string | Buffer)[]): string {
  return sha256(texts.map((text) => sha256(text)).join('\n')).slice(0, 12);
}

async function found(): Promise<{ versions: Versions; upstream: Upstream }> {
  const sources = await loadSources();
  const makers = tableFiles();
  const upstream = new Map(makers.map((file) => {
    const reached = new Set<string>();
    const follow = (each: typeof file): void => each.reads.forEach((read) => {
      const maker = makers.find(({ writes }) => writes[0] === read);
      const source = sources.find(({ layer }) => layer.writes.includes(read));
      if (source !== undefined) reached.add(source.id);
      if (maker === undefined || maker === file || reached.has(maker.file)) return;
      reached.add(maker.file);
      follow(maker);
    });
    follow(file);
    return [file.file, [...reached]] as const;
  }));
  return {
    upstream,
    versions: {
      synthetic: SYNTHETIC,
      sources: Object.fromEntries(sources.map(({ id, folder, manifest }) => {
        const fixtures = readdirSync(join(ROOT, folder, 'fixture')).sort();
        const goldens = readdirSync(join(ROOT, folder, 'golden')).sort().map((name) => {
          const stem = name.replace(/\.json$/, '');
          const from = fixtures.filter((fixture) => fixture.startsWith(`${stem}.`)).map((fixture) => readFileSync(join(ROOT, folder, 'fixture', fixture)));
          return [name, `${digest(...from)} ${digest(JSON.stringify(JSON.parse(readFileSync(join(ROOT, folder, 'golden', name), 'utf8'))))}`] as const;
        });
        return [id, { version: manifest.version, goldens: Object.fromEntries(goldens) }] as const;
      })),
      tables: Object.fromEntries(makers.map((file) => {
        const golden = goldenOf(file);
        return [file.file, { version: file.version!, goldens: { [golden]: digest(readFileSync(join(ROOT, golden))) } }] as const;
      })),
    },
  };
}

/** What contradicts the record, each with what to do. */
function offences(was: Versions, now: Versions, upstream: Upstream): string[] {
  const lowered = (name: string, before: Recorded | undefined, after: Recorded): string[] =>
    before !== undefined && after.version < before.version ? [`the version of ${name} was ${before.version} and is ${after.version}: versions only rise`] : [];
  const raised = (before: Recorded | undefined, after: Recorded | undefined): boolean =>
    before === undefined || after === undefined || after.version > before.version;
  const told: string[] = [];
  for (const [id, after] of Object.entries(now.sources)) {
    const before = was.sources[id];
    told.push(...lowered(`sources/${id}`, before, after));
    if (before === undefined || raised(before, after)) continue;
    const changed = Object.entries(after.goldens).filter(([name, text]) => before.goldens[name]?.split(' ')[0] === text.split(' ')[0] && before.goldens[name] !== text).map(([name]) => name);
    if (changed.length > 0) {
      told.push(`what sources/${id} makes of the same files changed (golden/${changed.join(', golden/')}) while its version is still ${after.version}: raise \`version\` in sources/${id}/manifest.ts to ${after.version + 1}`);
    }
  }
  for (const [file, after] of Object.entries(now.tables)) {
    const before = was.tables[file];
    told.push(...lowered(file, before, after));
    const isNew =
      now.synthetic > was.synthetic
      || (upstream.get(file) ?? []).some((name) => raised(was.tables[name] ?? was.sources[name], now.tables[name] ?? now.sources[name]));
    if (before === undefined || raised(before, after) || isNew) continue;
    for (const [name, text] of Object.entries(after.goldens)) {
      if (before.goldens[name] === text) continue;
      told.push(`what ${file} makes changed (${name}) while its version is still ${after.version}: raise its \`-- version:\` to ${after.version + 1}; `
        + `where only the synthetic files changed, raise SYNTHETIC in test/contract/versions.test.ts to ${now.synthetic + 1}`);
    }
  }
  return told;
}

/** Where it stands: of a section's tables in the section's folder, so that it goes with them. */
const RECORD = 'test/contract/versions.json';
const recordsOf = (section: string): string => `${SECTION_FOLDER}/${section}/golden/versions.json`;
const { versions, upstream } = await found();

function recorded(): Versions {
  const read = (file: string): unknown => (existsSync(join(ROOT, file)) ? JSON.parse(readFileSync(join(ROOT, file), 'utf8')) : {});
  const common = read(RECORD) as Versions;
  return { ...common, tables: Object.assign({}, common.tables, ...sectionFolders().map((section) => read(recordsOf(section)) as object)) as Versions['tables'] };
}

/** File → what is to stand in it. */
function records(): Map<string, unknown> {
  const tables = Object.entries(versions.tables);
  const of = (section: string | null): Versions['tables'] => Object.fromEntries(tables.filter(([file]) => (section === null ? !file.startsWith(SECTION_FOLDER) : file.startsWith(`${SECTION_FOLDER}/${section}/`))));
  return new Map<string, unknown>([
    [RECORD, { ...versions, tables: of(null) }],
    ...sectionFolders().map((section) => [recordsOf(section), of(section)] as const),
  ]);
}

describe('what is made', () => {
  it('changed only where a version was raised', () => {
    expect(offences(recorded(), versions, upstream)).toEqual([]);
  });

  it('is recorded with its version in versions.json (npx vitest run test/contract/versions.test.ts -u)', async () => {
    // Not before the above: a record would hide what it found.
    if (offences(recorded(), versions, upstream).length > 0) throw new Error('first raise the versions that are named');
    for (const [file, record] of records()) await expect(`${JSON.stringify(record, null, 1)}\n`).toMatchFileSnapshot(join(ROOT, file));
  });
});

describe('the rule', () => {
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

  it('names the number to raise when a golden changes and the version does not', () => {
    expect(offences(record, source({ goldens: { 'x.json': 'in1 other', 'y.json': 'in2 out2' } }), above)).toEqual([
      'what sources/a makes of the same files changed (golden/x.json) while its version is still 3: raise `version` in sources/a/manifest.ts to 4',
    ]);
    expect(offences(record, table('sql/sections/s/build.sql', { goldens: { 'sql/sections/s/golden/s.json': 'other' } }), above)).toEqual([
      'what sql/sections/s/build.sql makes changed (sql/sections/s/golden/s.json) while its version is still 5: raise its `-- version:` to 6; '
      + 'where only the synthetic files changed, raise SYNTHETIC in test/contract/versions.test.ts to 2',
    ]);
  });

  it('is content when the version is raised, and says so when it is lowered', () => {
    expect(offences(record, source({ version: 4, goldens: { 'x.json': 'in1 other', 'y.json': 'in2 out2' } }), above)).toEqual([]);
    expect(offences(record, table('sql/sections/s/build.sql', { version: 6, goldens: { 'sql/sections/s/golden/s.json': 'other' } }), above)).toEqual([]);
    expect(offences(record, source({ version: 2 }), above)).toEqual(['the version of sources/a was 3 and is 2: versions only rise']);
    expect(offences(record, table('sql/core/t.sql', { version: 1 }), above)).toEqual(['the version of sql/core/t.sql was 2 and is 1: versions only rise']);
  });

  it('asks nothing of what is new: a fixture, a source, other synthetic files, or what a table is made from', () => {
    expect(offences(record, source({ goldens: { 'x.json': 'in9 other', 'y.json': 'in2 out2', 'z.json': 'in3 out3' } }), above)).toEqual([]);
    expect(offences(record, { ...record, sources: { ...record.sources, c: { version: 1, goldens: { 'x.json': 'in out' } } } }, above)).toEqual([]);
    expect(offences(record, { ...table('sql/core/t.sql', { goldens: { 'test/sections/golden/core-t.json': 'other' } }), synthetic: 2 }, above)).toEqual([]);
    expect(offences(record, table('sql/sections/s/build.sql', { goldens: { 'sql/sections/s/golden/s.json': 'other' } }, table('sql/core/t.sql', { version: 3 })), above)).toEqual([]);
    expect(offences(record, table('sql/sections/s/build.sql', { goldens: { 'sql/sections/s/golden/s.json': 'other' } }, source({ version: 4 })), above)).toEqual([]);
  });

  it('follows a change down to what is made from it, and no further', () => {
    const changed = table('sql/sections/s/build.sql', { version: 6 }, table('sql/core/t.sql', { goldens: { 'test/sections/golden/core-t.json': 'other' } }));
    expect(offences(record, changed, above)).toHaveLength(1);
  });
});
