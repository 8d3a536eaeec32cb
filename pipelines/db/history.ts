/**
 * Stores formerly published rows. History covers all tables from which records are read. A swap replaces the current publication of a region or of Italy, and
 * stores the replaced rows. The views in the schema `past` show these tables as of a past time. Past records are read from these views.
 */
import { SECTIONS } from '../contract/sections.ts';
import { parseSqlFile, schemaOf, tableOf, type Relation, type SqlFile } from '../contract/sql-files.ts';
import { PROVENANCE } from './comparing.ts';
import { columnNames } from './ddl.ts';
import { isDistributed } from './distributed.ts';
import { recordTables, tablesOf, type RecordTable } from './record-tables.ts';
import { runEach, statementsOf, type Part, type Place } from './statements.ts';
import { ident, one, type Session } from './types.ts';

const statement = statementsOf('history');

/** File with the statements that create history. */
export const HISTORY_FILE = 'sql/statements/history.sql';

const SCHEMA = 'history';
const PAST = 'past';
/** Column with a digest of the row, which serves as the key in tables without a key. */
const DIGEST = 'row_hash';
/** Partition key of tables whose rows belong to parcels. */
export const OF_PARCELS = 'RANGE (fid)';
/** Names of columns that only history tables have. */
const OWN = ['from_swap', 'until_swap', 'absent'];

/** Creates the history tables, and the schema `past` with views and functions. Call inside a transaction, after `dropPast`. */
export async function makeHistory(session: Session): Promise<void> {
  const tables = await recordTables(session);
  const names = tables.map(({ relation }) => tableOf(relation));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`two tables of records have the name ${twice}, so their history tables would have the same name`);
  for (const table of tables) await followTable(session, table);
  await session.script(`${statement('begin_past')};\n`, HISTORY_FILE);
  await makePastViews(session, tables);
  await session.script(touchingFunctions(tables).text, HISTORY_FILE);
}

/** Drops the schema `past` before tables change, because the views of `past` depend on the tables. Call inside a transaction. */
export async function dropPast(session: Session): Promise<void> {
  await session.query(statement('end_past'));
}

/**
 * Drops the views of past rows of the tables of Italy. A publication of Italy replaces these tables completely. Call inside the transaction of the publication.
 */
export async function dropPastOfItaly(session: Session): Promise<void> {
  for (const { relation } of await nationalTables(session)) await session.query(statement('end_seen', { view: { schema: PAST, table: tableOf(relation) } }));
}

/** Creates the views that `dropPastOfItaly` dropped, on the current tables of Italy. */
export async function makePastOfItaly(session: Session): Promise<void> {
  await makePastViews(session, await nationalTables(session));
}

async function nationalTables(session: Session): Promise<RecordTable[]> {
  return (await recordTables(session)).filter(({ split }) => split === null);
}

async function makePastViews(session: Session, tables: readonly RecordTable[]): Promise<void> {
  await session.script(tables.map((table) => `${seenOf(table)};\n`).join('\n'), HISTORY_FILE);
}

/** Returns the names of a table's columns without the provenance columns. */
function contentOf({ columns }: Pick<RecordTable, 'columns'>): string[] {
  return columns.map(({ name }) => name).filter((name) => !PROVENANCE.includes(name));
}

/** Returns the columns that identify a row: the key, or region and digest in a table without a key. */
function keyOf({ key }: Pick<RecordTable, 'key'>): readonly string[] {
  return key.length > 0 ? key : ['region_code', DIGEST];
}

function historyOf(relation: Relation): Place {
  return { schema: SCHEMA, table: tableOf(relation) };
}

/** Creates the history table of a table, or adapts an existing history table to the table's current columns. */
async function followTable(session: Session, table: RecordTable): Promise<void> {
  const { relation } = table;
  const history = historyOf(relation);
  const [from, to] = [ident(schemaOf(relation), tableOf(relation)), ident(history.schema, history.table)];
  const content = contentOf(table);
  const columns = table.columns.filter(({ name }) => content.includes(name)).map(({ name, type }) => `${ident(name)} ${type}`);
  if (table.key.length === 0) columns.push(`${ident(DIGEST)} int8`);
  await session.query(statement('keep', { history, columns: { sql: columns.join(',\n  ') }, key: keyOf(table) }));
  await runEach(session, statement('follow'), [from, to, [...content, DIGEST, ...OWN]]);
  await session.script(statement('describe', { history, description: `Former rows of ${relation}, one row for each period in which a row of its key was current` }), `${HISTORY_FILE}, describe`);
  await runEach(session, statement('describe_columns'), [from, to, 'Digest of the row, used as its key']);
  await session.query(statement('index_of_swap', { history, index: `${history.table}_swap`, columns: table.split === OF_PARCELS ? ['until_swap', 'fid'] : ['until_swap'] }));
  if (content.includes('geom')) await session.query(statement('index_of_shapes', { history, index: `${history.table}_geom` }));
  if (table.key.length > 0) return;
  for (const [index, { columns: sought }] of (await session.query<{ columns: readonly string[] }>(statement('sought'), [from])).entries()) {
    await session.query(statement('index', { history, index: `${history.table}_sought_${index + 1}`, columns: sought }));
  }
}

