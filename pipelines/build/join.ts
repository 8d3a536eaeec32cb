/**
 * Step 4 of a refresh: joins layers with parcels into the tables of a region. Each file of `sql/core` and each `build.sql` of a section builds one table. The
 * header of each file lists the tables that the file reads and writes, which defines the dependency graph.
 */
import type { Database, Session } from '../db/index.ts';
import { analyze, createSchema, dropOthers, dropSchema, giveTable, lookInLocally, schemasLike, tablesIn } from '../db/ddl.ts';
import { inWorkspace, provideMembers, provideRegion, viewOfLayer, viewOfPublished, WaitingViews, type View } from '../db/layers.ts';
import { OnNodes } from '../db/distributed.ts';
import { providePublishedParcels } from '../db/register.ts';
import { MappaleError } from '../errors.ts';
import { regionName } from '../contract/regions.ts';
import type { Log } from '../log.ts';
import { barLine, duration, secondsSince } from '../progress.ts';
import { inParallel } from '../parallel.ts';
import { sourceOfLayer, type RegisteredSource } from '../contract/registry.ts';
import { readSectionFiles, schemaOf, tableOf, type Relation, type SqlFile } from '../contract/sql-files.ts';
import { IncrementalBuild } from './incremental.ts';
import { runTableFile } from './sweep.ts';
import { tableSeconds } from '../ledger/experience.ts';
import { rankFiles, currentRows } from '../ledger/current-files.ts';
import type { Inventory } from '../ledger/inventory.ts';
import { inOrder, type Product } from '../plan/products.ts';
import type { PublishedTable } from '../ledger/published.ts';
import { buildSchema, laneSchema, leftLanes } from '../db/workspace.ts';
import { statementsOf } from '../db/statements.ts';

const publication = statementsOf('publication');

/** Result of a build. All stale tables of the region are complete in the workspace. */
export interface Joined {
  readonly region: number;
  readonly schema: string;
  /** Ids of the current files that the region uses. */
  readonly files: readonly number[];
  readonly products: readonly Product[];
  /** Products whose table was completely rebuilt or has changed rows. */
  readonly built: readonly Product[];
  /** Null if all tables were completely rebuilt. */
  readonly incremental: IncrementalBuild | null;
  /** Null for Italy, or if all parcels are on one node. */
  readonly nodes: OnNodes | null;
  /** Build time of each completely rebuilt table, in seconds. */
  readonly seconds: ReadonlyMap<Relation, number>;
}

interface JoinOptions {
  readonly sources: readonly RegisteredSource[];
  readonly inventory: Inventory;
  readonly log: Log;
  /** Largest number of tables that are built at the same time, if the engine allows it. */
  readonly parallel: number;
  /** Largest share of changed parcels for which tables are patched. */
  readonly mostChanged: number;
}

/** State of one build, which all table builds share. */
interface Build extends JoinOptions {
  readonly database: Database;
  readonly region: number;
  readonly schema: string;
  readonly products: readonly Product[];
  readonly stale: readonly Product[];
  readonly published: ReadonlyMap<Relation, PublishedTable>;
  readonly incremental: IncrementalBuild | null;
  readonly nodes: OnNodes | null;
  /** Views of the inputs. If tables are patched, each view is created before its first use. */
  readonly views: WaitingViews;
  /** Names of schemas in which tables are built. Each schema is used for one table at a time. */
  readonly lanes: readonly string[];
  /** Build time of each completely rebuilt table, in seconds. */
  readonly seconds: Map<Relation, number>;
}

/**
 * Builds the stale tables of a region in the region's workspace: several at the same time, or one after another in an incremental build. Each table is built
 * after the tables that it reads. Tables that an interrupted run completed are reused.
 * @throws MappaleError of kind `database`, with file, line and column of the SQL
 */
