/**
 * Forgets a loaded file, so that refreshes no longer use the file. Can also use a forgotten file again. In both cases the result must pass the quality gate.
 */
import { basename, resolve } from 'node:path';
import { rollback } from '../build/publish.ts';
import type { Relation } from '../contract/sql-files.ts';
import { VERSION } from '../program.ts';
import type { Context } from '../run/context.ts';
import type { Database } from '../db/index.ts';
import { statementsOf } from '../db/statements.ts';
import { MappaleError } from '../errors.ts';
import { maskTaxCode } from '../mask-tax-code.ts';
import { HeldBack, holds, restoreHold, who, type Hold } from '../ledger/hold.ts';
import type { Acceptance } from '../ledger/ledger.ts';
import { heldText } from '../plan/plan.ts';
import { publications, publishedTables, type PublishedTable } from '../ledger/published.ts';
import { withRun } from '../ledger/runs.ts';
import { refresh, type RefreshReport } from '../run/refresh.ts';
import { vintageText } from '../contract/vintage.ts';

const operate = statementsOf('operate');

export interface Forgotten {
  readonly files: readonly { readonly name: string; readonly source: string; readonly vintage: string; readonly sha256: string }[];
  /** Report of the refresh that rebuilt the affected regions. */
  readonly report: RefreshReport;
  /** Codes of the regions (0 for Italy) whose earlier publication is current again, because the refresh of a different region failed. */
  readonly restored: readonly number[];
}

interface ForgetOptions {
  /** True to use a forgotten file again. */
  readonly undo?: boolean;
  readonly reason?: string | null;
  /** User and reason for accepting a result that the quality gate refuses; null if such a result is refused. */
  readonly accept?: Acceptance | null;
}

/**
 * Forgets a file, or uses a forgotten file again. If the refresh fails, even for a single region, the file returns to its previous state, and the regions that
 * the refresh published return to their earlier publications and holds. A region without an earlier publication is refreshed again. A region that a user
 * pins or withdraws in the meantime stays unchanged.
 * @param file path, name, or at least the first 8 characters of the sha256
 * @throws MappaleError `FILE_NOT_LOADED`, `FILE_NOT_UNIQUE` (exit 2)
 */
export async function forget(context: Context, file: string, { undo = false, reason = null, accept = null }: ForgetOptions = {}): Promise<Forgotten> {
  const { database } = context;
  const [first, ...others] = await matching(database, file, undo);
  const matches = [first, ...others];
  const files = matches.map(({ fileId }) => fileId);
  const use = (): Promise<unknown> => database.query(operate('unmark_forgotten'), [files]);
  const leave = (why: string | null, at: string | null): Promise<unknown> => database.query(operate('mark_forgotten'), [files, why, at]);
  const about = { command: 'forget', arguments: { file: first.name, undo }, version: VERSION, host: context.config.host };
  await withRun(database, about, () => (undo ? use() : leave(reason, null)));
  const before: Before = { published: await publications(database), held: await holds(database) };
  const restore = async (): Promise<Restored> => {
    await (undo ? leave(first.forgottenReason, first.forgottenAt) : use());
    return restoreRegions(context, before, about);
  };
  // Refreshes all published regions. The refresh rebuilds only regions that use the file, because the other regions are not stale.
  const report = await refresh(context, { ...OPTIONS, regions: null, accept }).catch(async (error: unknown) => {
    const { failures, held } = await restore();
    for (const line of [...failures.map((failure) => failure.describe()), ...held]) context.log.warn(line);
    throw error;
  });
  const shown = matches.map(({ name, source, vintage, sha256 }) => ({ name, source, vintage, sha256 }));
  if (report.failures.length === 0) return { files: shown, report, restored: [] };
  // A region failed, for example at the quality gate. Other regions may have been published.
  const { units, failures, held, restored } = await restore();
  return {
    files: shown, restored,
    report: {
      ...report, units: [...report.units, ...units], failures: [...report.failures, ...failures], held: [...new Set([...report.held, ...held])].sort(),
    },
  };
}

const OPTIONS = { command: 'forget', data: null, parallel: 2, force: true } as const;

interface FoundFile extends Record<string, unknown> {
  readonly fileId: number;
  readonly name: string;
  readonly source: string;
  readonly vintage: string;
  readonly sha256: string;
  readonly isPath: boolean;
  /** Time at which the file was forgotten, in the form of PostgreSQL; null if the file is not forgotten. */
  readonly forgottenAt: string | null;
  readonly forgottenReason: string | null;
}

