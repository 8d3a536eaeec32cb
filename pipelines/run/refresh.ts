/** Updates regions in phases. The phases survey the data folders, load new files, find the regions of comuni, and build and publish Italy and the regions. */
import { basename } from 'node:path';
import { onEngine } from '../contract/registry.ts';
import type { Survey } from '../contract/survey.ts';
import { isDistributed } from '../db/distributed.ts';
import { leftBuilds, leftStaging } from '../db/workspace.ts';
import { EXIT, firstExitCode, MappaleError } from '../errors.ts';
import { locate } from '../ingest/locate.ts';
import { readExperience } from '../ledger/experience.ts';
import { Inventory } from '../ledger/inventory.ts';
import { noteFiles, schemaWarnings, SeenFileLedger, type SchemaWarning } from '../ledger/ledger.ts';
import { openRuns, withRun } from '../ledger/runs.ts';
import { publications, uncountedSwaps } from '../ledger/published.ts';
import { isDone, plan, type LeftFile, type Plan, type UnusedFile } from '../plan/plan.ts';
import { price, refuseWithoutRoom, type Price } from '../plan/price.ts';
import { secondsSince } from '../progress.ts';
import type { BuildReport } from './build-phase.ts';
import { VERSION } from '../program.ts';
import type { Context } from './context.ts';
import { vectorEngineUsed } from '../formats/vector.ts';
import { leftOutByRegion, leftOutOf, omittedEntries, sameLeftOut, withholdingEntries, type LeftOut } from './left-out.ts';
import type { ReleaseReport } from './load-phase.ts';
import { nothingPublished } from './no-parcels.ts';
import { readAll, Trouble, type RefreshOptions } from './refreshing.ts';

export type { ReleaseReport, RefreshOptions, BuildReport };

export interface RefreshReport {
  readonly runId: number | null;
  readonly survey: Pick<Survey, 'aside' | 'unknown'> & { readonly broken: readonly { readonly path: string; readonly error: unknown }[] };
  readonly unused: readonly UnusedFile[];
  readonly left: readonly LeftFile[];
  readonly loaded: readonly ReleaseReport[];
  readonly units: readonly BuildReport[];
  /** Messages about regions that a user pinned, withdrew or rolled back. */
  readonly held: readonly string[];
  readonly failures: readonly MappaleError[];
  /** Files that could not be used, with the affected sections. The regions of these files were published without the files. */
  readonly leftOut: readonly LeftOut[];
  /** Warnings about added columns and incomplete exports, in files that this run loaded or that the regions use. Warnings do not change the exit code. */
  readonly warnings: readonly SchemaWarning[];
  /** Description of the engine that read vector files; null if no vector file was read. */
  readonly vectorEngine: string | null;
  readonly seconds: number;
  /** Estimated cost before the start; null if nothing had to be done. */
  readonly estimate: Price | null;
}

/** Planned steps and estimated cost of a refresh. */
export interface Preview {
  readonly survey: Survey;
  readonly plan: Plan;
  readonly price: Price;
  /** True if the tables of regions are on several nodes. */
  readonly distributed: boolean;
}

/** Plans a refresh without writing. @throws MappaleError `DATA_MISSING` or `DATA_EMPTY` (exit 2) */
export async function preview(context: Context, options: Pick<RefreshOptions, 'data' | 'regions'>): Promise<Preview> {
  const { survey, planned } = await surveyFolders(context, options);
  const { database } = context;
  return { survey, plan: planned, price: price(planned, await readExperience(database)), distributed: await isDistributed(database) };
}

interface Surveyed {
  readonly survey: Survey;
  readonly seen: SeenFileLedger;
  readonly planned: Plan;
}

async function surveyFolders(context: Context, { data, regions }: Pick<RefreshOptions, 'data' | 'regions'>): Promise<Surveyed> {
  const { database, sources, engine } = context;
  const seen = await SeenFileLedger.read(database, context.recogniser);
  const survey = data === null ? null : await locate(data, onEngine(sources, engine), seen);
  const planned = plan(await readAll(context), survey, regions);
  return { survey: survey ?? { releases: [], aside: [], unknown: [], broken: [] }, seen, planned };
}