export async function join(
  database: Database, region: number, products: readonly Product[], published: ReadonlyMap<Relation, PublishedTable>, options: JoinOptions,
): Promise<Joined> {
  const schema = buildSchema(region);
  const stale = products.filter((product) => product.stale !== null);
  await database.session((session) => prepare(session, schema, region, stale));
  const nodes = await OnNodes.open(database, region, published);
  const views = new WaitingViews(schema);
  const isPatched = nodes === null && products.some((product) => product.incremental);
  const incremental = isPatched ? new IncrementalBuild(region, products, published, { ...options, views }) : null;
  // In an incremental build, tables depend on each other's patches and are therefore built one after another.
  const width = incremental === null ? Math.max(1, Math.min(options.parallel, database.parallel)) : 1;
  const lanes = Array.from({ length: width }, (_, lane) => laneSchema(region, lane));
  const build: Build = { ...options, database, region, schema, products, stale, published, incremental, nodes, views, lanes, seconds: new Map() };
  const finished = await inWorkspace(database, schema, (session) => provideInputs(build, session));
  await buildTables(build, finished);
  await database.session(async (session) => {
    for (const lane of lanes) await dropSchema(session, lane);
  });
  const built = stale.filter(({ relation }) => incremental?.results.get(relation)?.patch !== null);
  const files = options.inventory.used(region).map(({ fileId }) => fileId);
  return { region, schema, files, products, built, incremental, nodes, seconds: build.seconds };
}

/** Provides the layers, members and published tables that a build reads. @returns names of tables that an interrupted run completed */
async function provideInputs(build: Build, session: Session): Promise<ReadonlySet<string>> {
  const { region, schema, products, stale, published, incremental, nodes, views, lanes, sources, inventory } = build;
  const finished = new Set(await tablesIn(session, schema));
  for (const lane of lanes) await createSchema(session, lane);
  if (incremental !== null) await createSchema(session, incremental.schema);
  if (region !== 0) {
    const parcels = published.get('core.parcel');
    await provideRegion(session, schema, region, regionName(region));
    await providePublishedParcels(session, schema, parcels === undefined ? null : { schema: 'core', table: parcels.currentTable }, null);
  }
  await provideMembers(session, schema, rankFiles(inventory.used(region)));
  for (const { relation, stale: why, published: partition } of products) {
    if (why === null) views.add(relation, (of) => viewOfPublished(of, schema, relation, partition, nodes === null ? 'one' : 'any'));
  }
  // The layers of completed tables are provided too, because checks and attributions read layers.
  const attributions = region === 0 ? [] : readSectionFiles('attribution');
  for (const read of new Set([...stale.map(({ file }) => file), ...attributions].flatMap(({ reads }) => reads))) {
    if (schemaOf(read) === 'layer') views.add(read, (of) => viewOfCurrentRows(of, schema, read, { sources, inventory, region }));
  }
  if (incremental === null) await views.provideRest(session);
  return finished;
}

/** Builds the tables that are not finished. Each schema in `lanes` is used for one table at a time. */
async function buildTables(build: Build, finished: ReadonlySet<string>): Promise<void> {
  const { database, region, schema, stale, incremental, lanes, log } = build;
  const order = incremental === null ? longestFirst(await database.session((session) => tableSeconds(session, regionName(region)))) : byRank;
  const ordered = inOrder([...stale].sort(order), ({ file }) => file);
  let ready = 0;
  const makeTable = async (product: Product, session: Session, lane: string): Promise<void> => {
    if (finished.has(tableOf(product.relation))) log.debug(`  ${product.relation}: finished by the previous run`);
    else if ((await incremental?.take(session, product)) === true) return;
    else {
      if (!onlyListsParcels(product.file)) await incremental?.provideIndexedParcels(session, product.file.reads);
      await buildTable(build, product, session, lane);
    }
    await incremental?.compare(session, product);
  };
  const make = async (product: Product, session: Session, lane: string): Promise<void> => {
    await makeTable(product, session, lane);
    ready += 1;
    log.progress(barLine(ready, stale.length, `tables of ${regionName(region)}`));
  };
  const after = ({ file }: Product): Product[] => ordered.filter(({ relation }) => file.reads.includes(relation));
  const [lane = ''] = lanes;
  // If tables are built one after another, one session is enough. Parallel jobs open a session for each table, because the server may close a session that
  // waits.
  if (lanes.length === 1) await inWorkspace(database, schema, (session) => inParallel(1, ordered, (product) => make(product, session, lane), { after }));
  else {
    const makeIn = (product: Product, at: number): Promise<void> => inWorkspace(database, schema, (session) => make(product, session, laneSchema(region, at)));
    await inParallel(lanes.length, ordered, makeIn, { after });
  }
}

