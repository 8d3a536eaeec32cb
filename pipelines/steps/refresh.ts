/** The whole way: what is here, what is stale, make it, check it, publish it, region by region. */
import pLimit, { type LimitFunction } from 'p-limit';
import type { Context } from '../context.ts';
import { VERSION } from '../context.ts';
import { dropSchema } from '../db/catalog.ts';
import { EXIT, inputError, MappaleError } from '../errors.ts';
import { whyChanged } from '../fingerprint.ts';
import { REGIONS } from '../kit/regions.ts';
import type { MemberFacts } from '../kit/source.ts';
import { duration, group } from '../progress.ts';
import { onEngine, type RegisteredSource } from '../registry.ts';
import { sha256, type Relation } from '../sql-files.ts';
import { check } from './check.ts';
import { bytesKey, logicalKey, type LoadedFile } from './force.ts';
import { gate, type Acceptance } from './gate.ts';
import { holds, releaseHold, type Hold } from './hold.ts';
import { ADDRESSES, Inventory, PARCELS } from './inventory.ts';
import { dropBuild, join, leftBuilds } from './join.ts';
import { planProducts, productsDigest, publishedTables, type Product } from './products.ts';
import { failRelease, noteFiles, openRuns, SeenFileLedger, withRun, type Release, type Run } from './ledger.ts';
import { load, recoverStaging, Repetition } from './load.ts';
import { locate, pick, type Located, type LocatedFile, type Survey } from './locate.ts';
import { assignRegion, refuseFewer, refuseTies, unlistedComuni, unplacedComuni } from './places.ts';
import { price, refuseWithoutRoom, type Price } from './price.ts';
import { publish } from './publish.ts';
import { stage, type Reusable } from './stage.ts';
import { leftStaging, sourceOfLayer, stagingSchema } from './workspace.ts';

/** Italy as a whole is published when there is a list of its comuni. */
const COMUNI = 'layer.comune_code';

export interface RefreshOptions {
  /** For the ledger. */
  readonly command: string;
  /** Data folders; null: what lies there is not looked at, and counts as it did. */
  readonly data: readonly string[] | null;
  /** Regions to bring up to date; null: all that have parcels or addresses, or are published. */
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
  /** What a person should know of the comuni in its files. */
  readonly notes: readonly string[];
  readonly seconds: number;
}

/** A recognised file that no region is made from, and why. */
export interface UnusedFile {
  readonly path: string;
  readonly source: string;
  readonly reason: string;
}

/** A file in force that is not in the data folders any more. */
export interface LeftFile {
  readonly name: string;
  readonly source: string;
  readonly vintage: string;
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
  readonly seconds: number;
  /** What was expected before it started; null when there was nothing to do. */
  readonly estimate: Price | null;
}

/** What a refresh would do, with reasons; nothing is written. */
export interface Plan {
  readonly survey: Survey;
  readonly toLoad: readonly { readonly located: Located; readonly why: string }[];
  readonly units: readonly { readonly unit: number; readonly stale: readonly { readonly relation: Relation; readonly why: string }[]; readonly missing: readonly Relation[] }[];
  readonly unused: readonly UnusedFile[];
  readonly left: readonly LeftFile[];
  readonly held: readonly string[];
}

export function unitName(unit: number): string {
  return unit === 0 ? 'Italia' : REGIONS[unit - 1]!.name;
}

/** Digest of a release: its files, as what they were recognised, and what reads them. */
function fingerprintOf({ source, files }: Located): string {
  return sha256([source.reader, ...files.map((file) => keyOf(source, file)).sort()].join('\n'));
}

async function look(context: Context, options: RefreshOptions): Promise<{ survey: Survey; seen: SeenFileLedger }> {
  const seen = await SeenFileLedger.read(context.database, context.recogniser);
  if (options.data === null) return { survey: { releases: [], aside: [], unknown: [], broken: [] }, seen };
  return { survey: await locate(options.data, onEngine(context.sources, context.engine), seen), seen };
}

/** @returns what `refresh` would do now. Tables whose layers are still to be loaded are named by the release that will change them. */
export async function plan(context: Context, options: RefreshOptions): Promise<Plan> {
  const { survey } = await look(context, options);
  return (await planFor(context, options, survey)).plan;
}

