/**
 * The incremental build. If only parcels differ among the inputs of a published table, rows of unchanged parcels are copied from the published table, and the
 * table's own SQL runs for the other parcels only. The header of a table's file states whether the table allows this (`-- incremental:`).
 */
import pLimit, { type LimitFunction } from 'p-limit';
import { replacing, sameRows } from '../db/comparing.ts';
import { complete, findChanged, findMeeting, findNear, findSharing, pairMembers, provideFresh, repeatsInFiles, setApart, type Reach } from '../db/copying.ts';
import { analyze, analyzeRoughly, countRows, dropOthers, dropTable, lookIn, renameTable } from '../db/ddl.ts';
import { inWorkspace, provideParcelsOf, providePublished } from '../db/layers.ts';
import { atHand } from '../db/at-hand.ts';
import type { Place } from '../db/statements.ts';
import { comuniOfParcels } from '../db/figures.ts';
import { providePublishedParcels } from '../db/register.ts';
import type { Database, Session } from '../db/index.ts';
import type { Log } from '../log.ts';
import { duration, secondsSince } from '../progress.ts';
import { schemaOf, tableOf, type Relation } from '../contract/sql-files.ts';
import type { Product } from '../plan/products.ts';
import type { PublishedTable } from '../ledger/published.ts';
import { buildSchema, changesSchema } from '../db/workspace.ts';
import { runTableFile } from './sweep.ts';
import { statementsOf } from '../db/statements.ts';

const publication = statementsOf('publication');

/** If more than one parcel in this many changed, copying saves no time. */
const WORTHWHILE = 3;

/** Number of tables that are copied at the same time while the SQL of another table runs. Copying the parcels takes as long as copying all other tables. */
const COPIES_AT_ONCE = 2;

const PARCELS: Relation = 'core.parcel';

/** Result for a table that was not built whole. */
interface Result {
  /** True if no row changed, so the published table stays. */
  readonly reused: boolean;
  readonly rows: number;
  readonly digest: string;
}

/** One incremental build, which works in a separate schema. A completed table moves into the region's workspace together with its line in the ledger. */
export class IncrementalBuild {
  readonly results = new Map<Relation, Result>();
  /** Schema in which `parcel` has only the changed parcels, and other tables have only the rows of these parcels. */
  readonly schema: string;
  readonly #build: string;
  readonly #database: Database;
  readonly #region: number;
  readonly #products: readonly Product[];
  readonly #published: ReadonlyMap<Relation, PublishedTable>;
  readonly #log: Log;
  /** Fills tables while the SQL of the next ones runs, if the engine allows it. */
  readonly #copies: LimitFunction | null;
  readonly #pending = new Map<Relation, Promise<void>>();
  /** Tables of the schema that later steps need. */
  readonly #kept = new Set<string>(['copied_member', 'changed_fid', 'changed_parcel', 'near_fid', 'near_parcel', 'sharing_fid', 'sharing_parcel', 'meeting_fid', 'meeting_parcel']);
  /** Number of rows of copied members; null until they are determined. */
  #paired: number | null = null;
  /** Number of changed, new and removed parcels; null until they are determined. */
  #changed: number | null = null;
  /** Sets of parcels whose rows also change with other parcels. The key is the distance or the column that connects them. */
  readonly #reached = new Map<string, string>();

  constructor(database: Database, region: number, products: readonly Product[], published: ReadonlyMap<Relation, PublishedTable>, log: Log) {
    this.#database = database;
    this.#region = region;
    this.#products = products;
    this.#published = published;
    this.#log = log;
    this.#build = buildSchema(region);
    this.schema = changesSchema(region);
    this.#copies = database.parallel > 1 ? pLimit(COPIES_AT_ONCE) : null;
  }

