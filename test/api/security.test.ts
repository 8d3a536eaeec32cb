/** Tests which requests are accepted or refused, and the rights of the server's role. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENDPOINTS } from '../../api/endpoints.ts';
import { OPEN_QUOTA, SCOPES } from '../../api/access.ts';
import { hashOf } from '../../api/access.ts';
import { listTokens, revokeToken } from '../../cli/token.ts';
import { migrate } from '../../pipelines/db/migrate.ts';
import { missingRights } from '../../pipelines/db/role.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { describeDatabase, describeEngines } from '../harness/database.ts';
import { PROGRAM } from '../harness/program.ts';
import { emptyService, serviceOn, violationsOf, type Service } from './harness.ts';

/** Paths with valid parameters, one for each endpoint. */
const PATHS: Readonly<Record<string, string>> = {
  '/parcels/{id}/neighbours': '/parcels/1400000000/neighbours', '/parcels/{id}/lineage': '/parcels/1400000000/lineage', '/geocode/search': '/geocode/search?q=Via%20Roma', '/geocode/reverse': '/geocode/reverse?lat=41&lng=14', '/parcels/locate': '/parcels/locate?lat=41&lng=14',
  '/parcels/search': '/parcels/search?comune=H501&foglio=1', '/parcels/{id}': '/parcels/1400000000', '/admin/regions': '/admin/regions', '/admin/provinces': '/admin/provinces', '/admin/municipalities': '/admin/municipalities',
  '/admin/municipalities/{code}/quality': '/admin/municipalities/H501/quality', '/changes': '/changes?region=molise&since=2026-01-31', '/changes/publications/{publication}': '/changes/publications/42',
  ...Object.fromEntries(['', '/conformance', '/collections'].map((path) => [`/ogc${path}`, `/ogc${path}`])),
  ...Object.fromEntries(['', '/queryables', '/items', '/items/{featureId}'].map((path) => [`/ogc/collections/{collectionId}${path}`, `/ogc/collections/parcels${path.replace('{featureId}', '1400000000')}`])),
};

