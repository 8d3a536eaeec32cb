/** Step 1 of a refresh: finds files in data folders, recognises the files by content and groups the files into releases. */
import { createHash } from 'node:crypto';
import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { CLOCK } from '../clock.ts';
import { firstNames, MappaleError, inputError } from '../errors.ts';
import { fileError } from '../formats/file-error.ts';
import type { Probe, Recognition } from '../contract/source.ts';
import { sha256OfFile } from '../formats/streams.ts';
import { isPage, titleOf } from '../formats/web-page.ts';
import { TAIL_BYTES, ZipArchive, isZip, mayBeZip, type ZipEntry } from '../formats/zip.ts';
import { maskTaxCode } from '../mask-tax-code.ts';
import { sheetNames } from '../readers/xlsx-rows.ts';
import { quoted, retyped, withWord } from '../typed.ts';
import { inParallel } from '../parallel.ts';
import type { RegisteredSource } from '../contract/registry.ts';
import {
  releaseOf, type BrokenEntry, type FoundFile, type Located, type LocatedFile, type SeenFile, type SeenFiles, type Stamp, type Survey,
} from '../contract/survey.ts';
import { downloadAgain, withDownload } from './download-again.ts';
import { Folders, isUnfinished, isUntouched, refuseChanged } from './walk.ts';

const HEAD_BYTES = 65_536;

/**
 * Searches folders recursively, recognises the files and groups the files into releases. Returns an unusable entry as broken, and continues the search.
 * @throws MappaleError `DATA_MISSING` (exit 2) if a folder does not exist, `DATA_EMPTY` (exit 2) if no folder contains a file
 */
export async function locate(folders: readonly string[], sources: readonly RegisteredSource[], seen: SeenFiles): Promise<Survey> {
  const here = Folders.walk(folders);
  if (here.files.size === 0 && here.broken.length === 0) {
    throw new MappaleError('the data folder is empty', {
      code: 'DATA_EMPTY', kind: 'usage', at: folders.join(', '), detail: 'expected downloaded files, found none',
      hint: 'Use the folder with the downloaded files, or download the files into this folder. Loaded files stay in use even if the folder is empty. To stop using a file: npx mappale forget FILE.',
      fix: folderHint(folders, sources) ?? `npx mappale fetch REGION --data ${quoted(folders[0] ?? 'data')}`,
    });
  }
  const broken = [...here.broken];
  const unknown: string[] = [];
  const aside: { path: string; source: string; reason: string }[] = [];
  const recognised: { file: FoundFile; source: RegisteredSource; recognition: Recognition }[] = [];
  await inParallel(8, [...here.files.values()], (file) => unlessBroken(file, broken, async () => {
    const known = seen.get(file.path);
    const untouched = known !== undefined && isUntouched(known, file);
    const siblings = here.digestOfSiblings(file.path);
    // A source may recognise a file by its siblings, such as the .dbf of a .shp.
    const unchanged = untouched && known.siblings === siblings;
    const found = unchanged ? known.recognition : await recognise(file, sources, here);
    if (!unchanged) seen.set(file.path, { ...stampOf(file), sha256: untouched ? known.sha256 : null, siblings, recognition: found });
    const source = sources.find(({ id }) => id === found?.source);
    if (found === null || source === undefined) unknown.push(file.path);
    else {
      refuseFuture(found.recognition, file.path, source.id);
      recognised.push({ file, source, recognition: found.recognition });
    }
  }));
  const sidecars = new Set(recognised.flatMap(({ file, recognition }) => (recognition.sidecars ?? []).map((name) => join(dirname(file.path), name))));
  const located: { source: RegisteredSource; file: LocatedFile }[] = [];
  await inParallel(2, recognised, ({ file, source, recognition }) => unlessBroken(file, broken, async () => {
    if (recognition.ignored !== undefined) {
      aside.push({ path: file.path, source: source.id, reason: recognition.ignored });
      return;
    }
    const parts = [file, ...(recognition.sidecars ?? []).flatMap((name) => here.file(join(dirname(file.path), name)) ?? [])];
    const sha256 = await hashParts(parts, seen).catch((error: unknown) => {
      throw fileError(error, file.path)?.knowing({ source: source.id }) ?? error;
    });
    located.push({ source, file: { path: file.path, name: maskTaxCode(basename(file.path)), size: file.size, parts, sha256, recognition } });
  }));
  const byPath = (a: { path: string }, b: { path: string }): number => (a.path < b.path ? -1 : 1);
  return {
    releases: group(located),
    aside: aside.sort(byPath).map((each) => ({ ...each, path: maskTaxCode(each.path) })),
    unknown: unknown.filter((path) => !sidecars.has(path)).sort().map(maskTaxCode),
    broken: broken.sort(byPath).map((each) => ({ ...each, path: maskTaxCode(each.path) })),
  };
}