/** Returns the statement that creates the view of a table's past rows. */
function seenOf(table: RecordTable): string {
  const { relation, columns } = table;
  const content = contentOf(table);
  const shown = columns.map(({ name, type }) => (content.includes(name) ? `t.${ident(name)}` : `null::${type} as ${ident(name)}`));
  return statement('seen', {
    view: { schema: PAST, table: tableOf(relation) }, shown: { sql: shown.join(',\n  ') },
    from: { schema: schemaOf(relation), table: tableOf(relation) }, history: historyOf(relation), relation,
    swap: swapOf(table), unreplaced: unreplacedIn(table, digestOfRow(content)), description: `Rows of ${relation} as of the past time that the transaction reads`,
  });
}

/**
 * Returns the SQL condition that is true if the current row `t` was already current at the past time.
 * @param digest SQL expression of the row's digest, for tables without a key
 */
function unreplacedIn(table: RecordTable, digest: string): Part {
  const history = historyOf(table.relation);
  const ofRow = statement('no_later_history', { history, same: sameKey(table, 't', digest) });
  return { sql: table.key.length > 0 ? ofRow : statement('no_later_history_of_region', { history, of_row: { sql: ofRow } }) };
}

/**
 * Returns the SQL functions that find the parcels which a swap may have changed. For tables without a column `fid`, functions of the sections find the parcels
 * of a row.
 */
export function touchingFunctions(unordered: readonly Pick<RecordTable, 'relation' | 'split'>[]): SqlFile {
  // Sorted here, because databases sort names by different rules.
  const tables = [...unordered].sort((a, b) => (a.relation < b.relation ? -1 : 1));
  const followed = new Set(SECTIONS.flatMap(({ follows = [] }) => follows));
  const others = tables.filter(({ relation, split }) => split !== OF_PARCELS && !followed.has(relation));
  const parts = [
    ...tables.filter(({ split }) => split === OF_PARCELS).map(({ relation }) => statement('touched_rows', { history: historyOf(relation) })),
    ...SECTIONS.filter(({ follows }) => follows !== undefined).map(({ name }) => statement('touched_by_section', { function: `followed_${name}` })),
  ];
  const text = statement('touching', {
    relations: tables.map(({ relation }) => relation), parts: { sql: parts.join('\nunion\n') },
    others: { sql: others.map(({ relation }) => statement('touching_table', { history: historyOf(relation) })).join('\n') },
  });
  return parseSqlFile(HISTORY_FILE, `-- reads: none\n-- writes: past.touches_all, past.touched\n\n${text};\n`);
}

/** Returns the SQL expression for the swap that applies to a row's region. @throws Error for an unknown partition key, which is a bug */
function swapOf({ relation, split }: RecordTable): Part {
  switch (split) {
    case null: return { sql: statement('swap_of_italy', { relation }) };
    case 'LIST (region_code)': return { sql: statement('swap_of_region', { relation, region: { sql: 't.region_code' } }) };
    case OF_PARCELS: return { sql: statement('swap_of_region', { relation, region: { sql: 'core.region_of(t.fid)' } }) };
    default: throw new Error(`${relation} is partitioned by ${split}, expected region_code or fid. The history of this table cannot be assigned to swaps`);
  }
}

function digestOfRow(content: readonly string[]): string {
  return statement('digest_of_row', { columns: content });
}

/**
 * Returns the SQL condition that is true if the row `h` of history has the same key as a given row.
 * @param alias alias of the given row in the SQL
 * @param digest SQL expression of the given row's digest, for tables without a key
 */
function sameKey(table: Pick<RecordTable, 'key'>, alias: string, digest = `${alias}.${ident(DIGEST)}`): Part {
  return { sql: keyOf(table).map((name) => `h.${ident(name)} = ${name === DIGEST ? digest : `${alias}.${ident(name)}`}`).join(' and ') };
}

