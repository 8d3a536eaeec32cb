/** Reads the tables and columns of a database with their comments. */
import type { Session } from '../../pipelines/db/types.ts';

export interface DatabaseTable {
  readonly relation: string;
  readonly comment: string;
  readonly columns: readonly { readonly name: string; readonly type: string; readonly comment: string }[];
}

type Row = { readonly relation: string; readonly comment: string; readonly name: string; readonly type: string; readonly said: string };

/**
 * Returns the tables of the schemas `core`, `section`, `layer` and `ledger`, with columns and comments.
 * @param session session of a database at the current version
 */
export async function tablesOf(session: Pick<Session, 'query'>): Promise<DatabaseTable[]> {
  const rows = await session.query<Row>(
    `select
       n.nspname || '.' || c.relname as relation,
       coalesce(obj_description(c.oid, 'pg_class'), '') as comment,
       a.attname as name,
       format_type(a.atttypid, a.atttypmod) || case when a.attnotnull then ', never null' else '' end as type,
       coalesce(col_description(c.oid, a.attnum), '') as said
     from pg_class c
     join pg_namespace n on n.oid = c.relnamespace
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where n.nspname in ('core', 'section', 'layer', 'ledger') and c.relkind in ('r', 'p') and not c.relispartition
     order by n.nspname, c.relname, a.attnum`,
  );
  const tables = new Map<string, DatabaseTable & { readonly columns: { readonly name: string; readonly type: string; readonly comment: string }[] }>();
  for (const { relation, comment, name, type, said } of rows) {
    const found = tables.get(relation) ?? { relation, comment, columns: [] };
    tables.set(relation, found);
    found.columns.push({ name, type, comment: said });
  }
  return [...tables.values()];
}
