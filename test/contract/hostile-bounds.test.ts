/**
 * Tests that oversized input is rejected before the input takes memory or disk. The error states the limit and the position. The cost of reading a folder must
 * not be quadratic.
 */
import type * as Fs from 'node:fs';
import type * as FsPromises from 'node:fs/promises';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { describeUnknown } from '../../cli/command.ts';
import { linksOf } from '../../pipelines/fetch/page.ts';
import { openCsv } from '../../pipelines/formats/csv.ts';
import { isPage, titleOf } from '../../pipelines/formats/web-page.ts';
import { KmlReader, PLACEMARK_CHARS, type Placemark } from '../../pipelines/formats/kml.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { Workbook } from '../../pipelines/formats/xlsx.ts';
import { XmlElementParser } from '../../pipelines/formats/xml.ts';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { locate } from '../../pipelines/ingest/locate.ts';

const disk = vi.hoisted(() => ({ freeBytes: null as number | null, listings: [] as string[] }));
vi.mock('node:fs', async (original) => {
  const real = await original<typeof Fs>();
  return { ...real, readdirSync: (path: string, ...rest: never[]) => (disk.listings.push(path), real.readdirSync(path, ...rest)) };
});
vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof FsPromises>();
  return {
    ...real,
    statfs: async (path: string) => (disk.freeBytes === null ? real.statfs(path) : { bavail: disk.freeBytes, bsize: 1 }),
    readdir: (path: string, ...rest: never[]) => (disk.listings.push(path), real.readdir(path, ...rest)),
  };
});

