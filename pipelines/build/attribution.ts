/** Finds the sources of each section of a publication. A group of parcels may have different sources from the rest of the region. */
import type { Database, Row, Session } from '../db/index.ts';
import { inWorkspace } from '../db/layers.ts';
import { statementsOf } from '../db/statements.ts';
import { sourceOfLayer, type RegisteredSource } from '../contract/registry.ts';
import { SECTIONS, tableOfSection } from '../contract/sections.ts';
import { readSectionFiles, schemaOf, tableOf, type Relation, type SqlFile } from '../contract/sql-files.ts';
import type { Product } from '../plan/products.ts';
import { rowsOfFile } from './file-rows.ts';
import type { IncrementalBuild } from './incremental.ts';
import type { Joined } from './join.ts';

const publication = statementsOf('publication');

/** A source of a section's values, with the period of the cited files. */
interface Citation {
  /** Name of the section; `*` if the source is cited in every API response. */
  readonly section: string;
  readonly source: RegisteredSource;
  readonly period: string;
}

/** Sources of a section for one group of parcels. */
interface Cited {
  readonly section: string;
  /** Keys of the parcels in the group, each with the prefix `<section>/`, as in `record.sql`. The only key of the largest group is the section's name. */
  readonly keys: readonly string[];
  /** Period of each source, by source id. */
  readonly periods: ReadonlyMap<string, string>;
}

interface Citations {
  /** Sources of each section over all parcels of the region. */
  readonly all: readonly Citation[];
  /** Sources of each section, by group of parcels. */
  readonly cited: readonly Cited[];
}

type Vintages = Map<string, Set<string>>;

/** A row that `attribution.sql` of a section returns. */
interface CitedRow extends Record<string, unknown> {
  readonly key: string;
  /** Id of the source; null if the key has no sources. */
  readonly source_id: string | null;
  readonly vintage: string | null;
}

/** Vintages of the cited files, by section, key of the parcels and source. */
type Found = ReadonlyMap<string, ReadonlyMap<string, Vintages>>;

/**
 * Returns the sources of a region's sections. All tables of the region must be in the workspace. Sections whose sources did not change keep their published
 * citations. For Italy, returns the releases of `core.comune` for each section that names comuni.
 */
export async function citationsOf(database: Database, joined: Joined, sources: readonly RegisteredSource[]): Promise<Citations> {
  const { region, schema, products } = joined;
  const known = new Map(sources.map((source) => [source.id, source]));
  const found = new Map<string, Map<string, Vintages>>();
  const cite = (section: string, key: string, sourceId: string | null, vintage: string | null): void => {
    const keys = take(found, section, () => new Map<string, Vintages>());
    const cited = take(keys, key, (): Vintages => new Map());
    // Skips a source whose folder was deleted after its files were loaded.
    if (sourceId !== null && known.has(sourceId)) take(cited, sourceId, () => new Set<string>()).add(vintage ?? '');
  };
  if (region === 0) {
    const releases = products.find(({ relation }) => relation === 'core.comune')?.releases ?? [];
    for (const { name, namesComuni } of SECTIONS) if (namesComuni === true) for (const { sourceId, vintage } of releases) cite(name, '', sourceId, vintage);
    return citationsFrom(found, sources, region);
  }
  const tables = citedTables(products);
  const kept = await inWorkspace(database, schema, async (session) => {
    const same = await keptSections(session, joined, tables, sources);
    const others = tables.filter(({ section }) => !same.sections.has(section));
    await joined.incremental?.views.provide(session, others.flatMap(({ file }) => file?.reads ?? []));
    await citeRows(session, others, cite);
    return same;
  });
  const made = citationsFrom(found, sources, region);
  if (kept.sections.size === 0) return made;
  const before = await publishedCitations(database, region, new Set([...kept.sections, EVERY_ANSWER]), known);
  const isKept = ({ section, source }: Citation): boolean => (section === EVERY_ANSWER ? kept.mandatory.has(source.id) : kept.sections.has(section));
  const all = [...made.all.filter((each) => !isKept(each)), ...before.all.filter(isKept)];
  return withMandatory({ all, cited: [...made.cited, ...before.cited].filter(({ section }) => section !== EVERY_ANSWER) });
}

