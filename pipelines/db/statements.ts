/**
 * Reads the SQL statements in `sql/statements`. Values are parameters (`$1`). Generated names are inserted as in psql. `:"table"` becomes a quoted name, and
 * `:"t.columns"` becomes a list of column names qualified by `t`. Views accept no parameters, so values are inserted as literals, such as `:'region'`. An empty
 * list becomes null.
 */
import { join } from 'node:path';
import { ROOT } from '../config.ts';
import { readSqlFile, schemaOf, tableOf, type Relation } from '../contract/sql-files.ts';
import { literal as quoted } from '../contract/sql-text.ts';
import { ident, type Session } from './types.ts';

/** Schema and name of a table. */
export interface Place {
  readonly schema: string;
  readonly table: string;
}

export function placeOf(relation: Relation): Place {
  return { schema: schemaOf(relation), table: tableOf(relation) };
}

/** An SQL text that is inserted into another statement. */
export interface Part {
  readonly sql: string;
}

type Literal = string | number | boolean;
export type Names = Readonly<Record<string, Literal | readonly Literal[] | Place | Part>>;

const NAME = /(?<!:):(["'])(?:([a-z]+)\.)?([a-z_]+)\1/g;

/**
 * Reads the statements of a file. Each statement follows a line `-- statement: <name>`.
 * @param file name of a file in `sql/statements`, without extension
 * @returns a function that returns a statement with inserted names and throws an Error for a missing statement or name, which is a bug
 */
export function statementsOf(file: string): (statement: string, names?: Names) => string {
  let texts: ReadonlyMap<string, string> | undefined;
  return (statement, names = {}) => {
    texts ??= read(file);
    const text = texts.get(statement);
    if (text === undefined) throw new Error(`sql/statements/${file}.sql has no statement ${statement}`);
    return text.replace(NAME, (found, quote: string, of: string | undefined, name: string) => {
      const value = names[name];
      if (value === undefined) throw new Error(`sql/statements/${file}.sql: ${statement} needs a value for ${found}`);
      if (typeof value === 'object' && 'sql' in value) return value.sql;
      if (typeof value === 'object' && 'schema' in value) return ident(value.schema, value.table);
      const each = quote === "'" ? literal : (one: Literal): string => (of === undefined ? ident(String(one)) : `${of}.${ident(String(one))}`);
      return typeof value !== 'object' ? each(value) : value.map(each).join(', ') || 'null';
    });
  };
}

/** Runs each row that a query returns as a statement, like psql's `\gexec`. */
export async function runEach(session: Session, sql: string, parameters: readonly unknown[]): Promise<void> {
  for (const { sql: each } of await session.query<{ sql: string }>(sql, parameters)) await session.query(each);
}

function literal(value: Literal): string {
  return typeof value === 'string' ? quoted(value) : String(value);
}

function read(file: string): Map<string, string> {
  const { text } = readSqlFile(join(ROOT, 'sql/statements', `${file}.sql`));
  return new Map(text.split(/^-- statement: */m).slice(1).map((part) => {
    const end = part.indexOf('\n');
    return [part.slice(0, end), part.slice(end + 1).trimEnd().replace(/;$/, '')];
  }));
}
