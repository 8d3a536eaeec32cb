import type { Command } from 'commander';
import { withContext, VERSION } from '../run/context.ts';
import { withRun } from '../ledger/ledger.ts';
import { rollback } from '../build/publish.ts';
import { unitName } from '../contract/regions.ts';
import { command, parseRegion, print } from './command.ts';

export function rollbackCommand(): Command {
  return command('rollback', 'Bring a region\'s previous publication back, in one transaction; a second call returns. A refresh leaves it so until its files change.', ['mappale rollback molise', 'mappale rollback italia'])
    .argument('<region>', 'name or ISTAT code; italia: the lists of regions, provinces and comuni')
    .option('--json', 'print as JSON')
    .action(async (region: string, options: { json?: boolean }) => {
      const unit = region.toLowerCase() === 'italia' ? 0 : parseRegion(region).code;
      await withContext({ access: 'write' }, (context) => withRun(context.database, { command: 'rollback', arguments: { unit }, version: VERSION, host: context.config.host }, async (run) => {
        const done = await rollback(context.database, unit, run.runId);
        print(options.json, done, () => `${unitName(unit)}: publication ${done.to} is back in force${done.from === null ? '' : ` instead of ${done.from}`}; ${done.tables.length === 0 ? 'no table differs' : `changed: ${done.tables.join(', ')}`}`);
      }));
    });
}
