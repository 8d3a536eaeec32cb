/** Changes files inside nested zips, for tests of new releases. */
import { writeFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import { zipStream, type ZipEntry } from '../../pipelines/synthetic/zip-writer.ts';

/**
 * Returns the new content of an entry, the same content to keep the entry, or null to remove the entry. `path` includes the names of the nested zips, but not
 * the name of the outer zip: `CB.zip/Z001_X.zip/Z001_X_ple.gml`.
 */
export type Edit = (path: string, content: Buffer) => Buffer | null;

export interface RewriteOptions {
  /** Path of the new zip. By default the zip is overwritten. */
  readonly into?: string;
  /** Returns the new name of an entry, within the zip that directly contains the entry. */
  readonly renamed?: (name: string) => string;
  /** Modification date of every entry. By default the dates are unchanged. */
  readonly modified?: string;
  /** Compression level of zlib. Level 0 stores the entries uncompressed. */
  readonly level?: number;
}

/** Rewrites a zip and the zips in it, innermost first. */
export async function rewriteZip(path: string, edit: Edit = (_path, content) => content, { into = path, ...options }: RewriteOptions = {}): Promise<void> {
  const archive = await ZipArchive.open(path);
  const bytes = await buffer(zipStream(rewritten(archive, '', edit, options)));
  await archive.close();
  await writeFile(into, bytes);
}

async function* rewritten(archive: ZipArchive, prefix: string, edit: Edit, options: RewriteOptions): AsyncGenerator<ZipEntry> {
  const { renamed = (name: string): string => name, modified, ...level } = options;
  for (const entry of archive.entries) {
    const path = `${prefix}${entry.path}`;
    let content: Buffer;
    if (entry.path.endsWith('.zip')) {
      const inner = await archive.archive(entry.path);
      content = await buffer(zipStream(rewritten(inner, `${path}/`, edit, options)));
      await inner.close();
    } else content = await archive.buffer(entry.path);
    const edited = edit(path, content);
    if (edited !== null) yield [renamed(entry.path), edited, { ...level, modified: modified ?? entry.modified }];
  }
}
