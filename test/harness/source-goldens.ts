/** Reads the golden files of sources. A golden file contains the version of a reader and the expected output for each fixture. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RegisteredSource } from '../../pipelines/contract/registry.ts';
import { sha256 } from '../../pipelines/contract/sql-files.ts';
import { ROOT } from '../../pipelines/config.ts';
import type { Recorded } from './versions.ts';

/** Expected output of a reader for one fixture. */
export interface Expected {
  /** Digest of the fixture. A changed fixture may have a different output without a new version. */
  readonly input: string;
  readonly output: { readonly rows?: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>> };
}

/** Content of `golden/<id>.json` in a source's folder. */
export interface SourceGolden {
  /** Version in the source's manifest when the golden file was written. */
  readonly version: number;
  /** Expected output, by name of the fixture. */
  readonly fixtures: Readonly<Record<string, Expected>>;
}

type Named = Pick<RegisteredSource, 'id' | 'folder'>;

/** Extensions of the files that belong to a shapefile. */
const SIDECARS = ['dbf', 'shx', 'prj', 'cpg'];

const stemOf = (name: string): string => name.slice(0, name.lastIndexOf('.'));
const short = (...parts: readonly (string | Buffer)[]): string => sha256(parts.map((part) => sha256(part)).join('\n')).slice(0, 12);

/** Returns the path of a source's golden file. */
export function sourceGoldenOf({ id, folder }: Named): string {
  return join(ROOT, folder, 'golden', `${id}.json`);
}

/** Returns the content of a source's golden file, or null if a new source has no golden file yet. */
export function readSourceGolden(source: Named): SourceGolden | null {
  const path = sourceGoldenOf(source);
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) as SourceGolden : null;
}

/** Returns the fixtures of a source with the digests of their content. The digest of a `.shp` covers all files of the shapefile. */
export function fixturesOf({ folder }: Named): { readonly name: string; readonly path: string; readonly input: string }[] {
  const place = join(ROOT, folder, 'fixture');
  const all = readdirSync(place).sort();
  const isSidecar = (name: string): boolean => SIDECARS.some((each) => name.endsWith(`.${each}`)) && all.includes(`${stemOf(name)}.shp`);
  return all.filter((name) => !isSidecar(name)).map((name) => {
    const parts = all.filter((each) => each === name || (name.endsWith('.shp') && stemOf(each) === stemOf(name) && isSidecar(each)));
    return { name, path: join(place, name), input: short(...parts.map((each) => readFileSync(join(place, each)))) };
  });
}

/** Converts the content of a golden file to the form that `violations` in `versions.ts` compares. */
export function recordOf(id: string, { version, fixtures }: SourceGolden): Recorded {
  const goldens = Object.entries(fixtures).map(([name, { input, output }]) => [`${id}.json: ${name}`, `${input} ${short(JSON.stringify(output))}`]);
  return { version, goldens: Object.fromEntries(goldens) };
}

/**
 * Returns the versions of sources that the golden files record, and the current versions in the manifests. Both results have the recorded outputs, because
 * `test/contract/goldens.test.ts` compares the outputs.
 */
export function sourceVersions(sources: readonly RegisteredSource[]): Readonly<Record<'recorded' | 'current', Record<string, Recorded>>> {
  const recorded = Object.fromEntries(sources.flatMap((source) => {
    const golden = readSourceGolden(source);
    return golden === null ? [] : [[source.id, recordOf(source.id, golden)] as const];
  }));
  const current = Object.fromEntries(sources.map(({ id, manifest }) => [id, { version: manifest.version, goldens: recorded[id]?.goldens ?? {} }] as const));
  return { recorded, current };
}
