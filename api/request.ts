/** Reads path, origin, credential and client address of a request, admits the request, and computes entity tags. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Admit, AdmitOpen, Caller, Credential, Scope } from './access.ts';
import { plainAddress } from './client-address.ts';
import { invalidParameter, refusal } from './errors.ts';
import { digest } from './prepared.ts';
import { sessionOf } from './sign-in.ts';

export function isForwarded({ headers }: FastifyRequest): boolean {
  return headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined;
}

/** Returns the decoded path of a request, without origin and query. An encoded slash in a parameter remains encoded. */
export function pathOf({ url }: FastifyRequest): string {
  const path = url.replace(/^https?:\/\/[^/]*/i, '').replace(/\?.*$/s, '');
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

/** Pattern of a host name or address with an optional port. */
const HOST = /^(?:[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

/**
 * Returns the origin (scheme and host) for links in a response, from the headers of the client or of a trusted proxy. If these headers are not valid, links are
 * paths without an origin. No other part of a header may get into a link.
 */
export function originOf({ protocol, host }: FastifyRequest): string {
  return /^https?$/.test(protocol) && HOST.test(host) ? `${protocol}://${host}` : '';
}

export function credentialOf(request: FastifyRequest): Credential {
  return { key: request.headers['x-api-key'], session: sessionOf(request) };
}

/** @throws ApiError `REQUEST_TIMEOUT` for a closed connection, which has no address */
export function addressOf(request: FastifyRequest): string {
  const address = plainAddress(request.ip) ?? plainAddress(request.socket.remoteAddress);
  if (address === null) throw refusal.CALLER_GONE();
  return address;
}

/**
 * Admits a request, then runs `work`.
 * @param work receives a function that writes the client's rate headers
 * @throws ApiError 401, 403, 408, 429, 503, and `INVALID_PARAMS` for a query that is not UTF-8
 */
export async function admitted<T>(
  admit: Admit, scope: Scope, request: FastifyRequest, reply: FastifyReply, work: (identified: (caller: Caller) => void) => Promise<T>,
): Promise<T> {
  const identified = (caller: Caller): void => {
    request.tokenId = caller.tokenId;
    reply.headers(caller.headers);
  };
  const claim = { credential: credentialOf(request), scope, address: addressOf(request), gone: () => request.socket.destroyed };
  return admit(claim, identified, async () => {
    requireDecodable(request.url);
    return work(identified);
  });
}

/** Admits a request without a key, then runs `work`. @throws ApiError 408, 429, 503, and `INVALID_PARAMS` for a query that is not UTF-8 */
export async function admittedOpenly<T>(admitOpen: AdmitOpen, request: FastifyRequest, reply: FastifyReply, work: () => Promise<T>): Promise<T> {
  const applicant = { address: addressOf(request), gone: () => request.socket.destroyed };
  return admitOpen(applicant, ({ headers }) => void reply.headers(headers), async () => {
    requireDecodable(request.url);
    return work();
  });
}

/** Returns the weak entity tag of a response. For one publication, equal requests have equivalent responses, even if the bytes differ. */
export function tagOf(version: string, publication: string, path: string, given: unknown): string {
  return `W/"${digest(`${version} ${publication} ${path} ${JSON.stringify(given)}`)}"`;
}

/** @throws ApiError `INVALID_PARAMS` for a parameter that is not UTF-8. The query parser would accept such a parameter. */
function requireDecodable(url: string): void {
  if (!url.includes('%')) return;
  for (const pair of url.slice(url.indexOf('?') + 1).split('&')) {
    try {
      decodeURIComponent(pair);
    } catch {
      const [name = ''] = pair.split('=');
      const shown = /^[\w.-]{1,40}$/.test(name) ? name : 'a parameter';
      throw invalidParameter(shown, 'text in UTF-8, percent-encoded: %C3%A0 for à, %25 for %', 'is not percent-encoded');
    }
  }
}
