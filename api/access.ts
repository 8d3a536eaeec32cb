/** Who may ask: the key of a request is looked up and counted in the database, which all servers share. */
import { createHash } from 'node:crypto';
import type { Reader } from '../pipelines/db/reader.ts';
import { ApiError, unavailable } from './errors.ts';
import { Turns } from './turns.ts';

export const SCOPES = ['geocoding:read', 'admin_data:read', 'parcels:read'] as const;

export type Scope = (typeof SCOPES)[number];

/** A key is `mpl_` and 32 random bytes in base64url. */
const KEY = /^mpl_[A-Za-z0-9_-]{43}$/;

interface Admission extends Record<string, unknown> {
  readonly outcome: 'ADMITTED' | 'INVALID_API_KEY' | 'INSUFFICIENT_SCOPE' | 'RATE_LIMITED' | 'TOO_MANY_ATTEMPTS';
  readonly token_id: number | null;
  readonly quota: number | null;
  readonly remaining: number | null;
  readonly resets_at: number | null;
  readonly retry_after_seconds: number | null;
}

export interface Caller {
  readonly tokenId: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** SHA-256 of a key, in hexadecimal: all that is kept of it. */
export function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** Requests of one token that a server works on at the same time. */
export const PER_TOKEN = 3;

/** How long the others wait for their turn; milliseconds. */
const PATIENCE_MS = 2_000;

/**
 * Lets a request in, or refuses it: the work begins when it is the token's turn, and the request is counted then.
 * @param key value of `x-api-key`
 * @param address of the caller, IPv4 or IPv6
 * @param gone whether the caller left while it waited
 * @param admitted told who asks, before the work
 * @throws ApiError 401, 403, 408, 429, 503; MappaleError; what the work throws
 */
export type Admit = <T>(
  key: string | readonly string[] | undefined, scope: Scope, address: string, gone: () => boolean, admitted: (caller: Caller) => void, work: () => Promise<T>,
) => Promise<T>;

export function admitter(reader: Reader): Admit {
  const turns = new Turns({ perCaller: PER_TOKEN, total: reader.parallel, patienceMs: PATIENCE_MS });
  return async (key, scope, address, gone, admitted, work) => {
    if (key === undefined || key.length === 0) throw new ApiError('API_KEY_REQUIRED', 'the header x-api-key with a token is required');
    // What cannot be a key is counted as a bad one, but never compared.
    const hash = typeof key === 'string' && KEY.test(key) ? hashOf(key) : '';
    // By the key, before it is looked up: that is work, too.
    const turn = await turns.take(hash === '' ? address : hash);
    try {
      if (gone()) throw callerGone();
      // Whose turn did not come is told so after the key and its scope were looked at, and does not use up the hour.
      const caller = await identify(reader, hash, scope, address, typeof turn === 'function');
      admitted(caller);
      if (turn === 'own') {
        throw new ApiError('RATE_LIMITED', `${PER_TOKEN} requests of this token are being worked on, and no turn came within ${PATIENCE_MS / 1000} seconds; ask again in 1 second`, { retry_after_seconds: 1, limit: PER_TOKEN }, { 'retry-after': '1' });
      }
      if (turn === 'others') throw unavailable('the server has too much to do');
      return await work();
    } finally {
      if (typeof turn === 'function') turn();
    }
  };
}

/** Nobody reads this answer. */
export function callerGone(): ApiError {
  return new ApiError('REQUEST_TIMEOUT', 'the connection was closed');
}

/** Looks a key up. @param counted whether the request counts in the token's hour @throws ApiError 401, 403, 429; MappaleError */
async function identify(reader: Reader, hash: string, scope: Scope, address: string, counted: boolean): Promise<Caller> {
  const found = await reader.count<Admission>('select outcome, token_id, quota, remaining, resets_at, retry_after_seconds from api.admit($1, $2, $3, $4)', [hash, scope, address, counted]);
  const headers: Record<string, string> = {};
  if (found.quota !== null) {
    headers['x-ratelimit-limit'] = String(found.quota);
    headers['x-ratelimit-remaining'] = String(found.remaining);
    headers['x-ratelimit-reset'] = String(found.resets_at);
  }
  const retry = found.retry_after_seconds;
  switch (found.outcome) {
    case 'ADMITTED':
      return { tokenId: found.token_id!, headers };
    case 'INVALID_API_KEY':
      throw new ApiError('INVALID_API_KEY', 'the token in x-api-key is not known, has expired or was revoked');
    case 'INSUFFICIENT_SCOPE':
      throw new ApiError('INSUFFICIENT_SCOPE', `the token does not have the scope ${scope}`, { required_scope: scope }, headers);
    case 'RATE_LIMITED':
      throw new ApiError('RATE_LIMITED', `more than ${found.quota} requests in an hour; ask again in ${retry} seconds`, { retry_after_seconds: retry, limit: found.quota }, {
        ...headers, 'retry-after': String(retry),
      });
    case 'TOO_MANY_ATTEMPTS':
      throw new ApiError('TOO_MANY_ATTEMPTS', `too many bad tokens from this address; ask again in ${retry} seconds`, { retry_after_seconds: retry }, { 'retry-after': String(retry) });
  }
}
