/** Errors of the API: problem details of RFC 9457 with `error`, `message` and `details?`, a status and sometimes headers. */
import { STATUS_CODES } from 'node:http';
import { MappaleError } from '../pipelines/errors.ts';

/** Error codes of the API with their status. */
export const STATUS = {
  INVALID_PARAMS: 400,
  OUT_OF_BOUNDS: 400,
  BBOX_TOO_LARGE: 400,
  POLYGON_TOO_LARGE: 400,
  FILTER_NOT_INDEXED: 400,
  FILTER_TOO_SLOW: 400,
  API_KEY_REQUIRED: 401,
  INVALID_API_KEY: 401,
  INSUFFICIENT_SCOPE: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  GONE: 410,
  RATE_LIMITED: 429,
  TOO_MANY_ATTEMPTS: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL_ERROR: 500,
  NO_HISTORY: 501,
  SERVICE_UNAVAILABLE: 503,
} as const;

export type ErrorCode = keyof typeof STATUS;

/** Value in seconds of the header Retry-After of a 503 response. */
export const RETRY_AFTER_SECONDS = 5;

/** Reasons for refusing a request with 429 or 503. The metrics count refusals by reason. */
export const TURNED_AWAY = ['quota', 'token_busy', 'bad_keys', 'server_busy', 'event_loop', 'database'] as const;

type TurnedAway = (typeof TURNED_AWAY)[number];

type Headers = Readonly<Record<string, string>>;

/** A published parcel that replaces a retired parcel. */
export interface Successor {
  readonly fid: number;
  readonly cadastral_reference: string;
}

/**
 * Value of WWW-Authenticate in a 401 response (RFC 9110, 11.6.1). The scheme `ApiKey` is not a registered scheme, because no registered scheme sends a token in
 * a separate header. With `Bearer`, clients would send the token in the wrong header. Browsers show no prompt for an unknown scheme.
 */
export const CHALLENGE = 'ApiKey realm="mappale", header="x-api-key"';

