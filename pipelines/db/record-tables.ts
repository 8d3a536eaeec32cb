/**
 * Lists the tables from which a record is read. In the SQL of a record, table names have no schema. The same SQL therefore also reads the views of a region or
 * of a past time.
 */
import { readSectionFiles, readSqlFolder, schemaOf, type Relation, type SqlFile } from '../contract/sql-files.ts';
import { statementsOf } from './statements.ts';
import type { Session } from './types.ts';

const statement = statementsOf('history');

/** A table that a record reads. */
export interface RecordTable extends Record<string, unknown> {
  readonly relation: Relation;
  /** Partition key; null for a national table. */
  readonly split: string | null;
  readonly key: readonly string[];
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

/** Returns the files with the functions of a record. */
export function recordFiles(): SqlFile[] {
  return [...readSectionFiles('record'), ...readSqlFolder('sql/record')];
}

/** Returns the tables that the functions of a record read, by their headers. */
export function recordTables(session: Session): Promise<RecordTable[]> {
  const read = recordFiles().flatMap(({ reads }) => reads.filter((relation) => ['core', 'section'].includes(schemaOf(relation))));
  return tablesOf(session, [...new Set(read)].sort());
}

export function tablesOf(session: Session, relations: readonly Relation[]): Promise<RecordTable[]> {
  return session.query<RecordTable>(statement('tables'), [relations]);
}
