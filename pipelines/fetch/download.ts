/** One file: is there a newer one, how does it come, and is it what it should be? */
import { mkdir, open, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { RemoteFile } from '../contract/download.ts';
import type { RegisteredSource } from '../contract/registry.ts';
import { inputError, MappaleError } from '../errors.ts';
import { freeBytes } from '../formats/disk.ts';
import { isFull } from '../formats/file-error.ts';
import { sha256OfFile } from '../formats/streams.ts';
import { recognise } from '../ingest/locate.ts';
import { retyped, withOption } from '../typed.ts';
import { BROKEN, discard, giveUp, reasonOf, type Answer, type Clock, type Publisher } from './client.ts';
import { partOf, readKept, readPart, sidecarOf, writeJson, type Kept, type Part, type Version } from './kept.ts';
import { isPage, linksOf, PAGE_BYTES, pageError } from './page.ts';

export interface Wanted {
  readonly source: RegisteredSource;
  readonly file: RemoteFile;
  /** Folder of this source's downloads. */
  readonly folder: string;
  /** Stands in the place of `file.base`. */
  readonly base: string | null;
  /** What a publisher knows its user by, as a parameter of the query. */
  readonly token: { readonly parameter: string; readonly value: string } | null;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Surroundings {
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly sources: readonly RegisteredSource[];
  /** Takes secrets out of what is shown and kept. */
  readonly hide: (text: string) => string;
  readonly dryRun: boolean;
  /** @param have bytes of the file that are here; @param total of it, null: not known */
  readonly progress: (have: number, total: number | null) => void;
  readonly note: (message: string) => void;
}

/** `wanted`: a dry run found that it would be downloaded. `none`: the publisher has no such file, and need not. */
export type Outcome = 'new' | 'changed' | 'unchanged' | 'wanted' | 'none';

export interface Downloaded {
  readonly outcome: Outcome;
  readonly name: string;
  /** Without secrets. */
  readonly url: string;
  /** Of the whole file; null: the server does not say, or there is none. */
  readonly bytes: number | null;
  /** Bytes of it that came now. */
  readonly received: number;
  readonly sha256: string | null;
  readonly role: string | null;
  readonly vintage: string | null;
}

/** First bytes, which are asked for before the file is: they say size and version, and whether the server gives ranges. */
const FIRST = 128;
/** The end of a zip, where each entry's CRC-32 stands: a zip of the same end is the same. */
const END = 65_536;
/** Left free on the disk. */
const SPARE = 64 * 1024 * 1024;

/** What came, and with which answer. */
interface Received {
  readonly bytes: number;
  readonly answer: Answer;
  readonly version: Version;
}

/** Where the file is, once pages and editions are resolved, and what the server says of it. */
interface Found extends Version {
  readonly url: string;
  readonly name: string;
  readonly ranges: boolean;
  /** First bytes, where the server gives ranges. */
  readonly head: Buffer;
  readonly answer: Answer;
  /** A server that gives no ranges has begun to send the whole already. */
  readonly whole: Answer | null;
  /** The server itself says that nothing changed (304). */
  readonly same: boolean;
}

/**
 * Brings one file up to date; what is there already stays until the new one is whole and recognised.
 * @throws input errors `DOWNLOAD_…`, `DISK_FULL`, and what the source's `recognise` throws
 */
export async function download(wanted: Wanted, around: Surroundings): Promise<Downloaded> {
  const found = await find(wanted, around);
  if (found === null) return { outcome: 'none', name: wanted.file.editions[0].name, url: '', bytes: null, received: 0, sha256: null, role: null, vintage: null };
  const path = join(wanted.folder, found.name);
  const url = around.hide(found.url);
  try {
    const kept = await readKept(path);
    const told = (outcome: Outcome, { bytes, sha256, role, vintage }: Kept, received: number): Downloaded => (
      { outcome, name: found.name, url, bytes, received, sha256, role, vintage }
    );
    if (kept !== null && (found.same || (await isSame(kept, found, path, wanted, around)))) return told('unchanged', kept, 0);
    if (around.dryRun) return { outcome: 'wanted', name: found.name, url, bytes: found.bytes, received: 0, sha256: null, role: null, vintage: null };
    await mkdir(dirname(partOf(path)), { recursive: true });
    await refuseWithoutRoom(path, found.bytes);
    const { bytes: received, answer, version } = await receive(path, found, wanted, around);
    const part = partOf(path);
    const { role, vintage } = await accept(part, wanted, around);
    const sha256 = await sha256OfFile(part);
    const same = kept?.sha256 === sha256;
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
    return told(same ? 'unchanged' : kept === null ? 'new' : 'changed', now, received);
  } finally {
    if (found.whole !== null) giveUp(found.whole);
  }
}

function headersOf({ headers }: Wanted, more: Readonly<Record<string, string>>): Record<string, string> {
  return { ...headers, ...more };
}

function addressOf({ file, base, token }: Wanted, path: string): string {
  const url = `${base ?? file.base}${path}`;
  return token === null ? url : `${url}${url.includes('?') ? '&' : '?'}${token.parameter}=${encodeURIComponent(token.value)}`;
}

/** The newest edition that the publisher has. @returns null: none, of a file that need not be */
async function find(wanted: Wanted, around: Surroundings): Promise<Found | null> {
  const { file } = wanted;
  const tried: string[] = [];
  for (const edition of file.editions) {
    let { name } = edition;
    let url = addressOf(wanted, edition.path);
    if (file.link !== undefined) {
      url = await linkOn(url, file.link, wanted, around);
      name = basename(new URL(url).pathname);
    }
    const found = await probe(url, name, wanted, around);
    if (found !== null) return found;
    tried.push(around.hide(url));
  }
  if (file.optional === true) return null;
  throw inputError('the publisher does not have the file any more', {
    code: 'DOWNLOAD_MISSING', at: tried[0], detail: `expected the file, found status 404${tried.length > 1 ? ` there and at ${tried.slice(1).join(', ')}` : ''}`,
    hint: `It may have moved: look for it at ${wanted.source.manifest.attribution.url}, and say where it is with ${settingOf(wanted, 'URL')}. ${byHand(wanted)}`,
  });
}

/** `MAPPALE_ADE_CADASTRE_URL` */
export function settingOf({ source }: Pick<Wanted, 'source'>, what: 'URL' | 'TOKEN'): string {
  return `MAPPALE_${source.id.toUpperCase()}_${what}`;
}

function byHand({ folder, file, source }: Wanted): string {
  return `Or download it in a browser (mappale sources ${source.id} says where) and save it as ${join(folder, file.editions[0].name)}.`;
}

async function linkOn(url: string, link: RegExp, wanted: Wanted, around: Surroundings): Promise<string> {
  const answer = await around.publisher.ask(url, headersOf(wanted, {}));
  if (answer.status !== 200 && answer.status !== 404 && answer.status !== 410) throw await statusError(answer, url, wanted, around);
  const page = await answer.body.text();
  const found = linksOf(page).find((each) => link.test(each));
  if (found !== undefined) return new URL(found, answer.url).href;
  throw inputError('the page does not link the file any more', {
    code: 'DOWNLOAD_LINK', at: around.hide(url), detail: `expected a link like ${link.source}, found ${linksOf(page).length} others`,
    hint: `The page has changed: open it and download the file. Save it as ${join(wanted.folder, '…')} under its own name.`,
  });
}

/**
 * Asks for the first bytes: a range and not HEAD, which several publishers refuse (403) or never answer.
 * @returns null: there is no such file
 */
async function probe(url: string, name: string, wanted: Wanted, around: Surroundings): Promise<Found | null> {
  const kept = await readKept(join(wanted.folder, name));
  const answer = await around.publisher.ask(url, headersOf(wanted, {
    range: `bytes=0-${FIRST - 1}`,
    ...(kept === null || kept.etag === null ? {} : { 'if-none-match': kept.etag }),
    ...(kept === null || kept.last_modified === null ? {} : { 'if-modified-since': kept.last_modified }),
  }));
  const { status, headers } = answer;
  if (status === 304 && kept !== null) {
    await discard(answer);
    const { etag, last_modified, bytes } = kept;
    return { url, name, etag, last_modified, bytes, ranges: true, head: Buffer.alloc(0), answer, whole: null, same: true };
  }
  if (status === 404 || status === 410) {
    await discard(answer);
    return null;
  }
  if (status !== 200 && status !== 206) throw await statusError(answer, url, wanted, around);
  const total = status === 206 ? rangeOf(answer)?.total ?? null : lengthOf(answer);
  const head = status === 206 ? Buffer.from(await answer.body.arrayBuffer()) : around.dryRun ? await headOf(answer) : Buffer.alloc(0);
  if (isPage(head)) throw pageError(head, answer.url, answer.redirected, around.hide(url), byHand(wanted));
  return {
    url, name, etag: headers['etag'] ?? null, last_modified: headers['last-modified'] ?? null, bytes: total, ranges: status === 206, head, answer,
    whole: status === 200 ? answer : null, same: false,
  };
}

async function statusError(answer: Answer, url: string, wanted: Wanted, around: Surroundings): Promise<MappaleError> {
  const { status } = answer;
  const head = await headOf(answer);
  if (status === 401 || status === 407) {
    return inputError('the publisher asks for a login', {
      code: 'DOWNLOAD_LOGIN', at: around.hide(url), detail: `expected the file, found status ${status}`,
      hint: wanted.token === null ? byHand(wanted) : `The token has expired: get a new one, set ${settingOf(wanted, 'TOKEN')} to it and run the same command again.`,
      mend: wanted.token === null ? undefined : `export ${settingOf(wanted, 'TOKEN')}=NEW_TOKEN`,
    });
  }
  const text = isPage(head) ? /<title[^>]*>([^<]*)/i.exec(head.toString('utf8'))?.[1] : head.toString('utf8', 0, 80);
  return inputError('the publisher refuses the download', {
    code: 'DOWNLOAD_REFUSED', at: around.hide(url), detail: `expected the file, found status ${status}${text === undefined || text.trim() === '' ? '' : `, ${JSON.stringify(text.trim().slice(0, 80))}`}`,
    hint: `Try again in an hour: some refuse whom they do not know yet. ${byHand(wanted)}`,
  });
}

/** The first bytes of a body, of which no more is read. */
async function headOf({ body }: Answer): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      if (bytes >= PAGE_BYTES) break;
    }
  } catch {
    // What came of it is enough for a message.
  }
  return Buffer.concat(chunks);
}

