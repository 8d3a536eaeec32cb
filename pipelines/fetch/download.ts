/** Downloads one file. Checks for a newer version, resumes an interrupted download and verifies the result. */
import { mkdir, open, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import type { Clock } from '../clock.ts';
import type { Edition, RemoteFile } from '../contract/download.ts';
import type { RegisteredSource } from '../contract/registry.ts';
import { inputError, MappaleError } from '../errors.ts';
import { isForbidden, isFull } from '../formats/file-error.ts';
import { sha256OfFile } from '../formats/streams.ts';
import { isPage, PAGE_BYTES, titleOf } from '../formats/web-page.ts';
import { recognise } from '../ingest/locate.ts';
import { quoted, retyped, withOption } from '../typed.ts';
import { tooLarge } from './bounds.ts';
import { BROKEN, discard, giveUp, headOf, reasonOf, type Answer, type Bounds, type Publisher } from './client.ts';
import { partOf, readKept, readPart, removePart, sidecarOf, writeJson, type Kept, type Part, type Version } from './kept.ts';
import { linksOf, pageError } from './page.ts';

export interface Wanted {
  readonly source: RegisteredSource;
  readonly file: RemoteFile;
  /** Download folder of the source. */
  readonly folder: string;
  /** Configured address that replaces `file.base`, or that is the address of the file; null if not configured. */
  readonly base: string | null;
  /** Access token that the publisher gave to the user, with the name of the query parameter. */
  readonly token: { readonly parameter: string; readonly value: string } | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly bounds: Bounds;
}

export interface Surroundings {
  readonly publisher: Publisher;
  readonly clock: Clock;
  /** Returns the number of free bytes on the disk of a path. */
  readonly freeBytes: (path: string) => Promise<number>;
  readonly sources: readonly RegisteredSource[];
  /** Removes secrets from a text that is printed or stored. */
  readonly hide: (text: string) => string;
  readonly dryRun: boolean;
  /** Reports progress. @param have number of bytes of the file that are on disk @param total size of the file; null if unknown */
  readonly progress: (have: number, total: number | null) => void;
  readonly note: (message: string) => void;
}

/** Result of a download. `wanted`: a dry run would have downloaded the file. `none`: the publisher does not have an optional file. */
export type Outcome = 'new' | 'changed' | 'unchanged' | 'wanted' | 'none';

export interface Downloaded {
  readonly outcome: Outcome;
  readonly name: string;
  /** Address of the file, without secrets; empty if there is no file. */
  readonly url: string;
  /** Size of the whole file; null if unknown, or if there is no file. */
  readonly bytes: number | null;
  /** Number of bytes received in this run. */
  readonly received: number;
  readonly sha256: string | null;
  readonly role: string | null;
  readonly vintage: string | null;
}

/** Number of bytes to request first. The response shows the size and version of the file, and whether the server supports ranges. */
const FIRST = 128;
/**
 * Number of bytes to compare at the end of a zip archive. The end contains the CRC-32 of each entry, or of the last entries if the archive has many. Two
 * archives with equal sizes and equal ends therefore count as equal.
 */
const END = 65_536;
/** Maximum number of bytes of a web page to search for a link. */
const LONGEST_PAGE = 16 * 1024 * 1024;
/** Number of received bytes after which an interrupted download gets its full number of retries again. */
const HEADWAY = 1024 * 1024;
/** Number of bytes that a download leaves free on the disk. */
const SPARE = 64 * 1024 * 1024;
/** Number of bytes to write before free space is checked again. */
const UNLOOKED = 1024 * 1024;

/** Result of receiving a file: number of received bytes, last response and version of the file. */
interface Received {
  readonly bytes: number;
  readonly answer: Answer;
  readonly version: Version;
}

/** A file that was found on the server after following links and skipping missing editions, with the properties that the server reports. */
interface Found extends Version {
  readonly url: string;
  readonly name: string;
  readonly ranges: boolean;
  /** First bytes of the file. Empty for status 304, and for status 200 except in a dry run. */
  readonly head: Buffer;
  readonly answer: Answer;
  /** Response with the whole file, from a server without range support. The server is already sending the body. */
  readonly whole: Answer | null;
  /** True if the server returned status 304: the file has not changed. */
  readonly same: boolean;
}

/**
 * Downloads a file if the publisher has a newer version. Keeps the existing file until the new file is complete and recognised.
 * @throws input errors `DOWNLOAD_…`, MappaleError `DISK_FULL`, `FOLDER_UNWRITABLE` (exit 2), and the errors of the source's `recognise`
 */
export async function download(wanted: Wanted, around: Surroundings): Promise<Downloaded> {
  const found = await find(wanted, around);
  if (found === null) return { outcome: 'none', name: wanted.file.editions[0].name, url: '', bytes: null, received: 0, sha256: null, role: null, vintage: null };
  const path = join(wanted.folder, found.name);
  const url = around.hide(found.url);
  try {
    const kept = await readKept(path);
    const downloadedAs = (outcome: Outcome, { bytes, sha256, role, vintage }: Kept, received: number): Downloaded => (
      { outcome, name: found.name, url, bytes, received, sha256, role, vintage }
    );
    if (kept !== null && (found.same || (await isSame(kept, found, path, wanted, around)))) return downloadedAs('unchanged', kept, 0);
    if (found.bytes !== null && found.bytes > wanted.bounds.most) throw tooLarge(url, wanted.bounds.most, found.bytes);
    if (around.dryRun) return { outcome: 'wanted', name: found.name, url, bytes: found.bytes, received: 0, sha256: null, role: null, vintage: null };
    await mkdir(dirname(partOf(path)), { recursive: true });
    await dropUseless(path, found);
    await refuseWithoutRoom(path, found.bytes, around);
    const { bytes: received, answer, version } = await receive(path, found, wanted, around).catch(async (error: unknown) => {
      if (error instanceof MappaleError && error.code === 'DOWNLOAD_TOO_LARGE') await removePart(partOf(path));
      await dropUseless(path, found);
      throw error;
    });
    const now = await keep(path, url, { answer, version }, wanted, around);
    const same = kept?.sha256 === now.sha256;
    return downloadedAs(same ? 'unchanged' : kept === null ? 'new' : 'changed', now, received);
  } finally {
    if (found.whole !== null) giveUp(found.whole);
  }
}

/**
 * Replaces the existing file with the completed download if the source recognises the download, and writes the sidecar file.
 * @param path path of the existing file
 * @param url address without secrets
 * @throws input errors `DOWNLOAD_PAGE`, `DOWNLOAD_LOGIN`, `DOWNLOAD_FIREWALL`, `DOWNLOAD_OTHER`, and the errors of the source's `recognise`
 */
export async function keep(path: string, url: string, { answer, version }: Omit<Received, 'bytes'>, wanted: Wanted, around: Surroundings): Promise<Kept> {
  const part = partOf(path);
  await refusePage(part, answer, wanted, around);
  const { role, vintage } = await accept(part, answer, wanted, around);
  const sha256 = await sha256OfFile(part);
  await rename(part, path);
  const { size, mtimeMs } = await stat(path);
  const now: Kept = {
    url, final_url: around.hide(answer.url), etag: version.etag, last_modified: version.last_modified, bytes: size, sha256, source: wanted.source.id,
    license: wanted.source.manifest.attribution.license, role, vintage,
    fetched_at: new Date(around.clock.now()).toISOString(), modified_ms: Math.floor(mtimeMs),
    headers: Object.fromEntries(Object.entries(answer.headers).filter(([name]) => name !== 'set-cookie').map(([name, value]) => [name, around.hide(value)])),
  };
  await writeJson(sidecarOf(path), now);
  await rm(sidecarOf(part), { force: true });
  return now;
}

function headersOf({ headers }: Wanted, more: Readonly<Record<string, string>>): Record<string, string> {
  return { ...headers, ...more };
}

/**
 * Determines whether a configured address is the address of the file itself, rather than a base address.
 * @returns file name in the address, or null for a base address
 */
export function namedBy(base: string, { editions: [{ name }] }: RemoteFile): string | null {
  const last = base.slice(Math.max(...['/', '=', '?', '&'].map((mark) => base.lastIndexOf(mark))) + 1);
  return last !== new URL(base).host && extname(last).toLowerCase() === extname(name).toLowerCase() ? plainName(last) : null;
}

function addressOf({ file, base, token }: Wanted, { path }: Edition): string {
  const url = base === null ? `${file.base}${path}` : namedBy(base, file) !== null || path === '' ? base : `${base}${/[/=?&]$/.test(base) ? '' : '/'}${path}`;
  return token === null ? url : `${url}${url.includes('?') ? '&' : '?'}${token.parameter}=${encodeURIComponent(token.value)}`;
}

/**
 * Finds the newest edition that the publisher has.
 * @returns null if an optional file does not exist
 * @throws input errors `DOWNLOAD_MISSING` if a file that is not optional does not exist; `DOWNLOAD_LINK`; the errors of `probe`
 */
async function find(wanted: Wanted, around: Surroundings): Promise<Found | null> {
  const { file, base } = wanted;
  const itself = base === null ? null : namedBy(base, file);
  const tried: string[] = [];
  for (const edition of itself === null ? file.editions : [file.editions.find(({ name }) => name === itself) ?? file.editions[0]]) {
    let { name } = edition;
    let url = addressOf(wanted, edition);
    if (file.link !== undefined) {
      if (itself === null) url = await linkOn(url, file.link, wanted, around);
      name = plainName(basename(new URL(url).pathname));
    }
    const found = await probe(url, name, wanted, around);
    if (found !== null) return found;
    tried.push(around.hide(url));
  }
  if (file.optional === true) return null;
  throw inputError('the publisher no longer has the file', {
    code: 'DOWNLOAD_MISSING', at: tried[0], detail: `expected the file, found status 404 or 410${tried.length > 1 ? ` there and at ${tried.slice(1).join(', ')}` : ''}`,
    hint: `The file may have moved. Look for the file at ${wanted.source.manifest.attribution.url} and set the new address in ${settingOf(wanted, 'URL')}. ${byHand(wanted)}`,
  });
}

/** Returns the name of a setting, such as `MAPPALE_ADE_CADASTRE_URL`. */
export function settingOf({ source }: Pick<Wanted, 'source'>, what: 'URL' | 'TOKEN'): string {
  return `MAPPALE_${source.id.toUpperCase()}_${what}`;
}

export function byHand({ folder, file, source, token }: Wanted): string {
  const without = `Or download it in a browser (npx mappale sources ${source.id} shows the address) and save it as ${join(folder, file.editions[0].name)}.`;
  return token === null ? without : `The token may have expired. Get a new token, and set ${settingOf({ source }, 'TOKEN')} to the new token. ${without}`;
}

/**
 * Returns the last part of an address as a file name that is not hidden and contains no folder. A web page must not be able to choose the folder of a download.
 */
export function plainName(text: string): string {
  return basename(decoded(text).replaceAll('\\', '/')).replaceAll(/^\.+|[\0-\x1f\x7f:]/g, '_');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function linkOn(url: string, link: RegExp, wanted: Wanted, around: Surroundings): Promise<string> {
  const answer = await around.publisher.ask(url, headersOf(wanted, {}), { ...wanted.bounds, most: LONGEST_PAGE });
  if (answer.status !== 200 && answer.status !== 404 && answer.status !== 410) throw await statusError(answer, url, wanted, around);
  const page = (await headOf(answer, LONGEST_PAGE)).toString('utf8');
  const found = linksOf(page).find((each) => link.test(each) && URL.canParse(each, answer.url));
  if (found !== undefined) return new URL(found, answer.url).href;
  throw inputError('the page no longer links to the file', {
    code: 'DOWNLOAD_LINK', at: around.hide(url), detail: `expected a link that matches ${link.source}, found ${linksOf(page).length} other links`,
    hint: `The page has changed. Open the page and download the file. Save the file with its original name in ${wanted.folder}.`,
  });
}

/**
 * Requests the first bytes of a file. Does not use HEAD, because several publishers refuse HEAD requests (403) or never answer.
 * @returns null if the file does not exist
 */
async function probe(url: string, name: string, wanted: Wanted, around: Surroundings): Promise<Found | null> {
  const kept = await readKept(join(wanted.folder, name));
  // Compares ETags only for the same address, because another server may use the same ETag for a different file.
  const known = kept?.url === around.hide(url) ? kept : null;
  const answer = await around.publisher.ask(url, headersOf(wanted, {
    range: `bytes=0-${FIRST - 1}`,
    ...(known === null || known.etag === null ? {} : { 'if-none-match': known.etag }),
    ...(known === null || known.last_modified === null ? {} : { 'if-modified-since': known.last_modified }),
  }), wanted.bounds);
  const { status, headers } = answer;
  if (status === 304 && known !== null) {
    await discard(answer);
    const { etag, last_modified, bytes } = known;
    return { url, name, etag, last_modified, bytes, ranges: true, head: Buffer.alloc(0), answer, whole: null, same: true };
  }
  if (status === 404 || status === 410) {
    await discard(answer);
    return null;
  }
  if (status !== 200 && status !== 206) throw await statusError(answer, url, wanted, around);
  // Ignores range support if the body is compressed, because a range then does not apply to the file.
  const ranges = status === 206 && !answer.packed;
  const total = ranges ? rangeOf(answer)?.total ?? null : lengthOf(answer);
  const head = status === 206 || around.dryRun ? await headOf(answer, PAGE_BYTES) : Buffer.alloc(0);
  if (status === 206) giveUp(answer);
  if (isPage(head)) throw pageError(head, answer, around.hide, byHand(wanted));
  return {
    url, name, etag: headers['etag'] ?? null, last_modified: headers['last-modified'] ?? null, bytes: total, ranges, head, answer,
    whole: status === 200 ? answer : null, same: false,
  };
}

/** Returns the error for a response with a status other than success. @param url address of the file for messages */
export async function statusError(answer: Answer, url: string, wanted: Wanted, around: Surroundings): Promise<MappaleError> {
  const { status } = answer;
  const head = await headOf(answer, PAGE_BYTES);
  giveUp(answer);
  if (status === 401 || (status === 403 && wanted.token !== null)) {
    return inputError('the publisher asks for a login', {
      code: 'DOWNLOAD_LOGIN', at: around.hide(url), detail: `expected the file, found status ${status}`,
      hint: wanted.token === null ? byHand(wanted).replace('Or d', 'D') : `The token has expired. Get a new token, set ${settingOf(wanted, 'TOKEN')} to the new token and run the same command again.`,
      fix: wanted.token === null ? undefined : `export ${settingOf(wanted, 'TOKEN')}=NEW_TOKEN`,
    });
  }
  const text = isPage(head) ? titleOf(head) : around.hide(head.toString('utf8')).trim().slice(0, 80);
  const quoted = answer.elsewhere ? ` and ${lengthText(answer, head.length)} from another host` : text === '' || /[\0-\x08\x0e-\x1f\ufffd]/.test(text) ? '' : `, ${JSON.stringify(text)}`;
  return inputError('the publisher refuses the download', {
    code: 'DOWNLOAD_REFUSED', at: around.hide(url), detail: `expected the file, found status ${status}${quoted}`,
    hint: `Some publishers refuse new clients. Try again in an hour. ${byHand(wanted)}`,
  });
}

/**
 * Returns the length of a body as text, for messages that do not quote the body.
 * @param read number of bytes read so far, used if the response has no `Content-Length`
 */
export function lengthText({ headers }: Pick<Answer, 'headers'>, read: number): string {
  return `${headers['content-length'] ?? read} bytes`;
}

/** Parses a `Content-Range` header such as `bytes 0-127/53740211`. */
function rangeOf({ headers }: Answer): { readonly start: number; readonly total: number | null } | null {
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers['content-range'] ?? '') ?? [];
  return start === undefined ? null : { start: Number(start), total: total === '*' ? null : Number(total) };
}

function lengthOf({ headers, packed }: Answer): number | null {
  const length = headers['content-length'];
  return length === undefined || packed ? null : Number(length);
}

/** Returns an ETag without the prefix `W/` of a weak ETag. A weak match is enough to keep the existing file. */
function opaque(etag: string): string {
  return etag.replace(/^W\//, '');
}

/** Returns whether headers or bytes show that the server's file equals the local file. Otherwise, the file is downloaded and compared. */
async function isSame(kept: Kept, found: Found, path: string, wanted: Wanted, around: Surroundings): Promise<boolean> {
  if (found.bytes !== null && found.bytes !== kept.bytes) return false;
  if (kept.url === around.hide(found.url)) {
    if (kept.etag !== null && found.etag !== null) return opaque(kept.etag) === opaque(found.etag);
    if (kept.last_modified !== null && found.last_modified !== null && found.bytes !== null) return kept.last_modified === found.last_modified;
  }
  if (!found.ranges || found.bytes === null || found.head.toString('latin1', 0, 2) !== 'PK') return false;
  const from = Math.max(0, found.bytes - END);
  const answer = await around.publisher.ask(found.url, headersOf(wanted, { range: `bytes=${from}-${found.bytes - 1}` }), wanted.bounds);
  if (answer.status !== 206 || rangeOf(answer)?.start !== from) {
    giveUp(answer);
    return false;
  }
  const end = await headOf(answer, END + 1);
  giveUp(answer);
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(end.length), 0, end.length, from);
    return buffer.equals(end);
  } finally {
    await file.close();
  }
}

