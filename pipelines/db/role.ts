/** The role of the server, and its rights on this database. */
import { statementsOf } from './statements.ts';
import { ident, one, type Session } from './types.ts';

/** Role that may execute the API functions (sql/api/usage.sql) and nothing else. A migration creates it if the login may create roles. */
export const ROLE = 'mappale_api';

interface Rights extends Record<string, unknown> {
  readonly database: string;
  readonly role: boolean;
  readonly schema: boolean;
  readonly functions: readonly string[];
  readonly temporary: boolean;
  readonly largeObjects: readonly string[];
}

/**
 * Checks what sql/api/usage.sql does if the login of `migrate` has the rights. The role must exist, execute the API functions, and create neither temporary
 * tables nor large objects, which PostgreSQL allows every role by default.
 * @returns statements that a superuser still has to run
 */
export async function missingRights(session: Session): Promise<string[]> {
  const { database, role, schema, functions, temporary, largeObjects } = await one<Rights>(session, statementsOf('server')('rights'), [ROLE]);
  return [
    ...(role ? [] : [`create role ${ROLE} nologin;`]),
    ...(schema ? [] : [`grant usage on schema api to ${ROLE};`]),
    ...(functions.length === 0 ? [] : [`grant execute on function ${functions.join(', ')} to ${ROLE};`]),
    ...(temporary ? [`revoke temporary on database ${ident(database)} from public;`] : []),
    ...(largeObjects.length === 0 ? [] : [`revoke execute on function ${largeObjects.join(', ')} from public;`]),
  ];
}
