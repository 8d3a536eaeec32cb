/** The whole way: what is here, what is stale, make it, check it, publish it, region by region. */
import { basename } from 'node:path';
import pLimit, { type LimitFunction } from 'p-limit';
import type { Context } from '../context.ts';
import { VERSION } from '../context.ts';
import { dropSchema } from '../db/catalog.ts';
import { EXIT, MappaleError } from '../errors.ts';
import { digestOfFacts, whyChanged, type Facts } from '../fingerprint.ts';
import { REGIONS } from '../kit/regions.ts';
import type { MemberFacts } from '../kit/source.ts';
import { duration, group } from '../progress.ts';
import { sha256, type Relation } from '../sql-files.ts';
import { check } from './check.ts';
import { gate, type Acceptance } from './gate.ts';
import { dropBuild, join, leftBuilds } from './join.ts';
import { planProducts, publishedTables, type Product } from './products.ts';
import { failRelease, markSeen, openRuns, releases as readReleases, SeenFileLedger, withRun, type Release, type Run } from './ledger.ts';
import { load, recoverStaging } from './load.ts';
import { locate, type Located, type Survey } from './locate.ts';
import { price, refuseWithoutRoom, type Price } from './price.ts';
import { publish } from './publish.ts';
import { stage, type Reusable } from './stage.ts';
import { inUse, layersOf, leftStaging, preference, sourceOfLayer, stagingSchema } from './workspace.ts';

export interface RefreshOptions {
  /** For the ledger. */
  readonly command: string;
  /** Data folders. */
  readonly data: readonly string[];
  /** Regions to bring up to date; null: all that have parcels in the data or are published. */
  readonly regions: readonly number[] | null;
  /** How many releases or regions at the same time. */
  readonly parallel: number;
  /** Who accepts what the quality gate refuses, and why. */
  readonly accept: Acceptance | null;
  /** Start although the estimate says that the disk will not do. */
  readonly force: boolean;
}

export interface ReleaseReport {
  readonly source: string;
  readonly vintage: string;
  readonly region: number | null;
  readonly files: readonly string[];
  readonly records: number;
  readonly rows: number;
  readonly rejects: number;
  readonly duplicates: number;
  readonly seconds: number;
}

export interface UnitReport {
  readonly unit: number;
  readonly name: string;
  readonly publicationId: number | null;
  readonly built: readonly { readonly relation: Relation; readonly rows: number; readonly why: string }[];
  readonly missing: readonly string[];
  readonly seconds: number;
}

export interface RefreshReport {
  readonly runId: number | null;
  readonly survey: Pick<Survey, 'aside' | 'unknown'> & { readonly broken: readonly { readonly path: string; readonly error: unknown }[] };
  readonly loaded: readonly ReleaseReport[];
  readonly units: readonly UnitReport[];
  readonly failures: readonly MappaleError[];
  readonly seconds: number;
  /** What was expected before it started; null when there was nothing to do. */
  readonly estimate: Price | null;
}

/** What a refresh would do, with reasons; nothing is written. */
export interface Plan {
  readonly survey: Survey;
  readonly toLoad: readonly { readonly located: Located; readonly why: string }[];
  readonly units: readonly { readonly unit: number; readonly stale: readonly { readonly relation: Relation; readonly why: string }[]; readonly missing: readonly Relation[] }[];
}

export function unitName(unit: number): string {
  return unit === 0 ? 'Italia' : REGIONS[unit - 1]!.name;
}

/** What a release is read with and from: its files, the source's version and SQL, the engine, and the releases of the layers that its SQL looks things up in. */
function fingerprintOf(context: Context, located: Located, loaded: readonly Release[]): { fingerprint: string; reader: string; inputs: Facts } {
  const lookedUp = layersOf(located.source.load).flatMap((relation) => {
    const provider = sourceOfLayer(context.sources, relation);
    return provider === undefined || provider.id === located.source.id ? [] : inUse(loaded, provider, located.region ?? 0, relation).map((release) => [`${provider.id} ${release.vintage}`, release.fingerprint]);
  });
  const made: Facts = { ...located.source.facts, ...context.engine, ...Object.fromEntries(lookedUp) };
  const inputs = { ...made, 'its files': located.content };
  return { reader: digestOfFacts(made), inputs, fingerprint: sha256([located.source.id, located.vintage, String(located.region), digestOfFacts(inputs)].join('\n')) };
}

