/**
 * HTTP client for one publisher. Uses one connection to each server, follows redirects, and retries if the server is busy or unreachable.
 *
 * Uses undici's `request` instead of Node's `fetch`. `request` returns the bytes as sent, and supports connection limits and timeouts. `fetch` decompresses the
 * body, so `Content-Length` and ranges do not match the bytes that `fetch` returns.
 */
import type { LookupFunction } from 'node:net';
import { Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { EnvHttpProxyAgent, request, type Dispatcher } from 'undici';
import type { Clock } from '../clock.ts';
import { NO_PROXIES, type Proxies } from '../config.ts';
import { inputError, MappaleError } from '../errors.ts';
import type { Log } from '../log.ts';
import { duration } from '../progress.ts';
import { isPrivateHost, PrivateAddress, privateAddressOf, publicLookup } from './address.ts';
import { bounded } from './bounds.ts';

/** Limits of one download. */
export interface Bounds {
  /** Maximum size of a body in bytes, both as sent and after decompression. */
  readonly most: number;
  /** Host that the operator configured, which may be private. Null if the operator configured no host. */
  readonly named: string | null;
  /** Host and port of the server whose responses may be quoted in messages. */
  readonly shown: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Final address after redirects. */
  readonly url: string;
  readonly redirected: boolean;
  /** True if the body comes from a host other than `shown`. Messages do not quote such a body. */
  readonly elsewhere: boolean;
  /** Body after decompression, within the limits of speed and size. */
  readonly body: Readable;
  /** Body as the server sent it. */
  readonly sent: Readable;
  /** True if the server compressed the body for transfer. Lengths and ranges then refer to the compressed body, not to the file. */
  readonly packed: boolean;
}

/** Pauses before retries, in seconds, if a busy server sends no `Retry-After`. */
const BUSY = [30, 60, 120, 240] as const;
/** Pauses before retries, in seconds, if the server is unreachable, closes the connection, or returns an error status. */
export const BROKEN = [2, 5, 15, 30] as const;
/** Maximum pause in seconds. If a server requests a longer pause, the download fails. The next run tries again. */
const LONGEST_WAIT = 900;
const REDIRECTS = 10;
/** HTTP statuses that indicate a busy server. */
const BUSY_STATUS: ReadonlySet<number> = new Set([429, 503]);
const BROKEN_STATUS: ReadonlySet<number> = new Set([408, 425, 500, 502, 504, 520, 521, 522, 523, 524, 525, 526, 527]);
const REDIRECT_STATUS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Names of this machine, which never use a proxy. */
const THIS_MACHINE = ['localhost', '127.0.0.1', '[::1]'];

/** Default User-Agent. Some publishers refuse requests without a User-Agent. */
const USER_AGENT = 'mappale';

/** Matches OpenSSL's error codes for an invalid certificate or chain. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET_ISSUER)|HOSTNAME_MISMATCH|ALTNAME/;

/** Matches undici's message for a proxy that returns 407. */
const PROXY_LOGIN = /\(407\)/;

export class Publisher {
  /** Agent that connects only to public addresses. */
  readonly #agent: EnvHttpProxyAgent;
  /** Agent for hosts that the operator configured. */
  readonly #namedAgent: EnvHttpProxyAgent;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #hide: (text: string) => string;
  readonly #proxies: Proxies;
  /** Cookies by host. Some hosts set a cookie and redirect to the same address. Without the cookie, such a host would redirect again and again. */
  readonly #cookies = new Map<string, Map<string, string>>();

  /** @param hide removes secrets from messages @param lookup resolves host names; replaced in tests */
  constructor(clock: Clock, log: Log, hide: (text: string) => string = (text) => text, proxies: Proxies = NO_PROXIES, lookup?: LookupFunction) {
    const agent = (ask: LookupFunction | undefined): EnvHttpProxyAgent => agentOf(proxies, {
      connections: 1, pipelining: 1, headersTimeout: 120_000, bodyTimeout: 120_000, connect: { timeout: 30_000, ...(ask === undefined ? {} : { lookup: ask }) },
    });
    this.#agent = agent(publicLookup(lookup));
    this.#namedAgent = agent(lookup);
    this.#clock = clock;
    this.#log = log;
    this.#hide = hide;
    this.#proxies = proxies;
  }

  /** Closes all connections, including connections with an unread body. */
  async close(): Promise<void> {
    await Promise.all([this.#agent.destroy(), this.#namedAgent.destroy()]);
  }

  /**
   * Sends a GET request and returns the response. Retries if the server is unreachable, or if the status indicates a busy or failing server. Returns responses
   * with all other statuses.
   * @throws input errors `DOWNLOAD_UNREACHABLE`, `DOWNLOAD_CERTIFICATE`, `DOWNLOAD_BUSY`, `DOWNLOAD_REDIRECTED`, `DOWNLOAD_PRIVATE`, `DOWNLOAD_PROXY`. Reading
   * the body throws `DOWNLOAD_SLOW` and `DOWNLOAD_TOO_LARGE`
   */
  async ask(url: string, headers: Readonly<Record<string, string>>, bounds: Bounds): Promise<Answer> {
    for (let attempt = 0; ; attempt += 1) {
      let answer: Answer | null = null;
      let broken: unknown = null;
      try {
        answer = await this.#follow(url, headers, bounds);
        if (!BUSY_STATUS.has(answer.status) && !BROKEN_STATUS.has(answer.status)) return answer;
        await discard(answer);
      } catch (error) {
        if (error instanceof MappaleError) throw error;
        const inner = privateAddressOf(error);
        if (inner !== null) throw this.#private(url, inner);
        if (isCertificate(error)) throw this.#certificate(url, error);
        if (PROXY_LOGIN.test(reasonOf(error))) throw this.#proxyLogin(url, error);
        broken = error;
      }
      const asked = answer === null ? null : retryAfter(answer.headers['retry-after'], answer.headers['date'], this.#clock.now());
      const usual = (answer !== null && asked === null && BUSY_STATUS.has(answer.status) ? BUSY : BROKEN)[attempt];
      // A server may request 0 seconds or a time in the past. The pause is then as long as after a broken connection.
      const seconds = Math.max(asked ?? 0, usual ?? 0);
      if (usual === undefined || seconds > LONGEST_WAIT) throw answer === null ? this.#unreachable(url, broken) : this.#busy(url, answer, asked);
      const why = answer === null ? `does not answer (${this.#hide(reasonOf(broken))})` : `answers with status ${answer.status}`;
      this.#log.info(`${this.#hide(new URL(url).host)} ${why}. The next request is in ${duration(seconds)}`);
      await this.#clock.wait(seconds);
    }
  }

  #unreachable(url: string, error: unknown): MappaleError {
    const through = this.#proxies.http === null && this.#proxies.https === null ? 'If this machine needs a proxy, set HTTPS_PROXY=http://PROXY:PORT. ' : 'HTTPS_PROXY and HTTP_PROXY set the proxy, and NO_PROXY lists the hosts to contact without a proxy. ';
    return inputError('the publisher cannot be reached', {
      code: 'DOWNLOAD_UNREACHABLE', at: this.#hide(url), detail: `expected a response, found: ${this.#hide(reasonOf(error))}`,
      hint: `Check the internet connection and open the address in a browser. Then run the command again. Downloaded files are kept. ${through}`.trim(), cause: error,
    });
  }

  async #follow(first: string, headers: Readonly<Record<string, string>>, { most, named, shown }: Bounds): Promise<Answer> {
    let url = first;
    let isNamed = true;
    for (let hops = 0; hops <= REDIRECTS; hops += 1) {
      const { hostname, host } = new URL(url);
      // After a redirect to another host, only public addresses are allowed, even for a redirect back to the configured host.
      isNamed &&= hostname === named;
      if (!isNamed && isPrivateHost(hostname)) throw new PrivateAddress(hostname, hostname);
      const { statusCode, headers: got, body } = await request(url, { dispatcher: isNamed ? this.#namedAgent : this.#agent, headers: { 'accept-encoding': 'identity', 'user-agent': USER_AGENT, ...this.#headersTo(url, first, headers) } });
      const at = this.#hide(first);
      const chunks = bounded(body, { clock: this.#clock, most, at });
      const answer = answerOf(statusCode, plain(got), body, chunks, { url, redirected: hops > 0, elsewhere: host !== shown });
      this.#keepCookies(url, got['set-cookie']);
      const target = REDIRECT_STATUS.has(statusCode) ? answer.headers['location'] : undefined;
      if (target === undefined) return answer;
      await discard(answer);
      const next = URL.canParse(target, url) ? new URL(target, url) : null;
      if (next === null || !/^https?:$/.test(next.protocol)) {
        throw this.#redirected(first, `a redirect to ${JSON.stringify(this.#hide(target).slice(0, 200))}`, 'This is not a web address. The file may have moved. Open the publisher\'s page in a browser.');
      }
      if (next.protocol !== 'https:' && new URL(url).protocol === 'https:') {
        throw this.#redirected(first, `a redirect from https to ${this.#hide(next.href)}`, 'Without https, somebody could change the file during the download. If you trust the address, download the file in a browser and put it into the data folder.');
      }
      url = next.href;
    }
    throw this.#redirected(first, `more than ${REDIRECTS} redirects`, 'Open the address in a browser. The publisher may require a login, or may have moved the file.');
  }

  /** Returns the headers for a request. Includes `authorization` only if the request goes to the origin of the first address. */
  #headersTo(url: string, first: string, { authorization, ...headers }: Readonly<Record<string, string>>): Record<string, string> {
    const { origin, host } = new URL(url);
    const cookies = [...this.#cookies.get(host) ?? []].map(([name, value]) => `${name}=${value}`).join('; ');
    return {
      ...headers, ...(authorization === undefined || origin !== new URL(first).origin ? {} : { authorization }), ...(cookies === '' ? {} : { cookie: cookies }),
    };
  }

  #keepCookies(url: string, said: string | string[] | undefined): void {
    const { host } = new URL(url);
    for (const each of [said ?? []].flat()) {
      const [, name, value] = /^\s*([^=;\s]+)=([^;]*)/.exec(each) ?? [];
      if (name !== undefined && value !== undefined) this.#cookies.set(host, (this.#cookies.get(host) ?? new Map<string, string>()).set(name, value.trim()));
    }
  }

  #redirected(url: string, found: string, hint: string): MappaleError {
    return inputError('the publisher redirects the download to an unsuitable address', { code: 'DOWNLOAD_REDIRECTED', at: this.#hide(url), detail: `expected the file, found ${found}`, hint });
  }

  #private(url: string, { message }: PrivateAddress): MappaleError {
    return inputError('the download leads to a private address', {
      code: 'DOWNLOAD_PRIVATE', at: this.#hide(url), detail: `expected an address of the public internet, found ${this.#hide(message)}`,
      hint: 'No request was sent there. If the server is yours, set its address in MAPPALE_<SOURCE>_URL (docs/downloads.md).',
    });
  }

  #proxyLogin(url: string, error: unknown): MappaleError {
    return inputError('the proxy asks for a login', {
      code: 'DOWNLOAD_PROXY', at: this.#hide(url), detail: `expected a connection to the publisher, found: ${this.#hide(reasonOf(error))}`,
      hint: 'Write user and password into the proxy\'s address, with @ / ? # : % escaped as %40 %2F %3F %23 %3A %25. Then run the same command again.',
      fix: `export ${url.startsWith('https:') ? 'HTTPS' : 'HTTP'}_PROXY=http://USER:PASSWORD@PROXY:PORT`, cause: error,
    });
  }

  #certificate(url: string, error: unknown): MappaleError {
    return inputError('the publisher\'s certificate cannot be verified', {
      code: 'DOWNLOAD_CERTIFICATE', at: this.#hide(url), detail: `expected a certificate chain that this machine trusts, found: ${reasonOf(error)}`,
      hint: 'Nothing was downloaded. The server may not send all certificates of its chain, or your network may replace the server\'s certificate. Save the missing certificate as PEM, set it with the command below and run this command again. '
        + 'Or download the file in a browser and put it into the data folder.', fix: 'export NODE_EXTRA_CA_CERTS=FILE.pem', cause: error,
    });
  }

  #busy(url: string, { status }: Answer, asked: number | null): MappaleError {
    const until = asked === null || asked <= LONGEST_WAIT ? 'in all attempts' : `with a requested pause of ${duration(asked)}`;
    return inputError('the publisher is busy', {
      code: 'DOWNLOAD_BUSY', at: this.#hide(url), detail: `expected the file, found status ${status} ${until}`, hint: 'Run the command again later. Downloaded files are kept, and partial downloads continue.',
    });
  }
}

function plain(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value]])));
}

