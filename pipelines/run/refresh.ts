/** The whole way: what is here, what is stale, make it, check it, publish it, region by region. */
import { basename } from 'node:path';
import { check } from '../build/check.ts';
import { gate } from '../build/gate.ts';
import { dropBuild, join, leftBuilds } from '../build/join.ts';
import { publish } from '../build/publish.ts';
import { findRegion, unitName, unitSlug } from '../contract/regions.ts';
import { onEngine, sourceOfLayer } from '../contract/registry.ts';
import type { MemberFacts } from '../contract/source.ts';
import { PARCEL_LAYERS, schemaOf, type Relation } from '../contract/sql-files.ts';
import { releaseOf, type Located, type Survey } from '../contract/survey.ts';
import { vintageText } from '../contract/vintage.ts';
import { dropSchema } from '../db/catalog.ts';
import { statementsOf } from '../db/statements.ts';
import { leftStaging, stagingSchema } from '../db/workspace.ts';
import { EXIT, inputError, MappaleError } from '../errors.ts';
import { together } from '../together.ts';
import { load, recoverStaging, Repetition, type Loaded } from '../ingest/load.ts';
import { folderHint, locate } from '../ingest/locate.ts';
import { quoted } from '../typed.ts';
import { stage, type Counts, type EarlierMember, type Reusable } from '../ingest/stage.ts';
import { HeldBack, holds, releaseHold } from '../ledger/hold.ts';
import { Inventory, PUBLISHABLE } from '../ledger/inventory.ts';
import { failRelease, noteFiles, openRuns, schemaWarnings, SeenFileLedger, withRun, type Acceptance, type Run, type SchemaWarning } from '../ledger/ledger.ts';
import { assignRegion, refuseFewer, refuseTies, unlistedComuni, unplacedComuni } from '../ledger/places.ts';
import { readExperience } from '../ledger/experience.ts';
import { publications } from '../ledger/published.ts';
import { heldText, isDone, plan, staleOf, withoutFiles, type BuildJob, type Known, type LeftFile, type LoadJob, type Plan, type UnusedFile } from '../plan/plan.ts';
import { price, refuseWithoutRoom, type Price } from '../plan/price.ts';
import { duration, group, secondsSince } from '../progress.ts';
import { VERSION, type Context } from './context.ts';
import {
  leftOutByRegion, leftOutOf, omissionInBuild, omissionOf, omittedEntries, sameLeftOut, withOneMissingGdal, withholdingEntries, type LeftOut, type Omission,
  type Withholding,
} from './left-out.ts';

export interface RefreshOptions {
  /** For the ledger. */
  readonly command: string;
  /** Data folders; null: what lies there is not looked at, and counts as it did. */
  readonly data: readonly string[] | null;
  /** Regions to bring up to date; null: all that have parcels or addresses, or are published. */
  readonly regions: readonly number[] | null;
  /** How many releases, regions or tables of a region at the same time. */
  readonly parallel: number;
  /** Who accepts what the quality gate refuses, and why. */
  readonly accept: Acceptance | null;
  /** Start although the estimate says that the disk will not do. */
  readonly force: boolean;
  /** Beside other runs that are so, too, on any host; without it alone. */
  readonly concurrent?: boolean;
}

export interface ReleaseReport extends Counts {
  /** Number of the release in the ledger. */
  readonly release: number;
  readonly source: string;
  readonly vintage: string;
  readonly region: number | null;
  readonly files: readonly string[];
  readonly seconds: number;
}

export interface UnitReport {
  readonly unit: number;
  readonly name: string;
  readonly publicationId: number;
  readonly built: readonly { readonly relation: Relation; readonly rows: number; readonly why: string }[];
  readonly missing: readonly string[];
  /** What a person should know of the comuni in its files. */
  readonly notes: readonly string[];
  readonly seconds: number;
}

