/** Tests the reading of a plain file and of a zip. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import { partsOf } from '../../pipelines/readers/file-parts.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import { inputFile } from '../harness/collect.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

const folder = temporaryFolder();
const TEXT = Array.from({ length: 60_000 }, (_none, i) => `${i},${(i * 7919) % 1_000_003}\n`).join('');

/** Reads all parts of a file. Returns their texts and the reported numbers of bytes. */
async function readParts(path: string): Promise<{ readonly texts: Record<string, string>; readonly progress: number[] }> {
  const texts: Record<string, string> = {};
  const progress: number[] = [];
  for await (const { at, open } of partsOf(await inputFile(path, { role: 'table', chunkBytes: 1000 }), { progress: (bytes) => progress.push(bytes) }, ({ entries }) => entries)) {
    const chunks: Buffer[] = [];
    for await (const chunk of await open()) chunks.push(chunk);
    texts[at] = Buffer.concat(chunks).toString('latin1');
  }
  return { texts, progress };
}

describe('the progress of a file', () => {
  it('is the number of bytes read so far if the file is plain', async () => {
    const path = join(folder, 'plain.csv');
    await writeFile(path, TEXT.slice(0, 2500));
    expect(await readParts(path)).toEqual({ texts: { 'plain.csv': TEXT.slice(0, 2500) }, progress: [1000, 2000, 2500] });
  });

  it('is the number of compressed bytes of all entries so far if the file is a zip', async () => {
    const path = join(folder, 'two.zip');
    await writeZip(path, [['a.csv', TEXT], ['empty.csv', ''], ['b.csv', TEXT]]);
    const archive = await ZipArchive.open(path);
    const sizes = archive.entries.map(({ compressedSize }) => compressedSize);
    await archive.close();
    const { texts, progress } = await readParts(path);
    expect(texts).toEqual({ 'two.zip!a.csv': TEXT, 'two.zip!empty.csv': '', 'two.zip!b.csv': TEXT });
    expect(progress).toEqual([...progress].sort((a, b) => a - b));
    expect(progress.length).toBeGreaterThan(4);
    expect(progress).toContain(sizes[0]);
    expect(progress.at(-1)).toBeCloseTo(sizes.reduce((sum, size) => sum + size, 0), 6);
  });
});
