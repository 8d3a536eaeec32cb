/** Provides published tables to a workspace. On Citus, a table on other nodes is copied, because SQL cannot join the table with workspace tables. */
import { statementsOf, type Place } from './statements.ts';
import { ident, one, type Session } from './types.ts';
import { isExplanation } from './workspace.ts';

const statement = statementsOf('distributed');

/** Returns whether a table is distributed over other nodes. */
export async function isOnNodes(session: Pick<Session, 'query'>, { schema, table }: Place): Promise<boolean> {
  if (!(await one<{ there: boolean }>(session, statement('has_citus'))).there) return false;
  return (await one<{ there: boolean }>(session, statement('is_distributed'), [ident(schema, table)])).there;
}

/**
 * Returns the name of the schema for copies of published tables from other nodes.
 * @param schema workspace of a region, or another schema of the same build
 */
export function atHandSchema(schema: string): string {
  return `${/^build_[0-9]+/.exec(schema)?.[0] ?? schema}_at_hand`;
}

/**
 * Returns a published table that a workspace can read: the table itself, or a copy if the table is on other nodes.
 * @param workspace schema of the workspace. For an explanation, copies only the rows of the parcels in the table `parcel`
 * @param rows `none` copies only the columns of a partitioned table, without rows
 */
export async function atHand(session: Session, workspace: string, from: Place, rows: 'all' | 'none' = 'all'): Promise<Place> {
  if (!(await isOnNodes(session, from))) return from;
  const isSmall = isExplanation(workspace);
  const to = { schema: isSmall ? workspace : atHandSchema(workspace), table: `${rows}_${from.table}` };
  if ((await one<{ there: boolean }>(session, statement('is_there'), [ident(to.schema, to.table)])).there) return to;
  const among = rows === 'none' ? statement('of_none') : isSmall ? statement('of_parcels', { schema: workspace }) : '';
  await session.script(statement('copy_at_hand', { from, to, among: { sql: among } }), 'sql/statements/distributed.sql, copy_at_hand');
  return to;
}
