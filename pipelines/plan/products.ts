/** Determines the tables of a region before the build. Compares fingerprints to find stale tables and the reasons. */
import { sourceOfLayer, type RegisteredSource } from '../contract/registry.ts';
import { digestOfFacts, sqlFacts, whyChanged, type Facts } from '../contract/fingerprint.ts';
import { schemaOf, sha256, tableFilesOf, tableOf, type Relation, type SqlFile } from '../contract/sql-files.ts';
import type { CurrentFile } from '../ledger/current-files.ts';
import type { Inventory } from '../ledger/inventory.ts';
import type { Release } from '../ledger/ledger.ts';
import type { PublishedTable } from '../ledger/published.ts';

/** A table of a region: the SQL file that builds the table, the inputs, and whether the published table is current. */
export interface Product {
  readonly relation: Relation;
  readonly file: SqlFile;
  /** Digest of the SQL and all inputs of the table. */
  readonly fingerprint: string;
  /** Fingerprints of all inputs, by name. Inputs are tables, releases, SQL files and the database engine. */
  readonly inputs: Readonly<Record<string, string>>;
  /** Releases of the layers that the table reads, directly or through other tables. */
  readonly releases: readonly Release[];
  /**
   * Releases that the table cites as sources of values. Only `core.parcel` cites the releases of parcels, and no table cites releases of reference sources,
   * because every table uses these releases.
   */
  readonly cited: readonly { readonly sourceId: string; readonly vintage: string }[];
  /** Layers that the table reads directly and that have no current file for the region. */
  readonly missing: readonly Relation[];
  /** Reason why the table must be built again; null if the published table is current. */
  readonly stale: string | null;
  /** Inputs that differ from the inputs of the published table. */
  readonly differing: readonly string[];
  /** True if the table and the published table cite the same sources and vintages. */
  readonly hasSameVintages: boolean;
  /** Inputs in `differing` on which every row may depend. */
  readonly decisive: readonly string[];
  /** True if the changed inputs may leave the whole table, or the rows of unchanged parcels, unchanged. */
  readonly incremental: boolean;
  /** Name of the published table, without schema; null if the table is not published. */
  readonly published: string | null;
  /** True if the table reads all sources of the published table and at least one more. The quality gate then treats the table as on a first load. */
  readonly hasNewSource: boolean;
}

/**
 * Returns the SQL files that build a region's tables. Each file follows the files that build the file's inputs.
 * @throws Error if the headers of the files form a cycle (a bug)
 */
export function productFiles(region: number): SqlFile[] {
  return inOrder(tableFilesOf(region), (file) => file);
}

/**
 * Sorts items so that each item follows the items that build the item's inputs. Keeps the given order where possible.
 * @throws Error if the headers of the files form a cycle (a bug)
 */
export function inOrder<T>(items: readonly T[], fileOf: (item: T) => SqlFile): T[] {
  const sorted = new Set<T>();
  const open = new Set<T>();
  const visit = (item: T): void => {
    if (sorted.has(item)) return;
    const { file, reads } = fileOf(item);
    if (open.has(item)) throw new Error(`${file}: the file reads a table that depends on the table of this file`);
    open.add(item);
    for (const read of reads) {
      const maker = items.find((each) => relationOf(fileOf(each)) === read);
      if (maker !== undefined && maker !== item) visit(maker);
    }
    sorted.add(item);
  };
  for (const item of items) visit(item);
  return [...sorted];
}

/** Returns the table that a file builds: the first table in the line `-- writes:`. The file only updates the other tables. */
function relationOf({ file, writes: [relation] }: SqlFile): Relation {
  if (relation === undefined) throw new Error(`${file}: expected a table in its "-- writes:" line, found none`);
  return relation;
}

/** Returns a region's tables, each with the reason why the table is stale or null. The result depends only on the arguments. */
export function planProducts(
  region: number, sources: readonly RegisteredSource[], inventory: Inventory, published: ReadonlyMap<Relation, PublishedTable>, engine: Facts,
): Product[] {
  const products = new Map<Relation, Product>();
  const ids = new Set(sources.map(({ id }) => id));
  for (const file of productFiles(region)) {
    const relation = relationOf(file);
    const inputs: Record<string, string> = { ...sqlFacts(file), ...engine };
    const used = new Map<number, Release>();
    const cited = new Map<string, Product['cited'][number]>();
    const missing: Relation[] = [];
    for (const read of file.reads) {
      const made = products.get(read);
      if (made !== undefined) {
        inputs[read] = made.fingerprint;
        for (const release of made.releases) used.set(release.releaseId, release);
        if (read !== 'core.parcel') for (const each of made.cited) cited.set(`${each.sourceId} ${each.vintage}`, each);
      }
      // A relation that is neither built nor a layer, such as the register of fids, is not an input.
      if (schemaOf(read) !== 'layer') continue;
      const source = sourceOfLayer(sources, read);
      const { files } = inventory.current(region, read);
      if (files.length === 0) missing.push(read);
      for (const { file: of } of files) {
        const release = inventory.releases.get(of.releaseId);
        if (release === undefined) continue;
        used.set(release.releaseId, release);
        if (source?.manifest.reference !== true) cited.set(`${of.sourceId} ${of.vintage}`, of);
      }
      Object.assign(inputs, inputsOf(files, read));
    }
    const fingerprint = digestOfFacts(inputs);
    const before = published.get(relation);
    const isStale = before !== undefined && before.fingerprint !== fingerprint;
    const differing = differingInputs(before?.inputs ?? {}, inputs);
    const isIndecisive = mayDiffer(file, sources, products);
    const decisive = differing.filter((input) => !isIndecisive(input));
    products.set(relation, {
      relation, file, fingerprint, inputs, missing, differing, decisive,
      incremental: isStale && decisive.length === 0,
      hasSameVintages: before !== undefined && sameNames(before.inputs, inputs)
        && file.reads.every((read) => read === 'core.parcel' || products.get(read)?.hasSameVintages !== false),
      releases: [...used.values()].sort((a, b) => a.releaseId - b.releaseId),
      cited: [...cited.values()],
      stale: before === undefined ? 'not published yet' : isStale ? whyChanged(before.inputs, inputs) ?? 'the ledger has the inputs in a different form' : null,
      published: before?.currentTable ?? null,
      hasNewSource: isStale && isNoted(before.inputs, (input) => published.get(input)?.inputs)
        && isMore(sourcesOf(inputs, (input) => products.get(input)?.inputs, ids), sourcesOf(before.inputs, (input) => published.get(input)?.inputs, ids)),
    });
  }
  return [...products.values()];
}

