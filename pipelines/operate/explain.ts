/**
 * Explains the values of a section. Runs the section's SQL again on parcels of one region, and returns the features that the SQL used, with file and position.
 */
import { rowsOf } from '../db/comparing.ts';
import { createSchema } from '../db/ddl.ts';
import { inWorkspace, provideAll, provideMembers, provideParcels, provideRegion, viewOfPublished, type View } from '../db/layers.ts';
import { statementsOf } from '../db/statements.ts';
import type { Database } from '../db/index.ts';
import type { Context } from '../run/context.ts';
import { MappaleError } from '../errors.ts';
import { findRegion, regionOfFid } from '../contract/regions.ts';
import { SECTIONS, tableOfSection } from '../contract/sections.ts';
import { vintageText } from '../contract/vintage.ts';
import { readSectionFiles, schemaOf, tableOf, type SqlFile } from '../contract/sql-files.ts';
import { productFiles } from '../plan/products.ts';
import { publishedTables } from '../ledger/published.ts';
import type { Session } from '../db/types.ts';
import { periodOf } from '../build/attribution.ts';
import { viewOfCurrentRows } from '../build/join.ts';
import { runTableFile } from '../build/sweep.ts';
import { providePublishedParcels } from '../db/register.ts';
import { explanationSchema } from '../db/workspace.ts';
import { rankFiles } from '../ledger/current-files.ts';
import { Inventory } from '../ledger/inventory.ts';
import { rolledBack, setLocal } from '../db/transactions.ts';

/** A feature that contributed to a value. */
export interface Evidence {
  /** Name of the field, or names of the fields, to which the feature contributed. */
  readonly field: string;
  /** Value that the feature contributed. */
  readonly value: string | null;
  readonly rule: string;
  /** Overlap, distance or weight of the feature; null if the rule has no such measure. */
  readonly measure: number | null;
  readonly unit: string | null;
  readonly source: string;
  readonly vintage: string;
  readonly release: number;
  readonly file: string;
  readonly sha256: string;
  /** Path of the member inside the file; empty if the file has no members. */
  readonly member: string;
  /** Line, byte offset or feature number, as described in the source's notes. */
  readonly position: number;
}

export interface Explanation {
  readonly fid: number;
  readonly section: string;
  /** Reason why the section has no value for this kind of parcel; null if the section applies. */
  readonly not_applicable: string | null;
  /** SQL files that the explanation ran again. */
  readonly rules: readonly string[];
  /** Rows that the rules return now. `reproduced` is true if the published rows are the same. */
  readonly rows: readonly unknown[];
  readonly reproduced: boolean;
  /** True if the published record has no data in the section: null, an empty list, or a section without available values. */
  readonly empty: boolean;
  /** Coverage of the section at the parcel; null if the record has no coverage for the whole section. */
  readonly coverage: string | null;
  /** Features that contributed to the values. Empty if the section is null or empty. */
  readonly evidence: readonly Evidence[];
  /** Features that did not contribute to the values: areas covered by files, and features that are too small. */
  readonly context: readonly Evidence[];
  /** Source and reference period of the values, as in the published record. */
  readonly sources: readonly { readonly source: string; readonly reference_period: string | null }[];
}

/** Prefix of evidence fields that are not fields of the section. */
const NO_FIELD = 'meta.';

/**
 * Explains the values of a section for one parcel.
 * @param longestMs timeout of a statement in milliseconds. No timeout if omitted or on the embedded database
 * @throws MappaleError `NOT_FOUND` (exit 2) for a fid of an unpublished region; `SQL_57014` if a statement exceeds the timeout
 */