export interface RefreshReport {
  readonly runId: number | null;
  readonly survey: Pick<Survey, 'aside' | 'unknown'> & { readonly broken: readonly { readonly path: string; readonly error: unknown }[] };
  readonly unused: readonly UnusedFile[];
  readonly left: readonly LeftFile[];
  readonly loaded: readonly ReleaseReport[];
  readonly units: readonly UnitReport[];
  /** Regions that a person holds as they are. */
  readonly held: readonly string[];
  readonly failures: readonly MappaleError[];
  /** Files that could not be used although their regions were published, with the sections that they touch. */
  readonly leftOut: readonly LeftOut[];
  /** Added columns and cut exports: of files that were loaded now, and of files that the regions use. They do not change the exit code. */
  readonly warnings: readonly SchemaWarning[];
  readonly seconds: number;
  /** What was expected before it started; null when there was nothing to do. */
  readonly estimate: Price | null;
}

/** What a refresh would do now, and what it would cost; nothing is written. */
export interface Preview {
  readonly survey: Survey;
  readonly plan: Plan;
  readonly price: Price;
}

/** @throws MappaleError `DATA_MISSING` and `DATA_EMPTY` (exit 2) */
export async function preview(context: Context, options: Pick<RefreshOptions, 'data' | 'regions'>): Promise<Preview> {
  const { survey, planned } = await look(context, options);
  return { survey, plan: planned, price: price(planned, await readExperience(context.database)) };
}

async function look(context: Context, { data, regions }: Pick<RefreshOptions, 'data' | 'regions'>): Promise<{ survey: Survey; seen: SeenFileLedger; planned: Plan }> {
  const { database, sources, engine } = context;
  const seen = await SeenFileLedger.read(database, context.recogniser);
  const survey = data === null ? null : await locate(data, onEngine(sources, engine), seen);
  const planned = plan(await known(context, await Inventory.read(database, sources)), survey, regions);
  return { survey: survey ?? { releases: [], aside: [], unknown: [], broken: [] }, seen, planned };
}

async function known({ database, sources, engine }: Context, inventory: Inventory): Promise<Known> {
  return { sources, engine, inventory, holds: await holds(database), published: await publications(database) };
}

/**
 * Brings the asked regions up to date. The failure of one release or region does not stop the others. A region keeps its publication when a release of its
 * parcels, addresses or list of comuni failed, or a check; it is published without any other release that cannot be read.
 * @returns the report; `failures` is not empty when something could not be done
 */
