/**
 * One publisher over HTTP: one connection, redirects followed by hand, patience with servers that are busy.
 *
 * undici's `request` and not Node's own `fetch`: it hands over the bytes as they are sent (`fetch` unpacks them without saying so, and then neither
 * `Content-Length` nor a range is of the bytes on the disk), and lets connections and the times to wait for an answer be set.
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

/** Bounds of one download. */
export interface Bounds {
  /** Bytes at which a body ends, as sent and as unpacked. */
  readonly most: number;
  /** Host that the operator named, which may be private; null: none. */
  readonly named: string | null;
  /** Host and port whose bodies messages may quote. */
  readonly shown: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Where it came from in the end. */
  readonly url: string;
  readonly redirected: boolean;
  /** The body is from another host than the one that was meant: messages do not quote it. */
  readonly elsewhere: boolean;
  /** As the publisher means it: what was packed for the way is unpacked. */
  readonly body: Readable;
  /** As it came. */
  readonly sent: Readable;
  /** It was packed for the way: lengths and ranges of the answer are not those of the file. */
  readonly packed: boolean;
}

/** Seconds before asking again a server that says that it is busy and not for how long. */
const BUSY = [30, 60, 120, 240] as const;
/** … one that cannot be reached, or breaks off. */
export const BROKEN = [2, 5, 15, 30] as const;
/** Longer than this is not waited for: the next run asks. */
const LONGEST_WAIT = 900;
const REDIRECTS = 10;
/** Too many requests, or none now; of the others the server itself is broken, or the one before it that cannot reach it (520–527). */
const BUSY_STATUS: ReadonlySet<number> = new Set([429, 503]);
const BROKEN_STATUS: ReadonlySet<number> = new Set([408, 425, 500, 502, 504, 520, 521, 522, 523, 524, 525, 526, 527]);
const REDIRECT_STATUS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Asked of nobody's proxy: this machine. */
const THIS_MACHINE = ['localhost', '127.0.0.1', '[::1]'];

/** Whom publishers see, where a source says nothing else: some turn away programs that do not say who they are. */
const USER_AGENT = 'mappale';

/** As OpenSSL names what is wrong with a certificate or its chain. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET_ISSUER)|HOSTNAME_MISMATCH|ALTNAME/;

/** What undici says of a proxy that answers 407, in a tunnel or out of it. */
const PROXY_LOGIN = /\(407\)/;

export class Publisher {
  /** Connects to public addresses only. */
  readonly #agent: EnvHttpProxyAgent;
  /** Connects to hosts that the operator named. */
  readonly #namedAgent: EnvHttpProxyAgent;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #hide: (text: string) => string;
  readonly #proxies: Proxies;
  /** By host: some send whom they have not seen to the same address again, with a cookie, and without it without end. */
  readonly #cookies = new Map<string, Map<string, string>>();

  /** @param hide takes secrets out of what is shown @param lookup resolves the names of hosts */
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

  /** Ends its connections, also those that a body was not read from to its end. */
  async close(): Promise<void> {
    await Promise.all([this.#agent.destroy(), this.#namedAgent.destroy()]);
  }

  /**
   * The answer to a GET, whatever its status, once the server is not busy.
   * @throws input errors `DOWNLOAD_UNREACHABLE`, `DOWNLOAD_CERTIFICATE`, `DOWNLOAD_BUSY`, `DOWNLOAD_REDIRECTED`, `DOWNLOAD_PRIVATE`; reading its body throws
   * `DOWNLOAD_SLOW` and `DOWNLOAD_TOO_LARGE`
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
      // At least as long as after an answer that broke off, also where it says 0, or a moment that has passed.
      const seconds = Math.max(asked ?? 0, usual ?? 0);
      if (usual === undefined || seconds > LONGEST_WAIT) throw answer === null ? this.#unreachable(url, broken) : this.#busy(url, answer, asked);
      const why = answer === null ? `does not answer (${this.#hide(reasonOf(broken))})` : `does not serve it now (${answer.status})`;
      this.#log.info(`${this.#hide(new URL(url).host)} ${why}: asking again in ${duration(seconds)}`);
      await this.#clock.wait(seconds);
    }
  }

  #unreachable(url: string, error: unknown): MappaleError {
    const through = this.#proxies.http === null && this.#proxies.https === null ? 'Where it reaches the internet through a proxy only, set HTTPS_PROXY=http://PROXY:PORT. ' : 'HTTPS_PROXY and HTTP_PROXY say through which proxy; NO_PROXY, which hosts are asked without. ';
    return inputError('the publisher cannot be reached', {
      code: 'DOWNLOAD_UNREACHABLE', at: this.#hide(url), detail: `expected an answer, found: ${this.#hide(reasonOf(error))}`,
      hint: `Look whether this machine reaches the internet and the address opens in a browser, then run the same command again: what is there is kept. ${through}`.trim(), cause: error,
    });
  }

  async #follow(first: string, headers: Readonly<Record<string, string>>, { most, named, shown }: Bounds): Promise<Answer> {
    let url = first;
    let isNamed = true;
    for (let hops = 0; hops <= REDIRECTS; hops += 1) {
      const { hostname, host } = new URL(url);
      // A redirect that left the named host may lead to public addresses only, also back.
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
        throw this.#redirected(first, `a redirect to ${JSON.stringify(this.#hide(target).slice(0, 200))}`, 'That is no address of the web. Open the publisher\'s page in a browser: the file may have moved.');
      }
      if (next.protocol !== 'https:' && new URL(url).protocol === 'https:') {
        throw this.#redirected(first, `one from https to ${this.#hide(next.href)}`, 'What would come could be changed on its way. Download it in a browser if you trust it, and put it into the data folder.');
      }
      url = next.href;
    }
    throw this.#redirected(first, `more than ${REDIRECTS} redirects`, 'Open the address in a browser: the publisher may ask for a login, or have moved the file.');
  }

  /** What tells who is asking is for the host alone that it was given for. */
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
    return inputError('the publisher leads elsewhere', { code: 'DOWNLOAD_REDIRECTED', at: this.#hide(url), detail: `expected the file, found ${found}`, hint });
  }

  #private(url: string, { message }: PrivateAddress): MappaleError {
    return inputError('the download leads to a private address', {
      code: 'DOWNLOAD_PRIVATE', at: this.#hide(url), detail: `expected an address of the public internet, found ${this.#hide(message)}`,
      hint: 'Nothing was asked there. If the address is a server of yours, name it in the setting MAPPALE_<SOURCE>_URL (docs/downloads.md).',
    });
  }

  #proxyLogin(url: string, error: unknown): MappaleError {
    return inputError('the proxy asks for a login', {
      code: 'DOWNLOAD_PROXY', at: this.#hide(url), detail: `expected a way to the publisher, found: ${this.#hide(reasonOf(error))}`,
      hint: 'Write user and password into the proxy\'s address, with @ / ? # : % in them as %40 %2F %3F %23 %3A %25, and run the same command again.',
      fix: `export ${url.startsWith('https:') ? 'HTTPS' : 'HTTP'}_PROXY=http://USER:PASSWORD@PROXY:PORT`, cause: error,
    });
  }

  #certificate(url: string, error: unknown): MappaleError {
    return inputError('the publisher\'s certificate cannot be verified', {
      code: 'DOWNLOAD_CERTIFICATE', at: this.#hide(url), detail: `expected a chain of certificates to one that this machine trusts, found: ${reasonOf(error)}`,
      hint: 'Nothing was downloaded. Where the server leaves out a certificate of its chain, or yours replaces it, save that one as PEM, name it, and run the same command again. '
        + 'Or download the file in a browser and put it into the data folder.', fix: 'export NODE_EXTRA_CA_CERTS=FILE.pem', cause: error,
    });
  }

