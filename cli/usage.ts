import type { CommanderError } from 'commander';
import { EXIT } from '../pipelines/errors.ts';

/** Exits with the usage code on invalid arguments, and with 0 after help or the version. */
export function usageExit({ exitCode }: CommanderError): never {
  process.exit(exitCode === 0 ? EXIT.done : EXIT.usage);
}
