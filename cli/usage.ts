import type { CommanderError } from 'commander';
import { EXIT } from '../pipelines/errors.ts';

/** Exits with the usage code on invalid arguments, and with 0 after help or the version. With `--json`, invalid arguments are also printed as JSON. */
export function usageExit({ code, exitCode, message }: CommanderError): never {
  if (exitCode !== 0 && process.argv.includes('--json')) {
    const problem = code === 'commander.help' ? 'a subcommand is missing' : message.replace(/^error: /, '').replace(/\s+/g, ' ');
    process.stdout.write(`${JSON.stringify({ error: 'ARGUMENTS_INVALID', message: problem })}\n`);
  }
  process.exit(exitCode === 0 ? EXIT.done : EXIT.usage);
}
