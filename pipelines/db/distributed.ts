/**
 * Distributes tables over the nodes of Citus. Tables with fid are distributed by fid. All other tables are on the coordinator. A region is built in a workspace
 * on the coordinator. Files whose rows depend on a single parcel run on the shards of the parcels, next to copies of their inputs. Published partitions are
 * attached from tables that are already on the nodes. On other databases, this module has no effect.
 */
import pLimit from 'p-limit';
import { MappaleError } from '../errors.ts';
import { firstFid } from '../contract/regions.ts';
import { schemaOf, tableOf, type Relation, type SqlFile } from '../contract/sql-files.ts';
import { atHandSchema, isOnNodes } from './at-hand.ts';
import { analyze, columnNames, createSchema, tablesIn } from './ddl.ts';
import { boundOf, splitOf } from './partitions.ts';
import { statementsOf, type Names, type Part, type Place } from './statements.ts';
import { ident, one, type Database, type Session } from './types.ts';
import { buildSchema, shardSchema } from './workspace.ts';

const statement = statementsOf('distributed');
const PARCELS: Relation = 'core.parcel';

const script = (session: Session, name: string, names: Names): Promise<void> => session.script(statement(name, names), `sql/statements/distributed.sql, ${name}`);

function nameOf({ schema, table }: Place): string {
  return ident(schema, table);
}

/** Returns whether the parcels of this database are distributed. */
export function isDistributed(session: Session): Promise<boolean> {
  return isOnNodes(session, { schema: 'core', table: 'parcel' });
}

/**
 * Checks Citus and the workers, and creates the server's role on each worker. Call outside a transaction. In a transaction, creating the role would block other
 * sessions that look for the role. Commands to all workers also use other connections. @param action `look` only checks
 * @throws MappaleError `CITUS_MISSING`, `CITUS_NO_WORKERS`, `WORKER_WITHOUT_ROLE` (exit 2)
 */
export async function prepareNodes(session: Session, label: string, action: 'look' | 'prepare'): Promise<void> {
  const refuse = (message: string, code: string, hint: string): MappaleError => new MappaleError(message, { code, kind: 'usage', at: label, detail: 'MAPPALE_DISTRIBUTED=citus', hint });
  if (!(await one<{ there: boolean }>(session, statement('has_citus'))).there) {
    throw refuse('the database has no Citus', 'CITUS_MISSING', 'Use a coordinator database with the extension (create extension citus, as superuser). Or unset MAPPALE_DISTRIBUTED.');
  }
  if ((await one<{ n: number }>(session, statement('workers'))).n === 0) {
    throw refuse('the coordinator has no workers', 'CITUS_NO_WORKERS', 'Add workers: select citus_set_coordinator_host(\'HOST\', PORT); select citus_add_node(\'HOST\', PORT).');
  }
  if (action === 'look') return;
  const [lacking] = await session.query<{ node: string; result: string }>(statement('role_on_workers'));
  if (lacking !== undefined) {
    throw refuse(`the worker ${lacking.node} cannot create the server's role: ${lacking.result}`, 'WORKER_WITHOUT_ROLE',
      'As its superuser, on each worker: set citus.enable_ddl_propagation = off; create role mappale_api nologin;');
  }
}

/**
 * Distributes tables with fid that are not distributed yet, with their rows. Call inside a transaction, after migrations and `prepareNodes`.
 * @returns the steps as text
 */
export async function distribute(session: Session): Promise<string[]> {
  await modifySequentially(session);
  const tables = await session.query<{ name: string }>(statement('not_distributed'));
  for (const { name } of tables) {
    await (name === PARCELS ? session.query(statement('distribute_parcels')) : session.query(statement('distribute'), [name]));
    for (const { name: held } of await session.query<{ name: string }>(statement('local_rows'), [name])) await session.query(statement('drop_local_rows'), [held]);
  }
  const { super: isSuperuser } = await one<{ super: boolean }>(session, statement('is_superuser'));
  if (tables.length > 0 && isSuperuser) await session.query(statement('restrict'));
  return tables.map(({ name }) => `${name}: distributed by fid`);
}

/** Makes transactions that attach or detach distributed tables run one at a time. Call before attaching or detaching. */
export async function modifySequentially(session: Session): Promise<void> {
  await session.query(statement('in_turn'));
}

/** Result of a command on one shard. */
interface Ran extends Record<string, unknown> {
  readonly success: boolean;
  readonly result: string;
  readonly node: string | null;
}

/** Tables of one region on the nodes, during the build and publication of the region. */
export class OnNodes {
  readonly #database: Database;
  readonly #build: string;
  readonly #schema: string;
  readonly #published: ReadonlyMap<Relation, { readonly currentTable: string }>;
  readonly #made = new Map<string, Promise<Place>>();
  /** Tables are distributed one after another, because parallel distribution leads to deadlocks. */
  readonly #oneAtATime = pLimit(1);

  private constructor(database: Database, region: number, published: ReadonlyMap<Relation, { readonly currentTable: string }>) {
    this.#database = database;
    this.#build = buildSchema(region);
    this.#schema = shardSchema(region);
    this.#published = published;
  }

  /** Opens the tables of a region on the nodes. @returns null if the database is not distributed, or for Italy, which has no tables with fid */
  static async open(database: Database, region: number, published: ReadonlyMap<Relation, { readonly currentTable: string }>): Promise<OnNodes | null> {
    if (region === 0 || !(await isDistributed(database))) return null;
    await createSchema(database, shardSchema(region));
    await createSchema(database, atHandSchema(buildSchema(region)));
    return new OnNodes(database, region, published);
  }

  /** Returns whether a file can run on the nodes. This is possible if each row depends on one parcel only. */
  takes({ incremental, sweep }: SqlFile): boolean {
    return incremental?.by === 'parcels' && sweep === null;
  }