  /** Builds a table by copying unchanged rows. @returns false if the table must be built whole */
  async take(session: Session, product: Product): Promise<boolean> {
    if (!product.incremental) return false;
    const startedAt = performance.now();
    const how = product.file.incremental;
    const result = await (how?.by === 'members' ? this.#takeMembers(session, product, how.layers) : this.#takeParcels(session, product));
    if (result === null) return false;
    this.#log.debug(`  ${product.relation}: ${result.reused ? 'nothing changed' : 'only what changed'}, ${duration(secondsSince(startedAt))}`);
    return true;
  }

  /**
   * Compares a table that is built whole with the published one. If both tables are equal, the published one stays, and rows that depend on it may be copied.
   */
  async compare(session: Session, { relation, file }: Product): Promise<void> {
    if (file.incremental?.by !== 'content' || !this.#published.has(relation)) return;
    const table = tableOf(relation);
    if (!(await sameRows(session, { schema: this.#build, table }, await this.#was(session, relation)))) return;
    await session.transaction(async () => {
      await dropTable(session, this.#build, table);
      await session.query(publication('forget_built_table'), [this.#region, relation]);
    });
    await this.#reused(session, relation);
    this.#log.debug(`  ${relation}: nothing changed`);
  }

  /** Returns the table of changed, new and removed parcels; null if the changes are unknown. */
  get changed(): Place | null {
    return this.#changed === null ? null : { schema: this.schema, table: 'changed_fid' };
  }

  /** Returns comuni in which rows of a table with copied rows may differ from the published ones. */
  async comuniReached(session: Session): Promise<string[]> {
    if (this.#changed === null || this.#changed === 0) return [];
    const fids = ['changed', ...this.#reached.keys()].map((name) => ({ schema: this.schema, table: `${name}_fid` }));
    return comuniOfParcels(session, fids, [await this.#was(session, PARCELS), { schema: this.#build, table: 'parcel' }]);
  }

  /** Makes the changed parcels visible as `parcel` in the schema. @returns false if no parcel changed or the changes are not known */
  async provideChanged(session: Session): Promise<boolean> {
    if (this.#changed === null || this.#changed === 0) return false;
    await dropOthers(session, this.schema, this.#kept);
    await provideParcelsOf(session, this.schema, 'changed_parcel');
    return true;
  }

  /** Waits until these tables, or all, are complete. @throws the failure of one of them */
  async settle(relations: readonly Relation[] = [...this.#pending.keys()]): Promise<void> {
    for (const done of await Promise.allSettled(relations.flatMap((relation) => this.#pending.get(relation) ?? []))) {
      if (done.status === 'rejected') throw done.reason;
    }
  }

  /** Builds the parcels: the SQL reads members that were read again. Other rows get the provenance of their new release. */
  async #takeMembers(session: Session, product: Product, layers: readonly Relation[]): Promise<Result | null> {
    const { relation } = product;
    if (!this.#dependsOnlyOn(product)) return null;
    const old = this.#oldTable(relation);
    const copied = await this.#pair(session, product, layers);
    if (copied === 0 || (old.rows - copied) * WORTHWHILE > old.rows) return null;
    const sources = this.#inBuild(layers);
    // If two files have the same parcel, one of the files is used. Choosing it needs all rows.
    for (const from of sources) if (await repeatsInFiles(session, from)) return null;
    const was = await this.#was(session, relation);
    await this.#run(session, product, async () => {
      for (const from of sources) await provideFresh(session, this.schema, from);
      await providePublishedParcels(session, this.schema, was, { schema: this.schema, table: 'copied_member' });
    });
    const whole = `${tableOf(relation)}_whole`;
    await renameTable(session, this.schema, tableOf(relation), whole);
    await analyze(session, this.schema, whole);
    this.#changed = await findChanged(session, this.schema, was, { schema: this.schema, table: whole });
    const content = await replacing(session, { schema: this.schema, table: 'changed_parcel' }, was, 'changed_fid', old);
    return this.#complete(session, product, whole, 'member', content);
  }

  async #takeParcels(session: Session, product: Product): Promise<Result | null> {
    const { relation } = product;
    if (!this.#dependsOnlyOn(product)) return null;
    const changed = await this.#countChanged(session);
    if (changed * WORTHWHILE > this.#oldTable(PARCELS).rows) return null;
    if (changed === 0) return this.#reused(session, relation);
    const table = tableOf(relation);
    const reach = await this.#reachOf(session, product);
    await this.#run(session, product, () => provideParcelsOf(session, this.schema, `${reach}_parcel`));
    const whole = `${table}_whole`;
    const fids = `${reach}_fid`;
    this.#kept.add(table);
    await setApart(session, this.schema, table, whole, fids);
    const { same, ...content } = await replacing(session, { schema: this.schema, table }, await this.#was(session, relation), fids, this.#oldTable(relation));
    return same ? this.#reused(session, relation) : this.#complete(session, product, whole, { fids }, content);
  }

  /** Returns false if another input was built whole, so that its changed rows are unknown. */
  #dependsOnlyOn({ file }: Product): boolean {
    return this.#products.filter(({ relation, stale }) => relation !== PARCELS && stale !== null && file.reads.includes(relation))
      .every(({ relation }) => this.results.has(relation));
  }

  /** Keeps the published table, which other tables read. */
  async #reused(session: Session, relation: Relation): Promise<Result> {
    const { rows, digest, currentTable } = this.#oldTable(relation);
    const result = { reused: true, rows, digest };
    this.results.set(relation, result);
    await providePublished(session, this.#build, relation, currentTable);
    return result;
  }

  /** Runs the table's SQL on the inputs that `provide` creates. */
  async #run(session: Session, product: Product, provide: () => Promise<void>): Promise<void> {
    await lookIn(session, [this.schema, this.#build]);
    await session.transaction(async () => {
      await dropOthers(session, this.schema, this.#kept);
      await provide();
      await runTableFile(session, this.schema, product.file, product.published);
      await dropOthers(session, this.schema, new Set([...this.#kept, tableOf(product.relation)]));
    });
    await lookIn(session, [this.#build]);
  }

  /** Adds the unchanged rows, and moves the table to the workspace. */
  async #complete(
    session: Session, product: Product, from: string, by: { readonly fids: string } | 'member', { rows: expected, digest }: Pick<Result, 'rows' | 'digest'>,
  ): Promise<Result> {
    const { relation, file } = product;
    const table = tableOf(relation);
    this.#kept.add(from);
    const result = { reused: false, rows: expected, digest };
    this.results.set(relation, result);
    const work = async (own: Session): Promise<void> => {
      await own.transaction(async () => {
        await complete(own, { schema: this.schema, table: from }, { schema: this.#build, table }, await this.#was(own, relation), by);
        const rows = await countRows(own, this.#build, table);
        if (rows !== expected) throw new Error(`${file.file}: expected ${expected} rows, copied or rebuilt, found ${rows}: its -- incremental: line may be wrong`);
        await noteBuilt(own, this.#region, product);
      });
      await analyzeRoughly(own, this.#build, table);
    };
    if (this.#copies === null) await work(session);
    else {
      const done = this.#copies(() => inWorkspace(this.#database, this.#build, work));
      this.#pending.set(relation, done);
      // The failure is thrown by `settle`.
      done.catch(() => undefined);
    }
    return result;
  }

  async #countChanged(session: Session): Promise<number> {
    const parcels = this.#products.find(({ relation }) => relation === PARCELS);
    if (parcels === undefined || parcels.stale === null) return (this.#changed = 0);
    if (this.#changed !== null) return this.#changed;
    // These tables are complete in the workspace: built whole, or by an earlier run.
    const how = parcels.file.incremental;
    await this.#pair(session, parcels, parcels.incremental && how?.by === 'members' ? how.layers : null);
    return (this.#changed = await findChanged(session, this.schema, await this.#was(session, PARCELS), { schema: this.#build, table: tableOf(PARCELS) }));
  }

  /** Finds parcels whose rows the changes affect. @returns the prefix of the names of their tables, `_fid` and `_parcel` */
  async #reachOf(session: Session, product: Product): Promise<Reach> {
    const { incremental: how, file } = product.file;
    if (how?.by !== 'near' && how?.by !== 'sharing' && how?.by !== 'meeting') return 'changed';
    // Files with the same distance or the same layers share one set of parcels.
    const key = how.by === 'near' ? `${how.withinM} m` : how.by === 'sharing' ? how.column : how.layers.join(', ');
    if (how.by !== 'sharing' && this.#reached.get(how.by) === key) return how.by;
    if (this.#reached.has(how.by)) throw new Error(`${file}: another file also copies rows by ${how.by}; their tables would have the same names`);
    this.#reached.set(how.by, key);
    if (how.by === 'near') await findNear(session, this.schema, await this.#was(session, PARCELS), how.withinM);
    else if (how.by === 'meeting') await findMeeting(session, this.schema, await this.#was(session, PARCELS), this.#inBuild(how.layers));
    else {
      // Runs once for the changed parcels, to find the parcels that share a feature with them.
      await this.#run(session, product, () => provideParcelsOf(session, this.schema, 'changed_parcel'));
      const [parcels, rows] = [await this.#was(session, PARCELS), await this.#was(session, product.relation)];
      await findSharing(session, this.schema, parcels, rows, { table: tableOf(product.relation), column: how.column });
    }
    return how.by;
  }

  /** Finds members whose rows are copied. @param layers of these members; null: none */
  async #pair(session: Session, { relation, releases }: Product, layers: readonly Relation[] | null): Promise<number> {
    const ids = layers === null ? [] : releases.map(({ releaseId }) => releaseId);
    this.#paired ??= await pairMembers(session, this.schema, await this.#was(session, relation), layers === null ? null : this.#inBuild(layers), ids);
    return this.#paired;
  }

  #inBuild(relations: readonly Relation[]): Place[] {
    return relations.map((relation) => ({ schema: this.#build, table: tableOf(relation) }));
  }

  #was(session: Session, relation: Relation): Promise<Place> {
    return atHand(session, this.#build, { schema: schemaOf(relation), table: this.#oldTable(relation).currentTable });
  }

  /** @throws Error if the table is not published: a bug of the plan */
  #oldTable(relation: Relation): PublishedTable {
    const found = this.#published.get(relation);
    if (found === undefined) throw new Error(`${relation} is built incrementally, but it is not published`);
    return found;
  }
}

/** Runs inside the transaction that completes a table. */
export async function noteBuilt(session: Session, region: number, { relation, fingerprint }: Product): Promise<void> {
  await session.query(publication('note_built'), [region, relation, fingerprint]);
}
