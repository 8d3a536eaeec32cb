/**
 * One publisher over HTTP: one connection, redirects followed by hand, patience with servers that are busy.
 *
 * undici's `request` and not Node's own `fetch`: it hands over the bytes as they are sent (`fetch` unpacks them, so that neither `Content-Length` nor a
 * range would be of the bytes on the disk), and lets connections and the times to wait for an answer be set.
 */
import { Agent, request, type Dispatcher } from 'undici';
import { inputError, MappaleError } from '../errors.ts';
import type { Log } from '../log.ts';
import { duration } from '../progress.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Where it came from in the end. */
  readonly url: string;
  readonly redirected: boolean;
  readonly body: Dispatcher.ResponseData['body'];
}

/** What passes time; tests have one that does not. */
export interface Clock {
  now(): number;
  /** @param seconds to wait */
  wait(seconds: number): Promise<void>;
}

export const CLOCK: Clock = { now: Date.now, wait: (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000)) };

/** Seconds before asking again a server that says that it is busy and not for how long. */
const BUSY = [30, 60, 120, 240] as const;
/** … one that cannot be reached, or breaks off. */
export const BROKEN = [2, 5, 15, 30] as const;
/** Longer than this is not waited for: the next run asks. */
const LONGEST_WAIT = 900;
const REDIRECTS = 10;
/** Too many requests, or none now; of the others the server itself is broken. */
const BUSY_STATUS: ReadonlySet<number> = new Set([429, 503]);
const BROKEN_STATUS: ReadonlySet<number> = new Set([408, 500, 502, 504]);
const REDIRECT_STATUS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** As OpenSSL names what is wrong with a certificate or its chain. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET_ISSUER)|HOSTNAME_MISMATCH|ALTNAME/;

export class Publisher {
  readonly #agent = new Agent({ connections: 1, pipelining: 1, headersTimeout: 120_000, bodyTimeout: 120_000, connect: { timeout: 30_000 } });
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #hide: (text: string) => string;

  /** @param hide takes secrets out of what is shown */
  constructor(clock: Clock, log: Log, hide: (text: string) => string = (text) => text) {
    this.#clock = clock;
    this.#log = log;
    this.#hide = hide;
  }

  /** Ends its connections, also those that a body was not read from to its end. */
  close(): Promise<void> {
    return this.#agent.destroy();
  }

  /**
   * The answer to a GET, whatever its status, once the server is not busy.
   * @throws input errors `DOWNLOAD_UNREACHABLE`, `DOWNLOAD_CERTIFICATE`, `DOWNLOAD_BUSY`, `DOWNLOAD_REDIRECTED`
   */
  async ask(url: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
    for (let attempt = 0; ; attempt += 1) {
      let answer: Answer | null = null;
      let broken: unknown = null;
      try {
        answer = await this.#follow(url, headers);
        if (!BUSY_STATUS.has(answer.status) && !BROKEN_STATUS.has(answer.status)) return answer;
        await discard(answer);
      } catch (error) {
        if (error instanceof MappaleError) throw error;
        if (isCertificate(error)) throw this.#certificate(url, error);
        broken = error;
      }
      const asked = answer === null ? null : retryAfter(answer.headers['retry-after'], this.#clock.now());
      const seconds = asked ?? (answer !== null && BUSY_STATUS.has(answer.status) ? BUSY : BROKEN)[attempt];
      if (seconds === undefined || seconds > LONGEST_WAIT || attempt >= BUSY.length) {
        throw answer === null ? this.#unreachable(url, broken) : this.#busy(url, answer, asked);
      }
      this.#log.info(`${this.#hide(new URL(url).host)} ${answer === null ? `does not answer (${reasonOf(broken)})` : `does not serve it now (${answer.status})`}: asking again in ${duration(seconds)}`);
      await this.#clock.wait(seconds);
    }
  }

  #unreachable(url: string, error: unknown): MappaleError {
    return inputError('the publisher cannot be reached', {
      code: 'DOWNLOAD_UNREACHABLE', at: this.#hide(url), detail: `expected an answer, found: ${this.#hide(reasonOf(error))}`,
      hint: 'Look whether this machine reaches the internet and the address opens in a browser, then run the same command again: what is there is kept.', cause: error,
    });
  }

