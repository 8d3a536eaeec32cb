import type { Command } from 'commander';
import { withContext } from '../run/context.ts';
import { forget } from '../operate/forget.ts';
import { exitCodeOf } from '../run/refresh.ts';
import { acceptance, command, print } from './command.ts';
import { describe } from './load-region.ts';

export function forgetCommand(): Command {
  return command('forget', 'Take a loaded file out of force, through the quality gate: what it superseded counts again. A file that only left the data folder stays in force.', [
    'mappale forget MOLISE.zip',
    'mappale forget ~/downloads/QI_294577_1_20182_VALORI.csv --reason "cut download" --accept "checked by hand"',
    'mappale forget MOLISE.zip --undo',
  ])
    .argument('<file>', 'path, name, or the beginning of its sha256')
    .option('--undo', 'take it into force again')
    .option('--reason <text>', 'why; kept in the ledger')
    .option('--accept <reason>', 'publish although the quality gate objects; the reason is kept in the ledger')
    .option('--json', 'print as JSON')
    .action(async (file: string, options: { undo?: boolean; reason?: string; accept?: string; json?: boolean }) => {
      process.exitCode = await withContext({ access: 'write' }, async (context) => {
        const done = await forget(context, file, options.undo === true, options.reason ?? null, acceptance(context, options.accept));
        const refused = done.report.failures.length > 0;
        const names = [...new Set(done.files.map(({ name }) => name))].join(', ');
        print(options.json, done, () => `${names}: ${refused ? 'left as it was' : options.undo === true ? 'in force again' : 'out of force'}\n${describe(done.report, null)}`);
        return exitCodeOf(done.report);
      });
    });
}
