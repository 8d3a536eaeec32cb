/** Finds the sections of a parcel's record by listing the folders of `sql/sections`. No list of sections is maintained by hand. */
import { loadModule } from '../program.ts';
import type { Section } from './section.ts';
import { MappaleError } from '../errors.ts';
import { didYouMean, nearest, retyped, withWord } from '../typed.ts';
import { SECTION_FOLDER, sectionFolders, type Relation } from './sql-files.ts';

export const SECTIONS: readonly Section[] = (await Promise.all(sectionFolders().map(loadSection))).sort((a, b) => a.position - b.position);

/** Names of the sections, in the order of the record. */
export const SECTION_NAMES: readonly string[] = SECTIONS.map(({ name }) => name);

async function loadSection(folder: string): Promise<Section> {
  const section = await loadModule<Section>(`${SECTION_FOLDER}/${folder}/section.ts`);
  if (section.name !== folder) throw new Error(`${SECTION_FOLDER}/${folder}: expected the section's name to be ${folder}, found ${section.name}`);
  return section;
}

/** Returns the table of the parcels that have a section. For `basic`, this is the table of all parcels. */
export function tableOfSection(name: string): Relation {
  return name === 'basic' ? 'core.parcel' : `section.${name}`;
}

/** Parses a list of sections on the command line. @param text comma-separated names; empty for all sections @throws MappaleError `SECTION_UNKNOWN` (exit 2) */
export function parseInclude(text: string | undefined): string[] {
  return text === undefined || text.trim() === '' ? [...SECTION_NAMES] : chooseSections(text);
}

/**
 * Returns the named sections in the order of the record.
 * @param text comma-separated names
 * @param also text before the section names in the error message, for other values that the caller accepts, such as `all, or `
 * @throws MappaleError `SECTION_UNKNOWN` (exit 2)
 */
export function chooseSections(text: string, also = ''): string[] {
  const names = text.split(',').map((name) => name.trim());
  for (const name of names) {
    if (!SECTION_NAMES.includes(name)) {
      const [meant = 'SECTION'] = nearest(name, SECTION_NAMES);
      throw new MappaleError(`there is no section ${name}`, {
        code: 'SECTION_UNKNOWN', kind: 'usage', detail: `expected ${also}names of ${SECTION_NAMES.join(', ')}`, hint: `${didYouMean(name, SECTION_NAMES)}Separate several names by commas.`,
        fix: retyped(withWord(name, meant), `npx mappale explain PARCEL ${meant}`),
      });
    }
  }
  return SECTION_NAMES.filter((name) => names.includes(name));
}
