/**
 * Signing a browser of this machine in: `mappale serve` prints a link, once, for a server that only this machine reaches. Its secret stands behind the `#`,
 * which no browser sends: the page exchanges it for a session, a cookie that counts as one token. Nothing of it is kept anywhere but in the process that gives
 * the link, and it ends with it.
 */
import { randomBytes, timingSafeEqual, createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { LOOPBACK, trusting } from './client-address.ts';
import { ApiError, invalidParameter } from './errors.ts';
import { JSON_TYPE } from './http.ts';

/** How long the link can be used. */
export const LINK_MS = 600_000;

/** Requests of a session in an hour, as of a token. */
export const SESSION_QUOTA = 1_000;

const HOUR_MS = 3_600_000;

/** What came of a secret. */
export type Exchanged = { readonly session: string } | { readonly refused: 'unknown' | 'used' | 'expired' };

/** `count`: the request uses up the hour of its key or session; `look`: it does not. */
export type Use = 'count' | 'look';

/** The current hour of a session. */
export interface SessionHour {
  /** With this request; more than the quota: it is refused. */
  readonly used: number;
  /** Milliseconds since 1970. */
  readonly endsAt: number;
}

export interface SignIn {
  /** Each secret works once. */
  exchange(secret: string): Promise<Exchanged>;
  /** Returns the current hour of a session, or null if there is no such session. */
  hour(session: string, use: Use): Promise<SessionHour | null>;
}

/** The one link of a server, and the session that comes of it. */
export class SignInLink implements SignIn {
  readonly secret = secretText();
  readonly #until: number;
  readonly #now: () => number;
  #session: string | null = null;
  #began = 0;
  #used = 0;

  /** @param now milliseconds since 1970 */
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
    // A fixed hour that begins with its first request, as that of a token.
    if (this.#now() >= this.#began + HOUR_MS) [this.#began, this.#used] = [this.#now(), 0];
    if (use === 'count') this.#used = Math.min(this.#used, SESSION_QUOTA) + 1;
    return { used: this.#used, endsAt: this.#began + HOUR_MS };
  }
}

function secretText(): string {
  return randomBytes(32).toString('base64url');
}

/** Whether two texts are the same; how long that takes says nothing of where they differ. */
function same(one: string, other: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(one), hash(other));
}

const isThisMachine = trusting(LOOPBACK);

/** Whether only this machine can reach a server that listens there. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/, '$1');
  return name === 'localhost' || isThisMachine(name);
}

/** Whether a request came straight from this machine, to an address of it: behind a foreign name another page may stand. */
function isAtHome({ headers, socket }: FastifyRequest): boolean {
  const host = /^(\[[^\]]*\]|[^:]*)(:\d+)?$/.exec(headers.host ?? '')?.[1];
  return host !== undefined && isLoopback(host) && isThisMachine(socket.remoteAddress ?? '') && headers['x-forwarded-for'] === undefined && headers.forwarded === undefined;
}

/** Cookies are the same for all ports of a machine: each server's has a name of its own. */
function cookieName({ headers }: FastifyRequest): string {
  return `mappale_session_${/:(\d+)$/.exec(headers.host ?? '')?.[1] ?? '80'}`;
}

/** Session that a request comes with; null: none that counts. */
export function sessionOf(request: FastifyRequest): string | null {
  const { method, headers } = request;
  // A page of another port of this machine is of the same site, but not of the same origin.
  if (method !== 'GET' || !isAtHome(request) || !['same-origin', 'none', undefined].includes(headers['sec-fetch-site'])) return null;
  const wanted = `${cookieName(request)}=`;
  return headers.cookie?.split(';').map((each) => each.trim()).find((each) => each.startsWith(wanted))?.slice(wanted.length) ?? null;
}

const body = z.strictObject({ secret: z.string().max(100) });

/** Bytes of a body that is read. */
const MOST_BYTES = 1_000;

const NO_PATH = (): ApiError => new ApiError('NOT_FOUND', 'there is no such path but for pages of this server on its own machine');

/** Where a token lets nobody in. */
const BY_LINK = { 'www-authenticate': 'SignInLink realm="mappale"' };

const REFUSED: Readonly<Record<'unknown' | 'used' | 'expired', () => ApiError>> = {
  unknown: () => new ApiError('INVALID_API_KEY', 'the link is not one of this server: take the one that mappale serve printed when it started last', { link: 'unknown' }, BY_LINK),
  used: () => new ApiError('GONE', 'the link was used already, and works once: start mappale serve again for another one', { link: 'used' }),
  expired: () => new ApiError('GONE', `the link is older than ${LINK_MS / 60_000} minutes: start mappale serve again for another one`, { link: 'expired' }),
};

/** What only the operator of this machine may ask: whoever has the link read it where the program runs. @throws ApiError `NOT_FOUND`, `API_KEY_REQUIRED` */
export async function requireSession(request: FastifyRequest, signIn: SignIn): Promise<void> {
  if (!isAtHome(request)) throw NO_PATH();
  const session = request.headers['x-api-key'] === undefined ? sessionOf(request) : null;
  if (session !== null && (await signIn.hour(session, 'look')) !== null) return;
  const problem = 'this is for a browser that the link of mappale serve signed in, and for no token: open the link that it prints when it starts';
  throw new ApiError('API_KEY_REQUIRED', problem, undefined, BY_LINK);
}

interface SignInOptions {
  /** Path below which browsers send the session cookie. */
  readonly base: string;
  readonly signIn: SignIn;
  /** True if the server explains values to sessions. */
  readonly explains: boolean;
}

/** Serves the exchange of the secret for a session, and the state of a browser's session. */
export function serveSignIn(app: FastifyInstance, { base, signIn, explains }: SignInOptions): void {
  app.post(`${base}/map/sign-in`, async (request, reply) => {
    const { host, origin, 'content-type': type } = request.headers;
    // Another page can send a form; it can neither name this origin nor send JSON unasked.
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
  const refuse = (): ApiError => invalidParameter('body', '{"secret": "…"}, what stands behind #signin= in the link');
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
