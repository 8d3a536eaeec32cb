import type { Command } from 'commander';
import { withContext, VERSION } from '../run/context.ts';
import { withRun } from '../ledger/ledger.ts';
import { prune } from '../operate/prune.ts';
import { command, print } from './command.ts';

export function pruneCommand(): Command {
  return command('prune', 'Free disk: tables of publications before the last previous one, releases that nothing uses, abandoned workspaces.', ['mappale prune --dry-run', 'mappale prune'])
    .option('--dry-run', 'only say what would go')
    .option('--json', 'print as JSON')
    .action(async (options: { dryRun?: boolean; json?: boolean }) => {
      await withContext({ access: 'write' }, (context) => withRun(context.database, { command: 'prune', arguments: options, version: VERSION, host: context.config.host }, async () => {
        const pruned = await prune(context.database, context.sources, options.dryRun === true);
        print(options.json, pruned, () => `${options.dryRun === true ? 'would free' : 'freed'}: ${pruned.partitions.length} old partitions, ${pruned.releases.length} releases, ${pruned.workspaces.length} workspaces`);
      }));
    });
}
