import cluster from 'node:cluster';
import type { Command } from 'commander';
import { trusting } from '../api/client-address.ts';
import { baseMapOf, type BaseMap } from '../api/base-map.ts';
import type { Catalog } from '../api/catalog.ts';
import type { Explain } from '../api/explain.ts';
import type { SignInLink } from '../api/sign-in.ts';
import type { Link } from '../api/workers.ts';
import { CLOCK } from '../pipelines/clock.ts';
import { expandPath, readConfig, type Config } from '../pipelines/config.ts';
import { VERSION } from '../pipelines/program.ts';
import { onDatabase, type Database } from '../pipelines/db/index.ts';
import { connectionsOfEach, openReader, type Reader } from '../pipelines/db/reader.ts';
import { ROLE } from '../pipelines/db/role.ts';
import { requireWhole } from '../pipelines/db/objects.ts';
import { appliedFor, partsOf, requireApplied } from '../pipelines/db/state.ts';
import { exportsIn } from '../pipelines/deliver/catalog/exports.ts';
import { catalogDocuments, highValueSources } from '../pipelines/deliver/catalog/index.ts';
import { MappaleError } from '../pipelines/errors.ts';
import { makeLog, type Log } from '../pipelines/log.ts';
import { loadSources, type RegisteredSource } from '../pipelines/contract/registry.ts';
import { mustBeFolder, parseFolderUrl } from './catalog.ts';
import { command, parseWithin } from './command.ts';
import { continueThroughRotation, GRACE_MS, listenError, sayWhere, signInLink, stopSignal, type Announcing } from './serving.ts';
import { quoted, retyped, withOption } from '../pipelines/typed.ts';

interface ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly connections: number;
  readonly statementTimeout: number;
  readonly trustProxy?: readonly string[];
  readonly metricsFrom?: readonly string[];
  readonly publicUrl?: string;
  readonly exports?: string;
  readonly exportsUrl?: string;
  readonly baseMap?: string;
  readonly baseMapAttribution?: string;
  readonly baseMapZoom: number;
  readonly workers: number;
  readonly enrich: boolean;
  readonly json: boolean;
}

export function serveCommand(): Command {
  return command('serve', [
    'mappale serve',
    'mappale token create --name me --scopes geocoding:read,admin_data:read,parcels:read',
    'DATABASE_URL=postgres://reader@localhost/italy mappale serve --host 0.0.0.0 --port 8080',
    'DATABASE_URL=postgres://reader@localhost/italy mappale serve --workers 8 --connections 32',
  ])
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <n>', 'port to listen on; 0: any free port', parseWithin(0, 65_535), 8080)
    .option('--connections <n>', 'number of connections to PostgreSQL, in total for all workers; a third more are used to count requests', parseWithin(1, 1_000), 10)
    .option('--statement-timeout <ms>', 'time limit of a database statement in milliseconds', parseWithin(100, 60_000), 5000)
    .option('--trust-proxy <addresses...>', 'addresses or networks of proxies whose header X-Forwarded-For is trusted')
    .option('--metrics-from <addresses...>', 'addresses or networks that may read /api/v2/metrics, in addition to this machine')
    .option('--public-url <url>', 'public https URL of the server, which the OpenAPI document lists first', parsePublicUrl)
    .option('--exports <folder>', 'folder with exports to describe at /api/v2/catalog; needs --exports-url')
    .option('--exports-url <url>', 'URL at which the folder of --exports is published', (text) => parseFolderUrl(text, '--exports-url'))
    .option('--base-map <template>', 'URL template (XYZ or WMTS) of a base map from another server, drawn under the map; needs --base-map-attribution')
    .option('--base-map-attribution <text>', 'attribution of the base map, which the map shows')
    .option('--base-map-zoom <n>', 'highest zoom of the base map', parseWithin(0, 22), 19)
    .option('--workers <n>', 'number of server processes; more than one needs PostgreSQL', parseWithin(1, 256), 1)
    .option('--enrich', 'accept CSV tables of at most 1,000 rows at POST /api/v2/tools/enrich; each row counts as one request', false)
    .option('--json', 'print the addresses as one JSON object on one line: api, map, sign_in', false)
    .action(async (options: ServeOptions) => {
      // Checks the options before the database is opened.
      if (options.host.trim() === '') {
        throw new MappaleError('--host is empty', {
          code: 'ADDRESS_UNAVAILABLE', kind: 'usage', hint: 'Use 127.0.0.1 for this machine only, 0.0.0.0 or :: for all networks.', fix: 'npx mappale serve --host 127.0.0.1',
        });
      }
      trusting([...options.trustProxy ?? [], ...options.metricsFrom ?? []]);
      await requireExports(options);
      const baseMap = options.baseMap === undefined ? null : baseMapOf(options.baseMap, options.baseMapAttribution, options.baseMapZoom);
      const config = readConfig();
      const log = makeLog(config, process.stderr);
      continueThroughRotation(log);
      const connections = shareOf(options, config);
      // The primary process starts the workers with the same arguments.
      if (options.workers > 1 && cluster.isPrimary) return (await import('./serve-workers.ts')).serveByWorkers({ ...options, connections, link: signInLink(options, config) }, log);
      const sources = await loadSources();
      await onDatabase(config.databaseUrl, 'read', async (database) => {
        const reader = await openReader(database, config.databaseUrl, { connections, statementTimeoutMs: options.statementTimeout });
        try {
          requireApplied(await appliedFor(reader), sources);
          await requireWhole(reader, partsOf(sources));
          const own = { explain: explainer(database, sources, reader), catalog: catalogue(options, config, sources), baseMap };
          await serve(options, reader, log, signInLink(options, config), own);
        } finally {
          await reader.close();
        }
      });
      // The worker ends when the channel to the primary process is closed.
      cluster.worker?.disconnect();
    });
}

