/** Path of the golden file with the expected rows of a table of the small synthetic region. */
import { basename, dirname } from 'node:path';
import { tableOf, type SqlFile } from '../../pipelines/contract/sql-files.ts';

/** Returns the path from the project's root: for a section its folder, for other tables a common one. */
export function goldenOf({ file, section, writes }: SqlFile): string {
  return section === null ? `test/sections/golden/core-${basename(file, '.sql')}.json` : `${dirname(file)}/golden/${tableOf(writes[0]!)}.json`;
}
