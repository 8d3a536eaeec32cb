/** What a server does alone and the process that keeps several does for them. */
import { MappaleError } from '../errors.ts';
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

/** @returns why an address cannot be listened on, in words where they are known */
export function listenError(error: unknown, host: string, port: number): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'EADDRINUSE':
      return new MappaleError(`port ${port} is in use`, {
        code: 'PORT_IN_USE', kind: 'usage', at: `${host}:${port}`, hint: 'Choose another one: --port 8081', cause: error,
      });
    case 'EACCES': case 'EADDRNOTAVAIL': case 'ENOTFOUND': case 'EAI_AGAIN': case 'EINVAL':
      return new MappaleError(`${host}:${port} cannot be listened on`, {
        code: 'ADDRESS_UNAVAILABLE', kind: 'usage', detail: message, hint: 'Use an address of this machine and a port from 1024 on.', cause: error,
      });
    default:
      return error;
  }
}
