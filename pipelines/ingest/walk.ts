/** What lies in data folders: every file once, and every entry that is none with the reason. Nothing is opened. */
import { lstatSync, readdirSync, realpathSync, statSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { MappaleError, inputError } from '../errors.ts';
import type { BrokenEntry, FoundFile, SeenFile, Stamp } from '../contract/survey.ts';
import { fileError, notAFile } from '../formats/file-error.ts';

export class Folders {
  readonly files = new Map<string, FoundFile>();
  readonly broken: BrokenEntry[] = [];
  /** Names in a folder that was listed, by their beginning up to the first dot, in lower case. */
  readonly #names = new Map<string, Map<string, string[]>>();
  /** Real paths of the folders that were listed. */
  readonly #listed = new Set<string>();
  readonly #links: string[] = [];

  /** @throws MappaleError `DATA_MISSING` (exit 2) */
  static walk(roots: readonly string[]): Folders {
    const found = new Folders();
    for (const root of roots) found.#root(root);
    // After the folders themselves, so that a file has the path where it lies.
    for (let link = found.#links.shift(); link !== undefined; link = found.#links.shift()) found.#linked(link);
    return found;
  }

  /** Other files of the same folder whose names begin as this one's up to the first dot, in either case: what may belong to it. */
  siblings(path: string): string[] {
    const name = basename(path);
    return (this.#namesIn(dirname(path)).get(stemOf(name)) ?? []).filter((other) => other !== name && isFile(join(dirname(path), other)));
  }

  #root(path: string): void {
    let info: Stats;
    try {
      info = statSync(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return this.#break(path, error);
      throw new MappaleError('the data folder does not exist', {
        code: 'DATA_MISSING', kind: 'usage', at: path, hint: 'Give the folder that holds the downloaded files: --data FOLDER (it may be given more than once).',
      });
    }
    if (info.isDirectory()) this.#folder(path);
    else this.#file(path, info);
  }

  #folder(path: string): void {
    let entries;
    try {
      const real = realpathSync(path);
      if (this.#listed.has(real)) return;
      this.#listed.add(real);
      entries = readdirSync(path, { withFileTypes: true, encoding: 'buffer' });
    } catch (error) {
      return this.#break(path, error);
    }
    const names: string[] = [];
    const folders: string[] = [];
    for (const entry of entries) {
      const bytes = entry.name as unknown as Buffer;
      const name = decoded(bytes);
      if (name === null) {
        this.broken.push({ path: join(path, escaped(bytes)), error: nameNotUtf8(bytes) });
        continue;
      }
      if (name.startsWith('.')) continue;
      const inside = join(path, name);
      if (entry.isDirectory()) folders.push(inside);
      else if (entry.isSymbolicLink()) {
        names.push(name);
        this.#link(inside);
      } else {
        names.push(name);
        try {
          this.#file(inside, lstatSync(inside));
        } catch (error) {
          this.#break(inside, error);
        }
      }
    }
    this.#names.set(path, byStem(names));
    for (const folder of folders) this.#folder(folder);
  }

  #link(path: string): void {
    try {
      const info = statSync(path);
      if (info.isDirectory()) this.#links.push(path);
      else this.#file(path, info);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return this.#break(path, error);
      this.broken.push({
        path,
        error: inputError('the link leads nowhere', { code: 'LINK_DANGLING', at: path, detail: 'expected a link to a file or folder, found one whose target does not exist', hint: 'Remove the link, or put back what it leads to.' }),
      });
    }
  }

  /** A folder that is there already is not looked at twice; one that holds the link would have no end. */
  #linked(path: string): void {
    const real = realpathSync(path);
    if (`${realpathSync(dirname(path))}/`.startsWith(real === '/' ? '/' : `${real}/`)) {
      this.broken.push({
        path,
        error: inputError('the folder is linked into itself', { code: 'LINK_CIRCULAR', at: path, detail: `expected a link to another folder, found one to ${real}, in which it lies`, hint: 'Remove the link: what it leads to is looked at without it.' }),
      });
      return;
    }
    this.#folder(path);
  }

  #file(path: string, info: Stats): void {
    if (info.isFile()) {
      this.files.set(path, { path, ...stampOf(info) });
      return;
    }
    this.broken.push({ path, error: notAFile(info, path) });
  }

  #break(path: string, error: unknown): void {
    const known = fileError(error, path);
    if (known === null) throw error;
    this.broken.push({ path, error: known });
  }

  /** Of a file that was named itself its folder is listed when it is asked for. */
  #namesIn(folder: string): ReadonlyMap<string, readonly string[]> {
    let found = this.#names.get(folder);
    if (found === undefined) {
      try {
        found = byStem(readdirSync(folder));
      } catch {
        // A file may be named whose folder may not be listed.
        found = new Map();
      }
      this.#names.set(folder, found);
    }
    return found;
  }
}

function stampOf(info: Stats): Stamp {
  return { size: info.size, modifiedMs: Math.floor(info.mtimeMs), changedUs: Math.floor(info.ctimeMs * 1000) };
}

export function isUntouched(before: Stamp | SeenFile, now: Stamp): boolean {
  return before.size === now.size && before.modifiedMs === now.modifiedMs && before.changedUs === now.changedUs;
}

/** Is it as it was when it was found? @throws input error `FILE_CHANGED_WHILE_READ` */
export function refuseChanged(files: readonly FoundFile[], cause?: unknown): void {
  for (const file of files) {
    const { path, size, changedUs } = file;
    const now = statSync(path, { throwIfNoEntry: false });
    if (now !== undefined && isUntouched(file, stampOf(now))) continue;
    throw inputError('the file changed while it was read', {
      code: 'FILE_CHANGED_WHILE_READ', at: path,
      detail: `expected ${size} bytes, untouched since ${new Date(changedUs / 1000).toISOString()}, found ${now === undefined ? 'no file any more' : `${now.size} bytes, touched ${now.ctime.toISOString()}`}`,
      hint: 'Nothing of it is used. Wait until it is downloaded or copied to its end, then run the same command again.', cause,
    });
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
    const stem = stemOf(name);
    const same = found.get(stem);
    if (same === undefined) found.set(stem, [name]);
    else same.push(name);
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

/** A name as it may be shown: bytes beyond ASCII as `\xe8`. */
function escaped(name: Buffer): string {
  return name.toString('latin1').replace(/[^\x20-\x7e]/g, (sign) => `\\x${sign.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

function nameNotUtf8(name: Buffer): MappaleError {
  return inputError('the name is not UTF-8', {
    code: 'NAME_NOT_UTF8', at: escaped(name), detail: `expected a name in UTF-8, found the bytes ${name.toString('hex')}`, hint: 'Rename it; a program that unpacked it took its letters for those of another encoding.',
  });
}