export async function refresh(context: Context, options: RefreshOptions): Promise<RefreshReport> {
  const startedAt = performance.now();
  const { database, sources, log } = context;
  const { survey, seen, planned } = await look(context, options);
  await seen.write(database);
  for (const { path, error } of survey.broken) log.warn(`${path}: ${error.message} [${error.code}]: ${error.detail ?? ''}`);
  const broken = survey.broken.map(({ path, error }) => ({ path, name: basename(path), error: atPath(error, path) }));
  const trouble = new Trouble(log, broken.map(({ error }) => error), omittedEntries(broken, sources));
  const { left, came, present, gone } = planned;
  let { unused } = planned;
  const looked = new Set(planned.builds.flatMap(({ unit }) => (unit > 0 ? [unit] : [])));
  const report = async (more: Pick<RefreshReport, 'runId' | 'held' | 'loaded' | 'units' | 'estimate'>): Promise<RefreshReport> => {
    const there = (await publications(database)).keys();
    const units = [...there].filter((unit) => looked.has(unit)).sort((a, b) => a - b);
    const inventory = (await Inventory.read(database, sources)).without(trouble.unusable);
    const leftOut = await leftOutOf(database, trouble.omissions, units, inventory);
    const warnings = (await schemaWarnings(database, more.loaded.map(({ release }) => release)))
      .filter((warning) => warning.units.length === 0 || warning.units.some((unit) => unit === 0 || looked.has(unit)));
    const { aside, unknown } = survey;
    const failures = withOneMissingGdal(trouble.failures, trouble.omissions);
    return { survey: { aside, unknown, broken: survey.broken }, unused, left, failures, leftOut, warnings, seconds: secondsSince(startedAt), ...more };
  };
  /** What status prints of the run. A command that did not look at the data folders knows nothing of what is left out. */
  const noted = ({ leftOut, failures }: RefreshReport): unknown => (
    options.data === null ? null : { regions: [...looked], left_out: leftOut, failures: failures.map(notedFailure) }
  );
  if (isDone(planned)) {
    await tidy(context, options, planned.builds.map(({ unit }) => unit));
    trouble.failures.push(...(await nothingPublished(context, options)));
    const done = await report({ runId: null, held: planned.held, loaded: [], units: [], estimate: null });
    // A night with nothing to do is recorded too, because alerts look for the last success.
    if (options.command === 'watch' || came.length > 0 || gone > 0 || (options.data !== null && !(await isNoted(database, done.leftOut, looked)))) {
      await withRun(database, aboutRun(context, options), (run) => run.step('look', 'data folders', () => noteFiles(database, run.runId, present, came)),
        () => ({ exitCode: exitCodeOf(done), report: noted(done) }));
    }
    return done;
  }
  const experience = await readExperience(database);
  const estimate = price(planned, experience);
  refuseWithoutRoom(estimate, experience, options.force);
  return withRun(database, aboutRun(context, options), async (run) => {
    log.runId = run.runId;
    const most = Math.min(options.parallel, database.parallel);
    const loaded: ReleaseReport[] = [];
    const withholding: Withholding[] = withholdingEntries(broken, sources, options.regions);
    const units: UnitReport[] = [];
    /** Regions that a person held while they were built. */
    const heldBack: string[] = [];
    const load = async (job: LoadJob): Promise<void> => {
      for (let next: LoadJob | null = job; next !== null;) {
        const now: LoadJob = next;
        const { source, region } = now.located;
        const about = { source: source.id, region: region === null ? undefined : unitSlug(region) };
        const tried = await trouble.attempt(() => loadRelease(context, run, now).catch((error: unknown) => rethrow(error, about)));
        if ('done' in tried) {
          loaded.push(tried.done);
          return;
        }
        const omission = omissionOf(now.located, tried.failure);
        if (omission === null) {
          const { source, region, vintage } = now.located;
          withholding.push({ source, region, label: `${source.id} ${vintageText(vintage)}` });
          return;
        }
        trouble.omissions.push(omission);
        const unread = now.located.files.filter(({ name }) => omission.files.includes(name));
        for (const { path } of unread) trouble.unread.add(path);
        // A release has other files that may be good.
        next = withoutFiles(now, unread);
      }
    };
    /** @param tables of it at the same time */
    const build = async (job: BuildJob, inventory: Inventory, tables: number): Promise<void> => {
      const { unit } = job;
      const blocking = withholding.filter(({ source, region }) => (unit === 0 ? source.manifest.reference === true : region === null || region === unit));
      if (blocking.length > 0) {
        log.warn(`${unitName(unit)} keeps its publication: ${blocking.map(({ label }) => label).join(', ')} could not be loaded`);
        return;
      }
      const published = new Set((await database.query<{ id: number }>(statementsOf('ledger')('published_files'), [unit])).map(({ id }) => id));
      for (let next: { job: BuildJob; inventory: Inventory } | null = { job, inventory }; next !== null;) {
        const now: { job: BuildJob; inventory: Inventory } = next;
        const tried = await trouble.attempt(() => buildUnit(context, run, now.job, now.inventory, options, tables).catch((error: unknown) => {
          if (!(error instanceof HeldBack)) return rethrow(error, { region: unitSlug(unit) });
          heldBack.push(heldText(error.hold));
          log.info(heldText(error.hold));
          return null;
        }));
        if ('done' in tried) {
          if (tried.done !== null) units.push(tried.done);
          return;
        }
        const omission = omissionInBuild(tried.failure, unit, now.inventory, published, sources);
        if (omission === null) return;
        trouble.omissions.push(omission);
        for (const id of omission.fileIds) trouble.unusable.add(id);
        const without = now.inventory.without(new Set(omission.fileIds));
        const again = plan(await known(context, without), null, [unit]).builds.find((each) => each.unit === unit);
        next = again === undefined ? null : { job: again, inventory: without };
      }
    };
    const { held, regions } = await run.shared(async () => {
      const leftovers = await run.step('recover', 'workspaces', () => recoverStaging(database));
      if (leftovers.length > 0) log.info(`an interrupted run left ${leftovers.length} workspace(s); they were removed and their releases are read again`);
      if (options.data !== null) await noteFiles(database, run.runId, present, came);
      // While this run waited for its turn, another may have read the same files.
      const { loads } = options.concurrent === true ? plan(await known(context, await Inventory.read(database, sources)), survey, options.regions) : planned;
      const tried = new Set<string>();
      for (let jobs = loads; jobs.length > 0;) {
        const before = trouble.unread.size;
        for (const { fingerprint } of jobs) tried.add(fingerprint);
        await together(most, jobs, load);
        if (trouble.unread.size === before) break;
        // A file that was to supersede others could not be read: those are read instead.
        const now = plan(await known(context, await Inventory.read(database, sources)), withoutPaths(survey, trouble.unread), options.regions);
        jobs = now.loads.filter(({ fingerprint }) => !tried.has(fingerprint));
        unused = now.unused;
      }
      // What the files hold is known now: planned again, of what is loaded.
      const inventory = await placed(context, run, options, trouble.failures);
      const then = plan(await known(context, inventory), null, options.regions);
      for (const each of then.held) log.info(each);
      for (const { unit } of then.builds) if (unit > 0) looked.add(unit);
      // Italy first: regions look things up in it.
      for (const job of then.builds.filter(({ unit }) => unit === 0)) await run.italy(() => build(job, inventory, options.parallel));
      return { held: then.held, regions: then.builds.filter(({ unit }) => unit > 0).map((job) => ({ job, inventory })) };
    });
    // Regions side by side, or the tables of one.
    const tables = regions.length > 1 ? 1 : options.parallel;
    /** @returns whether another run builds it */
    const buildRegion = async ({ job, inventory }: typeof regions[number], wait: boolean): Promise<boolean> => {
      const name = unitName(job.unit);
      const turn = await run.region(job.unit, async () => {
        if (options.concurrent !== true) return build(job, inventory, tables);
        // Another run may have built it, or loaded what it is made from, since this one looked.
        const now = await Inventory.read(database, sources);
        const again = plan(await known(context, now), null, [job.unit]).builds.find(({ unit }) => unit === job.unit);
        if (again !== undefined) await build(again, now, tables);
      }, wait ? () => log.info(`${name}: another run builds it; waiting for it`) : null);
      return turn === null;
    };
    const elsewhere: typeof regions = [];
    await together(most, regions, async (each) => {
      if (await buildRegion(each, false)) elsewhere.push(each);
    });
    // What another run could not finish is done here.
    for (const each of elsewhere) await buildRegion(each, true);
    if (trouble.failures.length === trouble.omissions.length) trouble.failures.push(...(await nothingPublished(context, options)));
    return report({
      runId: run.runId, held: [...held, ...heldBack].sort(), loaded: loaded.sort(byRelease), units: units.sort((a, b) => a.unit - b.unit), estimate,
    });
  }, (done) => ({ exitCode: exitCodeOf(done), report: noted(done) }), options.concurrent);
}

