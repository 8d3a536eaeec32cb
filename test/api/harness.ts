/** Starts the server on a test database, and checks responses against the OpenAPI document of the server. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { FastifyInstance } from 'fastify';
import pLimit from 'p-limit';
import { document } from '../../api/openapi.ts';
import type { Scope } from '../../api/access.ts';
import { PER_TOKEN, SCOPES } from '../../api/access.ts';
import { buildServer, type ServerOptions } from '../../api/server.ts';
import { createToken } from '../../cli/token.ts';
import type { Database } from '../../pipelines/db/index.ts';
import { openReader, type Reader } from '../../pipelines/db/reader.ts';
import type { SyntheticRegion } from '../../pipelines/synthetic/region.ts';
import type { Log } from '../../pipelines/log.ts';
import type { TestEngine } from '../harness/database.ts';
import { migratedDatabase } from '../harness/fresh-context.ts';
import { loadedRegion, REGIONS, type RegionParameters } from '../harness/loaded-region.ts';
import { syntheticRegion } from '../harness/region.ts';

export const VERSION = '1.2.3';
export const BASE = '/api/v2';

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  /** Null if the response is empty, compressed or not JSON. */
  readonly body: Readonly<Record<string, unknown>> | null;
}

export interface Service {
  readonly app: FastifyInstance;
  readonly database: Database;
  readonly reader: Reader;
  readonly url: string;
  /** Lines that the server logged. `warned` contains only the messages of warnings. */
  readonly logged: readonly string[];
  readonly warned: readonly string[];
  /** Creates a token, by default with every scope. */
  token(scopes?: readonly Scope[], expiresAt?: Date | null): Promise<string>;
  /** Sends a request. @param path path below `BASE`, which starts with `/` */
  ask(
    path: string,
    options?: { key?: string | undefined; method?: string; headers?: Readonly<Record<string, string>>; from?: string; body?: string },
  ): Promise<Answered>;
  close(): Promise<void>;
}

/** Starts the server on a migrated database. */
export async function serviceOn(database: Database, url: string, options: Pick<ServerOptions, 'trustedProxies' | 'enrich' | 'catalog' | 'baseMap'> = {}): Promise<Service> {
  const reader = await openReader(database, url, { connections: 4, statementTimeoutMs: 20_000 });
  const logged: string[] = [];
  const warned: string[] = [];
  const write = (message: string, facts?: Record<string, unknown>): void => void logged.push(`${message} ${JSON.stringify(facts ?? {})}`);
  const warn: typeof write = (message, facts) => {
    warned.push(message);
    write(message, facts);
  };
  const log: Log = { runId: null, debug: write, info: write, warn, progress: () => undefined };
  const app = await buildServer({ reader, version: VERSION, log, ...options });
  await app.ready();
  return {
    app, database, reader, url, logged, warned,
    token: async (scopes = SCOPES, expiresAt = null) => (await createToken(database, scopes, 'test', expiresAt)).token,
    async ask(path, { key, method = 'GET', headers = {}, from = '192.0.2.1', body } = {}) {
      const response = await app.inject({
        method: method as 'GET', url: BASE + path, remoteAddress: from,
        headers: { ...(key === undefined ? {} : { 'x-api-key': key }), ...headers }, ...(body === undefined ? {} : { payload: body }),
      });
      const isJson = /^application\/([\w.]+\+)?json/.test(String(response.headers['content-type'])) && response.headers['content-encoding'] === undefined && response.payload !== '';
      return {
        status: response.statusCode, text: response.payload, body: isJson ? (JSON.parse(response.payload) as Record<string, unknown>) : null,
        headers: Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, value === undefined ? undefined : String(value)])),
      };
    },
    async close() {
      await app.close();
      await reader.close();
    },
  };
}

/**
 * Sends requests with one key, as many at a time as a token may have in progress. If all requests were sent at once, the last requests would wait in the
 * token's queue, and a busy machine would refuse them.
 */
