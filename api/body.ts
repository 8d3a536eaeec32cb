/** Reads request bodies after key and scope were checked. Limits the number and size of bodies, and the time to receive each body. */
import type { IncomingMessage } from 'node:http';
import type { Identify } from './access.ts';
import { ApiError, invalidParameter, refusal } from './errors.ts';
import { FairQueue, type TakeSlot } from './fair-queue.ts';

/** Maximum time until a body is complete, in milliseconds. */
export const BODY_MS = 20_000;

/** Maximum number of request bodies that a server reads in parallel, per token and in total. */
const BODIES = { perToken: 3, total: 64 } as const;

interface BodyLimits {
  readonly mostBytes: number;
  /** Text at the end of the error for a body that is too long. */
  readonly hint: string;
}

/**
 * Checks the key of a request and reads its body.
 * @throws ApiError `INVALID_PARAMS` for a body that is too long or compressed; 401, 403 and 429 for the key; `RATE_LIMITED` and `SERVICE_UNAVAILABLE` for too
 * many bodies; `REQUEST_TIMEOUT` for a late or interrupted body; MappaleError
 */
export type Receive = (request: IncomingMessage, applicant: Parameters<Identify>[0], limits: BodyLimits) => Promise<Buffer>;

/** Returns the queue that limits the request bodies of a server. If the queue is full, a request with a body is refused immediately. */
export function bodyQueue(): FairQueue {
  return new FairQueue({ perCaller: BODIES.perToken, total: BODIES.total, patienceMs: 0 });
}

export function receiver(identify: Identify, takeSlot: TakeSlot): Receive {
  return async (request, applicant, limits) => {
    if ((request.headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
      throw invalidParameter('content-encoding', 'identity, which means a body without compression', 'is not supported');
    }
    if (Number(request.headers['content-length'] ?? 0) > limits.mostBytes) throw tooLong(limits);
    const slot = await takeSlot(await identify(applicant));
    if (slot === 'own') {
      const problem = `${BODIES.perToken} bodies of this token are being read; send the request again in 1 second`;
      throw new ApiError('RATE_LIMITED', problem, { retry_after_seconds: 1, limit: BODIES.perToken }, { 'retry-after': '1' }, 'token_busy');
    }
    if (slot === 'others') throw refusal.SERVICE_UNAVAILABLE('the server is already reading the maximum number of bodies; send the request again in 1 second', 'server_busy');
    try {
      return await read(request, limits);
    } finally {
      slot();
    }
  };
}

function read(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const late = setTimeout(() => fail(new ApiError('REQUEST_TIMEOUT', `the body did not arrive within ${BODY_MS / 1000} seconds`, undefined, { connection: 'close' })), BODY_MS);
    const fail = (error: ApiError): void => {
      clearTimeout(late);
      // The rest of the body is read and discarded. If the connection closed here, a client that is still sending could not read the refusal.
      request.off('data', take).resume();
      reject(error);
    };
    const take = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > limits.mostBytes) fail(tooLong(limits));
      else chunks.push(chunk);
    };
    request.on('data', take);
    request.once('end', () => {
      clearTimeout(late);
      resolve(Buffer.concat(chunks));
    });
    // The events below have no effect after the body is complete or refused.
    request.once('error', () => fail(refusal.CALLER_GONE()));
    request.once('close', () => fail(refusal.CALLER_GONE()));
    if (request.destroyed) fail(refusal.CALLER_GONE());
  });
}

function tooLong({ mostBytes, hint }: BodyLimits): ApiError {
  return invalidParameter('body', `at most ${mostBytes} bytes${hint}`, 'is too large');
}
