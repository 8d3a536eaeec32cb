import { execFileSync, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

const folder = temporaryFolder();

async function write(name: string): Promise<string> {
  const path = join(folder, name);
  function* lines(): Generator<string> {
    for (let i = 0; i < 50_000; i += 1) yield `${i},${i * 7}\n`;
  }
  await writeZip(path, [
    ['cartella/però.txt', 'deflated text '.repeat(1000)], ['stored.bin', Buffer.from([1, 2, 3]), { level: 0 }], ['pieces.csv', lines()], ['empty', ''],
  ]);
  return path;
}

describe('a zip written by the writer', () => {
  it('is read back entry by entry with correct sizes and CRCs', async () => {
    const archive = await ZipArchive.open(await write('a.zip'));
    expect(archive.entries.map((entry) => entry.path)).toEqual(['cartella/però.txt', 'stored.bin', 'pieces.csv', 'empty']);
    expect((await archive.buffer('cartella/però.txt')).toString()).toBe('deflated text '.repeat(1000));
    expect(await archive.buffer('stored.bin')).toEqual(Buffer.from([1, 2, 3]));
    expect((await archive.buffer('pieces.csv')).toString().split('\n')).toHaveLength(50_001);
    expect(await archive.buffer('empty')).toHaveLength(0);
    expect(archive.entry('stored.bin').compressedSize).toBe(3);
    await archive.close();
  });

  it('stores the requested date of an entry, or 1980-01-01', async () => {
    const path = join(folder, 'dated.zip');
    await writeZip(path, [['a.gml', 'x', { modified: '2026-07-01' }], ['b.gml', 'x']]);
    const archive = await ZipArchive.open(path);
    expect(archive.entries.map(({ modified }) => modified)).toEqual(['2026-07-01', '1980-01-01']);
    await archive.close();
  });

  it('has the same bytes every time', async () => {
    expect(await readFile(await write('b.zip'))).toEqual(await readFile(await write('c.zip')));
  });

  it.skipIf(spawnSync('python3', ['--version']).status !== 0)('is accepted by another program (python3)', async () => {
    const listing = execFileSync('python3', ['-c', 'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print(z.testzip(), len(z.namelist()))', await write('d.zip')]);
    expect(listing.toString().trim()).toBe('None 4');
  });
});
