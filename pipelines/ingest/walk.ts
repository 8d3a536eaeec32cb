/** Lists data folders, without opening files. Every folder is listed once, even if links lead to the folder, and every unusable entry has a reason. */
import { lstatSync, readdirSync, realpathSync, statSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { sha256 } from '../contract/sql-files.ts';
import { MappaleError, inputError } from '../errors.ts';
import type { BrokenEntry, FoundFile, SeenFile, Stamp } from '../contract/survey.ts';
import { escapedName, fileError, notAFile } from '../formats/file-error.ts';
import { isBeingWritten } from '../formats/atomic-write.ts';
import { OF_A_DESKTOP } from '../formats/zip.ts';
import { quoted } from '../typed.ts';

/** Matches names of unfinished downloads. Only the name shows that a CSV is unfinished, because a CSV has no end mark. */
const UNFINISHED = /\.(?:crdownload|part|partial|download|opdownload|aria2|unfinished|tmp)$/i;

export function isUnfinished(path: string): boolean {
  return UNFINISHED.test(path) || isBeingWritten(path);
}

export class Folders {
  readonly files = new Map<string, FoundFile>();
  readonly broken: BrokenEntry[] = [];
  /** Names in each listed folder, grouped by the lower-case part before the first dot. */
  readonly #names = new Map<string, ReadonlyMap<string, readonly string[]>>();
  /** Digest of each group of files with the same name before the first dot, by folder and name; null for a file without siblings. */
  readonly #digests = new Map<string, string | null>();
  /** Real paths of the folders that were listed. */
  readonly #listed = new Set<string>();
  /** Links to folders. The search visits these links last. */
  readonly #links: string[] = [];

  /** @throws MappaleError `DATA_MISSING` (exit 2) */
  static walk(roots: readonly string[]): Folders {
    const found = new Folders();
    for (const root of roots) {
      if (!isThere(root)) {
        throw new MappaleError('the data folder does not exist', {
          code: 'DATA_MISSING', kind: 'usage', at: root, hint: 'Use the folder with the downloaded files: --data FOLDER (repeatable). Or download the files into this folder.',
          fix: `npx mappale fetch REGION --data ${quoted(root)}`,
        });
      }
      found.#at(root, () => {
        const info = statSync(root);
        if (info.isDirectory()) found.#folder(root);
        else found.#file(root, info);
      });
    }
    // Searches links last, so that each file is listed with the real path. The loop also visits links that are found in the target of a link.
    for (const link of found.#links) found.#at(link, () => found.#linked(link));
    return found;
  }

  /** Returns the other files in the folder that have the same name before the first dot, ignoring case. Such files may be sidecars of the given file. */
  siblings(path: string): string[] {
    const name = basename(path);
    return (this.#namesIn(dirname(path)).get(stemOf(name)) ?? []).filter((other) => other !== name && isFile(join(dirname(path), other)));
  }

  /** Returns a file, or undefined if there is none. Also finds the files next to a single file that the user named. */
  file(path: string): FoundFile | undefined {
    const name = basename(path);
    const isListed = this.files.has(path) || this.#namesIn(dirname(path)).get(stemOf(name))?.includes(name) === true;
    return isListed ? this.#fileAt(path) : undefined;
  }

  /** Returns a digest of the names, sizes and times of a file and its siblings; null if the file has no siblings. Opens no file. */
  digestOfSiblings(path: string): string | null {
    const folder = dirname(path);
    const stem = stemOf(basename(path));
    const key = `${folder}/${stem}`;
    let digest = this.#digests.get(key);
    if (digest === undefined) {
      const files = (this.#namesIn(folder).get(stem) ?? []).flatMap((name) => this.#fileAt(join(folder, name)) ?? []);
      const facts = files.map(({ path: each, size, modifiedMs, changedUs }) => JSON.stringify([basename(each), size, modifiedMs, changedUs]));
      digest = files.length < 2 ? null : sha256(facts.sort().join('\n'));
      this.#digests.set(key, digest);
    }
    return digest;
  }

  /** Returns a file of a listed folder. Reads the size and times of the file if the search did not find the file. */
  #fileAt(path: string): FoundFile | undefined {
    const known = this.files.get(path);
    if (known !== undefined) return known;
    const stamp = stampOfFile(path);
    return stamp === null ? undefined : { path, ...stamp };
  }

  /** Runs `look` on one entry. Records a failure as a broken entry, so that the search continues. */
  #at(path: string, look: () => void): void {
    try {
      look();
    } catch (error) {
      const known = fileError(error, path);
      if (known === null) throw error;
      this.broken.push({ path, error: known });
    }
  }

  #folder(path: string): void {
    const real = realpathSync(path);
    if (this.#listed.has(real)) return;
    this.#listed.add(real);
    const names: string[] = [];
    const folders: string[] = [];
    for (const entry of readdirSync(path, { withFileTypes: true, encoding: 'buffer' })) {
      const bytes = entry.name as unknown as Buffer;
      const name = decoded(bytes);
      if (name === null) this.broken.push({ path: join(path, escaped(bytes)), error: nameNotUtf8(bytes) });
      else if (name.startsWith('.') || OF_A_DESKTOP.test(name)) continue;
      else if (entry.isDirectory()) folders.push(join(path, name));
      else {
        names.push(name);
        const inside = join(path, name);
        this.#at(inside, () => (entry.isSymbolicLink() ? this.#link(inside) : this.#file(inside, lstatSync(inside))));
      }
    }
    this.#names.set(path, byStem(names));
    for (const folder of folders) this.#at(folder, () => this.#folder(folder));
  }

  #link(path: string): void {
    if (!isThere(path)) {
      throw inputError('the link is broken', {
        code: 'LINK_DANGLING', at: path, detail: 'expected a link to a file or folder, found a link whose target does not exist', hint: 'Remove the link, or restore its target.',
      });
    }
    const info = statSync(path);
    if (info.isDirectory()) this.#links.push(path);
    else this.#file(path, info);
  }

  /**
   * Searches the target of a link. Skips a folder that was already listed. Refuses a link to a folder that contains the link, because the search would never
   * end.
   */
  #linked(path: string): void {
    const real = realpathSync(path);
    if (`${realpathSync(dirname(path))}/`.startsWith(real === '/' ? '/' : `${real}/`)) {
      throw inputError('a link leads to a folder that contains the link', {
        code: 'LINK_CIRCULAR', at: path, detail: `expected a link to another folder, found a link to ${real}, which contains the link`,
        hint: 'Remove the link. The search finds the target even without the link.',
      });
    }
    this.#folder(path);
  }

  #file(path: string, info: Stats): void {
    if (!info.isFile()) throw notAFile(info, path);
    this.files.set(path, { path, ...stampOf(info) });
  }

  /** Returns the names in a folder. Lists the folder first if the search did not visit the folder, because the user named a single file. */
  #namesIn(folder: string): ReadonlyMap<string, readonly string[]> {
    let found = this.#names.get(folder);
    if (found === undefined) {
      try {
        found = byStem(readdirSync(folder));
      } catch {
        // Ignores an unreadable folder, because the file itself may be readable.
        found = new Map();
      }
      this.#names.set(folder, found);
    }
    return found;
  }
}