/** A failure as the ledger keeps it, for metrics. `sections`: those that the quality gate refused. */
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

/** @throws the error, with its source and region if the program foresees it */
function rethrow(error: unknown, about: { readonly source?: string; readonly region?: string | undefined }): never {
  throw error instanceof MappaleError ? error.knowing(about) : error;
}

/** Failures of one refresh, and the files that are left out because of them. */
class Trouble {
  readonly failures: MappaleError[];
  readonly omissions: Omission[];
  /** Loaded files that a build could not use. */
  readonly unusable = new Set<number>();
  /** Paths of the files that could not be read. */
  readonly unread = new Set<string>();
  readonly #log: Context['log'];

  constructor(log: Context['log'], failures: MappaleError[], omissions: Omission[]) {
    this.#log = log;
    this.failures = failures;
    this.omissions = omissions;
  }

  /** Notes a failure and goes on. @throws a failure of the database, without which nothing can go on; what is no MappaleError */
  async attempt<T>(work: () => Promise<T>): Promise<{ readonly done: T } | { readonly failure: MappaleError }> {
    try {
      return { done: await work() };
    } catch (error) {
      if (!(error instanceof MappaleError)) throw error;
      // Of one cause that many files share one report is enough.
      if (!this.failures.some(({ code }) => code === 'GDAL_MISSING' && code === error.code)) this.#log.warn(error.report());
      this.failures.push(error);
      if (error.kind === 'database') throw error;
      return { failure: error };
    }
  }
}