/**
 * Updates the requested regions. If a release or region fails, the other releases and regions continue. A region keeps the current publication if a check
 * fails, or if a release with parcels, addresses or the list of comuni fails. If any other release cannot be read, the region is published without that
 * release.
 * @returns the report. `failures` is not empty if some of the work failed
 */
export async function refresh(context: Context, options: RefreshOptions): Promise<RefreshReport> {
  const startedAt = performance.now();
  const { database, log } = context;
  const { survey, seen, planned } = await surveyFolders(context, options);
  await seen.write(database);
  const trouble = troubleOf(context, options, survey);
  const seenRegions = new Set(planned.builds.flatMap(({ region }) => (region > 0 ? [region] : [])));
  const reporting = { context, survey, trouble, regions: seenRegions, startedAt };
  if (isDone(planned)) return nothingToDo(reporting, options, planned);
  const experience = await readExperience(database);
  const estimate = price(planned, experience);
  refuseWithoutRoom(estimate, experience, options);
  return withRun(database, aboutRun(context, options), async (run) => {
    log.runId = run.runId;
    const refreshing = { context, options, run, survey, trouble, parallel: Math.min(options.parallel, database.parallel) };
    const { buildRegions, loadAndPlan } = await phases();
    const { loaded, unused, held, regions, inventory, italy } = await loadAndPlan(refreshing, planned);
    for (const { region } of regions) seenRegions.add(region);
    const built = await buildRegions(refreshing, regions, inventory);
    if (trouble.failures.length === trouble.omissions.length) trouble.failures.push(...(await nothingPublished(context, options)));
    return report(reporting, {
      runId: run.runId, estimate, loaded, unused, left: planned.left, held: [...held, ...italy.heldBack, ...built.heldBack].sort(),
      units: [...italy.reports, ...built.reports].sort((a, b) => a.unit - b.unit),
    });
  }, { endingOf: (done) => ending(done, options, seenRegions), concurrent: options.concurrent ?? false });
}

/** Imports the phases on demand, because a refresh without work does not need the phases. */
const phases = (): Promise<typeof import('./phases.ts')> => import('./phases.ts');

/**
 * Logs the broken entries of the survey, and returns their failures. For each failure, the refresh leaves out the file, does not publish
 * the affected regions, or only reports the failure.
 */
function troubleOf({ sources, log }: Context, { regions }: RefreshOptions, survey: Survey): Trouble {
  for (const { path, error } of survey.broken) log.warn(`${path}: ${error.message} [${error.code}]: ${error.detail ?? ''}`);
  const broken = survey.broken.map(({ path, error }) => ({ path, name: basename(path), error: error.at === undefined ? error.knowing({ at: path }) : error }));
  return new Trouble(log, {
    failures: broken.map(({ error }) => error), omissions: omittedEntries(broken, sources), withholding: withholdingEntries(broken, sources, regions),
  });
}

/** Ends a refresh for which the plan has nothing to load and nothing to build. */
async function nothingToDo(reporting: Reporting, options: RefreshOptions, planned: Plan): Promise<RefreshReport> {
  const { context, trouble, regions } = reporting;
  const { database } = context;
  await tidy(context, options, planned.builds.map(({ region }) => region));
  trouble.failures.push(...(await nothingPublished(context, options)));
  const done = await report(reporting, { runId: null, held: planned.held, loaded: [], units: [], estimate: null, unused: planned.unused, left: planned.left });
  // Records a nightly run even without work, because alerts depend on the last success.
  const { came, present, gone } = planned;
  if (options.command === 'watch' || came.length > 0 || gone > 0 || (options.data !== null && !(await isNoted(database, done.leftOut, regions)))) {
    await withRun(database, aboutRun(context, options), (run) => run.step('look', 'data folders', () => noteFiles(database, run.runId, present, came)), {
      endingOf: () => ending(done, options, regions),
    });
  }
  return done;
}

