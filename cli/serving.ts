/** Functions that `serve` and `mcp --http` share: printed addresses, stop signals, and errors when the server starts to listen. */
import cluster from 'node:cluster';
import { createServer } from 'node:net';
import { isLoopback, LINK_MS, SignInLink } from '../api/sign-in.ts';
import type { Config } from '../pipelines/config.ts';
import { MappaleError } from '../pipelines/errors.ts';
import type { Log } from '../pipelines/log.ts';
import { retyped, withOption } from '../pipelines/typed.ts';
import { continueWithoutOutput } from './output.ts';

/** Maximum time in milliseconds that a request may take after the stop signal. */
export const GRACE_MS = 10_000;

/** Creates a sign-in link for a browser. Returns null if other machines or a proxy can reach the server, or if the log is JSON. */
export function signInLink({ host, trustProxy = [] }: { readonly host: string; readonly trustProxy?: readonly string[] }, { log }: Pick<Config, 'log'>): SignInLink | null {
  return isLoopback(host) && trustProxy.length === 0 && log === 'human' ? new SignInLink() : null;
}

/** Options for printing the addresses of a server. */
export interface Announcing {
  readonly link: SignInLink | null;
  /** True: prints the addresses as one JSON object on one line. */
  readonly json: boolean;
}

/**
 * Prints the address on stdout for programs, and on stderr with a message for people. The sign-in link is a secret, so it is printed only on stdout and
 * never logged.
 */
export function sayWhere(address: string, log: Log, { link, json }: Announcing): void {
  const api = `${address}/api/v2`;
  const signIn = link === null ? null : `${api}/map#signin=${link.secret}`;
  process.stdout.write(json ? `${JSON.stringify({ api, map: `${api}/map`, sign_in: signIn })}\n` : `${api}\n${signIn === null ? '' : `${signIn}\n`}`);
  if (link !== null) log.info(`the second address above is a one-time sign-in link to the map, valid for ${LINK_MS / 60_000} minutes`);
  log.info(`listening. Open ${address}/api/v2/docs or ${address}/api/v2/map. Stop with Ctrl-C`);
}

/** Resolves at the first stop signal, so that the server can shut down cleanly. A second signal of the same kind ends the process at once. */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
    if (isOnTerminal()) process.once('SIGHUP', resolve);
  });
}

/**
 * Returns true if this process has a terminal and is not a worker. With a terminal, SIGHUP means that the terminal was closed. Without a terminal, SIGHUP comes
 * from a log rotation.
 */
function isOnTerminal(): boolean {
  return !cluster.isWorker && [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
}

/**
 * Keeps a server running after its output was closed and, if it has no terminal, after SIGHUP from a log rotation. A worker ignores SIGHUP, because the primary
 * process handles it.
 */
export function continueThroughRotation(log: Log): void {
  continueWithoutOutput();
  if (isOnTerminal()) return;
  process.on('SIGHUP', () => {
    if (!cluster.isWorker) log.info('SIGHUP: the server keeps running. The log goes to standard error, so there is no file to reopen');
  });
}

/** @returns a MappaleError that explains why the address cannot be used, or the given error if its code is unknown */
export async function listenError(error: unknown, host: string, port: number): Promise<unknown> {
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'EADDRINUSE':
      return new MappaleError(`port ${port} is in use`, {
        code: 'PORT_IN_USE', kind: 'usage', at: `${host}:${port}`, detail: `expected a free port, found ${await programAt(host, port)}`, hint: 'Choose another port, or stop the program that uses this port.',
        fix: retyped(withOption('--port', String(await freePort(host, port + 1))), 'npx mappale serve --port 0'), cause: error,
      });
    case 'EACCES': case 'EADDRNOTAVAIL': case 'ENOTFOUND': case 'EAI_AGAIN': case 'EINVAL':
      return new MappaleError(`cannot listen on ${host}:${port}`, {
        code: 'ADDRESS_UNAVAILABLE', kind: 'usage', detail: message, hint: 'Use an address of this machine and a port from 1024 on.',
        fix: retyped((words) => withOption('--port', '8080')(withOption('--host', '127.0.0.1')(words)), 'npx mappale serve'), cause: error,
      });
    default:
      return error;
  }
}

/** Timeout in milliseconds of the request that identifies the program on a port. */
const PATIENCE_MS = 1_000;

/** Describes the program that listens at an address. A mappale server is recognised by its response to `/health`. */
async function programAt(host: string, port: number): Promise<string> {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  try {
    const answer = await fetch(`http://${name}:${port}/api/v2/health`, { signal: AbortSignal.timeout(PATIENCE_MS) });
    const { status, version, dataset } = await answer.json() as Readonly<Record<string, unknown>>;
    if (typeof status === 'string' && typeof version === 'string' && dataset !== undefined) return `mappale ${version} at http://${name}:${port}/api/v2/map`;
  } catch {
    // The program does not speak HTTP, or sent no JSON.
  }
  return 'another program';
}

/** @returns the first free port of the 20 ports from `from` on, or 0 (any free port) if none can be used */
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
