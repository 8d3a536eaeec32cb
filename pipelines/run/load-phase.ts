/** Reads new files, as a phase of a refresh. Stages, checks and loads each release. */
import { countUncounted } from '../build/count-changes.ts';
import { regionName, regionSlug } from '../contract/regions.ts';
import type { MemberFacts } from '../contract/source.ts';
import { releaseOf, type Located, type Survey } from '../contract/survey.ts';
import { vintageText } from '../contract/vintage.ts';
import { statementsOf } from '../db/statements.ts';
import { dropStaging } from '../db/workspace.ts';
import { MappaleError } from '../errors.ts';
import { load, recoverStaging, Repetition, type Loaded } from '../ingest/load.ts';
import { stage, type Counts, type EarlierMember, type Reusable } from '../ingest/stage.ts';
import { failRelease, noteFiles } from '../ledger/ledger.ts';
import { plan, withoutFiles, type LoadJob, type Plan } from '../plan/plan.ts';
import { barLine, duration, group, secondsSince } from '../progress.ts';
import { inParallel } from '../parallel.ts';
import type { Context } from './context.ts';
import { omissionOf } from './left-out.ts';
import { readAll, rethrow, type Refreshing } from './refreshing.ts';

export interface ReleaseReport extends Counts {
  /** Number of warnings from the source's checks. */
  readonly warnings: number;
  /** Id of the release in the ledger. */
  readonly release: number;
  readonly source: string;
  readonly vintage: string;
  readonly region: number | null;
  readonly files: readonly string[];
  readonly seconds: number;
}

interface LoadPhase {
  readonly loaded: readonly ReleaseReport[];
  readonly unused: Plan['unused'];
}

/** Completes a killed run, except its builds: counts the changes of publications, and removes the workspaces of loads. @returns the removed workspaces */
export async function recoverPublicationsAndLoads({ database, log }: Pick<Context, 'database' | 'log'>): Promise<string[]> {
  await countUncounted(database, log);
  return recoverStaging(database);
}

/** Loads the planned releases. If a file cannot be read, loads the files that this file would have superseded. */
export async function loadReleases(refreshing: Refreshing, planned: Plan): Promise<LoadPhase> {
  const { context, options, run, survey, trouble, parallel } = refreshing;
  const { database, log } = context;
  const leftovers = await run.step('recover', 'workspaces', () => recoverPublicationsAndLoads(context));
  if (leftovers.length > 0) log.info(`removed ${leftovers.length} workspace(s) of an interrupted run. The releases will be read again`);
  const replan = async (): Promise<Plan> => plan(await readAll(context), withoutPaths(survey, trouble.unread), options.regions);
  const loaded: ReleaseReport[] = [];
  const tried = new Set<string>();
  const current = await run.current(planned, replan);
  if (options.data !== null) await noteFiles(database, run.runId, current.present, current.came);
  let { loads, unused } = current;
  while (loads.length > 0) {
    const announced = announce(log, loads);
    const before = trouble.unread.size;
    for (const { fingerprint } of loads) tried.add(fingerprint);
    await inParallel(parallel, loads, async (job) => {
      const release = await tryRelease(refreshing, job);
      announced.finished();
      if (release !== null) loaded.push(release);
    });
    if (trouble.unread.size === before) break;
    const now = await replan();
    loads = now.loads.filter(({ fingerprint }) => !tried.has(fingerprint));
    unused = now.unused;
  }
  return { loaded: loaded.sort(byRelease), unused };
}

/** Prints the number of releases to load. Each call of the returned function `finished` counts one more release and prints the progress bar. */
function announce(log: Context['log'], loads: readonly LoadJob[]): { finished(): void } {
  const sources = new Set(loads.map(({ located }) => located.source.id)).size;
  log.info(`loading ${loads.length} ${loads.length === 1 ? 'release' : 'releases'} of ${sources} ${sources === 1 ? 'source' : 'sources'}`);
  let done = 0;
  return {
    finished() {
      done += 1;
      log.progress(barLine(done, loads.length, 'releases'));
    },
  };
}

