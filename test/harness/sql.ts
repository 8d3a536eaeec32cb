/** Reads statements of the project's SQL files, for tests that run or explain single statements. */
import { join } from 'node:path';
import { ROOT } from '../../pipelines/config.ts';
import { readSqlFile } from '../../pipelines/contract/sql-files.ts';

/** Returns the statements of a file and of its steps. @param path from the root */
export function sqlOf(path: string): string {
  return readSqlFile(join(ROOT, path)).text;
}

/**
 * SQL that creates the tables that the step `comune_today.sql` reads in addition to parcels and comuni, for workspaces that a test defines. The tables are
 * empty, so no comune is merged.
 */
export const NO_MERGERS = `
  create table if not exists file_place (file_id int4, places text[], names text[]);
  create table if not exists comune_suppressed (istat_code text, name text);
`;

/**
 * Splits a text at the statement that creates a table or view from a query.
 * @returns the statements before that statement, and its query
 * @throws Error if the text does not create the table or view
 */
export function splitAt(text: string, name: string): { readonly above: string; readonly query: string } {
  const found = new RegExp(`^create (?:(?:unlogged )?table|view) ${name} as\\n([\\s\\S]*?);\\n`, 'm').exec(text);
  if (found === null) throw new Error(`expected a statement that creates ${name}, found none`);
  return { above: text.slice(0, found.index), query: found[1]! };
}
