/**
 * Lists the tables from which a record is read. In the SQL of a record, table names have no schema. The search path decides whether the SQL reads the tables,
 * the views of a region or the views of a past time.
 */
import { readSectionFiles, readSqlFolder, schemaOf, type Relation, type SqlFile } from '../contract/sql-files.ts';
import { statementsOf } from './statements.ts';
import type { Session } from './types.ts';

const statement = statementsOf('history');

/** A table from which records are read. */
export interface RecordTable extends Record<string, unknown> {
  readonly relation: Relation;
  /** Partition key as PostgreSQL prints it; null for a table that covers all of Italy and has no partitions. */
  readonly split: string | null;
  readonly key: readonly string[];
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

/** Returns the SQL files with the functions that return a record. */
export function recordFiles(): SqlFile[] {
  return [...readSectionFiles('record'), ...readSqlFolder('sql/record')];
}

/** Returns the names of the tables that the functions of a record read, from the `-- reads:` lines of their SQL files. */
export function readByRecords(): Relation[] {
  const read = recordFiles().flatMap(({ reads }) => reads.filter((relation) => ['core', 'section'].includes(schemaOf(relation))));
  return [...new Set(read)].sort();
}

/** Returns the tables that the functions of a record read. */
export function recordTables(session: Session): Promise<RecordTable[]> {
  return tablesOf(session, readByRecords());
}

export function tablesOf(session: Session, relations: readonly Relation[]): Promise<RecordTable[]> {
  return session.query<RecordTable>(statement('tables'), [relations]);
}
