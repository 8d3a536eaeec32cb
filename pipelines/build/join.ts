/**
 * Step 4: layers × parcels → the tables of a region. Each file of sql/core and each `build.sql` of a section makes one table; its
 * header says what it reads and writes, and that is the whole dependency graph.
 */
import type { Database, Session } from '../db/index.ts';
import { analyze, createSchema, dropOthers, dropSchema, inWorkspace, provideLayer, provideMembers, providePublished, provideRegion, schemasLike, tablesIn } from '../db/catalog.ts';
import { providePublishedParcels } from '../db/register.ts';
import { MappaleError } from '../errors.ts';
import { findRegion } from '../contract/regions.ts';
import type { Log } from '../log.ts';
import { duration } from '../progress.ts';
import { sourceOfLayer, type RegisteredSource } from '../contract/registry.ts';
import { schemaOf, tableOf, type Relation } from '../contract/sql-files.ts';
import { Carrying } from './carry.ts';
import { rankFiles, rowsInForce } from '../ledger/force.ts';
import type { Inventory } from '../ledger/inventory.ts';
import type { Product } from '../plan/products.ts';
import type { PublishedTable } from '../ledger/published.ts';
import { buildSchema, carrySchema } from '../db/workspace.ts';

/** The stale tables of a unit lie finished in its workspace. */
export interface Joined {
  readonly unit: number;
  readonly schema: string;
  /** Files in force. */
  readonly files: readonly number[];
  readonly products: readonly Product[];
  /** Those of which a table lies in the workspace. */
  readonly built: readonly Product[];
  /** Those of which rows were carried over, and where what they are made of lies; null: none. */
  readonly carrying: Pick<Carrying, 'schema' | 'changed' | 'results' | 'provideChanged' | 'comuniReached'> | null;
}

/**
 * Makes the stale tables of a unit in its workspace. What an interrupted run finished there is used again.
 * @throws MappaleError of kind `database`, with file, line and column of the SQL
 */
export async function join(database: Database, unit: number, products: readonly Product[], published: ReadonlyMap<Relation, PublishedTable>, sources: readonly RegisteredSource[], inventory: Inventory, log: Log): Promise<Joined> {
  const schema = buildSchema(unit);
  const stale = products.filter((product) => product.stale !== null);
  await prepare(database, schema, unit, stale);
  const carrying = await inWorkspace(database, schema, async (session) => {
    const finished = new Set(await tablesIn(session, schema));
    if (unit !== 0) {
      const standing = published.get('core.parcel');
      await provideRegion(session, schema, unit, findRegion(unit)!.name);
      await providePublishedParcels(session, schema, standing === undefined ? null : { schema: 'core', table: standing.stands }, null);
    }
    await provideMembers(session, schema, rankFiles(inventory.used(unit)));
    const provided = new Set<Relation>();
    const results = new Set(['region', 'published_parcel', 'member_in_force', 'file_in_force', 'place_in_force', ...products.map(({ relation }) => tableOf(relation))]);
    const carry = await Carrying.begin(database, session, unit, schema, products, published, log);
    const make = async (product: Product): Promise<void> => {
      const table = tableOf(product.relation);
      if (product.stale === null) {
        await providePublished(session, schema, product.relation, product.published);
        return;
      }
      // Also for what is finished: its checks look at the layers.
      for (const read of product.file.reads) {
        if (schemaOf(read) !== 'layer' || provided.has(read)) continue;
        provided.add(read);
        await provideInForce(session, schema, read, sources, inventory, unit);
      }
      if (finished.has(table)) {
        log.info(`  ${product.relation}: finished by the run before`);
        await carry?.compare(session, product);
        return;
      }
      if ((await carry?.take(session, product)) === true) return;
      await carry?.settle(product.file.reads);
      const startedAt = performance.now();
      await session.transaction(async () => {
        await session.script(product.file.text, product.file.file);
        await dropOthers(session, schema, new Set([...results, ...[...provided].map(tableOf)]));
        await session.query('insert into ledger.built (unit_code, relation, fingerprint) values ($1, $2, $3)', [unit, product.relation, product.fingerprint]);
      });
      await analyze(session, schema, table);
      log.info(`  ${product.relation}: ${duration((performance.now() - startedAt) / 1000)}`);
      await carry?.compare(session, product);
    };
    try {
      for (const product of carry === null ? products : inTurn(products)) await make(product);
    } finally {
      // Also after a failure: nothing writes once the lock is given back.
      await carry?.settle();
    }
    return carry;
  });
  return { unit, schema, files: inventory.used(unit).map(({ fileId }) => fileId), products, built: stale.filter(({ relation }) => carrying?.results.get(relation)?.stands !== true), carrying };
}

