/** Tests the reader of tar archives. */
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { tarFiles } from '../../pipelines/formats/tar.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

const folder = temporaryFolder();
let archive: Buffer;
const CONTENTS: Readonly<Record<string, Buffer>> = {
  empty: Buffer.alloc(0),
  'inner/whole-block': Buffer.alloc(512, 'b'),
  'inner/one-more': Buffer.alloc(513, 'm'),
  large: Buffer.alloc(100_000, 'large'),
  short: Buffer.from('short'),
};

beforeAll(async () => {
  await mkdir(join(folder, 'inner'));
  for (const [path, bytes] of Object.entries(CONTENTS)) await writeFile(join(folder, path), bytes);
  archive = execFileSync('tar', ['--create', '--directory', folder, 'inner', ...Object.keys(CONTENTS).filter((path) => !path.includes('/'))]);
});

async function* pieces(bytes: Buffer, length: number): AsyncGenerator<Buffer, void, undefined> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

async function read(bytes: Buffer, length: number, wanted: (path: string) => boolean): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const { path, bytes: content } of tarFiles(pieces(bytes, length), wanted)) found[path] = content.toString();
  return found;
}

describe('a tar archive', () => {
  it.each([1, 100, 511, 512, 513, 10_000, 1_000_000])('returns the same files, without empty files, if it is read in pieces of %i bytes', async (length) => {
    const expected = Object.fromEntries(Object.entries(CONTENTS).filter(([, bytes]) => bytes.length > 0).map(([path, bytes]) => [path, bytes.toString()]));
    expect(await read(archive, length, () => true)).toEqual(expected);
  });

  it('returns only the requested files', async () => {
    expect(await read(archive, 1_000, (path) => path === 'short')).toEqual({ short: 'short' });
  });

  it('is rejected if the archive ends inside a file', async () => {
    const end = archive.indexOf('largelarge') + 50_000;
    await expect(read(archive.subarray(0, end), 4_096, () => false)).rejects.toThrow('the tar archive ends inside large: 50000 of 100000 bytes are missing');
  });
});
