/**
 * The incremental build. Where a region is published and of a table's inputs only parcels differ, the rows of parcels that did not change are copied from
 * what is published, and the table's own SQL runs for the others alone. Which tables allow that, their files say (`-- incremental:`).
 */
import pLimit, { type LimitFunction } from 'p-limit';
import {
  analyze, analyzeRoughly, complete, countRows, dropOthers, dropTable, findChanged, findMeeting, findNear, findSharing, inWorkspace, lookIn,
  pairMembers, provideFresh, provideParcelsOf, providePublished, renameTable, repeatsInFiles, replacing, sameRows, setApart, type Reach,
} from '../db/catalog.ts';
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

/** When more than one parcel in so many changed, copying the others is no gain. */
const WORTHWHILE = 3;

/** How many tables are copied beside the SQL of the next: the parcels take as long as all others. */
const COPIES_AT_ONCE = 2;

const PARCELS: Relation = 'core.parcel';

/** A table that needed not be made whole. */
interface Result {
  /** Nothing in it changed: what is published stays. */
  readonly reused: boolean;
  readonly rows: number;
  readonly digest: string;
}

/** One build's. What it makes lies in a schema of its own; a table that is finished moves into the unit's workspace together with its line in the ledger. */
export class IncrementalBuild {
  readonly results = new Map<Relation, Result>();
  /** Where `parcel` are those that changed, and a table its rows of them. */
  readonly schema: string;
  readonly #build: string;
  readonly #database: Database;
  readonly #unit: number;
  readonly #products: readonly Product[];
  readonly #published: ReadonlyMap<Relation, PublishedTable>;
  readonly #log: Log;
  /** Copying fills tables side by side with the SQL of the next ones, where the engine can. */
  readonly #copies: LimitFunction | null;
  readonly #pending = new Map<Relation, Promise<void>>();
  /** Tables of the schema that later steps need. */
  readonly #kept = new Set<string>(['copied_member', 'changed_fid', 'changed_parcel', 'near_fid', 'near_parcel', 'sharing_fid', 'sharing_parcel', 'meeting_fid', 'meeting_parcel']);
  /** Rows of members that are copied; null: not looked for. */
  #paired: number | null = null;
  /** Parcels that changed, came or went; null: not looked for. */
  #changed: number | null = null;
  /** How rows are copied by more than the parcels that changed → within what distance, or by what column. */
  readonly #reached = new Map<string, string>();

  constructor(database: Database, unit: number, products: readonly Product[], published: ReadonlyMap<Relation, PublishedTable>, log: Log) {
    this.#database = database;
    this.#unit = unit;
    this.#products = products;
    this.#published = published;
    this.#log = log;
    this.#build = buildSchema(unit);
    this.schema = changesSchema(unit);
    this.#copies = database.parallel > 1 ? pLimit(COPIES_AT_ONCE) : null;
  }