/** Returns whether a path exists. Returns false for a broken link, and true for any other error, which is reported when the file is opened. */
function isThere(path: string): boolean {
  try {
    statSync(path);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
  return true;
}

function stampOf(info: Stats): Stamp {
  return { size: info.size, modifiedMs: Math.floor(info.mtimeMs), changedUs: Math.floor(info.ctimeMs * 1000) };
}

/** Returns the size, modification time and change time of a file, or null if the path is not a regular file or cannot be accessed. */
export function stampOfFile(path: string): Stamp | null {
  try {
    const info = statSync(path);
    return info.isFile() ? stampOf(info) : null;
  } catch {
    return null;
  }
}

export function isUntouched(before: Stamp | SeenFile, now: Stamp): boolean {
  return before.size === now.size && before.modifiedMs === now.modifiedMs && before.changedUs === now.changedUs;
}

/**
 * Checks that files have not changed since the survey.
 * @throws input error `FILE_CHANGED_WHILE_READ`; `FILE_UNREADABLE` or `LINK_CIRCULAR` if the file cannot be accessed
 */
export function refuseChanged(files: readonly FoundFile[], cause?: unknown): void {
  for (const file of files) {
    const { path, size, changedUs } = file;
    const now = infoOf(path);
    if (now !== undefined && isUntouched(file, stampOf(now))) continue;
    throw inputError('the file changed while it was read', {
      code: 'FILE_CHANGED_WHILE_READ', at: path,
      detail: `expected ${size} bytes, unchanged since ${new Date(changedUs / 1000).toISOString()}, found ${now === undefined ? 'no file' : `${now.size} bytes, touched ${now.ctime.toISOString()}`}`,
      hint: 'The file is not used. Wait until the download or copy ends, then run the command again.', cause,
    });
  }
}

/** Returns the stat of a file, or undefined if the path does not exist. @throws input error if the system call fails for another reason */
function infoOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw fileError(error, path) ?? error;
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function stemOf(name: string): string {
  return name.slice(0, (name.indexOf('.') + 1 || name.length + 1) - 1).toLowerCase();
}

function byStem(names: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const name of names) {
    const same = found.get(stemOf(name)) ?? [];
    found.set(stemOf(name), same);
    same.push(name);
  }
  return found;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decoded(name: Uint8Array): string | null {
  try {
    return UTF8.decode(name);
  } catch {
    return null;
  }
}

/** Returns a printable name, in which control characters and non-ASCII bytes have the form `\xe8`. */
function escaped(name: Buffer): string {
  return escapedName(name.toString('latin1'), /[^\x20-\x7e]/g);
}

function nameNotUtf8(name: Buffer): MappaleError {
  return inputError('the name is not UTF-8', {
    code: 'NAME_NOT_UTF8', at: escaped(name), detail: `expected a name in UTF-8, found the bytes ${name.toString('hex')}`, hint: 'Rename the file. The program that extracted the file used a different encoding for names.',
  });
}