/** What is known of a located file before it is read. */
function keyOf(source: RegisteredSource, { recognition, sha256: digest }: LocatedFile): string {
  const { role, vintage, dated, region, complete, place } = recognition;
  return logicalKey({ sourceId: source.id, role, vintage, dated: dated ?? null, region, complete, place: place ?? null, sha256: digest });
}

/** Whether a file was loaded before: as the same thing, or, by an earlier version, the same bytes as another. */
function isSame(source: RegisteredSource, file: LocatedFile, loaded: LoadedFile): boolean {
  return logicalKey(loaded) === keyOf(source, file) || bytesKey(loaded) === bytesKey({ sourceId: source.id, name: file.name, sha256: file.sha256 });
}

/** Why a located file need not be read; null: it must be. */
type Standing = { readonly loaded: LoadedFile } | { readonly reason: string } | null;

function standingOf(source: RegisteredSource, file: LocatedFile, inventory: Inventory, survey: Survey, regions: readonly number[] | null): Standing {
  const key = keyOf(source, file);
  const { region, vintage, dated, role, place } = file.recognition;
  const readings = inventory.files.filter((each) => logicalKey(each) === key);
  const loaded = readings.find(({ reader }) => reader === source.reader) ?? inventory.files.find((each) => each.forgotten && isSame(source, file, each));
  if (loaded !== undefined) return { loaded };
  if (regions !== null && region !== null && !regions.includes(region)) return { reason: `it is of ${unitName(region)}, which was not asked for` };
  if (source.manifest.keep === 'all') return null;
  const newer = survey.releases.filter((release) => release.source.id === source.id).flatMap(({ files }) => files).find(({ recognition: other, name }) =>
    name !== file.name && other.role === role && other.complete && (other.place ?? null) === null && (place ?? null) === null && (other.region === null || other.region === region)
    && (other.vintage > vintage || (other.vintage === vintage && (other.dated ?? '') > (dated ?? ''))));
  return newer === undefined ? null : { reason: `${newer.name} is newer (${newer.recognition.vintage}) and has all that it has` };
}

/** Why files are read: in words, beside the last reading of the same bytes. */
function whyRead(source: RegisteredSource, files: readonly LocatedFile[], inventory: Inventory): string {
  const before = inventory.files.filter((each) => files.some((file) => isSame(source, file, each))).at(-1);
  if (before === undefined) return 'not loaded yet';
  if (before.reader === 'retry') return 'its rejects are to be tried again';
  return whyChanged(inventory.releases.get(before.releaseId)?.inputs ?? null, source.facts) ?? 'what reads it changed';
}

interface Planned {
  readonly plan: Plan;
  /** What is loaded, as the data folders are now. */
  readonly inventory: Inventory;
  readonly came: readonly number[];
  readonly present: readonly number[];
  /** Files that left since the last look. */
  readonly gone: number;
}