/** An error that the server sends as a response. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  readonly headers: Headers;

  constructor(
    readonly code: ErrorCode, message: string, readonly details?: Readonly<Record<string, unknown>>, headers: Headers = {},
    readonly turnedAway: TurnedAway | null = null,
  ) {
    super(message);
    this.headers = { ...(STATUS[code] === 401 ? { 'www-authenticate': CHALLENGE } : {}), ...headers };
  }

  get status(): number {
    return STATUS[this.code];
  }

  toJSON(): Record<string, unknown> {
    return {
      type: `urn:mappale:error:${this.code}`, title: STATUS_CODES[this.status] ?? this.code, status: this.status, detail: this.message,
      error: this.code, message: this.message, details: this.details,
    };
  }
}

function retryAfter(seconds: number): Headers {
  return { 'retry-after': String(seconds) };
}

/** Functions that create the error responses. `seconds` is the time until the client may try again, and in FILTER_TOO_SLOW the time limit of a filter. */
export const refusal = {
  POLYGON_TOO_LARGE: (area_m2: number) => new ApiError(
    'POLYGON_TOO_LARGE', 'polygon is too large; allowed: at most 1 km²', { max_m2: 1_000_000, area_m2: Math.round(area_m2) },
  ),
  FILTER_NOT_INDEXED: (indexed: readonly string[]) => new ApiError(
    'FILTER_NOT_INDEXED', `the filter would read every parcel; allowed: a filter with at least one indexed condition, combined with the others by "and": ${indexed.join(', ')}`, { indexed },
  ),
  FILTER_TOO_SLOW: (seconds: number) => new ApiError(
    'FILTER_TOO_SLOW', `the filter took longer than ${seconds} s; allowed: a smaller area, or fewer geometries and vertices`, { seconds },
  ),
  API_KEY_REQUIRED: () => new ApiError('API_KEY_REQUIRED', 'the header x-api-key with a token is required'),
  INVALID_API_KEY: () => new ApiError('INVALID_API_KEY', 'the token in x-api-key is not known, has expired or was revoked'),
  INSUFFICIENT_SCOPE: (scope: string) => new ApiError('INSUFFICIENT_SCOPE', `the token does not have the scope ${scope}`, { required_scope: scope }),
  NOT_FOUND: (id: number | string) => new ApiError('NOT_FOUND', `parcel ${id} does not exist`, { id }),
  /** The comune is unknown or has no published data. */
  NO_COMUNE: (code: string) => new ApiError('NOT_FOUND', `no data is published for comune ${code}`, { code }),
  /** The collection or feature does not exist. */
  NO_FEATURE: (collection: string, feature: string | null) => new ApiError(
    'NOT_FOUND', feature === null ? `collection ${collection} does not exist` : `feature ${feature} does not exist in ${collection}`, { collection, feature },
  ),
  /**
   * Refuses metrics with 404. The message names the option with which the operator can allow an address.
   */
  METRICS_ELSEWHERE: () => new ApiError('NOT_FOUND', 'the path does not exist for this client, because --metrics-from does not include the address of the client'),
  METHOD_NOT_ALLOWED: (method: string, allowed = 'GET') => new ApiError(
    'METHOD_NOT_ALLOWED', `${method} is not allowed; allowed: ${allowed}`, { allowed: [allowed] }, { allow: allowed },
  ),
  /** No client reads this response, because the connection is closed. */
  CALLER_GONE: () => new ApiError('REQUEST_TIMEOUT', 'the connection was closed'),
  /** Caches must revalidate the response, because the parcel may be published again. */
  GONE: (id: number | string, successors: readonly Successor[]) => {
    const successor_fid = successors.length === 1 ? successors[0]?.fid ?? null : null;
    return new ApiError(
      'GONE', `parcel ${id} is no longer published${successor_fid === null ? '' : `; its successor is ${successor_fid}`}`, { id, successor_fid, successors },
      { 'cache-control': 'private, no-cache' },
    );
  },
  NO_REGION: (region: string) => new ApiError('NOT_FOUND', `no data has been published for ${region}`, { region }),
  NO_HISTORY: () => new ApiError('NO_HISTORY', 'this database is on several nodes and keeps no history'),
  /** The changes are older than the kept history. */
  CHANGES_GONE: (kept_since: string, kept_after: number) => new ApiError(
    'GONE', `these changes are no longer kept; allowed: changes after publication ${kept_after}, or from ${kept_since} on`, { kept_since, kept_after },
    { 'cache-control': 'private, no-cache' },
  ),
  NO_PUBLICATION: (publication: number) => new ApiError('NOT_FOUND', `publication ${publication} does not exist or is no longer kept`, { publication }),
  /** No record is available for the requested day. */
  NOT_THEN: (id: number, as_of: string, kept_since: string | null, why: 'not_kept' | 'never_kept' | 'withdrawn' | 'withdrawn_then' | 'not_there') => {
    const unknown = kept_since === null ? `no data was published for the region of parcel ${id}` : `records of ${as_of} are not kept; the first kept day is ${kept_since}`;
    return new ApiError(
      'NOT_FOUND',
      {
        not_kept: unknown,
        never_kept: `${unknown}; a database on several nodes keeps no history`,
        withdrawn_then: `the region of parcel ${id} was withdrawn on ${as_of}`,
        withdrawn: `the region of parcel ${id} is withdrawn; records of earlier days are not available either`,
        not_there: `parcel ${id} did not exist on ${as_of}`,
      }[why],
      { id, as_of, kept_since },
    );
  },
  GONE_THEN: (id: number, as_of: string, successor_fid: number | null) => new ApiError(
    'GONE', `parcel ${id} was no longer published on ${as_of}${successor_fid === null ? '' : `; its successor is ${successor_fid}`}`, { id, as_of, successor_fid },
    { 'cache-control': 'private, no-cache' },
  ),
  RATE_LIMITED: (limit: number, seconds: number) => new ApiError(
    'RATE_LIMITED', `more than ${limit} requests in an hour; send the request again in ${seconds} seconds`, { retry_after_seconds: seconds, limit }, retryAfter(seconds),
    'quota',
  ),
  TOO_MANY_ATTEMPTS: (seconds: number) => new ApiError(
    'TOO_MANY_ATTEMPTS', `too many bad tokens from this address; send the request again in ${seconds} seconds`, { retry_after_seconds: seconds }, retryAfter(seconds),
    'bad_keys',
  ),
  INTERNAL_ERROR: (request_id: string) => new ApiError('INTERNAL_ERROR', 'internal error; for the cause, search the server log for this request_id', { request_id }),
  SERVICE_UNAVAILABLE: (message: string, why: TurnedAway) => new ApiError(
    'SERVICE_UNAVAILABLE', message, { retry_after_seconds: RETRY_AFTER_SECONDS }, retryAfter(RETRY_AFTER_SECONDS), why,
  ),
};

/** Returns the error for an invalid parameter. @param allowed description of accepted values */
export function invalidParameter(parameter: string, allowed: string, problem = 'is not valid'): ApiError {
  return new ApiError('INVALID_PARAMS', `${parameter} ${problem}; allowed: ${allowed}`, { parameter, allowed });
}

/** Codes of temporary failures (SQLSTATE classes and network errors). Failures with other codes are internal errors. */
const TRANSIENT = /^SQL_(08|53|57|55|40|ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|3D000|28|UNKNOWN)/;

function isTransient({ kind, code }: MappaleError): boolean {
  return kind === 'database' && TRANSIENT.test(code);
}

/** Converts any failure to an error response. An ApiError is returned unchanged, a temporary failure becomes 503, and any other failure 500. */
export function refusalOf(error: unknown, requestId: string): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof MappaleError && isTransient(error)) return refusal.SERVICE_UNAVAILABLE('the database is not available', 'database');
  return refusal.INTERNAL_ERROR(requestId);
}

/** Returns a failure as text for the log. */
export function describeFailure(error: unknown): string {
  return error instanceof MappaleError ? error.report() : error instanceof Error ? error.stack ?? error.message : String(error);
}
