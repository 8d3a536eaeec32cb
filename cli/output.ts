/** Handles standard output and standard error that can no longer be written: a closed pipe, a full disk, a terminal that is gone. */
import { MappaleError } from '../pipelines/errors.ts';
import { isFull } from '../pipelines/formats/file-error.ts';

/** Whether the command ends when standard output is lost. */
let endsWithOutput = true;

/** Lets the command go on without standard output. For commands whose work is not their output. */
export function continueWithoutOutput(): void {
  endsWithOutput = false;
}

/** Prevents errors of the two streams from ending the process with a stack trace. A command continues when log lines are lost. */
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
    code: isFull(error) ? 'DISK_FULL' : 'OUTPUT_UNWRITABLE', kind: 'usage', at: 'standard output', detail: `expected room for the whole output, found: ${error.message}`,
    hint: 'Free disk space, or send the output to another disk. Then run the same command again.', fix: 'df -h', cause: error,
  });
}