async function planFor(context: Context, options: RefreshOptions, survey: Survey): Promise<Planned> {
  const { database, sources } = context;
  const before = await Inventory.read(database, sources);
  const here = new Set(survey.releases.flatMap(({ source, files }) => files.map((file) => keyOf(source, file))));
  const looked = options.data !== null;
  const isHere = (file: LoadedFile): boolean => (looked ? here.has(logicalKey(file)) : file.present);
  const came = before.files.filter((file) => isHere(file) && !file.present).map(({ fileId }) => fileId);
  const inventory = before.with(before.files.map((file) => ({ ...file, present: isHere(file), arrived: came.includes(file.fileId) ? NOW : file.arrived })));
  const toLoad: { located: Located; why: string }[] = [];
  const unused: UnusedFile[] = [];
  for (const located of survey.releases) {
    const { source } = located;
    const fresh: LocatedFile[] = [];
    for (const file of located.files) {
      const standing = standingOf(source, file, inventory, survey, options.regions);
      if (standing === null) fresh.push(file);
      else if ('reason' in standing) unused.push({ path: file.path, source: source.id, reason: standing.reason });
    }
    if (fresh.length === 0) continue;
    toLoad.push({ located: pick(located, fresh), why: whyRead(source, fresh, inventory) });
  }
  const coming = comingFiles(toLoad.map(({ located }) => located));
  const then = inventory.with([...inventory.files, ...coming.files], coming.releases);
  const standing = await holds(database);
  const units = [];
  const held: string[] = [];
  for (const unit of [0, ...(await unitsOf(context, options, then, toLoad.map(({ located }) => located)))]) {
    if (unit === 0 && then.force(0, COMUNI).files.length === 0) continue;
    const products = planProducts(unit, sources, then, await publishedTables(database, unit), context.engine);
    const hold = holdOn(standing, unit, products);
    if (hold !== null) held.push(hold);
    units.push({
      unit,
      stale: hold !== null ? [] : products.flatMap(({ relation, stale }) => (stale === null ? [] : [{ relation, why: stale }])),
      missing: [...new Set(products.flatMap(({ missing }) => missing))],
    });
  }
  const used = new Set(units.flatMap(({ unit }) => then.used(unit).map(({ fileId }) => fileId)));
  for (const located of survey.releases) {
    for (const file of located.files) {
      const loaded = standingOf(located.source, file, inventory, survey, options.regions);
      if (loaded === null || !('loaded' in loaded) || used.has(loaded.loaded.fileId)) continue;
      unused.push({ path: file.path, source: located.source.id, reason: whyUnused(loaded.loaded, then, units.map(({ unit }) => unit)) });
    }
  }
  const left = inventory.files.filter((file) => used.has(file.fileId) && !file.present).map(({ name, sourceId, vintage }) => ({ name, source: sourceId, vintage }));
  return {
    plan: { survey, toLoad, units, unused: unused.sort((a, b) => (a.path < b.path ? -1 : 1)), left, held },
    inventory, came,
    present: inventory.files.filter(({ present }) => present).map(({ fileId }) => fileId),
    gone: before.files.filter((file) => file.present && !isHere(file)).length,
  };
}

function whyUnused(file: LoadedFile, inventory: Inventory, units: readonly number[]): string {
  if (file.forgotten) return 'it was forgotten (mappale forget --undo takes it back)';
  if (file.held.length === 0) return 'nothing of it could be used';
  if (file.region !== null && !units.includes(file.region)) return `it is of ${unitName(file.region)}, which is neither asked for nor published`;
  const newer = units.flatMap((unit) => inventory.used(unit)).find((other) => other.sourceId === file.sourceId && other.role === file.role);
  return newer === undefined ? 'its places are of no region that is asked for or published' : `${newer.name} (${newer.vintage}) counts in its stead`;
}

/** Files that are still to be read, as if they were loaded: of what places they speak is not known yet. */
function comingFiles(releases: readonly Located[]): { files: LoadedFile[]; releases: Release[] } {
  const files: LoadedFile[] = [];
  const made: Release[] = [];
  for (const [index, located] of releases.entries()) {
    const releaseId = 2_000_000_000 + index;
    made.push({
      releaseId, sourceId: located.source.id, vintage: located.vintage, region: located.region, complete: located.complete, state: 'loaded',
      fingerprint: fingerprintOf(located), records: null, rows: null, rejects: null, duplicates: null, layers: null, inputs: null,
    });
    for (const { name, sha256: digest, recognition } of located.files) {
      const { role, vintage, dated, region, complete, place } = recognition;
      files.push({
        fileId: 2_000_000_000 + files.length, releaseId, sourceId: located.source.id, role, vintage, dated: dated ?? null, region, complete, place: place ?? null, assigned: null,
        name, sha256: digest, reader: located.source.reader, present: true, arrived: NOW, forgotten: false,
        held: located.source.layer.writes.map((layer) => ({ layer: layer.slice('layer.'.length), series: '', region: null, likelyRegion: null, dated: null, named: true, places: [''] })),
      });
    }
  }
  return { files, releases: made };
}

/** Regions to build: those asked for, else those with parcels or addresses, and those already published. */
async function unitsOf(context: Context, options: RefreshOptions, inventory: Inventory, coming: readonly Located[]): Promise<number[]> {
  if (options.regions !== null) return [...options.regions];
  const published = await context.database.query<{ unit: number }>("select unit_code::int4 as unit from ledger.publication where state = 'current' and unit_code > 0");
  const sources = new Set([PARCELS, ADDRESSES].map((relation) => sourceOfLayer(context.sources, relation)?.id));
  const found = coming.filter(({ source, region }) => sources.has(source.id) && region !== null).map(({ region }) => region!);
  return [...new Set([...published.map(({ unit }) => unit), ...inventory.regionsOf([PARCELS, ADDRESSES]), ...found])].sort((a, b) => a - b);
}

