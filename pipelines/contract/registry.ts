/** Finds the sources by listing the folders below `sources/`. No list of sources is maintained by hand. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../config.ts';
import { MappaleError } from '../errors.ts';
import { loadModule, moduleFile } from '../program.ts';
import { didYouMean } from '../typed.ts';
import { digestOfFacts, readerFacts, type Facts } from './fingerprint.ts';
import { readSqlFile, tableOf, type Relation, type SqlFile } from './sql-files.ts';
import type { PlaceColumns, Source } from './source.ts';
import { layerTables, stagingTables } from './source-tables.ts';

export interface RegisteredSource extends Source {
  readonly id: string;
  /** Folder, relative to the project's root. */
  readonly folder: string;
  /** Facts that determine the rows read from a file: the facts of `readerFacts` and, after `onEngine`, the versions of the database engine. */
  readonly facts: Facts;
  /** Digest of the facts. */
  readonly reader: string;
  readonly staging: SqlFile;
  readonly layer: SqlFile;
  readonly load: SqlFile;
  /** File with the checks of this source; null if the source has no checks. */
  readonly checks: SqlFile | null;
  /** SQL file that lists the places in each file of a release; null if the columns in `places` contain the places. */
  readonly placesOf: SqlFile | null;
}

/** Loads all sources, sorted by id. */
export async function loadSources(): Promise<RegisteredSource[]> {
  const folders = readdirSync(join(ROOT, 'sources'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(moduleFile(join(ROOT, 'sources', entry.name, 'source.ts'))))
    .map((entry) => entry.name)
    .sort();
  return Promise.all(folders.map(registerSource));
}

/**
 * Returns the requested sources, in the order of `sources`.
 * @param ids null for all sources
 * @throws MappaleError `SOURCE_UNKNOWN` (exit 2)
 */
export function chooseSources<S extends { readonly id: string }>(sources: readonly S[], ids: readonly string[] | null): readonly S[] {
  const known = sources.map(({ id }) => id);
  const unknown = ids?.find((id) => !known.includes(id));
  if (unknown !== undefined) {
    throw new MappaleError(`there is no source ${unknown}`, {
      code: 'SOURCE_UNKNOWN', kind: 'usage', detail: `expected one or more of ${known.join(', ')}`, hint: `${didYouMean(unknown, known)}See them with their publishers.`, fix: 'npx mappale sources',
    });
  }
  return ids === null ? sources : sources.filter(({ id }) => ids.includes(id));
}

/** Loads a source by the name of its folder. @throws Error if the manifest has a different id, which is a bug */
export async function registerSource(id: string): Promise<RegisteredSource> {
  const folder = join(ROOT, 'sources', id);
  const source = await loadModule<Source>(`sources/${id}/source.ts`);
  if (source.manifest.id !== id) throw new Error(`sources/${id}: manifest.id is ${source.manifest.id}`);
  const sql = (name: string): SqlFile => readSqlFile(join(folder, `${name}.sql`));
  const optional = (name: string): SqlFile | null => (existsSync(join(folder, `${name}.sql`)) ? sql(name) : null);
  const parts = { ...source, id, staging: stagingTables(id, source.tables), load: sql('load'), placesOf: optional('places') };
  return withFacts({ ...parts, folder: `sources/${id}`, layer: layerTables(id, source.layers), checks: optional('checks') }, () => readerFacts(parts));
}

/** Adds facts to a source. The facts are computed at the first use, because only commands that load files need facts. */
function withFacts(source: Omit<RegisteredSource, 'facts' | 'reader'>, compute: () => Facts): RegisteredSource {
  let facts: Facts | undefined;
  let reader: string | undefined;
  return {
    ...source,
    get facts() {
      return facts ??= compute();
    },
    get reader() {
      return reader ??= digestOfFacts(this.facts);
    },
  };
}

/** Adds the engine facts to each source, because a different PROJ version may compute different coordinates. */
export function onEngine(sources: readonly RegisteredSource[], engine: Facts): RegisteredSource[] {
  return sources.map((source) => withFacts(source, () => ({ ...source.facts, ...engine })));
}

/** Returns the source that fills a layer; undefined if none of the sources fills the layer. */
export function sourceOfLayer(sources: readonly RegisteredSource[], relation: Relation): RegisteredSource | undefined {
  return sources.find((source) => source.layer.writes.includes(relation));
}

/** Returns the columns that state the place of each row of a layer; null if the layer has no such columns. */
export function placesOfLayer(sources: readonly RegisteredSource[], relation: Relation): PlaceColumns | null {
  return sourceOfLayer(sources, relation)?.places?.[tableOf(relation)] ?? null;
}