/** Maximum number of folder entries in which publishers' names are searched. */
const NAMES_LOOKED_AT = 1_000;

/**
 * Detects that the user named a folder one level too deep. In this case, files with publishers' names are next to the folder or in sibling folders.
 * @returns the same command with the parent folder, or null if no such files are found
 */
export function folderHint(folders: readonly string[], sources: readonly RegisteredSource[]): string | null {
  const isNamed = (name: string): boolean => sources.some(({ names }) => names.some((pattern) => pattern.test(name)));
  const inside = (folder: string): string[] => {
    try {
      return readdirSync(folder, { withFileTypes: true }).slice(0, NAMES_LOOKED_AT).filter(({ name }) => !name.startsWith('.'))
        .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
    } catch {
      return [];
    }
  };
  for (const folder of folders) {
    const above = dirname(resolve(folder));
    const there = inside(above);
    const others = there.filter((name) => name.endsWith('/') && resolve(above, name) !== resolve(folder));
    if (!there.some(isNamed) && !others.some((name) => inside(join(above, name)).some(isNamed))) continue;
    const path = relative('', above) || '.';
    return retyped(withWord(folder, path.startsWith('..') ? above : path), `npx mappale load-region REGION --data ${quoted(above)}`);
  }
  return null;
}

/** Refuses a vintage or date after the next year, because the file would supersede newer files until that year. @throws input error `VINTAGE_FUTURE` */
function refuseFuture({ vintage, dated, ignored }: Recognition, path: string, source: string): void {
  const years = [...`${vintage} ${dated ?? ''}`.matchAll(/(?<!\d)(20\d\d)(?:\d{4})?(?!\d)/g)].map((match) => Number(match[1]));
  const latest = new Date(CLOCK.now()).getFullYear() + 1;
  if (ignored !== undefined || years.every((year) => year <= latest)) return;
  throw inputError('the year of the file is in the future', {
    code: 'VINTAGE_FUTURE', at: basename(path), source, detail: `expected a vintage up to ${latest}, found ${vintage}${dated === undefined ? '' : `, dated ${dated}`}`,
    hint: 'Correct the year in the file or its name, or set the clock of this machine.',
  });
}

/** Runs work on one file. Records an input error as a broken entry, so that the search continues. @throws any other error */
async function unlessBroken({ path }: FoundFile, broken: BrokenEntry[], work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const known = fileError(error, path);
    if (known === null || known.kind !== 'input') throw error;
    broken.push({ path, error: known });
  }
}

/**
 * Returns the source that recognises a file, with the recognition; null if no source recognises the file. @throws input errors, such as `FILE_AMBIGUOUS` if
 * several sources recognise the file
 */