/** Loads a release without the files that cannot be read. @returns null if no file of the release was loaded */
async function tryRelease(refreshing: Refreshing, job: LoadJob): Promise<ReleaseReport | null> {
  const { trouble } = refreshing;
  for (let next: LoadJob | null = job; next !== null;) {
    const now: LoadJob = next;
    const { source, region, vintage } = now.located;
    const about = { source: source.id, region: region === null ? undefined : regionSlug(region) };
    const tried = await trouble.attempt(() => loadRelease(refreshing, now).catch((error: unknown) => rethrow(error, about)));
    if ('done' in tried) return tried.done;
    const left = omissionOf(now.located, tried.failure);
    if (left === null) {
      trouble.withholding.push({ source, region, label: `${source.id} ${vintageText(vintage)}` });
      return null;
    }
    const { omission, unread } = left;
    trouble.omissions.push(omission);
    for (const { path } of unread) trouble.unread.add(path);
    // Tries again without the faulty files, because the other files of the release may be readable.
    next = withoutFiles(now, unread);
  }
  return null;
}

/** Returns a survey without the files at the given paths. */
function withoutPaths(survey: Survey, paths: ReadonlySet<string>): Survey {
  const releases = survey.releases.flatMap((located) => {
    const files = located.files.filter(({ path }) => !paths.has(path));
    return files.length === 0 ? [] : [files.length === located.files.length ? located : releaseOf(located, files)];
  });
  return { ...survey, releases };
}

function byRelease(a: ReleaseReport, b: ReleaseReport): number {
  return a.source < b.source ? -1 : a.source > b.source ? 1 : a.vintage < b.vintage ? -1 : 1;
}

async function loadRelease({ context, run }: Refreshing, { located, fingerprint }: LoadJob): Promise<ReleaseReport> {
  const { database, log } = context;
  const { source: { id: source }, vintage, region } = located;
  const subject = `${source} ${vintageText(vintage)}${region === null ? '' : ` ${regionName(region)}`}`;
  const startedAt = performance.now();
  const reusable = await reusableMembers(context, located);
  /** Stages and loads the release. @param again paths of members to read even if an earlier release contains the members */
  const stageAndLoad = async (again: ReadonlySet<string>): Promise<Loaded> => {
    const earlier: Reusable = (facts) => (again.has(facts.path) ? undefined : reusable(facts));
    const staged = await run.step('stage', subject, () => stage(database, located, fingerprint, earlier, log));
    try {
      return await run.step('load', subject, () => load(database, staged, run.runId, log), ({ releaseId, warnings }) => ({ release: releaseId, warnings }));
    } catch (error) {
      if (!(error instanceof Repetition)) throw error;
      await dropStaging(database, staged.releaseId);
      return stageAndLoad(new Set([...again, ...error.paths]));
    }
  };
  const { releaseId: release, records, rows, rejects, duplicates, warnings } = await stageAndLoad(new Set()).catch(async (error: unknown) => {
    // Records neither a failure of the database, which may be unavailable, nor an unexpected error. The next run then removes the workspace and reads the
    // release again.
    const failed = error instanceof MappaleError && error.kind !== 'database' ? await failRelease(database, fingerprint, error) : null;
    if (failed !== null) await dropStaging(database, failed);
    throw error;
  });
  const seconds = secondsSince(startedAt);
  log.debug(`${subject}: ${group(records)} records = ${group(rows)} rows + ${group(rejects)} rejects + ${group(duplicates)} duplicates, ${duration(seconds)}`);
  const files = located.files.map(({ name }) => name);
  return { release, source, vintage: vintageText(vintage), region, files, records, rows, rejects, duplicates, warnings: warnings.length, seconds };
}

/**
 * Returns a function that finds a member of an earlier release by name, size and CRC-32. Only members that were read with the same version of the reader are
 * found. The members may be in a different zip.
 */
async function reusableMembers({ database }: Context, { source, region }: Located): Promise<Reusable> {
  const keyOf = ({ path, crc32, size }: MemberFacts): string => JSON.stringify([path.slice(path.lastIndexOf('/') + 1), crc32, size]);
  const parameters = [source.id, region, source.reader];
  const members = await database.query<EarlierMember & Record<string, unknown>>(statementsOf('ingest')('reusable_members'), parameters);
  const known = new Map(members.map((member) => [keyOf(member), member]));
  return (facts) => known.get(keyOf(facts));
}
