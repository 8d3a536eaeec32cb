/**
 * Loads `map.ts` from each section's folder. Only code that presents values needs these files, for example code for the map, for QGIS styles and for the data
 * dictionary. A section with few texts defines the texts in `section.ts` instead.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../config.ts';
import { loadModule, moduleFile } from '../program.ts';
import type { MapLayer, SectionMap } from './section-map.ts';
import { SECTIONS } from './sections.ts';
import { SECTION_FOLDER } from './sql-files.ts';

const MAPS: ReadonlyMap<string, SectionMap> = new Map(await Promise.all(
  SECTIONS.map(async ({ name, map }) => [name, await mapOfFile(name) ?? map ?? { panel: {} }] as const),
));

/** Loads the `map.ts` of a section; undefined if its folder has no such file. */
async function mapOfFile(section: string): Promise<SectionMap | undefined> {
  const file = `${SECTION_FOLDER}/${section}/map.ts`;
  return existsSync(moduleFile(join(ROOT, file))) ? loadModule<SectionMap>(file) : undefined;
}

/** Returns the map texts and layers of a section. */
export function mapOf(section: string): SectionMap {
  const map = MAPS.get(section);
  if (map === undefined) throw new Error(`there is no section ${section}`);
  return map;
}

/** Returns the map layers of a section by name. The layer with the section's name comes first. */
export function drawingsOf(section: string): Readonly<Record<string, MapLayer>> {
  const { layer, otherLayers } = mapOf(section);
  return { ...(layer === undefined ? {} : { [section]: layer }), ...otherLayers };
}
