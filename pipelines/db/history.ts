/**
 * What was in force and no longer is. Which tables that is asked of follows from the functions of a record: the tables that they read. A swap writes down
 * what it takes out of force, and the same functions, made once more over tables as they were, tell a record of any moment.
 */
import { schemaOf, tableOf, type Relation } from '../contract/sql-files.ts';
import { columnNames, PROVENANCE } from './catalog.ts';
import { isDistributed } from './distributed.ts';
import { RecordFunctions, type RecordTable } from './record-functions.ts';
import { runEach, statementsOf, type Part, type Place } from './statements.ts';
import { ident, one, type Session } from './types.ts';

const statement = statementsOf('history');

/** What history is made with. */
export const HISTORY_FILE = 'sql/statements/history.sql';

const SCHEMA = 'history';
const PAST = 'past';
/** Stands for the key of a table that has none: a digest of what the row says. */
const DIGEST = 'row_hash';
/** Columns of history itself. */
const OWN = ['from_swap', 'until_swap', 'absent'];
const PUBLICATION = /\bledger\.publication\b/g;

/** Makes the tables of history, and the functions of a record over them. Inside a transaction, when the interface was made. */
export async function makeHistory(session: Session): Promise<void> {
  const record = await RecordFunctions.of(session);
  const tables = await record.tables(session);
  const names = tables.map(({ relation }) => tableOf(relation));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`two tables that a record reads are called ${twice}: their history would be one`);
  for (const table of tables) await followTable(session, table);
  const past = [
    statement('begin_past'), ...tables.map(seenOf),
    ...record.over(PAST, (relation) => (names.includes(tableOf(relation)) ? `${PAST}.${tableOf(relation)}()` : null), { found: PUBLICATION, instead: `${PAST}.publication()` }),
    statement('record_at'),
  ];
  await session.script(past.map((each) => `${each};\n`).join('\n'), HISTORY_FILE);
}

/** Columns that say what a row says, wherever it was read. */
function contentOf({ columns }: Pick<RecordTable, 'columns'>): string[] {
  return columns.map(({ name }) => name).filter((name) => !PROVENANCE.includes(name));
}

/** By what rows are told apart. A table without a key is a region's. */
function keyOf({ key }: Pick<RecordTable, 'key'>): readonly string[] {
  return key.length > 0 ? key : ['region_code', DIGEST];
}

function historyOf(relation: Relation): Place {
  return { schema: SCHEMA, table: tableOf(relation) };
}

/** Makes the history of a table, or has it follow what became of the table. */
async function followTable(session: Session, table: RecordTable): Promise<void> {
  const { relation } = table;
  const history = historyOf(relation);
  const [from, to] = [ident(schemaOf(relation), tableOf(relation)), ident(history.schema, history.table)];
  const content = contentOf(table);
  const columns = table.columns.filter(({ name }) => content.includes(name)).map(({ name, type }) => `${ident(name)} ${type}`);
  if (table.key.length === 0) columns.push(`${ident(DIGEST)} int8`);
  await session.query(statement('keep', { history, columns: { sql: columns.join(',\n  ') }, key: keyOf(table) }));
  await runEach(session, statement('follow'), [from, to, [...content, DIGEST, ...OWN]]);
  await session.script(statement('describe', { history, description: `What ${relation} held and no longer does, one row for each time that a row of its key was in force` }), `${HISTORY_FILE}, describe`);
  await runEach(session, statement('describe_columns'), [from, to, 'Digest of the row, which stands for a key']);
  if (table.key.length > 0) return;
  for (const [index, { columns: sought }] of (await session.query<{ columns: readonly string[] }>(statement('sought'), [from])).entries()) {
    await session.query(statement('index', { history, index: `${history.table}_sought_${index + 1}`, columns: sought }));
  }
}

