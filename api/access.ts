/**
 * Admits requests. The database, which all servers share, looks up keys, and counts requests with a key and bad keys. While the database is read-only, the
 * server counts these requests and keys in memory. The server always counts requests without a key in memory.
 */
import { createHash } from 'node:crypto';
import type { Reader } from '../pipelines/db/reader.ts';
import type { Count } from './counts.ts';
import { ApiError, refusal } from './errors.ts';
import { SESSION_QUOTA, type SignIn, type Use } from './sign-in.ts';
import { networkOf } from './client-address.ts';
import { FairQueue, type Slot, type TakeSlot } from './fair-queue.ts';

export const SCOPES = ['geocoding:read', 'admin_data:read', 'parcels:read'] as const;

export type Scope = (typeof SCOPES)[number];

/** Format of a key: `mpl_` and 32 random bytes in base64url. */
const KEY = /^mpl_[A-Za-z0-9_-]{43}$/;

/** Result of the database functions `api.admit` and `api.admit_rows`, or of `admitSession`. `api.admit_rows` and `admitSession` return no `network`. */
type Admission = {
  readonly outcome: 'ADMITTED' | 'INVALID_API_KEY' | 'INSUFFICIENT_SCOPE' | 'RATE_LIMITED' | 'TOO_MANY_ATTEMPTS';
  /** True if the transaction is read-only, so the database did not count the request. */
  readonly read_only?: boolean;
  /** IP network of the client that sent a bad key. */
  readonly network?: string | null;
} & Readonly<Record<'token_id' | 'quota' | 'remaining' | 'resets_at' | 'retry_after_seconds', number | null>>;

