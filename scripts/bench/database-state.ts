/** Reads the size and the state of a database: tables and indexes of each schema, relations, dead rows, and the age of the oldest transaction. */
import { one, type Database } from '../../pipelines/db/index.ts';

/** Schemas whose sizes are measured: published tables, former rows, previous publications, releases, the ledger, and the system catalogue. */
export const SCHEMAS = ['core', 'section', 'history', 'previous', 'layer', 'ledger', 'pg_catalog'] as const;

interface Size {
  /** Bytes of the tables, with TOAST. */
  readonly tables: number;
  readonly indexes: number;
}

export interface DatabaseState {
  /** Sizes by schema. A schema without tables is missing. */
  readonly sizes: Readonly<Record<string, Size>>;
  /** Number of rows in pg_class. */
  readonly relations: number;
  /** Estimated number of dead rows in all tables, from the statistics of the server. */
  readonly deadRows: number;
  readonly liveRows: number;
  /** Number of transactions since the oldest transaction id that rows of the database may contain. */
  readonly oldestTransaction: number;
  /** Number of autovacuum runs on tables of the database. */
  readonly autovacuums: number;
}

export async function databaseState(database: Database): Promise<DatabaseState> {
  const sizes = await database.query<{ schema: string; tables: number; indexes: number }>(
    `select n.nspname as schema, sum(pg_table_size(c.oid))::float8 as tables, sum(pg_indexes_size(c.oid))::float8 as indexes
     from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind in ('r', 'm') and n.nspname = any ($1) group by n.nspname`, [SCHEMAS],
  );
  const facts = await one<{ relations: number; deadRows: number; liveRows: number; oldestTransaction: number; autovacuums: number }>(database, `
    select
      (select count(*)::float8 from pg_class) as relations, sum(n_dead_tup)::float8 as "deadRows", sum(n_live_tup)::float8 as "liveRows",
      (select age(datfrozenxid)::float8 from pg_database where datname = current_database()) as "oldestTransaction", sum(autovacuum_count)::float8 as autovacuums
    from pg_stat_user_tables`);
  return { sizes: Object.fromEntries(sizes.map(({ schema, tables, indexes }) => [schema, { tables, indexes }])), ...facts };
}

/** Returns the sizes, relations, dead rows and transaction age of a state as numbers for the history. @param name prefix of the metric names */
export function figuresOfState(name: string, { sizes, relations, deadRows, oldestTransaction }: DatabaseState): Record<string, number> {
  const bytes = Object.entries(sizes).flatMap(([schema, { tables, indexes }]) => [[`${name}: tables of ${schema}, bytes`, tables], [`${name}: indexes of ${schema}, bytes`, indexes]]);
  return { ...Object.fromEntries(bytes) as Record<string, number>, [`${name}: relations`]: relations, [`${name}: dead rows`]: deadRows, [`${name}: age of the oldest transaction`]: oldestTransaction };
}