export async function explain({ database, sources }: Pick<Context, 'database' | 'sources'>, fid: number, section: string, longestMs?: number): Promise<Explanation> {
  const code = regionOfFid(fid);
  const region = findRegion(code);
  const published = await publishedTables(database, code);
  const parcels = published.get('core.parcel');
  const file = readSectionFiles('explain').find((each) => each.section === section);
  if (region === undefined || parcels === undefined) {
    throw new MappaleError(`there is no parcel ${fid}`, { code: 'NOT_FOUND', kind: 'usage', hint: 'List the published regions.', fix: 'npx mappale status' });
  }
  if (file === undefined) throw new Error(`sql/sections/${section} has no view evidence`);
  const unfit = await notApplicable(database, parcels.currentTable, fid, section);
  if (unfit !== null) {
    const relation = tableOfSection(section);
    const current = published.get(relation);
    const rows = current === undefined ? [] : await rowsOf(database, schemaOf(relation), current.currentTable, fid);
    return { fid, section, not_applicable: unfit, rules: [], rows: [], reproduced: rows.length === 0, empty: true, coverage: 'not_applicable', evidence: [], context: [], sources: [] };
  }
  const { empty, coverage } = await answerOf(database, fid, section);
  return onRerun({ database, sources }, [fid], section, longestMs ?? null, async ({ session, schema, rules }) => {
    const relation = tableOfSection(section);
    const rows = await rowsOf(session, schema, tableOf(relation), fid);
    const current = published.get(relation);
    const before = current === undefined ? [] : await rowsOf(session, schemaOf(relation), current.currentTable, fid);
    const found = await evidenceOf(session, [fid]);
    const raw = found.filter(({ field }) => !field.startsWith(NO_FIELD));
    const shown = found.map(({ fid: _fid, ...each }) => ({ ...each, vintage: vintageText(each.vintage) }));
    return {
      fid, section, not_applicable: null, rules: rules.map((rule) => rule.file), rows, reproduced: JSON.stringify(rows) === JSON.stringify(before),
      empty, coverage, sources: sourcesOf(raw),
      evidence: shown.filter(({ field }) => !field.startsWith(NO_FIELD)), context: shown.filter(({ field }) => field.startsWith(NO_FIELD)),
    };
  });
}

/**
 * Returns the sources of a section's values for many parcels of one region. The sources are the same as in `explain`, but the rules run once for all parcels.
 * If the section does not apply to a kind of parcel, such parcels have no sources.
 */
export async function explainedSources(
  context: Pick<Context, 'database' | 'sources'>, fids: readonly number[], section: string,
): Promise<ReadonlyMap<number, Explanation['sources']>> {
  const found = await onRerun(context, fids, section, null, ({ session }) => evidenceOf(session, fids));
  const values = found.filter(({ field }) => !field.startsWith(NO_FIELD));
  const byFid = new Map(fids.map((fid): [number, FoundEvidence[]] => [fid, []]));
  for (const each of values) byFid.get(each.fid)?.push(each);
  return new Map([...byFid].map(([fid, evidence]) => [fid, sourcesOf(evidence)]));
}

type FoundEvidence = Evidence & { readonly fid: number } & Record<string, unknown>;

function evidenceOf(session: Session, fids: readonly number[]): Promise<FoundEvidence[]> {
  return session.query<FoundEvidence>(statementsOf('operate')('evidence'), [fids]);
}

/** Rules of a section that ran again on some parcels, and the schema in which the rules created tables. */
interface Rerun {
  readonly session: Session;
  readonly schema: string;
  readonly rules: readonly SqlFile[];
}

/**
 * Runs the rules (SQL files) of a section again on parcels of one region, and creates the view `evidence`. The rules create their tables in a new schema. The
 * transaction is always rolled back, so nothing remains.
 * @param work called before the transaction is rolled back, with the session, the schema and the rules that ran
 */