  async #follow(first: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
    let url = first;
    for (let hops = 0; hops <= REDIRECTS; hops += 1) {
      const { statusCode, headers: got, body } = await request(url, { dispatcher: this.#agent, headers: { 'accept-encoding': 'identity', ...headers } });
      const answer = { status: statusCode, headers: plain(got), url, redirected: hops > 0, body };
      const target = REDIRECT_STATUS.has(statusCode) ? answer.headers['location'] : undefined;
      if (target === undefined) return answer;
      await discard(answer);
      const next = new URL(target, url);
      if (next.protocol !== 'https:' && new URL(url).protocol === 'https:') {
        throw this.#redirected(first, `one from https to ${this.#hide(next.href)}`, 'What would come could be changed on its way. Download it in a browser if you trust it, and put it into the data folder.');
      }
      url = next.href;
    }
    throw this.#redirected(first, `more than ${REDIRECTS} redirects`, 'Open the address in a browser: the publisher may ask for a login, or have moved the file.');
  }

  #redirected(url: string, found: string, hint: string): MappaleError {
    return inputError('the publisher leads elsewhere', { code: 'DOWNLOAD_REDIRECTED', at: this.#hide(url), detail: `expected the file, found ${found}`, hint });
  }

  #certificate(url: string, error: unknown): MappaleError {
    return inputError('the publisher\'s certificate cannot be verified', {
      code: 'DOWNLOAD_CERTIFICATE', at: this.#hide(url), detail: `expected a chain of certificates to one that this machine trusts, found: ${reasonOf(error)}`,
      hint: 'Nothing was downloaded. Where the server leaves out a certificate of its chain, or yours replaces it, save that one as PEM and run: NODE_EXTRA_CA_CERTS=FILE.pem mappale fetch … '
        + 'Or download the file in a browser and put it into the data folder.', cause: error,
    });
  }

  #busy(url: string, { status }: Answer, asked: number | null): MappaleError {
    const until = asked === null ? 'for longer than was waited' : `until ${new Date(this.#clock.now() + asked * 1000).toISOString().replace(/\.\d+Z$/, 'Z')}`;
    return inputError('the publisher does not serve it now', {
      code: 'DOWNLOAD_BUSY', at: this.#hide(url), detail: `expected the file, found status ${status}, ${until}`, hint: 'Run the same command again later: what is there is kept, and what was begun goes on.',
    });
  }
}

function plain(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value]])));
}

/** Gives the body up. A short one is read, so that the connection stays; another one's connection ends. */
export async function discard({ body }: Answer): Promise<void> {
  await body.dump({ limit: 65_536 }).catch(() => undefined);
}

/** Ends the connection of a body of which no more is wanted. */
export function giveUp({ body }: Answer): void {
  body.on('error', () => undefined).destroy();
}

/** @returns seconds from now; null: the header is not there, or says nothing that is known */
export function retryAfter(header: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  if (/^\s*\d+\s*$/.test(header)) return Number(header);
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, Math.ceil((date - now) / 1000));
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

/** Sends a document as JSON. @throws Error when it is not taken */
export async function postJson(url: string, document: unknown): Promise<void> {
  const agent = new Agent({ headersTimeout: 20_000, bodyTimeout: 20_000, connect: { timeout: 20_000 } });
  try {
    const { statusCode, body } = await request(url, { dispatcher: agent, method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(document) });
    await body.dump();
    if (statusCode >= 300) throw new Error(`status ${statusCode}`);
  } finally {
    await agent.destroy();
  }
}