function citationsFrom(found: Found, sources: readonly RegisteredSource[], region: number): Citations {
  const all = sources.flatMap((source) => citationsOfSource(source, found, region));
  return withMandatory({ all, cited: [...found].flatMap(([section, keys]) => groupsOf(section, keys)) });
}

/** Adds a citation of the mandatory sources. Every API response cites these sources. */
function withMandatory({ all, cited }: Citations): Citations {
  const mandatory = all.filter(({ section }) => section === EVERY_ANSWER).map(({ source: { id }, period }) => [id, period] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return { all, cited: mandatory.length === 0 ? cited : [...cited, { section: EVERY_ANSWER, keys: [EVERY_ANSWER], periods: new Map(mandatory) }] };
}

/** Section name of the sources that are cited in every API response. */
const EVERY_ANSWER = '*';

/** A table of a section, with the file that selects the sources of each parcel. */
interface CitedTable {
  readonly section: string;
  readonly product: Product;
  /** The section's `attribution.sql`; undefined if all sources of the table are cited for all parcels. */
  readonly file: SqlFile | undefined;
}

/** Returns the tables of sections, without tables that are only inputs of other tables. */
function citedTables(products: readonly Product[]): CitedTable[] {
  const files = new Map(readSectionFiles('attribution').map((file): [string | null, SqlFile] => [file.section, file]));
  return products.flatMap((product) => {
    const section = SECTIONS.find(({ name }) => tableOfSection(name) === product.relation)?.name;
    return section === undefined ? [] : [{ section, product, file: files.get(section) }];
  });
}

/**
 * Runs `attribution.sql` of each section. Sources that the file does not name are cited for all parcels. Without such a file, all sources of the section are
 * cited for all parcels.
 */
async function citeRows(
  session: Session, tables: readonly CitedTable[], cite: (section: string, key: string, source: string | null, vintage: string | null) => void,
): Promise<void> {
  for (const { section, product: { cited }, file } of tables) {
    const rows = file === undefined ? [] : await rowsOfFile<CitedRow>(session, file);
    const others = cited.filter(({ sourceId }) => file?.cites.includes(sourceId) !== true);
    for (const { key, source_id: sourceId, vintage } of rows) cite(section, key, sourceId, vintage);
    const keys = rows.length === 0 ? [''] : new Set(rows.map(({ key }) => key));
    for (const key of keys) for (const { sourceId, vintage } of others) cite(section, key, sourceId, vintage);
  }
}

/** Sections whose published citations are kept, and mandatory sources whose published period is kept. */
interface Kept {
  readonly sections: ReadonlySet<string>;
  readonly mandatory: ReadonlySet<string>;
}

/** Tables, changes and sources of a build, which determine whether the citations change. */
interface Compared {
  readonly products: readonly Product[];
  readonly incremental: IncrementalBuild;
  readonly sources: readonly RegisteredSource[];
}

/** Finds the sections that keep their published citations. Returns empty sets if all tables were built completely. */
async function keptSections(
  session: Session, { incremental, products }: Joined, tables: readonly CitedTable[], sources: readonly RegisteredSource[],
): Promise<Kept> {
  const kept = new Set<string>();
  if (incremental === null) return { sections: kept, mandatory: kept };
  for (const table of tables) if (await isSameCitation(session, { products, incremental, sources }, table)) kept.add(table.section);
  const mandatory = new Set(sources.filter(({ manifest }) => manifest.attribution.mandatory === true).map(({ id }) => id));
  const sourcesOf = ({ product: { cited }, file }: CitedTable): string[] => [...cited.map(({ sourceId }) => sourceId), ...file?.cites ?? []];
  // The period of a mandatory source covers its vintages in all sections, so either all or none of these sections keep their citations.
  for (let lost: CitedTable[] = tables.filter(({ section }) => !kept.has(section)); lost.length > 0;) {
    const ids = lost.flatMap(sourcesOf).filter((id) => mandatory.delete(id));
    lost = tables.filter((table) => kept.has(table.section) && sourcesOf(table).some((id) => ids.includes(id)));
    for (const { section } of lost) kept.delete(section);
  }
  return { sections: kept, mandatory };
}

/**
 * Returns true if a section is known to cite the same sources as before. Returns false if the cited vintages changed, if a layer that determines the citations
 * may have changed, or if an input table of `attribution.sql` was completely rebuilt. If rows of the input tables changed, compares the rows of `factsOf`
 * before and after the change: first for the changed parcels, then for all parcels of their comuni. Returns true if one of the two comparisons finds the same
 * rows.
 */
async function isSameCitation(session: Session, { products, incremental, sources }: Compared, { product, file }: CitedTable): Promise<boolean> {
  if (!product.hasSameVintages) return false;
  if (file === undefined) return true;
  const how = file.incremental;
  const vintagesOf = how?.by === 'parcels' ? how.vintagesOf : [];
  const layers = file.reads.filter((read) => schemaOf(read) === 'layer' && !(vintagesOf.includes(read) && hasOneVintage(products, sources, read)));
  if (layers.some((layer) => isChangedLayer(products, layer))) return false;
  const reads = products.filter(({ relation }) => file.reads.includes(relation));
  const stale = reads.filter((read) => read.stale !== null).map(({ relation }) => incremental.results.get(relation));
  if (stale.some((result) => result === undefined)) return false;
  if (stale.every((result) => result?.patch === null)) return true;
  if (how?.by !== 'parcels') return false;
  await incremental.views.provide(session, file.reads);
  const isSame = async (which: 'changed' | 'comuni'): Promise<boolean> => {
    const { before, after } = await incremental.rowsBeforeAndAfter(session, factsOf(file), { reads, which });
    return sameRows(before, after);
  };
  // Changed parcels may have new citations that other parcels of the same comuni already had. Therefore also compares whole comuni.
  return (await isSame('changed')) || isSame('comuni');
}

/** Returns the statements whose rows determine the citations: the query of the table `fact`, or the complete file. */
function factsOf({ file, parts, facts }: SqlFile): Pick<SqlFile, 'parts'> {
  return { parts: facts === null ? parts : [...facts, { file, text: publication('facts') }] };
}

/** Returns whether all current files of a layer's source have the same vintage. In this case, the citations do not depend on which file contains a parcel. */
function hasOneVintage(products: readonly Product[], sources: readonly RegisteredSource[], layer: Relation): boolean {
  const id = sourceOfLayer(sources, layer)?.id;
  const vintages = products.flatMap(({ cited }) => cited.flatMap(({ sourceId, vintage }) => (sourceId === id ? [vintage] : [])));
  return new Set(vintages).size <= 1;
}

/** Returns whether a layer may differ from the layer from which the published tables were built. Returns true for a layer that no table reads. */
function isChangedLayer(products: readonly Product[], layer: Relation): boolean {
  const readers = products.filter(({ file: { reads } }) => reads.includes(layer));
  return readers.length === 0 || readers.some(({ differing }) => differing.some((input) => input.endsWith(` ${tableOf(layer)}`)));
}

function sameRows(some: readonly Row[], others: readonly Row[]): boolean {
  const textsOf = (rows: readonly Row[]): ReadonlySet<string> => new Set(rows.map((row) => JSON.stringify(Object.values(row))));
  const [a, b] = [textsOf(some), textsOf(others)];
  return a.size === b.size && [...a].every((text) => b.has(text));
}

/** Reads the citations of some sections from the current publication. */
async function publishedCitations(
  database: Database, region: number, sections: ReadonlySet<string>, known: ReadonlyMap<string, RegisteredSource>,
): Promise<Citations> {
  const all = await database.query<{ section: string; source: string; period: string }>(publication('citations'), [region, [...sections]]);
  const cited = await database.query<{ section: string; keys: string[]; sources: string[]; periods: string[] }>(publication('cited_keys'), [region, [...sections]]);
  return {
    all: all.flatMap(({ section, source: id, period }): Citation[] => {
      const source = known.get(id);
      return source === undefined ? [] : [{ section, source, period }];
    }),
    cited: cited.map(({ section, keys, sources, periods }) => ({ section, keys, periods: new Map(sources.map((id, at) => [id, periods[at] ?? ''])) })),
  };
}

function take<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key) ?? make();
  map.set(key, found);
  return found;
}

