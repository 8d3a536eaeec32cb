/** Returns the paths of golden files, which have the expected rows of tables of the small synthetic region. */
import { basename, dirname } from 'node:path';
import { tableOf, type SqlFile } from '../../pipelines/contract/sql-files.ts';

/** Returns the path from the project's root. The file is in the section's folder for a table of a section, and in a common folder for other tables. */
export function goldenOf({ file, section, writes }: SqlFile): string {
  return section === null ? `test/sections/golden/core-${basename(file, '.sql')}.json` : `${dirname(file)}/golden/${tableOf(writes[0]!)}.json`;
}
