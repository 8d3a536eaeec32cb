/**
 * Where a value comes from: the section's own SQL runs again, on one parcel, and what it found on the way is named with file and place.
 */
import { sourceOfLayer } from '../contract/registry.ts';
import { inWorkspace, provideLayer, provideMembers, provideParcels, providePublished, provideRegion, rowsOf } from '../db/catalog.ts';
import type { Context } from '../run/context.ts';
import { MappaleError } from '../errors.ts';
import { findRegion, regionOfFid } from '../contract/regions.ts';
import { tableOfSection } from '../contract/sections.ts';
import { readSectionFiles, schemaOf, tableOf, type Relation, type SqlFile } from '../contract/sql-files.ts';
import { productFiles } from '../plan/products.ts';
import { publishedTables } from '../ledger/published.ts';
import { rankFiles, rowsInForce } from '../ledger/force.ts';
import { Inventory } from '../ledger/inventory.ts';

/** One feature that took part in a value. */
export interface Evidence {
  /** Field of the section, or several. */
  readonly field: string;
  /** What the feature says. */
  readonly value: string | null;
  readonly rule: string;
  /** Overlap, distance or weight; null where the rule has none. */
  readonly measure: number | null;
  readonly unit: string | null;
  readonly source: string;
  readonly vintage: string;
  readonly release: number;
  readonly file: string;
  readonly sha256: string;
  /** Path inside the file; empty: the file itself. */
  readonly member: string;
  /** Line, byte offset or feature number, as the source's notes say. */
  readonly position: number;
}

export interface Explanation {
  readonly fid: number;
  readonly section: string;
  /** The files whose SQL ran again. */
  readonly rules: readonly string[];
  /** Rows that the rule gives now, and whether the published ones are the same. */
  readonly rows: readonly unknown[];
  readonly reproduced: boolean;
  readonly evidence: readonly Evidence[];
}

/** Undoes everything that an explanation made. */
class Undo extends Error {}

/**
 * @throws MappaleError `NOT_FOUND` (exit 2) for a fid of a region that is not published
 */
export async function explain(context: Context, fid: number, section: string): Promise<Explanation> {
  const { database, sources } = context;
  const unit = regionOfFid(fid);
  const region = findRegion(unit);
  const published = await publishedTables(database, unit);
  const parcels = published.get('core.parcel');
  const file = readSectionFiles('explain').find((each) => each.section === section);
  if (region === undefined || parcels === undefined) {
    throw new MappaleError(`there is no parcel ${fid}`, { code: 'NOT_FOUND', kind: 'usage', hint: 'See which regions are published: mappale status' });
  }
  if (file === undefined) throw new Error(`sql/sections/${section} has no explain.sql`);
  const makers = new Map(productFiles(unit).map((maker) => [maker.writes[0]!, maker]));
  const rules = file.reruns.map((relation) => makers.get(relation)!);
  const isBasic = rules.some(({ writes }) => writes[0] === 'core.parcel');
  const inventory = await Inventory.read(database, sources);
  // Tables of this connection alone, in a transaction that is never committed: of an explanation nothing stays.
  const schema = 'pg_temp';
  let found: Explanation | null = null;
  await inWorkspace(database, schema, async (session) => {
    await session.transaction(async () => {
      await session.query('set transaction read write');
      await provideRegion(session, schema, unit, region.name);
      await provideMembers(session, schema, rankFiles(inventory.used(unit)));
      await provideParcels(session, schema, parcels.partition, fid, file.parcels);
      const made = new Set<Relation>(isBasic ? [] : file.reruns);
      for (const read of new Set([...rules, file].flatMap(({ reads }) => reads))) {
        if (read === 'core.parcel' || read === 'core.parcel_register' || made.has(read)) continue;
        if (schemaOf(read) === 'layer') {
          const source = sourceOfLayer(sources, read);
          await provideLayer(session, schema, read, rowsInForce(inventory.force(unit, read), inventory.files, tableOf(read), source?.places?.[tableOf(read)] ?? null));
        } else await providePublished(session, schema, read, published.get(read)?.partition ?? null);
      }
      // The parcel itself is published as it was read: its rule is the fid register, which an explanation must not touch.
      if (!isBasic) for (const rule of rules) await session.script(rule.text, rule.file);
      await session.script(file.text, file.file);
      const relation = tableOfSection(section);
      const rows = await rowsOf(session, schema, tableOf(relation), fid);
      const standing = published.get(relation);
      const before = standing === undefined ? [] : await rowsOf(session, schemaOf(relation), standing.partition, fid);
      const evidence = await session.query<Evidence & Record<string, unknown>>(
        `select e.field, e.value, e.rule, e.measure, e.unit, r.source_id as source, r.vintage, e.release_id as release,
           f.path as file, f.sha256, m.path as member, e.position
         from evidence e join ledger.release r on r.release_id = e.release_id join ledger.member m on m.member_id = e.member_id join ledger.file f on f.file_id = m.file_id
         where e.fid = $1 order by e.field, e.measure desc nulls last, e.release_id, e.member_id, e.position`,
        [fid],
      );
      found = { fid, section, rules: rules.map((rule: SqlFile) => rule.file), rows, reproduced: JSON.stringify(rows) === JSON.stringify(before), evidence };
      throw new Undo();
    }).catch((error: unknown) => {
      if (!(error instanceof Undo)) throw error;
    });
  });
  return found!;
}