export async function refuseWithoutRoom(path: string, bytes: number | null, { freeBytes }: Pick<Surroundings, 'freeBytes'>): Promise<void> {
  const needed = Math.max(0, (bytes ?? 0) - (await sizeOf(partOf(path)))) + SPARE;
  const free = await freeBytes(path);
  if (free < needed) throw diskFull(path, `expected ${mib(needed)} free, found ${mib(free)}`);
}

function diskFull(path: string, detail: string, cause?: unknown): MappaleError {
  return new MappaleError('not enough disk space for the download', {
    code: 'DISK_FULL', kind: 'usage', at: dirname(path), detail, hint: 'Free disk space, or use a folder on another disk. If the publisher allows it, the next run continues this download.',
    fix: retyped(withOption('--data', '/OTHER_DISK/data'), 'npx mappale fetch REGION --data /OTHER_DISK/data'), cause,
  });
}

/** Returns the error for a failed write to the data folder, or null for other errors. */
export function unwritable(error: unknown, folder: string): MappaleError | null {
  if (isFull(error)) return diskFull(join(folder, 'x'), 'expected space for the rest, found a full disk', error);
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (!isForbidden(error) && !['ENOTDIR', 'EISDIR', 'EEXIST'].includes(code)) return null;
  return new MappaleError('the data folder is not writable', {
    code: 'FOLDER_UNWRITABLE', kind: 'usage', at: folder, detail: `expected a writable folder, found: ${message}`,
    hint: 'Use another folder, or allow this user to write to the folder.', fix: retyped(withOption('--data', 'OTHER_FOLDER'), 'npx mappale fetch REGION --data OTHER_FOLDER'), cause: error,
  });
}

