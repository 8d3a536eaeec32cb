/**
 * What a build need not make again. Where a region is published and of a table's inputs only parcels differ, the rows of parcels that did not change
 * are copied from what is published, and the table's own SQL runs for the others alone. Which tables allow that, their files say (`-- carries:`).
 */
import pLimit, { type LimitFunction } from 'p-limit';
import {
  analyze, analyzeRoughly, complete, countRows, createSchema, dropOthers, dropTable, findChanged, findNear, findSharing, inWorkspace, lookIn, pairMembers, provideFresh, provideParcelsOf, providePublished, renameTable, repeatsInFiles,
  replacing, sameRows, setApart,
} from '../db/catalog.ts';
import type { Place } from '../db/statements.ts';
import { comuniOfParcels } from '../db/figures.ts';
import { providePublishedParcels } from '../db/register.ts';
import type { Database, Session } from '../db/index.ts';
import type { Log } from '../log.ts';
import { duration } from '../progress.ts';
import { schemaOf, tableOf, type Relation } from '../contract/sql-files.ts';
import type { Product } from '../plan/products.ts';
import type { PublishedTable } from '../ledger/published.ts';
import { carrySchema } from '../db/workspace.ts';

/** When more than one parcel in so many changed, copying the others is no gain. */
const WORTHWHILE = 3;

/** How many tables are copied beside the SQL of the next: the parcels take as long as all others. */
const BESIDE = 2;

/** A table of which rows were carried over. */
export interface Carried {
  /** Nothing in it changed: what is published stays. */
  readonly stands: boolean;
  readonly rows: number;
  readonly digest: string;
}

/** One build's. What it makes lies in a schema of its own; a table that is finished moves into the unit's workspace together with its line in the ledger. */
export class Carrying {
  readonly results = new Map<Relation, Carried>();
  /** Where `parcel` are those that changed, and a table its rows of them. */
  readonly schema: string;
  readonly #database: Database;
  readonly #unit: number;
  readonly #build: string;
  readonly #published: ReadonlyMap<Relation, PublishedTable>;
  readonly #products: ReadonlyMap<Relation, Product>;
  readonly #log: Log;
  /** Copying fills tables side by side with the SQL of the next ones, where the engine can. */
  readonly #side: LimitFunction | null;
  readonly #pending = new Map<Relation, Promise<void>>();
  readonly #failures: unknown[] = [];
  /** Tables of the schema that later steps need. */
  readonly #kept = new Set<string>(['carried_member', 'changed_fid', 'changed_parcel', 'near_fid', 'near_parcel', 'sharing_fid', 'sharing_parcel']);
  /** Rows of members that are carried; null: not looked for. */
  #paired: number | null = null;
  /** Null: not looked for. */
  #changed: { readonly few: boolean; readonly count: number } | null = null;
  readonly #reached = new Set<string>();

  private constructor(database: Database, unit: number, build: string, products: readonly Product[], published: ReadonlyMap<Relation, PublishedTable>, log: Log) {
    this.#database = database;
    this.#unit = unit;
    this.#build = build;
    this.#products = new Map(products.map((product) => [product.relation, product]));
    this.#published = published;
    this.#log = log;
    this.schema = carrySchema(unit);
    this.#side = database.parallel > 1 ? pLimit(BESIDE) : null;
  }

  /** @returns null when no table of the build can be carried */
  static async begin(database: Database, session: Session, unit: number, build: string, products: readonly Product[], published: ReadonlyMap<Relation, PublishedTable>, log: Log): Promise<Carrying | null> {
    if (!products.some(({ carry }) => carry)) return null;
    const carrying = new Carrying(database, unit, build, products, published, log);
    await createSchema(session, carrying.schema);
    return carrying;
  }

  /** Makes a table by carrying over what can be. @returns false when it must be made whole */
  async take(session: Session, product: Product): Promise<boolean> {
    if (!product.carry) return false;
    const startedAt = performance.now();
    const taken = product.file.carries!.by === 'members' ? await this.#takeMembers(session, product) : await this.#takeParcels(session, product);
    const result = this.results.get(product.relation);
    if (taken) this.#log.info(`  ${product.relation}: ${result!.stands ? 'nothing changed' : 'only what changed'}, ${duration((performance.now() - startedAt) / 1000)}`);
    return taken;
  }

