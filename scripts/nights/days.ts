/** Moves the times in the ledger back by the time between two nights. */
import type { Database } from '../../pipelines/db/index.ts';

/** Columns that contain the time of an event, by table. `refuseUnknownMoments` fails if the ledger has a column with times that is not listed. */
const MOMENTS: Readonly<Record<string, readonly string[]>> = {
  run: ['started_at', 'ended_at'], step: ['started_at', 'ended_at'], release: ['created_at', 'loaded_at'], publication: ['published_at'], file: ['forgotten_at'],
  hold: ['held_at'], swap: ['happened_at', 'kept_from'], applied_file: ['applied_at'],
};

const MOMENT_COLUMNS = `
select table_name || '.' || column_name as name
from information_schema.columns
where table_schema = 'ledger' and data_type = 'timestamp with time zone'
order by 1`;

/** Checks that `daysGoBy` changes all time columns of the ledger. @throws Error if the time columns of the ledger are not exactly the listed columns */
export async function refuseUnknownMoments(database: Database): Promise<void> {
  const known = Object.entries(MOMENTS).flatMap(([table, columns]) => columns.map((column) => `${table}.${column}`)).sort();
  const found = (await database.query<{ name: string }>(MOMENT_COLUMNS)).map(({ name }) => name).sort();
  if (JSON.stringify(known) !== JSON.stringify(found)) throw new Error(`expected these time columns in the ledger: ${known.join(', ')}, found ${found.join(', ')}`);
}

/**
 * Moves recorded times back by a number of days, and vacuums the tables. The server's clock shows the real time, but the program's clock shows the simulated
 * night. Without this change, records would be too young for the simulated night.
 */
export async function daysGoBy(database: Database, days: number): Promise<void> {
  for (const [table, columns] of Object.entries(MOMENTS)) {
    const moved = columns.map((column) => `${column} = ${column} - make_interval(days => $1)`).join(', ');
    await database.query(`update ledger.${table} set ${moved}`, [days]);
    await database.query(`vacuum ledger.${table}`);
  }
}
