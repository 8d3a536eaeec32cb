/** `mappale mcp`: serves the tools over standard input and output, or over HTTP. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CancelledNotificationSchema, isInitializeRequest, isJSONRPCRequest, type JSONRPCMessage, type RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { Command } from 'commander';
import { memoryCount } from '../api/counts.ts';
import { admitter, identifier, queueFor, type Admit, type Scope } from '../api/access.ts';
import { bodyQueue, receiver, type Receive } from '../api/body.ts';
import { plainAddress } from '../api/client-address.ts';
import { ApiError, CHALLENGE, describeFailure, refusal, refusalOf } from '../api/errors.ts';
import { httpServer, JSON_TYPE } from '../api/http.ts';
import { isLoopback } from '../api/sign-in.ts';
import { openReader } from '../pipelines/db/reader.ts';
import type { Log } from '../pipelines/log.ts';
import { withContext } from '../pipelines/run/context.ts';
import { command, parseWithin } from './command.ts';
import { mcpServer, TOOLS, type Asked } from './mcp-tools.ts';
import { continueThroughRotation, listenError, stopSignal } from './serving.ts';

interface Options {
  readonly http: boolean;
  readonly host: string;
  readonly port: number;
}

/** Path of the MCP endpoint over HTTP. */
const PATH = '/mcp';
const MESSAGE = { mostBytes: 1 << 20, hint: '' } as const;

export function mcpCommand(): Command {
  return command('mcp', [
    'mappale mcp', 'mappale mcp --http --port 8090',
  ])
    .option('--http', `serve over HTTP at ${PATH}, with the tokens and limits of mappale serve; default: standard input and output`, false)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <n>', 'port to listen on; 0: any free port', parseWithin(0, 65_535), 8090)
    .option('--json', 'has no effect, because all messages are JSON')
    .action((options: Options) => withContext({ access: 'read' }, async (context) => {
      const reader = await openReader(context.database, context.config.databaseUrl, { connections: 4, statementTimeoutMs: 20_000 });
      try {
        if (options.http) await overHttp({ context, reader }, options, context.log);
        else await overStdio({ context, reader });
      } finally {
        await reader.close();
      }
    }));
}

/** Serves until a stop signal, or until standard input has ended and every request is answered. Only protocol messages are written to standard output. */
async function overStdio(asked: Asked): Promise<void> {
  const transport = new AnsweringTransport();
  const server = mcpServer(asked, () => transport.protocol);
  const ended = new Promise((resolve) => process.stdin.once('end', resolve).once('close', resolve));
  await server.connect(transport);
  await Promise.race([ended.then(() => transport.answered()), stopSignal()]);
  await server.close();
}

/** A transport over standard input and output that tracks unanswered requests, because a pipe can end before its last requests are answered. */
class AnsweringTransport extends StdioServerTransport {
  readonly #open = new Set<RequestId>();
  #whenAnswered: (() => void) | null = null;
  /** Version of the protocol that the client named. Null: the client has named no version yet. */
  protocol: string | null = null;

  // This handler gets each message before the MCP server does.
  override onmessage = (message: JSONRPCMessage): void => {
    if (isJSONRPCRequest(message)) this.#open.add(message.id);
    if (isInitializeRequest(message)) this.protocol = message.params.protocolVersion;
    // A cancelled request gets no answer.
    const { data } = CancelledNotificationSchema.safeParse(message);
    if (data?.params.requestId !== undefined) this.#close(data.params.requestId);
  };

  override async send(message: JSONRPCMessage): Promise<void> {
    await super.send(message);
    if ('id' in message && message.id !== undefined && !isJSONRPCRequest(message)) this.#close(message.id);
  }

  #close(id: RequestId): void {
    this.#open.delete(id);
    if (this.#open.size === 0) this.#whenAnswered?.();
  }

  /** Resolves when no request waits for an answer. */
  answered(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenAnswered = resolve;
      if (this.#open.size === 0) resolve();
    });
  }
}

/** @throws MappaleError `PORT_IN_USE`, `ADDRESS_UNAVAILABLE` */
async function overHttp(asked: Asked, { host, port }: Options, log: Log): Promise<void> {
  continueThroughRotation(log);
  const { server, listening } = listen(asked, host, port, log);
  try {
    await listening;
    const { port: given } = server.address() as AddressInfo;
    process.stdout.write(`http://${host.includes(':') ? `[${host}]` : host}:${given}${PATH}\n`);
    log.info('listening. Each request needs a token. To create a token, run: npx mappale token create --scopes geocoding:read,parcels:read,admin_data:read. Stop with Ctrl-C');
    await stopSignal();
  } finally {
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  }
}