  /** Makes a table by copying what can be. @returns false when it must be made whole */
  async take(session: Session, product: Product): Promise<boolean> {
    if (!product.incremental) return false;
    const startedAt = performance.now();
    const how = product.file.incremental;
    const result = await (how?.by === 'members' ? this.#takeMembers(session, product, how.layers) : this.#takeParcels(session, product));
    if (result === null) return false;
    this.#log.debug(`  ${product.relation}: ${result.reused ? 'nothing changed' : 'only what changed'}, ${duration(secondsSince(startedAt))}`);
    return true;
  }

  /** What is always made whole: where it says what is published, that stays, and rows that were made from it may be copied. */
  async compare(session: Session, { relation, file }: Product): Promise<void> {
    if (file.incremental?.by !== 'content' || !this.#published.has(relation)) return;
    const table = tableOf(relation);
    if (!(await sameRows(session, { schema: this.#build, table }, await this.#was(session, relation)))) return;
    await session.transaction(async () => {
      await dropTable(session, this.#build, table);
      await session.query('delete from ledger.built where unit_code = $1 and relation = $2', [this.#unit, relation]);
    });
    await this.#reused(session, relation);
    this.#log.debug(`  ${relation}: nothing changed`);
  }

  /** Table of the parcels that changed, came or went; null: not known. */
  get changed(): Place | null {
    return this.#changed === null ? null : { schema: this.schema, table: 'changed_fid' };
  }

  /** Comuni in which a row of a table of which rows were copied may be another one than was published. */
  async comuniReached(session: Session): Promise<string[]> {
    if (this.#changed === null || this.#changed === 0) return [];
    const fids = ['changed', ...this.#reached.keys()].map((name) => ({ schema: this.schema, table: `${name}_fid` }));
    return comuniOfParcels(session, fids, [await this.#was(session, PARCELS), { schema: this.#build, table: 'parcel' }]);
  }

  /** Makes the parcels that changed what is seen as `parcel` in the schema. @returns false when none did, or it is not known which */
  async provideChanged(session: Session): Promise<boolean> {
    if (this.#changed === null || this.#changed === 0) return false;
    await dropOthers(session, this.schema, this.#kept);
    await provideParcelsOf(session, this.schema, 'changed_parcel');
    return true;
  }

  /** Waits until these tables, or all, are whole. @throws what stopped one */
  async settle(relations: readonly Relation[] = [...this.#pending.keys()]): Promise<void> {
    for (const done of await Promise.allSettled(relations.flatMap((relation) => this.#pending.get(relation) ?? []))) {
      if (done.status === 'rejected') throw done.reason;
    }
  }

  /** The parcels themselves: the file's SQL reads the members that were read anew, the others' rows get the provenance of their new release. */
  async #takeMembers(session: Session, product: Product, layers: readonly Relation[]): Promise<Result | null> {
    const { relation } = product;
    if (!this.#dependsOnlyOn(product)) return null;
    const standing = this.#standing(relation);
    const copied = await this.#pair(session, product, layers);
    if (copied === 0 || (standing.rows - copied) * WORTHWHILE > standing.rows) return null;
    const sources = this.#inBuild(layers);
    // Of what stands in two files one is chosen, which looks at all rows.
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
    const content = await replacing(session, this.schema, 'changed_parcel', was, 'changed_fid', standing);
    return this.#complete(session, product, whole, 'member', content);
  }

  async #takeParcels(session: Session, product: Product): Promise<Result | null> {
    const { relation } = product;
    if (!this.#dependsOnlyOn(product)) return null;
    const changed = await this.#countChanged(session);
    if (changed * WORTHWHILE > this.#standing(PARCELS).rows) return null;
    if (changed === 0) return this.#reused(session, relation);
    const table = tableOf(relation);
    const reach = await this.#reachOf(session, product);
    await this.#run(session, product, () => provideParcelsOf(session, this.schema, `${reach}_parcel`));
    const whole = `${table}_whole`;
    const fids = `${reach}_fid`;
    this.#kept.add(table);
    await setApart(session, this.schema, table, whole, fids);
    const { same, ...content } = await replacing(session, this.schema, table, await this.#was(session, relation), fids, this.#standing(relation));
    return same ? this.#reused(session, relation) : this.#complete(session, product, whole, { fids }, content);
  }

  /** False where something else than parcels that it is made from was made whole in the end, so that it is not known which of its rows changed. */
  #dependsOnlyOn({ file }: Product): boolean {
    return this.#products.filter(({ relation, stale }) => relation !== PARCELS && stale !== null && file.reads.includes(relation))
      .every(({ relation }) => this.results.has(relation));
  }

  /** What is published of a table stays, and is what others read. */
  async #reused(session: Session, relation: Relation): Promise<Result> {
    const { rows, digest, currentTable } = this.#standing(relation);
    const result = { reused: true, rows, digest };
    this.results.set(relation, result);
    await providePublished(session, this.#build, relation, currentTable);
    return result;
  }

  /** Runs the table's own SQL on what `provide` makes of its inputs here. */
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

  /** Adds the rows that did not change, and gives the table to the workspace. */
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
        if (rows !== expected) throw new Error(`${file.file}: expected ${expected} rows, copied and made anew, found ${rows}: does its -- incremental: line say what it does?`);
        await noteBuilt(own, this.#unit, product);
      });
      await analyzeRoughly(own, this.#build, table);
    };
    if (this.#copies === null) await work(session);
    else {
      const done = this.#copies(() => inWorkspace(this.#database, this.#build, work));
      this.#pending.set(relation, done);
      // It is thrown where it is waited for.
      done.catch(() => undefined);
    }
    return result;
  }

  async #countChanged(session: Session): Promise<number> {
    const parcels = this.#products.find(({ relation }) => relation === PARCELS);
    if (parcels === undefined || parcels.stale === null) return (this.#changed = 0);
    if (this.#changed !== null) return this.#changed;
    // They lie finished in the workspace: made whole, or by the run before.
    const how = parcels.file.incremental;
    await this.#pair(session, parcels, parcels.incremental && how?.by === 'members' ? how.layers : null);
    return (this.#changed = await findChanged(session, this.schema, await this.#was(session, PARCELS), { schema: this.#build, table: tableOf(PARCELS) }));
  }

  /** Finds the parcels whose rows the changes reach. @returns the beginning of the names of their tables, `_fid` and `_parcel` */
  async #reachOf(session: Session, product: Product): Promise<Reach> {
    const { incremental: how, file } = product.file;
    if (how?.by !== 'near' && how?.by !== 'sharing' && how?.by !== 'meeting') return 'changed';
    // Parcels within one distance, or under features of the same layers, are the same for all files that say it.
    const key = how.by === 'near' ? `${how.withinM} m` : how.by === 'sharing' ? how.column : how.layers.join(', ');
    if (how.by !== 'sharing' && this.#reached.get(how.by) === key) return how.by;
    if (this.#reached.has(how.by)) throw new Error(`${file}: another file copies rows by ${how.by}, too: their tables would need names of their own`);
    this.#reached.set(how.by, key);
    if (how.by === 'near') await findNear(session, this.schema, await this.#was(session, PARCELS), how.withinM);
    else if (how.by === 'meeting') await findMeeting(session, this.schema, await this.#was(session, PARCELS), this.#inBuild(how.layers));
    else {
      // Once for the parcels that changed, which says whom they share with.
      await this.#run(session, product, () => provideParcelsOf(session, this.schema, 'changed_parcel'));
      const [parcels, rows] = [await this.#was(session, PARCELS), await this.#was(session, product.relation)];
      await findSharing(session, this.schema, parcels, rows, tableOf(product.relation), how.column);
    }
    return how.by;
  }

  /** Finds the members whose rows are copied. @param layers that they are of; null: none are */
  async #pair(session: Session, { relation, releases }: Product, layers: readonly Relation[] | null): Promise<number> {
    const ids = layers === null ? [] : releases.map(({ releaseId }) => releaseId);
    this.#paired ??= await pairMembers(session, this.schema, await this.#was(session, relation), layers === null ? null : this.#inBuild(layers), ids);
    return this.#paired;
  }

  #inBuild(relations: readonly Relation[]): Place[] {
    return relations.map((relation) => ({ schema: this.#build, table: tableOf(relation) }));
  }

  #was(session: Session, relation: Relation): Promise<Place> {
    return atHand(session, this.#build, { schema: schemaOf(relation), table: this.#standing(relation).currentTable });
  }

  /** @throws Error when it is not published: a bug, it could not have been planned so */
  #standing(relation: Relation): PublishedTable {
    const found = this.#published.get(relation);
    if (found === undefined) throw new Error(`${relation} is built incrementally, and nothing of it is published`);
    return found;
  }
}

/** Inside the transaction that finishes a table. */
export async function noteBuilt(session: Session, unit: number, { relation, fingerprint }: Product): Promise<void> {
  await session.query('insert into ledger.built (unit_code, relation, fingerprint) values ($1, $2, $3)', [unit, relation, fingerprint]);
}
