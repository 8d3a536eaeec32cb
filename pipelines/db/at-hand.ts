/** Provides published tables in a form that SQL can join with the tables of a workspace. */
import { statementsOf, type Place } from './statements.ts';
import { ident, one, type Session } from './types.ts';

const statement = statementsOf('distributed');

/** Returns whether a table is on other nodes. */
export async function isOnNodes(session: Pick<Session, 'query'>, { schema, table }: Place): Promise<boolean> {
  if (!(await one<{ there: boolean }>(session, statement('has_citus'))).there) return false;
  return (await one<{ there: boolean }>(session, statement('is_distributed'), [ident(schema, table)])).there;
}

/**
 * Returns the schema for copies of published tables from other nodes, next to the workspace of the region. @param schema workspace, or a side schema of the
 * workspace
 */
export function atHandSchema(schema: string): string {
  return `${/^build_[0-9]+/.exec(schema)?.[0] ?? schema}_at_hand`;
}

/**
 * Returns a published table that a workspace can read: the table itself, or a copy if the table is on other nodes. @param workspace schema of the workspace. In
 * `pg_temp` (an explanation), only the rows of the parcels in the table `parcel` are copied @param rows with `none`, only the columns of a partitioned table
 * are copied
 */
export async function atHand(session: Session, workspace: string, from: Place, rows: 'all' | 'none' = 'all'): Promise<Place> {
  if (!(await isOnNodes(session, from))) return from;
  const isTemporary = workspace === 'pg_temp';
  const to = { schema: isTemporary ? workspace : atHandSchema(workspace), table: `${rows}_${from.table}` };
  if ((await one<{ there: boolean }>(session, statement('is_there'), [ident(to.schema, to.table)])).there) return to;
  const among = rows === 'none' ? statement('of_none') : isTemporary ? statement('of_parcels', { schema: workspace }) : '';
  await session.script(statement('copy_at_hand', { from, to, among: { sql: among } }), 'sql/statements/distributed.sql, copy_at_hand');
  return to;
}
