/** Builds, checks and publishes the tables of Italy and of each region, as phases of a refresh. */
import { check } from '../build/check.ts';
import { gate, type Gated } from '../build/gate.ts';
import type { Violation } from '../build/gate-rule.ts';
import { dropBuild, join } from '../build/join.ts';
import { publish } from '../build/publish.ts';
import { findRegion, regionName, regionSlug } from '../contract/regions.ts';
import { sourceOfLayer } from '../contract/registry.ts';
import { schemaOf, type Relation } from '../contract/sql-files.ts';
import { vintageText } from '../contract/vintage.ts';
import { statementsOf } from '../db/statements.ts';
import { MappaleError } from '../errors.ts';
import { bytesKey, type LoadedFile } from '../ledger/current-files.ts';
import { HeldBack } from '../ledger/hold.ts';
import { PUBLISHABLE, type Inventory } from '../ledger/inventory.ts';
import type { Acceptance } from '../ledger/ledger.ts';
import { refuseFewer, refuseTies, unlistedComuni, type CurrentLayer, type Fewer } from '../ledger/places.ts';
import { heldText, plan, staleOf, type BuildJob } from '../plan/plan.ts';
import { MOST_CHANGED } from '../plan/ways.ts';
import { duration, secondsSince } from '../progress.ts';
import { inParallel } from '../parallel.ts';
import type { Context } from './context.ts';
import { omissionInBuild } from './left-out.ts';
import { noParcels } from './no-parcels.ts';
import { readAll, readKnown, rethrow, type RefreshOptions, type Refreshing } from './refreshing.ts';

export interface BuildReport {
  readonly unit: number;
  readonly name: string;
  readonly publicationId: number;
  readonly built: readonly { readonly relation: Relation; readonly rows: number; readonly why: string }[];
  readonly missing: readonly string[];
  /** Notes on the comuni in the region's files. */
  readonly notes: readonly string[];
  readonly seconds: number;
}

interface BuildPhase {
  readonly reports: readonly BuildReport[];
  /** Messages about regions that a user pinned, withdrew or rolled back during the build. */
  readonly heldBack: readonly string[];
}

/** A region (or Italy) to build, and the inventory of the loaded files from which the tables are built. */
interface Build {
  readonly job: BuildJob;
  readonly inventory: Inventory;
}

/** Builds the national tables. Call this function before `buildRegions`, because regions read the national tables. */
export async function buildItaly(refreshing: Refreshing, jobs: readonly BuildJob[], inventory: Inventory): Promise<BuildPhase> {
  const phases: BuildPhase[] = [];
  for (const job of jobs) phases.push(await refreshing.run.italy(() => tryBuild(refreshing, { job, inventory }, refreshing.options.parallel)));
  return joined(phases);
}

/**
 * Builds several regions in parallel, or the tables of a single region in parallel. If another run is building a region, waits for that run after all other
 * regions, and then builds the region if the region is still stale.
 */
export async function buildRegions(refreshing: Refreshing, jobs: readonly BuildJob[], inventory: Inventory): Promise<BuildPhase> {
  const { context, options, run, parallel } = refreshing;
  const tables = jobs.length > 1 ? 1 : options.parallel;
  const current = async ({ region }: BuildJob): Promise<Build | null> => {
    const known = await readAll(context);
    const job = plan(known, null, [region]).builds.find((each) => each.region === region);
    return job === undefined ? null : { job, inventory: known.inventory };
  };
  const build = async (job: BuildJob): Promise<BuildPhase> => {
    // Plans the region again, because another run may have built the region, or loaded files of the region, in the meantime.
    const now = await run.current<Build | null>({ job, inventory }, () => current(job));
    return now === null ? NOTHING_BUILT : tryBuild(refreshing, now, tables);
  };
  const elsewhere: BuildJob[] = [];
  const phases = await inParallel(parallel, jobs, async (job) => {
    const phase = await run.region(job.region, () => build(job), null);
    if (phase === null) elsewhere.push(job);
    return phase ?? NOTHING_BUILT;
  });
  for (const job of elsewhere) {
    const phase = await run.region(job.region, () => build(job), () => context.log.info(`${regionName(job.region)}: another run is building this region. Waiting for the other run`));
    phases.push(phase ?? NOTHING_BUILT);
  }
  return joined(phases);
}

