/**
 * Runs the incremental build. If the changed inputs of a published table can affect only the rows of known parcels, the table's SQL runs for these parcels
 * only. Publishing then replaces only the rows that differ. The `-- incremental:` line in the header of a table's SQL file states whether the table can be
 * built in this way.
 */
import { join } from 'node:path';
import { ROOT } from '../config.ts';
import { patchedContent, sameRows, type Content } from '../db/comparing.ts';
import {
  areReached, findChanged, findFids, findMeeting, findNear, findSameDocuments, findSameParcels, findSharing, findWith, forgetSameParcels, freshMembersOf,
  indexParcels, keepReached, makeParcelPatch, makePatch, newRows, provideFresh, provideNew, providePatched, providePatchedRowsOf, provideRowsOf,
  repeatsInFiles, type Patch, type Reach,
} from '../db/changed-rows.ts';
import { analyze, dropOthers, dropTable, giveTable, lookInLocally, renameTable } from '../db/ddl.ts';
import { provideParcelsOf, viewOfPublished, type WaitingViews } from '../db/layers.ts';
import type { Place } from '../db/statements.ts';
import { writeComuni, writePlaces } from '../db/figures.ts';
import { providePublishedParcels } from '../db/register.ts';
import type { Row, Session } from '../db/index.ts';
import type { Log } from '../log.ts';
import { duration, secondsSince } from '../progress.ts';
import { readSqlFile, schemaOf, tableOf, type Relation, type SqlFile } from '../contract/sql-files.ts';
import type { Product } from '../plan/products.ts';
import type { PublishedTable } from '../ledger/published.ts';
import { buildSchema, changesSchema } from '../db/workspace.ts';
import { rowsOfFile } from './file-rows.ts';
import { runTableFile } from './sweep.ts';
import { statementsOf } from '../db/statements.ts';

const publication = statementsOf('publication');

const PARCELS: Relation = 'core.parcel';

/** Name of an indexed table of all parcels after the change. */
const ALL_PARCELS = 'all_parcel';

/** Table-name prefix of the set of parcels whose citations are compared. */
const CITED: Reach = 'cited';

const OUTLINE = 'sql/steps/outline_differs.sql';

/** Result for a table in which only the changed rows were built. */
interface Result extends Content {
  /** Rows to replace in the published table; null if no row changed. */
  readonly patch: Patch | null;
  /** Partition name of the published table that the patch applies to. */
  readonly base: string;
}

/** Tables with the fids and comuni of the parcels in the comuni with changed rows, before and after the change. */
export interface PlacesReached {
  readonly before: Place;
  readonly after: Place;
  /** Table with the comuni of the parcels whose rows changed. */
  readonly of: Place;
}

/** Returns whether each row of a table belongs to one parcel. */
function hasRowsOfParcels({ file: { incremental: how } }: Product): boolean {
  return how !== null && how.by !== 'content';
}

/** One incremental build, which works in a separate schema. In the region's workspace, views show the published tables with the new rows. */
export class IncrementalBuild {
  readonly results = new Map<Relation, Result>();
  /** Schema in which `parcel` has only the changed parcels, and other tables have only the rows of these parcels. */
  readonly schema: string;
  /** Views of the inputs in the region's workspace, which are created before SQL first reads the inputs. */
  readonly views: WaitingViews;
  readonly #build: string;
  readonly #region: number;
  readonly #products: readonly Product[];
  readonly #published: ReadonlyMap<Relation, PublishedTable>;
  readonly #log: Log;
  /** Largest share of changed parcels for which tables are patched. */
  readonly #mostChanged: number;
  /** Tables of `schema` that later steps need. */
  readonly #kept = new Set<string>(['same_document', 'same_parcel', 'changed_fid', 'changed_parcel']);
  #isSameFound = false;
  /** Number of changed, new and removed parcels; null until the number is determined. */
  #changed: number | null = null;
  #isIndexed = false;
  #places: PlacesReached | null = null;
  /** True if the outline of the parcels differs (as `OUTLINE` defines it); null until the comparison is made. */
  #differs: boolean | null = null;
  /**
   * Sets of parcels whose rows must be built again because other rows changed. The value is the connection to the changed rows: a distance, layers, a column or
   * a table.
   */
  readonly #reached = new Map<Reach, string>();
  /** For each table, the set of parcels for which the table's SQL was run. */
  readonly #reaches = new Map<Relation, Reach>();

