/**
 * Tests that zips with additional bytes before or after them are read like zips without such bytes. The bytes before a zip may be a self-extracting program
 * or a web page.
 */
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import { isZip } from '../../pipelines/formats/zip.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { loadSynthetic } from '../../pipelines/synthetic/synthetic.ts';
import { recognise } from '../../pipelines/ingest/locate.ts';
import type { Source } from '../../pipelines/contract/source.ts';
import { readIn } from '../../sources/ade_cadastre/read.ts';
import cadastre from '../../sources/ade_cadastre/source.ts';
import { collect, type Collected, type CollectOptions } from '../harness/collect.ts';
import { rewriteZip } from '../harness/rewrite-zip.ts';

const CADASTRE = fileURLToPath(new URL('../../sources/ade_cadastre/fixture/MOLISE.zip', import.meta.url));
const LOCATOR = 20;
const RECORD = 56;
const END = 22;

const sources = await loadSources();
const folder = mkdtempSync(join(tmpdir(), 'mappale-prefix-'));
const ZIPS: string[] = [];

beforeAll(async () => {
  const region = makeRegion({ parcels: 200, seed: 11 });
  for (const { id } of sources) await (await loadSynthetic(id)).write(region, folder);
  // One file of each kind is enough, because files of different half-years or tiles have the same format.
  const kinds = new Set<string>();
  for (const name of readdirSync(folder).filter((each) => /\.(?:zip|kmz)$/.test(each)).sort()) {
    const kind = name.replace(/\d+|E\d+N\d+/g, '');
    if (!kinds.has(kind)) ZIPS.push(name);
    kinds.add(kind);
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Adds the length of the preceding bytes to the offsets of a zip, like `zip -A`. */
function corrected(zip: Buffer, by: number): Buffer {
  const copy = Buffer.from(zip);
  const end = copy.length - END;
  let at = copy.readUInt32LE(end + 16);
  copy.writeUInt32LE(at + by, end + 16);
  for (let entry = 0; entry < copy.readUInt16LE(end + 10); entry += 1) {
    copy.writeUInt32LE(copy.readUInt32LE(at + 42) + by, at + 42);
    at += 46 + copy.readUInt16LE(at + 28) + copy.readUInt16LE(at + 30) + copy.readUInt16LE(at + 32);
  }
  return copy;
}

/** Returns the same zip with ZIP64 records, as in large zips. */
function large(zip: Buffer): Buffer {
  const end = Buffer.from(zip.subarray(zip.length - END));
  const body = zip.subarray(0, zip.length - END);
  const record = Buffer.alloc(RECORD);
  record.writeUInt32LE(0x06064b50, 0);
  record.writeBigUInt64LE(BigInt(RECORD - 12), 4);
  record.writeBigUInt64LE(BigInt(end.readUInt16LE(10)), 24);
  record.writeBigUInt64LE(BigInt(end.readUInt16LE(10)), 32);
  record.writeBigUInt64LE(BigInt(end.readUInt32LE(12)), 40);
  record.writeBigUInt64LE(BigInt(end.readUInt32LE(16)), 48);
  const locator = Buffer.alloc(LOCATOR);
  locator.writeUInt32LE(0x07064b50, 0);
  locator.writeBigUInt64LE(BigInt(body.length), 8);
  locator.writeUInt32LE(1, 16);
  for (const at of [8, 10]) end.writeUInt16LE(0xffff, at);
  for (const at of [12, 16]) end.writeUInt32LE(0xffffffff, at);
  return Buffer.concat([body, record, locator, end]);
}

const stub = (bytes: number): Buffer => Buffer.concat([Buffer.from('MZ\u0090'), Buffer.alloc(bytes - 4, 0x2e)]);

const WRAPPINGS: readonly (readonly [string, (zip: Buffer) => Buffer])[] = [
  ['one byte before the zip', (zip) => Buffer.concat([Buffer.from('\n'), zip])],
  ['a web page before the zip', (zip) => Buffer.concat([Buffer.from('<!DOCTYPE html><html></html>\r\n'), zip])],
  ['a program before the zip that is longer than the inspected first bytes', (zip) => Buffer.concat([stub(100_000), zip])],
  ['a program before the zip and corrected offsets', (zip) => Buffer.concat([stub(5_000), corrected(zip, stub(5_000).length)])],
  ['ZIP64 records and a program before the zip', (zip) => Buffer.concat([stub(5_000), large(zip)])],
  ['a truncated copy of itself before the zip', (zip) => Buffer.concat([zip.subarray(0, zip.length - 40), zip])],
  ['bytes after the zip', (zip) => Buffer.concat([zip, Buffer.from('\r\n--boundary--\r\n')])],
  ['a zip comment', (zip) => {
    const comment = Buffer.from('prodotto il 01/07/2026');
    const copy = Buffer.concat([zip, comment]);
    copy.writeUInt16LE(comment.length, zip.length - 2);
    return copy;
  }],
];

/** Returns what a reader returns, without its progress, which counts the added bytes. */
async function contentOf(source: Source, path: string, options: CollectOptions): Promise<Omit<Collected, 'progress'>> {
  const { members, rows, asides } = await collect(source, path, options);
  return { members, rows, asides };
}

async function seen(path: string): Promise<unknown> {
  const found = await recognise({ path, size: readFileSync(path).length }, sources);
  const source = sources.find(({ id }) => id === found?.source);
  if (found === null || source === undefined) return null;
  if (found.recognition.ignored !== undefined) return found;
  return { found, collected: await contentOf(source, path, found.recognition) };
}

it.each(WRAPPINGS)('a zip with %s is recognised and read like the zip alone', async (_words, wrap) => {
  const target = mkdtempSync(join(tmpdir(), 'mappale-prefix-'));
  try {
    expect(ZIPS.length).toBeGreaterThan(8);
    for (const name of ZIPS) {
      const expected = await seen(join(folder, name));
      expect(expected, name).not.toBeNull();
      const path = join(target, name);
      writeFileSync(path, wrap(readFileSync(join(folder, name))));
      expect(await isZip(path), name).toBe(true);
      expect(await seen(path), name).toEqual(expected);
      rmSync(path);
    }
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
});

describe('zips inside zips', () => {
  it.each([['stored', true], ['deflated', false]] as const)('%s zips give the same parcels with bytes before each zip, with and without threads', async (_words, stored) => {
    const expected = await contentOf(cadastre, CADASTRE, { role: 'regione' });
    const path = join(folder, 'MOLISE.zip.prefixed');
    writeFileSync(path, readFileSync(CADASTRE));
    await rewriteZip(path, (entry, content) => (entry.endsWith('.zip') ? Buffer.concat([stub(entry.includes('/') ? 70_000 : 700), content]) : content), stored ? { level: 0 } : {});
    const named = join(folder, 'MOLISE.zip');
    writeFileSync(named, Buffer.concat([stub(3_000), readFileSync(path)]));
    expect((await recognise({ path: named, size: statSync(named).size }, sources))?.recognition).toEqual(
      (await recognise({ path: CADASTRE, size: 1 }, sources))?.recognition,
    );
    for (const threads of [0, 2]) {
      const threaded = {
        ...cadastre,
        read: (file: Parameters<typeof cadastre.read>[0], sink: Parameters<typeof cadastre.read>[1]) => readIn(threads, file, sink),
      };
      expect(await contentOf(threaded, named, { role: 'regione' }), `${threads} threads`).toEqual(expected);
    }
  });
});

describe('content similar to a zip', () => {
  it.each([
    ['a text with the end record of a zip', Buffer.concat([Buffer.from('PK\u0005\u0006'), Buffer.alloc(18)]).subarray(1)],
    ['an end record without entries after other bytes', Buffer.concat([Buffer.from('testo\n'), Buffer.from('PK\u0005\u0006'), Buffer.alloc(18)])],
    ['an end record without its directory', Buffer.concat([Buffer.from('testo\n'.repeat(50)), Buffer.from('PK\u0005\u0006'), Buffer.from([0, 0, 0, 0, 3, 0, 3, 0, 90, 0, 0, 0, 9, 0, 0, 0, 0, 0])])],
    ['nothing', Buffer.alloc(0)],
  ])('is not a zip: %s', async (_words, content) => {
    const path = join(folder, 'other.bin');
    writeFileSync(path, content);
    expect(await isZip(path)).toBe(false);
  });

  it('is rejected as a whole if it is a truncated zip', async () => {
    const zip = readFileSync(CADASTRE);
    for (const keep of [zip.length - 1, zip.length - 30, 1000]) {
      const path = join(folder, 'MOLISE.zip');
      writeFileSync(path, zip.subarray(0, keep));
      await expect(recognise({ path, size: keep }, sources), `${keep} bytes`).rejects.toMatchObject({ code: 'ZIP_UNREADABLE' });
    }
  });
});
