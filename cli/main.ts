/** Registers and runs the commands of the command line. */
import { Command } from 'commander';
import { VERSION } from '../pipelines/program.ts';
import { applyOptions, type GlobalOptions } from '../pipelines/config.ts';
import { MappaleError } from '../pipelines/errors.ts';
import { diskFull, isForbidden, isFull } from '../pipelines/formats/file-error.ts';
import { asInstalled, quoted } from '../pipelines/typed.ts';
import { COMMANDS } from './commands.ts';
import { guardOutput } from './output.ts';
import { usageExit } from './usage.ts';

/**
 * Returns the program with all commands.
 * @param loaded names of the commands that are imported completely. All other commands have only a name and a description.
 */
export async function program(loaded: readonly string[] = Object.keys(COMMANDS)): Promise<Command> {
  const all = new Command('mappale')
    .exitOverride(usageExit)
    .description('Load the files of Italy\'s public bodies into one PostGIS database that describes every cadastral parcel.')
    .version(VERSION)
    // Arguments are listed in the help of each command.
    .configureHelp({ subcommandTerm: (each) => each.name() })
    .option('--home <folder>', 'folder of the embedded database and of the demo region\'s files')
    .option('--verbose', 'print each step and its time')
    .option('--quiet', 'print warnings and results only')
    .hook('preAction', (_program, command) => applyOptions(command.optsWithGlobals<GlobalOptions>()))
    .addHelpText('after', `
Exit codes: 0 done, 1 bug, 2 usage or configuration, 3 input missing or changed, 4 too many rejects, 5 checks failed, 6 database, 7 already running.
Settings: DATABASE_URL (postgres://… or pglite:FOLDER; default: the embedded database in the home folder), MAPPALE_HOME, MAPPALE_LOG=json, MAPPALE_LOG_LEVEL, NO_COLOR.`);
  for (const [name, { purpose, load }] of Object.entries(COMMANDS)) {
    const each = loaded.includes(name) ? await load() : new Command(name);
    all.addCommand(each.description(purpose));
  }
  return all;
}

/**
 * Runs a command. Without arguments, prints the first screen. Prints an expected error to stderr (with `--json`, also as JSON to stdout), and sets the exit
 * code. Throws any other error, so that Node prints its stack trace.
 */
export async function main(argv: readonly string[]): Promise<void> {
  guardOutput();
  try {
    if (argv.length === 2) process.stdout.write(`${asInstalled(await (await import('./first-screen.ts')).firstScreen())}\n`);
    else await (await program(argv)).parseAsync([...argv]);
  } catch (thrown) {
    const error = isFull(thrown) ? diskFull(thrown as NodeJS.ErrnoException) : forbidden(thrown as NodeJS.ErrnoException) ?? thrown;
    if (!(error instanceof MappaleError)) throw error;
    process.stderr.write(`${error.report()}\n`);
    if (argv.includes('--json')) process.stdout.write(`${JSON.stringify(error)}\n`);
    process.exitCode = error.exitCode;
  }
}

/** Returns the error for a file that this user may not read or write, or null for any other error. */
function forbidden(error: NodeJS.ErrnoException): MappaleError | null {
  const { path, message } = error;
  if (path === undefined || !isForbidden(error)) return null;
  return new MappaleError('permission denied', {
    code: 'FOLDER_UNWRITABLE', kind: 'usage', at: path, detail: `expected read and write permission, found: ${message}`, hint: 'Change the permissions, or use another path.', fix: `ls -ld ${quoted(path)}`,
  });
}