  /**
   * Runs a file on every shard of the parcels and copies the result into the current schema. Call inside a transaction. The work on the nodes is not part
   * of that transaction.
   * @throws MappaleError `NODE_FAILED` (exit 6), with the node and its message
   */
  async run(session: Session, schema: string, file: SqlFile): Promise<void> {
    const [relation] = file.writes;
    if (relation === undefined) throw new Error(`${file.file} builds no table`);
    const table = tableOf(relation);
    const parcels = await this.place(PARCELS);
    const seen = new Map<string, Place>();
    for (const read of file.reads) seen.set(tableOf(read), await this.#input(session, read));
    if (/\bcurrent_member\b/.test(file.text)) seen.set('current_member', await this.#copy('current_member', { schema: this.#build, table: 'current_member' }));
    const into = await this.#once(table, (own, to) => this.#makeDistributed(own, to, relation));
    const tables = [...seen, [INTO, into] as const];
    const { shards } = await one<{ shards: unknown }>(session, statement('shards'), [nameOf(parcels), tables.map(([seenAs]) => seenAs), tables.map(([, place]) => nameOf(place))]);
    const columns = (await columnNames(session, into)).map((name) => ident(name)).join(', ');
    const command = statement('on_shard', { shards: JSON.stringify(shards), shard: SHARD, into: INTO, script: file.text, columns, made: table });
    const [failed] = (await session.query<Ran>(statement('run'), [nameOf(parcels), command.replaceAll('%', '%%').replaceAll(SHARD, '%1$s')])).filter(({ success }) => !success);
    if (failed !== undefined) {
      throw new MappaleError(`a node could not build its part of ${relation}`, {
        code: 'NODE_FAILED', kind: 'database', at: failed.node ?? file.file, detail: failed.result,
        hint: 'Nothing was published. When the node is available again, run the command again. Finished tables are reused.',
      });
    }
    await script(session, 'copy_of', { to: { schema, table }, parent: placeOf(relation), from: into });
  }

  /** Returns the table on the nodes for a table of the workspace or its published version. Copies the table to the nodes first if necessary. */
  async place(relation: Relation): Promise<Place> {
    const table = tableOf(relation);
    const made = this.#made.get(table);
    if (made !== undefined) return made;
    const isBuilt = (await tablesIn(this.#database, this.#build)).includes(table);
    const current = this.#published.get(relation);
    if (!isBuilt && current !== undefined) return { schema: schemaOf(relation), table: current.currentTable };
    return this.#once(table, async (session, to) => {
      await this.#makeDistributed(session, to, relation);
      await this.#fill(session, { schema: this.#build, table }, to);
    });
  }

  /**
   * Adds constraints to a table on the nodes, so that attaching the table needs no scan. The table must already be checked in the workspace. @returns the table
   * on the nodes
   */
  async proven(session: Session, relation: Relation, region: number): Promise<Place> {
    const table = await this.place(relation);
    await session.query(statement('bound', { table, check: { sql: boundOf('fid', region).check } }));
    return table;
  }

  async #input(session: Session, relation: Relation): Promise<Place> {
    if (schemaOf(relation) !== 'layer' && (await splitOf(session, relation)) === 'fid') return this.place(relation);
    return this.#copy(tableOf(relation), placeOf(relation));
  }

  /** Copies a view of the workspace to every node. @param like table with the columns, and with the indexes that the files need */
  #copy(table: string, like: Place): Promise<Place> {
    return this.#once(table, async (session, to) => {
      await script(session, 'make_reference', { to, parent: like, name: nameOf(to) });
      await this.#fill(session, { schema: this.#build, table }, to);
    });
  }

  async #makeDistributed(session: Session, to: Place, relation: Relation): Promise<void> {
    await script(session, 'make_distributed', { to, parent: placeOf(relation), name: nameOf(to) });
  }

  async #fill(session: Session, from: Place, to: Place): Promise<void> {
    await script(session, 'fill', { to, from, columns: await columnNames(session, to) });
  }

  /** Creates a table on the nodes in a separate transaction, if the table does not exist. */
  #once(table: string, make: (session: Session, to: Place) => Promise<void>): Promise<Place> {
    const to = { schema: this.#schema, table };
    const known = this.#made.get(table);
    if (known !== undefined) return known;
    const done = this.#oneAtATime(() => this.#database.session(async (session) => {
      await session.transaction(async () => {
        await modifySequentially(session);
        await make(session, to);
      });
      await analyze(session, to.schema, to.table);
      return to;
    }));
    this.#made.set(table, done);
    return done;
  }
}

/** Placeholders in a command for shards: the parcel shard, and the shard that receives the rows. */
const SHARD = '<shard of the parcels>';
const INTO = '<made>';

function placeOf(relation: Relation): Place {
  return { schema: schemaOf(relation), table: tableOf(relation) };
}

/** Retires distributed parcels, like `retireParcels`. */
export async function retireDistributed(session: Session, region: number, now: Place, leaving: Place | null): Promise<void> {
  await script(session, 'come_back', { now, region });
  if (leaving !== null) await script(session, 'retire', { now, leaving, region });
  await script(session, 'grounds', {});
  const unless = (other: Place | null): Part => ({ sql: other === null ? '' : statement('unless', { other }) });
  await script(session, 'on_ground', { table: now, unless: unless(leaving) });
  if (leaving !== null) await script(session, 'on_ground', { table: leaving, unless: unless(now) });
  const but = { sql: statement('but_region', { from: firstFid(region), until: firstFid(region + 1) }) };
  await script(session, 'standing', { table: placeOf(PARCELS), but });
  await script(session, 'standing', { table: now, but: { sql: '' } });
  await script(session, 'name_successors', {});
}