  /** What is always made whole: where it says what is published, that stays, and rows that were made from it may be carried. */
  async compare(session: Session, { relation, file }: Product): Promise<void> {
    const standing = this.#published.get(relation);
    if (file.carries?.by !== 'content' || standing === undefined) return;
    const table = tableOf(relation);
    if (!(await sameRows(session, { schema: this.#build, table }, this.#was(relation)))) return;
    await session.transaction(async () => {
      await dropTable(session, this.#build, table);
      await session.query('delete from ledger.built where unit_code = $1 and relation = $2', [this.#unit, relation]);
    });
    this.results.set(relation, { stands: true, rows: standing.rows, digest: standing.digest });
    await providePublished(session, this.#build, relation, standing.stands);
    this.#log.info(`  ${relation}: nothing changed`);
  }

  /** Table of the parcels that changed, came or went; null: not known. */
  get changed(): Place | null {
    return this.#changed === null ? null : { schema: this.schema, table: 'changed_fid' };
  }

  /** Comuni in which a row of a table that was carried may be another one than was published. */
  async comuniReached(session: Session): Promise<string[]> {
    if (this.#changed === null || this.#changed.count === 0) return [];
    const fids = ['changed', ...this.#reached].map((name) => ({ schema: this.schema, table: `${name}_fid` }));
    return comuniOfParcels(session, fids, [this.#was('core.parcel'), { schema: this.#build, table: 'parcel' }]);
  }

  /** Makes the parcels that changed what is seen as `parcel` in the schema. @returns false when none did, or it is not known which */
  async provideChanged(session: Session): Promise<boolean> {
    if (this.#changed === null || this.#changed.count === 0) return false;
    await dropOthers(session, this.schema, this.#kept);
    await provideParcelsOf(session, this.schema, 'changed_parcel');
    return true;
  }

  /** Waits until these tables, or all, are whole. @throws what stopped one */
  async settle(relations?: readonly Relation[]): Promise<void> {
    await Promise.all([...this.#pending].filter(([relation]) => relations === undefined || relations.includes(relation)).map(([, done]) => done));
    if (this.#failures.length > 0) throw this.#failures[0];
  }

  /** The parcels themselves: the file's SQL reads the members that were read anew, the others' rows get the provenance of their new release. */
  async #takeMembers(session: Session, product: Product): Promise<boolean> {
    const { relation, file } = product;
    const { rows } = this.#published.get(relation)!;
    const carried = await this.#pair(session, product);
    if (carried === 0 || (rows - carried) * WORTHWHILE > rows) return false;
    const layer = tableOf((file.carries as { layer: Relation }).layer);
    // Of what stands in two files one is chosen, which looks at all rows.
    if (await repeatsInFiles(session, { schema: this.#build, table: layer })) return false;
    const was = this.#was(relation);
    await this.#run(session, product, async () => {
      await provideFresh(session, this.schema, { schema: this.#build, table: layer });
      await providePublishedParcels(session, this.schema, was, { schema: this.schema, table: 'carried_member' });
    });
    const whole = `${tableOf(relation)}_whole`;
    await renameTable(session, this.schema, tableOf(relation), whole);
    await analyze(session, this.schema, whole);
    await this.#findChanged(session, { schema: this.schema, table: whole });
    const { same: _same, ...content } = await replacing(session, this.schema, 'changed_parcel', was, 'changed_fid', this.#published.get(relation)!);
    this.results.set(relation, { stands: false, ...content });
    await this.#complete(session, product, whole, 'member');
    return true;
  }

  async #takeParcels(session: Session, product: Product): Promise<boolean> {
    const { relation, file } = product;
    const standing = this.#published.get(relation)!;
    // What it is made from was made whole in the end, so that it is not known which of its rows changed.
    const others = file.reads.filter((read) => read !== 'core.parcel' && (this.#products.get(read)?.stale ?? null) !== null);
    if (!others.every((read) => this.results.has(read))) return false;
    const { few, count } = await this.#whatChanged(session);
    if (!few) return false;
    if (count === 0) {
      this.results.set(relation, { stands: true, rows: standing.rows, digest: standing.digest });
      await providePublished(session, this.#build, relation, standing.stands);
      return true;
    }
    const table = tableOf(relation);
    const reach = await this.#reachOf(session, product);
    const fids = `${reach}_fid`;
    await this.#run(session, product, () => provideParcelsOf(session, this.schema, `${reach}_parcel`));
    const whole = `${table}_whole`;
    this.#kept.add(table);
    await setApart(session, this.schema, table, whole, fids);
    const { same, ...content } = await replacing(session, this.schema, table, this.#was(relation), fids, standing);
    this.results.set(relation, { stands: same, ...content });
    if (same) await providePublished(session, this.#build, relation, standing.stands);
    else await this.#complete(session, product, whole, { fids });
    return true;
  }

  /** Runs the table's own SQL on what `provide` makes of its inputs here. */
  async #run(session: Session, product: Product, provide: () => Promise<void>): Promise<void> {
    await lookIn(session, [this.schema, this.#build]);
    await session.transaction(async () => {
      await dropOthers(session, this.schema, this.#kept);
      await provide();
      await session.script(product.file.text, product.file.file);
      await dropOthers(session, this.schema, new Set([...this.#kept, tableOf(product.relation)]));
    });
    await lookIn(session, [this.#build]);
  }

  /** Adds the rows that did not change, and gives the table to the workspace. */
  async #complete(session: Session, product: Product, from: string, by: { readonly fids: string } | 'member'): Promise<void> {
    const { relation, fingerprint } = product;
    const table = tableOf(relation);
    this.#kept.add(from);
    const work = async (own: Session): Promise<void> => {
      await own.transaction(async () => {
        await complete(own, { schema: this.schema, table: from }, { schema: this.#build, table }, this.#was(relation), by);
        const rows = await countRows(own, this.#build, table);
        const { rows: expected } = this.results.get(relation)!;
        if (rows !== expected) throw new Error(`${product.file.file}: expected ${expected} rows, carried over and made anew, found ${rows}: does its -- carries: line say what it does?`);
        await own.query('insert into ledger.built (unit_code, relation, fingerprint) values ($1, $2, $3)', [this.#unit, relation, fingerprint]);
      });
      await analyzeRoughly(own, this.#build, table);
    };
    if (this.#side === null) return work(session);
    this.#pending.set(relation, this.#side(() => inWorkspace(this.#database, this.#build, work)).catch((error: unknown) => {
      this.#failures.push(error);
    }));
  }

  async #whatChanged(session: Session): Promise<{ few: boolean; count: number }> {
    if (this.#changed === null) {
      const parcels = this.#products.get('core.parcel')!;
      if (parcels.stale === null) return (this.#changed = { few: true, count: 0 });
      // They lie finished in the workspace: made whole, or by the run before.
      await this.#pair(session, parcels);
      await this.#findChanged(session, { schema: this.#build, table: tableOf(parcels.relation) });
    }
    return this.#changed!;
  }

  async #findChanged(session: Session, now: Place): Promise<void> {
    const count = await findChanged(session, this.schema, this.#was('core.parcel'), now);
    this.#changed = { few: count * WORTHWHILE <= this.#published.get('core.parcel')!.rows, count };
  }

  /** Finds the parcels whose rows the changes reach. @returns the beginning of the names of their tables, `_fid` and `_parcel` */
  async #reachOf(session: Session, product: Product): Promise<'changed' | 'near' | 'sharing'> {
    const carries = product.file.carries!;
    if (carries.by !== 'near' && carries.by !== 'sharing') return 'changed';
    if (this.#reached.has(carries.by)) throw new Error(`${product.file.file}: another file carries rows by ${carries.by}, too: their tables would need names of their own`);
    this.#reached.add(carries.by);
    if (carries.by === 'near') {
      await findNear(session, this.schema, this.#was('core.parcel'), carries.withinM);
      return 'near';
    }
    // Once for the parcels that changed, which says whom they share with.
    await this.#run(session, product, () => provideParcelsOf(session, this.schema, 'changed_parcel'));
    await findSharing(session, this.schema, this.#was('core.parcel'), this.#was(product.relation), tableOf(product.relation), carries.column);
    return 'sharing';
  }

  async #pair(session: Session, product: Product): Promise<number> {
    const { carries } = product.file;
    const layer = product.carry && carries?.by === 'members' ? { schema: this.#build, table: tableOf(carries.layer) } : null;
    this.#paired ??= await pairMembers(session, this.schema, this.#was(product.relation), layer, layer === null ? [] : product.releases.map(({ releaseId }) => releaseId));
    return this.#paired;
  }

  #was(relation: Relation): Place {
    return { schema: schemaOf(relation), table: this.#published.get(relation)!.stands };
  }
}