describeDatabase('access', (engine) => {
  let service: Service;
  let caller = 0;
  /** Returns a network address that has not made a request yet. */
  const somewhere = (): string => `198.51.100.${(caller += 1)}`;
  beforeAll(async () => {
    service = await emptyService(engine);
  });
  afterAll(() => service?.close());

  describe('tokens', () => {
    it('give access only to the endpoints of their scopes and to open endpoints', async () => {
      for (const scope of SCOPES) {
        const key = await service.token([scope]);
        for (const endpoint of ENDPOINTS) {
          const path = PATHS[endpoint.path]!;
          const answered = await service.ask(path, { key });
          expect(violationsOf(path, answered)).toEqual([]);
          if (endpoint.scope === scope || endpoint.scope === null) expect([path, [200, 404].includes(answered.status)]).toEqual([path, true]);
          else expect([path, answered.status, answered.body!['error']]).toEqual([path, 403, 'INSUFFICIENT_SCOPE']);
        }
      }
    });

    it('are not needed for open endpoints, and requests to open endpoints are counted per network', async () => {
      const open = ENDPOINTS.filter(({ scope }) => scope === null).map(({ path }) => PATHS[path]!);
      const from = '2001:db8:0:7::1';
      for (const path of open) {
        for (const key of [undefined, 'mpl_no']) expect([path, (await service.ask(path, { from, ...(key === undefined ? {} : { key }) })).status]).toEqual([path, 200]);
      }
      const { headers } = await service.ask('/ogc', { from: '2001:db8:0:7:ffff::2' });
      expect([headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']]).toEqual([String(OPEN_QUOTA), String(OPEN_QUOTA - 2 * open.length - 1)]);
      for (let left = Number(headers['x-ratelimit-remaining']); left > 0; left -= 1) await service.ask('/ogc/conformance', { from });
      const refused = await service.ask('/ogc', { from });
      expect([refused.status, refused.body!['error'], Number(refused.headers['retry-after']) > 0]).toEqual([429, 'RATE_LIMITED', true]);
      expect((await service.ask('/ogc', { from: '2001:db8:0:8::1' })).status).toBe(200);
      expect((await service.ask('/ogc/collections/parcels/items', { from })).status).toBe(401);
    });

    it('are refused with the same response if they are unknown, malformed, expired, revoked or huge', async () => {
      const valid = await service.token();
      const expired = await service.token(SCOPES, new Date(Date.now() - 1000));
      const revoked = await service.token();
      await revokeToken(service.database, (await listTokens(service.database)).at(-1)!.id);
      const bad = [
        `mpl_${'A'.repeat(43)}`, expired, revoked, valid.slice(0, -1), `${valid}A`, valid.toUpperCase(), ` ${valid.slice(1)}`, hashOf(valid), `mpl_${'a'.repeat(10_000)}`, 'null', "' or '1'='1", 'mpl_', '{}',
        `Bearer ${valid}`, `${valid}, ${valid}`,
      ];
      const answers = new Set<string>();
      for (const key of bad) {
        const path = PATHS['/admin/regions']!;
        const answered = await service.ask(path, { key, from: somewhere() });
        expect(violationsOf(path, answered)).toEqual([]);
        expect([key.slice(0, 60), answered.status]).toEqual([key.slice(0, 60), 401]);
        answers.add(answered.text);
      }
      expect(answers.size).toBe(1);
      // The challenge is not Basic, because browsers then prompt for a password. The challenge is not Bearer, because the server accepts no Bearer tokens.
      for (const options of [{}, { key: 'null', from: somewhere() }]) expect((await service.ask(PATHS['/admin/regions']!, options)).headers['www-authenticate']).toBe('ApiKey realm="mappale", header="x-api-key"');
      expect((await service.ask(PATHS['/admin/regions']!, { key: valid })).status).toBe(200);
    });

    it('are stored only as their SHA-256', async () => {
      const token = await service.token();
      expect(token).toMatch(/^mpl_[A-Za-z0-9_-]{43}$/);
      const [row] = await service.database.query<{ found: number; row: string }>("select count(*) as found, max(t::text) as row from access.token t where sha256 = decode($1, 'hex')", [hashOf(token)]);
      expect(row!.found).toBe(1);
      const [all] = await service.database.query<{ text: string }>("select string_agg(t::text, ' ') as text from access.token t");
      expect(all!.text).not.toContain(token.slice(4));
    });

    it('are refused from the moment they are revoked', async () => {
      const key = await service.token();
      expect((await service.ask('/admin/regions', { key })).status).toBe(200);
      await revokeToken(service.database, (await listTokens(service.database)).at(-1)!.id);
      expect((await service.ask('/admin/regions', { key, from: somewhere() })).status).toBe(401);
    });
  });

  describe('the rate limit', () => {
    it('allows 1,000 requests in a fixed hour that starts with the first request, and returns the end of the hour', async () => {
      const key = await service.token();
      const first = await service.ask('/admin/regions', { key });
      const reset = first.headers['x-ratelimit-reset'];
      await service.database.query("update access.rate_window set used = 998, started_at = started_at - interval '10 minutes' where token_id = (select max(token_id) from access.token)");
      const statuses: unknown[] = [];
      for (let count = 0; count < 4; count += 1) {
        const { status, headers } = await service.ask('/admin/regions', { key });
        statuses.push([status, headers['x-ratelimit-remaining'], Number(reset) - Number(headers['x-ratelimit-reset'])]);
      }
      expect(statuses).toEqual([[200, '1', 600], [200, '0', 600], [429, '0', 600], [429, '0', 600]]);
      const refused = await service.ask('/admin/regions', { key });
      expect(violationsOf('/admin/regions', refused)).toEqual([]);
      expect(refused.body).toMatchObject({ error: 'RATE_LIMITED', details: { limit: 1000 } });
      const retry = Number(refused.headers['retry-after']);
      expect((refused.body!['details'] as Record<string, unknown>)['retry_after_seconds']).toBe(retry);
      expect(Math.abs(retry - (Number(refused.headers['x-ratelimit-reset']) - Date.now() / 1000))).toBeLessThan(3);
      await service.database.query("update access.rate_window set started_at = now() - interval '1 hour' where token_id = (select max(token_id) from access.token)");
      const next = await service.ask('/admin/regions', { key });
      expect([next.status, next.headers['x-ratelimit-remaining']]).toEqual([200, '999']);
    });

    it('counts each of several simultaneous requests once', async () => {
      const key = await service.token();
      const answers = await Promise.all(Array.from({ length: 12 }, () => service.ask('/admin/regions', { key })));
      const remaining = answers.map(({ headers }) => Number(headers['x-ratelimit-remaining'])).sort((a, b) => a - b);
      expect(remaining).toEqual(Array.from({ length: 12 }, (_, index) => 988 + index));
    });

    it('applies to a token across all servers of a database', async () => {
      const key = await service.token();
      const { serviceOn } = await import('./harness.ts');
      const second = await serviceOn(service.database, service.url);
      try {
        const seen = [];
        for (const each of [service, second, service, second]) seen.push((await each.ask('/admin/regions', { key })).headers['x-ratelimit-remaining']);
        expect(seen).toEqual(['999', '998', '997', '996']);
      } finally {
        await second.close();
      }
    });
  });

  describe('bad keys', () => {
    const guess = (from: string): ReturnType<Service['ask']> => service.ask('/admin/regions', { key: `mpl_${'x'.repeat(43)}`, from });

    it('block their network address for 15 minutes after the twentieth bad key, but never block a valid key', async () => {
      const from = somewhere();
      const key = await service.token();
      for (let count = 1; count <= 20; count += 1) expect([count, (await guess(from)).status]).toEqual([count, 401]);
      const blocked = await guess(from);
      expect(violationsOf('/admin/regions', blocked)).toEqual([]);
      expect([blocked.status, blocked.body!['error']]).toEqual([429, 'TOO_MANY_ATTEMPTS']);
      expect(Number(blocked.headers['retry-after'])).toBeGreaterThan(880);
      expect(Number(blocked.headers['retry-after'])).toBeLessThanOrEqual(900);
      expect((await service.ask('/admin/regions', { key, from })).status).toBe(200);
      expect((await service.ask('/admin/regions', { key, from: somewhere() })).status).toBe(200);
      expect((await service.ask('/health', { from })).status).toBe(200);
      await service.database.query("update access.failed_attempt set started_at = now() - interval '15 minutes' where address = $1", [from]);
      expect((await guess(from)).status).toBe(401);
    });

    it('are counted per network for IPv6, and per address for IPv4 in any notation', async () => {
      for (let count = 1; count <= 20; count += 1) expect((await guess(`2001:db8:1:2::${count.toString(16)}`)).status).toBe(401);
      expect((await guess('2001:db8:1:2:ffff::1')).status).toBe(429);
      expect((await guess('2001:db8:1:3::1')).status).toBe(401);
      const v4 = somewhere();
      for (let count = 1; count <= 20; count += 1) expect((await guess(count % 2 === 0 ? v4 : `::ffff:${v4}`)).status).toBe(401);
      expect((await guess(v4)).status).toBe(429);
    });

    it('are counted per client behind a trusted proxy, and as one client behind an untrusted proxy, which one warning reports', async () => {
      const { serviceOn } = await import('./harness.ts');
      const behind = await serviceOn(service.database, service.url, { trustedProxies: ['10.0.0.0/8'] });
      try {
        for (let count = 0; count < 3; count += 1) await behind.ask('/health', { from: '10.1.2.3', headers: { 'x-forwarded-for': '203.0.113.9' } });
        expect(behind.warned).toEqual([]);
        for (let count = 0; count < 3; count += 1) await behind.ask('/health', { from: '192.168.0.7', headers: { 'x-forwarded-for': '203.0.113.9' } });
        expect(behind.warned).toEqual([expect.stringContaining('--trust-proxy')]);
        // Behind a trusted proxy, clients are counted separately. Behind an unknown proxy, all clients are counted as a single client.
        const from = '10.1.2.3';
        const bad = (each: Service, forwarded: string): ReturnType<Service['ask']> => each.ask('/admin/regions', { key: `mpl_${'x'.repeat(43)}`, from, headers: { 'x-forwarded-for': forwarded } });
        for (let count = 1; count <= 21; count += 1) expect((await bad(behind, `203.0.113.${count}`)).status).toBe(401);
        for (let count = 1; count <= 20; count += 1) expect((await bad(service, `203.0.113.${count}`)).status).toBe(401);
        expect((await bad(service, '203.0.113.21')).status).toBe(429);
      } finally {
        await behind.close();
      }
    });

    it('do not include missing keys', async () => {
      const from = somewhere();
      for (let count = 0; count < 25; count += 1) expect((await service.ask('/admin/regions', { from })).status).toBe(401);
      expect((await guess(from)).status).toBe(401);
    });

    it('are deleted from the database after 15 minutes, when further bad keys arrive', async () => {
      await service.database.query("update access.failed_attempt set started_at = now() - interval '16 minutes'");
      const [before] = await service.database.query<{ n: number }>('select count(*) as n from access.failed_attempt');
      for (let count = 0; count < 20 && before!.n > 0; count += 1) await guess(somewhere());
      const [row] = await service.database.query<{ n: number }>("select count(*) as n from access.failed_attempt where started_at < now() - interval '15 minutes'");
      expect([before!.n > 0, row!.n]).toEqual([true, 0]);
    });
  });

  it('the log contains no keys, no queries and no network addresses of clients', async () => {
    const key = await service.token();
    await service.ask('/geocode/search?q=Via%20Segreta%205', { key, from: somewhere() });
    await service.ask('/admin/regions', { key: `mpl_${'S'.repeat(43)}`, from: somewhere() });
    const lines = service.logged.join('\n');
    expect(lines).toMatch(/GET \/api\/v2\/geocode\/search 200/);
    expect(lines).not.toContain(key);
    expect(lines).not.toContain(hashOf(key));
    expect(lines).not.toContain('SSSS');
    expect(lines).not.toMatch(/Segreta/);
    expect(lines).not.toContain('198.51.100.');
  });

  it('the SQL of the server consists only of function calls', async () => {
    const { readdirSync, readFileSync } = await import('node:fs');
    const folder = new URL('../../api/', import.meta.url);
    const statements = readdirSync(folder).filter((name) => name.endsWith('.ts')).flatMap((name) => [...readFileSync(new URL(name, folder), 'utf8').matchAll(/'((?:select|insert|update|delete|with|call|do)\s[^'\n]*)'/g)].map((match) => match[1]!));
    expect(statements.length).toBeGreaterThanOrEqual(9);
    expect(statements.filter((statement) => !/^select [a-z0-9_, ]+ from api\.[a-z_]+\((\$\d(, \$\d)*)?\)$/.test(statement))).toEqual([]);
  });
});

describeDatabase('the server\'s role', (engine) => {
  let service: Service;
  beforeAll(async () => {
    // Migrates a new database, because a copy of a migrated database lacks the rights on the database object.
    const url = await engine.createDatabase();
    const database = await engine.openDatabase(url);
    await migrate(database, await loadSources());
    service = await serviceOn(database, url);
  });
  afterAll(() => service?.close());

  const asRole = async (sql: string): Promise<string> => service.database.session(async (session) => {
    await session.query('set role mappale_api');
    try {
      await session.query(sql);
      return 'done';
    } catch (error) {
      return (error as { code: string }).code;
    } finally {
      await session.query('reset role');
    }
  });

  it('is used by the connections of the server, except on PGlite', () => {
    expect(service.reader.restricted).toBe(engine.name === 'postgres');
  });

  it('cannot read or write tables', async () => {
    const tables = await service.database.query<{ name: string }>(
      `select quote_ident(n.nspname) || '.' || quote_ident(c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where c.relkind in ('r', 'p', 'v', 'm') and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast', 'public') order by 1`,
    );
    expect(tables.length).toBeGreaterThan(20);
    for (const { name } of tables) {
      expect([name, await asRole(`select from ${name} limit 1`)]).toEqual([name, 'SQL_42501']);
      expect([name, await asRole(`delete from ${name}`)]).toEqual([name, 'SQL_42501']);
    }
  });

  it('can execute only the functions of the API', async () => {
    const functions = await service.database.query<{ name: string; entry: boolean; may: boolean }>(
      `select p.oid::regprocedure::text as name, n.nspname = 'api' and p.prosecdef as entry,
         has_schema_privilege('mappale_api', n.oid, 'usage') and has_function_privilege('mappale_api', p.oid, 'execute') as may
       from pg_proc p join pg_namespace n on n.oid = p.pronamespace
       where n.nspname in ('api', 'core', 'section', 'ledger', 'access', 'layer') order by 1`,
    );
    expect(functions.filter(({ entry, may }) => entry !== may)).toEqual([]);
    expect(functions.filter(({ entry }) => entry).length).toBeGreaterThanOrEqual(10);
  });

  it('executes functions with a fixed search path, in schemas where only the owner creates objects', async () => {
    const open = await service.database.query<{ name: string }>(
      `select p.oid::regprocedure::text as name from pg_proc p
       where p.pronamespace = 'api'::regnamespace and p.prosecdef
         and not coalesce(p.proconfig, '{}') @> array['search_path=core, section, ledger, public, pg_temp']`,
    );
    expect(open).toEqual([]);
    // Four functions set a longer search path while they run.
    const choosing = await service.database.query<{ name: string; fixed: boolean }>(
      `select p.oid::regprocedure::text as name, coalesce(p.proconfig, '{}') @> array['search_path=core, section, ledger, public, pg_temp'] as fixed
       from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname in ('api', 'past', 'core') and p.prosrc ~ 'set_config[(].search_path' order by 1`,
    );
    expect(choosing).toEqual([{ name: 'api.region_record(integer,text[])', fixed: true }, { name: 'past.columns_at(integer,integer[],text[],timestamp with time zone)', fixed: true }, { name: 'past.parcels_in(integer,timestamp with time zone,geometry)', fixed: true }, { name: 'past.record_at(integer,text[],timestamp with time zone)', fixed: true }]);
    const writable = await service.database.query(
      `select nspname from pg_namespace
       where (nspname in ('core', 'section', 'ledger', 'past', 'api') or starts_with(nspname, 'region_')) and has_schema_privilege('mappale_api', oid, 'create')`,
    );
    expect(writable).toEqual([]);
  });

  it('calls functions that read the published tables even if the caller\'s search path contains other tables with the same names', async () => {
    const [parcel] = await service.database.query<{ fid: number }>('select min(fid) as fid from core.parcel');
    const calls = [
      "select head || tail as answer from api.parcel_answer($1, '{risk,address,economics}')",
      "select answer from api.parcel_as_of($1, '{risk,address,economics}', current_date)",
      "select feature as answer from api.feature($1, 'risk', null)",
      "select answer from api.parcel_columns(array[$1]::int4[], '{risk,address,solar}')",
    ];
    await service.database.session((session) => session.transaction(async () => {
      const answers = async (): Promise<unknown[]> => {
        const found: unknown[] = [];
        for (const sql of calls) found.push(...await session.query(sql, [parcel!.fid]));
        return found;
      };
      const before = await answers();
      expect(JSON.stringify(before)).toContain(String(parcel!.fid));
      await session.script('create schema callers', 'test');
      for (const table of ['core.parcel', 'core.comune', 'core.region', 'section.risk', 'section.address', 'section.economics', 'core.section_coverage', 'ledger.publication']) {
        const name = table.slice(table.indexOf('.') + 1);
        await session.script(`create temporary table ${name} (like ${table}); create table callers.${name} (like ${table})`, 'test');
      }
      await session.query('set local search_path to pg_temp, callers, public');
      expect(await answers()).toEqual(before);
      expect(await session.query("select current_setting('search_path') as path")).toEqual([{ path: 'pg_temp, callers, public' }]);
      await session.script('drop schema callers cascade; drop table pg_temp.parcel, pg_temp.comune, pg_temp.region, pg_temp.risk, pg_temp.address, pg_temp.economics, pg_temp.section_coverage, pg_temp.publication', 'test');
    }));
  });

  it('cannot create objects, delete large objects or run programs', async () => {
    for (const sql of ['create temporary table t (a int4)', 'select lo_create(0)', "select lo_from_bytea(0, 'x')", 'select lo_creat(-1)', 'select lo_unlink(1)', 'create table api.t (a int4)', 'create table public.t (a int4)', 'create schema s', 'create function api.f() returns int4 language sql as \'select 1\'', 'create role r', "copy (select 1) to program 'id'"]) {
      expect([sql, await asRole(sql)]).toEqual([sql, 'SQL_42501']);
    }
    expect(await missingRights(service.database)).toEqual([]);
  });

  it('can lock ledger.publication_lock, with which a publication waits for readers, only through the functions of the API', async () => {
    for (const mode of ['access share', 'share row exclusive', 'access exclusive']) expect([mode, await asRole(`do $$ begin lock table ledger.publication_lock in ${mode} mode; end $$`)]).toEqual([mode, 'SQL_42501']);
    // The role can take this lock only in ACCESS SHARE mode, through the functions of the API.
    await service.database.session((session) => session.transaction(async () => {
      await session.query('select api.hold_publication()');
      const held = await session.query<{ relation: string | null; mode: string }>(
        "select l.relation::regclass::text as relation, l.mode from pg_locks l where l.pid = pg_backend_pid() and (l.locktype = 'advisory' or l.relation = 'ledger.publication_lock'::regclass)",
      );
      expect(held).toEqual([{ relation: 'ledger.publication_lock', mode: 'AccessShareLock' }]);
    }));
  });
});

describeEngines('a database migrated by a role without superuser rights', (engine) => {
  it('gives the server role the required rights and no others after the statements that doctor prints are run', async () => {
    const url = await engine.createDatabase();
    const admin = await engine.openDatabase(url);
    const owner = `mappale_test_${randomBytes(6).toString('hex')}`;
    await admin.query(`create role ${owner} login password 'test'`);
    try {
      const { pathname } = new URL(url);
      await admin.query(`alter database ${pathname.slice(1)} owner to ${owner}`);
      const theirs = new URL(url);
      theirs.username = owner;
      theirs.password = 'test';
      await migrate(await engine.openDatabase(theirs.href), await loadSources());
      const missing = await missingRights(admin);
      expect(missing).toEqual([expect.stringMatching(/^revoke execute on function lo_close\(integer\), .*lo_create\(oid\).* from public;$/)]);
      const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, 'doctor'], { env: { DATABASE_URL: theirs.href, PATH: '/usr/bin:/bin' } });
      expect(stdout).toContain('note the server role may call only the API functions: 1 statement is still needed');
      expect(stdout).toContain(missing[0]);
      for (const statement of missing) await admin.query(statement);
      expect(await missingRights(admin)).toEqual([]);
      // A missing grant and a grant to all roles are also reported.
      await admin.query('revoke execute on function api.health() from mappale_api');
      await admin.query(`grant temporary on database ${pathname.slice(1)} to public`);
      expect(await missingRights(admin)).toEqual(['grant execute on function api.health() to mappale_api;', `revoke temporary on database "${pathname.slice(1)}" from public;`]);
    } finally {
      await admin.query(`reassign owned by ${owner} to current_user`);
      await admin.query(`drop owned by ${owner}`);
      await admin.query(`drop role ${owner}`);
    }
  });
}, ['postgres']);
