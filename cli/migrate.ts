import type { Command } from 'commander';
import { readConfig } from '../pipelines/config.ts';
import { onDatabase } from '../pipelines/db/index.ts';
import { describeLoss } from '../pipelines/db/migrate.ts';
import { EXIT } from '../pipelines/errors.ts';
import { loadSources } from '../pipelines/contract/registry.ts';
import { upgrade } from '../pipelines/run/upgrade.ts';
import { command, print } from './command.ts';

export function migrateCommand(): Command {
  return command('migrate', [
    'mappale migrate --dry-run',
    'mappale migrate',
    'mappale migrate --yes',
  ])
    .option('--dry-run', 'print the steps, and the rows that cannot be kept, without changing the database')
    .option('--yes', 'delete rows that cannot be kept; the next refresh reads their files again if they still exist')
    .option('--json', 'print as JSON')
    .action(({ dryRun: dry = false, yes = false, json }: { dryRun?: boolean; yes?: boolean; json?: boolean }) => {
      const { databaseUrl, distributed } = readConfig();
      return onDatabase(databaseUrl, 'write', async (database) => {
        const done = await upgrade(database, await loadSources(), { dry, lose: yes, distributed });
        const losses = yes ? [] : done.losses;
        print(json, done, () => [
          ...done.steps.map((step) => (dry ? `would do: ${step}` : step)),
          ...losses.map((loss) => `cannot be kept: ${describeLoss(loss)}`),
          ...(done.steps.length + done.losses.length === 0 ? ['nothing to do: the database already matches this version of the program'] : []),
        ].join('\n'));
        if (losses.length > 0) process.exitCode = EXIT.usage;
      });
    });
}
