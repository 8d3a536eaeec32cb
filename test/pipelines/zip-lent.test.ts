/** Entries whose bytes are lent chunk by chunk: the same bytes, the same verdict on damage, and no new memory for each chunk. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MappaleError } from '../../pipelines/errors.ts';
import { ZipWriter } from '../../pipelines/synthetic/zip-writer.ts';
import { inflated, ZipArchive, type EntryExtent } from '../../pipelines/formats/zip.ts';

const CONTENT = Array.from({ length: 200_000 }, (_none, i) => `${i},${(i * 7919) % 1_000_003}\n`).join('');

let folder: string;
let archive: ZipArchive;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mappale-lent-'));
  const path = join(folder, 'a.zip');
  const zip = await ZipWriter.create(path);
  await zip.add('deflated.csv', CONTENT);
  await zip.add('stored.csv', CONTENT, { stored: true });
  await zip.add('empty.csv', '');
  await zip.close();
  archive = await ZipArchive.open(path);
});
afterAll(async () => {
  await archive.close();
  await rm(folder, { recursive: true, force: true });
});

async function read(extent: EntryExtent, lent: boolean): Promise<{ text: string; buffers: Set<ArrayBufferLike>; chunks: number }> {
  const pieces: string[] = [];
  const buffers = new Set<ArrayBufferLike>();
  for await (const chunk of inflated(extent, lent)) {
    pieces.push(chunk.toString('latin1'));
    buffers.add(chunk.buffer);
  }
  return { text: pieces.join(''), buffers, chunks: pieces.length };
}

it.each(['deflated.csv', 'stored.csv', 'empty.csv'])('%s is the same lent and given', async (name) => {
  const extent = await archive.extent(name);
  const lent = await read(extent, true);
  expect(lent.text === (name === 'empty.csv' ? '' : CONTENT)).toBe(true);
  expect((await read(extent, false)).text === lent.text).toBe(true);
});

it('deflated bytes are lent in one memory; if this fails on a new Node, reading is right but slower: see `inflateInPlace`', async () => {
  const { buffers, chunks } = await read(await archive.extent('deflated.csv'), true);
  expect(chunks).toBeGreaterThan(5);
  expect(buffers.size).toBe(1);
});

it.each([true, false])('damage is an error (lent: %s)', async (lent) => {
  const extent = await archive.extent('deflated.csv');
  const { path, start, end } = extent.compressed as { path: string; start: number; end: number };
  const cases: [EntryExtent, string][] = [
    [{ ...extent, crc32: extent.crc32 ^ 1 }, 'ZIP_DAMAGED'],
    [{ ...extent, size: extent.size - 1 }, 'ZIP_DAMAGED'],
    [{ ...extent, size: extent.size + 1 }, 'ZIP_DAMAGED'],
    // It is no stream of the inflater's from here on.
    [{ ...extent, compressed: Buffer.alloc(1000, 0xff) }, 'ZIP_UNREADABLE'],
    [{ ...extent, compressed: { path: `${path}.gone`, start, end } }, 'ZIP_UNREADABLE'],
  ];
  for (const [broken, code] of cases) {
    const error: unknown = await read(broken, lent).then(() => null, (reason: unknown) => reason);
    expect(error).toBeInstanceOf(MappaleError);
    expect(error).toMatchObject({ code, at: 'a.zip!deflated.csv' });
  }
  // Cut short, either way says that it is not whole.
  expect(await read({ ...extent, compressed: { path, start, end: end - 1000 } }, lent).then(() => null, (reason: MappaleError) => reason.kind)).toBe('input');
});

it('a reader may stop early', async () => {
  for await (const chunk of inflated(await archive.extent('deflated.csv'), true)) {
    expect(chunk.toString('latin1', 0, 4)).toBe('0,0\n');
    break;
  }
});
