/**
 * Forgets a loaded file, so that refreshes no longer use the file. Can also use a forgotten file again. In both cases the result must pass the quality gate.
 */
import { basename, resolve } from 'node:path';
import { VERSION } from '../program.ts';
import type { Context } from '../run/context.ts';
import { statementsOf } from '../db/statements.ts';
import { MappaleError } from '../errors.ts';
import { maskTaxCode } from '../mask-tax-code.ts';
import type { Acceptance } from '../ledger/ledger.ts';
import { withRun } from '../ledger/runs.ts';
import { refresh, type RefreshReport } from '../run/refresh.ts';
import { vintageText } from '../contract/vintage.ts';

const operate = statementsOf('operate');

export interface Forgotten {
  readonly files: readonly { readonly name: string; readonly source: string; readonly vintage: string; readonly sha256: string }[];
  /** Report of the refresh that rebuilt the affected regions. */
  readonly report: RefreshReport;
}

interface ForgetOptions {
  /** True to use a forgotten file again. */
  readonly undo?: boolean;
  readonly reason?: string | null;
  /** User and reason for accepting a result that the quality gate refuses; null if such a result is refused. */
  readonly accept?: Acceptance | null;
}

/**
 * Forgets a file, or uses a forgotten file again. If the refresh fails, even for a single region, the file returns to its previous state. @param file path,
 * name, or at least the first 8 characters of the sha256
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
  await withRun(database, { command: 'forget', arguments: { file: first.name, undo }, version: VERSION, host: context.config.host }, () => mark(after));
  // Refreshes all published regions. The refresh rebuilds only regions that use the file, because the other regions are not stale.
  const report = await refresh(context, { command: 'forget', data: null, regions: null, parallel: 2, accept, force: true }).catch(async (error: unknown) => {
    await mark(before);
    throw error;
  });
  // If a region fails, for example at the quality gate, restores the previous state of the file.
  if (report.failures.length > 0) await mark(before);
  return { files: matches.map(({ name, source, vintage, sha256 }) => ({ name, source, vintage, sha256 })), report };
}
