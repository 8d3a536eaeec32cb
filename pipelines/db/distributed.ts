/**
 * A database on several nodes (Citus): what is keyed by fid is distributed by it, all else lies on the coordinator. A region is built in a workspace of the
 * coordinator; files whose rows follow from their parcel alone run where the parcels lie, shard by shard, beside copies of what they read. What is published
 * is attached from tables that lie on the nodes already. On a database that is not distributed nothing of this room does anything.
 */
import { MappaleError } from '../errors.ts';
import { firstFid } from '../contract/regions.ts';
import { schemaOf, tableOf, type Relation, type SqlFile } from '../contract/sql-files.ts';
import { atHandSchema, isOnNodes } from './at-hand.ts';
import { analyze, boundOf, columnNames, createSchema, splitOf, tablesIn } from './catalog.ts';
import { statementsOf, type Names, type Part, type Place } from './statements.ts';
import { ident, one, type Database, type Session } from './types.ts';
import { buildSchema, shardSchema } from './workspace.ts';

const statement = statementsOf('distributed');
const PARCELS: Relation = 'core.parcel';

const script = (session: Session, name: string, names: Names): Promise<void> => session.script(statement(name, names), `sql/statements/distributed.sql, ${name}`);

function nameOf({ schema, table }: Place): string {
  return ident(schema, table);
}

/** Whether this database is distributed: its parcels are. */
export function isDistributed(session: Session): Promise<boolean> {
  return isOnNodes(session, { schema: 'core', table: 'parcel' });
}

/**
 * Finds the nodes ready: Citus, workers, and on each of them the role of the server. Outside a transaction: a worker that is told in one to make the role
 * lets nobody else look for it until it ends, and what is asked of all workers comes by other connections.
 * @param dry makes nothing
 * @throws MappaleError `CITUS_MISSING`, `CITUS_NO_WORKERS`, `WORKER_WITHOUT_ROLE` (exit 2)
 */
export async function prepareNodes(session: Session, label: string, dry: boolean): Promise<void> {
  const refuse = (message: string, code: string, hint: string): MappaleError => new MappaleError(message, { code, kind: 'usage', at: label, detail: 'MAPPALE_DISTRIBUTED=citus', hint });
  if (!(await one<{ there: boolean }>(session, statement('has_citus'))).there) {
    throw refuse('the database has no Citus', 'CITUS_MISSING', 'Name a coordinator\'s database in which a superuser typed: create extension citus. Or unset MAPPALE_DISTRIBUTED.');
  }
  if ((await one<{ n: number }>(session, statement('workers'))).n === 0) {
    throw refuse('the coordinator has no workers', 'CITUS_NO_WORKERS', 'Add them: select citus_set_coordinator_host(\'HOST\', PORT); select citus_add_node(\'HOST\', PORT).');
  }
  if (dry) return;
  const [lacking] = await session.query<{ node: string; result: string }>(statement('role_on_workers'));
  if (lacking !== undefined) {
    throw refuse(`the worker ${lacking.node} does not make the server's role: ${lacking.result}`, 'WORKER_WITHOUT_ROLE',
      'As its superuser, on each worker: set citus.enable_ddl_propagation = off; create role mappale_api nologin;');
  }
}

/**
 * Distributes what is keyed by fid and is not yet, with its rows. Inside a transaction, after migrations, on nodes that are prepared.
 * @returns what was done, as sentences
 */
export async function distribute(session: Session): Promise<string[]> {
  await inTurn(session);
  const tables = await session.query<{ name: string }>(statement('not_distributed'));
  for (const { name } of tables) {
    await (name === PARCELS ? session.query(statement('distribute_parcels')) : session.query(statement('distribute'), [name]));
    for (const { name: held } of await session.query<{ name: string }>(statement('local_rows'), [name])) await session.query(statement('drop_local_rows'), [held]);
  }
  const { super: isSuperuser } = await one<{ super: boolean }>(session, statement('is_superuser'));
  if (tables.length > 0 && isSuperuser) await session.query(statement('restrict'));
  return tables.map(({ name }) => `${name}: distributed by fid`);
}

/** Inside a transaction that attaches or detaches distributed tables, before it does. */
export async function inTurn(session: Session): Promise<void> {
  await session.query(statement('in_turn'));
}

/** What a shard's node said. */
interface Ran extends Record<string, unknown> {
  readonly success: boolean;
  readonly result: string;
  readonly node: string | null;
}

/** One region's tables on the nodes, while it is built and published. */
export class OnNodes {
  readonly #database: Database;
  readonly #build: string;
  readonly #schema: string;
  readonly #published: ReadonlyMap<Relation, { readonly currentTable: string }>;
  readonly #made = new Map<string, Promise<Place>>();
  /** Tables are distributed one after another: side by side they wait for one another's locks, and stop one another. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(database: Database, unit: number, published: ReadonlyMap<Relation, { readonly currentTable: string }>) {
    this.#database = database;
    this.#build = buildSchema(unit);
    this.#schema = shardSchema(unit);
    this.#published = published;
  }

  /** @returns null where the database is not distributed; what is keyed by fid is a region's */
  static async open(database: Database, unit: number, published: ReadonlyMap<Relation, { readonly currentTable: string }>): Promise<OnNodes | null> {
    if (unit === 0 || !(await isDistributed(database))) return null;
    await createSchema(database, shardSchema(unit));
    await createSchema(database, atHandSchema(buildSchema(unit)));
    return new OnNodes(database, unit, published);
  }