/** Why a unit is left as it is although its inputs may differ; null: it is not. */
function holdOn(standing: ReadonlyMap<number, Hold>, unit: number, products: readonly Product[]): string | null {
  const hold = standing.get(unit);
  if (hold === undefined) return null;
  const name = unitName(unit);
  const who = `by ${hold.heldBy} on ${hold.heldAt.slice(0, 10)}${hold.reason === null ? '' : `: ${hold.reason}`}`;
  if (hold.kind === 'pinned') return `${name} is pinned ${who} (mappale unpin ${name})`;
  if (hold.kind === 'withdrawn') return `${name} was withdrawn ${who} (mappale unpin ${name})`;
  return hold.fingerprint === productsDigest(products) ? `${name} was rolled back ${who}; it stays so until its files change (or mappale unpin ${name})` : null;
}
/** Later than any run. */
const NOW = Number.MAX_SAFE_INTEGER;

/**
 * Brings the asked regions up to date. Failures of one release or region do not stop the others; a region whose release failed is
 * left as it is published.
 * @returns the report; `failures` is not empty when something could not be done
 */
export async function refresh(context: Context, options: RefreshOptions): Promise<RefreshReport> {
  const startedAt = performance.now();
  const { database, log } = context;
  const { survey, seen } = await look(context, options);
  await seen.write(database);
  for (const { path, error } of survey.broken) log.warn(`${path}: ${error.message} [${error.code}]: ${error.detail ?? ''}`);
  const failures: MappaleError[] = survey.broken.map(({ path, error }) => atPath(error, path));
  const { plan: planned, came, present, gone } = await planFor(context, options, survey);
  const { unused, left, held } = planned;
  const seconds = (): number => (performance.now() - startedAt) / 1000;
  if (planned.toLoad.length === 0 && planned.units.every(({ stale }) => stale.length === 0)) {
    if (came.length > 0 || gone > 0) await withRun(database, aboutRun(context, options), (run) => run.step('look', 'data folders', () => noteFiles(database, run.runId, present, came)));
    await tidy(context, options, planned.units.map(({ unit }) => unit));
    return { runId: null, survey, unused, left, held, loaded: [], units: [], failures: [...failures, ...(await nothingPublished(context, options))], seconds: seconds(), estimate: null };
  }
  const estimate = await price(database, planned);
  refuseWithoutRoom(estimate, options.force);
  return withRun(database, aboutRun(context, options), async (run) => {
    log.runId = run.runId;
    const leftovers = await run.step('recover', 'workspaces', () => recoverStaging(database));
    if (leftovers.length > 0) log.info(`an interrupted run left ${leftovers.length} workspace(s); they were removed and their releases are read again`);
    if (options.data !== null) await noteFiles(database, run.runId, present, came);
    const loaded: ReleaseReport[] = [];
    const failedReleases: Located[] = [];
    const limit = pLimit(Math.max(1, Math.min(options.parallel, database.parallel)));
    await together(limit, planned.toLoad, async ({ located }) => {
      try {
        loaded.push(await loadRelease(context, run, located));
      } catch (error) {
        if (!(error instanceof MappaleError)) throw error;
        failures.push(error);
        failedReleases.push(located);
        log.warn(error.report());
        if (error.kind === 'database') throw error;
      }
    });
    const inventory = await placed(context, run, options, failures);
    const units: UnitReport[] = [];
    const kept = new Set<string>();
    const build = async (unit: number): Promise<void> => {
      const blocking = failedReleases.filter(({ source, region }) => (unit === 0 ? source.manifest.reference === true : region === null || region === unit));
      if (blocking.length > 0) {
        log.warn(`${unitName(unit)} is left as it is published: ${blocking.map(({ source, vintage }) => `${source.id} ${vintage}`).join(', ')} could not be loaded`);
        return;
      }
      try {
        const report = await buildUnit(context, run, unit, inventory, options);
        if (typeof report === 'string') kept.add(report);
        else if (report !== null) units.push(report);
      } catch (error) {
        if (!(error instanceof MappaleError)) throw error;
        failures.push(error);
        log.warn(error.report());
        if (error.kind === 'database') throw error;
      }
    };
    await build(0);
    await together(limit, await unitsOf(context, options, inventory, []), build);
    if (failures.length === 0) failures.push(...(await nothingPublished(context, options)));
    return {
      runId: run.runId, survey, unused, left, held: [...kept].sort(), loaded: loaded.sort(byRelease), units: units.sort((a, b) => a.unit - b.unit), failures, seconds: seconds(), estimate,
    };
  });
}