/** What a look at the data folders would find without these files. */
function withoutPaths(survey: Survey, paths: ReadonlySet<string>): Survey {
  const releases = survey.releases.flatMap((located) => {
    const files = located.files.filter(({ path }) => !paths.has(path));
    return files.length === 0 ? [] : [files.length === located.files.length ? located : releaseOf(located, files)];
  });
  return { ...survey, releases };
}

/** Whether the last run that looked at each of these regions left out the same. */
async function isNoted(database: Context['database'], leftOut: readonly LeftOut[], units: ReadonlySet<number>): Promise<boolean> {
  const before = await leftOutByRegion(database);
  return [...units].every((unit) => sameLeftOut(before.get(unit) ?? [], unit) === sameLeftOut(leftOut, unit));
}

function aboutRun(context: Context, options: RefreshOptions): { command: string; arguments: unknown; version: string; host: string } {
  return { command: options.command, arguments: { ...options }, version: VERSION, host: context.config.host };
}

/** What is loaded now, each comune in a region. Those of which no region is known are the one's that the command names, or a failure. */
async function placed(context: Context, run: Run, options: RefreshOptions, failures: MappaleError[]): Promise<Inventory> {
  const { database, sources } = context;
  const inventory = await Inventory.read(database, sources);
  const unplaced = unplacedComuni(inventory, PARCEL_LAYERS);
  if (unplaced.length === 0) return inventory;
  const [region, ...others] = options.regions ?? [];
  if (region !== undefined && others.length === 0) {
    await assignRegion(database, run.runId, unplaced.map(({ file }) => file.fileId), region);
    return Inventory.read(database, sources);
  }
  for (const { file, places } of unplaced) {
    failures.push(inputError('a file is of a comune of which no region is known', {
      code: 'COMUNE_REGION_UNKNOWN', at: file.name, detail: `expected comuni of the ISTAT list, or a file of a region, found ${places.join(', ')}`,
      hint: 'Name its region: npx mappale load-region REGION --data FOLDER. Or load the list of comuni that has it.',
    }));
  }
  return inventory;
}

/** Files came, or a region was asked for, and nothing is published of it: that is no success. */
async function nothingPublished(context: Context, { regions, data }: RefreshOptions): Promise<MappaleError[]> {
  const there = new Set([...(await publications(context.database)).keys(), ...(await holds(context.database)).keys()]);
  if (regions !== null) return regions.filter((unit) => !there.has(unit)).map((unit) => noParcels(context, unit, data));
  there.delete(0);
  return there.size === 0 ? [noParcels(context, null, data)] : [];
}