/** A table before or after a swap, with its row count and digest from the ledger. */
export interface TableState {
  readonly place: Place;
  readonly rows: number;
  readonly digest: string;
}

/** The change of one table in a swap. A state is null if the table does not exist before or after the swap. */
export interface Exchange {
  readonly relation: Relation;
  readonly leaving: TableState | null;
  readonly coming: TableState | null;
}

/**
 * Records a swap and stores the rows that the swap replaces. Call inside the swap's transaction, before any lock that blocks readers, because storing the rows
 * of a large region takes long.
 * @param publication new publication, or null for a withdrawal
 * @returns the number of the swap
 */
export async function noteSwap(session: Session, region: number, publication: number | null, exchanges: readonly Exchange[]): Promise<number> {
  const { swap } = await one<{ swap: number }>(session, statement('note'), [region, publication]);
  // Distributed tables have no history.
  if (await isDistributed(session)) return swap;
  const tables = await tablesOf(session, exchanges.filter(isOther).map(({ relation }) => relation));
  const { swap: first } = await one<{ swap: number }>(session, statement('first'), [region]);
  for (const exchange of exchanges.filter(isOther)) {
    const table = tables.find(({ relation }) => relation === exchange.relation);
    const history = historyOf(exchange.relation);
    if (table === undefined || (await columnNames(session, history)).length === 0) continue;
    await keepRows(session, table, exchange, swap, first);
  }
  return swap;
}

/** Returns whether a swap replaces rows of a table. Returns false if the replaced table is missing or empty. */
function isOther({ leaving, coming }: Exchange): boolean {
  return leaving !== null && leaving.rows > 0 && leaving.digest !== coming?.digest;
}

async function keepRows(session: Session, table: RecordTable, { leaving, coming }: Exchange, swap: number, first: number): Promise<void> {
  if (leaving === null) return;
  const content = contentOf(table);
  const rowsOf = (place: Place): Part => ({ sql: table.key.length > 0 ? statement('rows', { from: place }) : statement('rows_by_content', { from: place, digest: { sql: digestOfRow(content) } }) });
  const left = rowsOf(leaving.place);
  const came = coming === null ? { sql: statement('no_rows', { rows: left }) } : rowsOf(coming.place);
  const history = historyOf(table.relation);
  const key = keyOf(table);
  const columns = table.key.length > 0 ? content : [...content, DIGEST];
  await session.query(statement('keep_rows', {
    history, leaving: left, coming: came, key, columns, content, others: columns.filter((name) => !key.includes(name)), same: sameKey(table, 'd'),
  }), [swap, first]);
}

/**
 * Records the time of a swap. In a distributed database, also deletes the earlier swaps, because replaced rows are not kept. Call inside the swap's transaction
 * after readers are blocked.
 */
export async function swapHappens(session: Session, swap: number): Promise<void> {
  await session.query(statement('happened'), [swap]);
  if (await isDistributed(session)) await session.query(statement('begin_again'));
}

/** Deletes all history. Call after distributing a database, inside a transaction, because history cannot be joined with tables on other nodes. */
export async function forgetHistory(session: Session): Promise<void> {
  for (const { name } of await session.query<{ name: string }>(statement('kept'))) await session.query(statement('empty', { history: { schema: SCHEMA, table: name } }));
  await session.query(statement('begin_again'));
}

/** Numbers of history rows and swaps that `cutHistory` deleted or counted. */
export interface Cut {
  readonly rows: number;
  readonly swaps: number;
}

/**
 * Deletes the history rows that were replaced more than `months` months ago. Also deletes the swaps before that time, except the last of these swaps in each
 * region. With `count`, only counts these rows and swaps.
 */
export async function cutHistory(session: Session, months: number, action: 'delete' | 'count'): Promise<Cut> {
  const horizon = await session.query<{ region: number; swap: number }>(statement('horizon'), [months]);
  const until = [horizon.map(({ region }) => region), horizon.map(({ swap }) => swap)];
  let rows = 0;
  for (const { name } of await session.query<{ name: string }>(statement('kept'))) {
    const history = { schema: SCHEMA, table: name };
    rows += (await one<{ rows: number }>(session, statement('rows_before', { history }), until)).rows;
    if (action === 'delete') await session.query(statement('cut_rows', { history }), until);
  }
  const { swaps } = await one<{ swaps: number }>(session, statement('swaps_before'), until);
  if (action === 'delete') {
    await session.query(statement('cut_swaps'), until);
    await session.query(statement('cut_here'), [...until, months]);
  }
  return { rows, swaps };
}