function mib(bytes: number): string {
  return `${Math.ceil(bytes / 1024 ** 2)} MiB`;
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(({ size }) => size, () => 0);
}

/**
 * Returns the value of `If-Range` for resuming a partial file; null if the file cannot be resumed. Only a strong ETag or a date proves that the remaining bytes
 * belong to the same file.
 */
function resumable(part: Part | null, url: string, found: Version): string | null {
  if (part === null || part.url !== url || part.bytes !== found.bytes) return null;
  const validator = validatorOf(part);
  return validator !== null && validator === validatorOf(found) ? validator : null;
}

/** Returns the strong ETag of a version, or the date if there is no strong ETag. Returns null if the server sent neither. */
function validatorOf({ etag, last_modified }: Version): string | null {
  return etag !== null && !etag.startsWith('W/') ? etag : last_modified;
}

/** Removes a partial file that cannot be resumed. */
async function dropUseless(path: string, { ranges }: Found): Promise<void> {
  const part = await readPart(path);
  if (!ranges || part === null || validatorOf(part) === null) await removePart(partOf(path));
}

async function receive(path: string, found: Found, wanted: Wanted, around: Surroundings): Promise<Received> {
  const part = partOf(path);
  const name = basename(path);
  let version: Version = found;
  let received = 0;
  let reached = 0;
  for (let attempt = 0, tries = 0; ; attempt += 1, tries += 1) {
    const validator = found.ranges ? resumable(await readPart(path), around.hide(found.url), version) : null;
    const offset = validator === null ? 0 : await sizeOf(part);
    // The partial file is already complete, because an earlier run ended before verifying the file.
    if (offset > 0 && offset === version.bytes) return { bytes: received, answer: found.answer, version };
    const headers = headersOf(wanted, offset === 0 || validator === null ? {} : { range: `bytes=${offset}-`, 'if-range': validator });
    let answer = attempt === 0 && found.whole !== null ? found.whole : await around.publisher.ask(found.url, headers, wanted.bounds);
    const other = offset === 0 ? null : isOther(answer, version, offset);
    if (other !== null) {
      around.note(`${name}: ${other}. The received part is deleted, and the download starts again`);
      if (answer.status !== 200) {
        giveUp(answer);
        answer = await around.publisher.ask(found.url, headersOf(wanted, {}), wanted.bounds);
      }
    }
    const start = offset > 0 && other === null ? offset : 0;
    if (answer.status !== (start > 0 ? 206 : 200)) throw await statusError(answer, found.url, wanted, around);
    if (start === 0) version = versionOf(answer, version);
    const { bytes, error } = await write({ path, url: found.url, start, expected: version }, answer, wanted, around);
    received += bytes;
    const size = start + bytes;
    if (error === null && (version.bytes === null || size === version.bytes)) return { bytes: received, answer, version };
    const failure = incomplete(around.hide(found.url), size, version.bytes, error);
    if (failure.code === 'DOWNLOAD_CHANGED') await removePart(part);
    if (size >= reached + HEADWAY) [reached, tries] = [size, 0];
    const seconds = BROKEN[tries];
    if (seconds === undefined) throw failure;
    around.note(`${name}: ${failure.message} (${failure.detail ?? ''}). The next request is in ${seconds} s`);
    await around.clock.wait(seconds);
  }
}