function aboutRun(context: Context, options: RefreshOptions): { command: string; arguments: unknown; version: string; host: string } {
  return { command: options.command, arguments: { ...options }, version: VERSION, host: context.config.host };
}

/** What is loaded now, each comune in a region. Those of which no region is known are the one's that the command names, or a failure. */
async function placed(context: Context, run: Run, options: RefreshOptions, failures: MappaleError[]): Promise<Inventory> {
  const { database, sources } = context;
  const inventory = await Inventory.read(database, sources);
  const unplaced = unplacedComuni(inventory, [PARCELS]);
  if (unplaced.length === 0) return inventory;
  const [region, ...others] = options.regions ?? [];
  if (region !== undefined && others.length === 0) {
    await assignRegion(database, run.runId, unplaced.map(({ file }) => file.fileId), region);
    return Inventory.read(database, sources);
  }
  for (const { file, places } of unplaced) {
    failures.push(inputError('a file is of a comune of which no region is known', {
      code: 'COMUNE_REGION_UNKNOWN', at: file.name, detail: `expected comuni of the ISTAT list, or a file of a region, found ${places.join(', ')}`,
      hint: 'Name its region: mappale load-region REGION --data FOLDER. Or load the list of comuni that has it.',
    }));
  }
  return inventory;
}

/** Files came, or a region was asked for, and nothing is published of it: that is no success. */
async function nothingPublished(context: Context, options: RefreshOptions): Promise<MappaleError[]> {
  const rows = await context.database.query<{ unit: number }>("select unit_code::int4 as unit from ledger.publication where state = 'current' and unit_code > 0");
  const published = new Set(rows.map(({ unit }) => unit));
  const held = await holds(context.database);
  const missing = options.regions === null ? (published.size === 0 && held.size === 0 ? [null] : []) : options.regions.filter((unit) => !published.has(unit) && !held.has(unit));
  return missing.map((unit) => noParcels(context, unit));
}