/** `bytes 0-127/53740211` */
function rangeOf({ headers }: Answer): { readonly start: number; readonly total: number | null } | null {
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers['content-range'] ?? '') ?? [];
  return start === undefined ? null : { start: Number(start), total: total === '*' ? null : Number(total) };
}

function lengthOf({ headers }: Answer): number | null {
  const length = headers['content-length'];
  return length === undefined || headers['content-encoding'] !== undefined ? null : Number(length);
}

/** Weak ones (`W/"…"`) say that nothing important changed, which is enough for a file to stay. */
function opaque(etag: string): string {
  return etag.replace(/^W\//, '');
}

/** Is the server's file the one that is here? What neither server nor bytes tell is downloaded and compared. */
async function isSame(kept: Kept, found: Found, path: string, wanted: Wanted, around: Surroundings): Promise<boolean> {
  if (found.bytes !== null && found.bytes !== kept.bytes) return false;
  if (kept.etag !== null && found.etag !== null) return opaque(kept.etag) === opaque(found.etag);
  if (kept.last_modified !== null && found.last_modified !== null && found.bytes !== null) return kept.last_modified === found.last_modified;
  if (!found.ranges || found.bytes === null || found.head.toString('latin1', 0, 2) !== 'PK') return false;
  const from = Math.max(0, found.bytes - END);
  const answer = await around.publisher.ask(found.url, headersOf(wanted, { range: `bytes=${from}-${found.bytes - 1}` }));
  if (answer.status !== 206 || rangeOf(answer)?.start !== from) {
    giveUp(answer);
    return false;
  }
  const end = Buffer.from(await answer.body.arrayBuffer());
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(end.length), 0, end.length, from);
    return buffer.equals(end);
  } finally {
    await file.close();
  }
}