  /** Whether a file runs where the parcels lie: its rows follow from one parcel, whatever others there are. */
  takes({ incremental, sweep }: SqlFile): boolean {
    return incremental?.by === 'parcels' && sweep === null;
  }

  /**
   * Runs a file on every shard of the parcels, and brings what it makes into the schema that unqualified names are made in. Inside a transaction, which what
   * happens on the nodes is no part of.
   * @throws MappaleError `NODE_FAILED` (exit 6), with the node and what it says
   */
  async run(session: Session, schema: string, file: SqlFile): Promise<void> {
    const [relation] = file.writes;
    if (relation === undefined) throw new Error(`${file.file} makes no table`);
    const table = tableOf(relation);
    const parcels = await this.place(PARCELS);
    const seen = new Map<string, Place>();
    for (const read of file.reads) seen.set(tableOf(read), await this.#input(session, read));
    if (/\bmember_in_force\b/.test(file.text)) seen.set('member_in_force', await this.#copy('member_in_force', { schema: this.#build, table: 'member_in_force' }));
    const into = await this.#once(table, (own, to) => this.#makeDistributed(own, to, relation));
    const tables = [...seen, [INTO, into] as const];
    const { shards } = await one<{ shards: unknown }>(session, statement('shards'), [nameOf(parcels), tables.map(([seenAs]) => seenAs), tables.map(([, place]) => nameOf(place))]);
    const columns = (await columnNames(session, into)).map((name) => ident(name)).join(', ');
    const command = statement('on_shard', { shards: JSON.stringify(shards), shard: SHARD, into: INTO, script: file.text, columns, made: table });
    const [failed] = (await session.query<Ran>(statement('run'), [nameOf(parcels), command.replaceAll('%', '%%').replaceAll(SHARD, '%1$s')])).filter(({ success }) => !success);
    if (failed !== undefined) {
      throw new MappaleError(`a node could not make its part of ${relation}`, {
        code: 'NODE_FAILED', kind: 'database', at: failed.node ?? file.file, detail: failed.result,
        hint: 'Nothing of it is published. When the node answers again, run the same command: what was finished is used again.',
      });
    }
    await script(session, 'copy_of', { to: { schema, table }, parent: placeOf(relation), from: into });
  }

  /** Where a table of the workspace, or what is published of it, lies on the nodes; brought there when it does not. */
  async place(relation: Relation): Promise<Place> {
    const table = tableOf(relation);
    const made = this.#made.get(table);
    if (made !== undefined) return made;
    const isBuilt = (await tablesIn(this.#database, this.#build)).includes(table);
    const standing = this.#published.get(relation);
    if (!isBuilt && standing !== undefined) return { schema: schemaOf(relation), table: standing.currentTable };
    return this.#once(table, async (session, to) => {
      await this.#makeDistributed(session, to, relation);
      await this.#fill(session, { schema: this.#build, table }, to);
    });
  }

  /** The same, with what attaching it would otherwise scan for. Of a table that was proven in the workspace. */
  async proven(session: Session, relation: Relation, unit: number): Promise<Place> {
    const table = await this.place(relation);
    await session.query(statement('bound', { table, check: { sql: boundOf('fid', unit).check } }));
    return table;
  }

  async #input(session: Session, relation: Relation): Promise<Place> {
    if (schemaOf(relation) !== 'layer' && (await splitOf(session, relation)) === 'fid') return this.place(relation);
    return this.#copy(tableOf(relation), placeOf(relation));
  }

  /** A copy on every node of what the workspace sees under a name. @param like has its columns, and the indexes that its files count on */
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

  /** Makes a table of the nodes once, in a transaction of its own. */
  #once(table: string, make: (session: Session, to: Place) => Promise<void>): Promise<Place> {
    const to = { schema: this.#schema, table };
    const known = this.#made.get(table);
    if (known !== undefined) return known;
    const done = this.#last.then(() => this.#database.session(async (session) => {
      await session.transaction(async () => {
        await inTurn(session);
        await make(session, to);
      });
      await analyze(session, to.schema, to.table);
      return to;
    }));
    this.#made.set(table, done);
    this.#last = done.catch(() => undefined);
    return done;
  }
}

/** Stand for a shard's name, and for the shard that a file fills, in a command for shards. */
const SHARD = '<shard of the parcels>';
const INTO = '<made>';

function placeOf(relation: Relation): Place {
  return { schema: schemaOf(relation), table: tableOf(relation) };
}

/** As `retireParcels`, of parcels that lie on other nodes. */
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