/** @returns the URL without a trailing slash @throws MappaleError `PUBLIC_URL_INVALID` (exit 2) */
function parsePublicUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol === 'https:' && url.search === '' && url.hash === '' && url.username === '') return url.href.replace(/\/$/, '');
  throw new MappaleError('--public-url is not an https URL', {
    code: 'PUBLIC_URL_INVALID', kind: 'usage', detail: `expected an https URL without a query, found ${text}`,
    hint: 'Give the URL that clients use, without /api/v2.',
    fix: retyped(withOption('--public-url', 'https://maps.example.org'), 'npx mappale serve --public-url https://maps.example.org'),
  });
}

/** @returns number of connections with which each worker answers requests @throws MappaleError `WORKERS_EMBEDDED`, `CONNECTIONS_TOO_FEW` (exit 2) */
function shareOf({ workers, connections }: ServeOptions, { databaseUrl }: Config): number {
  if (workers > 1 && databaseUrl.startsWith('pglite:')) {
    throw new MappaleError('only one process can open the embedded database', {
      code: 'WORKERS_EMBEDDED', kind: 'usage', detail: `expected --workers 1, found ${workers}`,
      hint: 'Omit --workers, or set DATABASE_URL to a PostgreSQL server (postgres://…).', fix: retyped(withOption('--workers', '1'), 'npx mappale serve'),
    });
  }
  const share = connectionsOfEach(connections, workers);
  if (share === 0) {
    throw new MappaleError('too few connections for the number of workers', {
      code: 'CONNECTIONS_TOO_FEW', kind: 'usage', detail: `expected --connections ${leastFor(workers)} or more for ${workers} workers, found ${connections}`,
      hint: 'Increase --connections or reduce --workers.', fix: retyped(withOption('--connections', String(leastFor(workers))), `npx mappale serve --workers ${workers} --connections ${leastFor(workers)}`),
    });
  }
  return share;
}

/** Returns the minimum value of `--connections`. Each worker needs one connection for queries and one for counting requests. */
function leastFor(workers: number): number {
  let least = workers;
  while (connectionsOfEach(least, workers) === 0) least += 1;
  return least;
}

/** Timeout of a statement that explains a value, in milliseconds. */
const EXPLAINING_MS = 20_000;

/**
 * Creates the function that explains values for the map, like `mappale explain`. With PostgreSQL, explanations use a separate connection, which is closed when
 * it is idle.
 * @returns the function, or null if the PostgreSQL login is neither a superuser nor an owner of the tables, or if a pooler does not keep sessions
 */
function explainer(database: Database, sources: readonly RegisteredSource[], { login }: Reader): Explain | null {
  if (login === 'ordinary' || database.pooling === 'transaction') return null;
  return async (fid, section) => (await import('../pipelines/operate/explain.ts')).explain({ database, sources }, fid, section, EXPLAINING_MS);
}

