/** Wires the commands; does nothing itself. */
import { Command } from 'commander';
import { VERSION } from './context.ts';
import { MappaleError } from './errors.ts';
import { usageExit } from './commands/command.ts';
import { diffCommand } from './commands/diff.ts';
import { doctorCommand } from './commands/doctor.ts';
import { explainCommand } from './commands/explain.ts';
import { forgetCommand } from './commands/forget.ts';
import { loadRegionCommand } from './commands/load-region.ts';
import { migrateCommand } from './commands/migrate.ts';
import { parcelCommand } from './commands/parcel.ts';
import { pinCommand, unpinCommand } from './commands/pin.ts';
import { planCommand } from './commands/plan.ts';
import { pruneCommand } from './commands/prune.ts';
import { refreshCommand } from './commands/refresh.ts';
import { rejectsCommand } from './commands/rejects.ts';
import { rollbackCommand } from './commands/rollback.ts';
import { validateCommand } from './commands/validate.ts';
import { sourcesCommand } from './commands/sources.ts';
import { serveCommand } from './commands/serve.ts';
import { statusCommand } from './commands/status.ts';
import { synthCommand } from './commands/synth.ts';
import { tokenCommand } from './commands/token.ts';
import { withdrawCommand } from './commands/withdraw.ts';

/** All commands, for the command line and for the tests that hold each to its help and examples. */
export function program(): Command {
  return new Command('mappale')
    .exitOverride(usageExit)
    .description('Italy\'s public territorial files in, one PostGIS database out.')
    .version(VERSION)
    .addCommand(loadRegionCommand())
    .addCommand(planCommand())
    .addCommand(statusCommand())
    .addCommand(sourcesCommand())
    .addCommand(parcelCommand())
    .addCommand(serveCommand())
    .addCommand(tokenCommand())
    .addCommand(doctorCommand())
    .addCommand(synthCommand())
    .addCommand(migrateCommand())
    .addCommand(pruneCommand())
    .addCommand(refreshCommand())
    .addCommand(rejectsCommand())
    .addCommand(rollbackCommand())
    .addCommand(forgetCommand())
    .addCommand(pinCommand())
    .addCommand(unpinCommand())
    .addCommand(withdrawCommand())
    .addCommand(validateCommand())
    .addCommand(diffCommand())
    .addCommand(explainCommand())
    .addHelpText('after', `
Exit codes: 0 done, 1 bug, 2 usage or configuration, 3 input missing or changed, 4 too many rejects, 5 checks failed, 6 database, 7 already running.
Settings: DATABASE_URL (postgres://… or pglite:FOLDER; default the embedded database in .mappale/database), MAPPALE_LOG=json, NO_COLOR.`);
}

/** Runs one command; failures that are foreseen are told, bugs keep their stack. */
export async function main(argv: readonly string[]): Promise<void> {
  // A reader that has seen enough (`| head`) is no failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(process.exitCode ?? 0);
    throw error;
  });
  try {
    await program().parseAsync([...argv]);
  } catch (error) {
    if (!(error instanceof MappaleError)) throw error;
    process.stderr.write(`${error.report()}\n`);
    if (argv.includes('--json')) process.stdout.write(`${JSON.stringify(error)}\n`);
    process.exitCode = error.exitCode;
  }
}