async function refuseWithoutRoom(path: string, bytes: number | null): Promise<void> {
  const needed = Math.max(0, (bytes ?? 0) - (await sizeOf(partOf(path)))) + SPARE;
  const free = await freeBytes(path);
  if (free < needed) throw diskFull(path, `expected ${mib(needed)} free, found ${mib(free)}`);
}

function diskFull(path: string, detail: string, cause?: unknown): MappaleError {
  return new MappaleError('there is not enough room for the download', {
    code: 'DISK_FULL', kind: 'usage', at: dirname(path), detail, hint: 'Free room there, or name a folder on another disk. What came so far is kept and goes on.',
    mend: retyped(withOption('--data', '/OTHER_DISK/data'), 'npx mappale fetch REGION --data /OTHER_DISK/data'), cause,
  });
}

function mib(bytes: number): string {
  return `${Math.ceil(bytes / 1024 ** 2)} MiB`;
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(({ size }) => size, () => 0);
}

/** Bytes that are here can be gone on from: only a strong ETag or a date says that the rest is of the same file. */
function resumable(part: Part | null, found: Version): string | null {
  if (part === null || part.bytes !== found.bytes) return null;
  if (part.etag !== null && !part.etag.startsWith('W/')) return part.etag === found.etag ? part.etag : null;
  return part.last_modified !== null && part.last_modified === found.last_modified ? part.last_modified : null;
}