/** Why a release is read: in words, beside what was last loaded of its source, vintage and region. */
function whyRead(located: Located, inputs: Facts, loaded: readonly Release[]): string {
  const before = loaded.filter((release) => release.sourceId === located.source.id && release.vintage === located.vintage && release.region === located.region).at(-1);
  if (before === undefined) return 'not loaded yet';
  if (before.fingerprint.startsWith('retry ')) return 'its rejects are to be tried again';
  return whyChanged(before.inputs, inputs) ?? 'it was loaded before, and another one after it';
}

function rolesOf(releases: readonly Located[]): string[] {
  return [...new Set(releases.flatMap(({ files }) => files.map(({ recognition }) => recognition.role)))];
}

/** Releases that the asked regions will use, of those that are here. */
function wanted(survey: Survey, regions: readonly number[] | null): Located[] {
  const chosen = new Set<Located>();
  for (const source of new Set(survey.releases.map((located) => located.source))) {
    const mine = survey.releases.filter((located) => located.source === source);
    for (const unit of regions ?? REGIONS.map(({ code }) => code)) {
      const usable = mine.filter(({ region }) => region === null || region === unit).sort(preference);
      // Of each kind of file the best: kinds that are published together may come in releases of different days.
      const best = source.manifest.keep === 'all' ? usable : rolesOf(usable).map((role) => usable.find((located) => rolesOf([located]).includes(role))!);
      for (const located of best) chosen.add(located);
    }
  }
  return survey.releases.filter((located) => chosen.has(located));
}

/** Regions to build: those asked for, else those with parcels in the data or already published. */
async function unitsOf(context: Context, options: RefreshOptions, survey: Survey): Promise<number[]> {
  if (options.regions !== null) return [...options.regions];
  const published = await context.database.query<{ unit: number }>("select unit_code::int4 as unit from ledger.publication where state = 'current' and unit_code > 0");
  const parcels = sourceOfLayer(context.sources, 'layer.cadastral_parcel');
  const found = survey.releases.filter(({ source, region }) => source.id === parcels?.id && region !== null).map(({ region }) => region!);
  return [...new Set([...published.map(({ unit }) => unit), ...found])].sort((a, b) => a - b);
}

async function look(context: Context, options: RefreshOptions): Promise<{ survey: Survey; seen: SeenFileLedger }> {
  const seen = await SeenFileLedger.read(context.database, context.recogniser);
  const survey = await locate(options.data, context.sources, seen);
  return { survey: { ...survey, releases: await withoutBroken(context, survey) }, seen };
}

/**
 * A release is not read anew without one of its files because that file is broken today: what was loaded of it counts until the
 * file is whole again, or gone.
 */
async function withoutBroken(context: Context, survey: Survey): Promise<readonly Located[]> {
  if (survey.broken.length === 0) return survey.releases;
  const held = await context.database.query<{ source: string; vintage: string; region: number | null }>(
    `select distinct r.source_id as source, r.vintage, r.region_code::int4 as region from ledger.file f join ledger.release r using (release_id)
     where r.state = 'loaded' and (f.path = any ($1) or f.name = any ($2))`, [survey.broken.map(({ path }) => path), survey.broken.map(({ path }) => basename(path))],
  );
  return survey.releases.filter((located) => !held.some(({ source, vintage, region }) => source === located.source.id && vintage === located.vintage && region === located.region));
}

/** @returns what `refresh` would do now. Tables whose layers are still to be loaded are named by the release that will change them. */
export async function plan(context: Context, options: RefreshOptions): Promise<Plan> {
  const { survey } = await look(context, options);
  return planFor(context, options, survey);
}

