/** Which sources a section is made from: what its SQL reads, down to the layers. */
import { sourceOfLayer, type RegisteredSource } from '../../pipelines/contract/registry.ts';
import { tableOfSection } from '../../pipelines/contract/sections.ts';
import { tableFiles, type Relation } from '../../pipelines/contract/sql-files.ts';
import type { Section } from '../../pipelines/contract/section.ts';

/** Every section stands on these; only `basic` is made of them. */
const GROUND: readonly Relation[] = ['core.parcel', 'core.comune', 'core.sheet'];

/** In the order of the sources. */
export function feeding({ name, tables }: Section, sources: readonly RegisteredSource[]): readonly RegisteredSource[] {
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
