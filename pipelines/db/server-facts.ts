/** Checks the requirements for a server and its database, when the program connects and in `doctor`. Each requirement has a separate error. */
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
  /** Timeout in the server's notation: `0`, `5s`. */
  readonly statementTimeout: string;
  /** Schemas of the installed extensions: `postgis` → `public`. */
  readonly extensions: Readonly<Record<string, string>>;
  /** Owner of loaded data that this role may neither read nor serve. Null if the role has the rights, or if no data is loaded. */
  readonly owner: string | null;
}

/** Schema in which the program's SQL expects PostGIS. */
export const SEARCH_PATH = 'public';

/**
 * Settings that change results or time limits. A role, a database or a server may have other values. Every connection that writes or answers sets these
 * settings, so that published data and answers depend only on the files.
 */
export const SESSION_SETTINGS: readonly string[] = [
  `search_path=${SEARCH_PATH}`, 'default_transaction_isolation=read\\ committed', 'default_transaction_deferrable=off',
  // Conversion between values and text.
  'timezone=UTC', 'datestyle=ISO', 'intervalstyle=postgres', 'bytea_output=hex', 'xmlbinary=base64', 'extra_float_digits=1', 'array_nulls=on',
  'standard_conforming_strings=on', 'backslash_quote=safe_encoding', 'transform_null_equals=off',
  // Determines how catalogue functions quote names. Their output creates tables and functions.
  'quote_all_identifiers=off',
  // With a limit, a search finds fewer rows.
  'gin_fuzzy_search_limit=0',
  // No timeouts are set. Readers wait for a swap, loads take hours, and the connection with the lock of the run is idle during a load.
  'lock_timeout=0', 'idle_in_transaction_session_timeout=0', 'idle_session_timeout=0',
];

export function serverFacts(session: Pick<Session, 'query'>): Promise<ServerFacts> {
  return one(session, statementsOf('server')('facts'));
}

/** Returns the problems for this access, most serious first. */
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
      `Use a database in which no other program needs the extensions in another schema: create extension ${first[0]} schema ${SEARCH_PATH}. PostGIS cannot be moved to another schema.`);
  }
  if (facts.searchPath !== SEARCH_PATH) {
    fault('the session ignores search_path', 'SEARCH_PATH', `expected search_path ${SEARCH_PATH}, found ${facts.searchPath}`, 'A connection pooler drops session settings. Connect to the server directly.');
  }
  if (facts.statementTimeout !== '0') {
    fault('the server would cancel long statements', 'STATEMENT_TIMEOUT', `expected no statement_timeout, found ${facts.statementTimeout}`, 'A connection pooler drops session settings. Connect to the server directly.');
  }
  if (access === 'write' && facts.standby) {
    fault('the server is a standby', 'DATABASE_STANDBY', 'expected the primary, found a server that replays the log of another server', 'Use the primary in DATABASE_URL. Read-only commands work on a standby.');
  } else if (access === 'write' && facts.readOnly) {
    fault('the database is read-only for this role', 'DATABASE_READ_ONLY', 'expected transactions that may write, found default_transaction_read_only = on', 'Reset the setting of the role or the database.',
      // This database is read-only, so the command connects to `postgres`.
      byAdministrator({ ...place, database: 'postgres' }, `alter role ${ident(user)} reset default_transaction_read_only; alter database ${ident(database)} reset default_transaction_read_only`));
  }
  if (facts.owner !== null) {
    fault('the database belongs to another role', 'DATABASE_NOT_OURS', `expected ${facts.owner}, or a role that is a member of this role, found ${user}`, 'Use the role in DATABASE_URL that loaded the database.', asRole(place, facts.owner));
  }
  return faults;
}
