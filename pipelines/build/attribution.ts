/** Finds the sources of a publication's sections: for all parcels of the region, and for groups of parcels with other sources. */
import type { Database, Session } from '../db/index.ts';
import { inWorkspace } from '../db/layers.ts';
import { statementsOf } from '../db/statements.ts';
import type { RegisteredSource } from '../contract/registry.ts';
import { SECTIONS, tableOfSection } from '../contract/sections.ts';
import { readSectionFiles, type SqlFile } from '../contract/sql-files.ts';
import type { Product } from '../plan/products.ts';
import type { Joined } from './join.ts';
import { rolledBack } from '../db/transactions.ts';

/** A source of a section's values, and its vintages. */
interface Citation {
  /** `*` if it is shown with every answer. */
  readonly section: string;
  readonly source: RegisteredSource;
  readonly vintages: ReadonlySet<string>;
}

/** Sources of the parcels with the same facts in a section. */
interface Cited {
  readonly section: string;
  /** Section, slash, and facts as in its `record.sql`. The section alone is the key of all parcels without another key. */
  readonly keys: readonly string[];
  /** Source → period. */
  readonly periods: ReadonlyMap<string, string>;
}

interface Citations {
  /** Over all parcels of the region. */
  readonly all: readonly Citation[];
  readonly cited: readonly Cited[];
}

type Vintages = Map<string, Set<string>>;

/** A row of `attribution.sql`. */
interface CitedRow extends Record<string, unknown> {
  readonly key: string;
  /** Null if the key cites nothing. */
  readonly source_id: string | null;
  readonly vintage: string | null;
}

/** Returns the sources of a region's sections, while its tables are in the workspace. */
export async function citationsOf(database: Database, { region, schema, products }: Joined, sources: readonly RegisteredSource[]): Promise<Citations> {
  const known = new Set(sources.map(({ id }) => id));
  const bySection = new Map<string, Map<string, Vintages>>();
  const cite = (section: string, key: string, sourceId: string | null, vintage: string | null): void => {
    const keys = take(bySection, section, () => new Map<string, Vintages>());
    const cited = take(keys, key, (): Vintages => new Map());
    // The folder of a source may have been deleted since.
    if (sourceId !== null && known.has(sourceId)) take(cited, sourceId, () => new Set<string>()).add(vintage ?? '');
  };
  if (region === 0) {
    const releases = products.find(({ relation }) => relation === 'core.comune')?.releases ?? [];
    for (const { name, namesComuni } of SECTIONS) if (namesComuni === true) for (const { sourceId, vintage } of releases) cite(name, '', sourceId, vintage);
  } else await citeRows(database, schema, products, cite);
  const all = sources.flatMap((source) => citationsOfSource(source, bySection, region));
  const cited = [...bySection].flatMap(([section, keys]) => groupsOf(section, keys));
  const mandatory = new Map(all.filter(({ section }) => section === '*').map(({ source: { id }, vintages }) => [id, periodOf([...vintages])]));
  const everywhere: readonly Cited[] = mandatory.size === 0 ? [] : [{ section: '*', keys: ['*'], periods: mandatory }];
  return { all, cited: [...cited, ...everywhere] };
}

/** Runs `attribution.sql` of each section. Sources that the file does not name are cited for all parcels. If the section has no such file, all sources are. */
async function citeRows(
  database: Database, schema: string, products: readonly Product[], cite: (section: string, key: string, source: string | null, vintage: string | null) => void,
): Promise<void> {
  const files = new Map(readSectionFiles('attribution').map((file): [string | null, SqlFile] => [file.section, file]));
  await inWorkspace(database, schema, async (session) => {
    for (const { relation, cited } of products) {
      const section = SECTIONS.find(({ name }) => tableOfSection(name) === relation)?.name;
      // All other tables are only read to build the tables of sections.
      if (section === undefined) continue;
      const file = files.get(section);
      const rows = file === undefined ? [] : await rowsOf(session, file);
      const others = cited.filter(({ sourceId }) => file?.cites.includes(sourceId) !== true);
      for (const { key, source_id: sourceId, vintage } of rows) cite(section, key, sourceId, vintage);
      const keys = rows.length === 0 ? [''] : new Set(rows.map(({ key }) => key));
      for (const key of keys) for (const { sourceId, vintage } of others) cite(section, key, sourceId, vintage);
    }
  });
}

/** Runs the statements of an `attribution.sql` and rolls back what they create. @returns the rows of the last statement */
async function rowsOf(session: Session, { parts }: SqlFile): Promise<CitedRow[]> {
  const scripts = parts.flatMap((part) => ('sweep' in part ? [] : [part]));
  const last = scripts.pop();
  if (last === undefined) return [];
  return rolledBack(session, async () => {
    for (const { file, text } of scripts) await session.script(text, file);
    return session.query<CitedRow>(last.text);
  });
}

function take<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key) ?? make();
  map.set(key, found);
  return found;
}

/** Returns the citations of a source by section. In a region, a mandatory source has an additional citation for every answer. */
function citationsOfSource(source: RegisteredSource, bySection: ReadonlyMap<string, ReadonlyMap<string, Vintages>>, region: number): Citation[] {
  const found = [...bySection].flatMap(([section, keys]): Citation[] => {
    const vintages = new Set([...keys.values()].flatMap((cited) => [...cited.get(source.id) ?? []]));
    return vintages.size === 0 ? [] : [{ section, source, vintages }];
  });
  if (region === 0 || source.manifest.attribution.mandatory !== true) return found;
  return [...found, { section: '*', source, vintages: new Set(found.flatMap(({ vintages }) => [...vintages])) }];
}

/** Merges keys with the same sources. The most frequent combination is stored once for all parcels, so that only other combinations are stored by key. */
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
  const statement = statementsOf('publication');
  for (const { section, source: { id, manifest: { title, attribution: { holder, license, url, text } } }, vintages } of all) {
    await session.query(statement('cite'), [publicationId, section, id, title, holder, license, url, periodOf([...vintages]), text]);
  }
  for (const { section, keys, periods } of cited) {
    await session.query(statement('cite_values'), [publicationId, section, [...periods.keys()], [...periods.values()], keys]);
  }
}

/**
 * Formats vintages: consecutive years and half-years as a range (`2015_1–2025_2`), others one by one (`2022, 2024`), days from the first to
 * the last. Empty if none is known.
 */
export function periodOf(all: readonly string[]): string {
  // `basi_2021` is the kind of file and its period; `0000` means unknown.
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
