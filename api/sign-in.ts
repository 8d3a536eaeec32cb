/**
 * Signs in a browser on this machine. `mappale serve` prints a one-time link if only this machine can reach the server. The secret is in the fragment of the
 * link (after `#`), which browsers do not send to the server. The page exchanges the secret for a session cookie. All requests with this cookie count as one
 * token. Link and session exist only in the memory of the process that created the link, and end with the process.
 */
import { randomBytes, timingSafeEqual, createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { LOOPBACK, trusting } from './client-address.ts';
import { ApiError, invalidParameter } from './errors.ts';
import { JSON_TYPE } from './http.ts';

/** Lifetime of the link in milliseconds. */
export const LINK_MS = 600_000;

/** Maximum number of requests of a session per hour, as for a token. */
export const SESSION_QUOTA = 1_000;

const HOUR_MS = 3_600_000;

/** Result of a sign-in: the session to store in the cookie, or the reason why the secret is refused. */
export type Exchanged = { readonly session: string } | { readonly refused: 'unknown' | 'used' | 'expired' };

/** `count`: the request counts against the hourly limit of its key or session. `look`: the request does not count. */
export type Use = 'count' | 'look';

/** Number of requests of a session in its current hour. */
export interface SessionHour {
  /** Number of requests, including this request if it counts. If the number exceeds the quota, this request is refused. */
  readonly used: number;
  /** End of the hour in milliseconds since 1970. */
  readonly endsAt: number;
}

export interface SignIn {
  /** Exchanges a secret for a session. Each secret works once. */
  exchange(secret: string): Promise<Exchanged>;
  /** Returns the number of requests of a session in its current hour, or null if the session does not exist. */
  hour(session: string, use: Use): Promise<SessionHour | null>;
}

/** One-time link of a server, and the session that a browser starts with this link. */
export class SignInLink implements SignIn {
  readonly secret = secretText();
  readonly #until: number;
  readonly #now: () => number;
  #session: string | null = null;
  #began = 0;
  #used = 0;

  /** @param now returns milliseconds since 1970 */
  constructor(now: () => number = Date.now) {
    this.#now = now;
    this.#until = now() + LINK_MS;
  }

  async exchange(secret: string): Promise<Exchanged> {
    if (!same(secret, this.secret)) return { refused: 'unknown' };
    if (this.#session !== null) return { refused: 'used' };
    if (this.#now() >= this.#until) return { refused: 'expired' };
    this.#session = secretText();
    return { session: this.#session };
  }

  async hour(session: string, use: Use): Promise<SessionHour | null> {
    if (this.#session === null || !same(session, this.#session)) return null;
    // The hour begins with the first request, as for a token.
    if (this.#now() >= this.#began + HOUR_MS) [this.#began, this.#used] = [this.#now(), 0];
    if (use === 'count') this.#used = Math.min(this.#used, SESSION_QUOTA) + 1;
    return { used: this.#used, endsAt: this.#began + HOUR_MS };
  }
}

function secretText(): string {
  return randomBytes(32).toString('base64url');
}

/** Compares two texts in constant time, so that the duration of a comparison reveals nothing about the secret. */
function same(one: string, other: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(one), hash(other));
}

const isThisMachine = trusting(LOOPBACK);

/** Returns true if a host name or address names this machine only. Other machines cannot reach a server that listens at such an address. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/, '$1');
  return name === 'localhost' || isThisMachine(name);
}

/**
 * Returns true if a request came directly from this machine, and its header Host names this machine. A request with a different host name may come from a page
 * of another site.
 */
function isAtHome({ headers, socket }: FastifyRequest): boolean {
  const host = /^(\[[^\]]*\]|[^:]*)(:\d+)?$/.exec(headers.host ?? '')?.[1];
  return host !== undefined && isLoopback(host) && isThisMachine(socket.remoteAddress ?? '') && headers['x-forwarded-for'] === undefined && headers.forwarded === undefined;
}

/** Returns the name of the session cookie. All ports of a host share cookies, so each server uses a different name. */
function cookieName({ headers }: FastifyRequest): string {
  return `mappale_session_${/:(\d+)$/.exec(headers.host ?? '')?.[1] ?? '80'}`;
}

/** Returns the session of a request, or null if the request has no session or may not use it. */
export function sessionOf(request: FastifyRequest): string | null {
  const { method, headers } = request;
  // A page on another port of this machine is same-site but not same-origin.
  if (method !== 'GET' || !isAtHome(request) || !['same-origin', 'none', undefined].includes(headers['sec-fetch-site'])) return null;
  const wanted = `${cookieName(request)}=`;
  return headers.cookie?.split(';').map((each) => each.trim()).find((each) => each.startsWith(wanted))?.slice(wanted.length) ?? null;
}

const body = z.strictObject({ secret: z.string().max(100) });

/** Maximum size of a body in bytes. */
const MOST_BYTES = 1_000;

const NO_PATH = (): ApiError => new ApiError('NOT_FOUND', 'the path exists only for pages of this server on its own machine');

/** Challenge for requests that need the sign-in link instead of a token. */
const BY_LINK = { 'www-authenticate': 'SignInLink realm="mappale"' };

const REFUSED: Readonly<Record<'unknown' | 'used' | 'expired', () => ApiError>> = {
  unknown: () => new ApiError('INVALID_API_KEY', 'the link is from an earlier start of the server. Use the newest link of mappale serve', { link: 'unknown' }, BY_LINK),
  used: () => new ApiError('GONE', 'the link was already used and works only once. Restart mappale serve to get a new link', { link: 'used' }),
  expired: () => new ApiError('GONE', `the link is older than ${LINK_MS / 60_000} minutes. Restart mappale serve to get a new link`, { link: 'expired' }),
};

/** Checks that the request is from a browser that was signed in with the link. @throws ApiError `NOT_FOUND`, `API_KEY_REQUIRED` */
export async function requireSession(request: FastifyRequest, signIn: SignIn): Promise<void> {
  if (!isAtHome(request)) throw NO_PATH();
  const session = request.headers['x-api-key'] === undefined ? sessionOf(request) : null;
  if (session !== null && (await signIn.hour(session, 'look')) !== null) return;
  const problem = 'this path needs a signed-in browser and accepts no token. Open the link that mappale serve prints when it starts';
  throw new ApiError('API_KEY_REQUIRED', problem, undefined, BY_LINK);
}

interface SignInOptions {
  /** Path below which browsers send the session cookie. */
  readonly base: string;
  readonly signIn: SignIn;
  /** True if browsers with a session may request explanations. */
  readonly explains: boolean;
}

/** Serves two paths: one creates a session for a valid secret, and one returns the state of a browser's session. */
export function serveSignIn(app: FastifyInstance, { base, signIn, explains }: SignInOptions): void {
  app.post(`${base}/map/sign-in`, async (request, reply) => {
    const { host, origin, 'content-type': type } = request.headers;
    // A page of another site can send a form, but cannot send this Origin header, and cannot send JSON without permission.
    if (!isAtHome(request) || origin !== `http://${host ?? ''}` || type?.split(';')[0]?.trim() !== 'application/json') throw NO_PATH();
    const came = await signIn.exchange(await readSecret(request));
    if ('refused' in came) throw REFUSED[came.refused]();
    return reply.code(204).headers({
      'cache-control': 'no-store', 'set-cookie': `${cookieName(request)}=${came.session}; HttpOnly; SameSite=Strict; Path=${base}`,
    }).send();
  });
  app.get(`${base}/map/session`, async (request, reply): Promise<FastifyReply> => {
    if (!isAtHome(request)) throw NO_PATH();
    const session = sessionOf(request);
    const signed_in = session !== null && (await signIn.hour(session, 'look')) !== null;
    return reply.type(JSON_TYPE).header('cache-control', 'no-store').send(JSON.stringify({ signed_in, sign_in: 'link', explains }));
  });
}

/** @throws ApiError `INVALID_PARAMS` */
async function readSecret({ raw }: FastifyRequest): Promise<string> {
  const refuse = (): ApiError => invalidParameter('body', '{"secret": "…"}, the text after #signin= in the link');
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of raw as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw refuse();
    chunks.push(chunk);
  }
  try {
    return body.parse(JSON.parse(Buffer.concat(chunks).toString())).secret;
  } catch {
    throw refuse();
  }
}