export async function recognise(
  file: { path: string; size: number }, sources: readonly RegisteredSource[], folders: Folders = Folders.walk([file.path]),
): Promise<SeenFile['recognition']> {
  if (isUnfinished(file.path)) return null;
  const bears = (name: string): RegisteredSource | undefined => sources.find(({ names }) => names.some((pattern) => pattern.test(name)));
  const { probe, close } = await openProbe(file.path, file.size, folders).catch((error: unknown) => {
    const named = error instanceof MappaleError && error.code === 'ZIP_UNREADABLE' ? bears(basename(file.path)) : undefined;
    throw named === undefined ? error : cutShort(error as MappaleError, named.id);
  });
  try {
    const claims: NonNullable<SeenFile['recognition']>[] = [];
    for (const source of sources) {
      const recognition = await source.recognise(probe).catch((error: unknown) => {
        // Reports an unexpected file format first, because an unexpected format also causes the source's error.
        if (!(error instanceof MappaleError)) throw error;
        // A source may report an error for a zip archive of another source. The error then names the source to which the file name belongs.
        const named = bears(probe.name)?.id ?? source.id;
        throw formFault(probe, source.id) ?? withDownload(error.knowing({ source: named }), named);
      });
      if (recognition !== null) claims.push({ source: source.id, recognition });
    }
    if (claims.length > 1) {
      throw inputError('two sources recognise the same file', {
        code: 'FILE_AMBIGUOUS', at: file.path, detail: `expected one source, found ${claims.map(({ source }) => source).join(' and ')}`,
        hint: 'The file matches both sources. Use the downloaded file in its original zip archive.',
      });
    }
    if (claims.length === 0) {
      const named = bears(probe.name);
      if (named !== undefined) throw formFault(probe, named.id) ?? await wrongContent(probe, named.id);
      const shape = /\.(?:dbf|shx)$/i.test(probe.name) ? `${probe.name.slice(0, -4)}.shp` : null;
      const layer = shape === null ? undefined : bears(shape);
      if (layer !== undefined && !probe.siblings.some((name) => name.toLowerCase() === shape?.toLowerCase())) throw sidecarMissing(probe.name, layer.id, '.shp');
    }
    return claims[0] ?? null;
  } finally {
    await close();
  }
}

/** Returns the error for an unreadable zip archive whose file name is a publisher's name. */
function cutShort({ message, code, at, detail, cause }: MappaleError, source: string): MappaleError {
  return inputError(message, { code, at, detail, cause, source, hint: 'The download was probably cut short. Compare the size of the file with the publisher\'s, or download the file again.', fix: downloadAgain(source) });
}

function sidecarMissing(name: string, source: string, part: string): MappaleError {
  return inputError('shapefile is not complete', {
    code: 'SIDECAR_MISSING', at: name, source, detail: `expected a ${part} of ${source} in the same folder, found none`, hint: 'Put all files of the shapefile in one folder: .shp, .shx, .dbf, .prj.',
  });
}

/** First bytes, name and hint of unsupported file formats. */
const OTHER_FORMS: readonly (readonly [magic: string, what: string, hint: string])[] = [
  ['d0cf11e0a1b11ae1', 'an old Excel workbook (.xls, whatever the file name)', 'Save the file as .xlsx, or use the publisher\'s CSV.'],
  ['1f8b', 'a gzip archive', 'Extract the archive and use the files inside.'],
  ['377abcaf271c', 'a 7-Zip archive', 'Extract the archive and use the files inside.'],
  ['526172211a07', 'a RAR archive', 'Extract the archive and use the files inside.'],
  ['25504446', 'a PDF document', 'Use the publisher\'s data instead of the description.'],
];

/**
 * Returns an error for an unsupported format, encoding or line end in the first bytes, for a file that contains only a byte order mark, or for a shapefile
 * without .dbf. Otherwise returns null.
 */
function formFault({ name, size, head, entries, siblings }: Probe, source: string): MappaleError | null {
  if (entries !== null || size === 0) return null;
  const stop = (message: string, code: string, found: string, hint: string): MappaleError =>
    inputError(message, { code, at: name, source, detail: `expected a file of ${source}, found ${found}`, hint });
  const again = 'Use the downloaded file, because a program may change the content when it saves a file.';
  const bytes = head.toString('hex', 0, 8);
  if (size <= 4 && /^(?:efbbbf|fffe|feff)/.test(bytes)) return stop('the file is empty', 'FILE_EMPTY', 'a byte order mark and nothing else', 'Download the file again and compare its size with the publisher\'s.');
  const other = OTHER_FORMS.find(([magic]) => bytes.startsWith(magic));
  if (other !== undefined) return stop('the file has a different format', 'FILE_FORM', other[1], other[2]);
  if (/\.shp$/i.test(name) && !siblings.some((sibling) => sibling.toLowerCase() === `${name.slice(0, -4).toLowerCase()}.dbf`)) return sidecarMissing(name, source, '.dbf');
  if (!/\.(?:csv|txt|json|geojson|gml|kml|xml)$/i.test(name)) return null;
  const nuls = head.subarray(0, 1024).filter((byte) => byte === 0).length;
  if (/^(?:fffe|feff)/.test(bytes) || nuls * 4 > Math.min(head.length, 1024)) return stop('the file is in UTF-16', 'ENCODING_WRONG', 'text with two bytes for each character', `${again} Or save the file in UTF-8.`);
  if (/\.(?:csv|txt)$/i.test(name) && head.includes(0x0d) && !head.includes(0x0a)) return stop('the line ends of the file are not supported', 'LINE_ENDS', 'carriage returns (CR) without line feeds (LF)', `${again} Or convert the line ends to line feeds: tr '\\r' '\\n' < OLD > NEW.`);
  return null;
}

