/** Downloads a table that the publisher serves as pages of CSV. Requests one page after another, and writes the file at the end. */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import type { Pages } from '../contract/download.ts';
import { inputError, MappaleError } from '../errors.ts';
import { openCsv, type CsvRecord } from '../formats/csv.ts';
import { sha256OfFile } from '../formats/streams.ts';
import { isPage } from '../formats/web-page.ts';
import { tooLarge } from './bounds.ts';
import { BROKEN, giveUp, reasonOf, type Answer } from './client.ts';
import { byHand, keep, lengthText, namedBy, refuseWithoutRoom, statusError, unwritable, type Downloaded, type Surroundings, type Wanted } from './download.ts';
import { partOf, readKept, removePart, type Kept } from './kept.ts';
import { pageError } from './page.ts';

/** Pause between two requests, in seconds. */
const PAUSE = 1;
/** Maximum size of a page in bytes. A page of a few thousand rows is about one megabyte in size. */
const LARGEST_PAGE = 64 * 1024 * 1024;

/** One page of the table, with the response that contained the page. */
interface Page {
  readonly answer: Answer;
  readonly bytes: number;
  readonly header: readonly string[];
  readonly records: readonly CsvRecord[];
}

/** The complete table as CSV text. */
interface Table {
  readonly text: string;
  /** Number of bytes received for all pages. */
  readonly received: number;
  /** Response that contained the last page with new records. */
  readonly answer: Answer;
}

/** Returns how to request the pages of a file. Returns null if the file has no pages, or if the source's URL setting is the address of a single file. */
export function pagesOf({ file, base }: Pick<Wanted, 'file' | 'base'>): Pages | null {
  return file.pages === undefined || (base !== null && namedBy(base, file) !== null) ? null : file.pages;
}

/**
 * Downloads a file that is served as pages. Stores the file only after all pages were received. If the content equals the content of the newest local file,
 * keeps the local file. In a dry run, sends no request.
 * @throws input errors `DOWNLOAD_…`, `DISK_FULL`, and the errors of the source's `recognise`
 */
export async function downloadPages(wanted: Wanted, pages: Pages, around: Surroundings): Promise<Downloaded> {
  const { folder, file: { base, editions: [{ name }] } } = wanted;
  const address = wanted.base ?? base;
  const url = around.hide(address.replace(/\?$/, ''));
  if (around.dryRun) return { outcome: 'wanted', name, url, bytes: null, received: 0, sha256: null, role: null, vintage: null };
  const path = join(folder, name);
  const part = partOf(path);
  const before = await readKept(path);
  const { text, received, answer } = await collect(`${address}${/[?&=]$/.test(address) ? '' : '?'}`, url, wanted, pages, around);
  await mkdir(dirname(part), { recursive: true });
  await refuseWithoutRoom(path, Buffer.byteLength(text), around);
  await writeFile(part, text).catch(async (error: unknown) => {
    await removePart(part);
    throw unwritable(error, folder) ?? error;
  });
  const sha256 = await sha256OfFile(part);
  const newest = await newestKept(folder);
  if (newest?.kept.sha256 === sha256) {
    await removePart(part);
    const { bytes, role, vintage } = newest.kept;
    return { outcome: 'unchanged', name: newest.name, url, bytes, received, sha256, role, vintage };
  }
  const { bytes, role, vintage } = await keep(path, url, { answer, version: { etag: null, last_modified: null, bytes: null } }, wanted, around);
  return { outcome: before === null ? 'new' : 'changed', name, url, bytes, received, sha256, role, vintage };
}

/** Returns the newest downloaded file of a folder, by the day in the file name. Returns null if there is no such file. */
async function newestKept(folder: string): Promise<{ readonly name: string; readonly kept: Kept } | null> {
  for (const name of (await readdir(folder).catch(() => [])).filter((each) => !each.startsWith('.')).sort().reverse()) {
    const kept = await readKept(join(folder, name));
    if (kept !== null) return { name, kept };
  }
  return null;
}

/**
 * Requests pages until a page is empty or has no new record. The offset of a page is the number of rows received before the page. Records are sorted, because
 * publishers return rows in any order and equal content must have equal bytes.
 */
async function collect(address: string, url: string, wanted: Wanted, pages: Pages, around: Surroundings): Promise<Table> {
  const rows = new Map<string, CsvRecord>();
  let header: readonly string[] | null = null;
  let latest: Answer | null = null;
  let [offset, received] = [0, 0];
  for (let number = 1; number <= pages.most; number += 1) {
    if (number > 1) await around.clock.wait(PAUSE);
    const at = `${url} (page ${number})`;
    const page = await onePage(`${address}${pages.path(offset)}`, at, wanted, around);
    received += page.bytes;
    if (received > wanted.bounds.most) throw tooLarge(url, wanted.bounds.most, null);
    around.progress(received, null);
    const column = page.header.indexOf(pages.key);
    const isOther = page.records.length > 0 && header !== null && page.header.join() !== header.join();
    if ((page.header.length > 0 && column === -1) || isOther) {
      throw otherPage(at, wanted, page, `expected ${header === null ? `a table with the column ${JSON.stringify(pages.key)}` : 'the columns of the first page'}, found ${JSON.stringify(page.header.join().slice(0, 120))}`);
    }
    const known = rows.size;
    for (const record of page.records) {
      if (record.problem !== null) throw otherPage(`${at}, line ${record.line}`, wanted, page, record.problem.message);
      takeRow(rows, record, column);
    }
    if (rows.size === known) {
      if (header === null || latest === null) throw otherPage(at, wanted, page, 'expected rows, found none');
      if (page.records.length > 0) around.note(`${at}: this page has no new records, so the table is complete`);
      return { text: tableText(header, rows), received, answer: latest };
    }
    header ??= page.header;
    latest = page.answer;
    offset += page.records.length;
  }
  throw inputError('the publisher\'s pages do not end', {
    code: 'DOWNLOAD_ENDLESS', at: url, detail: `expected an empty page after at most ${pages.most} pages, found ${rows.size} records and no end`, hint: `Nothing was kept. ${byHand(wanted)}`,
  });
}

