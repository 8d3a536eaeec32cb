/** What a server does alone and the process that keeps several does for them. */
import type { Log } from '../log.ts';

/** How long a request may still run after the server was told to stop; milliseconds. */
export const GRACE_MS = 10_000;

/** Where the interface is: for programs on stdout, for people on stderr. */
export function sayWhere(address: string, log: Log): void {
  process.stdout.write(`${address}/api/v2\n`);
  log.info(`listening; try ${address}/api/v2/docs and ${address}/api/v2/map; stop with Ctrl-C`);
}

/** The first signal stops the server in good order; a second one ends the process as always. */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
}