type Inputs = Readonly<Record<string, string>>;

/** Returns the ids of the sources that a table reads, directly or through other tables. */
function sourcesOf(inputs: Inputs, inputsOf: (relation: Relation) => Inputs | undefined, ids: ReadonlySet<string>): Set<string> {
  return new Set(Object.keys(inputs).flatMap((input) => {
    const [id = ''] = input.split(' ', 1);
    if (ids.has(id)) return [id];
    const through = inputsOf(input as Relation);
    return through === undefined ? [] : [...sourcesOf(through, inputsOf, ids)];
  }));
}

/**
 * Returns whether the ledger has the inputs of a table and of every table that the table reads. Otherwise the table's earlier sources are unknown, and no
 * source counts as new.
 */
function isNoted(inputs: Inputs, inputsOf: (relation: Relation) => Inputs | undefined): boolean {
  const names = Object.keys(inputs);
  return names.length > 0 && names.every((input) => {
    const through = inputsOf(input as Relation);
    return through === undefined || isNoted(through, inputsOf);
  });
}

/** Returns whether `now` has all elements of `before` and at least one more. A table that loses a source therefore has no new source. */
function isMore(now: ReadonlySet<string>, before: ReadonlySet<string>): boolean {
  return now.size > before.size && [...before].every((id) => now.has(id));
}

/** Returns the digest of all inputs of a region's tables. */
export function productsDigest(products: readonly Pick<Product, 'relation' | 'fingerprint'>[]): string {
  return sha256(products.map(({ relation, fingerprint }) => `${relation} ${fingerprint}`).sort().join('\n'));
}

/** Returns digests of a layer's files, by source, vintage and region. A digest covers the bytes, readers, current places and order of the files. */
function inputsOf(files: readonly CurrentFile[], layer: Relation): Record<string, string> {
  const lines = new Map<string, string[]>();
  for (const { file, rank, whole, places } of files) {
    const key = `${file.sourceId} ${file.vintage}${file.region === null ? '' : ` region ${file.region}`}`;
    const mine = lines.get(key) ?? [];
    mine.push(JSON.stringify([layer, rank, file.sha256, file.reader, whole, places.map(({ series, place }) => `${series} ${place}`).sort()]));
    lines.set(key, mine);
  }
  return Object.fromEntries([...lines].map(([key, mine]) => [`${key} ${tableOf(layer)}`, sha256(mine.sort().join('\n'))]));
}

/**
 * Returns a function that tests whether an input may change without a change in every row. The build can then copy the rows that do not depend on the input.
 */
function mayDiffer(file: SqlFile, sources: readonly RegisteredSource[], made: ReadonlyMap<Relation, Product>): (input: string) => boolean {
  const { incremental: how } = file;
  if (how === null) return () => false;
  // The build of a table with `-- incremental: content` ends with a comparison with the published table.
  const isCompared = (input: string): boolean => made.get(input as Relation)?.file.incremental?.by === 'content';
  if (how.by === 'content') return (input) => isCompared(input) || (how.parcels === 'outline' && input === 'core.parcel');
  if (how.by === 'members') {
    const ids = how.layers.flatMap((layer) => sourceOfLayer(sources, layer)?.id ?? []);
    return (input) => isCompared(input) || ids.some((id) => input.startsWith(`${id} `));
  }
  return (input) => {
    if (input === 'core.parcel' || isCompared(input)) return true;
    const read = made.get(input as Relation);
    // The build can determine the changed rows of such an input.
    return (how.by === 'parcels' || how.by === 'sharing') && read?.incremental === true;
  };
}

function differingInputs(before: Inputs, now: Inputs): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].filter((input) => before[input] !== now[input]);
}

/** Returns whether two sets of inputs have the same names. The name of an input is a relation, or a source with vintage and layer. */
function sameNames(before: Inputs, now: Inputs): boolean {
  return Object.keys(before).length === Object.keys(now).length && Object.keys(now).every((input) => input in before);
}