async function onRerun<T>(
  { database, sources }: Pick<Context, 'database' | 'sources'>, fids: readonly number[], section: string, longestMs: number | null,
  work: (rerun: Rerun) => Promise<T>,
): Promise<T> {
  const code = regionOfFid(fids[0] ?? 0);
  const published = await publishedTables(database, code);
  const parcels = published.get('core.parcel');
  const region = findRegion(code);
  const file = readSectionFiles('explain').find((each) => each.section === section);
  if (parcels === undefined || region === undefined || file === undefined) throw new Error(`section ${section} of region ${code} cannot be explained`);
  const makers = productFiles(code);
  const rules = file.reruns.flatMap((relation) => makers.filter(({ writes }) => writes.includes(relation)));
  // Reads the parcel from the published table, because the rule of `core.parcel` would change the register of fids.
  const isBasic = file.reruns.includes('core.parcel');
  const inventory = await Inventory.read(database, sources);
  const reads = new Set([...rules, file].flatMap((each) => each.reads));
  // Removes the relations that `provideMembers`, `provideParcels` or the rules create.
  for (const relation of ['core.parcel', 'core.parcel_register', 'ledger.file_place', ...(isBasic ? [] : file.reruns)] as const) reads.delete(relation);
  const schema = explanationSchema();
  return inWorkspace(database, schema, (session) => rolledBack(session, async () => {
    await createSchema(session, schema);
    if (longestMs !== null) await setLocal(session, 'statement_timeout', String(longestMs));
    await provideRegion(session, schema, code, region.name);
    await provideMembers(session, schema, rankFiles(inventory.used(code)));
    await provideParcels(session, schema, parcels.currentTable, fids, file.parcels);
    await providePublishedParcels(session, schema, { schema: 'core', table: parcels.currentTable }, null);
    const views: View[] = [];
    for (const read of reads) {
      views.push(schemaOf(read) === 'layer' ? await viewOfCurrentRows(session, schema, read, { sources, inventory, region: code })
        : await viewOfPublished(session, schema, read, published.get(read)?.currentTable ?? null, 'any'));
    }
    await provideAll(session, schema, views);
    if (!isBasic) {
      for (const rule of rules) {
        const [made] = rule.writes;
        await runTableFile(session, schema, rule, (made === undefined ? undefined : published.get(made))?.currentTable ?? null, 'runs');
      }
    }
    await session.script(file.text, file.file);
    return work({ session, schema, rules });
  }));
}

/** Returns a sentence if the section does not apply to the kind of the parcel. Returns null if the section applies or the parcel does not exist. */
async function notApplicable(session: Session, partition: string, fid: number, section: string): Promise<string | null> {
  const kinds: readonly string[] = SECTIONS.find(({ name }) => name === section)?.kinds ?? [];
  const [parcel] = (await rowsOf(session, 'core', partition, fid)) as readonly { readonly kind: string }[];
  if (parcel === undefined || kinds.includes(parcel.kind)) return null;
  return `this section exists only for ${kinds.join(' and ')} parcels, and this parcel is ${parcel.kind}`;
}

/** Returns whether a section of the published record is empty, and the section's coverage. */
async function answerOf(database: Database, fid: number, section: string): Promise<Pick<Explanation, 'empty' | 'coverage'>> {
  type Answer = Readonly<Record<string, unknown>> & { readonly meta: { readonly coverage?: Readonly<Record<string, string>> } };
  const [row] = await database.query<{ record: Answer | null }>('select api.parcel($1, $2) as record', [fid, [section]]);
  const block = row?.record?.[section] ?? null;
  const isUnavailable = block !== null && (block as { available?: unknown }).available === false;
  const empty = row?.record != null && section !== 'basic' && (block === null || (Array.isArray(block) && block.length === 0) || isUnavailable);
  return { empty, coverage: row?.record?.meta.coverage?.[section] ?? null };
}

/** Returns the distinct sources and reference periods of the evidence. */
function sourcesOf(evidence: readonly Evidence[]): Explanation['sources'] {
  const vintages = new Map<string, string[]>();
  for (const { source, vintage } of evidence) vintages.set(source, [...vintages.get(source) ?? [], vintage]);
  return [...vintages].sort(([a], [b]) => (a < b ? -1 : 1)).map(([source, all]) => ({ source, reference_period: periodOf(all) || null }));
}
