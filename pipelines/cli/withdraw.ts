import type { Command } from 'commander';
import { withContext, VERSION } from '../run/context.ts';
import { withRun } from '../ledger/ledger.ts';
import { withdraw } from '../build/publish.ts';
import { command, parseRegion, print } from './command.ts';

export function withdrawCommand(): Command {
  return command('withdraw', 'Take a region out of publication. Its files stay loaded; it comes back with rollback, or anew after unpin.', [
    'mappale withdraw molise --reason "wrong perimeters"',
  ])
    .argument('<region>', 'name or ISTAT code')
    .option('--reason <text>', 'why; kept in the ledger and shown by status')
    .option('--json', 'print as JSON')
    .action(async (name: string, options: { reason?: string; json?: boolean }) => {
      const region = parseRegion(name);
      await withContext({ access: 'write' }, (context) => withRun(context.database, { command: 'withdraw', arguments: { unit: region.code }, version: VERSION, host: context.config.host }, async (run) => {
        const done = await withdraw(context.database, region.code, run.runId, options.reason ?? null);
        print(options.json, done, () => `${region.name}: publication ${done.publication} is withdrawn, nothing of it is served. To bring it back: mappale rollback ${region.slug}. To let a refresh publish it anew: mappale unpin ${region.slug}`);
      }));
    });
}