/** Returns the citations of a source by section. A mandatory source of a region is also cited in every API response. */
function citationsOfSource(source: RegisteredSource, bySection: Found, region: number): Citation[] {
  const found = [...bySection].flatMap(([section, keys]): { section: string; vintages: string[] }[] => {
    const vintages = new Set([...keys.values()].flatMap((cited) => [...cited.get(source.id) ?? []]));
    return vintages.size === 0 ? [] : [{ section, vintages: [...vintages] }];
  });
  const citations = found.map(({ section, vintages }) => ({ section, source, period: periodOf(vintages) }));
  if (region === 0 || source.manifest.attribution.mandatory !== true) return citations;
  return [...citations, { section: EVERY_ANSWER, source, period: periodOf(found.flatMap(({ vintages }) => vintages)) }];
}

/** Groups keys with the same sources and periods. The largest group is stored under the section's name, and its keys are not stored. */
function groupsOf(section: string, keys: ReadonlyMap<string, Vintages>): Cited[] {
  const groups = new Map<string, { keys: string[]; periods: Map<string, string> }>();
  for (const [key, cited] of keys) {
    const periods = new Map([...cited].map(([id, vintages]): [string, string] => [id, periodOf([...vintages])]).sort(([a], [b]) => (a < b ? -1 : 1)));
    take(groups, JSON.stringify([...periods]), () => ({ keys: [], periods })).keys.push(key);
  }
  const ranked = [...groups].sort(([a, { keys: some }], [b, { keys: others }]) => others.length - some.length || (a < b ? -1 : 1));
  return ranked.map(([, group], index) => ({ section, keys: index === 0 ? [section] : group.keys.map((key) => `${section}/${key}`), periods: group.periods }));
}