function noParcels(context: Context, unit: number | null, data: readonly string[] | null): MappaleError {
  const titles = context.sources.filter(({ layer }) => layer.writes.some((relation) => PUBLISHABLE.includes(relation)));
  return inputError(unit === null ? 'there are no parcels and no addresses of any region' : `there are no parcels and no addresses of ${unitName(unit)}`, {
    code: 'NO_PARCELS', detail: `expected a file of ${titles.map(({ manifest }) => manifest.title).join(', or of ')}, found none with a row of it`,
    hint: 'Look what each file there is: npx mappale plan --data FOLDER. To download what is missing, before the same command again:',
    fix: folderHint(data ?? [], context.sources) ?? `npx mappale fetch ${unit === null ? 'REGION' : findRegion(unit)?.slug ?? ''} --data ${quoted(data?.[0] ?? 'data')}`,
  });
}

/** Removes what a killed run left behind, when nothing else is to do. While another run works, what lies there is its own. */
async function tidy(context: Context, options: RefreshOptions, units: readonly number[]): Promise<void> {
  const { database } = context;
  const left = [...(await leftStaging(database)), ...(await leftBuilds(database, units)), ...(await openRuns(database))];
  if (left.length === 0) return;
  await withRun(database, aboutRun(context, options), (run) => run.step('recover', 'workspaces', async () => {
    await recoverStaging(database);
    for (const unit of units) await dropBuild(database, unit);
  })).catch((error: unknown) => {
    if (!(error instanceof MappaleError) || error.kind !== 'locked') throw error;
  });
}

function atPath(error: MappaleError, path: string): MappaleError {
  return error.at === undefined ? error.knowing({ at: path }) : error;
}

function byRelease(a: ReleaseReport, b: ReleaseReport): number {
  return a.source < b.source ? -1 : a.source > b.source ? 1 : a.vintage < b.vintage ? -1 : 1;
}

async function loadRelease(context: Context, run: Run, { located, fingerprint }: LoadJob): Promise<ReleaseReport> {
  const { database, log } = context;
  const { source: { id: source }, vintage, region } = located;
  const subject = `${source} ${vintageText(vintage)}${region === null ? '' : ` ${unitName(region)}`}`;
  const startedAt = performance.now();
  const reusable = await reusableMembers(context, located);
  /** @param again members that are read although an earlier release has them */
  const stageAndLoad = async (again: ReadonlySet<string>): Promise<Loaded> => {
    const earlier: Reusable = (facts) => (again.has(facts.path) ? undefined : reusable(facts));
    const staged = await run.step('stage', subject, () => stage(database, located, fingerprint, earlier, log));
    try {
      return await run.step('load', subject, () => load(database, staged, run.runId, log), ({ releaseId, warnings }) => ({ release: releaseId, warnings }));
    } catch (error) {
      if (!(error instanceof Repetition)) throw error;
      await dropSchema(database, staged.schema);
      return stageAndLoad(new Set([...again, ...error.paths]));
    }
  };
  const { releaseId: release, records, rows, rejects, duplicates } = await stageAndLoad(new Set()).catch(async (error: unknown) => {
    // Without the database there is nothing to be noted: the next run recovers.
    const failed = error instanceof MappaleError && error.kind !== 'database' ? await failRelease(database, fingerprint, error) : null;
    if (failed !== null) await dropSchema(database, stagingSchema(failed));
    throw error;
  });
  const seconds = secondsSince(startedAt);
  log.info(`${subject}: ${group(records)} records = ${group(rows)} rows + ${group(rejects)} rejects + ${group(duplicates)} duplicates, ${duration(seconds)}`);
  return { release, source, vintage: vintageText(vintage), region, files: located.files.map(({ name }) => name), records, rows, rejects, duplicates, seconds };
}

/** Members of earlier releases, read by the same code, by name, size and CRC: a zip may be packed otherwise than it was. */
async function reusableMembers({ database }: Context, { source, region }: Located): Promise<Reusable> {
  const keyOf = ({ path, crc32, size }: MemberFacts): string => JSON.stringify([path.slice(path.lastIndexOf('/') + 1), crc32, size]);
  const parameters = [source.id, region, source.reader];
  const members = await database.query<EarlierMember & Record<string, unknown>>(statementsOf('ingest')('reusable_members'), parameters);
  const known = new Map(members.map((member) => [keyOf(member), member]));
  return (facts) => known.get(keyOf(facts));
}