/**
 * Returns a response. Decompresses the body of a response with status 200, because a server may compress a body although the request does not allow
 * compression.
 */
function answerOf(
  status: number, headers: Record<string, string>, sent: Readable, chunks: AsyncGenerator<Buffer>, from: Pick<Answer, 'url' | 'redirected' | 'elsewhere'>,
): Answer {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  const packed = encoding !== '' && encoding !== 'identity';
  const unpack = packed && status === 200 ? UNPACK[encoding] : undefined;
  return { status, headers, ...from, packed, sent, body: Readable.from(unpack === undefined ? chunks : unpacked(sent, chunks, unpack)) };
}

interface Packing {
  readonly stream: () => Transform;
  /** First bytes of compressed data (magic number); null if the format has no magic number. */
  readonly mark: Buffer | null;
}

const GZIP: Packing = { stream: createGunzip, mark: Buffer.from([0x1f, 0x8b]) };
/** Decompression methods, by `Content-Encoding`. */
const UNPACK: Readonly<Record<string, Packing | undefined>> = { gzip: GZIP, 'x-gzip': GZIP, deflate: { stream: createInflate, mark: null }, br: { stream: createBrotliDecompress, mark: null } };

/** Decompresses a body. Leaves a body without the magic number unchanged, because some servers declare a compression that they did not apply. */
async function* unpacked(body: Readable, chunks: AsyncGenerator<Buffer>, { stream, mark }: Packing): AsyncGenerator<Buffer> {
  const first = await chunks.next();
  if (first.done === true) return;
  const all = Readable.from((async function* () {
    yield first.value;
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value;
  })());
  const unpacking = stream();
  try {
    if (mark !== null && !first.value.subarray(0, mark.length).equals(mark)) yield* all as AsyncIterable<Buffer>;
    else yield* all.on('error', (error) => unpacking.destroy(error)).pipe(unpacking) as AsyncIterable<Buffer>;
  } finally {
    body.on('error', () => undefined).destroy();
  }
}