/** The function that gives a table as it was. */
function seenOf(table: RecordTable): string {
  const { relation, columns } = table;
  const content = contentOf(table);
  const list = (alias: string | null): Part => ({
    sql: columns.map(({ name, type }) => (alias === null ? `${ident(name)} ${type}` : content.includes(name) ? `${alias}.${ident(name)}` : `null::${type}`)).join(', '),
  });
  return statement('seen', {
    table: tableOf(relation), typed: list(null), shown: list('t'), kept: list('t'), from: { schema: schemaOf(relation), table: tableOf(relation) }, history: historyOf(relation), relation,
    swap: swapOf(table), same: sameKey(table, 't', digestOfRow(content)), description: `The table ${relation} as it was at the moment that the transaction looks at`,
  });
}

/** The swap by which a row's region was as it was. @throws Error for a table that is split otherwise: a bug of the project */
function swapOf({ relation, split }: RecordTable): Part {
  switch (split) {
    case null: return { sql: statement('swap_of_italy', { relation }) };
    case 'LIST (region_code)': return { sql: statement('swap_of_region', { relation, unit: { sql: 't.region_code' } }) };
    case 'RANGE (fid)': return { sql: statement('swap_of_region', { relation, unit: { sql: 'core.region_of(t.fid)' } }) };
    default: throw new Error(`${relation} is partitioned by ${split}, expected region_code or fid: its history would not know whose swaps are its own`);
  }
}

function digestOfRow(content: readonly string[]): string {
  return statement('digest_of_row', { columns: content });
}

/** That a row `h` of history is of the same key. @param digest of a row without a key */
function sameKey(table: Pick<RecordTable, 'key'>, alias: string, digest = `${alias}.${ident(DIGEST)}`): Part {
  return { sql: keyOf(table).map((name) => `h.${ident(name)} = ${name === DIGEST ? digest : `${alias}.${ident(name)}`}`).join(' and ') };
}

/** A table that leaves, comes or stays, with what the ledger says it holds. */
export interface Standing {
  readonly place: Place;
  readonly rows: number;
  readonly digest: string;
}

/** What becomes of one table by a swap; null: there is none. */
interface Exchange {
  readonly relation: Relation;
  readonly leaving: Standing | null;
  readonly coming: Standing | null;
}

/**
 * Notes a swap, and keeps what it takes out of force. Inside the swap's transaction, before any lock that others wait for: in a large region it takes its time.
 * @param publication that comes into force; null: none does
 * @returns its number
 */
export async function noteSwap(session: Session, unit: number, publication: number | null, exchanges: readonly Exchange[]): Promise<number> {
  const { swap } = await one<{ swap: number }>(session, statement('note'), [unit, publication]);
  // What lies on other nodes is not kept.
  if (await isDistributed(session)) return swap;
  const tables = await session.query<RecordTable>(statement('tables'), [exchanges.filter(isOther).map(({ relation }) => relation)]);
  const { swap: first } = await one<{ swap: number }>(session, statement('first'), [unit]);
  for (const exchange of exchanges.filter(isOther)) {
    const table = tables.find(({ relation }) => relation === exchange.relation);
    const history = historyOf(exchange.relation);
    if (table === undefined || (await columnNames(session, history)).length === 0) continue;
    await keepRows(session, table, exchange, swap, first);
  }
  return swap;
}

/** Nothing leaves an empty table; the ledger says that it was empty. */
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

/** The moment of a swap, when no reader looks any more. Inside its transaction. */
export async function swapHappens(session: Session, swap: number): Promise<void> {
  await session.query(statement('happened'), [swap]);
  if (await isDistributed(session)) await session.query(statement('begin_again'));
}

/** Of a database that was just distributed: what was kept could not be read together with what lies on other nodes. Inside a transaction. */
export async function forgetHistory(session: Session): Promise<void> {
  for (const { name } of await session.query<{ name: string }>(statement('kept'))) await session.query(statement('empty', { history: { schema: SCHEMA, table: name } }));
  await session.query(statement('begin_again'));
}

/** What `cutHistory` takes away. */
export interface Cut {
  readonly rows: number;
  readonly swaps: number;
}

/** Deletes, or only counts, the rows that were replaced at least this many months ago. */
export async function cutHistory(session: Session, months: number, action: 'delete' | 'count'): Promise<Cut> {
  const horizon = await session.query<{ unit: number; swap: number }>(statement('horizon'), [months]);
  const until = [horizon.map(({ unit }) => unit), horizon.map(({ swap }) => swap)];
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
