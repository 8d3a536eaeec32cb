/** Handles errors when writing to standard output and standard error, for example after a pipe was closed or on a full disk. */
import { MappaleError } from '../pipelines/errors.ts';
import { isFull } from '../pipelines/formats/file-error.ts';

/** True if the command must end when writing to standard output fails. */
let endsWithOutput = true;

/** Lets the command continue if writing to standard output fails. Used by commands whose purpose is not their output. */
export function continueWithoutOutput(): void {
  endsWithOutput = false;
}

/**
 * Prevents write errors from ending the process with a stack trace. If log lines cannot be written, the command continues. If standard output cannot be
 * written, the command ends, except after `continueWithoutOutput`.
 */
export function guardOutput(): void {
  process.stderr.on('error', () => undefined);
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (!endsWithOutput) return;
    // The reader closed the pipe (`| head`), or the terminal was closed. Writing to a closed terminal fails with EIO.
    if (error.code === 'EPIPE' || error.code === 'EIO') process.exit(process.exitCode ?? 0);
    const failure = unwritten(error);
    process.stderr.write(`${failure.report()}\n`, () => process.exit(failure.exitCode));
  });
}

function unwritten(error: NodeJS.ErrnoException): MappaleError {
  return new MappaleError('the output cannot be written', {
    code: isFull(error) ? 'DISK_FULL' : 'OUTPUT_UNWRITABLE', kind: 'usage', at: 'standard output', detail: `expected disk space for the complete output, found: ${error.message}`,
    hint: 'Free disk space, or send the output to another disk. Then run the same command again.', fix: 'df -h', cause: error,
  });
}
