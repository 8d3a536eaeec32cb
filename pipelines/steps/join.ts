/**
 * Step 4: layers × parcels → the tables of a region. Each SQL file under sql/core and sql/sections makes one table; its
 * header says what it reads and writes, and that is the whole dependency graph.
 */
import type { Database, Session } from '../db/index.ts';
import { analyze, createSchema, dropOthers, dropSchema, dropViews, inWorkspace, provideLayer, providePublished, provideRegion, schemasLike, tablesIn } from '../db/catalog.ts';
import { MappaleError } from '../errors.ts';
import { findRegion } from '../kit/regions.ts';
import type { Log } from '../log.ts';
import { duration } from '../progress.ts';
import type { RegisteredSource } from '../registry.ts';
import { codeDigest, readSqlFolder, schemaOf, sha256, tableOf, type Relation, type SqlFile } from '../sql-files.ts';
import { Carrying } from './carry.ts';
import type { Release } from './ledger.ts';
import { buildSchema, carrySchema, guardSchema, inUse, sourceOfLayer } from './workspace.ts';

/** A table of a unit: what makes it, what from, and whether what is published still holds. */
export interface Product {
  readonly relation: Relation;
  readonly file: SqlFile;
  /** Digest of the SQL and of everything read, down to the files. */
  readonly fingerprint: string;
  /** Relation or release → its fingerprint. */
  readonly inputs: Readonly<Record<string, string>>;
  /** Releases of the layers read, directly or through other tables. */
  readonly releases: readonly Release[];
  /** Those that its values come from: not the parcels' own, nor the codes of comuni, which every table stands on. */
  readonly cited: readonly Release[];
  /** Layers directly read that have no release. */
  readonly missing: readonly Relation[];
  /** Why it must be made again; null when what is published is current. */
  readonly stale: string | null;
  /** Of what it is made from only the parcels differ from what was published: rows of the others may be carried over. */
  readonly carry: boolean;
  /** Partition that is published now. */
  readonly published: string | null;
}

export interface PublishedTable {
  readonly relation: Relation;
  readonly partition: string;
  readonly fingerprint: string;
  readonly inputs: Readonly<Record<string, string>>;
  readonly rows: number;
  readonly digest: string;
}

/** State 4: the stale tables of a unit lie finished in its workspace. */
export interface Joined {
  readonly state: 'joined';
  readonly unit: number;
  readonly schema: string;
  readonly products: readonly Product[];
  /** Those of which a table lies in the workspace. */
  readonly built: readonly Product[];
  /** Those of which rows were carried over, and where what they are made of lies; null: none. */
  readonly carrying: Pick<Carrying, 'schema' | 'changed' | 'results' | 'provideChanged'> | null;
}

/** Files that make tables of this unit, each after what it reads. @throws Error for a cycle: a bug of the headers */
export function productFiles(unit: number): SqlFile[] {
  const files = [...readSqlFolder('sql/core'), ...readSqlFolder('sql/sections')].filter((file) => (file.unit === 'italy') === (unit === 0));
  const makers = new Map(files.map((file) => [file.writes[0]!, file]));
  const sorted: SqlFile[] = [];
  const visiting = new Set<SqlFile>();
  const visit = (file: SqlFile): void => {
    if (sorted.includes(file)) return;
    if (visiting.has(file)) throw new Error(`${file.file}: reads what is made from it`);
    visiting.add(file);
    for (const relation of file.reads) {
      const maker = makers.get(relation);
      if (maker !== undefined && maker !== file) visit(maker);
    }
    sorted.push(file);
  };
  for (const file of files) visit(file);
  return sorted;
}

/** The publication in force of a unit, by relation. */
export async function publishedTables(session: Session, unit: number, state: 'current' | 'previous' = 'current'): Promise<Map<Relation, PublishedTable>> {
  const rows = await session.query<PublishedTable & Record<string, unknown>>(
    `select t.relation, t.partition, t.fingerprint, t.inputs, t.rows, t.digest from ledger.publication_table t
     join ledger.publication p using (publication_id) where p.unit_code = $1 and p.state = $2`, [unit, state],
  );
  return new Map(rows.map((row) => [row.relation, row]));
}

/** Decides what is stale, and says why. Pure: nothing is read but its arguments. */
export function planProducts(unit: number, sources: readonly RegisteredSource[], releases: readonly Release[], published: ReadonlyMap<Relation, PublishedTable>): Product[] {
  const products = new Map<Relation, Product>();
  for (const file of productFiles(unit)) {
    const relation = file.writes[0]!;
    const inputs: Record<string, string> = { [file.file]: codeDigest(file) };
    const used = new Map<number, Release>();
    const cited = new Map<number, Release>();
    const missing: Relation[] = [];
    for (const read of file.reads) {
      if (schemaOf(read) === 'layer') {
        const source = sourceOfLayer(sources, read);
        const found = source === undefined ? [] : inUse(releases, source, unit, read);
        if (found.length === 0) missing.push(read);
        for (const release of found) {
          used.set(release.releaseId, release);
          if (source!.manifest.reference !== true || relation === 'core.parcel') cited.set(release.releaseId, release);
          inputs[`${release.sourceId} ${release.vintage}${release.region === null ? '' : ` region ${release.region}`}`] = release.fingerprint;
        }
      } else {
        const made = products.get(read);
        if (made === undefined) continue; // what a file both reads and keeps, as the register of fids
        inputs[read] = made.fingerprint;
        for (const release of made.releases) used.set(release.releaseId, release);
        if (read !== 'core.parcel') for (const release of made.cited) cited.set(release.releaseId, release);
      }
    }
    const fingerprint = sha256(JSON.stringify(Object.entries(inputs).sort()));
    const before = published.get(relation);
    const isStale = before !== undefined && before.fingerprint !== fingerprint;
    products.set(relation, {
      relation, file, fingerprint, inputs, missing,
      carry: isStale && differOnly(before.inputs, inputs, mayDiffer(file, sources, products)),
      releases: [...used.values()].sort((a, b) => a.releaseId - b.releaseId),
      cited: [...cited.values()],
      stale: before === undefined ? 'not published yet' : before.fingerprint === fingerprint ? null : difference(before.inputs, inputs),
      published: before?.partition ?? null,
    });
  }
  return [...products.values()];
}

