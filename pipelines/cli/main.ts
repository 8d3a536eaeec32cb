/** Registers the commands of the command line. */
import { Command } from 'commander';
import { VERSION } from '../program.ts';
import { applyOptions, type GlobalOptions } from '../config.ts';
import { MappaleError } from '../errors.ts';
import { diskFull, isForbidden, isFull } from '../formats/file-error.ts';
import { quoted } from '../typed.ts';
import { usageExit } from './command.ts';
import { diffCommand } from './diff.ts';
import { doctorCommand } from './doctor.ts';
import { enrichCommand } from './enrich.ts';
import { exportCommand } from './export.ts';
import { fetchCommand } from './fetch.ts';
import { firstScreen } from './first-screen.ts';
import { historyCommand } from './history.ts';
import { loadRegionCommand } from './load-region.ts';
import { mcpCommand } from './mcp.ts';
import { migrateCommand } from './migrate.ts';
import { guardOutput } from './output.ts';
import { explainCommand, parcelCommand } from './parcel.ts';
import { planCommand } from './plan.ts';
import { forgetCommand, pinCommand, pruneCommand, rollbackCommand, unpinCommand, withdrawCommand } from './publications.ts';
import { reportCommand } from './quality-report.ts';
import { refreshCommand } from './refresh.ts';
import { rejectsCommand } from './rejects.ts';
import { serveCommand } from './serve.ts';
import { sourcesCommand } from './sources.ts';
import { statusCommand } from './status.ts';
import { synthCommand } from './synth.ts';
import { tokenCommand } from './token.ts';
import { validateCommand } from './validate.ts';
import { watchCommand } from './watch.ts';

/** Commands in the order of `--help`. */
const COMMANDS = [
  fetchCommand, loadRegionCommand, planCommand, statusCommand, sourcesCommand, parcelCommand, reportCommand, enrichCommand, exportCommand, serveCommand,
  mcpCommand, tokenCommand, doctorCommand, synthCommand, migrateCommand, pruneCommand, refreshCommand, watchCommand, rejectsCommand, rollbackCommand,
  forgetCommand, pinCommand, unpinCommand, withdrawCommand, validateCommand, diffCommand, explainCommand, historyCommand,
];

/** Returns the program with all commands, for the command line and for the tests of help and examples. */
export function program(): Command {
  const all = new Command('mappale')
    .exitOverride(usageExit)
    .description('Load the files of Italy\'s public bodies into one PostGIS database that describes every cadastral parcel.')
    .version(VERSION)
    .option('--home <folder>', 'folder of the embedded database and of the demo region\'s files')
    .option('--verbose', 'print each step and its time')
    .option('--quiet', 'print warnings and results only')
    .hook('preAction', (_program, command) => applyOptions(command.optsWithGlobals<GlobalOptions>()))
    .addHelpText('after', `
Exit codes: 0 done, 1 bug, 2 usage or configuration, 3 input missing or changed, 4 too many rejects, 5 checks failed, 6 database, 7 already running.
Settings: DATABASE_URL (postgres://… or pglite:FOLDER; default: the embedded database in .mappale/database), MAPPALE_LOG=json, MAPPALE_LOG_LEVEL, NO_COLOR.`);
  for (const make of COMMANDS) all.addCommand(make());
  return all;
}

/** Runs one command. Expected errors are printed; bugs keep their stack trace. */
export async function main(argv: readonly string[]): Promise<void> {
  guardOutput();
  try {
    if (argv.length === 2) process.stdout.write(`${await firstScreen()}\n`);
    else await program().parseAsync([...argv]);
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