/**
 * Each table after those that it reads. Where rows are carried over, that comes first: copying goes on beside the SQL of the next table, and what is made
 * whole waits for the parcels.
 */
function inTurn(products: readonly Product[]): Product[] {
  const left = [...products].sort((a, b) => turn(a) - turn(b));
  const sorted: Product[] = [];
  while (left.length > 0) {
    const next = left.findIndex(({ file }) => !left.some(({ relation }) => relation !== file.writes[0] && file.reads.includes(relation)));
    sorted.push(...left.splice(next, 1));
  }
  return sorted;
}

function turn({ relation, stale, carry, file }: Product): number {
  if (stale === null) return 0;
  if (relation === 'core.parcel') return 1;
  return carry ? 2 : file.carries?.by === 'content' ? 3 : 4;
}

/** Workspaces of these units: of an interrupted run, of one that was refused, or of one that works now. */
export async function leftBuilds(session: Session, units: readonly number[]): Promise<string[]> {
  const there = new Set(await schemasLike(session, 'build_'));
  return units.map(buildSchema).filter((schema) => there.has(schema));
}

/** Drops what was built of a unit of which nothing is stale: it was published, or its reason is gone. */
export async function dropBuild(database: Database, unit: number): Promise<void> {
  await database.session((session) => session.transaction(async () => {
    await dropWorkspaces(session, unit);
    await session.query('delete from ledger.built where unit_code = $1', [unit]);
  }));
}

/** The workspace of a unit, and what lies beside it. */
export async function dropWorkspaces(session: Session, unit: number): Promise<void> {
  for (const schema of [carrySchema(unit), buildSchema(unit)]) await dropSchema(session, schema);
}

/** Keeps the workspace's finished tables whose fingerprint still holds; everything else in it goes. */
async function prepare(database: Database, schema: string, unit: number, stale: readonly Product[]): Promise<void> {
  await database.session(async (session) => {
    const built = await session.query<{ relation: Relation; fingerprint: string }>('select relation, fingerprint from ledger.built where unit_code = $1', [unit]);
    const wanted = new Map(stale.map((product) => [product.relation, product.fingerprint]));
    const there = (await schemasLike(session, schema)).includes(schema);
    const good = there && built.length > 0 && built.every(({ relation, fingerprint }) => wanted.get(relation) === fingerprint);
    if (!good) {
      await dropWorkspaces(session, unit);
      await session.query('delete from ledger.built where unit_code = $1', [unit]);
      await createSchema(session, schema);
      return;
    }
    await dropSchema(session, carrySchema(unit));
    await dropOthers(session, schema, new Set(await tablesIn(session, schema)));
  });
}

/** A layer as a workspace sees it: what is in force of it for a region, or for Italy. @throws MappaleError `LAYER_UNKNOWN` (exit 1) */
export async function provideInForce(session: Session, schema: string, layer: Relation, sources: readonly RegisteredSource[], inventory: Inventory, unit: number): Promise<void> {
  const source = sourceOfLayer(sources, layer);
  if (source === undefined) {
    throw new MappaleError(`${layer} is read, and no source makes it`, {
      code: 'LAYER_UNKNOWN', kind: 'bug', hint: 'Restore the source\'s folder under sources/, or take the relation out of the file that reads it.',
    });
  }
  const table = tableOf(layer);
  await provideLayer(session, schema, layer, rowsInForce(inventory.force(unit, layer), inventory.files, table, source.places?.[table] ?? null));
}