function noParcels(context: Context, unit: number | null): MappaleError {
  const titles = [PARCELS, ADDRESSES].map((relation) => sourceOfLayer(context.sources, relation)).filter((source) => source !== undefined);
  return inputError(unit === null ? 'there are no parcels and no addresses of any region' : `there are no parcels and no addresses of ${unitName(unit)}`, {
    code: 'NO_PARCELS', detail: `expected a file of ${titles.map(({ manifest }) => manifest.title).join(', or of ')}, found none with a row of it`,
    hint: `Download it (${titles[0]?.manifest.downloads[0]?.url ?? 'see the source\'s manifest'}) into a data folder and run the same command again. mappale plan --data FOLDER says what each file is.`,
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
    await withRun(database, aboutRun(context, options), (run) => run.step('recover', 'workspaces', async () => {
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

async function loadRelease(context: Context, run: Run, located: Located): Promise<ReleaseReport> {
  const { database, log } = context;
  const fingerprint = fingerprintOf(located);
  const subject = `${located.source.id} ${located.vintage}${located.region === null ? '' : ` ${unitName(located.region)}`}`;
  const startedAt = performance.now();
  const reusable = await reusableMembers(context, located);
  /** Members that are read although an earlier release has them. */
  const again = new Set<string>();
  let done;
  try {
    while (done === undefined) {
      const staged = await run.step('stage', subject, () => stage(database, located, fingerprint, (facts) => (again.has(facts.path) ? undefined : reusable(facts)), log));
      try {
        done = await run.step('load', subject, () => load(database, staged, run.runId, log));
      } catch (error) {
        if (!(error instanceof Repetition)) throw error;
        for (const path of error.paths) again.add(path);
        await dropSchema(database, staged.schema);
      }
    }
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

/** Members of earlier releases, read by the same code, by name, size and CRC: a zip may be packed otherwise than it was. */
async function reusableMembers(context: Context, located: Located): Promise<Reusable> {
  const rows = await context.database.query<{ path: string; crc32: number; size: number; memberId: number; releaseId: number; readAs: number; records: number; rows: number; rejects: number; duplicates: number }>(
    `select m.path, m.crc32, m.size, m.member_id as "memberId", m.release_id as "releaseId", coalesce(m.taken_from, m.member_id) as "readAs", m.records, m.rows, m.rejects, m.duplicates
     from ledger.member m join ledger.release r using (release_id)
     where r.source_id = $1 and r.region_code is not distinct from $2 and r.reader = $3 and r.state = 'loaded' and m.crc32 is not null and m.alone
     order by m.release_id, m.member_id`,
    [located.source.id, located.region, located.source.reader],
  );
  const key = (path: string, crc32: number | undefined, size: number | undefined): string => `${path.slice(path.lastIndexOf('/') + 1)} ${crc32 ?? ''} ${size ?? ''}`;
  const known = new Map(rows.map((row) => [key(row.path, row.crc32, row.size), row]));
  return (facts: MemberFacts) => known.get(key(facts.path, facts.crc32, facts.size));
}

/** @returns null when nothing of the unit is stale; why it is left as it is, when a person holds it */
async function buildUnit(context: Context, run: Run, unit: number, inventory: Inventory, options: RefreshOptions): Promise<UnitReport | string | null> {
  const { database, sources, log } = context;
  const startedAt = performance.now();
  if (unit === 0 && inventory.force(0, COMUNI).files.length === 0) return null;
  const standing = await publishedTables(database, unit);
  const products = planProducts(unit, sources, inventory, standing, context.engine);
  const hold = holdOn(await holds(database), unit, products);
  if (hold !== null) {
    log.info(hold);
    return hold;
  }
  if (products.every(({ stale }) => stale === null)) {
    await dropBuild(database, unit);
    return null;
  }
  const name = unitName(unit);
  if (unit !== 0 && inventory.force(unit, PARCELS).files.length === 0 && inventory.force(unit, ADDRESSES).files.length === 0) {
    if (standing.size === 0) throw noParcels(context, unit);
    throw new MappaleError(`${name} would be published without parcels and addresses`, {
      code: 'NOTHING_LEFT', kind: 'checks', detail: 'expected a file in force with its parcels or addresses, found none', hint: `To take it out of publication: mappale withdraw ${name}`,
    });
  }
  const layers = [...new Set(products.flatMap(({ file }) => file.reads))].filter((relation) => relation.startsWith('layer.'));
  await refuseTies(database, sources, layers.map((relation) => ({ relation, force: inventory.force(unit, relation) })));
  log.info(`${name}: building ${products.filter(({ stale }) => stale !== null).map(({ relation }) => relation).join(', ')}`);
  const joined = await run.step('join', name, () => join(database, unit, products, standing, sources, inventory, log));
  const checked = await run.step('check', name, () => check(database, joined, name, log));
  const gated = await run.step('gate', name, () => gate(database, checked, name, options.accept, log));
  // After the gate, which says more: a comune too small for its figures may be missing, too.
  await refuseFewer(database, unit, name, layers.map((relation) => ({ relation, force: inventory.force(unit, relation) })), options.accept);
  const published = await run.step('publish', name, () => publish(database, gated, sources, run.runId));
  await releaseHold(database, unit, 'rolled_back');
  const rows = new Map(published.tables.map((table) => [table.relation, table.rows]));
  const notes = unit === 0 ? [] : await unlistedComuni(database, sources, inventory, unit, name, [PARCELS, ADDRESSES]);
  for (const note of notes) log.warn(note);
  const seconds = (performance.now() - startedAt) / 1000;
  log.info(`${name}: published as ${published.publicationId}, ${duration(seconds)}`);
  return {
    unit, name, publicationId: published.publicationId, notes, seconds,
    built: joined.built.map(({ relation, stale }) => ({ relation, rows: rows.get(relation) ?? 0, why: stale! })),
    missing: [...new Set(products.flatMap(({ missing }) => missing))].map((relation) => sourceOfLayer(sources, relation)?.id ?? relation).filter((id, index, all) => all.indexOf(id) === index),
  };
}

/** The exit code of a run: 0, or that of its first failure. */
export function exitCodeOf(report: RefreshReport): number {
  return report.failures[0]?.exitCode ?? EXIT.done;
}
