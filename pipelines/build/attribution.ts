/** What each section of a publication was made from, in the words that must be shown: of every value that is returned, and of nothing else that was loaded. */
import type { Database, Session } from '../db/index.ts';
import { inWorkspace } from '../db/catalog.ts';
import { statementsOf } from '../db/statements.ts';
import type { RegisteredSource } from '../contract/registry.ts';
import { SECTIONS, tableOfSection } from '../contract/sections.ts';
import { readSectionFiles } from '../contract/sql-files.ts';
import type { Joined } from './join.ts';

/** A source that values of a section come from, and of when. */
export interface Citation {
  /** `*`: shown with every answer. */
  readonly section: string;
  readonly source: RegisteredSource;
  readonly vintages: ReadonlySet<string>;
}

/**
 * The sources of a unit's sections, while its tables lie in the workspace. What a table was made from is used as a whole, except where
 * `attribution.sql` says which vintages the rows are of.
 */
export async function citationsOf(database: Database, { unit, schema, products }: Joined, sources: readonly RegisteredSource[]): Promise<Citation[]> {
  const cited = new Map<string, { section: string; source: RegisteredSource; vintages: Set<string> }>();
  const cite = (section: string, sourceId: string, vintage: string): void => {
    const source = sources.find(({ id }) => id === sourceId);
    // Its folder may be gone; what was made from it is no more to be said.
    if (source === undefined) return;
    const key = `${section} ${sourceId}`;
    const citation = cited.get(key) ?? { section, source, vintages: new Set() };
    citation.vintages.add(vintage);
    cited.set(key, citation);
  };
  if (unit === 0) {
    const releases = products.find(({ relation }) => relation === 'core.comune')?.releases ?? [];
    for (const { name, namesComuni } of SECTIONS) if (namesComuni === true) for (const { sourceId, vintage } of releases) cite(name, sourceId, vintage);
    return [...cited.values()];
  }
  const files = new Map(readSectionFiles('attribution').map((file) => [file.section, file]));
  await inWorkspace(database, schema, async (session) => {
    for (const { relation, cited: made } of products) {
      const section = SECTIONS.find(({ name }) => tableOfSection(name) === relation)?.name;
      // Other tables only serve these.
      if (section === undefined) continue;
      const file = files.get(section);
      for (const { sourceId, vintage } of made) if (file?.cites.includes(sourceId) !== true) cite(section, sourceId, vintage);
      if (file === undefined) continue;
      for (const { source_id: sourceId, vintage } of await session.query<{ source_id: string; vintage: string }>(file.text)) cite(section, sourceId, vintage);
    }
  });
  const mandatory = sources.filter(({ manifest }) => manifest.attribution.mandatory === true).map((source): Citation => ({
    section: '*', source, vintages: new Set([...cited.values()].filter((citation) => citation.source === source).flatMap(({ vintages }) => [...vintages])),
  }));
  return [...cited.values(), ...mandatory];
}

/** Writes them into the ledger, with the publication. */
export async function attribute(session: Session, publicationId: number, citations: readonly Citation[]): Promise<void> {
  for (const { section, source: { id, manifest: { title, attribution: { holder, license, url, text } } }, vintages } of citations) {
    await session.query(statementsOf('publication')('cite'), [publicationId, section, id, title, holder, license, url, periodOf([...vintages]), text]);
  }
}

/**
 * Vintages in words: years and half-years that follow each other as a range (`2015_1–2025_2`), others one by one (`2022, 2024`), days from the first to
 * the last; empty: none is known.
 */
export function periodOf(all: readonly string[]): string {
  // `basi_2021` is the kind of file, then its period; `0000`: none was said.
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