interface Reporting {
  readonly context: Context;
  readonly survey: Survey;
  readonly trouble: Trouble;
  /** Regions whose tables the refresh compared with the loaded files. */
  readonly regions: ReadonlySet<number>;
  readonly startedAt: number;
}

async function report(
  { context: { database, sources }, survey, trouble, regions, startedAt }: Reporting,
  phases: Pick<RefreshReport, 'runId' | 'held' | 'loaded' | 'units' | 'estimate' | 'unused' | 'left'>,
): Promise<RefreshReport> {
  const published = [...(await publications(database)).keys()].filter((region) => regions.has(region)).sort((a, b) => a - b);
  const leftOut = trouble.omissions.length === 0 ? []
    : await leftOutOf(database, trouble.omissions, published, (await Inventory.read(database, sources)).without(trouble.unusable));
  const warnings = (await schemaWarnings(database, phases.loaded.map(({ release }) => release)))
    .filter((warning) => warning.units.length === 0 || warning.units.some((region) => region === 0 || regions.has(region)));
  const { aside, unknown, broken } = survey;
  const { failures } = trouble;
  return { survey: { aside, unknown, broken }, failures, leftOut, warnings, vectorEngine: vectorEngineUsed(), seconds: secondsSince(startedAt), ...phases };
}

/**
 * Returns the exit code of a run, and the facts to store in the ledger. A command without data folders stores no facts, because the command cannot determine
 * the left-out files.
 */
function ending(done: RefreshReport, { data }: RefreshOptions, regions: ReadonlySet<number>): { readonly exitCode: number; readonly report: unknown } {
  const kept = data === null ? null : { regions: [...regions], left_out: done.leftOut, failures: done.failures.map(notedFailure) };
  return { exitCode: exitCodeOf(done), report: kept };
}

/** A failure in the form that the ledger stores, for metrics. `sections` are the sections that the quality gate refused. */
interface NotedFailure {
  readonly error: string;
  readonly exit_code: number;
  readonly source: string | null;
  readonly region: string | null;
  readonly sections: readonly string[];
}

function notedFailure({ code, exitCode, source, region, data }: MappaleError): NotedFailure {
  const refused = Array.isArray(data) ? (data as readonly { readonly section?: unknown }[]) : [];
  const sections = code === 'SUSPICIOUS' ? [...new Set(refused.flatMap(({ section }) => (typeof section === 'string' ? [section] : [])))].sort() : [];
  return { error: code, exit_code: exitCode, source: source ?? null, region: region ?? null, sections };
}

/** Returns whether the ledger already has the same left-out files for the last run of each region. */
async function isNoted(database: Context['database'], leftOut: readonly LeftOut[], regions: ReadonlySet<number>): Promise<boolean> {
  const before = await leftOutByRegion(database);
  return [...regions].every((region) => sameLeftOut(before.get(region) ?? [], region) === sameLeftOut(leftOut, region));
}

function aboutRun(context: Context, options: RefreshOptions): { command: string; arguments: unknown; version: string; host: string } {
  return { command: options.command, arguments: { ...options }, version: VERSION, host: context.config.host };
}

/** Completes a killed run, as `recover` does. Does nothing if another run is active, because that run may use the workspaces. */
async function tidy(context: Context, options: RefreshOptions, regions: readonly number[]): Promise<void> {
  const { database } = context;
  const left = [...(await leftStaging(database)), ...(await leftBuilds(database, regions)), ...(await openRuns(database)), ...(await uncountedSwaps(database))];
  if (left.length === 0) return;
  await withRun(database, aboutRun(context, options), (run) => run.step('recover', 'workspaces', async () => (await phases()).recover(context, regions))).catch((error: unknown) => {
    if (!(error instanceof MappaleError) || error.kind !== 'locked') throw error;
  });
}

/** Returns the exit code of a report; 0 if nothing failed. A failure that leaves out a release counts as an unusable input (exit 3), whatever the error. */
export function exitCodeOf({ failures, leftOut }: Pick<RefreshReport, 'failures' | 'leftOut'>): number {
  return firstExitCode(failures.map((failure) => (leftOut.some((each) => each.failure === failure) ? EXIT.input : failure.exitCode)));
}