  #busy(url: string, { status }: Answer, asked: number | null): MappaleError {
    const until = asked === null || asked <= LONGEST_WAIT ? 'for longer than was waited' : `with the wish to be left alone for ${duration(asked)}`;
    return inputError('the publisher does not serve it now', {
      code: 'DOWNLOAD_BUSY', at: this.#hide(url), detail: `expected the file, found status ${status}, ${until}`, hint: 'Run the same command again later: what is there is kept, and what was begun goes on.',
    });
  }
}

function plain(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value]])));
}

/** The answer whose body is the file, whatever it was packed in for the way although nothing but the file itself was asked for. */
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
  /** First bytes; null: it has none. */
  readonly mark: Buffer | null;
}

const GZIP: Packing = { stream: createGunzip, mark: Buffer.from([0x1f, 0x8b]) };
/** By `Content-Encoding`. */
const UNPACK: Readonly<Record<string, Packing | undefined>> = { gzip: GZIP, 'x-gzip': GZIP, deflate: { stream: createInflate, mark: null }, br: { stream: createBrotliDecompress, mark: null } };

/** A server may say that it packed what it sends as it is: what has not the mark stays. */
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

/** Gives the body up. A short one is read, so that the connection stays; another one's connection ends. */
export async function discard(answer: Answer): Promise<void> {
  await headOf(answer, 65_536);
  giveUp(answer);
}

/** Ends the connection of a body of which no more is wanted. */
export function giveUp({ body, sent }: Answer): void {
  for (const each of new Set([body, sent])) each.on('error', () => undefined).destroy();
}

/** The first bytes of a body: as many as make `most` or a few more; what breaks off ends there. @throws input errors of a bound that the body exceeds */
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
    // What came of it is enough for a message, and for nothing else.
  }
  return Buffer.concat(chunks);
}

const DAY_NAME = /^\s*(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/i;

/**
 * @param served the server's own clock, as its answer says: the difference is what counts, and this machine's may be wrong
 * @returns seconds from now; null: the header is not there, or says nothing that is known
 */
export function retryAfter(header: string | undefined, served: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  if (/^\s*\d+\s*$/.test(header)) return Number(header);
  // Without a day's name it is no date of HTTP, though JavaScript takes -5 for a day of May.
  const date = DAY_NAME.test(header) ? Date.parse(header) : Number.NaN;
  const since = Date.parse(served ?? '');
  return Number.isNaN(date) ? null : Math.max(0, Math.ceil((date - (Number.isNaN(since) ? now : since)) / 1000));
}

/** Also of an error that another one wraps. */
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
 * Sends a document as JSON. Redirects are not followed.
 * @param mayBePrivate a name may lead to a private address; a host that is private by its name always may
 * @throws Error when it is not taken within half a minute; `PrivateAddress`
 */
export async function postJson(url: string, document: unknown, proxies: Proxies, mayBePrivate: boolean, lookup?: LookupFunction): Promise<void> {
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

/** Plain http goes through a proxy as a request, and not through a tunnel, which proxies keep for https. */
function agentOf({ http, https, except }: Proxies, options: EnvHttpProxyAgent.Options): EnvHttpProxyAgent {
  return new EnvHttpProxyAgent({ ...options, httpProxy: http ?? '', httpsProxy: https ?? '', noProxy: except.includes('*') ? '*' : [...except, ...THIS_MACHINE].join(','), proxyTunnel: false });
}