async function planFor(context: Context, options: RefreshOptions, survey: Survey): Promise<Plan> {
  const loaded = seenNow(context, wanted(survey, options.regions), await readReleases(context.database, 'loaded'));
  const have = new Set(loaded.map(({ fingerprint }) => fingerprint));
  const toLoad = wanted(survey, options.regions).flatMap((located) => {
    const { fingerprint, inputs } = fingerprintOf(context, located, loaded);
    return have.has(fingerprint) ? [] : [{ located, why: whyRead(located, inputs, loaded) }];
  });
  const coming = toLoad.map(({ located }, index): Release => ({
    releaseId: 2_000_000_000 + index, sourceId: located.source.id, vintage: located.vintage, region: located.region, complete: located.complete, state: 'loaded',
    fingerprint: fingerprintOf(context, located, loaded).fingerprint, records: null, rows: null, rejects: null, duplicates: null, layers: null, inputs: null, lastSeen: NOW,
  }));
  const units = [];
  for (const unit of [0, ...(await unitsOf(context, options, survey))]) {
    const products = planProducts(unit, context.sources, [...loaded, ...coming], await publishedTables(context.database, unit), context.engine);
    units.push({
      unit,
      stale: products.flatMap(({ relation, stale }) => (stale === null ? [] : [{ relation, why: stale }])),
      missing: [...new Set(products.flatMap(({ missing }) => missing))],
    });
  }
  return { survey, toLoad, units };
}

/**
 * Brings the asked regions up to date. Failures of one release or region do not stop the others; a region whose release failed is
 * left as it is published.
 * @returns the report; `failures` is not empty when something could not be done
 */
export async function refresh(context: Context, options: RefreshOptions): Promise<RefreshReport> {
  const startedAt = performance.now();
  const { survey, seen } = await look(context, options);
  const { database, log } = context;
  await seen.write(database);
  for (const { path, error } of survey.broken) log.warn(`${path}: ${error.message} [${error.code}]: ${error.detail ?? ''}`);
  const failures: MappaleError[] = survey.broken.map(({ path, error }) => atPath(error, path));
  const planned = await planFor(context, options, survey);
  if (planned.toLoad.length === 0 && planned.units.every(({ stale }) => stale.length === 0)) {
    await tidy(context, options, planned.units.map(({ unit }) => unit));
    return { runId: null, survey, loaded: [], units: [], failures, seconds: (performance.now() - startedAt) / 1000, estimate: null };
  }
  const estimate = await price(database, planned);
  refuseWithoutRoom(estimate, options.force);
  return withRun(database, { command: options.command, arguments: { ...options }, version: VERSION, host: context.config.host }, async (run) => {
    log.runId = run.runId;
    const left = await run.step('recover', 'workspaces', () => recoverStaging(database));
    if (left.length > 0) log.info(`an interrupted run left ${left.length} workspace(s); they were removed and their releases are read again`);
    const loaded: ReleaseReport[] = [];
    const failedReleases: Located[] = [];
    const limit = pLimit(Math.max(1, Math.min(options.parallel, database.parallel)));
    const releases = wanted(survey, options.regions);
    for (const stageOf of [releases.filter(({ source }) => source.manifest.reference === true), releases.filter(({ source }) => source.manifest.reference !== true)]) {
      // References one after another (they look each other up), the rest side by side.
      const one = stageOf[0]?.source.manifest.reference === true ? pLimit(1) : limit;
      await together(one, stageOf, async (located) => {
        try {
          const report = await loadRelease(context, run, located);
          if (report !== null) loaded.push(report);
        } catch (error) {
          if (!(error instanceof MappaleError)) throw error;
          failures.push(error);
          failedReleases.push(located);
          log.warn(error.report());
          if (error.kind === 'database') throw error;
        }
      });
    }
    const units: UnitReport[] = [];
    const build = async (unit: number): Promise<void> => {
      const blocking = failedReleases.filter(({ region }) => unit === 0 ? false : region === null || region === unit);
      if (blocking.length > 0) {
        log.warn(`${unitName(unit)} is left as it is published: ${blocking.map(({ source, vintage }) => `${source.id} ${vintage}`).join(', ')} could not be loaded`);
        return;
      }
      try {
        const report = await buildUnit(context, run, unit, options);
        if (report !== null) units.push(report);
      } catch (error) {
        if (!(error instanceof MappaleError)) throw error;
        failures.push(error);
        log.warn(error.report());
        if (error.kind === 'database') throw error;
      }
    };
    await build(0);
    await together(limit, await unitsOf(context, options, survey), build);
    return { runId: run.runId, survey, loaded: loaded.sort(byRelease), units: units.sort((a, b) => a.unit - b.unit), failures, seconds: (performance.now() - startedAt) / 1000, estimate };
  });
}

