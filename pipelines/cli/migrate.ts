import type { Command } from 'commander';
import { readConfig } from '../config.ts';
import { openDatabase } from '../db/index.ts';
import { describeLoss } from '../db/migrate.ts';
import { EXIT } from '../errors.ts';
import { loadSources } from '../contract/registry.ts';
import { upgrade } from '../run/upgrade.ts';
import { command, print } from './command.ts';

export function migrateCommand(): Command {
  return command('migrate', 'Bring the database to this version and keep its rows; what cannot be kept is named (exit 2), and goes only with --yes.', [
    'mappale migrate --dry-run',
    'mappale migrate',
    'mappale migrate --yes',
  ])
    .option('--dry-run', 'only say what would be done, and what would be lost')
    .option('--yes', 'give up rows that cannot be kept; their files are read again by the next refresh, where they are still there')
    .option('--json', 'print as JSON')
    .action(async (options: { dryRun?: boolean; yes?: boolean; json?: boolean }) => {
      const dry = options.dryRun === true;
      const database = await openDatabase(readConfig().databaseUrl);
      try {
        const done = await upgrade(database, await loadSources(), { dry, lose: options.yes === true });
        print(options.json, done, () => [
          ...done.steps.map((step) => (dry ? `would do: ${step}` : step)),
          ...(options.yes === true ? [] : done.losses.map((loss) => `cannot be kept: ${describeLoss(loss)}`)),
          ...(done.steps.length + done.losses.length === 0 ? ['nothing to do: the database is at this version'] : []),
        ].join('\n'));
        if (done.losses.length > 0 && options.yes !== true) process.exitCode = EXIT.usage;
      } finally {
        await database.close();
      }
    });
}
