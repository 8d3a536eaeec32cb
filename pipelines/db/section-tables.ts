/** Generates the SQL that creates and documents the tables that a section's `section.ts` declares. */
import type { Column, Section } from '../contract/section.ts';
import { parseSqlFile, SECTION_FOLDER, type SqlFile } from '../contract/sql-files.ts';
import { statementsOf } from './statements.ts';

const sections = statementsOf('sections');

const NAME = /^[a-z][a-z0-9_]*$/;

/**
 * Returns the statements that create the tables of a section, and add columns that may be null to existing tables. Only migrations make other changes to
 * existing tables.
 * @throws Error for an invalid SQL name, which is a bug
 */
export function sectionTables({ name, tables }: Section): SqlFile {
  const relations = Object.keys(tables);
  const names = [name, ...relations.map((relation) => relation.replace(/^section\./, '')), ...Object.values(tables).flatMap(({ key, columns }) => [...key, ...Object.keys(columns)])];
  for (const each of names) if (!NAME.test(each)) throw new Error(`${SECTION_FOLDER}/${name}/section.ts: ${each} is not a valid name of a table or column in the schema section`);
  const made = Object.entries(tables).map(([relation, { description, key, columns }]) => {
    const each = Object.entries(columns).map(([column, stated]) => ({
      relation: { sql: relation }, name: { sql: column }, type: { sql: stated.type }, description: commentOf(stated), statement: stated.null === undefined ? 'required_column' : 'column',
    }));
    return sections('table', {
      relation: { sql: relation }, description, key: { sql: key.join(', ') },
      columns: { sql: each.map(({ statement, ...column }) => sections(statement, column)).join(',\n  ') },
      added: { sql: each.filter(({ statement }) => statement === 'column').map(({ statement: _, ...column }) => `${sections('added_column', column)};\n`).join('') },
      comments: { sql: each.map(({ statement: _, ...column }) => sections('comment', column)).join(';\n') },
    });
  });
  return parseSqlFile(`${SECTION_FOLDER}/${name}/section.ts`, `-- purpose: the tables of the section ${name}
-- reads: none
-- writes: ${relations.length === 0 ? 'none' : relations.join(', ')}
-- grain: one row per parcel, or several
-- crs: none

${made.map((statement) => `${statement};\n`).join('\n')}`);
}

/** Returns the text of `comment on column`: description, unit and meaning of null. */
export function commentOf({ description, unit, null: empty }: Column): string {
  return [description, ...(unit === undefined ? [] : [`unit: ${unit}`]), ...(empty === undefined ? [] : [`null: ${empty}`])].join('; ');
}
