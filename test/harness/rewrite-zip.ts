/** Changes what lies inside nested zips, for tests of new releases. */
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import { ZipWriter } from '../../pipelines/synthetic/zip-writer.ts';

/** New content of an entry, the same to keep it, null to leave it out. `path` is the whole way: `CB.zip/Z001_X.zip/Z001_X_ple.gml`. */
export type Edit = (path: string, content: Buffer) => Buffer | null;

/** Rewrites a zip in place, descending into zips. @param renamed new name of an entry in its own zip */
export async function rewriteZip(path: string, edit: Edit, renamed: (name: string) => string = (name) => name): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'mappale-rewrite-'));
  try {
    const archive = await ZipArchive.open(path);
    const target = join(folder, 'new.zip');
    await rewrite(archive, '', edit, renamed, target, folder);
    await archive.close();
    await rename(target, path).catch(async () => {
      const { copyFile } = await import('node:fs/promises');
      await copyFile(target, path);
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

let number = 0;

async function rewrite(archive: ZipArchive, prefix: string, edit: Edit, renamed: (name: string) => string, target: string, folder: string): Promise<void> {
  const writer = await ZipWriter.create(target);
  for (const entry of archive.entries) {
    const path = `${prefix}${entry.path}`;
    let content: Buffer | null;
    if (entry.path.endsWith('.zip')) {
      const inner = await archive.archive(entry.path);
      number += 1;
      const file = join(folder, `${number}.zip`);
      await rewrite(inner, `${path}/`, edit, renamed, file, folder);
      await inner.close();
      content = edit(path, await readFile(file));
    } else content = edit(path, await archive.buffer(entry.path));
    if (content !== null) await writer.add(renamed(entry.path), content, { modified: entry.modified });
  }
  await writer.close();
}
