import type { Command } from 'commander';
import { chooseSources } from '../pipelines/contract/registry.ts';
import { withContext, type Context } from '../pipelines/run/context.ts';
import { retry, type RetryFilter, type RetryOutcome } from '../pipelines/operate/retry.ts';
import { textTable } from '../pipelines/text-table.ts';
import { vintageText } from '../pipelines/contract/vintage.ts';
import { command, parseCount, print } from './command.ts';
import { statementsOf } from '../pipelines/db/statements.ts';

const operate = statementsOf('operate');

export function rejectsCommand(): Command {
  return command('rejects', [
    'mappale rejects',
    'mappale rejects --code reference_malformed --limit 5 --raw',
    'mappale rejects --retry',
  ])
    .option('--source <source>', 'only this source')
    .option('--code <code>', 'only this reason')
    .option('--limit <n>', 'number of records to list', parseCount, 20)
    .option('--raw', 'print the records as the publisher wrote them')
    .option('--retry', 'apply the current rules to each raw record; the next refresh reloads the releases whose records are now accepted')
    .option('--json', 'print as JSON')
    .action(async (options: { source?: string; code?: string; limit: number; raw?: boolean; retry?: boolean; json?: boolean }) => {
      await withContext({ access: options.retry === true ? 'write' : 'read' }, async (context) => {
        if (options.source !== undefined) chooseSources(context.sources, [options.source]);
        if (options.retry === true) {
          const outcomes = await retry(context, options);
          print(options.json, outcomes, () => (outcomes.length === 0 ? noReject(options) : describeRetry(outcomes)));
          return;
        }
        const summary = await context.database.query<{ source: string; vintage: string; code: string; records: number }>(
          operate('reject_counts'),
          [options.source ?? null, options.code ?? null],
        );
        const list = await listRejects(context, options);
        print(options.json, { summary, rejects: list }, () => summary.length === 0 ? noReject(options) : [
          textTable(summary.map((row) => [row.source, vintageText(row.vintage), row.code, row.records]), ['source', 'vintage', 'reason', 'records']), '',
          ...list.map(({ file, member, position, code, message, raw }) => `${file}${member === '' ? '' : `!${member}`}:${position}  ${code}: ${message}${options.raw === true ? `\n    ${raw}` : ''}`),
        ].join('\n'));
      });
    });
}

/** Returns the text for an empty result. Names the filters, because other records may have been rejected. */
function noReject({ source, code }: RetryFilter): string {
  const filters = [...(source === undefined ? [] : [`--source ${source}`]), ...(code === undefined ? [] : [`--code ${code}`])];
  return filters.length === 0 ? 'no record was rejected' : `no rejected record matches ${filters.join(' ')}`;
}

type Reject<Raw> = Record<'file' | 'member' | 'code' | 'message', string> & { position: number; raw: Raw };

async function listRejects(context: Context, options: { source?: string; code?: string; limit: number }): Promise<Reject<string>[]> {
  const rows = await context.database.query<Reject<Uint8Array>>(
    operate('rejects'),
    [options.source ?? null, options.code ?? null, options.limit],
  );
  return rows.map((row) => ({ ...row, raw: Buffer.from(row.raw).toString('utf8') }));
}

function describeRetry(outcomes: readonly RetryOutcome[]): string {
  const lines = [textTable(outcomes.map((o) => [o.source, vintageText(o.vintage), o.code, o.tried, o.passed, o.untried]), ['source', 'vintage', 'reason', 'tried', 'pass now', 'can be checked only with the complete file'])];
  if (outcomes.some(({ passed }) => passed > 0)) lines.push('', 'The next load-region or refresh reads the releases of these records again and publishes the result.');
  return lines.join('\n');
}
