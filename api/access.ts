/** Who may ask: the key of a request is looked up and counted in the database, which all servers share. */
import { createHash } from 'node:crypto';
import type { Reader } from '../pipelines/db/reader.ts';
import type { Count } from './counts.ts';
import { ApiError, refusal } from './errors.ts';
import { SESSION_QUOTA, type SignIn, type Use } from './sign-in.ts';
import { FairQueue, type TakeSlot } from './fair-queue.ts';

export const SCOPES = ['geocoding:read', 'admin_data:read', 'parcels:read'] as const;

export type Scope = (typeof SCOPES)[number];

/** A key is `mpl_` and 32 random bytes in base64url. */
const KEY = /^mpl_[A-Za-z0-9_-]{43}$/;

/** What the database says of a key. */
type Admission = {
  readonly outcome: 'ADMITTED' | 'INVALID_API_KEY' | 'INSUFFICIENT_SCOPE' | 'RATE_LIMITED' | 'TOO_MANY_ATTEMPTS';
  /** The database counts nothing now. */
  readonly read_only?: boolean;
  /** Of a bad key. */
  readonly network?: string | null;
} & Readonly<Record<'token_id' | 'quota' | 'remaining' | 'resets_at' | 'retry_after_seconds', number | null>>;

export interface Caller {
  /** Null: not admitted. */
  readonly tokenId: number | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** SHA-256 of a key, in hexadecimal: all that is kept of it. */
export function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** Requests of one token that a server works on at the same time, with all of its workers. */
export const PER_TOKEN = 3;

/** How long the others wait for their turn; milliseconds. */
const PATIENCE_MS = 2_000;

/** Tiles of one token that a process works on at the same time, and that wait: a map asks for a screen of them at once. */
export const TILES_PER_TOKEN = { working: 8, waiting: 64 } as const;

/** The last of those that wait come after eight rounds of them. */
const TILES_PATIENCE_MS = 10_000;

/** What a queue allows. */
interface Queue {
  readonly perToken: number;
  readonly patienceMs: number;
  /** Whether requests use up the token's hour, and end with it. */
  readonly counted: boolean;
}

const REQUESTS: Queue = { perToken: PER_TOKEN, patienceMs: PATIENCE_MS, counted: true };

export const TILES: Queue = { perToken: TILES_PER_TOKEN.working, patienceMs: TILES_PATIENCE_MS, counted: false };

/** An explanation runs a section's rule again, on a connection of its own: one at a time, and others wait for it longer than for an answer. */
export const EXPLANATIONS: Queue = { perToken: 1, patienceMs: 30_000, counted: true };

/** By what a request may be let in. */
export interface Credential {
  /** Value of `x-api-key`. */
  readonly key: string | readonly string[] | undefined;
  /** Cookie of a browser that was signed in; counts where there is no key. */
  readonly session: string | null;
}

/** A request before its admission. */
export interface Applicant<S = Scope> {
  readonly credential: Credential;
  readonly scope: S;
  /** Address of the client, IPv4 or IPv6. */
  readonly address: string;
}

/**
 * Admits or refuses a request. The work begins, and the request is counted, when the token has a free slot.
 * @param applicant `gone` returns whether the client left while the request waited
 * @param identified receives the client before the request is refused or the work begins
 * @throws ApiError 401, 403, 408, 429, 503; MappaleError; errors of the work
 */
export type Admit = <T>(applicant: Applicant & { readonly gone: () => boolean }, identified: (caller: Caller) => void, work: () => Promise<T>) => Promise<T>;

/**
 * Checks the key and the scope of a request without counting the request. With the scope null, which only the body tells, the scope is checked later.
 * @returns the name of the client in queues
 * @throws ApiError 401, 403, 429 for bad keys; MappaleError
 */
export type Identify = (applicant: Applicant<Scope | null>) => Promise<string>;

/** @param parallel requests that a worker, or a server without workers, works on at the same time */
export function queueFor(parallel: number): FairQueue {
  return new FairQueue({ perCaller: PER_TOKEN, total: parallel, patienceMs: PATIENCE_MS });
}

/** Turns of tiles, in a process of its own: others have at least half of its connections. @param parallel as of `turnsFor` */
export function tileQueueFor(parallel: number): FairQueue {
  const { working, waiting } = TILES_PER_TOKEN;
  return new FairQueue({ perCaller: working, total: Math.ceil(parallel / 2), patienceMs: TILES_PATIENCE_MS, waiting });
}

/** Turns of explanations, of a server with all of its workers. */
export function explanationQueue(): FairQueue {
  const { perToken, patienceMs } = EXPLANATIONS;
  return new FairQueue({ perCaller: perToken, total: perToken, patienceMs });
}

/**
 * Counts the rows that a request brought, which was counted as its first, or refuses all of them.
 * @param identified told what is left of the token's hour
 * @throws ApiError 403, 429; MappaleError
 */
export async function admitRows({ reader, count }: Counter, tokenId: number, scope: Scope, rows: number, identified: (caller: Caller) => void): Promise<void> {
  const found = await ask(reader, 'select outcome, token_id, quota, remaining, resets_at, retry_after_seconds, read_only from api.admit_rows($1, $2, $3)', [tokenId, scope, rows]);
  // The request was counted as its first row.
  const admission = await countedHere(count, found, Math.max(rows, 1) - 1);
  identified({ tokenId, headers: rateHeaders(admission) });
  requireAdmitted(admission, scope);
}

/** A request that names a key or a session, before it is looked up. */
interface Claim {
  /** Null: the request has a key. */
  readonly session: string | null;
  /** SHA-256 of the key; empty for what cannot be a key, which is counted as a bad one and never compared. */
  readonly hash: string;
  /** Name under which the caller has turns. */
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

/** Looks up a claim. With the use `count` the request uses up the hour of its token. */
async function lookUp({ reader, count }: Counter, signIn: SignIn | null, { session, hash }: Claim, { scope, address, use }: Looking): Promise<Admission> {
  if (session !== null && signIn !== null) return admitSession(signIn, session, use);
  const found = await ask(reader, ADMIT, [hash, scope, address, use === 'count']);
  return countedHere(count, found, use === 'count' ? 1 : 0);
}

/** Where requests are counted: in the database, or in memory while it takes no rows. */
export interface Counter {
  readonly reader: Reader;
  readonly count: Count;
}

/** Asks a function that counts. Where nothing can be counted, as on a full disk, the same function looks the key up without counting. */
async function ask(reader: Reader, statement: string, parameters: readonly unknown[]): Promise<Admission> {
  try {
    return await reader.count<Admission>(statement, parameters);
  } catch {
    return reader.call<Admission>(statement, parameters);
  }
}

const HOUR_MS = 3_600_000;
/** Bad keys of one network, and how long they count; as `api.blocked_until`. */
const BAD_KEYS = { limit: 20, periodMs: 900_000 } as const;

/** Counts in memory what the database could not count. */
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

/** Checks keys before a body is read; the hour of a token is looked at when its turn comes. */
export function identifier(counter: Counter, signIn: SignIn | null): Identify {
  return async ({ credential, scope, address }) => {
    const claim = claimOf(credential, address, signIn);
    const admission = await lookUp(counter, signIn, claim, { scope: scope ?? 'parcels:read', address, use: 'look' });
    const isLater = admission.outcome === 'RATE_LIMITED' || (scope === null && admission.outcome === 'INSUFFICIENT_SCOPE');
    if (!isLater) requireAdmitted(admission, scope ?? 'parcels:read');
    return claim.caller;
  };
}

/** @param signIn of browsers of this machine; null: there is none */
export function admitter(counter: Counter, takeSlot: TakeSlot, signIn: SignIn | null, { perToken, patienceMs, counted }: Queue = REQUESTS): Admit {
  return async ({ credential, scope, address, gone }, identified, work) => {
    const claim = claimOf(credential, address, signIn);
    // The turn comes before the key is looked up, which is work as well.
    const slot = await takeSlot(claim.caller);
    try {
      if (gone()) throw refusal.CALLER_GONE();
      // A request that times out in the queue is answered after authentication and does not count against the rate limit.
      const admission = await lookUp(counter, signIn, claim, { scope, address, use: counted && typeof slot === 'function' ? 'count' : 'look' });
      identified({ tokenId: admission.outcome === 'ADMITTED' || (!counted && admission.outcome === 'RATE_LIMITED') ? admission.token_id : null, headers: rateHeaders(admission) });
      if (counted || admission.outcome !== 'RATE_LIMITED') requireAdmitted(admission, scope);
      if (slot === 'own') {
        const problem = `${perToken} requests of this token are being worked on, and no turn came within ${patienceMs / 1000} seconds; ask again in 1 second`;
        throw new ApiError('RATE_LIMITED', problem, { retry_after_seconds: 1, limit: perToken }, { 'retry-after': '1' }, 'token_busy');
      }
      if (slot === 'others') throw refusal.SERVICE_UNAVAILABLE('the server has too much to do', 'server_busy');
      return await work();
    } finally {
      if (typeof slot === 'function') slot();
    }
  };
}

/** What the log and others call a session, which is one at most. */
const SESSION_ID = 0;

/** A session asks whatever the map asks: of every scope. @throws ApiError `API_KEY_REQUIRED`: what the browser has is of a server that was */
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

function rateHeaders({ quota, remaining, resets_at }: Admission): Record<string, string> {
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
