/**
 * Tests databases that cannot be loaded, and folders that belong to other programs. Each of these databases and folders causes a specific error and is left
 * unchanged.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import type * as FsPromises from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { openDatabase } from '../../pipelines/db/index.ts';
import { serverFaults, type ServerFacts } from '../../pipelines/db/server-facts.ts';
import type { MappaleError } from '../../pipelines/errors.ts';
import { describeEngines } from '../harness/database.ts';
import { statementIn } from '../harness/typed.ts';

const disk = vi.hoisted(() => ({ freeBytes: null as number | null }));
vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof FsPromises>();
  return { ...real, statfs: async (path: string) => (disk.freeBytes === null ? real.statfs(path) : { bavail: disk.freeBytes, bsize: 1 }) };
});

const root = mkdtempSync(join(tmpdir(), 'mappale-databases-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const errorOf = async (url: string, access: 'read' | 'write' = 'write'): Promise<MappaleError> => {
  const opened = await openDatabase(url, access).catch((error: unknown) => error as MappaleError);
  if (!(opened instanceof Error)) {
    await opened.close();
    throw new Error('it opened');
  }
  return opened;
};

describe('a folder given as the embedded database', () => {
  const file = (path: string, content: string) => (folder: string) => {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  it.each<[string, string, string, (folder: string) => void, string?]>([
    ['a system file', 'PGLITE_FOLDER', 'usage', () => undefined, '/etc/hostname'],
    ['a path below a file', 'PGLITE_FOLDER', 'usage', () => undefined, '/etc/hostname/database'],
    ['an empty name', 'PGLITE_FOLDER', 'usage', () => undefined, ''],
    ['someone\'s files', 'PGLITE_FOLDER', 'usage', file('tesi.docx', 'x')],
    ['other files in the folder of a killed run', 'PGLITE_FOLDER', 'usage', (folder) => {
      file('tesi.docx', 'x')(folder);
      writeFileSync(`${folder}.unfinished`, '');
    }],
    ['other files next to a database of a killed run', 'PGLITE_FOLDER', 'usage', (folder) => {
      file('PG_VERSION', '18\n')(folder);
      file('tesi.docx', 'x')(folder);
      writeFileSync(`${folder}.unfinished`, '');
    }],
    ['a database of a newer PostgreSQL version', 'DATABASE_NEWER', 'database', file('PG_VERSION', '19\n')],
    ['a database of an earlier PostgreSQL version', 'PGLITE_OTHER_VERSION', 'database', file('PG_VERSION', '15\n')],
    ['the folder of a server', 'PGLITE_FOLDER', 'usage', (folder) => {
      file('PG_VERSION', '18\n')(folder);
      file('postmaster.opts', '/usr/lib/postgresql/18/bin/postgres\n')(folder);
    }],
  ])('is rejected and left unchanged if it is %s, with the error %s and without advice to remove it', async (what, code, kind, make, path) => {
    const folder = path ?? join(root, what.replaceAll(/\W/g, '-'));
    if (path === undefined) mkdirSync(folder);
    make(folder);
    const before = path === undefined ? readdirSync(folder) : [];
    for (const access of ['write', 'read'] as const) {
      const error = await errorOf(`pglite:${folder}`, access);
      expect(error).toMatchObject({ code, kind, detail: expect.stringMatching(/expected .* found/), hint: expect.stringContaining('The folder was not changed.') });
      expect(error.report()).not.toMatch(/rm -r|remove/i);
    }
    if (path === undefined) expect(readdirSync(folder)).toEqual(before);
    expect(existsSync(`${folder}.lock`)).toBe(false);
  });

  it('is rejected on a full disk before anything is created', async () => {
    disk.freeBytes = 100 * 1024 * 1024;
    const error = await errorOf(`pglite:${join(root, 'new', 'database')}`);
    disk.freeBytes = null;
    expect(error).toMatchObject({ code: 'DISK_FULL', kind: 'usage', detail: 'expected 256 MiB free on its disk, found 100 MiB' });
    expect(existsSync(join(root, 'new'))).toBe(false);
  });

  it('is left unchanged if PGlite cannot open it, and the error suggests a command that renames it', async () => {
    const folder = join(root, 'it\'s broken');
    mkdirSync(join(folder, 'base'), { recursive: true });
    writeFileSync(join(folder, 'PG_VERSION'), '18\n');
    const error = await errorOf(`pglite:${folder}`);
    expect(error).toMatchObject({ code: 'PGLITE_BROKEN', kind: 'database', fix: `mv '${root}/it'\\''s broken' '${root}/it'\\''s broken.aside'` });
    expect(error.report()).not.toContain('rm -r');
    expect(readFileSync(join(folder, 'PG_VERSION'), 'utf8')).toBe('18\n');
    expect(existsSync(`${folder}.lock`)).toBe(false);
  });

  it('is refused while another connection uses it, and can be opened afterwards', async () => {
    const folder = join(root, 'fresh');
    const database = await openDatabase(`pglite:${folder}`);
    await expect(openDatabase(`pglite:${folder}`)).rejects.toMatchObject({ code: 'DATABASE_IN_USE' });
    await database.close();
    const again = await openDatabase(`pglite:${folder}`, 'read');
    expect(await again.query('select 1 as one')).toEqual([{ one: 1 }]);
    await again.close();
  });
});

describe('a server', () => {
  const good: ServerFacts = { encoding: 'UTF8', standby: false, readOnly: false, searchPath: 'public', statementTimeout: '0', extensions: { postgis: 'public' }, owner: null };
  const address = { label: 'postgres db:5432, database italy, user me', place: { host: 'db', port: 5432, database: 'italy', user: 'me' } };
  it.each<[string, Partial<ServerFacts>, 'read' | 'write', readonly string[]]>([
    ['with correct settings', {}, 'write', []],
    ['with a different encoding', { encoding: 'SQL_ASCII' }, 'read', ['DATABASE_ENCODING']],
    ['with PostGIS elsewhere', { extensions: { postgis: 'gis', unaccent: 'public' } }, 'read', ['EXTENSION_SCHEMA']],
    ['whose search_path cannot be set', { searchPath: '"$user", public' }, 'read', ['SEARCH_PATH']],
    ['whose timeout cannot be set', { statementTimeout: '5s' }, 'read', ['STATEMENT_TIMEOUT']],
    ['that is a standby and is used for a load', { standby: true, readOnly: true }, 'write', ['DATABASE_STANDBY']],
    ['that is a standby and is used for reading', { standby: true, readOnly: true }, 'read', []],
    ['that is read-only and is used for a load', { readOnly: true }, 'write', ['DATABASE_READ_ONLY']],
    ['that is read-only and is used for reading', { readOnly: true }, 'read', []],
    ['whose tables belong to another role', { owner: 'loader' }, 'read', ['DATABASE_NOT_OURS']],
  ])('%s causes exactly the expected errors (facts of the server: %j)', (_what, facts, access, codes) => {
    const faults = serverFaults({ ...good, ...facts }, address, access);
    expect(faults.map(({ code }) => code)).toEqual(codes);
    for (const { detail, hint, at } of faults) expect([detail, hint, at]).toEqual([expect.stringMatching(/^expected .*, found /), expect.any(String), expect.stringContaining('italy')]);
  });
});

describeEngines('a database with other settings', (engine) => {
  const named = (url: string): string => new URL(url).pathname.slice(1);

  it('is rejected with a specific error if the encoding is not UTF-8, an extension is in a different schema, or the database is read-only', async () => {
    const url = await engine.createDatabase();
    const database = await engine.openDatabase(url);
    await database.query(`create database ${named(url)}_latin encoding 'LATIN1' lc_collate 'C' lc_ctype 'C' template template0`);
    expect(await errorOf(url.replace(named(url), `${named(url)}_latin`), 'read')).toMatchObject({ code: 'DATABASE_ENCODING', detail: 'expected UTF8, found LATIN1' });
    await database.query(`drop database ${named(url)}_latin`);
    await database.query(`alter database ${named(url)} set default_transaction_read_only = on`);
    const readOnly = await errorOf(url);
    expect(readOnly).toMatchObject({ code: 'DATABASE_READ_ONLY', kind: 'database' });
    await (await openDatabase(url, 'read')).close();
    // The command in the last line of the error fixes the problem if an administrator runs the command while connected to another database.
    expect(readOnly.fix).toContain(' -d postgres ');
    await database.script(statementIn(readOnly.fix), 'the last line');
    await (await openDatabase(url)).close();
    await database.script('drop extension unaccent cascade; create schema elsewhere; create extension unaccent schema elsewhere', 'test');
    expect(await errorOf(url)).toMatchObject({ code: 'EXTENSION_SCHEMA', detail: 'expected unaccent in public, found unaccent in elsewhere' });
  });

  it('does not change the settings of mappale\'s sessions, not even with settings in the URL', async () => {
    const url = await engine.createDatabase();
    const first = await engine.openDatabase(url);
    const others = ['search_path = nowhere', 'statement_timeout = 1', 'lock_timeout = 1', 'idle_in_transaction_session_timeout = 1', "datestyle = 'German, DMY'", 'bytea_output = escape', "default_transaction_isolation = 'serializable'"];
    for (const setting of others) await first.query(`alter database ${named(url)} set ${setting}`);
    for (const address of [url, `${url}${url.includes('?') ? '&' : '?'}options=-c%20statement_timeout%3D1`]) {
      const database = await engine.openDatabase(address);
      expect(await database.query(
        `select pg_sleep(0.01)::text as slept, current_setting('search_path') as path, current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
           current_setting('idle_in_transaction_session_timeout') as idle, current_setting('datestyle') as dates, current_setting('bytea_output') as bytea, current_setting('transaction_isolation') as isolation`,
      )).toEqual([{ slept: '', path: 'public', statement: '0', lock: '0', idle: '0', dates: expect.stringMatching(/^ISO/), bytea: 'hex', isolation: 'read committed' }]);
    }
  });
}, ['postgres']);
