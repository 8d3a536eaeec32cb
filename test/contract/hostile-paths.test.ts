/**
 * Tests zip members and links of web pages with names that lead out of the folder (zip slip). A zip with such a member is refused. The file of such a link is
 * stored under a safe name. No file is written outside the folder.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { plainName } from '../../pipelines/fetch/download.ts';
import { openVector } from '../../pipelines/formats/vector.ts';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import { writeZip, type ZipEntry } from '../../pipelines/synthetic/zip-writer.ts';

const root = mkdtempSync(join(tmpdir(), 'mappale-paths-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const CENTRAL = Buffer.from('PK\u0001\u0002', 'latin1');
let zips = 0;

/** Writes a zip and changes the name and, on request, the Unix mode of the last member. The project's zip writer refuses such names. */
async function zipWith(members: readonly string[], renamed: string, mode?: number): Promise<string> {
  zips += 1;
  const path = join(root, `made_${zips}.zip`);
  const harmless = '#'.repeat(Buffer.byteLength(renamed));
  await writeZip(path, [...members, harmless].map((name): ZipEntry => [name, 'made_content']));
  const bytes = readFileSync(path);
  for (let at = bytes.indexOf(harmless); at !== -1; at = bytes.indexOf(harmless, at + 1)) bytes.write(renamed, at);
  const header = bytes.lastIndexOf(CENTRAL);
  if (mode !== undefined) {
    bytes.writeUInt16LE(3 << 8 | 20, header + 4);
    bytes.writeUInt32LE(mode * 0x10000, header + 38);
  }
  writeFileSync(path, bytes);
  return path;
}

describe('a zip is refused', () => {
  it.each<[string, string, string]>([
    ['with a path above its folder', '../made.csv', 'ZIP_PATH'],
    ['with a path above its folder, further inside', 'a/b/../../../made.csv', 'ZIP_PATH'],
    ['with a path above its folder, with backslashes', '..\\..\\made.csv', 'ZIP_PATH'],
    ['with mixed separators', 'a/..\\../made.csv', 'ZIP_PATH'],
    ['with an absolute path', '/tmp/made.csv', 'ZIP_PATH'],
    ['with an absolute path with a backslash', '\\made.csv', 'ZIP_PATH'],
    ['with a network path', '\\\\server\\made.csv', 'ZIP_PATH'],
    ['with a drive letter', 'C:\\made.csv', 'ZIP_PATH'],
    ['with a drive letter and no separator', 'd:made.csv', 'ZIP_PATH'],
    ['with a path above an unpacked geodatabase', 'made.gdb/../../gdb', 'ZIP_PATH'],
    ['with the same name twice', 'good.csv', 'ZIP_MEMBER_REPEATED'],
    ['with the same name behind a dot', './good.csv', 'ZIP_MEMBER_REPEATED'],
    ['with the same path behind dots and backslashes', 'folder\\.\\\\good.csv', 'ZIP_MEMBER_REPEATED'],
  ])('%s', async (_condition, name, code) => {
    const path = await zipWith(['good.csv', 'folder/good.csv'], name);
    await expect(ZipArchive.open(path).then((zip) => zip.close())).rejects.toMatchObject({ code, kind: 'input' });
  });

  it('with a symbolic link', async () => {
    const path = await zipWith(['good.csv'], 'link.csv', 0o120777);
    await expect(ZipArchive.open(path).then((zip) => zip.close())).rejects.toMatchObject({ code: 'ZIP_LINK', kind: 'input', detail: expect.stringContaining('link.csv') });
  });
});

it.each([['a file', 'other.csv', 0o100644], ['a folder', 'other/', 0o040755]])('a zip is read if an entry has the Unix mode of %s', async (_kind, name, mode) => {
  const zip = await ZipArchive.open(await zipWith(['good.csv'], name, mode));
  expect(zip.entries.map(({ path }) => path)).toEqual(['good.csv', name]);
  await zip.close();
});

it('a zip with dots inside names is read', async () => {
  const zip = await ZipArchive.open(await zipWith(['a..b/good.csv', 'a./good.csv', '.a/good.csv'], '...csv'));
  expect(zip.entries).toHaveLength(4);
  await zip.close();
});

describe('a geodatabase in a zip', () => {
  /**
   * Opens the geodatabase with a separate temporary folder.
   * @returns the code of the error, and all remaining entries in and next to that folder, without the tsx cache
   */
  async function openedIn(name: string): Promise<{ code: unknown; left: string[] }> {
    const scratch = join(root, `scratch-${zips}`, 'inner');
    mkdirSync(scratch, { recursive: true });
    const zip = await ZipArchive.open(await zipWith(['made.gdb/gdb', 'made.gdb/a00000001.gdbtable'], name));
    vi.stubEnv('TMPDIR', scratch);
    try {
      const error: unknown = await openVector({ zip, entry: 'made.gdb' }).then(() => null, (reason: unknown) => reason);
      return { code: (error as { code?: unknown } | null)?.code, left: readdirSync(join(scratch, '..'), { recursive: true }).map(String).filter((path) => !path.startsWith('inner/tsx-')) };
    } finally {
      vi.unstubAllEnvs();
      await zip.close();
    }
  }

  it('is refused if two members differ only in case', async () => {
    expect(await openedIn('made.gdb/A00000001.GDBTABLE')).toEqual({ code: 'ZIP_MEMBER_REPEATED', left: ['inner'] });
  });

  it('is refused if the name of a member contains NUL', async () => {
    await expect(openedIn('made.gdb/a00000002.gdbtable\0.csv')).rejects.toMatchObject({ code: 'ZIP_NAME_INVALID' });
  });

  it.each(['made.gdb/sub/a00000002.gdbtable', 'made.gdb/..a00000002'])('leaves no file if a member is called %j', async (name) => {
    expect(await openedIn(name)).toEqual({ code: 'VECTOR_UNREADABLE', left: ['inner'] });
  });
});

describe('the name of a file that a web page links to:', () => {
  it.each([
    ['%2e%2e%2fmade.csv', 'made.csv'],
    ['made%2f..', '_'],
    ['..%5c..%5cmade.csv', 'made.csv'],
    ['made%2f.asked.csv', '_asked.csv'],
    ['C%3amade.csv', 'C_made.csv'],
    ['made%00.csv', 'made_.csv'],
    ['%zz%2fmade.csv', '%zz%2fmade.csv'],
    ['made%20di%20prova.csv', 'made di prova.csv'],
  ])('%s is stored as %j', (linked, name) => {
    expect(plainName(linked)).toBe(name);
  });
});