/** Inputs in which a table that carries rows over may differ from the published one: what its unchanged rows do not depend on. */
function mayDiffer(file: SqlFile, sources: readonly RegisteredSource[], made: ReadonlyMap<Relation, Product>): (input: string) => boolean {
  const { carries } = file;
  if (carries === null) return () => false;
  if (carries.by === 'members') {
    const source = sourceOfLayer(sources, carries.layer);
    return (input) => source !== undefined && input.startsWith(`${source.id} `);
  }
  return (input) => {
    if (input === 'core.parcel') return true;
    // Of both it is the same parcels that are made anew.
    const read = made.get(input as Relation);
    return carries.by === 'parcels' && read?.carry === true && read.file.carries?.by === 'parcels';
  };
}

function differOnly(before: Readonly<Record<string, string>>, now: Readonly<Record<string, string>>, may: (input: string) => boolean): boolean {
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].every((input) => before[input] === now[input] || may(input));
}

function difference(before: Readonly<Record<string, string>>, now: Readonly<Record<string, string>>): string {
  const reasons: string[] = [];
  for (const [input, fingerprint] of Object.entries(now)) {
    if (before[input] === undefined) reasons.push(`${input} is new`);
    else if (before[input] !== fingerprint) reasons.push(`${input} changed`);
  }
  for (const input of Object.keys(before)) if (now[input] === undefined) reasons.push(`${input} is gone`);
  return reasons.join('; ');
}

/**
 * Makes the stale tables of a unit in its workspace. What an interrupted run finished there is used again.
 * @throws MappaleError of kind `database`, with file, line and column of the SQL
 */
export async function join(database: Database, unit: number, products: readonly Product[], published: ReadonlyMap<Relation, PublishedTable>, sources: readonly RegisteredSource[], releases: readonly Release[], log: Log): Promise<Joined> {
  const schema = buildSchema(unit);
  const stale = products.filter((product) => product.stale !== null);
  await prepare(database, schema, unit, stale);
  const carrying = await inWorkspace(database, schema, async (session) => {
    const finished = new Set(await tablesIn(session, schema));
    if (unit !== 0) await provideRegion(session, schema, unit, findRegion(unit)!.name);
    const provided = new Set<Relation>();
    const results = new Set(['region', ...products.map(({ relation }) => tableOf(relation))]);
    const carry = await Carrying.begin(database, session, unit, schema, products, published, log);
    const make = async (product: Product): Promise<void> => {
      const table = tableOf(product.relation);
      if (product.stale === null) {
        await providePublished(session, schema, product.relation, product.published);
        return;
      }
      // Also for what is finished: its checks look at the layers.
      await provideInputs(session, schema, product, sources, releases, unit, provided);
      if (finished.has(table)) {
        log.info(`  ${product.relation}: finished by the run before`);
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
    };
    try {
      for (const product of carry === null ? products : [...products].sort((a, b) => turn(a) - turn(b))) await make(product);
    } finally {
      // Also after a failure: nothing writes once the lock is given back.
      await carry?.settle();
    }
    return carry;
  });
  return { state: 'joined', unit, schema, products, built: stale.filter(({ relation }) => carrying?.results.get(relation)?.stands !== true), carrying };
}

/** Where rows are carried over, that comes first: copying goes on beside the SQL of the next table, and what is made whole waits for the parcels. */
function turn({ relation, stale, carry }: Product): number {
  return stale === null ? 0 : relation === 'core.parcel' ? 1 : carry ? 2 : 3;
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
  for (const schema of [guardSchema(unit), carrySchema(unit), buildSchema(unit)]) await dropSchema(session, schema);
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
    await dropSchema(session, guardSchema(unit));
    await dropSchema(session, carrySchema(unit));
    await dropViews(session, schema);
  });
}

async function provideInputs(
  session: Session, schema: string, product: Product, sources: readonly RegisteredSource[], releases: readonly Release[], unit: number, provided: Set<Relation>,
): Promise<void> {
  for (const relation of product.file.reads) {
    if (schemaOf(relation) !== 'layer' || provided.has(relation)) continue;
    provided.add(relation);
    const source = sourceOfLayer(sources, relation);
    if (source === undefined) {
      throw new MappaleError(`${product.file.file} reads ${relation}, which no source makes`, {
        code: 'LAYER_UNKNOWN', kind: 'bug', hint: 'Restore the source\'s folder under sources/, or take the relation out of the file.',
      });
    }
    await provideLayer(session, schema, relation, inUse(releases, source, unit, relation).map(({ releaseId }) => releaseId));
  }
}