const NOTHING_BUILT: BuildPhase = { reports: [], heldBack: [] };

function joined(phases: readonly BuildPhase[]): BuildPhase {
  return { reports: phases.flatMap(({ reports }) => reports), heldBack: phases.flatMap(({ heldBack }) => heldBack) };
}

/**
 * Builds the tables of Italy or of a region. If a file makes the build fail, builds the tables again without that file. Builds nothing if a file that prevents
 * the publication could not be loaded.
 * @param tables number of tables to build in parallel
 */
async function tryBuild(refreshing: Refreshing, build: Build, tables: number): Promise<BuildPhase> {
  const { context, trouble } = refreshing;
  const { region } = build.job;
  const blocking = trouble.withholding.filter((each) => (
    region === 0 ? each.source.manifest.reference === true : each.region === null || each.region === region
  ));
  if (blocking.length > 0) {
    context.log.warn(`${regionName(region)} keeps its publication: ${blocking.map(({ label }) => label).join(', ')} could not be loaded`);
    return NOTHING_BUILT;
  }
  const published = new Set((await context.database.query<{ id: number }>(statementsOf('ledger')('published_files'), [region])).map(({ id }) => id));
  for (let next: Build | null = build; next !== null;) {
    const now: Build = next;
    const tried = await trouble.attempt(() => buildOrHold(refreshing, now, { published, tables }));
    if ('done' in tried) return tried.done;
    const omission = omissionInBuild(tried.failure, region, now.inventory, published, context.sources);
    if (omission === null) return NOTHING_BUILT;
    trouble.omissions.push(omission);
    for (const id of omission.fileIds) trouble.unusable.add(id);
    const inventory = now.inventory.without(new Set(omission.fileIds));
    const job = plan(await readKnown(context, inventory), null, [region]).builds.find((each) => each.region === region);
    next = job === undefined ? null : { job, inventory };
  }
  return NOTHING_BUILT;
}

interface BuildOptions {
  /** Ids of the files that the region's publication uses. */
  readonly published: ReadonlySet<number>;
  /** Number of tables to build in parallel. */
  readonly tables: number;
}

async function buildOrHold(refreshing: Refreshing, build: Build, options: BuildOptions): Promise<BuildPhase> {
  try {
    const report = await buildOne(refreshing, build, options);
    return { reports: report === null ? [] : [report], heldBack: [] };
  } catch (error) {
    if (!(error instanceof HeldBack)) return rethrow(error, { region: regionSlug(build.job.region) });
    refreshing.context.log.info(heldText(error.hold));
    return { reports: [], heldBack: [heldText(error.hold)] };
  }
}

/** Builds, checks and publishes a region. @returns null if no table of the region is stale */
async function buildOne(
  { context, run, options }: Refreshing, { job, inventory }: Build, { published: files, tables: parallel }: BuildOptions,
): Promise<BuildReport | null> {
  const { database, sources, log } = context;
  const { region, products, published, missing } = job;
  const startedAt = performance.now();
  const stale = staleOf(products);
  if (stale.length === 0) {
    await dropBuild(database, region);
    return null;
  }
  const name = regionName(region);
  const read = [...new Set(products.flatMap(({ file }) => file.reads))].filter((relation) => schemaOf(relation) === 'layer');
  requireParcels(context, options, { job, inventory }, read);
  const layers = read.map((relation) => ({ relation, current: inventory.current(region, relation) }));
  await refuseTies(database, sources, layers);
  log.info(`${name}: building ${stale.length} ${stale.length === 1 ? 'table' : 'tables'}`, { tables: stale.map(({ relation }) => relation) });
  const joined = await run.step('join', name, () => join(database, region, products, published, { sources, inventory, log, parallel, mostChanged: options.mostChanged ?? MOST_CHANGED }),
    ({ seconds }) => ({ seconds: Object.fromEntries(seconds) }));
  await run.step('check', name, () => check(database, joined, name, log, parallel), (checked) => checked);
  const newFiles = newFilesOf(files, layers, inventory.files);
  const gated = await run.step('gate', name, () => gate(database, joined, { subject: name, acceptance: options.accept, newFiles, log, parallel }));
  // Runs after the quality gate, because the gate's message has more details. The gate does not detect that a small comune is missing.
  const fewer = await refuseFewer(database, sources, region, layers, options.accept);
  const accepted = acceptFewer(gated, fewer, { name, acceptance: options.accept, log });
  const made = await run.step('publish', name, () => publish(database, joined, accepted, { sources, runId: run.runId, parallel }));
  const notes = region === 0 ? [] : await unlistedComuni(database, sources, inventory, { region, name }, PUBLISHABLE);
  for (const note of notes) log.warn(note);
  const seconds = secondsSince(startedAt);
  log.info(`${name}: published as ${made.publicationId}, ${duration(seconds)}`);
  const rows = new Map(made.tables.map((table) => [table.relation, table.rows]));
  return {
    unit: region, name, publicationId: made.publicationId, notes, seconds,
    built: joined.built.map(({ relation, stale: why }) => ({ relation, rows: rows.get(relation) ?? 0, why: why ?? '' })),
    missing: [...new Set(missing.map((relation) => sourceOfLayer(sources, relation)?.id ?? relation))],
  };
}