/**
 * Works side by side. After a failure nothing new begins, and what has begun ends before it is thrown: the writer's lock is not given
 * back while something still writes.
 */
async function together<T>(limit: LimitFunction, items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const failures: unknown[] = [];
  await Promise.all(items.map((item) => limit(async () => {
    if (failures.length > 0) return;
    try {
      await work(item);
    } catch (error) {
      failures.push(error);
    }
  })));
  if (failures.length > 0) throw failures[0];
}

/** Removes what a killed run left behind, when nothing else is to do. While another run works, what lies there is its own. */
async function tidy(context: Context, options: RefreshOptions, units: readonly number[]): Promise<void> {
  const { database } = context;
  const left = await database.session(async (session) => [...(await leftStaging(session)), ...(await leftBuilds(session, units)), ...(await openRuns(session))]);
  if (left.length === 0) return;
  try {
    await withRun(database, { command: options.command, arguments: { ...options }, version: VERSION, host: context.config.host }, (run) => run.step('recover', 'workspaces', async () => {
      await recoverStaging(database);
      for (const unit of units) await dropBuild(database, unit);
    }));
  } catch (error) {
    if (!(error instanceof MappaleError) || error.kind !== 'locked') throw error;
  }
}

function atPath(error: MappaleError, path: string): MappaleError {
  return new MappaleError(error.message, { code: error.code, kind: error.kind, at: error.at ?? path, detail: error.detail, hint: error.hint, cause: error });
}

function byRelease(a: ReleaseReport, b: ReleaseReport): number {
  return a.source < b.source ? -1 : a.source > b.source ? 1 : a.vintage < b.vintage ? -1 : 1;
}

/** Later than any run. */
const NOW = Number.MAX_SAFE_INTEGER;

/** Releases as they will count once this run has noted which files it found. */
function seenNow(context: Context, found: readonly Located[], loaded: readonly Release[]): Release[] {
  const fingerprints = new Set(found.map((located) => fingerprintOf(context, located, loaded).fingerprint));
  return loaded.map((release) => (fingerprints.has(release.fingerprint) ? { ...release, lastSeen: NOW } : release));
}

/** @returns null when the release is loaded already */
async function loadRelease(context: Context, run: Run, located: Located): Promise<ReleaseReport | null> {
  const { database, log } = context;
  const loaded = await readReleases(database, 'loaded');
  const { fingerprint, reader, inputs } = fingerprintOf(context, located, loaded);
  if (loaded.some((release) => release.fingerprint === fingerprint)) {
    await markSeen(database, run.runId, [fingerprint]);
    return null;
  }
  const subject = `${located.source.id} ${located.vintage}${located.region === null ? '' : ` ${unitName(located.region)}`}`;
  const startedAt = performance.now();
  const reusable = await reusableMembers(context, located, reader);
  let done;
  try {
    const staged = await run.step('stage', subject, () => stage(database, { ...located, source: { ...located.source, reader, facts: inputs } }, fingerprint, reusable, log));
    done = await run.step('load', subject, () => load(database, staged, context.sources, loaded, run.runId, log));
  } catch (error) {
    // Without the database there is nothing to be noted: the next run recovers.
    if (error instanceof MappaleError && error.kind !== 'database') {
      const failed = await failRelease(database, fingerprint, error);
      if (failed !== null) await database.session((session) => dropSchema(session, stagingSchema(failed)));
    }
    throw error;
  }
  const seconds = (performance.now() - startedAt) / 1000;
  log.info(`${subject}: ${group(done.records)} records = ${group(done.rows)} rows + ${group(done.rejects)} rejects + ${group(done.duplicates)} duplicates, ${duration(seconds)}`);
  return {
    source: located.source.id, vintage: located.vintage, region: located.region, files: located.files.map(({ name }) => name),
    records: done.records, rows: done.rows, rejects: done.rejects, duplicates: done.duplicates, seconds,
  };
}