/** Returns the version of the file in a response. A missing length is taken from an earlier response about the same version. */
function versionOf(answer: Answer, before: Version): Version {
  const [etag, last_modified] = [answer.headers['etag'] ?? null, answer.headers['last-modified'] ?? null];
  return { etag, last_modified, bytes: lengthOf(answer) ?? (etag === before.etag && last_modified === before.last_modified ? before.bytes : null) };
}

function incomplete(at: string, size: number, expected: number | null, error: unknown): MappaleError {
  if (error === null && expected !== null && size > expected) {
    return inputError('the download is larger than announced', {
      code: 'DOWNLOAD_CHANGED', at, detail: `expected ${expected} bytes, found ${size}`, hint: 'The publisher is probably replacing the file. Run the same command again in an hour.',
    });
  }
  return inputError('the download was cut short', {
    code: 'DOWNLOAD_SHORT', at, detail: `expected ${expected ?? 'all'} bytes, found ${size}${error === null ? '' : `: ${reasonOf(error)}`}`,
    hint: 'Run the command again. If the publisher allows it, the download continues where it stopped.',
  });
}

/**
 * Returns the reason why a response does not contain the remaining bytes of the same file. Returns null if the response contains these bytes, or if the
 * caller reports the status as an error.
 */
function isOther(answer: Answer, expected: Version, offset: number): string | null {
  if (answer.status === 200) return 'the publisher has replaced the file, or sends only whole files';
  if (answer.status === 416) return 'the publisher has no further bytes of the file';
  if (answer.status !== 206) return null;
  const range = rangeOf(answer);
  if (range?.start !== offset) return 'the publisher sends a different part of the file than requested';
  const [etag, modified] = [answer.headers['etag'] ?? null, answer.headers['last-modified'] ?? null];
  if ((range.total ?? expected.bytes) !== expected.bytes || etag !== expected.etag || (etag === null && modified !== expected.last_modified)) return 'the publisher has replaced the file';
  return null;
}

