/** What is published, where a workspace can join it with its own tables. */
import { statementsOf, type Place } from './statements.ts';
import { ident, one, type Session } from './types.ts';

const statement = statementsOf('distributed');

/** Whether a table lies on other nodes. */
export async function isOnNodes(session: Pick<Session, 'query'>, { schema, table }: Place): Promise<boolean> {
  if (!(await one<{ there: boolean }>(session, statement('has_citus'))).there) return false;
  return (await one<{ there: boolean }>(session, statement('is_distributed'), [ident(schema, table)])).there;
}

/** Copies on the coordinator of what is published on other nodes, beside the workspace of the unit. @param schema the workspace, or one beside it */
export function atHandSchema(schema: string): string {
  return `${/^build_[0-9]+/.exec(schema)?.[0] ?? schema}_at_hand`;
}

/**
 * A published table as a workspace can read it: itself, or, where it lies on other nodes, a copy that goes with the workspace.
 * @param workspace where it is asked for; of `pg_temp`, an explanation's, the parcels must be there, and rows of others are left out
 * @param rows `none`: of a parent, which has the columns
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
