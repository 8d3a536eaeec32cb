/** Compares the SQL files that were applied to a database with the SQL files of this program. */
import { MappaleError } from '../errors.ts';
import { group } from '../progress.ts';
import type { RegisteredSource } from '../contract/registry.ts';
import { SECTIONS } from '../contract/sections.ts';
import { readSqlFolder, type SqlFile } from '../contract/sql-files.ts';
import { hasRelation } from './ddl.ts';
import { HISTORY_FILE } from './history.ts';
import type { Reader } from './reader.ts';
import { recordFiles } from './record-tables.ts';
import { REGION_SCHEMAS_FILE } from './region-schemas.ts';
import { sectionFunctions } from './section-functions.ts';
import { sectionTables } from './section-tables.ts';
import type { Session } from './types.ts';

export interface Part {
  /** Kind of file, which determines when the file runs. `interface`: API functions. `view`: views from which records are read. */
  readonly kind: 'migration' | 'section' | 'function' | 'interface' | 'layer' | 'view';
  readonly file: SqlFile;
  /** Source that the layer belongs to; null for other kinds. */
  readonly source: RegisteredSource | null;
}

interface AppliedFile {
  readonly digest: string;
  readonly version: number | null;
}

/** SQL files that were applied to a database, with digest and version, by file name. */
export type Applied = ReadonlyMap<string, AppliedFile>;

export function partsOf(sources: readonly RegisteredSource[]): Part[] {
  const all = (files: readonly SqlFile[], kind: Part['kind']): Part[] => files.map((file) => ({ kind, file, source: null }));
  return [
    ...all(readSqlFolder('sql/migrations'), 'migration'),
    ...all(SECTIONS.map(sectionTables), 'section'),
    ...sources.map((source): Part => ({ kind: 'layer', file: source.layer, source })),
    ...all(readSqlFolder('sql/functions'), 'function'),
    // Keeps `usage.sql` last, because this file grants the API server's role the rights on all functions.
    ...all([...recordFiles(), sectionFunctions(), ...readSqlFolder('sql/api')], 'interface'),
    ...all(readSqlFolder('sql/statements').filter(({ file }) => [HISTORY_FILE, REGION_SCHEMAS_FILE].includes(file)), 'view'),
  ];
}

/** Returns whether a file was applied with its current content. Also accepts the digest of the file's bytes, which earlier versions stored. */
export function isApplied({ file }: Part, applied: Applied): boolean {
  const digest = applied.get(file.file)?.digest;
  return digest === file.digest || digest === file.sha256;
}

/**
 * Checks that a database matches this version of the program, for read-only commands.
 * @throws MappaleError `DATABASE_OUT_OF_DATE`, `DATABASE_NEWER` (exit 6)
 */
export async function requireCurrent(session: Session, sources: readonly RegisteredSource[]): Promise<void> {
  requireApplied(await appliedFiles(session), sources);
}

/**
 * Checks applied files in the same way as `requireCurrent`.
 * @param applied applied files, or null for an empty database
 * @throws MappaleError `DATABASE_OUT_OF_DATE`, `DATABASE_NEWER` (exit 6)
 */
export function requireApplied(applied: Applied | null, sources: readonly RegisteredSource[]): void {
  if (applied === null) throw emptyDatabase();
  const parts = partsOf(sources);
  refuseNewer(parts, applied);
  const missing = parts.filter((part) => !isApplied(part, applied)).map(({ file }) => file.file);
  if (missing.length > 0) throw outOfDate(missing);
}

/** Returns the error (exit 6) for a missing database, or for a database without the program's tables. @param at folder of the embedded database */
export function emptyDatabase(at?: string): MappaleError {
  return new MappaleError('the database is empty', {
    code: 'DATABASE_OUT_OF_DATE', kind: 'database', at, detail: 'expected loaded data, found none. This command changes nothing',
    hint: 'Load a region first. Use --data FOLDER for your files, or no arguments for the synthetic region.', fix: 'npx mappale load-region',
  });
}

function outOfDate(missing: readonly string[]): MappaleError {
  return new MappaleError('the database does not match this version of the program', {
    code: 'DATABASE_OUT_OF_DATE', kind: 'database',
    detail: `expected ${group(missing.length)} SQL file${missing.length === 1 ? '' : 's'} of this version of the program to be applied, found none or a different version of: ${missing.slice(0, 3).join(', ')}${missing.length > 3 ? ', …' : ''}`,
    hint: 'Upgrade the database. This command changes nothing.', fix: 'npx mappale migrate',
  });
}

/** @throws MappaleError `DATABASE_NEWER` */
export function refuseNewer(parts: readonly Part[], applied: Applied): void {
  const known = new Set(parts.map(({ file }) => file.file));
  const found = [
    ...[...applied.keys()].filter((name) => name.startsWith('sql/migrations/') && !known.has(name)),
    ...parts.flatMap(({ file, source }) => {
      const version = applied.get(file.file)?.version ?? 0;
      return source !== null && version > source.manifest.version ? [`version ${version} of ${source.id}, which is ${source.manifest.version} here`] : [];
    }),
  ];
  if (found.length === 0) return;
  throw new MappaleError('the database was created by a newer version of this program', {
    code: 'DATABASE_NEWER', kind: 'database', detail: `expected files of this version of the program, found ${found.join(', ')}`, hint: 'Use the newer program, or another database.',
    fix: 'export DATABASE_URL=postgres://USER@HOST:5432/OTHER_DATABASE',
  });
}

/**
 * Returns the applied files through an API function, because the API server cannot read tables. Returns null for an empty database, and an empty map for a
 * database of an older version.
 */
export async function appliedFor(reader: Reader): Promise<Applied | null> {
  try {
    const { applied } = await reader.call<{ applied: Record<string, AppliedFile> | null }>('select applied from api.applied_files()', []);
    return new Map(Object.entries(applied ?? {}));
  } catch (error) {
    // 3F000 means that the schema does not exist, and 42883 means that the function does not exist.
    if (error instanceof MappaleError && error.code === 'SQL_3F000') return null;
    if (error instanceof MappaleError && error.code === 'SQL_42883') return new Map();
    throw error;
  }
}

export async function appliedFiles(session: Session): Promise<Applied | null> {
  if (!(await hasRelation(session, 'ledger.applied_file'))) return null;
  const rows = await session.query<{ file: string; sha256: string; version: number | null }>("select file, sha256, (to_jsonb(a) ->> 'version')::int4 as version from ledger.applied_file a");
  return new Map(rows.map((row) => [row.file, { digest: row.sha256, version: row.version }]));
}
