/** Tests damaged files. Validation ends with a finding that states what is wrong, where, and what to do, unless the damage does not change the rows. */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import { loadSources, type RegisteredSource } from '../../pipelines/contract/registry.ts';
import { writeOwn } from '../../pipelines/synthetic/synthetic.ts';
import type { LocatedFile } from '../../pipelines/contract/survey.ts';
import { locate } from '../../pipelines/ingest/locate.ts';
import { validate } from '../../pipelines/operate/validate.ts';
import { rewriteZip } from '../harness/rewrite-zip.ts';
import { trial } from '../harness/trial.ts';

const sources = await loadSources();
const REGION = { parcels: 60, seed: 11 };
const root = mkdtempSync(join(tmpdir(), 'mappale-damaged-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const PAGE = Buffer.from('<!DOCTYPE html>\n<html lang="it"><head><title>429 Too Many Requests</title></head><body>Riprovare</body></html>\n');
const ZIP = /\.(?:zip|kmz|xlsx)$/i;
const TEXT = /\.(?:csv|txt|gml|kml|json|geojson)$/i;

/** Name of a kind of damage, and a function that damages a file. */
type Damage = readonly [what: string, apply: (path: string) => Promise<void>];

const replaced = (what: string, change: (content: Buffer) => Buffer): Damage => [what, async (path) => writeFileSync(path, change(readFileSync(path)))];

/**
 * Returns the byte position of the first letter in the last fifth of the text that does not follow a backslash, or -1. A letter at this position is not in the
 * header or in the first records.
 */
function placeOfLetter(content: Buffer): number {
  for (let at = Math.floor(content.length * 0.8); at < content.length; at += 1) if (/[a-zA-Z]/.test(String.fromCharCode(content[at]!)) && content[at - 1] !== 0x5c) return at;
  return -1;
}

function withByte(content: Buffer, byte: number): Buffer {
  const at = placeOfLetter(content);
  if (at === -1) return content;
  const copy = Buffer.from(content);
  copy[at] = byte;
  return copy;
}

const asUtf8 = (content: Buffer): string | null => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    return null;
  }
};
// The text is decoded as a stream, because some versions of Node decode whole windows-1252 texts as Latin-1.
const textOf = (content: Buffer): string => asUtf8(content) ?? new TextDecoder('windows-1252').decode(content, { stream: true });
const utf16 = (content: Buffer): Buffer => Buffer.from(`\ufeff${textOf(content)}`, 'utf16le');

/** Changes of encoding that programs and people cause. */
const ENCODINGS: readonly (readonly [string, (content: Buffer) => Buffer])[] = [
  ['UTF-16 with a byte order mark', utf16],
  ['UTF-16 with swapped bytes', (content) => utf16(content).swap16()],
  ['a byte that is never valid in UTF-8', (content) => withByte(content, 0xff)],
  ['a control byte of windows-1252', (content) => withByte(content, 0x81)],
  ['read as windows-1252 and saved as UTF-8', (content) => Buffer.from(content.toString('latin1'), 'utf8')],
  ['replacement characters', (content) => Buffer.from(textOf(content).replace(/[\u00c0-\u017f]/g, '\ufffd'), 'utf8')],
  // A program refuses to save a text with a character that the encoding lacks, such as the euro sign.
  ['saved as latin1', (content) => (/[^\u0000-\u00ff]/.test(textOf(content)) ? content : Buffer.from(textOf(content), 'latin1'))],
];

const CONTENTS: readonly (readonly [string, (content: Buffer) => Buffer])[] = [
  ['nothing', () => Buffer.alloc(0)],
  ['an error page', () => PAGE],
  ['zeros', (content) => Buffer.alloc(Math.min(content.length, 5000))],
];

async function repacked(path: string, entries: (archive: ZipArchive) => Promise<readonly (readonly [string, Buffer])[]>): Promise<void> {
  const archive = await ZipArchive.open(path);
  const kept = await entries(archive);
  await archive.close();
  await writeZip(path, kept);
}

/** Changes all text files of a zip, including those in nested zips. */
const inside = (what: string, change: (content: Buffer) => Buffer): Damage => [`inside: ${what}`, (path) => rewriteZip(path, (name, content) => (TEXT.test(name) ? change(content) : content))];

function damagesOf(path: string): Damage[] {
  const damages: Damage[] = CONTENTS.map(([what, change]) => replaced(what, change));
  if (ZIP.test(path)) {
    damages.push(
      replaced('cut at two thirds', (content) => content.subarray(0, Math.floor((content.length * 2) / 3))),
      replaced('cut by ten bytes', (content) => content.subarray(0, content.length - 10)),
      ['CRC wrong', async (file) => {
        const archive = await ZipArchive.open(file);
        const largest = [...archive.entries].sort((a, b) => b.size - a.size)[0]!;
        await archive.close();
        const bytes = readFileSync(file);
        // The CRC in the central directory is 16 bytes after the start of the entry's header, and the name 46 bytes.
        for (let at = bytes.indexOf('PK\u0001\u0002', 0, 'latin1'); at !== -1; at = bytes.indexOf('PK\u0001\u0002', at + 4, 'latin1')) {
          if (bytes.toString('utf8', at + 46, at + 46 + bytes.readUInt16LE(at + 28)) === largest.path) bytes[at + 16]! ^= 0xff;
        }
        writeFileSync(file, bytes);
      }],
      ['without entries', (file) => repacked(file, async () => [])],
      ['another file inside', (file) => repacked(file, async () => [['leggimi.txt', Buffer.from('Servizio sospeso per manutenzione.\n')]])],
      ...CONTENTS.map(([what, change]) => inside(what, change)),
      ...ENCODINGS.map(([what, change]) => inside(what, change)),
      inside('header only', headerOnly),
    );
    if (!/\.xlsx$/i.test(path)) damages.push(['main entry missing', (file) => repacked(file, withoutMain)]);
  } else if (TEXT.test(path)) {
    damages.push(...ENCODINGS.map(([what, change]) => replaced(what, change)), replaced('header only', headerOnly));
  } else {
    damages.push(replaced('cut at two thirds', (content) => content.subarray(0, Math.floor((content.length * 2) / 3))));
  }
  return damages;
}

