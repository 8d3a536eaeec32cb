/** The tables of a section as its `section.ts` states them: made where there are none yet, and described. */
import type { Column, Section } from '../contract/section.ts';
import { parseSqlFile, SECTION_FOLDER, type SqlFile } from '../contract/sql-files.ts';

const NAME = /^[a-z][a-z0-9_]*$/;

/**
 * Tables that stand already are changed by migrations alone.
 * @throws Error for a name that is none of SQL: a bug of the project
 */
export function sectionTables({ name, tables }: Section): SqlFile {
  const relations = Object.keys(tables);
  const names = [name, ...relations.map((relation) => relation.replace(/^section\./, '')), ...Object.values(tables).flatMap(({ key, columns }) => [...key, ...Object.keys(columns)])];
  for (const each of names) if (!NAME.test(each)) throw new Error(`${SECTION_FOLDER}/${name}/section.ts: ${each} is no name of a table or column of the schema section`);
  return parseSqlFile(`${SECTION_FOLDER}/${name}/section.ts`, `-- purpose: the tables of the section ${name}
-- reads: none
-- writes: ${relations.length === 0 ? 'none' : relations.join(', ')}
-- grain: one row per parcel, or several
-- crs: none

${Object.entries(tables).map(([relation, { description, key, columns }]) => `create table if not exists ${relation} (
${Object.entries(columns).map(([column, { type, null: empty }]) => `  ${column} ${type}${empty === undefined ? ' not null' : ''},`).join('\n')}
  primary key (${key.join(', ')})
) partition by range (fid);
comment on table ${relation} is ${quoted(description)};
${Object.entries(columns).map(([column, stated]) => `comment on column ${relation}.${column} is ${quoted(commentOf(stated))};`).join('\n')}
`).join('\n')}`);
}

/** What the data dictionary says of a column. */
export function commentOf({ description, unit, null: empty }: Column): string {
  return [description, ...(unit === undefined ? [] : [`unit: ${unit}`]), ...(empty === undefined ? [] : [`null: ${empty}`])].join('; ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