function listen(asked: Asked, host: string, port: number, log: Log): { server: Server; listening: Promise<void> } {
  const queue = queueFor(asked.reader.parallel);
  const bodies = bodyQueue();
  const counter = { reader: asked.reader, count: memoryCount() };
  const door: Door = {
    admit: admitter(counter, (caller) => queue.take(caller), null),
    receive: receiver(identifier(counter, null), (caller) => bodies.take(caller)),
  };
  const server = httpServer((request, response) => {
    const id = randomUUID();
    response.setHeader('x-request-id', id);
    answer(asked, door, request, response).catch((error: unknown) => {
      const refused = refusalOf(error, id);
      if (refused.status >= 500) log.warn(`${id}: ${describeFailure(error)}`);
      if (response.headersSent) return void response.destroy();
      response.writeHead(refused.status, { ...refused.headers, ...challengeOf(refused), 'content-type': JSON_TYPE, 'cache-control': 'no-store' });
      response.end(JSON.stringify(refused));
    });
  }, (requestId, error, why) => log.info(`no request ${error.status}: ${why}`, { request: requestId }));
  const listening = new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, resolve);
  }).catch(async (error: unknown) => {
    throw await listenError(error, host, port);
  });
  return { server, listening };
}

/** Checks of a request before a tool is called. */
interface Door {
  readonly admit: Admit;
  readonly receive: Receive;
}

/**
 * Answers an HTTP request whose body is one JSON-RPC message. Each message needs a token and counts as one request. The server keeps no state between messages,
 * so a different server process can answer the next message.
 * @throws ApiError
 */
async function answer(asked: Asked, { admit, receive }: Door, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const address = plainAddress(request.socket.remoteAddress);
  if (address === null) throw refusal.CALLER_GONE();
  if (isForeign(request.headers.origin)) {
    forbid(response);
    return;
  }
  if (request.url?.split('?')[0] !== PATH) throw new ApiError('NOT_FOUND', `the path does not exist. The MCP endpoint is ${PATH}`);
  // GET (open a stream) and DELETE (end a session) are refused, because the server has no streams and no sessions.
  if (request.method !== 'POST') throw new ApiError('METHOD_NOT_ALLOWED', `${request.method ?? ''} is not allowed; allowed: POST`, { allowed: ['POST'] }, { allow: 'POST' });
  const credential = { key: keyOf(request), session: null };
  // The scope depends on the called tool.
  const message = messageOf(await receive(request, { credential, scope: null, address }, MESSAGE));
  await admit({ credential, scope: scopeOf(message), address, gone: () => request.socket.destroyed }, ({ headers }) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  }, async () => {
    const done = new Promise((resolve) => response.once('close', resolve));
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    const server = mcpServer(asked, () => protocolOf(request));
    try {
      await server.connect(transport);
      await transport.handleRequest(request, response, message);
      await done;
    } finally {
      await server.close();
    }
  });
}

/**
 * Returns true if an Origin header does not name this machine, as in a request from a web page of another site. Such a page can reach this machine by DNS
 * rebinding. Programs send no Origin header.
 */
function isForeign(origin: string | undefined): boolean {
  return origin !== undefined && !(URL.canParse(origin) && isLoopback(new URL(origin).hostname));
}

/** Refuses a request with status 403 and a JSON-RPC error. */
function forbid(response: ServerResponse): void {
  response.writeHead(403, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' });
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32_000, message: 'requests from web pages of other machines are refused; allowed: no header Origin, or an Origin on this machine' }, id: null }));
}

/** @throws ApiError `INVALID_PARAMS` */
function messageOf(body: Buffer): object {
  try {
    const message: unknown = JSON.parse(body.toString('utf8'));
    if (typeof message === 'object' && message !== null && !Array.isArray(message)) return message;
  } catch {
    // Invalid JSON is reported by the error below.
  }
  throw new ApiError('INVALID_PARAMS', 'the body is not a JSON-RPC 2.0 message: expected one object');
}

/** Returns the protocol version in the header MCP-Protocol-Version, or null. Clients send this header since protocol version 2025-06-18. */
function protocolOf({ headers }: IncomingMessage): string | null {
  return [headers['mcp-protocol-version']].flat()[0] ?? null;
}

/** Returns the token in the header X-API-Key, or else the Bearer token in the header Authorization. */
function keyOf({ headers }: IncomingMessage): string | readonly string[] | undefined {
  return headers['x-api-key'] ?? /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
}

/** Returns the WWW-Authenticate header for status 401, and no header for any other status. MCP clients expect the Bearer challenge of RFC 6750. */
function challengeOf({ code, status }: ApiError): Record<string, string> {
  return status === 401 ? { 'www-authenticate': `Bearer realm="mappale"${code === 'INVALID_API_KEY' ? ', error="invalid_token"' : ''}, ${CHALLENGE}` } : {};
}

/** Returns the scope of the tool that a message calls, or `parcels:read` for every other message. */
function scopeOf(message: unknown): Scope {
  const { method, params } = message as { method?: unknown; params?: { name?: unknown } };
  return (method === 'tools/call' ? TOOLS.find(({ name }) => name === params?.name)?.scope : undefined) ?? 'parcels:read';
}
