/**
 * Generates SQL functions for all sections. Some functions take the name of a section and call the functions of this section. Other functions return properties
 * of the sections.
 */
import { KINDS } from '../contract/section.ts';
import { SECTION_NAMES, SECTIONS } from '../contract/sections.ts';
import { parseSqlFile, readSectionFiles, type SqlFile } from '../contract/sql-files.ts';
import { statementsOf } from './statements.ts';

const sections = statementsOf('sections');

/** File name under which the ledger records the generated SQL. No such file exists on disk. */
export const SECTIONS_FILE = 'sql/api/sections.sql';

/**
 * Returns the SQL of the generated functions.
 * @throws Error if a section's `record.sql` lacks a function, or if the section's name is not a valid SQL name, which is a bug
 */
export function sectionFunctions(): SqlFile {
  const written = new Set<string>(readSectionFiles('record').flatMap(({ writes }) => writes));
  for (const name of SECTION_NAMES) {
    for (const called of ['section', 'columns']) {
      const wanted = `api.${called}_${name}`;
      if (!/^[a-z]+(_[a-z]+)*$/.test(name) || !written.has(wanted)) throw new Error(`sql/sections/${name}/record.sql: expected ${wanted} in the "-- writes:" line`);
    }
  }
  const cases = (statement: 'record' | 'reach' | 'row', called: string, end = ''): { sql: string } => ({
    sql: SECTION_NAMES.filter((name) => written.has(`api.${called}_${name}`)).map((name) => `${sections(statement, { name, function: { sql: `${called}_${name}` } })}${end}`).join('\n    '),
  });
  const kinds = { sql: KINDS.map((kind) => sections('kind', { kind, sections: SECTIONS.filter((each) => each.kinds.includes(kind)).map(({ name }) => name) })).join('\n    ') };
  const covered = SECTIONS.filter(({ coverage }) => coverage === 'meta').map(({ name }) => name);
  const pointwise = SECTIONS.filter(({ reaches }) => reaches === 'points').map(({ name }) => name);
  return parseSqlFile(SECTIONS_FILE, `-- purpose: the sections of a record, by name
-- reads: none
-- writes: api.section_record, api.section_reached, api.section_columns, api.is_applicable, api.covered_sections, api.pointwise_sections, api.known_sections
-- grain: one call per section of a parcel
-- crs: EPSG:4326

${sections('functions', {
  records: cases('record', 'section'), reaches: cases('reach', 'coverage'), rows: cases('row', 'columns', ';'), kinds, covered, pointwise, names: SECTION_NAMES,
})};
`);
}
