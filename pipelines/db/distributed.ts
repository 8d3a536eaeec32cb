/**
 * Distributes tables over the nodes of a Citus cluster. Tables that are partitioned by `fid`, and their former partitions, are distributed by fid. All other
 * tables are on the coordinator. A region is built in a workspace on the coordinator. SQL files whose rows depend on a single parcel run on the shards of the
 * parcels, with copies of other inputs on each node. Partitions are published by attaching tables that are already on the nodes. On a database without Citus,
 * `isDistributed` returns false, and `OnNodes.open` returns null.
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
 * Checks Citus and the workers, and creates the role of the API server on each worker. Call outside a transaction. In a transaction, creating the role would
 * block other sessions that check for the role. Commands to all workers use other connections, which are not part of a transaction.
 * @param action `look` only checks
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
      'Run on each worker as superuser: set citus.enable_ddl_propagation = off; create role mappale_api nologin;');
  }
}

/**
 * Distributes the tables that are partitioned by `fid`, and their former partitions, with all rows. Skips tables that are already distributed. If this call
 * distributes a table and the role is a superuser, also revokes the right of other roles to run commands on the nodes. Call inside a transaction, after
 * migrations and `prepareNodes`.
 * @returns the steps as text @throws MappaleError `NODE_NOT_RESTRICTED` (exit 2)
 */
export async function distribute(session: Session): Promise<string[]> {
  await modifySequentially(session);
  const tables = await session.query<{ name: string }>(statement('not_distributed'));
  for (const { name } of tables) {
    await (name === PARCELS ? session.query(statement('distribute_parcels')) : session.query(statement('distribute'), [name]));
    for (const { name: held } of await session.query<{ name: string }>(statement('local_rows'), [name])) await session.query(statement('drop_local_rows'), [held]);
  }
  const { super: isSuperuser } = await one<{ super: boolean }>(session, statement('is_superuser'));
  if (tables.length > 0 && isSuperuser) {
    const [failed] = await session.query<{ node: string; result: string }>(statement('restrict'));
    if (failed !== undefined) {
      throw new MappaleError(`the node ${failed.node} cannot revoke the right to run commands on other nodes`, {
        code: 'NODE_NOT_RESTRICTED', kind: 'usage', detail: `expected that only the loading role keeps the right, found: ${failed.result}`,
        hint: 'The role must be a superuser on each node. Nothing was distributed. Repair the node, then run the same command again.',
      });
    }
  }
  return tables.map(({ name }) => `${name}: distributed by fid`);
}

/** Sets Citus to modify shards one after another. Required in transactions that attach or detach distributed tables. Call before the first such statement. */
export async function modifySequentially(session: Session): Promise<void> {
  await session.query(statement('in_turn'));
}

/** Result of a command on one shard. */
interface Ran extends Record<string, unknown> {
  readonly success: boolean;
  readonly result: string;
  readonly node: string | null;
}

/** Tables of one region on the nodes, while the region is built and published. */
export class OnNodes {
  readonly #database: Database;
  readonly #build: string;
  readonly #schema: string;
  readonly #published: ReadonlyMap<Relation, { readonly currentTable: string }>;
  readonly #made = new Map<string, Promise<Place>>();
  /** Limits distribution to one table at a time, because parallel distribution leads to deadlocks. */
  readonly #oneAtATime = pLimit(1);

  private constructor(database: Database, region: number, published: ReadonlyMap<Relation, { readonly currentTable: string }>) {
    this.#database = database;
    this.#build = buildSchema(region);
    this.#schema = shardSchema(region);
    this.#published = published;
  }

  /**
   * Creates the schemas for a region's tables on the nodes. @returns null if the database is not distributed, or for Italy, whose tables are not distributed
   */
  static async open(database: Database, region: number, published: ReadonlyMap<Relation, { readonly currentTable: string }>): Promise<OnNodes | null> {
    if (region === 0 || !(await isDistributed(database))) return null;
    await createSchema(database, shardSchema(region));
    await createSchema(database, atHandSchema(buildSchema(region)));
    return new OnNodes(database, region, published);
  }

  /** Returns whether an SQL file can run on the nodes: each row depends on only one parcel, and the file has no raster sweep. */
  takes({ incremental, sweep }: SqlFile): boolean {
    return incremental?.by === 'parcels' && sweep === null;
  }

  /**
   * Runs an SQL file on every shard of the parcels, and copies the result into `schema`. Call inside a transaction. The work on the nodes is not part of this
   * transaction.
   * @throws MappaleError `NODE_FAILED` (exit 6), with the name and the message of the node
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

  /**
   * Returns the distributed table of a relation: the published partition, or a distributed copy of the workspace's table. Creates the copy first if necessary.
   */
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
   * Adds the partition bound as a constraint to a distributed table, so that attaching needs no scan. The rows must already be checked in the workspace.
   * @returns the distributed table
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

  /** Copies a view of the workspace to every node, as a reference table. @param like table whose columns and indexes are copied */
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

  /** Creates a table on the nodes in a separate transaction, unless an earlier call has created the table. */
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

/** Placeholders in a command that runs on each shard: the shard with the parcels, and the shard that receives the rows. */
const SHARD = '<shard of the parcels>';
const INTO = '<made>';

function placeOf(relation: Relation): Place {
  return { schema: schemaOf(relation), table: tableOf(relation) };
}

/** Retires distributed parcels in the same way as `retireParcels`, but stores no history. */
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
