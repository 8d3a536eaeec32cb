/** Types for the result of a survey of the data folders: recognised files, and properties of the files for the next survey. */
import type { MappaleError } from '../errors.ts';
import type { RegisteredSource } from './registry.ts';
import type { Recognition } from './source.ts';
import { sha256 } from './sql-files.ts';

/** Properties that show whether a file changed since the last survey. */
export interface Stamp {
  /** Size in bytes. */
  readonly size: number;
  /** Time of the last change of the content, in milliseconds since 1970. A copied file may have the time of the original. */
  readonly modifiedMs: number;
  /** Time of the last change of the content or metadata, in microseconds since 1970. Programs cannot set this time. */
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
  /** Properties of the file and its sidecars from before the files were hashed. */
  readonly parts: readonly FoundFile[];
  /** SHA-256 of the file and its sidecars. */
  readonly sha256: string;
  readonly recognition: Recognition;
}

/** The files of one release, with their hashes. */
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
  /** Files that a source recognises but does not read, with the reason. */
  readonly aside: readonly { readonly path: string; readonly source: string; readonly reason: string }[];
  /** Files that no source reads. */
  readonly unknown: readonly string[];
  /** Entries that are not files or cannot be opened or read, each with a message. */
  readonly broken: readonly BrokenEntry[];
}

/** Result of an earlier survey of a file, so that an unchanged file can be skipped. */
export interface SeenFile extends Omit<Stamp, 'changedUs'> {
  /** Time of the last change; null in surveys of older versions of the program. */
  readonly changedUs: number | null;
  readonly sha256: string | null;
  readonly recognition: { readonly source: string; readonly recognition: Recognition } | null;
}

export interface SeenFiles {
  get(path: string): SeenFile | undefined;
  set(path: string, seen: SeenFile): void;
}

/** Returns the release of files of one source, vintage and region. */
export function releaseOf({ source, vintage, region }: Pick<Located, 'source' | 'vintage' | 'region'>, files: readonly LocatedFile[]): Located {
  return {
    source, vintage, region,
    complete: files.some(({ recognition }) => recognition.complete),
    files,
    content: sha256(files.map((file) => `${file.recognition.role} ${file.sha256}`).sort().join('\n')),
  };
}