async function receive(path: string, found: Found, wanted: Wanted, around: Surroundings): Promise<Received> {
  const part = partOf(path);
  const name = basename(path);
  let version: Version = found;
  let received = 0;
  for (let attempt = 0; ; attempt += 1) {
    const validator = found.ranges ? resumable(await readPart(path), version) : null;
    const offset = validator === null ? 0 : await sizeOf(part);
    // Whole, but the program ended before it was looked at.
    if (offset > 0 && offset === version.bytes) return { bytes: received, answer: found.answer, version };
    const headers = headersOf(wanted, offset === 0 || validator === null ? {} : { range: `bytes=${offset}-`, 'if-range': validator });
    let answer = attempt === 0 && found.whole !== null ? found.whole : await around.publisher.ask(found.url, headers);
    const other = offset === 0 ? null : isOther(answer, version, offset);
    if (other !== null) {
      around.note(`${name}: ${other}: what came before is given up, and it begins again`);
      if (answer.status !== 200) {
        giveUp(answer);
        answer = await around.publisher.ask(found.url, headersOf(wanted, {}));
      }
    }
    const start = offset > 0 && other === null ? offset : 0;
    if (answer.status !== (start > 0 ? 206 : 200)) throw await statusError(answer, found.url, wanted, around);
    if (start === 0) version = versionOf(answer, version);
    const { bytes, error } = await write(path, answer, start, version, wanted, around);
    received += bytes;
    const size = start + bytes;
    if (error === null && (version.bytes === null || size === version.bytes)) return { bytes: received, answer, version };
    const failure = incomplete(around.hide(found.url), size, version.bytes, error);
    if (failure.code === 'DOWNLOAD_CHANGED') await forget(part);
    const seconds = BROKEN[attempt];
    if (seconds === undefined) throw failure;
    around.note(`${name}: ${failure.message} (${failure.detail ?? ''}): asking again in ${seconds} s`);
    await around.clock.wait(seconds);
  }
}

/** Of the answer with a whole file; a length that it leaves out is the one that was known of the same version. */
function versionOf(answer: Answer, before: Version): Version {
  const [etag, last_modified] = [answer.headers['etag'] ?? null, answer.headers['last-modified'] ?? null];
  return { etag, last_modified, bytes: lengthOf(answer) ?? (etag === before.etag && last_modified === before.last_modified ? before.bytes : null) };
}

function incomplete(at: string, size: number, expected: number | null, error: unknown): MappaleError {
  if (error === null && expected !== null && size > expected) {
    return inputError('the download is longer than its publisher says', {
      code: 'DOWNLOAD_CHANGED', at, detail: `expected ${expected} bytes, found ${size}`, hint: 'The file is probably being replaced. Run the same command again in an hour.',
    });
  }
  return inputError('the download was cut short', {
    code: 'DOWNLOAD_SHORT', at, detail: `expected ${expected ?? 'all'} bytes, found ${size}${error === null ? '' : `: ${reasonOf(error)}`}`,
    hint: 'Run the same command again: it goes on where it stopped, if the publisher allows it.',
  });
}