/** Returns the error for a file with a publisher's name that no source recognises. The error names the format if the first bytes show the format. */
async function wrongContent(probe: Probe, source: string): Promise<MappaleError> {
  const { name, size, head, entries } = probe;
  const again = 'Compare the size of the file with the publisher\'s, and download the file again.';
  const stop = (message: string, code: string, found: string, hint: string): MappaleError =>
    inputError(message, { code, at: name, source, detail: `expected a file of ${source}, found ${found}`, hint, fix: downloadAgain(source) });
  if (size === 0) return stop('the file is empty', 'FILE_EMPTY', 'no bytes', again);
  if (isPage(head)) {
    const title = titleOf(head);
    return stop('the file is a web page', 'FILE_IS_PAGE', title === '' ? JSON.stringify(firstLine(head).slice(0, 60)) : `a page with the title ${JSON.stringify(title.slice(0, 80))}`,
      'The server sent a web page instead of the file. The page may be a login page, an error page, or the response of a firewall. Open the page in a browser, and download the file again.');
  }
  if (entries !== null) {
    const hint = `Remove this file from the folder, or download the file that npx mappale sources ${source} describes.`;
    const sheets = await sheetNames(probe);
    if (sheets !== null) return stop('the content of the workbook does not match its name', 'ZIP_CONTENT', `a workbook with ${sheets.length === 1 ? 'the sheet' : 'the sheets'} ${firstNames(sheets)}`, hint);
    const paths = entries.filter(({ isFolder }) => !isFolder).map(({ path }) => path);
    return stop('the content of the zip does not match its name', 'ZIP_CONTENT', paths.length === 0 ? 'an empty zip' : firstNames(paths), hint);
  }
  if (/\.(?:zip|kmz|xlsx)$/i.test(name)) return stop('the file is not a zip', 'ZIP_UNREADABLE', isText(head) ? `the first line ${JSON.stringify(firstLine(head))}` : `first bytes ${head.toString('hex', 0, 8)}`, again);
  return stop('the content of the file does not match its name', 'FILE_CHANGED', `the first line ${JSON.stringify(firstLine(head))}`, 'Download the file again. If the content is the same, remove the file from the folder, or report the error.');
}

function isText(head: Buffer): boolean {
  return /^[\t\n\r -~\u00a0-\ufffc]+$/.test(head.toString('utf8', 0, 64).replace(/\ufffd{1,3}$/, ''));
}

/** Returns at most 120 characters of the first line, with replacement characters for invalid bytes. */
function firstLine(head: Buffer): string {
  return (head.toString('utf8', 0, 480).split(/[\r\n]/, 1)[0] ?? '').slice(0, 120);
}