/** @param parallel tables at the same time @returns null when nothing of the unit is stale */
async function buildUnit(
  context: Context, run: Run, job: BuildJob, inventory: Inventory, options: RefreshOptions, parallel: number,
): Promise<UnitReport | null> {
  const { database, sources, log } = context;
  const { unit, products, published, missing } = job;
  const startedAt = performance.now();
  const stale = staleOf(products);
  if (stale.length === 0) {
    await dropBuild(database, unit);
    return null;
  }
  const name = unitName(unit);
  const read = [...new Set(products.flatMap(({ file }) => file.reads))].filter((relation) => schemaOf(relation) === 'layer');
  // Of what this region is made from: a file of the cadastre that the provinces of another keep says nothing of it.
  if (unit !== 0 && PUBLISHABLE.every((relation) => !read.includes(relation) || inventory.force(unit, relation).files.length === 0)) {
    if (published.size === 0) throw noParcels(context, unit, options.data);
    throw new MappaleError(`${name} would be published without parcels and addresses`, {
      code: 'NOTHING_LEFT', kind: 'checks', detail: 'expected a file in force with its parcels or addresses, found none', hint: 'Put its file back; or, if it is to go, take it out of publication.',
      fix: `npx mappale withdraw ${findRegion(unit)?.slug ?? ''}`,
    });
  }
  const layers = read.map((relation) => ({ relation, force: inventory.force(unit, relation) }));
  await refuseTies(database, sources, layers);
  log.info(`${name}: building ${stale.map(({ relation }) => relation).join(', ')}`);
  const joined = await run.step('join', name, () => join(database, unit, products, published, sources, inventory, log, parallel),
    ({ seconds }) => ({ seconds: Object.fromEntries(seconds) }));
  await run.step('check', name, () => check(database, joined, name, log, parallel), (checked) => checked);
  const gated = await run.step('gate', name, () => gate(database, joined, name, options.accept, log, parallel));
  // After the gate, which says more: a comune too small for its figures may be missing, too.
  await refuseFewer(database, unit, name, layers, options.accept);
  const made = await run.step('publish', name, () => publish(database, joined, gated, sources, run.runId, parallel));
  await releaseHold(database, unit, 'rolled_back');
  const notes = unit === 0 ? [] : await unlistedComuni(database, sources, inventory, unit, name, PUBLISHABLE);
  for (const note of notes) log.warn(note);
  const seconds = secondsSince(startedAt);
  log.info(`${name}: published as ${made.publicationId}, ${duration(seconds)}`);
  const rows = new Map(made.tables.map((table) => [table.relation, table.rows]));
  return {
    unit, name, publicationId: made.publicationId, notes, seconds,
    built: joined.built.map(({ relation, stale: why }) => ({ relation, rows: rows.get(relation) ?? 0, why: why ?? '' })),
    missing: [...new Set(missing.map((relation) => sourceOfLayer(sources, relation)?.id ?? relation))],
  };
}

/** Exit codes of several failures: the first of these that occurs. */
const EXIT_ORDER = [EXIT.bug, EXIT.database, EXIT.checks, EXIT.rejects, EXIT.input, EXIT.usage, EXIT.locked] as const;

/** @returns 0 without a failure. A release that is left out counts as an input that is missing, whatever is wrong with it. */
export function exitCodeOf({ failures, leftOut }: Pick<RefreshReport, 'failures' | 'leftOut'>): number {
  const codes = failures.map((failure) => (leftOut.some((each) => each.failure === failure) ? EXIT.input : failure.exitCode));
  return EXIT_ORDER.find((code) => codes.includes(code)) ?? EXIT.done;
}
