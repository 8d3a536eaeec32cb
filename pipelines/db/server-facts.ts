/**
 * Checks whether a server and its database meet the program's requirements, when the program connects and in `doctor`. Each requirement has a separate error.
 */
import { MappaleError } from '../errors.ts';
import { asRole, byAdministrator, createDatabase, type ServerAddress } from './server-address.ts';
import { statementsOf } from './statements.ts';
import { ident, one, type Access, type Session } from './types.ts';

export interface ServerFacts extends Record<string, unknown> {
  /** Encoding of the database, normally `UTF8`. */
  readonly encoding: string;
  /** True if the server is a standby, which replays another server's write-ahead log. */
  readonly standby: boolean;
  /** True if transactions are read-only by default. */
  readonly readOnly: boolean;
  readonly searchPath: string;
  /** Value of `statement_timeout` as the server prints it, such as `0` or `5s`. */
  readonly statementTimeout: string;
  /** Schemas of the installed extensions that the program needs, by name of the extension. */
  readonly extensions: Readonly<Record<string, string>>;
  /**
   * Role that owns the loaded data, if the current role may neither read nor serve the data. Null if the current role may read or serve the data, or if no data
   * is loaded.
   */
  readonly owner: string | null;
}

/** Schema in which the program's SQL expects the extensions. This schema is also the search path of every new session. */
export const SEARCH_PATH = 'public';

/**
 * Settings that affect results or time limits. Roles, databases and servers may have different defaults. Every connection applies these settings, so that
 * published data and API responses depend only on the files.
 */
export const SESSION_SETTINGS: readonly string[] = [
  `search_path=${SEARCH_PATH}`, 'default_transaction_isolation=read\\ committed', 'default_transaction_deferrable=off',
  // Settings that affect the conversion between values and text.
  'timezone=UTC', 'datestyle=ISO', 'intervalstyle=postgres', 'bytea_output=hex', 'xmlbinary=base64', 'extra_float_digits=1', 'array_nulls=on',
  'standard_conforming_strings=on', 'backslash_quote=safe_encoding', 'transform_null_equals=off',
  // `quote_all_identifiers` affects how catalogue functions quote names. The program uses the output of these functions to create tables and functions.
  'quote_all_identifiers=off',
  // With a limit on GIN results, a search would find fewer rows.
  'gin_fuzzy_search_limit=0',
  // Settings that turn timeouts off. Readers wait for a swap, loads take hours, and the connection that holds the run's lock is idle during a load.
  'lock_timeout=0', 'idle_in_transaction_session_timeout=0', 'idle_session_timeout=0',
];

export function serverFacts(session: Pick<Session, 'query'>): Promise<ServerFacts> {
  return one(session, statementsOf('server')('facts'));
}

/** Returns an error for each unmet requirement, most serious first. @param access intended access; writing has more requirements than reading */
export function serverFaults(facts: ServerFacts, { label, place }: Pick<ServerAddress, 'label' | 'place'>, access: Access): MappaleError[] {
  const faults: MappaleError[] = [];
  const fault = (message: string, code: string, detail: string, hint: string, fix?: string): void => void faults.push(new MappaleError(message, { code, kind: 'database', at: label, detail, hint, fix }));
  const { database, user } = place;
  if (facts.encoding !== 'UTF8') {
    fault('the database encoding is not UTF8', 'DATABASE_ENCODING', `expected UTF8, found ${facts.encoding}`, 'The encoding cannot store all letters of names. Create another database with UTF8, and set DATABASE_URL to this database.',
      createDatabase(place, `${database}_utf8`, '--encoding UTF8', '--template template0'));
  }
  const elsewhere = Object.entries(facts.extensions).filter(([, schema]) => schema !== SEARCH_PATH);
  const [first] = elsewhere;
  if (first !== undefined) {
    fault('extensions are in another schema', 'EXTENSION_SCHEMA', `expected ${elsewhere.map(([name]) => name).join(', ')} in ${SEARCH_PATH}, found ${elsewhere.map(([name, schema]) => `${name} in ${schema}`).join(', ')}`,
      `Use a different database, and run there: create extension ${first[0]} schema ${SEARCH_PATH}. PostGIS cannot be moved to another schema.`);
  }
  if (facts.searchPath !== SEARCH_PATH) {
    fault('the session ignores search_path', 'SEARCH_PATH', `expected search_path ${SEARCH_PATH}, found ${facts.searchPath}`, 'A connection pooler drops session settings. Connect to the server directly.');
  }
  if (facts.statementTimeout !== '0') {
    fault('the server would cancel long statements', 'STATEMENT_TIMEOUT', `expected no statement_timeout, found ${facts.statementTimeout}`, 'A connection pooler drops session settings. Connect to the server directly.');
  }
  if (access === 'write' && facts.standby) {
    fault('the server is a standby', 'DATABASE_STANDBY', 'expected the primary, found a server that replays the log of another server', 'Set DATABASE_URL to the primary. Read-only commands work on a standby.');
  } else if (access === 'write' && facts.readOnly) {
    fault('the database is read-only for this role', 'DATABASE_READ_ONLY', 'expected transactions that may write, found default_transaction_read_only = on', 'Reset the setting of the role or the database.',
      // The command connects to the database `postgres`, because this database is read-only.
      byAdministrator({ ...place, database: 'postgres' }, `alter role ${ident(user)} reset default_transaction_read_only; alter database ${ident(database)} reset default_transaction_read_only`));
  }
  if (facts.owner !== null) {
    fault('the database belongs to another role', 'DATABASE_NOT_OURS', `expected ${facts.owner}, or a role that is a member of this role, found ${user}`, 'Set DATABASE_URL to the role that loaded the database.', asRole(place, facts.owner));
  }
  return faults;
}