/** Returns the files that match, which have the same bytes. @param undo true to find forgotten files */
async function matching(database: Database, file: string, undo: boolean): Promise<[FoundFile, ...FoundFile[]]> {
  const found = await database.query<FoundFile>(operate('files_called'), [maskTaxCode(resolve(file)), maskTaxCode(basename(file)), file.toLowerCase()]);
  const byPath = found.filter(({ isPath }) => isPath);
  const [first, ...others] = (byPath.length > 0 ? byPath : found).filter(({ forgottenAt }) => (forgottenAt !== null) === undo);
  if (first === undefined) {
    throw new MappaleError(undo ? 'no forgotten file matches' : 'no loaded file matches', {
      code: 'FILE_NOT_LOADED', kind: 'usage', at: file, detail: `expected the path, name or sha256 of a file that is ${undo ? 'forgotten' : 'loaded'}, found none`, hint: 'List the loaded files.', fix: 'npx mappale status',
    });
  }
  if (others.some(({ sha256 }) => sha256 !== first.sha256)) {
    throw new MappaleError('several files match', {
      code: 'FILE_NOT_UNIQUE', kind: 'usage', at: file,
      detail: `expected one file, found ${[first, ...others].map(({ name, vintage, sha256 }) => `${name} (${vintageText(vintage)}, ${sha256.slice(0, 12)})`).join(', ')}`,
      hint: 'Use the first characters of the sha256 instead.', fix: `npx mappale forget ${first.sha256.slice(0, 12)}${undo ? ' --undo' : ''}`,
    });
  }
  return [first, ...others];
}

type Publications = Awaited<ReturnType<typeof publications>>;

/** Publications and holds of the regions before a refresh. */
interface Before {
  readonly published: Publications;
  readonly held: ReadonlyMap<number, Hold>;
}

interface Restored extends Pick<RefreshReport, 'units' | 'failures' | 'held'> {
  /** Codes of the regions whose earlier publication is current again. */
  readonly restored: readonly number[];
}

/**
 * Restores the regions that a refresh has published. A region that cannot be restored is listed as a failure. A region that a user has pinned since the refresh
 * is listed as held. A withdrawn region stays withdrawn.
 */
async function restoreRegions(context: Context, { published, held }: Before, about: Parameters<typeof withRun>[1]): Promise<Restored> {
  const { database } = context;
  const [restored, left, failures, kept]: [number[], number[], MappaleError[], string[]] = [[], [], [], []];
  const units: RefreshReport['units'][number][] = [];
  const changed = [...await publications(database)].filter(([region, tables]) => textOf(tables) !== textOf(published.get(region))).map(([region]) => region);
  if (changed.length === 0) return { units, failures, held: kept, restored };
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (error instanceof HeldBack) kept.push(heldText(error.hold));
      else if (error instanceof MappaleError) failures.push(error);
      else throw error;
    }
  };
  // A rollback restores exactly the earlier publication. A refresh would also publish files that a rollback or the quality gate kept back.
  await attempt(() => withRun(database, about, async ({ runId }) => {
    for (const region of changed.sort((one, other) => one - other)) {
      await attempt(async () => {
        const isRestored = await restorePublication(database, { region, runId }, published.get(region), held.get(region));
        (isRestored ? restored : left).push(region);
      });
    }
  }));
  // The quality gate compares with the tables that were just published, and must not refuse to restore the earlier tables. Checks the first publication of a
  // region as usual.
  const restoring = { who: who(context.config.host), why: 'forget failed, and the regions are restored' };
  for (const [wasPublished, accept] of [[true, restoring], [false, null]] as const) {
    const regions = left.filter((region) => region > 0 && published.has(region) === wasPublished);
    if (regions.length === 0) continue;
    await attempt(async () => {
      const done = await refresh(context, { ...OPTIONS, regions, accept });
      units.push(...done.units);
      failures.push(...done.failures);
      kept.push(...done.held);
    });
  }
  return { units, failures, held: kept, restored };
}

/**
 * Restores the publication and the hold that a region had before. @returns false if the region was not published before, or if the previous publication is a
 * different one
 * @throws HeldBack if a user has pinned or withdrawn the region
 */
async function restorePublication(
  database: Database, { region, runId }: { readonly region: number; readonly runId: number },
  before: ReadonlyMap<Relation, PublishedTable> | undefined, hold: Hold | undefined,
): Promise<boolean> {
  if (before === undefined || textOf(await publishedTables(database, region, 'previous')) !== textOf(before)) return false;
  await rollback(database, region, runId, { requested: false });
  await restoreHold(database, region, hold ?? null);
  return true;
}

/** Returns the partitions and fingerprints of published tables as text, to compare two publications. */
function textOf(tables: ReadonlyMap<Relation, PublishedTable> | undefined): string {
  return [...tables?.values() ?? []].map(({ partition, fingerprint }) => `${partition} ${fingerprint}`).sort().join('\n');
}
