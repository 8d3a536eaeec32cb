/** The role that the server works as, and what it may do on this database. */
import { ident, type Session } from './types.ts';

/** May execute the interface, sql/api/usage.sql, and nothing else; made by a migration where that is allowed. */
export const ROLE = 'mappale_api';

interface Rights extends Record<string, unknown> {
  readonly database: string;
  readonly role: boolean;
  readonly schema: boolean;
  readonly functions: readonly string[];
  readonly temporary: boolean;
  readonly large_objects: readonly string[];
}

/**
 * What sql/api/usage.sql does where the login of `migrate` may: the role exists, executes the interface, and makes neither temporary tables nor large
 * objects, which PostgreSQL allows every role.
 * @returns statements for a superuser that are still to be done; empty: none
 */
export async function missingRights(session: Session): Promise<string[]> {
  const [rights] = await session.query<Rights>(
    `with role as (select oid from pg_roles where rolname = $1)
     select current_database() as database,
       exists (select from role) as role,
       coalesce((select has_schema_privilege(oid, 'api', 'usage') from role), false) as schema,
       array(
         select p.oid::regprocedure::text from pg_proc p
         where p.pronamespace = 'api'::regnamespace and p.prosecdef and not coalesce((select has_function_privilege(role.oid, p.oid, 'execute') from role), false) order by 1
       ) as functions,
       has_database_privilege('public', current_database(), 'temporary') as temporary,
       array(
         select p.oid::regprocedure::text from pg_proc p
         where p.pronamespace = 'pg_catalog'::regnamespace and p.proname ~ '^lo(_|read$|write$)' and has_function_privilege('public', p.oid, 'execute') order by 1
       ) as large_objects`, [ROLE],
  );
  const { database, role, schema, functions, temporary, large_objects: largeObjects } = rights!;
  return [
    ...(role ? [] : [`create role ${ROLE} nologin;`]),
    ...(schema ? [] : [`grant usage on schema api to ${ROLE};`]),
    ...(functions.length === 0 ? [] : [`grant execute on function ${functions.join(', ')} to ${ROLE};`]),
    ...(temporary ? [`revoke temporary on database ${ident(database)} from public;`] : []),
    ...(largeObjects.length === 0 ? [] : [`revoke execute on function ${largeObjects.join(', ')} from public;`]),
  ];
}