export interface Caller {
  /** Number of the token, or 0 for a session. Null: the request was not admitted, or its path needs no key. */
  readonly tokenId: number | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns the SHA-256 of a key in hexadecimal. The database stores only this digest, never the key. */
export function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** Maximum number of parallel requests of a token on a server, across all workers. Tiles and explanations have separate limits. */
export const PER_TOKEN = 3;

/** Maximum time in milliseconds that a request waits in a queue. Tiles, explanations and bodies have separate limits. */
const PATIENCE_MS = 2_000;

/** Maximum numbers of active and waiting tile requests of a token in one process. A map requests all tiles of a screen at once. */
export const TILES_PER_TOKEN = { working: 8, waiting: 64 } as const;

/**
 * Maximum waiting time of tile requests in milliseconds. With 64 waiting and 8 active requests, the last request waits until eight earlier requests in the same
 * slot are answered.
 */
const TILES_PATIENCE_MS = 10_000;

/** Limits of a queue. */
interface Queue {
  readonly perToken: number;
  readonly patienceMs: number;
  /** True if requests count against the token's hourly limit. */
  readonly counted: boolean;
}

const REQUESTS: Queue = { perToken: PER_TOKEN, patienceMs: PATIENCE_MS, counted: true };

export const TILES: Queue = { perToken: TILES_PER_TOKEN.working, patienceMs: TILES_PATIENCE_MS, counted: false };

/** Limits of explanations, which run a section's rule on a separate connection, one at a time. Waiting explanations time out later than other requests. */
export const EXPLANATIONS: Queue = { perToken: 1, patienceMs: 30_000, counted: true };

/** Credential of a request. */
export interface Credential {
  /** Value of `x-api-key`. */
  readonly key: string | readonly string[] | undefined;
  /** Session cookie, used when the request has no API key. */
  readonly session: string | null;
}

/** A request that was not yet admitted or refused. */
interface Applicant<S = Scope> {
  readonly credential: Credential;
  readonly scope: S;
  /** Address of the client, IPv4 or IPv6. */
  readonly address: string;
}

/**
 * Admits or refuses a request. Runs `work` if the token has the scope, a free slot and requests left in this hour. Tile requests do not count against the
 * hourly limit.
 * @param applicant the request; `gone` returns true if the client closed the connection while the request waited
 * @param identified receives the client after the look-up of the credential, before the request is refused or `work` runs
 * @throws ApiError 401, 403, 408, 429, 503; MappaleError; errors of `work`
 */
export type Admit = <T>(applicant: Applicant & { readonly gone: () => boolean }, identified: (caller: Caller) => void, work: () => Promise<T>) => Promise<T>;

/**
 * Admits or refuses a request to a path that needs no key. The request counts against the limit of the client's network.
 * @throws ApiError 408, 429, 503; errors of `work`
 */
export type AdmitOpen = <T>(
  applicant: { readonly address: string; readonly gone: () => boolean }, identified: (caller: Caller) => void, work: () => Promise<T>,
) => Promise<T>;

/** Maximum number of requests that a network may send to paths that need no key, in one hour. The hour starts with the first request. */
export const OPEN_QUOTA = 1_000;

/**
 * Checks the key and the scope of a request without counting the request. If the scope is null, the scope depends on the body and is checked later.
 * @returns the name that queues use for the client
 * @throws ApiError 401, 403, 429 after too many bad keys; MappaleError
 */
export type Identify = (applicant: Applicant<Scope | null>) => Promise<string>;

/** Creates the queue of requests for one worker, or for a server without workers. @param parallel maximum number of parallel requests */
export function queueFor(parallel: number): FairQueue {
  return new FairQueue({ perCaller: PER_TOKEN, total: parallel, patienceMs: PATIENCE_MS });
}

/** Creates the queue of tile requests for one process. At most half of the parallel requests of the process are for tiles. @param parallel see `queueFor` */
export function tileQueueFor(parallel: number): FairQueue {
  const { working, waiting } = TILES_PER_TOKEN;
  return new FairQueue({ perCaller: working, total: Math.ceil(parallel / 2), patienceMs: TILES_PATIENCE_MS, waiting });
}

/** Creates the queue of explanations that all workers of a server share. */
export function explanationQueue(): FairQueue {
  const { perToken, patienceMs } = EXPLANATIONS;
  return new FairQueue({ perCaller: perToken, total: perToken, patienceMs });
}

/**
 * Counts the rows of an uploaded table against the hourly limit, or refuses all rows. The request itself was counted as the first row.
 * @param identified receives the token and its rate headers, which state the requests left in this hour
 * @throws ApiError 403, 429; MappaleError
 */
export async function admitRows({ reader, count }: Counter, tokenId: number, scope: Scope, rows: number, identified: (caller: Caller) => void): Promise<void> {
  const found = await ask(reader, 'select outcome, token_id, quota, remaining, resets_at, retry_after_seconds, read_only from api.admit_rows($1, $2, $3)', [tokenId, scope, rows]);
  const admission = await countedHere(count, found, Math.max(rows, 1) - 1);
  identified({ tokenId, headers: rateHeaders(admission) });
  requireAdmitted(admission, scope);
}

/** Key or session of a request, before it is looked up in the database. */
interface Claim {
  /** Null: the request has a key. */
  readonly session: string | null;
  /** SHA-256 of the key in hexadecimal. Empty for a session, and for a malformed key, which matches no token and counts as a bad key. */
  readonly hash: string;
  /** Name that queues use for the client. */
  readonly caller: string;
}

/** @throws ApiError `API_KEY_REQUIRED` */
function claimOf({ key, session }: Credential, address: string, signIn: SignIn | null): Claim {
  if (key === undefined || key.length === 0) {
    if (session === null || signIn === null) throw refusal.API_KEY_REQUIRED();
    return { session, hash: '', caller: 'session' };
  }
  const hash = typeof key === 'string' && KEY.test(key) ? hashOf(key) : '';
  return { session: null, hash, caller: hash === '' ? address : hash };
}

interface Looking {
  readonly scope: Scope;
  readonly address: string;
  readonly use: Use;
}

const ADMIT = 'select outcome, token_id, quota, remaining, resets_at, retry_after_seconds, read_only, network from api.admit($1, $2, $3, $4)';

/** Looks up a key or session. If `use` is `count`, the request counts against the hourly limit of the token or session. */
async function lookUp({ reader, count }: Counter, signIn: SignIn | null, { session, hash }: Claim, { scope, address, use }: Looking): Promise<Admission> {
  if (session !== null && signIn !== null) return admitSession(signIn, session, use);
  const found = await ask(reader, ADMIT, [hash, scope, address, use === 'count']);
  return countedHere(count, found, use === 'count' ? 1 : 0);
}

/** Connection that counts requests in the database, and counter in memory for a read-only database. */
export interface Counter {
  readonly reader: Reader;
  readonly count: Count;
}

/**
 * Calls a counting function. If the call fails, for example because the disk is full, calls the function again in a read-only transaction, which only checks
 * the key. `countedHere` then counts in memory.
 */
async function ask(reader: Reader, statement: string, parameters: readonly unknown[]): Promise<Admission> {
  try {
    return await reader.count<Admission>(statement, parameters);
  } catch {
    return reader.call<Admission>(statement, parameters);
  }
}

const HOUR_MS = 3_600_000;
/** Maximum number of bad keys per network and period. The database function `api.blocked_until` has the same limit. */
const BAD_KEYS = { limit: 20, periodMs: 900_000 } as const;

/** Counts requests and bad keys in memory if the database did not count them. Otherwise, returns the result of the database unchanged. */
async function countedHere(count: Count, admission: Admission, add: number): Promise<Admission> {
  const { outcome, read_only: readOnly, token_id: tokenId, quota, remaining, resets_at: resetsAt, network } = admission;
  if (readOnly !== true) return admission;
  if (outcome === 'INVALID_API_KEY') {
    const { over, endsAt } = await count({ key: `network ${network ?? ''}`, add: 1, before: null, ...BAD_KEYS });
    return over ? { ...admission, outcome: 'TOO_MANY_ATTEMPTS', retry_after_seconds: secondsUntil(endsAt) } : admission;
  }
  if ((outcome !== 'ADMITTED' && outcome !== 'INSUFFICIENT_SCOPE') || quota === null || remaining === null || resetsAt === null) return admission;
  const before = remaining < quota ? { used: quota - remaining, endsAt: resetsAt * 1000 } : null;
  const { used, endsAt, over } = await count({ key: `token ${tokenId ?? ''}`, add: outcome === 'ADMITTED' ? add : 0, limit: quota, periodMs: HOUR_MS, before });
  const counted = { ...admission, remaining: Math.max(0, quota - used), resets_at: Math.ceil(endsAt / 1000) };
  return over && outcome === 'ADMITTED' ? { ...counted, outcome: 'RATE_LIMITED', retry_after_seconds: secondsUntil(endsAt) } : counted;
}

function secondsUntil(endsAt: number): number {
  return Math.max(1, Math.ceil((endsAt - Date.now()) / 1000));
}

/** Returns a function that checks keys before a body is read. The hourly limit is checked when the request leaves the queue. */
export function identifier(counter: Counter, signIn: SignIn | null): Identify {
  return async ({ credential, scope, address }) => {
    const claim = claimOf(credential, address, signIn);
    const admission = await lookUp(counter, signIn, claim, { scope: scope ?? 'parcels:read', address, use: 'look' });
    const isLater = admission.outcome === 'RATE_LIMITED' || (scope === null && admission.outcome === 'INSUFFICIENT_SCOPE');
    if (!isLater) requireAdmitted(admission, scope ?? 'parcels:read');
    return claim.caller;
  };
}

/** Returns a function that admits requests with a key or a session. @param signIn sign-in of browsers on this machine; null: browsers cannot sign in */
export function admitter(counter: Counter, takeSlot: TakeSlot, signIn: SignIn | null, { perToken, patienceMs, counted }: Queue = REQUESTS): Admit {
  return async ({ credential, scope, address, gone }, identified, work) => {
    const claim = claimOf(credential, address, signIn);
    // Requests wait in the queue before the look-up of the key, because the look-up uses the database, too.
    const slot = await takeSlot(claim.caller);
    try {
      if (gone()) throw refusal.CALLER_GONE();
      // A request that times out in the queue is answered after authentication and does not count against the rate limit.
      const admission = await lookUp(counter, signIn, claim, { scope, address, use: counted && typeof slot === 'function' ? 'count' : 'look' });
      identified({ tokenId: admission.outcome === 'ADMITTED' || (!counted && admission.outcome === 'RATE_LIMITED') ? admission.token_id : null, headers: rateHeaders(admission) });
      if (counted || admission.outcome !== 'RATE_LIMITED') requireAdmitted(admission, scope);
      requireSlot(slot, 'token', { perToken, patienceMs });
      return await work();
    } finally {
      if (typeof slot === 'function') slot();
    }
  };
}

/** @param client word that the message uses for the client @throws ApiError 429, 503 if the request got no slot */
function requireSlot(slot: Slot, client: 'token' | 'caller', { perToken, patienceMs }: Pick<Queue, 'perToken' | 'patienceMs'>): void {
  if (slot === 'own') {
    const problem = `${perToken} requests of this ${client} are in progress, and no slot became free within ${patienceMs / 1000} seconds; send the request again in 1 second`;
    throw new ApiError('RATE_LIMITED', problem, { retry_after_seconds: 1, limit: perToken }, { 'retry-after': '1' }, 'token_busy');
  }
  if (slot === 'others') throw refusal.SERVICE_UNAVAILABLE('the server is overloaded', 'server_busy');
}

/** Returns a function that admits requests without a key. The workers of a server share the request counts. */
export function openAdmitter(count: Count, takeSlot: TakeSlot): AdmitOpen {
  return async ({ address, gone }, identified, work) => {
    const network = networkOf(address);
    const slot = await takeSlot(network);
    try {
      if (gone()) throw refusal.CALLER_GONE();
      const { used, endsAt, over } = await count({ key: `open ${network}`, add: typeof slot === 'function' ? 1 : 0, limit: OPEN_QUOTA, periodMs: HOUR_MS, before: null });
      const [remaining, seconds] = [Math.max(0, OPEN_QUOTA - used), secondsUntil(endsAt)];
      identified({ tokenId: null, headers: rateHeaders({ quota: OPEN_QUOTA, remaining, resets_at: Math.ceil(endsAt / 1000) }) });
      if (over) throw refusal.RATE_LIMITED(OPEN_QUOTA, seconds);
      requireSlot(slot, 'caller', REQUESTS);
      return await work();
    } finally {
      if (typeof slot === 'function') slot();
    }
  };
}

/** Number that logs show as the token of a session. A server has at most one session. */
const SESSION_ID = 0;

/**
 * Looks up a session. The scope is not checked, because a session has every scope.
 * @throws ApiError `API_KEY_REQUIRED` for an unknown session, for example of an earlier server process
 */
async function admitSession(signIn: SignIn, session: string, use: Use): Promise<Admission> {
  const hour = await signIn.hour(session, use);
  if (hour === null) throw refusal.API_KEY_REQUIRED();
  const { used, endsAt } = hour;
  const isOver = used > SESSION_QUOTA;
  return {
    outcome: isOver ? 'RATE_LIMITED' : 'ADMITTED', token_id: SESSION_ID, quota: SESSION_QUOTA,
    remaining: Math.max(0, SESSION_QUOTA - used), resets_at: Math.ceil(endsAt / 1000),
    retry_after_seconds: isOver ? Math.max(1, Math.ceil((endsAt - Date.now()) / 1000)) : null,
  };
}

function rateHeaders({ quota, remaining, resets_at }: Pick<Admission, 'quota' | 'remaining' | 'resets_at'>): Record<string, string> {
  return quota === null ? {} : { 'x-ratelimit-limit': String(quota), 'x-ratelimit-remaining': String(remaining), 'x-ratelimit-reset': String(resets_at) };
}

/** @throws ApiError 401, 403, 429 */
function requireAdmitted({ outcome, quota, retry_after_seconds }: Admission, scope: Scope): void {
  switch (outcome) {
    case 'ADMITTED': return;
    case 'INVALID_API_KEY': throw refusal.INVALID_API_KEY();
    case 'INSUFFICIENT_SCOPE': throw refusal.INSUFFICIENT_SCOPE(scope);
    case 'RATE_LIMITED': throw refusal.RATE_LIMITED(quota ?? 0, retry_after_seconds ?? 0);
    case 'TOO_MANY_ATTEMPTS': throw refusal.TOO_MANY_ATTEMPTS(retry_after_seconds ?? 0);
  }
}