  constructor(
    region: number, products: readonly Product[], published: ReadonlyMap<Relation, PublishedTable>,
    { log, mostChanged, views }: { readonly log: Log; readonly mostChanged: number; readonly views: WaitingViews },
  ) {
    this.#region = region;
    this.#products = products;
    this.#published = published;
    this.#log = log;
    this.views = views;
    this.#mostChanged = mostChanged;
    this.#build = buildSchema(region);
    this.schema = changesSchema(region);
  }

  /**
   * Builds a table incrementally: keeps the published table, or builds its possibly changed rows. If too many parcels changed, builds the whole table of
   * parcels.
   * @returns false if the caller must build the table
   */
  async take(session: Session, product: Product): Promise<boolean> {
    if (!product.incremental) return false;
    const startedAt = performance.now();
    const result = await this.#take(session, product);
    if (result === null) return false;
    const how = result === 'whole' ? 'most rows changed' : result.patch === null ? 'nothing changed' : 'only what changed';
    this.#log.debug(`  ${product.relation}: ${how}, ${duration(secondsSince(startedAt))}`);
    return true;
  }

  /**
   * Compares a completely built table with the published table, if the SQL file of the table has the line `-- incremental: content`. If both have the same
   * rows, the published table stays, and tables that depend on this table can be built incrementally.
   */
  async compare(session: Session, { relation, file }: Product): Promise<void> {
    if (file.incremental?.by !== 'content' || !this.#published.has(relation)) return;
    const table = tableOf(relation);
    if (!(await sameRows(session, { schema: this.#build, table }, this.#was(relation)))) return;
    await session.transaction(async () => {
      await dropTable(session, this.#build, table);
      await session.query(publication('forget_built_table'), [this.#region, relation]);
    });
    this.#reused(relation);
    this.#log.debug(`  ${relation}: nothing changed`);
  }

  /**
   * Copies the view of all parcels into a table with indexes, for SQL that joins all parcels with shapes. Without indexes, the join compares every parcel with
   * every shape.
   * @param reads tables that the SQL reads
   */
  async provideIndexedParcels(session: Session, reads: readonly Relation[]): Promise<void> {
    if (this.#isIndexed || !reads.includes(PARCELS) || this.results.get(PARCELS)?.patch == null) return;
    await session.transaction(() => indexParcels(session, this.schema, { schema: this.#build, table: tableOf(PARCELS) }, ALL_PARCELS));
    this.#kept.add(ALL_PARCELS);
    this.#isIndexed = true;
  }

  /** Lists the parcels of the comuni in which rows of a patched table differ from the published rows. All patched tables must be complete. */
  async placesReached(session: Session): Promise<PlacesReached> {
    if (this.#places !== null) return this.#places;
    await this.views.provide(session, [PARCELS]);
    const [was, now] = [this.#was(PARCELS), { schema: this.#build, table: 'parcel' }];
    const place = (table: string): Place => ({ schema: this.schema, table });
    const of = place('changed_comune');
    const changed = this.#changed === null || this.#changed === 0 ? [] : [place('changed_fid')];
    const fids = [...changed, ...[...this.results.values()].flatMap(({ patch }) => patch?.fids ?? [])];
    const comuni = fids.length === 0 ? [] : await writeComuni(session, of, { fids, before: was, after: now });
    const [before, after] = [place('place_before'), place('place_after')];
    await writePlaces(session, before, was, comuni);
    await writePlaces(session, after, now, comuni);
    for (const { table } of [of, before, after]) this.#kept.add(table);
    return (this.#places = { before, after, of });
  }

  /**
   * Creates views in `schema`: `parcel` with the changed parcels, and the patched tables with their new rows.
   * @returns false if no parcel changed or the changes are not known
   */
  async provideChanged(session: Session): Promise<boolean> {
    if (this.#changed === null || this.#changed === 0) return false;
    await dropOthers(session, this.schema, this.#kept);
    await provideParcelsOf(session, this.schema, 'changed_parcel');
    for (const relation of this.#reaches.keys()) if (this.results.get(relation)?.patch != null) await provideNew(session, this.schema, tableOf(relation));
    return true;
  }

  /**
   * Runs a query file twice: on the published rows and on the new rows. Each row of the result must depend on one parcel only.
   * @param reads tables that the file reads
   * @param which the parcels whose rows changed, or all parcels of their comuni
   */
  async rowsBeforeAndAfter(
    session: Session, file: Pick<SqlFile, 'parts'>, { reads, which }: { readonly reads: readonly Product[]; readonly which: 'changed' | 'comuni' },
  ): Promise<{ readonly before: Row[]; readonly after: Row[] }> {
    const ofParcels = reads.filter(hasRowsOfParcels).map(({ relation }) => relation);
    const patched = ofParcels.flatMap((relation) => (relation === PARCELS ? [] : this.results.get(relation)?.patch?.fids ?? []));
    const { before: placesBefore, after: placesAfter } = await this.placesReached(session);
    await dropOthers(session, this.schema, this.#kept);
    await findFids(session, this.schema, CITED, which === 'changed' ? patched : [placesBefore, placesAfter]);
    const parcels = `${CITED}_fid`;
    const run = (provide: (relation: Relation) => Promise<void>): Promise<Row[]> => rowsOfFile(session, file, async () => {
      await lookInLocally(session, [this.schema, this.#build]);
      for (const relation of ofParcels) await provide(relation);
    });
    const before = await run((relation) => provideRowsOf(session, this.schema, { to: tableOf(relation), from: this.#was(relation), parcels }));
    const after = await run((relation) => this.#provideCurrent(session, relation, parcels));
    await dropTable(session, this.schema, parcels);
    return { before, after };
  }

  #take(session: Session, product: Product): Promise<Result | 'whole' | null> {
    const how = product.file.incremental;
    if (how?.by === 'members') return this.#takeMembers(session, product, how.layers);
    return how?.by === 'content' ? this.#takeUnchanged(session, product) : this.#takeParcels(session, product);
  }

  /** Builds the parcels of the changed documents. If the share of changed parcels exceeds the limit, the complete new table is used instead of a patch. */
  async #takeMembers(session: Session, product: Product, layers: readonly Relation[]): Promise<Result | 'whole' | null> {
    const { relation } = product;
    if (!this.#dependsOnlyOn(product)) return null;
    await this.views.provide(session, product.file.reads);
    const old = this.#oldTable(relation);
    const sources = this.#inBuild(layers);
    // If two files contain the same parcel, the SQL chooses one of the files. The choice needs all rows.
    for (const from of sources) if (await repeatsInFiles(session, from)) return null;
    await this.#findSame(session, product, layers);
    const was = this.#was(relation);
    const fresh = await freshMembersOf(session, this.schema, sources);
    const same = await findSameParcels(session, this.schema, was, fresh);
    const all = old.rows - same > old.rows * this.#mostChanged;
    if (all) await forgetSameParcels(session, this.schema);
    await this.#run(session, product, async () => {
      if (!all) for (const each of fresh) await provideFresh(session, this.schema, each);
      await providePublishedParcels(session, this.schema, was, this.schema);
    });
    const table = tableOf(relation);
    const whole = `${table}_whole`;
    await renameTable(session, this.schema, table, whole);
    await analyze(session, this.schema, whole);
    this.#changed = await findChanged(session, this.schema, was, { schema: this.schema, table: whole });
    if (!all || this.#changed <= old.rows * this.#mostChanged) {
      return this.#patch(session, product, whole, await makeParcelPatch(session, this.schema, whole, was));
    }
    await session.transaction(async () => {
      await renameTable(session, this.schema, whole, table);
      await giveTable(session, { schema: this.schema, table }, this.#build);
      await session.query(publication('note_built'), [this.#region, relation, product.fingerprint]);
    });
    return 'whole';
  }

  async #takeParcels(session: Session, product: Product): Promise<Result | null> {
    const { relation } = product;
    if (!this.#dependsOnlyOn(product)) return null;
    const changed = await this.#countChanged(session);
    if (changed > this.#oldTable(PARCELS).rows * this.#mostChanged) return null;
    if (changed === 0) return this.#reused(relation);
    await this.views.provide(session, product.file.reads);
    const table = tableOf(relation);
    const reach = await this.#reachOf(session, product);
    await this.#runFor(session, product, reach);
    const fids = `${reach}_fid`;
    await keepReached(session, this.schema, table, fids);
    await renameTable(session, this.schema, table, newRows(table));
    this.#reaches.set(relation, reach);
    return this.#patch(session, product, newRows(table), await makePatch(session, this.schema, newRows(table), this.#was(relation), fids));
  }

  /** Keeps the published table if its input tables have the same rows. Changed parcels do not matter if the outline of the parcels is unchanged. */
  async #takeUnchanged(session: Session, { relation, file }: Product): Promise<Result | null> {
    for (const { relation: read } of this.#products.filter(({ relation: each, stale }) => stale !== null && file.reads.includes(each))) {
      if (read === PARCELS ? await this.#outlineDiffers(session) : this.results.get(read)?.patch !== null) return null;
    }
    return this.#reused(relation);
  }

  /**
   * Returns whether the changed parcels alter the outline of the parcels, on which some tables depend. The outline consists of the comuni that have parcels,
   * the box of all parcels, and the parcels of comuni without a boundary.
   */
  async #outlineDiffers(session: Session): Promise<boolean> {
    if ((await this.#countChanged(session)) === 0) return false;
    if (this.#differs !== null) return this.#differs;
    const lookHere = (): Promise<void> => lookInLocally(session, [this.schema, this.#build]);
    const file = readSqlFile(join(ROOT, OUTLINE));
    await this.views.provide(session, file.reads);
    const [{ differs } = { differs: true }] = await rowsOfFile<{ differs: boolean }>(session, file, lookHere);
    return (this.#differs = differs);
  }

  /** Returns whether the changed rows of all inputs are known. Returns false if an input other than the parcels was completely rebuilt. */
  #dependsOnlyOn({ file }: Product): boolean {
    return this.#products.filter(({ relation, stale }) => relation !== PARCELS && stale !== null && file.reads.includes(relation))
      .every(({ relation }) => this.results.has(relation));
  }

  /** Keeps the published table. The SQL of other tables reads the published table through a view in the workspace. */
  #reused(relation: Relation): Result {
    const { rows, digest, partition, currentTable } = this.#oldTable(relation);
    const result = { patch: null, base: partition, rows, digest };
    this.results.set(relation, result);
    this.views.add(relation, (session) => viewOfPublished(session, this.#build, relation, currentTable, 'one'));
    return result;
  }

  /** Runs the table's SQL on the inputs that `provide` creates. */
  async #run(session: Session, product: Product, provide: () => Promise<void>): Promise<void> {
    await session.transaction(async () => {
      await lookInLocally(session, [this.schema, this.#build]);
      await provide();
      await runTableFile(session, this.schema, product.file, product.published);
      await dropOthers(session, this.schema, new Set([...this.#kept, tableOf(product.relation)]));
    });
  }

  /** Runs the table's SQL for a set of parcels. In the input tables, the SQL sees only the current rows of these parcels. */
  async #runFor(session: Session, product: Product, reach: Reach): Promise<void> {
    await this.#run(session, product, async () => {
      await provideParcelsOf(session, this.schema, `${reach}_parcel`);
      // Limits every input to these parcels. Otherwise SQL that does not read `parcel` would build the rows of the whole region.
      const reads = this.#products.filter((each) => each.relation !== PARCELS && product.file.reads.includes(each.relation) && hasRowsOfParcels(each));
      for (const { relation: read } of reads) {
        if (this.results.get(read)?.patch != null && this.#reaches.get(read) === reach) await provideNew(session, this.schema, tableOf(read));
        else await this.#provideCurrent(session, read, `${reach}_parcel`);
      }
    });
  }

  /** Shows the current rows of some parcels under the table's name. @param parcels table with the fids of the parcels */
  async #provideCurrent(session: Session, relation: Relation, parcels: string): Promise<void> {
    const to = tableOf(relation);
    const patch = this.results.get(relation)?.patch ?? null;
    if (patch === null) await provideRowsOf(session, this.schema, { to, from: { schema: this.#build, table: to }, parcels });
    else await providePatchedRowsOf(session, this.schema, { to, was: this.#was(relation), patch, parcels });
  }

  /**
   * Creates a view in the workspace that shows the published table with the new rows.
   * @param from table with the new rows
   * @param patch null if no row changed
   */
  async #patch(session: Session, product: Product, from: string, patch: Patch | null): Promise<Result> {
    const { relation, file } = product;
    const was = this.#was(relation);
    this.#kept.add(from);
    if (patch === null) return this.#reused(relation);
    for (const { table } of [patch.fids, patch.gone, patch.came]) this.#kept.add(table);
    const old = this.#oldTable(relation);
    const content = await patchedContent(session, patch, was, old);
    if (content.rows < 0) throw new Error(`${file.file}: the patch removes more rows than ${relation} has. The -- incremental: line of the file may be wrong`);
    const result = { patch, base: old.partition, ...content };
    this.results.set(relation, result);
    await providePatched(session, { schema: this.#build, table: tableOf(relation) }, was, patch);
    return result;
  }

  async #countChanged(session: Session): Promise<number> {
    const parcels = this.#products.find(({ relation }) => relation === PARCELS);
    if (parcels === undefined || parcels.stale === null) return (this.#changed = 0);
    if (this.#changed !== null) return this.#changed;
    // The parcels are complete in the workspace, because this run completely rebuilt the table or an earlier run built it.
    const how = parcels.file.incremental;
    await this.views.provide(session, parcels.file.reads);
    await this.#findSame(session, parcels, parcels.incremental && how?.by === 'members' ? how.layers : []);
    return (this.#changed = await findChanged(session, this.schema, this.#was(PARCELS), { schema: this.#build, table: tableOf(PARCELS) }));
  }

  /**
   * Finds the parcels whose rows must be built again.
   * @returns the name of the set of these parcels. The tables `<name>_fid` and `<name>_parcel` contain the parcels
   */
  async #reachOf(session: Session, product: Product): Promise<Reach> {
    const { relation, file: { incremental: how, file, reads } } = product;
    if (how === null || how.by === 'members' || how.by === 'content') throw new Error(`${file} has no -- incremental: line that names the parcels on which a row depends`);
    const table = tableOf(relation);
    // If an input table was also rebuilt for other parcels, this table is rebuilt for those parcels too.
    const others = reads.flatMap((read) => ((this.#reaches.get(read) ?? 'changed') === 'changed' ? [] : this.results.get(read)?.patch?.fids ?? []));
    const parcels = this.#was(PARCELS);
    const known = how.by === 'sharing' ? await this.#knownSharing(session, reads, how.column, others) : null;
    if (known !== null) return known;
    if (how.by === 'parcels' || how.by === 'sharing') {
      const start = others.length === 0 ? 'changed' : this.#name(`${table}_start`, file, table);
      if (start !== 'changed') await findWith(session, this.schema, start, parcels, others);
      if (how.by === 'parcels') return start;
      // First runs the SQL for these parcels only, to find other parcels with the same values.
      await this.#runFor(session, product, start);
      const reach = this.#name(`${table}_sharing`, file, how.column);
      await findSharing(session, this.schema, { reach, start, parcels, was: this.#was(relation), table, column: how.column });
      await dropTable(session, this.schema, table);
      return reach;
    }
    // Tables with the same distance or the same layers share one set of parcels.
    const key = how.by === 'near' ? `${how.withinM} m` : how.layers.join(', ');
    if (this.#reached.get(how.by) === key) return how.by;
    this.#name(how.by, file, key);
    if (how.by === 'near') await findNear(session, this.schema, parcels, how.withinM);
    else await findMeeting(session, this.schema, parcels, this.#inBuild(how.layers));
    return how.by;
  }

  /**
   * Finds an input table whose parcels share the same column. Returns the set of parcels for which this input table was built, if the set contains all parcels
   * whose inputs changed. The values of the column come from the input table, so the set also contains all parcels that share a value. Returns null if there is
   * no such set.
   * @param others tables with the fids of the parcels whose inputs changed, except changed parcels
   */
  async #knownSharing(session: Session, reads: readonly Relation[], column: string, others: readonly Place[]): Promise<Reach | null> {
    const shares = ({ relation, file: { incremental: how } }: Product): boolean => reads.includes(relation) && how?.by === 'sharing' && how.column === column;
    const reach = this.#products.filter(shares).map(({ relation }) => this.#reaches.get(relation)).find((each) => each !== undefined);
    if (reach === undefined) return null;
    return (await areReached(session, this.schema, reach, others)) ? reach : null;
  }

  /** Registers the name of a set of parcels, and keeps the tables of the set. @param key connection between the parcels */
  #name(reach: Reach, file: string, key: string): Reach {
    if (this.#reached.has(reach)) throw new Error(`${file}: another SQL file already uses ${reach} as the name of its set of parcels. The tables of both sets would have the same names`);
    this.#reached.set(reach, key);
    for (const name of [`${reach}_fid`, `${reach}_parcel`]) this.#kept.add(name);
    return reach;
  }

  /** Finds documents whose parcels have not changed. @param layers the layers with the parcels of the documents */
  async #findSame(session: Session, { relation }: Product, layers: readonly Relation[]): Promise<void> {
    if (this.#isSameFound) return;
    this.#isSameFound = true;
    const of = { region: this.#region, build: this.#build, layers: layers.map(tableOf) };
    await findSameDocuments(session, this.schema, this.#was(relation), of);
  }

  #inBuild(relations: readonly Relation[]): Place[] {
    return relations.map((relation) => ({ schema: this.#build, table: tableOf(relation) }));
  }

  /** Returns the published table, which is on this node. Tables on several nodes are not built incrementally. */
  #was(relation: Relation): Place {
    return { schema: schemaOf(relation), table: this.#oldTable(relation).currentTable };
  }

  /** @throws Error if the table is not published, which is a bug in the plan */
  #oldTable(relation: Relation): PublishedTable {
    const found = this.#published.get(relation);
    if (found === undefined) throw new Error(`${relation} is built incrementally, but is not published`);
    return found;
  }
}