/** Writes the citations of a publication into the ledger. */
export async function attribute(session: Session, publicationId: number, { all, cited }: Citations): Promise<void> {
  const sources = all.map(({ section, source: { id, manifest: { title, attribution: { holder, license, url, text } } }, period }) => (
    { section, source_id: id, source: title, holder, license, url, period, text }
  ));
  await session.query(publication('cite'), [publicationId, JSON.stringify(sources)]);
  const combinations = cited.map(({ section, keys, periods }) => ({ section, keys, sources: Object.fromEntries(periods) }));
  await session.query(publication('cite_values'), [publicationId, JSON.stringify(combinations)]);
}

/**
 * Formats vintages as text. Consecutive years and half-years become a range (`2015_1–2025_2`), and other years are listed (`2022, 2024`). If any vintage is not
 * a year or half-year, such as a day, all vintages become one range from the first to the last. Returns an empty text if no vintage is known.
 */
export function periodOf(all: readonly string[]): string {
  // The vintage `basi_2021` consists of the kind of file and the period. `0000` means that the period is unknown.
  const sorted = [...new Set(all.map((vintage) => vintage.replace(/^[a-z]+_/, '')))].filter((vintage) => vintage !== '' && vintage !== '0000').sort();
  const order = (vintage: string): number => {
    const [, year, half] = /^(\d{4})(?:_([12]))?$/.exec(vintage) ?? [];
    return half === undefined ? Number(year) : Number(year) * 2 + Number(half);
  };
  const range = (vintages: readonly string[]): string => [...new Set([vintages[0], vintages.at(-1)])].join('–');
  if (sorted.some((vintage) => Number.isNaN(order(vintage)))) return range(sorted);
  const runs: string[][] = [];
  for (const vintage of sorted) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    if (last !== undefined && last.length === vintage.length && order(vintage) === order(last) + 1) run?.push(vintage);
    else runs.push([vintage]);
  }
  return runs.map(range).join(', ');
}