/**
 * Returns the names of the current files whose bytes the publication does not use, with source and vintage. Returns none if the region is not published.
 * @param published ids of the files that the publication uses
 * @param loaded all loaded files, including superseded files
 */
function newFilesOf(published: ReadonlySet<number>, layers: readonly CurrentLayer[], loaded: readonly LoadedFile[]): string[] {
  if (published.size === 0) return [];
  // A file that was read again after an update of the program has a new id.
  const known = new Set(loaded.filter(({ fileId }) => published.has(fileId)).map(bytesKey));
  const current = layers.flatMap((layer) => layer.current.files.map(({ file }) => file));
  const added = current.filter((file) => !published.has(file.fileId) && !known.has(bytesKey(file)));
  return [...new Set(added.map(({ name, sourceId, vintage }) => `${name} (${sourceId} ${vintageText(vintage)})`))].sort();
}

/** Adds files with fewer comuni or points to the accepted violations that the ledger records, and warns about each. Changes nothing without an acceptance. */
function acceptFewer(
  gated: Gated, fewer: readonly Fewer[],
  { name, acceptance, log }: { readonly name: string; readonly acceptance: Acceptance | null } & Pick<Context, 'log'>,
): Gated {
  if (acceptance === null || fewer.length === 0) return gated;
  const { who, why } = acceptance;
  const about = (figure: Fewer['figure'], comuni: string): string => (figure === 'comuni' ? `without ${comuni}` : `with fewer points in ${comuni}`);
  for (const { relation, file, figure, was, now, comuni } of fewer) {
    const change = `${relation}: ${was} → ${now}, ${about(figure, comuni)}`;
    log.warn(`${name}: published although ${file} has fewer ${figure} than the current file (${who}: ${why}): ${change}`);
  }
  const figures = fewer.map(({ relation, file, figure, was, now, least, comuni }): Violation => (
    { section: '', relation, place: `${file}, ${about(figure, comuni)}`, figure, before: was, after: now, limit: `at least ${least}` }
  ));
  return { ...gated, accepted: { ...acceptance, figures: [...gated.accepted?.figures ?? [], ...figures] } };
}

/** @throws MappaleError `NO_PARCELS` or `NOTHING_LEFT` if a region would be published without parcels and addresses */
function requireParcels(context: Context, options: RefreshOptions, { job: { region, published }, inventory }: Build, read: readonly Relation[]): void {
  // Counts only current files of this region. A layer such as a province's separate cadastre may contain only files of a different region.
  if (region === 0 || PUBLISHABLE.some((relation) => read.includes(relation) && inventory.current(region, relation).files.length > 0)) return;
  if (published.size === 0) throw noParcels(context, region, options.data);
  throw new MappaleError(`${regionName(region)} would be published without parcels and addresses`, {
    code: 'NOTHING_LEFT', kind: 'checks', detail: 'expected a current file with parcels or addresses of the region, found none',
    hint: 'Put the file back. To remove the region from publication, withdraw the region.', fix: `npx mappale withdraw ${findRegion(region)?.slug ?? ''}`,
  });
}
