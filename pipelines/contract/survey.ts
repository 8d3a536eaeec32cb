/**
 * Types for the result of a survey of the data folders. The result lists the files by release, and the files that belong to no release. The size and times of
 * each file show the next survey whether the file changed.
 */
import type { MappaleError } from '../errors.ts';
import type { RegisteredSource } from './registry.ts';
import type { Recognition } from './source.ts';
import { sha256 } from './sql-files.ts';

/** Properties that show whether a file changed since the last survey. */
export interface Stamp {
  /** Size in bytes. */
  readonly size: number;
  /** Time of the last change of the content (mtime), in milliseconds since 1970. A copied file may keep the time of the original. */
  readonly modifiedMs: number;
  /** Time of the last change of content or metadata (ctime), in microseconds since 1970. Programs cannot set this time. */
  readonly changedUs: number;
}

export interface FoundFile extends Stamp {
  readonly path: string;
}

export interface BrokenEntry {
  readonly path: string;
  readonly error: MappaleError;
}

export interface LocatedFile {
  readonly path: string;
  readonly name: string;
  readonly size: number;
  /** Properties of the file and its sidecars, read before the files were hashed. */
  readonly parts: readonly FoundFile[];
  /** SHA-256 of the file and its sidecars. */
  readonly sha256: string;
  readonly recognition: Recognition;
}

/** The files of one release, found in the data folders. */
export interface Located {
  readonly source: RegisteredSource;
  readonly vintage: string;
  readonly region: number | null;
  readonly complete: boolean;
  readonly files: readonly LocatedFile[];
  /** Digest of the files' content and roles, without their names and paths. */
  readonly content: string;
}

export interface Survey {
  readonly releases: readonly Located[];
  /** Files that a source recognises and ignores, with the reason. */
  readonly aside: readonly { readonly path: string; readonly source: string; readonly reason: string }[];
  /** Files that no source recognises. */
  readonly unknown: readonly string[];
  /** Entries of a folder that are not files or cannot be read, each with an error. */
  readonly broken: readonly BrokenEntry[];
}

/** Result of an earlier survey for one file. An unchanged file need not be read again. */
export interface SeenFile extends Omit<Stamp, 'changedUs'> {
  /** Time of the last change (ctime); null in surveys by older versions of the program. */
  readonly changedUs: number | null;
  readonly sha256: string | null;
  /**
   * Digest of the names, sizes and times of the file and its siblings. Null if the file had no siblings, and in surveys by older versions of the program. A
   * changed digest shows that a sidecar may have been added, changed or removed.
   */
  readonly siblings: string | null;
  readonly recognition: { readonly source: string; readonly recognition: Recognition } | null;
}

export interface SeenFiles {
  get(path: string): SeenFile | undefined;
  set(path: string, seen: SeenFile): void;
}

/** Combines files of one source, vintage and region into a release. */
export function releaseOf({ source, vintage, region }: Pick<Located, 'source' | 'vintage' | 'region'>, files: readonly LocatedFile[]): Located {
  return {
    source, vintage, region,
    complete: files.some(({ recognition }) => recognition.complete),
    files,
    content: sha256(files.map((file) => `${file.recognition.role} ${file.sha256}`).sort().join('\n')),
  };
}
