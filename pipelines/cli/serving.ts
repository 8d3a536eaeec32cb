/** What a server does alone and the process that keeps several does for them. */
import { isLoopback, LINK_MS, SignInLink } from '../../api/sign-in.ts';
import type { Config } from '../config.ts';
import { MappaleError } from '../errors.ts';
import type { Log } from '../log.ts';

/** How long a request may still run after the server was told to stop; milliseconds. */
export const GRACE_MS = 10_000;

/** A link by which a browser of this machine is signed in; null: others can reach the server, a proxy stands before it, or nobody reads what it says. */
export function signInLink({ host, trustProxy = [] }: { readonly host: string; readonly trustProxy?: readonly string[] }, { log }: Pick<Config, 'log'>): SignInLink | null {
  return isLoopback(host) && trustProxy.length === 0 && log === 'human' ? new SignInLink() : null;
}

/** Where the interface is: for programs on stdout, for people on stderr. The link is a secret: it goes to stdout, never into the log. */
export function sayWhere(address: string, log: Log, link: SignInLink | null): void {
  process.stdout.write(`${address}/api/v2\n`);
  if (link !== null) process.stdout.write(`${address}/api/v2/map#signin=${link.secret}\n`);
  if (link !== null) log.info(`the second line above opens the map, signed in: once, and within ${LINK_MS / 60_000} minutes`);
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
