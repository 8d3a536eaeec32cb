/**
 * Returns the statements that create the tables of a source, from the source's `tables` and `layers`. `defineSource` has checked names and types. The
 * statements contain no text from data files.
 */
import type { Column } from '../formats/copy.ts';
import type { Layer, LayerColumns, Source } from './source.ts';
import { parseSqlFile, type SqlFile } from './sql-files.ts';
import { literal } from './sql-text.ts';

/** Columns that precede the source's columns in a staging table. */
const RECORD = { member_id: 'int4 not null', position: 'int8 not null' } as const satisfies Readonly<Record<string, Column>>;

/** Returns the columns that precede the source's columns in a layer, with their descriptions. */
const provenance = (position: string): LayerColumns => ({
  release_id: ['int4 not null', 'Release of the row (ledger.release). Partition key.'],
  member_id: [RECORD.member_id, 'Member that the row was read from (ledger.member).'],
  position: [RECORD.position, position],
});

/** Returns the SQL that creates a source's staging tables. The file name identifies the SQL in the ledger. */
export function stagingTables(id: string, tables: Source['tables']): SqlFile {
  const statements = Object.entries(tables).map(([table, columns]) => `create unlogged table ${table} ${listed({ ...RECORD, ...columns })};\n`);
  const header = `-- reads: none\n-- writes: ${Object.keys(tables).map((table) => `staging.${table}`).join(', ')}\n`;
  return parseSqlFile(`sources/${id}/staging.sql`, [header, ...statements].join('\n'));
}

/** Returns the SQL that creates and describes a source's layer tables. The file name identifies the SQL in the ledger. */
export function layerTables(id: string, layers: Source['layers']): SqlFile {
  const names = Object.keys(layers);
  const header = `-- purpose: the layers ${names.join(', ')}\n-- reads: none\n-- writes: ${names.map((name) => `layer.${name}`).join(', ')}\n`;
  return parseSqlFile(`sources/${id}/layer.sql`, [header, ...Object.entries(layers).map(([name, layer]) => layerTable(name, layer))].join('\n'));
}

/** Returns all columns of a layer, in the order of the table. */
export function layerColumns({ position, columns }: Layer): LayerColumns {
  return { ...provenance(position), ...columns };
}

/** Returns the indexes of a layer. An index with a geometry column is a GiST index. All other indexes are B-tree indexes. */
export function layerIndexes(layer: Layer): { readonly query: string; readonly method: 'btree' | 'gist'; readonly columns: readonly string[] }[] {
  const all = layerColumns(layer);
  return Object.entries(layer.indexes ?? {}).map(([query, columns]) => ({ query, method: columns.some((column) => all[column]?.[0].startsWith('geometry') === true) ? 'gist' : 'btree', columns }));
}

function layerTable(name: string, layer: Layer): string {
  const table = `layer.${name}`;
  const all = layerColumns(layer);
  const types = Object.fromEntries(Object.entries(all).map(([column, [type]]) => [column, type]));
  return [
    `create table ${table} ${listed(types)} partition by list (release_id);`,
    `comment on table ${table} is ${literal(layer.description)};`,
    ...Object.entries(all).map(([column, [, text]]) => `comment on column ${table}.${column} is ${literal(text)};`),
    ...layerIndexes(layer).map(({ query, method, columns }) => `-- serves: ${query}\ncreate index on ${table}${method === 'gist' ? ' using gist' : ''} (${columns.join(', ')});`),
    '',
  ].join('\n');
}

/** Returns a list of columns with types, in parentheses. */
function listed(columns: Readonly<Record<string, string>>): string {
  return `(\n${Object.entries(columns).map(([name, type]) => `  ${name} ${type}`).join(',\n')}\n)`;
}
