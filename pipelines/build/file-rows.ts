/** Runs SQL files whose last statement is a query, and returns the rows of this query. */
import type { Row, Session } from '../db/index.ts';
import { rolledBack } from '../db/transactions.ts';
import type { SqlFile } from '../contract/sql-files.ts';

/**
 * Runs the statements of a file and rolls back their changes.
 * @param prepare creates the inputs of the file in the same transaction
 * @returns the rows of the last statement
 */
export async function rowsOfFile<R extends Row>(session: Session, { parts }: Pick<SqlFile, 'parts'>, prepare?: () => Promise<void>): Promise<R[]> {
  const scripts = parts.flatMap((part) => ('sweep' in part ? [] : [part]));
  const last = scripts.pop();
  if (last === undefined) return [];
  return rolledBack(session, async () => {
    await prepare?.();
    for (const { file, text } of scripts) await session.script(text, file);
    return session.query<R>(last.text);
  });
}
