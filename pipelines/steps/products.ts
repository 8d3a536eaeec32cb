/** What a unit is made of, what of it is stale, and why: decided from fingerprints alone, before anything is built. */
import type { Session } from '../db/index.ts';
import type { RegisteredSource } from '../registry.ts';
import { digestOfFacts, sqlFacts, whyChanged, type Facts } from '../fingerprint.ts';
import { readSqlFolder, schemaOf, type Relation, type SqlFile } from '../sql-files.ts';
import type { Release } from './ledger.ts';
import { inUse, sourceOfLayer } from './workspace.ts';

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
export function planProducts(unit: number, sources: readonly RegisteredSource[], releases: readonly Release[], published: ReadonlyMap<Relation, PublishedTable>, engine: Facts): Product[] {
  const products = new Map<Relation, Product>();
  for (const file of productFiles(unit)) {
    const relation = file.writes[0]!;
    const inputs: Record<string, string> = { ...sqlFacts(file), ...engine };
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
    const fingerprint = digestOfFacts(inputs);
    const before = published.get(relation);
    const isStale = before !== undefined && before.fingerprint !== fingerprint;
    products.set(relation, {
      relation, file, fingerprint, inputs, missing,
      carry: isStale && differOnly(before.inputs, inputs, mayDiffer(file, sources, products)),
      releases: [...used.values()].sort((a, b) => a.releaseId - b.releaseId),
      cited: [...cited.values()],
      stale: before === undefined ? 'not published yet' : isStale ? whyChanged(before.inputs, inputs) ?? 'what it is made from is noted in another way' : null,
      published: before?.partition ?? null,
    });
  }
  return [...products.values()];
}

/** Inputs in which a table that carries rows over may differ from the published one: what its unchanged rows do not depend on. */
function mayDiffer(file: SqlFile, sources: readonly RegisteredSource[], made: ReadonlyMap<Relation, Product>): (input: string) => boolean {
  const { carries } = file;
  if (carries === null || carries.by === 'content') return () => false;
  if (carries.by === 'members') {
    const source = sourceOfLayer(sources, carries.layer);
    return (input) => source !== undefined && input.startsWith(`${source.id} `);
  }
  return (input) => {
    if (input === 'core.parcel') return true;
    const read = made.get(input as Relation);
    // Whether it says the same is seen once it is made.
    if (read?.file.carries?.by === 'content') return true;
    // Of both it is the same parcels that are made anew.
    return carries.by === 'parcels' && read?.carry === true && read.file.carries?.by === 'parcels';
  };
}

function differOnly(before: Readonly<Record<string, string>>, now: Readonly<Record<string, string>>, may: (input: string) => boolean): boolean {
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].every((input) => before[input] === now[input] || may(input));
}
