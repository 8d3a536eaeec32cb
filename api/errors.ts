/** Errors as the interface answers them: `{error, message, details?}` with a status and sometimes headers. */

/** Codes of the interface and the status that each comes with. */
export const STATUS = {
  INVALID_PARAMS: 400,
  OUT_OF_BOUNDS: 400,
  BBOX_TOO_LARGE: 400,
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
  SERVICE_UNAVAILABLE: 503,
} as const;

export type ErrorCode = keyof typeof STATUS;

/** Seconds after which to ask again when the database does not answer. */
export const RETRY_AFTER_SECONDS = 5;

/** An answer that is an error. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, details?: Readonly<Record<string, unknown>>, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.details = details;
    this.headers = headers;
  }

  get status(): number {
    return STATUS[this.code];
  }

  toJSON(): Record<string, unknown> {
    return { error: this.code, message: this.message, ...(this.details === undefined ? {} : { details: this.details }) };
  }
}

/** @param method that was asked for */
export function notAllowed(method: string): ApiError {
  return new ApiError('METHOD_NOT_ALLOWED', `${method} is not allowed; allowed: GET`, { allowed: ['GET'] }, { allow: 'GET' });
}

/** A parameter that is not what it must be. @param allowed what would be accepted, for people */
export function invalidParameter(parameter: string, allowed: string, problem = 'is not valid'): ApiError {
  return new ApiError('INVALID_PARAMS', `${parameter} ${problem}; allowed: ${allowed}`, { parameter, allowed });
}

export function unavailable(message: string): ApiError {
  return new ApiError('SERVICE_UNAVAILABLE', message, { retry_after_seconds: RETRY_AFTER_SECONDS }, { 'retry-after': String(RETRY_AFTER_SECONDS) });
}

/** Codes of SQLSTATE and of the network that mean: not now. The rest means that something of ours is wrong. */
const TRANSIENT = /^SQL_(08|53|57|55P03|40|ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|3D000|28|UNKNOWN)/;

/** @param code of a MappaleError of kind `database` */
export function isTransient(code: string): boolean {
  return TRANSIENT.test(code);
}