const folder = mkdtempSync(join(tmpdir(), 'mappale-bounds-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
async function zipOf(members: readonly (readonly [string, string | Buffer | Iterable<Buffer>, boolean?])[]): Promise<string> {
  files += 1;
  const path = join(folder, `${files}.zip`);
  await writeZip(path, members.map(([name, content, stored]) => [name, content, { level: stored === true ? 0 : 9 }]));
  return path;
}

const MIB = 1024 * 1024;
const random = randomOf('bounds');
const noise = (bytes: number): Buffer => Buffer.from(Array.from({ length: bytes }, () => random.below(256)));
function* zeros(mebibytes: number): Generator<Buffer> {
  const piece = Buffer.alloc(MIB);
  for (let i = 0; i < mebibytes; i += 1) yield piece;
}

describe('a zip', () => {
  it('is rejected before anything is inflated if its compression ratio is implausible', async () => {
    await expect(ZipArchive.open(await zipOf([['a.csv', 'x'], ['CB.zip', zeros(80)]]))).rejects.toMatchObject({ code: 'ZIP_RATIO', at: expect.stringMatching(/!CB\.zip$/), detail: expect.stringMatching(/at most 250 .* found 83886080/) });
  });

  it('is rejected if its members overlap', async () => {
    const path = await zipOf([['a.csv', noise(5000)], ['b.csv', noise(5000)]]);
    const bytes = readFileSync(path);
    // Overwrites the compressed size in the second entry of the central directory.
    bytes.writeUInt32LE(9000, bytes.lastIndexOf('PK\u0001\u0002', undefined, 'latin1') + 20);
    writeFileSync(path, bytes);
    await expect(ZipArchive.open(path)).rejects.toMatchObject({ code: 'ZIP_UNREADABLE', detail: expect.stringContaining('overlapping members') });
  });

  it('is rejected at the sixth nested zip', async () => {
    let content: Buffer = noise(10);
    for (let i = 0; i < 8; i += 1) content = readFileSync(await zipOf([['z.zip', content]]));
    files += 1;
    writeFileSync(join(folder, `${files}.zip`), content);
    const archive = await ZipArchive.open(join(folder, `${files}.zip`));
    let inner = archive;
    await expect((async () => {
      for (;;) inner = await inner.archive('z.zip');
    })()).rejects.toMatchObject({ code: 'ZIP_TOO_DEEP' });
    expect(inner.label.split('!')).toHaveLength(6);
    await archive.close();
  });

  it('is rejected if a member is too large for the temporary folder, and the error states member, folder and free space', async () => {
    const path = await zipOf([['CB.zip', noise(9 * MIB / 8)], ['large.zip', zeros(10)]]);
    const archive = await ZipArchive.open(path);
    disk.freeBytes = 20 * MIB;
    await expect(archive.archive('large.zip')).rejects.toMatchObject({
      code: 'TEMP_FULL', kind: 'usage', at: expect.stringMatching(/!large\.zip$/), detail: expect.stringMatching(/expected 74 MiB free in \S*mappale-zip-\S* for this member, found 20 MiB/), hint: expect.stringContaining('TMPDIR'),
    });
    disk.freeBytes = null;
    // The space runs out while the member is written.
    await expect(archive.spool('large.zip', '/dev/full')).rejects.toMatchObject({ code: 'TEMP_FULL', kind: 'usage', at: expect.stringMatching(/!large\.zip$/) });
    await archive.close();
  });
});

describe('a zip with unusual names', () => {
  it.each([
    ['NUL', 'frane\0.shp', 'frane\\x00.shp'],
    ['a line feed', 'frane\n.shp', 'frane\\x0a.shp'],
    ['an escape sequence', 'frane\u001b[2J.shp', 'frane\\x1b[2J.shp'],
    ['a C1 control character', 'frane\u009b.shp', 'frane\\x9b.shp'],
  ])('is rejected if a name contains %s, and the error shows the character as an escape', async (_, name, shown) => {
    await expect(ZipArchive.open(await zipOf([['a.csv', 'x'], [name, 'x']]))).rejects.toMatchObject({
      code: 'ZIP_NAME_INVALID', kind: 'input', at: expect.stringMatching(/\.zip!frane\\x\w\w\S*$/), detail: expect.stringContaining(shown),
    });
  });

  it.each([
    ['a name of 256 characters', `${'n'.repeat(252)}.csv`],
    ['a name of 131 characters and 258 bytes', `${'à'.repeat(127)}.csv`],
    ['a path of 4,097 characters', `${'folder/'.repeat(585)}m.`],
  ])('is rejected if the zip has %s', async (_, name) => {
    await expect(ZipArchive.open(await zipOf([[name, 'x']]))).rejects.toMatchObject({ code: 'ZIP_NAME_LONG' });
  });

  it('is read if a name has 255 bytes', async () => {
    const archive = await ZipArchive.open(await zipOf([[`${'n'.repeat(251)}.csv`, 'x']]));
    expect(archive.entries).toHaveLength(1);
    await archive.close();
  });
});

describe('text that could slow down regular expressions:', () => {
  // A regular expression with backtracking would take minutes or longer for each of these texts.
  it('a quoted CSV field of 1,000,000 line feeds is read', async () => {
    const field = '\n'.repeat(1_000_000);
    const reader = await openCsv(Readable.from([Buffer.from(`a;b\n"${field}";x\n`)]) as AsyncIterable<Buffer>, { at: 'made_line_feeds.csv', delimiter: ';' });
    const records = [];
    for await (const { values, raw } of reader.records()) records.push([values[0]?.length, values[1], raw.length]);
    expect(records).toEqual([[1_000_000, 'x', 1_000_004]]);
  });

  it.each([
    ['comments', '<!---->'.repeat(290), false],
    ['comments before an element', `${'<!---->'.repeat(100)}<html>`, true],
    ['an unterminated comment', '<!--'.repeat(500), false],
    ['declarations and blanks', `${'<?xml version="1.0"?> \n'.repeat(80)}<!DOCTYPE html>`, true],
    ['blanks', ' '.repeat(2_040), false],
  ])('a file with %s is classified correctly as a web page or another file', (_, text, expected) => {
    expect(isPage(Buffer.from(text))).toBe(expected);
  });

  it('no title is found in 9,000 unterminated title tags', () => {
    expect(titleOf(Buffer.from('<title '.repeat(9_000)))).toBe('');
  });

  it('links of more than 2,048 characters are ignored', () => {
    const links = ['a'.repeat(2_048), 'b'.repeat(2_049), 'c'];
    expect(linksOf(links.map((link) => `<a href="${link}">`).join('')).map(({ length }) => length)).toEqual([2_048, 1]);
  });
});

describe('a workbook', () => {
  const RELATIONS = '<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml"/></Relationships>';
  const sheetsOf = (count: number): string => `<workbook><sheets>${Array.from({ length: count }, (_, i) => `<sheet name="${i}" r:id="r1" xmlns:r="r"/>`).join('')}</sheets></workbook>`;
  const cell = (value: string): string => `<worksheet><sheetData><row r="1"><c r="A1" t="inlineStr"><is>${value}</is></c></row></sheetData></worksheet>`;

  it.each<[string, { sheet?: string; texts?: string; book?: string }, RegExp]>([
    ['elements nested 200 levels deep', { sheet: '<a>'.repeat(200) }, /more than 100 levels deep/],
    ['an unterminated text', { sheet: cell(`<t>${'x'.repeat(400_000)}`) }, /more than 262144 characters/],
    ['an unterminated comment', { sheet: `<worksheet><!-- ${'< '.repeat(300_000)}` }, /more than 262144 characters/],
    ['an unterminated tag', { sheet: `<worksheet><row ${'a="1" '.repeat(80_000)}` }, /more than 262144 characters|duplicate attribute/],
    ['a text with too many <t> elements', { sheet: cell('<t>xxxxxxxx</t>'.repeat(40_000)) }, /more than 262144 characters in column 1 of row 1/],
    ['a cell in the last column that Excel allows', { sheet: '<worksheet><sheetData><row r="1"><c r="XFD1"><v>1</v></c></row></sheetData></worksheet>' }, /column 16384 of row 1/],
    ['a shared text with too many <t> elements', { texts: `<sst><si>${'<t>xxxxxxxx</t>'.repeat(40_000)}</si></sst>` }, /more than 262144 characters/],
    ['two million and one shared texts', { texts: `<sst>${'<si/>'.repeat(2_000_001)}</sst>` }, /more than 2000000 texts/],
    ['501 sheets', { book: sheetsOf(501) }, /501 sheets/],
  ])('with %s is rejected', async (_what, { sheet = cell('<t>a</t>'), texts, book = sheetsOf(1) }, message) => {
    const archive = await ZipArchive.open(await zipOf([['xl/workbook.xml', book], ['xl/_rels/workbook.xml.rels', RELATIONS], ['xl/worksheets/sheet1.xml', sheet], ...(texts === undefined ? [] : [['xl/sharedStrings.xml', texts] as const])]));
    await expect((async () => {
      const workbook = await Workbook.open(archive);
      for await (const batch of workbook.rows(workbook.sheets[0]!)) expect(batch.rows.length).toBeLessThan(2);
    })()).rejects.toMatchObject({ code: 'XLSX_UNREADABLE', detail: expect.stringMatching(message) });
    await archive.close();
  });
});

describe('perimeters', () => {
  const read = (pieces: Iterable<string>): { placemarks: Placemark[]; broken: string[] } => {
    const placemarks: Placemark[] = [];
    const broken: string[] = [];
    const reader = new KmlReader({ placemark: (placemark) => placemarks.push(placemark), broken: (message) => broken.push(message) });
    for (const piece of pieces) {
      reader.write(piece);
      if (broken.length > 0) break;
    }
    if (broken.length === 0) reader.end();
    return { placemarks, broken };
  };
  const POLYGON = '<Polygon><outerBoundaryIs><LinearRing><coordinates>14,41 14.1,41 14.1,41.1 14,41</coordinates></LinearRing></outerBoundaryIs></Polygon>';
  function* long(inside: string): Generator<string> {
    yield '<kml><Placemark><name>a</name>';
    const piece = inside.repeat(Math.ceil(MIB / inside.length));
    for (let size = 0; size <= PLACEMARK_CHARS + MIB; size += piece.length) yield piece;
    yield `</Placemark><Placemark><name>b</name>${POLYGON}</Placemark></kml>`;
  }

  it('are read after a placemark of more than 33,554,432 characters, which is rejected with its first 65,536 characters', () => {
    const { placemarks, broken } = read(long(POLYGON));
    expect(broken).toEqual([]);
    expect(placemarks.map(({ name, parts, fault }) => [name, parts.length, fault])).toEqual([['a', 0, 'a placemark of more than 33554432 characters (its first 65536 are kept)'], ['b', 1, null]]);
    expect(placemarks[0]!.raw).toHaveLength(65_536);
    expect(placemarks[0]!.raw.startsWith('<Placemark><name>a</name><Polygon>')).toBe(true);
  });

  it.each<[string, Iterable<string>, RegExp]>([
    ['a ring with an unterminated text', (function* () {
      yield '<kml><Placemark><Polygon><outerBoundaryIs><LinearRing><coordinates>';
      for (let i = 0; i < 40; i += 1) yield '14,41 '.repeat(MIB / 6);
    })(), /more than 33554432 characters/],
    ['elements nested 200 levels deep', ['<a>'.repeat(200)], /more than 100 levels deep/],
  ])('are rejected as a whole document, and the error states the limit: %s', (_what, pieces, message) => {
    expect(read(pieces).broken[0]).toMatch(message);
  });
});

it('the XML parser rejects elements that are nested more than 100 levels deep', () => {
  expect(() => new XmlElementParser({}, {}).write('<a>'.repeat(20_000))).toThrow(/more than 100 levels deep/);
});

it.each([[2000, null], [2001, 'COLUMNS_TOO_MANY']])('opening a table of %i columns gives the error code %s', async (columns, code) => {
  async function* bytes(): AsyncGenerator<Buffer> {
    yield Buffer.from(`${Array.from({ length: columns }, (_, index) => `c${index}`).join(';')}\n`);
  }
  const opened = openCsv(bytes(), { at: 'a.csv', delimiter: ';' });
  if (code === null) expect((await opened).header).toHaveLength(columns);
  else await expect(opened).rejects.toMatchObject({ code, at: 'a.csv:1' });
});

describe('a folder of unknown files', () => {
  it('is listed only once for any number of inspected files', async () => {
    const place = mkdtempSync(join(folder, 'many-'));
    for (let i = 0; i < 300; i += 1) writeFileSync(join(place, `appunti ${i}.txt`), `note ${i}\n`);
    disk.listings = [];
    const { unknown } = await locate([place], await loadSources(), { get: () => undefined, set() {} });
    expect(unknown).toHaveLength(300);
    expect(disk.listings.filter((path) => path === place)).toHaveLength(1);
  });

  it('is described with ten file names and a count by extension', () => {
    const lines = describeUnknown([...Array.from({ length: 1200 }, (_, i) => `/d/${String(i).padStart(4, '0')}.txt`), ...Array.from({ length: 30 }, (_, i) => `/d/x${i}.PDF`), '/d/y']);
    expect(lines).toHaveLength(11);
    expect(lines.at(-1)).toBe('no source reads 1,221 more: 1,190 .txt, 30 .pdf, 1 without an extension (to list all files, use --json)');
    expect(describeUnknown(['/d/a.txt'])).toEqual(['no source reads: /d/a.txt']);
  });
});