async function openProbe(path: string, size: number, folders: Folders): Promise<{ probe: Probe; close: () => Promise<void> }> {
  const { head, mayBeZip: likely } = lookAt(path, size);
  const archive = likely && (await isZip(path)) ? await ZipArchive.open(path) : null;
  const inner = new Map<string, ZipArchive>();
  const folder = dirname(path);
  /** Splits `CB.zip/H833_X.zip/H833_X_ple.gml` into the innermost archive and the path of the entry in this archive. */
  const descend = async (entry: string): Promise<{ zip: ZipArchive; path: string }> => {
    if (archive === null) throw new Error(`${path} is not a zip`);
    let zip = archive;
    let rest = entry;
    let prefix = '';
    while (!zip.entries.some((found) => found.path === rest)) {
      const step = zip.entries.find((found) => rest.startsWith(`${found.path}/`) && !found.isFolder);
      if (step === undefined) break;
      prefix += `${step.path}/`;
      let opened = inner.get(prefix);
      if (opened === undefined) {
        opened = await zip.archive(step.path);
        inner.set(prefix, opened);
      }
      zip = opened;
      rest = rest.slice(step.path.length + 1);
    }
    return { zip, path: rest };
  };
  const probe: Probe = {
    path,
    name: basename(path),
    size,
    head,
    entries: archive?.entries ?? null,
    get siblings() {
      return folders.siblings(path);
    },
    async headOf(entry) {
      const found = await descend(entry);
      return found.zip.head(found.path);
    },
    async entriesOf(entry): Promise<readonly ZipEntry[]> {
      const found = await descend(entry.endsWith('/') ? entry : `${entry}/`);
      if (found.path === '') return found.zip.entries;
      return (await found.zip.archive(found.path.replace(/\/$/, ''))).entries;
    },
    headOfSibling: async (name) => lookAt(join(folder, name), 0).head,
  };
  return { probe, close: async () => archive?.close() };
}

/** Buffers for the first and last bytes of a file. Every call of `lookAt` uses the same buffers. */
const HEAD = Buffer.allocUnsafeSlow(HEAD_BYTES);
const TAIL = Buffer.allocUnsafeSlow(TAIL_BYTES);

/**
 * Reads a file's first bytes, and determines whether the file may be a zip archive. The system calls are synchronous, because a switch to another thread would
 * take longer.
 */
function lookAt(path: string, size: number): { head: Buffer; mayBeZip: boolean } {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.from(HEAD.subarray(0, readSync(file, HEAD, 0, HEAD_BYTES, 0)));
    const tail = head.length >= size ? head : TAIL.subarray(0, readSync(file, TAIL, 0, TAIL_BYTES, Math.max(0, size - TAIL_BYTES)));
    return { head, mayBeZip: mayBeZip(head, tail) };
  } finally {
    closeSync(file);
  }
}

function stampOf({ size, modifiedMs, changedUs }: FoundFile): Stamp {
  return { size, modifiedMs, changedUs };
}

async function hashParts(parts: readonly FoundFile[], seen: SeenFiles): Promise<string> {
  const hashes: string[] = [];
  for (const part of parts) {
    const known = seen.get(part.path);
    if (known !== undefined && known.sha256 !== null && isUntouched(known, part)) {
      hashes.push(known.sha256);
      continue;
    }
    const digest = await sha256OfFile(part.path);
    refuseChanged([part]);
    hashes.push(digest);
    seen.set(part.path, { ...stampOf(part), sha256: digest, siblings: known?.siblings ?? null, recognition: known?.recognition ?? null });
  }
  const [only, ...others] = hashes;
  return only !== undefined && others.length === 0 ? only : createHash('sha256').update(hashes.join('\n')).digest('hex');
}

/** Groups files of the same source, vintage and region, so that a run loads these files together. Leaves out copies of a file. */
function group(located: readonly { source: RegisteredSource; file: LocatedFile }[]): Located[] {
  const groups = new Map<string, { located: Omit<Located, 'complete' | 'files' | 'content'>; files: Map<string, LocatedFile> }>();
  for (const { source, file } of [...located].sort((a, b) => (a.file.path < b.file.path ? -1 : 1))) {
    const { vintage, region, role } = file.recognition;
    const key = JSON.stringify([source.id, vintage, region]);
    const found = groups.get(key) ?? { located: { source, vintage, region }, files: new Map<string, LocatedFile>() };
    groups.set(key, found);
    const content = `${role} ${file.sha256}`;
    if (!found.files.has(content)) found.files.set(content, file);
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, found]) => releaseOf(found.located, [...found.files.values()]));
}
