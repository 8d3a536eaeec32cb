/** Taking a file out of force, through the quality gate, and back. */
import { basename, resolve } from 'node:path';
import { VERSION, type Context } from '../run/context.ts';
import { statementsOf } from '../db/statements.ts';
import { MappaleError } from '../errors.ts';
import { maskTaxCode } from '../mask-tax-code.ts';
import { withRun, type Acceptance } from '../ledger/ledger.ts';
import { refresh, type RefreshReport } from '../run/refresh.ts';
import { vintageText } from '../contract/vintage.ts';

export interface Forgotten {
  readonly files: readonly { readonly name: string; readonly source: string; readonly vintage: string; readonly sha256: string }[];
  /** What was built without them; null: nothing needed to be. */
  readonly report: RefreshReport;
}

/**
 * @param file path, name, or the beginning of its sha256 (8 characters at least)
 * @param undo takes it into force again
 * @throws MappaleError `FILE_NOT_LOADED`, `FILE_NOT_UNIQUE` (exit 2)
 */
export async function forget(context: Context, file: string, undo: boolean, reason: string | null, accept: Acceptance | null): Promise<Forgotten> {
  const { database } = context;
  const found = await database.query<{ fileId: number; name: string; source: string; vintage: string; sha256: string; isPath: boolean; forgotten: boolean }>(
    statementsOf('operate')('files_called'), [maskTaxCode(resolve(file)), maskTaxCode(basename(file)), file.toLowerCase()],
  );
  const byPath = found.filter(({ isPath }) => isPath);
  const matches = (byPath.length > 0 ? byPath : found).filter(({ forgotten }) => forgotten === undo);
  const [first] = matches;
  if (first === undefined) {
    throw new MappaleError(undo ? 'no forgotten file is called so' : 'no file in the ledger is called so', {
      code: 'FILE_NOT_LOADED', kind: 'usage', at: file, detail: `expected the path, name or sha256 of a file that is ${undo ? 'forgotten' : 'loaded'}, found none`, hint: 'See what is loaded.', fix: 'npx mappale status',
    });
  }
  const digests = [...new Set(matches.map(({ sha256 }) => sha256))];
  if (digests.length > 1) {
    throw new MappaleError('several files are called so', {
      code: 'FILE_NOT_UNIQUE', kind: 'usage', at: file, detail: `expected one, found ${matches.map(({ name, vintage, sha256 }) => `${name} (${vintageText(vintage)}, ${sha256.slice(0, 12)})`).join(', ')}`,
      hint: 'Give the beginning of the sha256 instead.', fix: `npx mappale forget ${matches[0]?.sha256.slice(0, 12) ?? 'SHA256'}`,
    });
  }
  const mark = (forgotten: boolean): Promise<unknown> => database.query(
    'update ledger.file set forgotten_at = case when $2 then now() end, forgotten_reason = case when $2 then $3 end where file_id = any ($1::int4[])',
    [matches.map(({ fileId }) => fileId), forgotten, reason],
  );
  await withRun(database, { command: 'forget', arguments: { file: first.name, undo }, version: VERSION, host: context.config.host }, () => mark(!undo));
  // Every region that is published: what is not touched by the file is not stale.
  const report = await refresh(context, { command: 'forget', data: null, regions: null, parallel: 2, accept, force: true });
  // Refused by the gate: it stays in force.
  if (report.failures.length > 0) await mark(undo);
  return { files: matches.map(({ name, source, vintage, sha256 }) => ({ name, source, vintage, sha256 })), report };
}
