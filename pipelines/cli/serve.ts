import type { Command } from 'commander';
import { trusting } from '../../api/callers.ts';
import { readConfig } from '../config.ts';
import { VERSION } from '../run/context.ts';
import { onDatabase } from '../db/index.ts';
import { openReader, type Reader } from '../db/reader.ts';
import { ROLE } from '../db/role.ts';
import { appliedFor, requireApplied } from '../db/state.ts';
import { MappaleError } from '../errors.ts';
import { makeLog, type Log } from '../log.ts';
import { loadSources } from '../contract/registry.ts';
import { command, parseWithin } from './command.ts';

/** How long a request may still run after the server was told to stop. */
const GRACE_MS = 10_000;

interface ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly connections: number;
  readonly statementTimeout: number;
  readonly trustProxy?: readonly string[];
}

export function serveCommand(): Command {
  return command('serve', 'Answer over HTTP: the read interface below /api/v2, its document at /api/v2/docs, a map at /api/v2/map.', [
    'mappale serve',
    'mappale token create --name me --scopes geocoding:read,admin_data:read,parcels:read',
    'DATABASE_URL=postgres://reader@localhost/italy mappale serve --host 0.0.0.0 --port 8080',
  ])
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <n>', 'port to listen on; 0: any free one', parseWithin(0, 65_535), 8080)
    .option('--connections <n>', 'connections to PostgreSQL', parseWithin(1, 1_000), 10)
    .option('--statement-timeout <ms>', 'longest question to the database', parseWithin(100, 60_000), 5000)
    .option('--trust-proxy <addresses...>', 'addresses or networks that proxies connect from: their X-Forwarded-For is believed')
    .action(async (options: ServeOptions) => {
      // What was typed is looked at before the database is.
      if (options.host.trim() === '') {
        throw new MappaleError('--host is empty', {
          code: 'ADDRESS_UNAVAILABLE', kind: 'usage', hint: 'Use 127.0.0.1 for this machine only, 0.0.0.0 or :: for all networks.',
        });
      }
      trusting(options.trustProxy ?? []);
      const config = readConfig();
      const log = makeLog(config, process.stderr);
      const sources = await loadSources();
      await onDatabase(config.databaseUrl, 'read', async (database) => {
        const reader = await openReader(database, config.databaseUrl, { connections: options.connections, statementTimeoutMs: options.statementTimeout });
        try {
          requireApplied(await appliedFor(reader), sources);
          await serve(options, reader, log);
        } finally {
          await reader.close();
        }
      });
    });
}

/** Listens until told to stop. @throws MappaleError `PORT_IN_USE`, `ADDRESS_UNAVAILABLE` */
async function serve({ host, port, trustProxy }: ServeOptions, reader: Reader, log: Log): Promise<void> {
  warnOfRights(reader, log);
  // Half of what the program loads is the server: other commands begin without it.
  const { buildServer } = await import('../../api/server.ts');
  const app = await buildServer({ reader, version: VERSION, log, trustedProxies: trustProxy ?? [] });
  const stopped = stopSignal();
  try {
    const address = await app.listen({ host, port });
    process.stdout.write(`${address}/api/v2\n`);
    log.info(`listening; try ${address}/api/v2/docs and ${address}/api/v2/map; stop with Ctrl-C`);
  } catch (error) {
    await app.close();
    throw listenError(error, host, port);
  }
  log.info(`${await stopped}: finishing the requests under way`);
  const late = setTimeout(() => app.server.closeAllConnections(), GRACE_MS);
  await app.close();
  clearTimeout(late);
}

/** A session may always go back to the rights of its login. */
function warnOfRights({ login, restricted }: Reader, log: Log): void {
  if (login === null || (login === 'ordinary' && restricted)) return;
  const danger = {
    superuser: 'a superuser: whoever takes this server over has the whole database server',
    owner: 'an owner of the tables: whoever takes this server over can change them',
    ordinary: `no member of the role ${ROLE}: the server works with whatever rights that login has`,
  }[login];
  log.warn(`DATABASE_URL logs in as ${danger}. Better: create role NAME login password '…' in role ${ROLE}; and DATABASE_URL=postgres://NAME@…`);
}

/** The first signal stops the server in good order; a second one ends the process as always. */
function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
}

function listenError(error: unknown, host: string, port: number): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'EADDRINUSE':
      return new MappaleError(`port ${port} is in use`, {
        code: 'PORT_IN_USE', kind: 'usage', at: `${host}:${port}`, hint: 'Choose another one: mappale serve --port 8081', cause: error,
      });
    case 'EACCES': case 'EADDRNOTAVAIL': case 'ENOTFOUND': case 'EAI_AGAIN': case 'EINVAL':
      return new MappaleError(`${host}:${port} cannot be listened on`, {
        code: 'ADDRESS_UNAVAILABLE', kind: 'usage', detail: message, hint: 'Use an address of this machine and a port from 1024 on.', cause: error,
      });
    default:
      return error;
  }
}
