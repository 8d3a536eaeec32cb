/**
 * Brings a database to this version: numbered migrations once, functions and layer tables whenever their file changed.
 */
import { MappaleError } from '../errors.ts';
import type { RegisteredSource } from '../registry.ts';
import { readSqlFolder, tableOf, type SqlFile } from '../sql-files.ts';
import { ident, type Database, type Session } from './types.ts';

const MINIMUM = { postgres: 150_000, postgis: [3, 3] } as const;
const EXTENSIONS = ['postgis', 'pg_trgm', 'unaccent', 'fuzzystrmatch'] as const;

/**
 * Checks the server, then applies what is new. Safe to run at every start: with nothing to do it asks one question.
 * @throws MappaleError `POSTGRES_TOO_OLD`, `EXTENSION_MISSING`, `POSTGIS_TOO_OLD`, `MIGRATION_CHANGED`, `DATABASE_NEWER`
 */
export async function migrate(database: Database, sources: readonly RegisteredSource[]): Promise<void> {
  const files: { kind: 'migration' | 'function' | 'layer'; file: SqlFile }[] = [
    ...readSqlFolder('sql/migrations').map((file) => ({ kind: 'migration' as const, file })),
    ...sources.map((source) => ({ kind: 'layer' as const, file: source.layer })),
    ...readSqlFolder('sql/functions').map((file) => ({ kind: 'function' as const, file })),
    ...readSqlFolder('sql/api').map((file) => ({ kind: 'function' as const, file })),
  ];
  await database.session(async (session) => {
    const applied = await appliedFiles(session);
    if (applied === null) await checkServer(session, database.label);
    const known = applied ?? new Map<string, string>();
    if (files.every(({ file }) => known.get(file.file) === file.sha256)) return;
    if (applied !== null) await checkServer(session, database.label);
    for (const [name] of known) {
      if (name.startsWith('sql/migrations/') && !files.some(({ file }) => file.file === name)) {
        throw new MappaleError('the database was made by a newer version of this program', {
          code: 'DATABASE_NEWER', kind: 'database', detail: `expected migrations of this version, found ${name}`, hint: 'Use the newer program, or another database.',
        });
      }
    }
    await session.transaction(async () => {
      await session.query("select pg_advisory_xact_lock(hashtextextended('mappale migrate', 0))");
      await session.query('create schema if not exists ledger');
      await session.query('create table if not exists ledger.applied_file (file text primary key, sha256 text not null, applied_at timestamptz not null default now())');
      await session.script(
        `comment on table ledger.applied_file is 'SQL files that made this database';
         comment on column ledger.applied_file.file is 'Path from the root of the project';
         comment on column ledger.applied_file.sha256 is 'Digest of the file when it was applied';
         comment on column ledger.applied_file.applied_at is 'When it was applied';`, 'migrate',
      );
      // Functions call each other across files: bodies are looked at when they run, not in the order of their names.
      await session.query('set local check_function_bodies = off');
      const now = (await appliedFiles(session)) ?? new Map<string, string>();
      // Functions are imported anew as a whole: their arguments and results may have changed.
      const interfaceChanged = files.some(({ file }) => file.file.startsWith('sql/api/') && now.get(file.file) !== file.sha256);
      for (const { kind, file } of files) {
        const before = now.get(file.file);
        const isInterface = file.file.startsWith('sql/api/');
        if (isInterface && interfaceChanged && file === files.find((other) => other.file.file.startsWith('sql/api/'))!.file) {
          await session.script('drop schema if exists api cascade; create schema api; comment on schema api is \'The only functions that the server may execute\';', file.file);
        }
        if (before === file.sha256 && !(isInterface && interfaceChanged)) continue;
        if (kind === 'migration' && before !== undefined) {
          throw new MappaleError('a migration was changed after it was applied', {
            code: 'MIGRATION_CHANGED', kind: 'database', at: file.file, hint: 'Put the change into a new migration with the next number.',
          });
        }
        if (kind === 'layer' && before !== undefined) await forgetLayers(session, file);
        await session.script(file.text, file.file);
        await session.query(
          'insert into ledger.applied_file (file, sha256) values ($1, $2) on conflict (file) do update set sha256 = excluded.sha256, applied_at = now()',
          [file.file, file.sha256],
        );
      }
    });
  });
}

/** Layers are caches of the publishers' files: when their form changes they are made again from the files. */
async function forgetLayers(session: Session, file: SqlFile): Promise<void> {
  for (const relation of file.writes) await session.query(`drop table if exists ${ident('layer', tableOf(relation))}`);
  await session.query('delete from ledger.release where source_id = $1', [file.file.split('/')[1]]);
}

async function appliedFiles(session: Session): Promise<Map<string, string> | null> {
  const [found] = await session.query<{ there: boolean }>("select to_regclass('ledger.applied_file') is not null as there");
  if (found?.there !== true) return null;
  const rows = await session.query<{ file: string; sha256: string }>('select file, sha256 from ledger.applied_file');
  return new Map(rows.map((row) => [row.file, row.sha256]));
}

async function checkServer(session: Session, label: string): Promise<void> {
  const [server] = await session.query<{ number: number; version: string }>("select current_setting('server_version_num')::int4 as number, current_setting('server_version') as version");
  if (server!.number < MINIMUM.postgres) {
    throw new MappaleError('the PostgreSQL server is too old', {
      code: 'POSTGRES_TOO_OLD', kind: 'database', at: label, detail: `expected PostgreSQL 15 or newer, found ${server!.version}`, hint: 'Upgrade the server, or unset DATABASE_URL to use the embedded database.',
    });
  }
  const available = await session.query<{ name: string; version: string }>(
    'select name, default_version as version from pg_available_extensions where name = any($1)', [EXTENSIONS],
  );
  for (const extension of EXTENSIONS) {
    const found = available.find(({ name }) => name === extension);
    if (found === undefined) {
      throw new MappaleError(`the server has no extension ${extension}`, {
        code: 'EXTENSION_MISSING', kind: 'database', at: label,
        hint: extension === 'postgis' ? 'Install it on the server: apt-get install postgresql-15-postgis-3 (the number is the server\'s).' : 'Install it on the server: apt-get install postgresql-contrib.',
      });
    }
    if (extension === 'postgis') {
      const [major = 0, minor = 0] = found.version.split('.').map(Number);
      if (major < MINIMUM.postgis[0] || (major === MINIMUM.postgis[0] && minor < MINIMUM.postgis[1])) {
        throw new MappaleError('PostGIS is too old', {
          code: 'POSTGIS_TOO_OLD', kind: 'database', at: label, detail: `expected PostGIS 3.3 or newer, found ${found.version}`, hint: 'Install a newer postgresql-…-postgis-3 package on the server.',
        });
      }
    }
  }
}