/** Returns true if the SQL of a table reads only the list of parcels, so that the SQL needs no spatial join. */
function onlyListsParcels({ incremental: how }: SqlFile): boolean {
  return how?.by === 'content' && how.parcels === 'all';
}

/** Builds one table in a separate schema and moves the table into the workspace. The same transaction records the table as built. */
async function buildTable({ region, schema, nodes, views, seconds, log }: Build, product: Product, session: Session, lane: string): Promise<void> {
  const { relation, file } = product;
  const table = tableOf(relation);
  const startedAt = performance.now();
  await views.provide(session, file.reads);
  await session.transaction(async () => {
    await lookInLocally(session, [lane, schema]);
    if (nodes?.takes(file) === true) await nodes.run(session, lane, file);
    else await runTableFile(session, lane, file, product.published);
    await giveTable(session, { schema: lane, table }, schema);
    await dropOthers(session, lane, new Set());
    await session.query(publication('note_built'), [region, relation, product.fingerprint]);
  });
  await analyze(session, schema, table);
  const took = secondsSince(startedAt);
  seconds.set(relation, took);
  log.debug(`  ${relation}: ${duration(took)}`, { relation, seconds: took });
}

/**
 * Compares two tables by their last build time, longest first, so that no core is idle at the end. On a first build no time is known. Raster sweeps then come
 * first, because sweeps run in this process while the database builds other tables. Tables that read many other tables follow, because such tables usually take
 * long.
 */
function longestFirst(before: ReadonlyMap<string, number>): (a: Product, b: Product) => number {
  const weight = ({ relation, file }: Product): number => before.get(relation) ?? (file.sweep === null ? file.reads.length : Number.MAX_VALUE);
  return (a, b) => weight(b) - weight(a);
}

/**
 * Returns the rank of a table in the order of an incremental build. The parcels come first, then other tables that may be patched, tables that are compared
 * with the published table, and all other tables.
 */
function rankOf({ relation, incremental, file }: Product): number {
  if (relation === 'core.parcel') return 1;
  return incremental ? 2 : file.incremental?.by === 'content' ? 3 : 4;
}

function byRank(a: Product, b: Product): number {
  return rankOf(a) - rankOf(b);
}

/** Drops the workspace of a region and the schemas of parallel jobs, and deletes the records of the build in the ledger. */
export async function dropBuild(session: Session, region: number): Promise<void> {
  for (const schema of [...(await leftLanes(session, region)), buildSchema(region)]) await dropSchema(session, schema);
  await session.query(publication('forget_built'), [region]);
}

/**
 * Prepares the workspace. Keeps the tables that an interrupted run completed, if all their fingerprints are still valid. Otherwise drops the whole build and
 * creates an empty workspace.
 */
async function prepare(session: Session, schema: string, region: number, stale: readonly Product[]): Promise<void> {
  const built = await session.query<{ relation: Relation; fingerprint: string }>(publication('built'), [region]);
  const wanted = new Map(stale.map((product) => [product.relation, product.fingerprint]));
  const there = (await schemasLike(session, schema)).includes(schema);
  if (there && built.length > 0 && built.every(({ relation, fingerprint }) => wanted.get(relation) === fingerprint)) {
    for (const lane of await leftLanes(session, region)) await dropSchema(session, lane);
    await dropOthers(session, schema, new Set(await tablesIn(session, schema)));
    return;
  }
  await dropBuild(session, region);
  await createSchema(session, schema);
}

/**
 * Calls `viewOfLayer` with the current rows of a layer for a region or Italy, and returns its view.
 * @throws MappaleError `LAYER_UNKNOWN` (exit 1)
 */
export async function viewOfCurrentRows(
  session: Session, schema: string, layer: Relation,
  { sources, inventory, region }: Pick<JoinOptions, 'sources' | 'inventory'> & { readonly region: number },
): Promise<View> {
  const source = sourceOfLayer(sources, layer);
  if (source === undefined) {
    throw new MappaleError(`layer ${layer} is read, but no source fills the layer`, {
      code: 'LAYER_UNKNOWN', kind: 'bug', hint: 'The installation is not complete. Install the program again. If the error remains, report it.',
    });
  }
  const table = tableOf(layer);
  return viewOfLayer(session, schema, layer, currentRows(inventory.current(region, layer), inventory.files, table, source.places?.[table] ?? null));
}
