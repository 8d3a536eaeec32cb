/** What a server does alone and the process that keeps several does for them. */
import cluster from 'node:cluster';
import { createServer } from 'node:net';
import { isLoopback, LINK_MS, SignInLink } from '../../api/sign-in.ts';
import type { Config } from '../config.ts';
import { MappaleError } from '../errors.ts';
import type { Log } from '../log.ts';
import { retyped, withOption } from '../typed.ts';
import { continueWithoutOutput } from './output.ts';

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
    if (isOnTerminal()) process.once('SIGHUP', resolve);
  });
}

/** A closed terminal sends SIGHUP to its programs. Without a terminal, SIGHUP comes from a log rotation. */
function isOnTerminal(): boolean {
  return !cluster.isWorker && [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
}

/**
 * Keeps a server without a terminal running when a log rotation sends SIGHUP or when its output is lost. A worker leaves SIGHUP to the process that started it.
 */
export function continueThroughRotation(log: Log): void {
  continueWithoutOutput();
  if (isOnTerminal()) return;
  process.on('SIGHUP', () => {
    if (!cluster.isWorker) log.info('SIGHUP: the server keeps running; it writes to standard error and has no file to reopen');
  });
}

/** @returns why an address cannot be listened on, in words where they are known */
export async function listenError(error: unknown, host: string, port: number): Promise<unknown> {
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'EADDRINUSE':
      return new MappaleError(`port ${port} is in use`, {
        code: 'PORT_IN_USE', kind: 'usage', at: `${host}:${port}`, detail: `expected a free port, found ${await programAt(host, port)}`, hint: 'Choose another one, or end what listens there.',
        fix: retyped(withOption('--port', String(await freePort(host, port + 1))), 'npx mappale serve --port 0'), cause: error,
      });
    case 'EACCES': case 'EADDRNOTAVAIL': case 'ENOTFOUND': case 'EAI_AGAIN': case 'EINVAL':
      return new MappaleError(`${host}:${port} cannot be listened on`, {
        code: 'ADDRESS_UNAVAILABLE', kind: 'usage', detail: message, hint: 'Use an address of this machine and a port from 1024 on.',
        fix: retyped((words) => withOption('--port', '8080')(withOption('--host', '127.0.0.1')(words)), 'npx mappale serve'), cause: error,
      });
    default:
      return error;
  }
}

/** How long another program may think about who it is; milliseconds. */
const PATIENCE_MS = 1_000;

/** What listens at an address: a server of this program says so itself. */
async function programAt(host: string, port: number): Promise<string> {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  try {
    const answer = await fetch(`http://${name}:${port}/api/v2/health`, { signal: AbortSignal.timeout(PATIENCE_MS) });
    const { status, version, dataset } = await answer.json() as Readonly<Record<string, unknown>>;
    if (typeof status === 'string' && typeof version === 'string' && dataset !== undefined) return `mappale ${version}, which answers at http://${name}:${port}/api/v2/map`;
  } catch {
    // It speaks no HTTP, or not to us.
  }
  return 'another program';
}

/** @returns the first port from one on that nobody has; 0, any free one, where none of the next is */
async function freePort(host: string, from: number): Promise<number> {
  for (let port = from; port < Math.min(from + 20, 65_536); port += 1) {
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen({ host, port }, () => resolve(true));
    });
    await new Promise((resolve) => server.close(resolve));
    if (isFree) return port;
  }
  return 0;
}
