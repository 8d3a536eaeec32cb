import type { Command } from 'commander';
import { withContext, VERSION } from '../run/context.ts';
import { releaseHold, setHold } from '../ledger/hold.ts';
import { withRun } from '../ledger/ledger.ts';
import { unitName } from '../contract/regions.ts';
import { command, parseRegion, print } from './command.ts';

const REGION = 'name or ISTAT code; italia: the lists of regions, provinces and comuni';

function parseUnit(name: string): number {
  return name.toLowerCase() === 'italia' ? 0 : parseRegion(name).code;
}

export function pinCommand(): Command {
  return command('pin', 'Keep a region as it is published: a refresh leaves it alone until unpin.', ['mappale pin molise --reason "until the new quotations are checked"'])
    .argument('<region>', REGION)
    .option('--reason <text>', 'why; kept in the ledger and shown by plan and status')
    .option('--json', 'print as JSON')
    .action(async (name: string, options: { reason?: string; json?: boolean }) => {
      const unit = parseUnit(name);
      await withContext({ access: 'write' }, (context) => withRun(context.database, { command: 'pin', arguments: { unit }, version: VERSION, host: context.config.host }, async () => {
        await setHold(context.database, { unit, kind: 'pinned', fingerprint: null, reason: options.reason ?? null }, context.config.host);
        print(options.json, { unit, pinned: true }, () => `${unitName(unit)} is pinned: a refresh leaves it as it is published. To let it go: mappale unpin ${name}`);
      }));
    });
}

export function unpinCommand(): Command {
  return command('unpin', 'Let a refresh work on a region again that was pinned, withdrawn or rolled back.', ['mappale unpin molise'])
    .argument('<region>', REGION)
    .option('--json', 'print as JSON')
    .action(async (name: string, options: { json?: boolean }) => {
      const unit = parseUnit(name);
      await withContext({ access: 'write' }, (context) => withRun(context.database, { command: 'unpin', arguments: { unit }, version: VERSION, host: context.config.host }, async () => {
        const held = await releaseHold(context.database, unit, null);
        print(options.json, { unit, held }, () => (held ? `${unitName(unit)} is free again: the next refresh brings it up to date` : `${unitName(unit)} was not held`));
      }));
    });
}
