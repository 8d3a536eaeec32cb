/** What a server and its database must be before anything is asked of them, each with words of its own; looked at on connecting, and by `doctor`. */
import { MappaleError } from '../errors.ts';
import { asRole, byAdministrator, createDatabase, type ServerAddress } from './server-address.ts';
import { statementsOf } from './statements.ts';
import { ident, one, type Session } from './types.ts';

export interface ServerFacts extends Record<string, unknown> {
  /** `UTF8` */
  readonly encoding: string;
  /** It replays another server's journal. */
  readonly standby: boolean;
  /** What a transaction of ours begins as. */
  readonly readOnly: boolean;
  readonly searchPath: string;
  /** As the server says it: `0`, `5s`. */
  readonly statementTimeout: string;
  /** Schemas of our extensions as far as they are installed: `postgis` → `public`. */
  readonly extensions: Readonly<Record<string, string>>;
  /** Of what is loaded there, when this role may not even look at it, nor serve it; null: it may, or nothing is loaded. */
  readonly owner: string | null;
}

/** Where the SQL of this program looks for PostGIS. */
export const SEARCH_PATH = 'public';

/**
 * Settings that change what a statement says, which rows it finds or whether it may end, and that a role, a database or a server may have set for people. Every
 * connection that writes or answers has ours: what is published and answered follows from the files alone.
 */
export const SESSION_SETTINGS: readonly string[] = [
  `search_path=${SEARCH_PATH}`, 'default_transaction_isolation=read\\ committed', 'default_transaction_deferrable=off',
  // How values become text, and text values.
  'timezone=UTC', 'datestyle=ISO', 'intervalstyle=postgres', 'bytea_output=hex', 'xmlbinary=base64', 'extra_float_digits=1', 'array_nulls=on',
  'standard_conforming_strings=on', 'backslash_quote=safe_encoding', 'transform_null_equals=off',
  // How the catalogue says names, by which tables and functions are made again.
  'quote_all_identifiers=off',
  // A search that stops early finds less.
  'gin_fuzzy_search_limit=0',
  // A swap makes readers wait, loads take hours, and the connection that holds the writer's lock is idle as long.
  'lock_timeout=0', 'idle_in_transaction_session_timeout=0', 'idle_session_timeout=0',
];

export function serverFacts(session: Pick<Session, 'query'>): Promise<ServerFacts> {
  return one(session, statementsOf('server')('facts'));
}

/** @returns what is wrong for what a command does, the worst first */
export function serverFaults(facts: ServerFacts, { label, place }: Pick<ServerAddress, 'label' | 'place'>, writes: boolean): MappaleError[] {
  const faults: MappaleError[] = [];
  const fault = (message: string, code: string, detail: string, hint: string, fix?: string): void => void faults.push(new MappaleError(message, { code, kind: 'database', at: label, detail, hint, fix }));
  const { database, user } = place;
  if (facts.encoding !== 'UTF8') {
    fault('the database has another encoding', 'DATABASE_ENCODING', `expected UTF8, found ${facts.encoding}`, 'Names have letters that it cannot hold. Create another one, and name it in DATABASE_URL.',
      createDatabase(place, `${database}_utf8`, '--encoding UTF8', '--template template0'));
  }
  const elsewhere = Object.entries(facts.extensions).filter(([, schema]) => schema !== SEARCH_PATH);
  const [first] = elsewhere;
  if (first !== undefined) {
    fault('extensions lie in another schema', 'EXTENSION_SCHEMA', `expected ${elsewhere.map(([name]) => name).join(', ')} in ${SEARCH_PATH}, found ${elsewhere.map(([name, schema]) => `${name} in ${schema}`).join(', ')}`,
      `Use a database in which nothing else needs them there: create extension ${first[0]} schema ${SEARCH_PATH}. PostGIS cannot be moved once it is made.`);
  }
  if (facts.searchPath !== SEARCH_PATH) {
    fault('the session does not look where it was told to', 'SEARCH_PATH', `expected search_path ${SEARCH_PATH}, found ${facts.searchPath}`, 'What stands between here and the server drops the settings of sessions: connect to the server itself.');
  }
  if (facts.statementTimeout !== '0') {
    fault('the server would break statements off', 'STATEMENT_TIMEOUT', `expected no statement_timeout, found ${facts.statementTimeout}`, 'What stands between here and the server drops the settings of sessions: connect to the server itself.');
  }
  if (writes && facts.standby) {
    fault('the server is a standby', 'DATABASE_STANDBY', 'expected the primary, found a server that replays another one\'s journal and takes no rows', 'Name the primary in DATABASE_URL. Commands that only look work on a standby.');
  } else if (writes && facts.readOnly) {
    fault('the database is read-only to this role', 'DATABASE_READ_ONLY', 'expected transactions that may write, found default_transaction_read_only = on', 'Somebody set it so, for the role or for the database.',
      // In the database itself nobody may write.
      byAdministrator({ ...place, database: 'postgres' }, `alter role ${ident(user)} reset default_transaction_read_only; alter database ${ident(database)} reset default_transaction_read_only`));
  }
  if (facts.owner !== null) {
    fault('the database is another role\'s', 'DATABASE_NOT_OURS', `expected ${facts.owner}, or a role that is a member of it, found ${user}`, 'Name the role that loaded it in DATABASE_URL.', asRole(place, facts.owner));
  }
  return faults;
}
