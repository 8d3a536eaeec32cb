/** Where the rows stand that a table of the small synthetic region must have. */
import { basename, dirname } from 'node:path';
import { tableOf, type SqlFile } from '../../pipelines/contract/sql-files.ts';

/** Path from the project's root: a section's in its folder, others together. */
export function goldenOf({ file, section, writes }: SqlFile): string {
  return section === null ? `test/sections/golden/core-${basename(file, '.sql')}.json` : `${dirname(file)}/golden/${tableOf(writes[0]!)}.json`;
}