/** Members of the release before, read by the same code, by path, size and CRC. */
async function reusableMembers(context: Context, located: Located, reader: string): Promise<Reusable> {
  const rows = await context.database.query<{ path: string; crc32: number; size: number; memberId: number; releaseId: number; readAs: number; records: number; rows: number; rejects: number; duplicates: number }>(
    `select m.path, m.crc32, m.size, m.member_id as "memberId", m.release_id as "releaseId", coalesce(m.taken_from, m.member_id) as "readAs", m.records, m.rows, m.rejects, m.duplicates
     from ledger.member m join ledger.release r using (release_id)
     where r.source_id = $1 and r.region_code is not distinct from $2 and r.reader = $3 and r.state = 'loaded' and m.crc32 is not null
     order by m.release_id`,
    [located.source.id, located.region, reader],
  );
  const known = new Map(rows.map((row) => [`${row.path} ${row.crc32} ${row.size}`, row]));
  return (facts: MemberFacts) => known.get(`${facts.path} ${facts.crc32 ?? ''} ${facts.size ?? ''}`);
}

/** @returns null when nothing of the unit is stale */
async function buildUnit(context: Context, run: Run, unit: number, options: RefreshOptions): Promise<UnitReport | null> {
  const { database, sources, log } = context;
  const startedAt = performance.now();
  const loaded = await readReleases(database, 'loaded');
  const standing = await publishedTables(database, unit);
  const products = planProducts(unit, sources, loaded, standing, context.engine);
  if (products.every(({ stale }) => stale === null)) {
    await dropBuild(database, unit);
    return null;
  }
  const name = unitName(unit);
  if (unit !== 0) refuseWithoutParcels(context, products, name);
  log.info(`${name}: building ${products.filter(({ stale }) => stale !== null).map(({ relation }) => relation).join(', ')}`);
  const joined = await run.step('join', name, () => join(database, unit, products, standing, sources, loaded, log));
  const checked = await run.step('check', name, () => check(database, joined, name, log));
  const gated = await run.step('gate', name, () => gate(database, checked, name, options.accept, log));
  const published = await run.step('publish', name, () => publish(database, gated, sources, run.runId));
  const rows = new Map(published.tables.map((table) => [table.relation, table.rows]));
  const seconds = (performance.now() - startedAt) / 1000;
  log.info(`${name}: published as ${published.publicationId}, ${duration(seconds)}`);
  return {
    unit, name, publicationId: published.publicationId, seconds,
    built: joined.built.map(({ relation, stale }) => ({ relation, rows: rows.get(relation) ?? 0, why: stale! })),
    missing: [...new Set(products.flatMap(({ missing }) => missing))].map((relation) => sourceOfLayer(sources, relation)?.id ?? relation).filter((id, index, all) => all.indexOf(id) === index),
  };
}

/** A region without parcels is no region: better no publication than an empty one. */
function refuseWithoutParcels(context: Context, products: readonly Product[], name: string): void {
  const parcels = products.find(({ relation }) => relation === 'core.parcel');
  const missing = parcels?.missing.find((relation) => relation === 'layer.cadastral_parcel');
  if (missing === undefined) return;
  const source = sourceOfLayer(context.sources, missing);
  throw new MappaleError(`there are no parcels of ${name}`, {
    code: 'NO_PARCELS', kind: 'input', detail: `expected a file of ${source?.manifest.title ?? missing}, found none in the data folders`,
    hint: `Download it (${source?.manifest.downloads[0]?.url ?? 'see the source\'s manifest'}) into a data folder and run the same command again.`,
  });
}

/** The exit code of a run: 0, or that of its first failure. */
export function exitCodeOf(report: RefreshReport): number {
  return report.failures[0]?.exitCode ?? EXIT.done;
}