export function askEach(service: Pick<Service, 'ask'>, paths: readonly string[], key: string): Promise<Answered[]> {
  const within = pLimit(PER_TOKEN);
  return Promise.all(paths.map((path) => within(() => service.ask(path, { key }))));
}

/** Starts the server on a database without data. The database is a copy, and rights on the database itself are not copied. */
export async function emptyService(engine: TestEngine, options: Pick<ServerOptions, 'trustedProxies' | 'enrich' | 'catalog' | 'baseMap'> = {}): Promise<Service> {
  const url = await migratedDatabase(engine);
  return serviceOn(await engine.openDatabase(url), url, options);
}

/** Starts the server on a synthetic region, by default `REGIONS.usual`. Suites that request the same region share one load, and each suite gets a copy. */
export async function regionService(engine: TestEngine, ...parameters: RegionParameters | []): Promise<Service & { readonly region: SyntheticRegion }> {
  const [parcels, seed, choice] = parameters.length === 0 ? REGIONS.usual : parameters;
  const url = await loadedRegion(engine, parcels, seed, choice);
  return { ...(await serviceOn(await engine.openDatabase(url), url)), region: syntheticRegion(parcels, seed, choice) };
}

// --- The OpenAPI document ----------------------------------------------------------------------------------------------

interface Examples {
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface Operation {
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters: readonly ({ readonly name: string } & Examples)[];
  readonly responses: Readonly<Record<string, {
    readonly description?: string;
    readonly headers?: Readonly<Record<string, unknown>>;
    readonly content?: Readonly<Record<string, { readonly schema: unknown } & Examples>>;
  }>>;
}

export const DOCUMENT = document(VERSION) as {
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
};

const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { int32: true, int64: true, double: true } });
const ID = 'https://document.test/';
ajv.addSchema({ $id: ID, ...DOCUMENT });
const validators = new Map<string, ValidateFunction>();

/** Returns the path template of the OpenAPI document that matches a path. If no template matches, returns the path without its query. */
export function templateOf(path: string): string {
  const plain = path.split('?')[0]!;
  return Object.keys(DOCUMENT.paths).find((template) => new RegExp(`^${template.replace(/\{[^}]+\}/g, '[^/]+')}$`).test(plain)) ?? plain;
}

const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** Returns a message for each difference between a response and the OpenAPI document. */
export function violationsOf(path: string, { status, headers, body, text }: Answered): string[] {
  const template = templateOf(path);
  const response = DOCUMENT.paths[template]?.get.responses[String(status)];
  if (response === undefined) return [`${template} does not document ${status}: ${text.slice(0, 200)}`];
  const missing = Object.keys(response.headers ?? {}).filter((name) => headers[name.toLowerCase()] === undefined && !(status === 429 && /^X-RateLimit/.test(name) && body?.['error'] === 'TOO_MANY_ATTEMPTS'));
  const violations = missing.map((name) => `${template} ${status} lacks the header ${name}`);
  if (response.content === undefined) return text === '' ? violations : [...violations, `${template} ${status} has a body`];
  const types = Object.keys(response.content);
  const type = types.find((each) => headers['content-type']?.startsWith(each)) ?? types[0];
  if (!(headers['content-type'] ?? '').startsWith(type!) && headers['content-type'] !== '') violations.push(`${template} ${status} is of type ${headers['content-type']}`);
  // Responses that are not JSON are checked by other tests.
  if (!/json/.test(type!)) return violations;
  const key = `#/paths/${escaped(template)}/get/responses/${status}/content/${escaped(type!)}/schema`;
  let validate = validators.get(key);
  if (validate === undefined) {
    validate = ajv.compile({ $ref: ID + key.replaceAll('{', '%7B').replaceAll('}', '%7D') });
    validators.set(key, validate);
  }
  if (!validate(body)) violations.push(...(validate.errors ?? []).map(({ instancePath, message, params }) => `${template} ${status} ${instancePath} ${message} ${JSON.stringify(params)}`));
  return violations;
}