/**
 * Returns the lines of a table up to the first line with at least three fields and without `elaborazione`. If a quoted field is open at the end of this line,
 * the following lines up to its end are included. For an XML or JSON document, returns the first 200 bytes.
 */
function headerOnly(content: Buffer): Buffer {
  const text = content.toString('latin1');
  if (/^\s*(?:\u00ef\u00bb\u00bf)?[<{[]/.test(text)) return content.subarray(0, 200);
  const lines = text.split('\n');
  const last = lines.findIndex((line) => line.split(/[;,\t ]/).length >= 3 && !line.includes('elaborazione'));
  const quotes = (upTo: number): number => lines.slice(0, upTo + 1).join('\n').split('"').length - 1;
  let end = last;
  while (quotes(end) % 2 === 1) end += 1;
  return Buffer.from(`${lines.slice(0, end + 1).join('\n')}\n`, 'latin1');
}

/** Returns the files of a zip except the main files: those with the extension .shp or, without a .shp, with the extension of the largest file. */
async function withoutMain(archive: ZipArchive): Promise<[string, Buffer][]> {
  const extension = (name: string): string => name.replace(/^.*\./, '').toLowerCase();
  const files = archive.entries.filter(({ isFolder }) => !isFolder);
  const main = files.some(({ path }) => /\.shp$/i.test(path)) ? 'shp' : extension([...files].sort((a, b) => b.size - a.size)[0]!.path);
  const kept: [string, Buffer][] = [];
  for (const { path } of files) if (extension(path) !== main) kept.push([path, await archive.buffer(path)]);
  return kept;
}

/** Returns the smallest file of each role and extension. */
function samples(files: readonly LocatedFile[]): LocatedFile[] {
  const found = new Map<string, LocatedFile>();
  for (const file of files) {
    const key = `${file.recognition.role} ${file.name.replace(/^.*\./, '')}`;
    if ((found.get(key)?.size ?? Infinity) > file.size) found.set(key, file);
  }
  return [...found.values()];
}

/** Counts the distinct cells of a file's tables that were encoded twice. */
async function doubled(path: string): Promise<number> {
  const texts: string[] = [];
  if (ZIP.test(path)) {
    await rewriteZip(path, (name, content) => {
      if (/\.(?:csv|txt)$/i.test(name)) texts.push(textOf(content));
      return content;
    });
  } else texts.push(textOf(readFileSync(path)));
  const records = texts.flatMap((text) => text.split('\n')).filter((line) => /\d{2}/.test(line));
  return new Set(records.flatMap((line) => line.split(/[;,\t\r"]/)).filter((cell) => /[\u00c2\u00c3][\u0080-\u00bf]/.test(cell))).size;
}

const rowsOf = async (source: RegisteredSource, path: string): Promise<unknown> => (await trial(source, path)).collected?.rows;

describe.each(sources.map((source) => [source.id, source] as const))('source %s', (id, source) => {
  it('reports what is wrong, where, and what to do for every damaged file, unless the rows are unchanged', async () => {
    const folder = join(root, id);
    mkdirSync(folder);
    await writeOwn(id, folder, REGION);
    const survey = await locate([folder], [source], { get: () => undefined, set() {} });
    const violations: string[] = [];
    let tried = 0;
    for (const { path, name } of samples(survey.releases.flatMap(({ files }) => files))) {
      const stem = name.replace(/\.[^.]+$/, '.');
      for (const [what, apply] of damagesOf(path)) {
        const place = mkdtempSync(join(root, 'damaged-'));
        for (const sibling of readdirSync(dirname(path)).filter((each) => each === name || (/\.shp$/i.test(name) && each.startsWith(stem)))) copyFileSync(join(dirname(path), sibling), join(place, sibling));
        const target = join(place, basename(path));
        await apply(target);
        const unchanged = readFileSync(target).equals(readFileSync(path));
        const verdicts = unchanged ? [] : await validate([target], sources, null, () => undefined).catch((error: unknown) => error as Error);
        if (verdicts instanceof Error) violations.push(`${name}, ${what}: ${verdicts.stack}`);
        else {
          for (const verdict of verdicts) {
            tried += 1;
            const errors = verdict.findings.filter(({ level }) => level === 'error');
            if (verdict.ok) {
              // A file that is accepted in a different encoding must give the same rows.
              const lossless = JSON.stringify(await rowsOf(source, target)) === JSON.stringify(await rowsOf(source, path));
              // Publishers' files can contain one or two names that were encoded twice. Such names are reported, and the file is accepted.
              const own = /read as windows-1252/.test(what) && verdict.findings.some(({ code }) => code === 'ENCODED_TWICE') && (await doubled(target)) <= 2;
              if (!lossless && !own) violations.push(`${name}, ${what}: accepted with ${JSON.stringify(verdict.findings.map(({ code }) => code))}`);
            } else if (errors.some(({ code, at, detail, hint }) => code === 'FILE_UNKNOWN' || !at.includes(name.slice(0, 5)) || detail === undefined || hint === undefined)) {
              violations.push(`${name}, ${what}: ${JSON.stringify(errors)}`);
            }
          }
        }
        rmSync(place, { recursive: true });
      }
    }
    expect(violations).toEqual([]);
    expect(tried).toBeGreaterThan(3);
  });
});
