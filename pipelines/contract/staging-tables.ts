/** Staging tables follow from what a source states in `tables`: nothing of them comes from data. */
import { parseSqlFile, type SqlFile } from './sql-files.ts';
import type { Source } from './source.ts';

/** Returns the statements that create a source's staging tables, under their name in the ledger. */
export function stagingTables(id: string, tables: Source['tables']): SqlFile {
  const statements = Object.entries(tables).map(([table, columns]) => {
    const lines = Object.entries({ member_id: 'int4 not null', position: 'int8 not null', ...columns }).map(([name, type]) => `  ${name} ${type}`);
    return `create unlogged table ${table} (\n${lines.join(',\n')}\n);\n`;
  });
  const header = `-- reads: none\n-- writes: ${Object.keys(tables).map((table) => `staging.${table}`).join(', ')}\n`;
  return parseSqlFile(`sources/${id}/staging.sql`, [header, ...statements].join('\n'));
}
