/** Tests that the entries of a zip are unpacked unchanged, or that reading fails. */
import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MappaleError } from '../../pipelines/errors.ts';
import { inflated, ZipArchive, type EntryExtent } from '../../pipelines/formats/zip.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';

const LINES = Array.from({ length: 200_000 }, (_none, i) => `${i},${(i * 7919) % 1_000_003}\n`).join('');
/** Content that is larger than the amount that one step unpacks. */
const MANY = LINES.repeat(Math.ceil((34 * 1024 * 1024) / LINES.length));
const CONTENTS: Readonly<Record<string, string>> = { 'deflated.csv': LINES, 'large.csv': MANY, 'stored.csv': LINES, 'empty.csv': '' };

let folder: string;
let archive: ZipArchive;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mappale-inflated-'));
  const path = join(folder, 'a.zip');
  await writeZip(path, Object.entries(CONTENTS).map(([name, content]) => [name, content, { level: name === 'stored.csv' ? 0 : 1 }]));
  archive = await ZipArchive.open(path);
});
afterAll(async () => {
  await archive.close();
  await rm(folder, { recursive: true, force: true });
});

async function read(extent: EntryExtent): Promise<string> {
  const pieces: string[] = [];
  for await (const chunk of inflated(extent)) pieces.push(chunk.toString('latin1'));
  return pieces.join('');
}

it.each(Object.keys(CONTENTS))('the entry %s is unpacked unchanged', async (name) => {
  expect((await read(await archive.extent(name))) === CONTENTS[name]).toBe(true);
});

it.each(['deflated.csv', 'large.csv'])('damage to %s is reported', async (name) => {
  const extent = await archive.extent(name);
  const { path, start, end } = extent.compressed as { path: string; start: number; end: number };
  const cases: [EntryExtent, string][] = [
    [{ ...extent, crc32: extent.crc32 ^ 1 }, 'ZIP_DAMAGED'],
    [{ ...extent, size: extent.size - 1 }, 'ZIP_DAMAGED'],
    [{ ...extent, size: extent.size + 1 }, 'ZIP_DAMAGED'],
    [{ ...extent, size: 100 }, 'ZIP_DAMAGED'],
    // In these cases, the bytes are not a deflate stream or the file is missing.
    [{ ...extent, compressed: Buffer.alloc(1000, 0xff) }, 'ZIP_UNREADABLE'],
    [{ ...extent, compressed: { path: `${path}.gone`, start, end } }, 'ZIP_UNREADABLE'],
  ];
  for (const [broken, code] of cases) {
    const error: unknown = await read(broken).then(() => null, (reason: unknown) => reason);
    expect(error).toBeInstanceOf(MappaleError);
    expect(error).toMatchObject({ code, at: `a.zip!${name}` });
  }
  expect(await read({ ...extent, compressed: { path, start, end: end - 1000 } }).then(() => null, (reason: MappaleError) => reason.kind)).toBe('input');
});

it.each(['deflated.csv', 'large.csv'])('a reader of %s can stop early', async (name) => {
  for await (const chunk of inflated(await archive.extent(name))) {
    expect(chunk.toString('latin1', 0, 4)).toBe('0,0\n');
    break;
  }
});

it('a zip is closed if its size cannot be read', async () => {
  const path = join(folder, 'a.zip');
  const handle = await open(path);
  const prototype = Object.getPrototypeOf(handle) as { stat: () => Promise<unknown> };
  await handle.close();
  const { stat } = prototype;
  const opened: FileHandle[] = [];
  prototype.stat = function failing(this: FileHandle) {
    opened.push(this);
    return Promise.reject(new Error('the disk failed'));
  };
  try {
    await expect(ZipArchive.open(path)).rejects.toThrow('the disk failed');
  } finally {
    prototype.stat = stat;
  }
  expect(opened.map(({ fd }) => fd)).toEqual([-1]);
});
