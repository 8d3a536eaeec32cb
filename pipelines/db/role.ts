/** Checks the role of the API server, and the role's rights on this database. */
import { statementsOf } from './statements.ts';
import { ident, one, type Session } from './types.ts';

/** Role that may execute the API functions (sql/api/usage.sql) and nothing else. A migration creates this role if the login may create roles. */
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
 * Checks the rights that sql/api/usage.sql grants. The login that runs `migrate` may lack the right to grant these rights. The role must exist and be able to
 * execute the API functions. The role must not be able to create temporary tables or large objects, although PostgreSQL allows this by default.
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
