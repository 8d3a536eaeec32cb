/** Finds the sources of a section by the layers that the section's SQL reads, directly or through other tables. */
import { sourceOfLayer, type RegisteredSource } from '../../pipelines/contract/registry.ts';
import { tableOfSection } from '../../pipelines/contract/sections.ts';
import { tableFiles, type Relation } from '../../pipelines/contract/sql-files.ts';
import type { Section } from '../../pipelines/contract/section.ts';

/** Tables that every section reads. Only the section `basic` lists the sources of these tables. */
const GROUND: readonly Relation[] = ['core.parcel', 'core.comune', 'core.sheet'];

/** Returns the sources of a section, in the order of `sources`. */
export function sourcesOf({ name, tables }: Section, sources: readonly RegisteredSource[]): readonly RegisteredSource[] {
  const files = tableFiles();
  const seen = new Set<Relation>();
  const found = new Set<RegisteredSource>();
  const visit = (relation: Relation): void => {
    if (seen.has(relation)) return;
    seen.add(relation);
    const source = sourceOfLayer(sources, relation);
    if (source !== undefined) found.add(source);
    for (const file of files) if (file.writes[0] === relation) for (const read of file.reads) if (!GROUND.includes(read)) visit(read);
  };
  for (const relation of [tableOfSection(name), ...Object.keys(tables) as Relation[]]) visit(relation);
  return sources.filter((source) => found.has(source));
}
