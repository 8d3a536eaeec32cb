/** The role that the server works as, and what it may do on this database. */
import { statementsOf } from './statements.ts';
import { ident, one, type Session } from './types.ts';

/** May execute the interface, sql/api/usage.sql, and nothing else; made by a migration where that is allowed. */
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
 * What sql/api/usage.sql does where the login of `migrate` may: the role exists, executes the interface, and makes neither temporary tables nor large
 * objects, which PostgreSQL allows every role.
 * @returns statements for a superuser that are still to be done; empty: none
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