/** A partial file that is written from its start, or from a given position. */
interface Writing {
  readonly path: string;
  readonly url: string;
  /** Number of bytes that the partial file already has. */
  readonly start: number;
  readonly expected: Version;
}

/**
 * Writes the body of a response to the partial file, from the position `start` on. If the connection breaks, returns the error and keeps the received bytes.
 * @throws MappaleError `DISK_FULL`, `FOLDER_UNWRITABLE`, `DOWNLOAD_SLOW`, `DOWNLOAD_TOO_LARGE`
 */
async function write(
  { path, url, start, expected }: Writing, answer: Answer, { bounds: { most } }: Wanted, around: Surroundings,
): Promise<{ readonly bytes: number; readonly error: unknown }> {
  const part = partOf(path);
  const { bytes: total } = expected;
  // Stores no validators for a compressed transfer, which cannot be resumed, because positions in the file are not positions in the transfer.
  const { etag, last_modified } = answer.packed ? { etag: null, last_modified: null } : expected;
  // Deletes the bytes of another version before the sidecar names this version. If the process is killed in between, the next run resumes no other version.
  if (start === 0) await removePart(part);
  await writeJson(sidecarOf(part), { url: around.hide(url), etag, last_modified, bytes: total } satisfies Part);
  const file = await open(part, start === 0 ? 'w' : 'a');
  let bytes = 0;
  let room = 0;
  let error: unknown = null;
  around.progress(start, total);
  try {
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      if (start + bytes + chunk.length > most) throw tooLarge(around.hide(url), most, null);
      if (room < chunk.length) room = await roomFor(path, Math.max(UNLOOKED, chunk.length), around);
      if (room < chunk.length) throw diskFull(path, `expected ${mib(SPARE)} left free, found ${mib(Math.max(0, room + SPARE))}`);
      await append(file, chunk, path);
      room -= chunk.length;
      bytes += chunk.length;
      around.progress(start + bytes, total);
      if (total !== null && start + bytes > total) break;
    }
    await file.sync();
  } catch (caught) {
    if (caught instanceof MappaleError || isFull(caught)) throw caught;
    error = caught;
  } finally {
    await file.close();
    giveUp(answer);
  }
  return { bytes, error };
}

