/**
 * Compares the versions of readers and of the SQL of tables with the recorded versions. If an output changes without a new version, a database would keep the
 * old output.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { sha256, tableFiles } from '../../pipelines/contract/sql-files.ts';
import { ROOT } from './architecture/project.ts';
import { goldenOf, readGolden } from './golden.ts';
import { sourceVersions } from './source-goldens.ts';

/** Version of the synthetic region from which the golden files of tables are built. Raise it if outputs change only because the synthetic files changed. */
const SYNTHETIC = 1;

export interface Recorded {
  readonly version: number;
  /** Maps a golden file to the digest of its content. For a fixture of a source, the digest of the fixture comes first. */
  readonly goldens: Readonly<Record<string, string>>;
}

export interface Versions {
  readonly synthetic: number;
  /** Versions of readers, by source id. */
  readonly sources: Readonly<Record<string, Recorded>>;
  /** Versions of tables, by SQL file. */
  readonly tables: Readonly<Record<string, Recorded>>;
}

/** Maps the SQL file of a table to the SQL files and source ids from which the table is built, directly or indirectly. */
export type Upstream = ReadonlyMap<string, readonly string[]>;

function digest(...texts: readonly (string | Buffer)[]): string {
  return sha256(texts.map((text) => sha256(text)).join('\n')).slice(0, 12);
}

/** Returns the digest of the rows in the golden file of a section's table. */
export function rowsDigest(rows: readonly string[] | undefined): string {
  return digest((rows ?? []).join('\n'));
}

/** Returns the versions and the digests of the outputs in this checkout, and the inputs of each table. */
export async function currentVersions(): Promise<{ versions: Versions; upstream: Upstream }> {
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
      sources: sourceVersions(sources).current,
      tables: Object.fromEntries(makers.map((file) => {
        const golden = goldenOf(file);
        const output = file.section === null ? digest(readFileSync(join(ROOT, golden))) : rowsDigest(readGolden(golden).rows);
        return [file.file, { version: file.version!, goldens: { [golden]: output } }] as const;
      })),
    },
  };
}

/** Returns a line for each contradiction with the recorded versions. Each line states what to do. */
export function violations(was: Versions, now: Versions, upstream: Upstream): string[] {
  const lowered = (name: string, before: Recorded | undefined, after: Recorded): string[] =>
    before !== undefined && after.version < before.version ? [`the version of ${name} was ${before.version} and is ${after.version}. A version must not be lowered.`] : [];
  const raised = (before: Recorded | undefined, after: Recorded | undefined): boolean =>
    before === undefined || after === undefined || after.version > before.version;
  const reported: string[] = [];
  for (const [id, after] of Object.entries(now.sources)) {
    const before = was.sources[id];
    reported.push(...lowered(`sources/${id}`, before, after));
    if (before === undefined || raised(before, after)) continue;
    const changed = Object.entries(after.goldens).filter(([name, text]) => before.goldens[name]?.split(' ')[0] === text.split(' ')[0] && before.goldens[name] !== text).map(([name]) => name);
    if (changed.length > 0) {
      reported.push(`the output of sources/${id} for the same files changed (golden/${changed.join(', golden/')}) while its version is still ${after.version}: raise \`version\` in the manifest of sources/${id} to ${after.version + 1}`);
    }
  }
  for (const [file, after] of Object.entries(now.tables)) {
    const before = was.tables[file];
    reported.push(...lowered(file, before, after));
    const isNew =
      now.synthetic > was.synthetic
      || (upstream.get(file) ?? []).some((name) => raised(was.tables[name] ?? was.sources[name], now.tables[name] ?? now.sources[name]));
    if (before === undefined || raised(before, after) || isNew) continue;
    for (const [name, text] of Object.entries(after.goldens)) {
      if (before.goldens[name] === text) continue;
      reported.push(`the output of ${file} changed (${name}) while its version is still ${after.version}: raise its \`-- version:\` to ${after.version + 1}; `
        + `if only the synthetic files changed, raise SYNTHETIC in test/harness/versions.ts to ${now.synthetic + 1}`);
    }
  }
  return reported;
}

/** Path of the file with the recorded versions of tables outside sections. The versions of sources and of sections' tables are in their golden files. */
export const RECORD = 'test/contract/versions.json';

/** Returns the recorded versions and outputs. The result has no entry for a new table of a section. */
export async function recordedVersions(): Promise<Versions> {
  const common = JSON.parse(readFileSync(join(ROOT, RECORD), 'utf8')) as Omit<Versions, 'sources'>;
  const ofSections = tableFiles().filter(({ section }) => section !== null).flatMap((file) => {
    const golden = goldenOf(file);
    const { version, rows } = readGolden(golden);
    return version === undefined ? [] : [[file.file, { version, goldens: { [golden]: rowsDigest(rows) } }] as const];
  });
  return { ...common, sources: sourceVersions(await loadSources()).recorded, tables: { ...common.tables, ...Object.fromEntries(ofSections) } };
}