/** Why the answer to a request for the rest is not the rest of the same file; null: it is, or an error that has its own words. */
function isOther(answer: Answer, expected: Version, offset: number): string | null {
  if (answer.status === 200) return 'the publisher replaced it meanwhile, or sends files from their beginning only';
  if (answer.status === 416) return 'the publisher has no more bytes of it';
  if (answer.status !== 206) return null;
  const range = rangeOf(answer);
  if (range?.start !== offset) return 'the publisher sends another part than was asked for';
  const [etag, modified] = [answer.headers['etag'] ?? null, answer.headers['last-modified'] ?? null];
  if ((range.total ?? expected.bytes) !== expected.bytes || etag !== expected.etag || (etag === null && modified !== expected.last_modified)) return 'the publisher replaced it meanwhile';
  return null;
}

/** Appends a body, whose beginning is looked at when it is the file's. @throws input errors for a page, `DISK_FULL` */
async function write(
  path: string, answer: Answer, start: number, expected: Version, wanted: Wanted, around: Surroundings,
): Promise<{ readonly bytes: number; readonly error: unknown }> {
  const part = partOf(path);
  const { etag, last_modified, bytes: total } = expected;
  await writeJson(sidecarOf(part), { url: around.hide(answer.url), etag, last_modified, bytes: total } satisfies Part);
  const file = await open(part, start === 0 ? 'w' : 'a');
  let bytes = 0;
  let error: unknown = null;
  around.progress(start, total);
  try {
    for await (const chunk of answer.body) {
      const first = chunk as Buffer;
      if (start === 0 && bytes === 0 && isPage(first)) {
        throw pageError(Buffer.concat([first, await headOf(answer)]), answer.url, answer.redirected, around.hide(answer.url), byHand(wanted));
      }
      await append(file, first, path);
      bytes += first.length;
      around.progress(start + bytes, total);
      if (total !== null && start + bytes > total) break;
    }
    await file.sync();
  } catch (caught) {
    if (caught instanceof MappaleError) {
      if (caught.code !== 'DISK_FULL') await forget(part);
      throw caught;
    }
    error = caught;
  } finally {
    await file.close();
    giveUp(answer);
  }
  return { bytes, error };
}

async function append(file: FileHandle, chunk: Buffer, path: string): Promise<void> {
  try {
    await file.appendFile(chunk);
  } catch (error) {
    throw isFull(error) ? diskFull(path, 'expected room for the rest, found that the disk filled up', error) : error;
  }
}

async function forget(part: string): Promise<void> {
  await rm(part, { force: true });
  await rm(sidecarOf(part), { force: true });
}

/** Is it what it should be, as far as `validate` knows files? What is not is not kept. */
async function accept(part: string, { source, folder }: Wanted, around: Surroundings): Promise<{ role: string; vintage: string }> {
  const name = basename(part);
  try {
    const found = await recognise({ path: part, size: await sizeOf(part) }, around.sources);
    if (found?.source === source.id && found.recognition.ignored === undefined) return found.recognition;
    const what = found === null ? 'one that no source reads' : found.source === source.id ? `one that is left aside: ${found.recognition.ignored ?? ''}` : `one of ${found.source}`;
    throw inputError('the publisher sent another file', {
      code: 'DOWNLOAD_OTHER', at: name, detail: `expected a file of ${source.id}, found ${what}`,
      hint: `Nothing was kept. Its publisher may have changed it: download it by hand and look at it with mappale validate ${join(folder, name)}.`,
    });
  } catch (error) {
    // What has nothing to do with the file (no GDAL on this machine) does not undo its download.
    if (!(error instanceof MappaleError) || error.kind !== 'input') throw error;
    await forget(part);
    if (error.code === 'DOWNLOAD_OTHER') throw error;
    throw inputError(`the publisher sent what is no file of ${source.id}: ${error.message}`, {
      code: error.code, at: name, detail: error.detail, cause: error,
      hint: `Nothing was kept, and what was there stays. Run the same command again later; if it stays so, download it by hand and look at it with mappale validate ${join(folder, name)}.`,
    });
  }
}
