/** Handles write errors of standard output and standard error, such as a closed pipe, a full disk or a closed terminal. */
import { MappaleError } from '../pipelines/errors.ts';
import { isFull } from '../pipelines/formats/file-error.ts';

/** True if the command must end when writing to standard output fails. */
let endsWithOutput = true;

/** Lets the command continue without standard output. For commands with another purpose than their output. */
export function continueWithoutOutput(): void {
  endsWithOutput = false;
}

/** Prevents write errors from ending the process with a stack trace. A command continues if log lines are lost. */
export function guardOutput(): void {
  process.stderr.on('error', () => undefined);
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (!endsWithOutput) return;
    // The reader closed the pipe (`| head`), or its terminal is gone. EIO is the error of a terminal.
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