/**
 * Adds a row to the rows by key. If several rows have the same key, keeps the row with the most values. If the numbers of values are equal, keeps the first row
 * in text order.
 */
function takeRow(rows: Map<string, CsvRecord>, record: CsvRecord, column: number): void {
  const key = record.values[column] ?? '';
  const before = rows.get(key);
  const values = ({ values: all }: CsvRecord): number => all.filter((value) => value.trim() !== '').length;
  if (before === undefined || values(record) > values(before) || (values(record) === values(before) && record.raw < before.raw)) rows.set(key, record);
}

function tableText(header: readonly string[], rows: ReadonlyMap<string, CsvRecord>): string {
  const sorted = [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, { raw }]) => `${raw}\n`);
  return `${header.map((name) => (/[",\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name)).join(',')}\n${sorted.join('')}`;
}

/** Returns the error for a page that is not part of the table. @param quoting detail that may quote the page; replaced if the page is from another host */
function otherPage(at: string, wanted: Wanted, { answer, bytes }: Pick<Page, 'answer' | 'bytes'>, quoting: string): MappaleError {
  const detail = answer.elsewhere ? `expected a page of the table, found status ${answer.status} and ${lengthText(answer, bytes)} from another host` : quoting;
  return inputError('the publisher sent a different table', { code: 'DOWNLOAD_OTHER', at, detail, hint: `Nothing was stored, and the existing file stays. ${byHand(wanted)}` });
}

/** Requests one page, with retries if the connection breaks. @param at address of the page, for messages */
async function onePage(url: string, at: string, wanted: Wanted, around: Surroundings): Promise<Page> {
  for (let attempt = 0; ; attempt += 1) {
    const bounds = { ...wanted.bounds, most: Math.min(wanted.bounds.most, LARGEST_PAGE) };
    const answer = await around.publisher.ask(url, wanted.headers, bounds).catch((error: unknown) => {
      throw error instanceof MappaleError ? error.knowing({ at }) : error;
    });
    if (answer.status !== 200) throw await statusError(answer, at, wanted, around);
    const { body, error } = await bodyOf(answer, at);
    if (error === null) return { answer, bytes: body.length, ...await tableOf(body, answer, at, wanted, around) };
    const seconds = BROKEN[attempt];
    const detail = `expected the whole page, found ${body.length} bytes: ${around.hide(reasonOf(error))}`;
    if (seconds === undefined) throw inputError('the download was cut short', { code: 'DOWNLOAD_SHORT', at, detail, hint: 'Nothing was kept. Run the same command again.' });
    around.note(`${at}: the download was cut short (${detail}). The next request is in ${seconds} s`);
    await around.clock.wait(seconds);
  }
}

/** Reads the body of a response. Returns the received bytes even if the connection breaks. @throws input errors if a limit is exceeded */
async function bodyOf(answer: Answer, at: string): Promise<{ readonly body: Buffer; readonly error: unknown }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of answer.body) {
      chunks.push(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      if (bytes > LARGEST_PAGE) throw tooLarge(at, LARGEST_PAGE, null);
    }
    return { body: Buffer.concat(chunks), error: null };
  } catch (error) {
    if (error instanceof MappaleError) throw error;
    return { body: Buffer.concat(chunks), error };
  } finally {
    giveUp(answer);
  }
}

/** Parses a body as a page of the table. @throws input errors `DOWNLOAD_PAGE`, `DOWNLOAD_LOGIN`, `DOWNLOAD_FIREWALL`, `DOWNLOAD_OTHER` */
async function tableOf(body: Buffer, answer: Answer, at: string, wanted: Wanted, around: Surroundings): Promise<Pick<Page, 'header' | 'records'>> {
  if (!/\S/.test(body.toString('latin1', 0, 128))) return { header: [], records: [] };
  if (isPage(body)) {
    const { origin, pathname } = new URL(answer.url);
    throw pageError(body, { ...answer, url: `${origin}${pathname}` }, around.hide, byHand(wanted)).knowing({ at });
  }
  try {
    const reader = await openCsv(Readable.from([body]) as AsyncIterable<Buffer>, { at, delimiter: ',' });
    const records: CsvRecord[] = [];
    for await (const record of reader.records()) records.push(record);
    return { header: reader.header, records };
  } catch (error) {
    throw error instanceof MappaleError ? otherPage(at, wanted, { answer, bytes: body.length }, error.detail ?? error.message) : error;
  }
}
