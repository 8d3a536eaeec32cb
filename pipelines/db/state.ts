/** Which version a database is at: what was applied to it, beside what this program would apply. */
import { MappaleError } from '../errors.ts';
import { group } from '../progress.ts';
import type { RegisteredSource } from '../contract/registry.ts';
import { SECTIONS } from '../contract/sections.ts';
import { readSectionFiles, readSqlFolder, type SqlFile } from '../contract/sql-files.ts';
import { hasRelation } from './catalog.ts';
import { HISTORY_FILE } from './history.ts';
import type { Reader } from './reader.ts';
import { REGION_SCHEMAS_FILE, regionFunctions } from './region-schemas.ts';
import { sectionFunctions } from './section-functions.ts';
import { sectionTables } from './section-tables.ts';
import type { Session } from './types.ts';

export interface Part {
  /** `copy`: makes the functions of a record once more, over other tables. */
  readonly kind: 'migration' | 'section' | 'function' | 'interface' | 'layer' | 'copy';
  readonly file: SqlFile;
  /** Of a layer. */
  readonly source: RegisteredSource | null;
}

interface AppliedFile {
  readonly digest: string;
  readonly version: number | null;
}

/** What was applied, by file. */
export type Applied = ReadonlyMap<string, AppliedFile>;

export function partsOf(sources: readonly RegisteredSource[]): Part[] {
  const all = (files: readonly SqlFile[], kind: Part['kind']): Part[] => files.map((file) => ({ kind, file, source: null }));
  return [
    ...all(readSqlFolder('sql/migrations'), 'migration'),
    ...all(SECTIONS.map(sectionTables), 'section'),
    ...sources.map((source): Part => ({ kind: 'layer', file: source.layer, source })),
    ...all(readSqlFolder('sql/functions'), 'function'),
    // The last of them says what the server's role may execute of all.
    ...all([...readSectionFiles('record'), ...readSectionFiles('columns'), sectionFunctions(), regionFunctions(), ...readSqlFolder('sql/api')], 'interface'),
    ...all(readSqlFolder('sql/statements').filter(({ file }) => [HISTORY_FILE, REGION_SCHEMAS_FILE].includes(file)), 'copy'),
  ];
}

/** Earlier versions noted the digest of the bytes. */
export function isApplied({ file }: Part, applied: Applied): boolean {
  const digest = applied.get(file.file)?.digest;
  return digest === file.digest || digest === file.sha256;
}

/**
 * Whether a database is as this version needs it, for commands that change nothing.
 * @throws MappaleError `DATABASE_OUT_OF_DATE`, `DATABASE_NEWER` (exit 6)
 */
export async function requireCurrent(session: Session, sources: readonly RegisteredSource[]): Promise<void> {
  requireApplied(await appliedFiles(session), sources);
}

/** The same, of what was applied. @param applied null: nothing @throws MappaleError `DATABASE_OUT_OF_DATE`, `DATABASE_NEWER` (exit 6) */
export function requireApplied(applied: Applied | null, sources: readonly RegisteredSource[]): void {
  if (applied === null) throw emptyDatabase();
  const parts = partsOf(sources);
  refuseNewer(parts, applied);
  const missing = parts.filter((part) => !isApplied(part, applied)).map(({ file }) => file.file);
  if (missing.length > 0) throw outOfDate(missing);
}

/** A database in which nothing was ever loaded. Exit 6. @throws never; it builds the error. */
export function emptyDatabase(at?: string): MappaleError {
  return new MappaleError('the database is empty', {
    code: 'DATABASE_OUT_OF_DATE', kind: 'database', at, detail: 'expected what a load makes, found none of it; this command only looks',
    hint: 'Load a region first: with --data your files, without arguments the synthetic one.', fix: 'npx mappale load-region',
  });
}

function outOfDate(missing: readonly string[]): MappaleError {
  return new MappaleError('the database is not at this version', {
    code: 'DATABASE_OUT_OF_DATE', kind: 'database',
    detail: `expected what ${group(missing.length)} file${missing.length === 1 ? '' : 's'} of this version say, found it as an earlier version left it: ${missing.slice(0, 3).join(', ')}${missing.length > 3 ? ', …' : ''}`,
    hint: 'Bring it to this version. This command only looks, and changes nothing.', fix: 'npx mappale migrate',
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
  throw new MappaleError('the database was made by a newer version of this program', {
    code: 'DATABASE_NEWER', kind: 'database', detail: `expected what this version knows, found ${found.join(', ')}`, hint: 'Use the newer program, or another database.',
    fix: 'export DATABASE_URL=postgres://USER@HOST:5432/OTHER_DATABASE',
  });
}

/** What was applied, as a server sees it, which may read no table. Of what lies before its function nothing is known but that it is out of date. */
export async function appliedFor(reader: Reader): Promise<Applied | null> {
  try {
    const { applied } = await reader.call<{ applied: Record<string, AppliedFile> | null }>('select applied from api.applied_files()', []);
    return new Map(Object.entries(applied ?? {}));
  } catch (error) {
    // No such schema; no such function.
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