/** Returns how many of the requested bytes can be written while `SPARE` bytes stay free on the disk. */
async function roomFor(path: string, asked: number, { freeBytes }: Surroundings): Promise<number> {
  return Math.min(asked, (await freeBytes(path)) - SPARE);
}

async function append(file: FileHandle, chunk: Buffer, path: string): Promise<void> {
  try {
    await file.appendFile(chunk);
  } catch (error) {
    throw unwritable(error, dirname(path)) ?? error;
  }
}

/** Refuses a download that is a web page. @throws input errors `DOWNLOAD_PAGE`, `DOWNLOAD_LOGIN`, `DOWNLOAD_FIREWALL` */
async function refusePage(part: string, answer: Answer, wanted: Wanted, around: Surroundings): Promise<void> {
  const file = await open(part);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(PAGE_BYTES), 0, PAGE_BYTES, 0).finally(() => file.close());
  const head = buffer.subarray(0, bytesRead);
  if (!isPage(head)) return;
  await removePart(part);
  throw pageError(head, answer, around.hide, byHand(wanted));
}

/**
 * Checks that the source recognises the downloaded file. Deletes a file that the source does not recognise or cannot read.
 * @throws input errors `DOWNLOAD_OTHER`, and the errors of the source's `recognise`
 */
async function accept(part: string, answer: Answer, { source, folder }: Wanted, around: Surroundings): Promise<{ role: string; vintage: string }> {
  const name = basename(part);
  try {
    const found = await recognise({ path: part, size: await sizeOf(part) }, around.sources);
    if (found?.source === source.id && found.recognition.ignored === undefined) return found.recognition;
    const what = found === null ? 'a file that no source reads' : found.source === source.id ? `an ignored file${answer.elsewhere ? '' : `: ${found.recognition.ignored ?? ''}`}` : `a file of ${found.source}`;
    throw inputError('the publisher sent a different file', {
      code: 'DOWNLOAD_OTHER', at: name, detail: `expected a file of ${source.id}, found ${what}`,
      hint: `Nothing was stored, and the existing file stays. The publisher may have changed the file. Download the file manually, save it as ${join(folder, name)} and check it.`,
      fix: `npx mappale validate ${quoted(join(folder, name))}`,
    });
  } catch (error) {
    // Keeps the download if the error does not concern the file, such as a missing GDAL.
    if (!(error instanceof MappaleError) || error.kind !== 'input') throw error;
    const size = await sizeOf(part);
    await removePart(part);
    if (error.code === 'DOWNLOAD_OTHER') throw error;
    const shown = answer.elsewhere
      ? { message: '', detail: `expected a file of ${source.id}, found status ${answer.status} and ${lengthText(answer, size)} from another host` }
      : { message: `: ${error.message}`, detail: error.detail, cause: error };
    throw inputError(`the publisher sent a file that ${source.id} cannot read${shown.message}`, {
      code: error.code, at: name, detail: shown.detail, cause: shown.cause,
      hint: `Nothing was stored, and the existing file stays. Run the command again later. If the command fails again, download the file manually, save it as ${join(folder, name)} and check it.`,
      fix: `npx mappale validate ${quoted(join(folder, name))}`,
    });
  }
}