/** Discards a body. Reads a short body to its end, so that the connection can be reused. Closes the connection of a long body. */
export async function discard(answer: Answer): Promise<void> {
  await headOf(answer, 65_536);
  giveUp(answer);
}

/** Closes the connection of a body that is no longer needed. */
export function giveUp({ body, sent }: Answer): void {
  for (const each of new Set([body, sent])) each.on('error', () => undefined).destroy();
}

/**
 * Returns at least the first `most` bytes of a body, or fewer if the body ends or the connection breaks.
 * @throws input errors `DOWNLOAD_SLOW`, `DOWNLOAD_TOO_LARGE`
 */
export async function headOf({ body }: Answer, most: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      if (bytes >= most) break;
    }
  } catch (error) {
    if (error instanceof MappaleError) throw error;
    // The bytes that were received before the failure are sufficient for a message.
  }
  return Buffer.concat(chunks);
}

const DAY_NAME = /^\s*(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/i;

/**
 * Parses the `Retry-After` header.
 * @param served header `Date` of the response. A pause until a time is counted from this date, because the clock of this machine may be wrong
 * @param now time in milliseconds since 1970, used if the header `Date` is missing or invalid
 * @returns pause in seconds, or null if the header is missing or invalid
 */
export function retryAfter(header: string | undefined, served: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  if (/^\s*\d+\s*$/.test(header)) return Number(header);
  // An HTTP date starts with the name of a day. `Date.parse` would also accept `-5`.
  const date = DAY_NAME.test(header) ? Date.parse(header) : Number.NaN;
  const since = Date.parse(served ?? '');
  return Number.isNaN(date) ? null : Math.max(0, Math.ceil((date - (Number.isNaN(since) ? now : since)) / 1000));
}

/** Returns whether an error, or one of the error's causes, concerns a certificate. */
function isCertificate(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause) if (CERTIFICATE.test((each as NodeJS.ErrnoException).code ?? '')) return true;
  return false;
}

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  return [error.message, code !== undefined && !error.message.includes(code) ? `(${code})` : ''].filter((part) => part !== '').join(' ');
}

