/** What is in force, as the ledger has it. */
import { tableOf, type Relation } from '../contract/sql-files.ts';
import type { Session } from '../db/index.ts';

export interface PublishedTable {
  readonly relation: Relation;
  /** Name by which it is detached, or lies in `previous`. */
  readonly partition: string;
  /** Name under which it stands while it is in force: tables of Italy are swapped whole and bear the parent's. */
  readonly stands: string;
  readonly fingerprint: string;
  readonly inputs: Readonly<Record<string, string>>;
  readonly rows: number;
  readonly digest: string;
}

/** The publication in force of a unit, by relation. */
export async function publishedTables(session: Session, unit: number, state: 'current' | 'previous' = 'current'): Promise<Map<Relation, PublishedTable>> {
  const rows = await session.query<PublishedTable & Record<string, unknown>>(
    `select t.relation, t.partition, t.fingerprint, t.inputs, t.rows, t.digest from ledger.publication_table t
     join ledger.publication p using (publication_id) where p.unit_code = $1 and p.state = $2`, [unit, state],
  );
  return new Map(rows.map((row) => [row.relation, { ...row, stands: unit === 0 && state === 'current' ? tableOf(row.relation) : row.partition }]));
}

/** All publications in force, by unit. */
export async function publications(session: Session): Promise<Map<number, Map<Relation, PublishedTable>>> {
  const units = await session.query<{ unit: number }>("select unit_code::int4 as unit from ledger.publication where state = 'current' order by 1");
  return new Map(await Promise.all(units.map(async ({ unit }) => [unit, await publishedTables(session, unit)] as const)));
}
