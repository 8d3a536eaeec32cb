/** Tests that reading commands leave a database unchanged and refuse a database of a different version. */
import { existsSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { main, program } from '../../cli/main.ts';
import { openDatabase, type Session } from '../../pipelines/db/index.ts';
import { migrate } from '../../pipelines/db/migrate.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { SECTION_NAMES } from '../../pipelines/contract/sections.ts';
import { serviceOn } from '../api/harness.ts';
import { describeEngines } from '../harness/database.ts';
import { testEnvironment } from '../harness/environment.ts';
import { contentOf, FIXTURES, fixture, shapeOf } from '../harness/migration-fixture.ts';

const PARCEL = '1400000000';

interface Case {
  /** Returns the argument lists to run. Null if the command writes and has its own tests. */
  readonly typed: ((place: { readonly data: string; readonly port: number; readonly scratch: string }) => readonly (readonly string[])[]) | null;
  /** True if the command works without a database. */
  readonly alone?: true;
  /** Expected exit code, 0 by default. `serve` and `mcp` must exit with 2, because their port is in use. */
  readonly exit?: number;
}

const COMMANDS: Readonly<Record<string, Case>> = {
  'load-region': { typed: null },
  plan: { typed: ({ data }) => [['plan', '--data', data], ['plan', 'molise', '--data', data, '--json']] },
  status: { typed: () => [['status'], ['status', '--json']] },
  sources: { typed: () => [['sources']], alone: true },
  completion: { typed: () => [['completion', 'bash']], alone: true },
  parcel: { typed: () => [['parcel', PARCEL], ['parcel', PARCEL, '--include', 'basic,risk']] },
  report: { typed: () => [['report', 'molise', '--json'], ['report', '--comune', 'Z001', '--json']] },
  dossier: { typed: ({ scratch }) => [['dossier', PARCEL, '--out', join(scratch, 'dossier.html')]] },
  findings: { typed: () => [['findings', '--comune', 'Z001'], ['findings', '--comune', 'Z001', '--format', 'csv']] },
  catalog: { typed: ({ scratch }) => [['catalog', '--exports', scratch, '--out', join(scratch, 'catalog')]], alone: true },
  enrich: {
    typed: ({ scratch }) => {
      writeFileSync(join(scratch, 'fids.csv'), `fid\n${PARCEL}\n`);
      return [['enrich', join(scratch, 'fids.csv'), '--out', join(scratch, 'enriched.csv')]];
    },
  },
  export: { typed: ({ scratch }) => [
    ['export', 'molise', '--format', 'csv', '--out', join(scratch, 'molise.csv')], ['export', 'molise', '--comune', 'Z001', '--format', 'csv', '--out', join(scratch, 'z001.csv')],
  ] },
  // The history of the fixture begins with publication 2.
  changes: { typed: ({ scratch }) => [['changes', 'molise', '--since', '2', '--out', join(scratch, 'changes.jsonl')]] },
  // The source is downloaded by hand, so the command contacts no publisher.
  fetch: { typed: ({ scratch }) => [['fetch', 'molise', '--sources', 'salute_pharmacies', '--data', join(scratch, 'data')]], alone: true },
  watch: { typed: null },
  mcp: { typed: ({ port }) => [['mcp', '--http', '--port', String(port)]], exit: 2 },
  serve: { typed: ({ port }) => [['serve', '--port', String(port)]], exit: 2 },
  'token create': { typed: null },
  'token list': { typed: () => [['token', 'list']] },
  'token revoke': { typed: null },
  doctor: { typed: () => [['doctor', '--json']] },
  synth: { typed: ({ scratch }) => [['synth', '--out', scratch, '--parcels', '4', '--source', 'dpc_seismic']], alone: true },
  migrate: { typed: null },
  prune: { typed: null },
  refresh: { typed: null },
  forget: { typed: null },
  pin: { typed: null },
  unpin: { typed: null },
  withdraw: { typed: null },
  rejects: { typed: () => [['rejects', '--limit', '3', '--raw']] },
  rollback: { typed: null },
  validate: { typed: ({ data }) => [['validate', join(data, 'Elenco-comuni-italiani.csv')]], alone: true },
  diff: { typed: () => [['diff', 'molise']] },
  history: { typed: () => [['history', PARCEL], ['history', PARCEL, '--json']] },
  lineage: { typed: () => [['lineage', PARCEL], ['lineage', PARCEL, '--json']] },
  explain: { typed: () => SECTION_NAMES.map((section) => ['explain', PARCEL, section]) },
};

function leaves(command: Command, path: readonly string[] = []): string[] {
  return command.commands.length === 0 ? [path.join(' ')] : command.commands.flatMap((child) => leaves(child, [...path, child.name()]));
}

/** Runs a command in this process. */
async function run(url: string, args: readonly string[]): Promise<{ exit: number; out: string; stderr: string }> {
  vi.stubEnv('DATABASE_URL', url);
  const written: Record<'stdout' | 'stderr', string> = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((stream) => vi.spyOn(process[stream], 'write').mockImplementation((text) => {
    written[stream] += String(text);
    return true;
  }));
  const before = process.exitCode;
  process.exitCode = 0;
  try {
    await main(['node', 'mappale', ...args]);
    return { exit: process.exitCode, out: written.stdout, stderr: written.stderr };
  } finally {
    process.exitCode = before;
    process.stdout.removeAllListeners('error');
    for (const spy of spies) spy.mockRestore();
    vi.unstubAllEnvs();
  }
}

/** Returns everything that the program stores in a database, such as rows, tables, columns, functions and sequences. */
async function everything(session: Session, without: readonly string[] = []): Promise<unknown> {
  const content = Object.fromEntries(Object.entries(await contentOf(session, await shapeOf(session))).filter(([table]) => !without.includes(table)));
  return {
    content,
    applied: await session.query('select file, sha256, version from ledger.applied_file order by file'),
    catalogs: await session.query(
      `select n.nspname as schema, c.relname as name, c.relkind, c.oid::int8 as oid, c.relnatts, pg_relation_filenode(c.oid)::int8 as file
       from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname !~ '^(pg_|information_schema)' order by 1, 2`,
    ),
    schemas: await session.query("select nspname from pg_namespace where nspname !~ '^pg_(temp|toast_temp)_' order by 1"),
    functions: await session.query("select p.oid::int8 as oid, p.proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname in ('api', 'core') order by 1"),
    counters: await session.query('select schemaname, sequencename, last_value from pg_sequences order by 1, 2'),
  };
}

it('every command is in the list of reading and writing commands', async () => {
  expect(leaves(await program()).sort()).toEqual(Object.keys(COMMANDS).sort());
});

describeEngines('reading commands', (engine) => {
  const made = fixture(FIXTURES[0]!);
  // Opening the embedded database takes seconds. On that engine, only the command `status` is tested.
  const looking = Object.entries(COMMANDS).flatMap(([name, { typed, ...facts }]) => (typed === null || (engine.name === 'pglite' && name !== 'status') ? [] : [{ name, typed, ...facts }]));
  let url: string;
  let files: Awaited<ReturnType<typeof made.files>>;
  let scratch: string;
  const taken = createServer().listen(0, '127.0.0.1');
  const place = (): { data: string; port: number; scratch: string } => ({ data: files.folder, port: (taken.address() as AddressInfo).port, scratch });
  const within = async <T>(work: (session: Session) => Promise<T>, at = url): Promise<T> => {
    const database = await openDatabase(at);
    try {
      return await database.session(work);
    } finally {
      await database.close();
    }
  };

  beforeAll(async () => {
    if (!taken.listening) await once(taken, 'listening');
    scratch = await mkdtemp(join(tmpdir(), 'mappale-readers-'));
    files = await made.files();
    url = await made.restore(engine);
    const database = await openDatabase(url);
    await migrate(database, await loadSources());
    await database.close();
  });
  afterAll(async () => {
    taken.close();
    await files.remove();
    await rm(scratch, { recursive: true, force: true });
  });

  describe('at this version', () => {
    let before: unknown;
    beforeAll(async () => {
      before = await within(everything);
    });

    for (const { name, typed, exit = 0 } of looking) {
      it(`${name} exits with ${exit}`, async () => {
        for (const args of typed(place())) {
          const done = await run(url, args);
          expect([args.join(' '), done.exit], done.stderr).toEqual([args.join(' '), exit]);
          if (exit === 0) expect(done.out.length).toBeGreaterThan(10);
        }
      });
    }

    it('leave the database unchanged', async () => {
      expect(await within(everything)).toEqual(before);
    });

    it('a server that answers requests of many kinds writes only counts of requests and failed attempts', async () => {
      const database = await openDatabase(url);
      try {
        const counted = ['access.rate_window', 'access.failed_attempt'];
        const before = await database.session((session) => everything(session, counted));
        for (const table of counted) await database.query(`delete from ${table}`);
        const service = await serviceOn(database, url);
        const paths = Object.keys(made.answers).filter((_, index) => index % 11 === 0);
        for (const path of paths) {
          expect((await service.ask(path, { key: made.about.token })).status, path).toBe(200);
        }
        expect((await service.ask('/admin/regions', { key: 'wrong' })).status).toBe(401);
        expect((await service.ask('/health')).status).toBe(200);
        await service.close();
        expect(await database.session((session) => everything(session, counted))).toEqual(before);
        const found = await database.query(
          'select (select sum(used) from access.rate_window)::int4 as used, (select count(*) from access.failed_attempt)::int4 as bad',
        );
        expect(paths.length).toBeGreaterThan(20);
        expect(found).toEqual([{ used: paths.length, bad: 1 }]);
      } finally {
        await database.close();
      }
    });

    it('a reader on a read-only connection refuses an invalid key and reports that the database is read-only', async () => {
      const database = await openDatabase(url);
      try {
        const { reader, close } = await serviceOn(database, url);
        const answer = await reader.call<{ outcome: string; read_only: boolean }>("select * from api.admit('00', 'parcels:read', '192.0.2.9', true)", []);
        expect(answer).toMatchObject({ outcome: 'INVALID_API_KEY', read_only: true });
        await close();
      } finally {
        await database.close();
      }
    });
  });

  // Both engines read the version from rows. The embedded database opens slowly, so this suite tests that engine only on request.
  if (engine.name === 'postgres' || testEnvironment().enginesNamed) describe('at a different version', () => {
    const FILE = 'sql/api/health.sql';
    let before: unknown;
    beforeAll(async () => {
      await within((session) => session.query("update ledger.applied_file set sha256 = 'of another version' where file = $1", [FILE]));
      before = await within(everything);
    });

    for (const { name, typed, alone = false } of looking) {
      it(`${name} ${alone ? 'does not check the version' : 'reports DATABASE_OUT_OF_DATE and the next command'}`, async () => {
        const done = await run(url, typed(place())[0]!);
        if (alone) expect(done.exit).toBe(0);
        else {
          expect(`${done.out}${done.stderr}`).toMatch(/DATABASE_OUT_OF_DATE[\s\S]*sql\/api\/health\.sql[\s\S]*mappale migrate/);
          expect(done.exit).toBe(name === 'doctor' ? 2 : 6);
        }
      });
    }

    it('leave the database unchanged, and the printed command migrates it', async () => {
      expect(await within(everything)).toEqual(before);
      const migrated = await run(url, ['migrate']);
      expect([migrated.exit, migrated.out]).toEqual([0, 'sql/api: the API functions, created again\n']);
      expect((await run(url, ['status'])).exit).toBe(0);
    });

    it('migrate recreates the changed views of the schema past and of the region schemas', async () => {
      for (const file of ['sql/statements/history.sql', 'sql/statements/region_schemas.sql']) {
        await within((session) => session.query("update ledger.applied_file set sha256 = 'of another version' where file = $1", [file]));
        expect((await run(url, ['status'])).stderr).toMatch(/DATABASE_OUT_OF_DATE/);
        const migrated = await run(url, ['migrate']);
        expect([migrated.exit, migrated.out.split(':')[0]]).toEqual([0, file]);
        expect((await run(url, ['status'])).exit).toBe(0);
      }
      expect((await run(url, ['migrate'])).out).toBe('nothing to do: the database already matches this version of the program\n');
    });
  });

  describe('on an empty database', () => {
    for (const { name, typed } of looking.filter(({ alone = false }) => !alone)) {
      it(`${name} ${name === 'doctor' ? 'reports the empty database' : 'reports the empty database and the next command'}, and creates nothing`, async () => {
        const empty = await engine.createDatabase();
        const done = await run(empty, typed(place())[0]!);
        if (name === 'doctor') expect([done.exit, /The first load creates/.test(done.out)]).toEqual([0, true]);
        else {
          expect(done.stderr).toMatch(/the database is empty \[DATABASE_OUT_OF_DATE\][\s\S]*mappale load-region/);
          expect(done.exit).toBe(6);
        }
        expect(await within((session) => session.query("select nspname from pg_namespace where nspname in ('ledger', 'core', 'layer', 'section', 'api', 'access', 'previous')"), empty)).toEqual([]);
      });
    }

    if (engine.name === 'pglite') it('do not create a missing folder', async () => {
      const folder = join(scratch, 'none', 'database');
      for (const { name, typed, alone = false } of looking) {
        const done = await run(`pglite:${folder}`, typed(place())[0]!);
        if (!alone && name !== 'doctor') expect([name, done.exit, /\[DATABASE_OUT_OF_DATE\]/.test(done.stderr)]).toEqual([name, 6, true]);
        expect(existsSync(join(scratch, 'none'))).toBe(false);
      }
    });
  });

  afterEach(() => vi.unstubAllEnvs());
});