/**
 * Sends a document as JSON. Does not follow redirects.
 * @param target `mayBePrivate` allows a name that resolves to a private address; a host with a private name or a private IP address is always allowed
 * @throws Error if the server does not accept the document within 30 seconds, or if the name resolves to a private address that is not allowed
 */
export async function postJson(
  { url, mayBePrivate }: { readonly url: string; readonly mayBePrivate: boolean }, document: unknown, proxies: Proxies, lookup?: LookupFunction,
): Promise<void> {
  const ask = mayBePrivate || isPrivateHost(new URL(url).hostname) ? lookup : publicLookup(lookup);
  const agent = agentOf(proxies, ask === undefined ? {} : { connect: { lookup: ask } });
  try {
    const { statusCode, body } = await request(url, {
      dispatcher: agent, method: 'POST', headers: { 'content-type': 'application/json', 'user-agent': USER_AGENT }, body: JSON.stringify(document), signal: AbortSignal.timeout(30_000),
    });
    await body.dump();
    if (statusCode >= 300) throw new Error(`status ${statusCode}`);
  } finally {
    await agent.destroy();
  }
}

/** Creates an agent that uses the configured proxies. Sends plain HTTP to a proxy without a tunnel, because many proxies allow tunnels only for HTTPS. */
function agentOf({ http, https, except }: Proxies, options: EnvHttpProxyAgent.Options): EnvHttpProxyAgent {
  return new EnvHttpProxyAgent({ ...options, httpProxy: http ?? '', httpsProxy: https ?? '', noProxy: except.includes('*') ? '*' : [...except, ...THIS_MACHINE].join(','), proxyTunnel: false });
}
