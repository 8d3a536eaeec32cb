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
import { holds, restoreHold, who, type Hold } from '../ledger/hold.ts';
import type { Acceptance } from '../ledger/ledger.ts';
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
 * the refresh published return to their earlier publications and holds.
 * @param file path, name, or at least the first 8 characters of the sha256
 * @throws MappaleError `FILE_NOT_LOADED`, `FILE_NOT_UNIQUE` (exit 2)
 */
export async function forget(context: Context, file: string, { undo = false, reason = null, accept = null }: ForgetOptions = {}): Promise<Forgotten> {
  const { database } = context;
  const found = await database.query<{ fileId: number; name: string; source: string; vintage: string; sha256: string; isPath: boolean; forgotten: boolean }>(
    operate('files_called'), [maskTaxCode(resolve(file)), maskTaxCode(basename(file)), file.toLowerCase()],
  );
  const byPath = found.filter(({ isPath }) => isPath);
  const matches = (byPath.length > 0 ? byPath : found).filter(({ forgotten }) => forgotten === undo);
  const [first] = matches;
  if (first === undefined) {
    throw new MappaleError(undo ? 'no forgotten file matches' : 'no loaded file matches', {
      code: 'FILE_NOT_LOADED', kind: 'usage', at: file, detail: `expected the path, name or sha256 of a file that is ${undo ? 'forgotten' : 'loaded'}, found none`, hint: 'List the loaded files.', fix: 'npx mappale status',
    });
  }
  const digests = [...new Set(matches.map(({ sha256 }) => sha256))];
  if (digests.length > 1) {
    throw new MappaleError('several files match', {
      code: 'FILE_NOT_UNIQUE', kind: 'usage', at: file, detail: `expected one file, found ${matches.map(({ name, vintage, sha256 }) => `${name} (${vintageText(vintage)}, ${sha256.slice(0, 12)})`).join(', ')}`,
      hint: 'Use the first characters of the sha256 instead.', fix: `npx mappale forget ${matches[0]?.sha256.slice(0, 12) ?? 'SHA256'}${undo ? ' --undo' : ''}`,
    });
  }
  const files = matches.map(({ fileId }) => fileId);
  const mark = (state: 'forgotten' | 'loaded'): Promise<unknown> => (
    state === 'forgotten' ? database.query(operate('mark_forgotten'), [files, reason]) : database.query(operate('unmark_forgotten'), [files])
  );
  const [before, after] = undo ? ['forgotten', 'loaded'] as const : ['loaded', 'forgotten'] as const;
  const about = { command: 'forget', arguments: { file: first.name, undo }, version: VERSION, host: context.config.host };
  await withRun(database, about, () => mark(after));
  const options = { command: 'forget', data: null, parallel: 2, force: true };
  const [published, held] = [await publications(database), await holds(database)];
  const restored: number[] = [];
  /** Restores the previous state of the file and of the regions that were published in the meantime. */
  const restore = async (): Promise<Pick<RefreshReport, 'units' | 'failures'>> => {
    await mark(before);
    const changed = [...await publications(database)].filter(([region, tables]) => textOf(tables) !== textOf(published.get(region))).map(([region]) => region);
    if (changed.length === 0) return { units: [], failures: [] };
    try {
      // A rollback restores exactly the earlier publication. A refresh would also publish files that a rollback or the quality gate kept back.
      await withRun(database, about, async ({ runId }) => {
        for (const region of changed.sort((one, other) => one - other)) {
          if (await restorePublication(database, { region, runId }, published.get(region), held.get(region))) restored.push(region);
        }
      });
      const left = changed.filter((region) => region > 0 && !restored.includes(region));
      if (left.length === 0) return { units: [], failures: [] };
      // The quality gate compares with the tables that were just published, and must not refuse to restore the earlier tables.
      const restoring = { who: who(context.config.host), why: 'forget failed, and the regions are restored' };
      return await refresh(context, { ...options, regions: left, accept: restoring });
    } catch (error) {
      if (!(error instanceof MappaleError)) throw error;
      return { units: [], failures: [error] };
    }
  };
  // Refreshes all published regions. The refresh rebuilds only regions that use the file, because the other regions are not stale.
  let report = await refresh(context, { ...options, regions: null, accept }).catch(async (error: unknown) => {
    await restore();
    throw error;
  });
  if (report.failures.length > 0) {
    // A region failed, for example at the quality gate. Other regions may have been published.
    const { units, failures } = await restore();
    report = { ...report, units: [...report.units, ...units], failures: [...report.failures, ...failures] };
  }
  return { files: matches.map(({ name, source, vintage, sha256 }) => ({ name, source, vintage, sha256 })), report, restored };
}

/**
 * Restores the publication and the hold that a region had before. @returns false if the region was not published before, or if the previous publication is a
 * different one
 */
async function restorePublication(
  database: Database, { region, runId }: { readonly region: number; readonly runId: number },
  before: ReadonlyMap<Relation, PublishedTable> | undefined, hold: Hold | undefined,
): Promise<boolean> {
  if (before === undefined || textOf(await publishedTables(database, region, 'previous')) !== textOf(before)) return false;
  await rollback(database, region, runId);
  await restoreHold(database, region, hold ?? null);
  return true;
}

/** Returns the names and inputs of published tables as text. */
function textOf(tables: ReadonlyMap<Relation, PublishedTable> | undefined): string {
  return [...tables?.values() ?? []].map(({ partition, fingerprint }) => `${partition} ${fingerprint}`).sort().join('\n');
}