/** @throws MappaleError `FOLDER_MISSING`, `EXPORTS_URL_MISSING` (exit 2) */
async function requireExports({ exports: folder, exportsUrl }: ServeOptions): Promise<void> {
  if (folder === undefined) return;
  await mustBeFolder(expandPath(folder));
  if (exportsUrl !== undefined) return;
  throw new MappaleError('--exports needs --exports-url', {
    code: 'EXPORTS_URL_MISSING', kind: 'usage', hint: 'The server itself does not serve the exported files. Give the URL at which the folder is published.',
    fix: retyped(withOption('--exports-url', 'https://data.example.org/exports/'), `npx mappale serve --exports ${quoted(folder)} --exports-url https://data.example.org/exports/`),
  });
}

/**
 * Creates the function that returns the documents below /catalog. The function reads the folder of exports for each request, because exports may be added or
 * removed.
 */
function catalogue({ exports: folder, exportsUrl = '' }: ServeOptions, { publisher }: Config, sources: readonly RegisteredSource[]): Catalog {
  return async (api) => {
    const { exports } = folder === undefined ? { exports: [] } : await exportsIn(expandPath(folder));
    return catalogDocuments({
      base: `${api}/catalog`, files: exportsUrl, api, publisher, exports, highValue: highValueSources(sources), today: new Date(CLOCK.now()).toISOString(),
    });
  };
}

/** Serves until a stop signal. @throws MappaleError `PORT_IN_USE`, `ADDRESS_UNAVAILABLE` */
async function serve(
  { host, port, trustProxy = [], metricsFrom = [], publicUrl, enrich, json }: ServeOptions,
  reader: Reader, plainLog: Log, ownSignIn: SignInLink | null,
  { explain, catalog, baseMap }: { readonly explain: Explain | null; readonly catalog: Catalog; readonly baseMap: BaseMap | null },
): Promise<void> {
  // Imports the server in this function, because other commands start faster without it.
  const [{ buildServer }, { ownLink }, { warmUp }] = await Promise.all([
    import('../api/server.ts'), import('../api/workers.ts'), import('../api/warm-up.ts'),
  ]);
  const link = ownLink();
  const log = link === null ? plainLog : ofWorker(plainLog);
  // Only the first worker prints the warning.
  if ((cluster.worker?.id ?? 1) === 1) warnOfRights(reader, log);
  const app = await buildServer({
    reader, version: VERSION, log, trustedProxies: trustProxy, metricsReaders: metricsFrom, publicUrl: publicUrl ?? null, enrich,
    ...(link === null ? {} : { shared: link }),
    // Workers use the sign-in link of the primary process.
    signIn: ownSignIn === null ? null : link?.signIn ?? ownSignIn, explain, catalog, baseMap,
  });
  // If the warm-up fails, only the first responses are slower, so the server starts anyway.
  await warmUp(reader).catch((error: unknown) => {
    log.warn(`not all connections are ready: ${error instanceof Error ? error.message : String(error)}. The first responses will be slow. Check the connection limit of the login.`);
  });
  const stopped = Promise.race([stopSignal(), ...(link === null ? [] : [link.stopped])]);
  try {
    announce(await app.listen({ host, port }), log, link, { link: ownSignIn, json });
  } catch (error) {
    await app.close();
    throw await listenError(error, host, port);
  }
  log.info(`${await stopped}: finishing current requests`);
  const late = setTimeout(() => app.server.closeAllConnections(), GRACE_MS);
  await app.close();
  clearTimeout(late);
}

/** Prints the address of the server. A worker sends the address to the primary process, which prints it. */
function announce(address: string, log: Log, link: Link | null, announcing: Announcing): void {
  if (link === null) sayWhere(address, log, announcing);
  else link.listening(address);
}

/** Adds the process ID of the worker to each log line of the levels `info` and `warn`. */
function ofWorker(log: Log): Log {
  const worker = process.pid;
  return { ...log, info: (message, facts) => log.info(message, { ...facts, worker }), warn: (message, facts) => log.warn(message, { ...facts, worker }) };
}

/**
 * Warns if the login is a superuser, owns the tables or is not a member of the reader role. A session can always return to the rights of its login (reset
 * role).
 */
function warnOfRights({ login, restricted }: Reader, log: Log): void {
  if (login === null || (login === 'ordinary' && restricted)) return;
  const danger = {
    superuser: 'a superuser: an attacker who controls this server controls the complete database server',
    owner: 'an owner of the tables: an attacker who controls this server can change the tables',
    ordinary: `not a member of the role ${ROLE}: the server runs with all rights of the login`,
  }[login];
  log.warn(`DATABASE_URL logs in as ${danger}. Use a role with fewer rights: create role NAME login password '…' in role ${ROLE}; and DATABASE_URL=postgres://NAME@…`);
}
