/** Result of a survey of the data folders: recognised files, and notes for the next survey. */
import type { MappaleError } from '../errors.ts';
import type { RegisteredSource } from './registry.ts';
import type { Recognition } from './source.ts';
import { sha256 } from './sql-files.ts';

/** Properties that show whether a file changed since the last survey. */
export interface Stamp {
  /** Bytes. */
  readonly size: number;
  /** When its content changed, milliseconds since 1970; a copy may keep it. */
  readonly modifiedMs: number;
  /** When the system last wrote anything of it, microseconds since 1970; nobody can set it. */
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
  /** The file and its sidecars as they were before they were hashed. */
  readonly parts: readonly FoundFile[];
  /** SHA-256 of the file and its sidecars. */
  readonly sha256: string;
  readonly recognition: Recognition;
}

/** The files of one release, found and hashed. */
export interface Located {
  readonly source: RegisteredSource;
  readonly vintage: string;
  readonly region: number | null;
  readonly complete: boolean;
  readonly files: readonly LocatedFile[];
  /** Digest of the files' content and roles; their names and places do not count. */
  readonly content: string;
}

export interface Survey {
  readonly releases: readonly Located[];
  /** Files that a source knows and does not read, with its reason. */
  readonly aside: readonly { readonly path: string; readonly source: string; readonly reason: string }[];
  /** Files that no source reads. */
  readonly unknown: readonly string[];
  /** Entries that are no files, cannot be opened or cannot be read; a message each. */
  readonly broken: readonly BrokenEntry[];
}

/** Result of an earlier survey of a file, so that an unchanged file can be skipped. */
export interface SeenFile extends Omit<Stamp, 'changedUs'> {
  /** Null: it was seen before this was noted. */
  readonly changedUs: number | null;
  readonly sha256: string | null;
  readonly recognition: { readonly source: string; readonly recognition: Recognition } | null;
}

export interface SeenFiles {
  get(path: string): SeenFile | undefined;
  set(path: string, seen: SeenFile): void;
}

/** Files of one source, vintage and region as a release. */
export function releaseOf({ source, vintage, region }: Pick<Located, 'source' | 'vintage' | 'region'>, files: readonly LocatedFile[]): Located {
  return {
    source, vintage, region,
    complete: files.some(({ recognition }) => recognition.complete),
    files,
    content: sha256(files.map((file) => `${file.recognition.role} ${file.sha256}`).sort().join('\n')),
  };
}
