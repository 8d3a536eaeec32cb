/**
 * Tests that missing and different objects of a database are reported and repaired. `sql/objects.json` lists the objects of a new database. After a change
 * of SQL files, write the file again with `npx vitest run test/pipelines/objects.test.ts -u`.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ROOT } from '../../pipelines/config.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { migrate } from '../../pipelines/db/migrate.ts';
import type { Database } from '../../pipelines/db/index.ts';
import { damageOf, expectedObjects, filesDigest, foundObjects, OBJECTS_FILE, type Damage, type Found } from '../../pipelines/db/objects.ts';
import { layerObjects } from '../../pipelines/db/layer-objects.ts';
import { makeRegionSchema } from '../../pipelines/db/region-schemas.ts';
import { sectionObjects } from '../../pipelines/db/section-objects.ts';
import { partsOf } from '../../pipelines/db/state.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { refresh } from '../../pipelines/run/refresh.ts';
import { askEach, regionService, serviceOn, type Service } from '../api/harness.ts';
import { mappale } from '../harness/faults/machine.ts';
import { describeDatabase, describeEngines } from '../harness/database.ts';
import { testEnvironment } from '../harness/environment.ts';
import { contextOn, loadOptions, syntheticFiles } from '../harness/region.ts';

const sources = await loadSources();
const LAYERS = sources.flatMap(({ layers }) => layerObjects(layers));

const byName = (a: { kind: string; name: string }, b: { kind: string; name: string }): number => (`${a.kind} ${a.name}` < `${b.kind} ${b.name}` ? -1 : 1);

/** Returns the content of `sql/objects.json` for these objects. The file does not list objects that equal an object of `sectionObjects` or `layerObjects`. */
function textOf(found: readonly Found[]): string {
  const objects: Record<string, Record<string, string>> = {};
  const derived = new Set([...sectionObjects(partitionKeys(found)), ...LAYERS].map(({ kind, name, definition }) => `${kind} ${name} ${definition}`));
  for (const { kind, name, definition } of found.filter((each) => !derived.has(`${each.kind} ${each.name} ${each.definition}`)).sort(byName)) (objects[kind] ??= {})[name] = definition;
  return `${JSON.stringify({ files: filesDigest(partsOf(sources)), objects }, null, 1)}\n`;
}

function partitionKeys(found: readonly Found[]): Record<string, string> {
  return Object.fromEntries(found.filter(({ kind }) => kind === 'table').map(({ name, definition }) => [name, definition]));
}

describeEngines('the objects of a new database', (engine) => {
  it('equal sql/objects.json and the objects of the sections and layers (npx vitest run test/pipelines/objects.test.ts -u)', async () => {
    const database = await engine.openDatabase();
    await migrate(database, sources);
    const found = await database.session(async (session) => {
      await session.query('begin');
      // A database contains such a schema for each published region.
      await makeRegionSchema(session, 'region_0', 'no region', new Map());
      const objects = await foundObjects(session);
      await session.query('rollback');
      return objects;
    });
    const expected = [...sectionObjects(partitionKeys(found)), ...LAYERS];
    expect(expected.length).toBeGreaterThan(1_000);
    expect(found.filter(({ kind, name }) => ['table', 'column', 'index'].includes(kind) && name.startsWith('layer.')).map(({ kind, name, definition }) => ({ kind, name, definition })).sort(byName)).toEqual([...LAYERS].sort(byName));
    expect(expected.filter(({ kind, name }) => !found.some((each) => each.kind === kind && each.name === name))).toEqual([]);
    await expect(textOf(found)).toMatchFileSnapshot(join(ROOT, OBJECTS_FILE));
  });
});

const LISTS = ['ade_cadastre', 'istat_comuni', 'istat_soppressi', 'anncsu_addresses'];
const { seed } = testEnvironment();
const say = `MAPPALE_TEST_SEED=${seed}`;
const random = randomOf('objects', seed);
const EXPECTED = (expectedObjects(partsOf(sources))?.objects ?? {}) as Record<string, Record<string, string>>;
const PARTS = partsOf(sources);

const drawn = new Set<string>();

/** Returns a random name of an object of the given kind that matches the pattern and was not drawn before. */
function draw(kind: string, matches: RegExp): string {
  const name = random.pick(Object.keys(EXPECTED[kind]!).filter((each) => matches.test(each) && !drawn.has(each)));
  drawn.add(name);
  return name;
}

describeDatabase('a database with a published region', (engine) => {
  let service: Service & { readonly region: { readonly code: number } };
  let key: string;
  const damage = (): Promise<Damage[]> => service.database.session((session) => damageOf(session, PARTS));
  const named = async (): Promise<string[]> => (await damage()).map(({ kind, name, found }) => `${kind} ${name} ${found === null ? 'missing' : 'changed'}`);
  const one = async (sql: string, ...parameters: unknown[]): Promise<string> => (await service.database.query<{ text: string }>(sql, parameters))[0]!.text;
  const search = async (): Promise<string> => (await service.ask('/geocode/search?q=via%20roma%201', { key })).text;

  beforeAll(async () => {
    service = await regionService(engine, 60, 4, { only: LISTS, comuni: 2 });
    key = await service.token();
  });
  afterAll(() => service?.close());

  it('has every object of this version', async () => {
    expect(await damage()).toEqual([]);
  });

  /** Kinds of damage. Each function damages the database and returns the expected report. */
  const damages: Readonly<Record<string, () => Promise<string>>> = {
    async 'a dropped function of the API'() {
      const name = draw('function', /^api\./);
      await service.database.query(`drop function ${name}`);
      return `function ${name} missing`;
    },
    async 'a dropped function of the schema past'() {
      // Only these functions can be dropped, because views depend on the other functions.
      const name = draw('function', /^past\.(record_at|since|swap_at)\(/);
      await service.database.query(`drop function ${name}`);
      return `function ${name} missing`;
    },
    async 'a function with a different body'() {
      const written = await service.database.query<{ name: string; definition: string }>(
        `select p.oid::regprocedure::text as name, pg_get_functiondef(p.oid) as definition from pg_proc p join pg_language l on l.oid = p.prolang
         where p.pronamespace in ('api'::regnamespace, 'past'::regnamespace) and l.lanname = 'plpgsql' order by 1`,
      );
      const { name, definition } = random.pick(written.filter((each) => !drawn.has(each.name.replaceAll(',', ', '))));
      drawn.add(name.replaceAll(',', ', '));
      await service.database.query(definition.replace(/\nbegin\n/, '\nbegin\n  perform 1;\n'));
      return `function ${name.replaceAll(',', ', ')} changed`;
    },
    async 'a function with different settings'() {
      const name = draw('function', /^core\./);
      await service.database.query(`alter function ${name} set work_mem to '8MB'`);
      return `function ${name} changed`;
    },
    async 'a revoked grant'() {
      const granted = Object.keys(EXPECTED['grant']!).filter((each) => each.includes('(') && EXPECTED['grant']![each] === 'mappale_api');
      const name = random.pick(granted.filter((each) => !drawn.has(each)));
      drawn.add(name);
      await service.database.query(`revoke execute on function ${name} from mappale_api`);
      return `grant ${name} changed`;
    },
    async 'a function that everyone may execute'() {
      const name = draw('grant', /\(/);
      await service.database.query(`grant execute on function ${name} to public`);
      return `grant ${name} changed`;
    },
    async 'a dropped index'() {
      const name = draw('index', / /);
      const [table = '', ...definition] = name.split(' ');
      const index = await one(
        `select c.oid::regclass::text as text from pg_index x join pg_class c on c.oid = x.indexrelid
         where x.indrelid = $1::regclass and right(pg_get_indexdef(c.oid), length($2)) = $2 and not exists (select from pg_constraint k where k.conindid = c.oid)`, table, definition.join(' ').replace('UNIQUE ', ''),
      );
      await service.database.query(`drop index ${index}`);
      return `index ${name} missing`;
    },
    async 'a dropped constraint'() {
      const name = draw('constraint', / (CHECK|UNIQUE|FOREIGN KEY) /);
      const at = name.indexOf(' ');
      const constraint = await one('select quote_ident(conname) as text from pg_constraint where conrelid = $1::regclass and pg_get_constraintdef(oid) = $2', name.slice(0, at), name.slice(at + 1));
      await service.database.query(`alter table ${name.slice(0, at)} drop constraint ${constraint}`);
      return `constraint ${name} missing`;
    },
    async 'a dropped primary key'() {
      // Only these primary keys can be dropped, because no other object depends on them.
      const name = draw('constraint', /^(section|history)\.\w+ PRIMARY KEY /);
      const table = name.slice(0, name.indexOf(' '));
      await service.database.query(`alter table ${table} drop constraint ${await one("select quote_ident(conname) as text from pg_constraint where conrelid = $1::regclass and contype = 'p'", table)}`);
      return `constraint ${name} missing`;
    },
    async 'a dropped regional view'() {
      const name = draw('view', /^region_N\./).replace('region_N', `region_${service.region.code}`);
      await service.database.query(`drop view ${name} cascade`);
      return `view ${name} missing`;
    },
    async 'a dropped view of the schema past'() {
      const name = draw('view', /^past\./);
      await service.database.query(`drop view ${name}`);
      return `view ${name} missing`;
    },
  };

  const repaired = async (harms: readonly (() => Promise<string>)[]): Promise<void> => {
    const before = await search();
    const expected: string[] = [];
    for (const harm of harms) expected.push(await harm());
    expect(await named(), say).toEqual(expect.arrayContaining(expected));
    expect((await named()).length, say).toBe(expected.length);
    const { steps } = await migrate(service.database, sources, { dry: true });
    expect(steps.filter((step) => step.startsWith('repaired: ')).length, say).toBe(expected.length);
    expect((await named()).length, `${say}, after a dry run`).toBe(expected.length);
    await migrate(service.database, sources);
    expect(await damage(), say).toEqual([]);
    expect(await search(), say).toBe(before);
  };

  it(`is reported as damaged and is repaired after ${Object.keys(damages).join(', ')}`, () => repaired(Object.values(damages)));

  it('is reported as damaged and is repaired after one random kind of damage', () => repaired([random.pick(Object.values(damages))]));

  it('is repaired after the API schema and a regional schema were dropped', async () => {
    await service.database.query('drop schema api cascade');
    await service.database.query(`drop schema region_${service.region.code} cascade`);
    expect(await named()).toEqual(expect.arrayContaining(['schema api missing', `schema region_${service.region.code} missing`]));
    await migrate(service.database, sources);
    expect(await damage()).toEqual([]);
  });

  // The test keeps the database open, and only one process can open an embedded database.
  const withOtherProcesses = it.skipIf(engine.name === 'pglite');

  withOtherProcesses('is reported by doctor if a partition is detached', async () => {
    const table = `core.parcel_${service.region.code}`;
    const partition = await one("select inhrelid::regclass::text as text from pg_inherits where inhparent = 'core.parcel'::regclass");
    const bound = await one('select pg_get_expr(relpartbound, oid) as text from pg_class where oid = $1::regclass', partition);
    await service.database.query(`alter table core.parcel detach partition ${partition}`);
    const { stdout } = await mappale(service.url, 'doctor');
    await service.database.query(`alter table core.parcel attach partition ${partition} ${bound}`);
    expect([partition.startsWith(table), stdout]).toEqual([true, expect.stringMatching(/FAIL the published partitions .* detached, such as .* of core\.parcel \[PARTITION_MISSING\]/) as string]);
  });

  withOtherProcesses('is not served if tables or columns are lost, while migrate repairs all other objects and reports the next step', async () => {
    const name = draw('function', /^api\./);
    const table = draw('table', /^layer\./);
    const column = draw('column', /^ledger\.(run|reject|step)\.(outcome|raw|host|detail|code|arguments)/);
    const [schema, relation, field] = column.split('.') as [string, string, string];
    await service.database.query(`drop function ${name}`);
    await service.database.query(`drop table ${table} cascade`);
    await service.database.query(`alter table ${schema}.${relation} drop column ${field} cascade`);
    const lost = [`column ${column} missing`, `table ${table} missing`];
    expect(await named(), say).toEqual(expect.arrayContaining([`function ${name} missing`, ...lost]));
    for (const command of [['doctor'], ['serve', '--port', '0']]) {
      const { code, stdout, stderr } = await mappale(service.url, ...command);
      expect([code, `${stdout}${stderr}`], say).toEqual([6, expect.stringContaining('CATALOGUE_DAMAGED') as string]);
      for (const object of [`function ${name} is missing`, `table ${table} is missing`, `column ${column} is missing`]) expect(`${stdout}${stderr}`, say).toContain(object);
    }
    await expect(migrate(service.database, sources), say).rejects.toMatchObject({ code: 'CATALOGUE_DAMAGED', exitCode: 6, hint: expect.stringContaining('Restore a dump') as string });
    expect((await damage()).filter(({ kind }) => kind === 'function'), say).toEqual([]);
    expect(await named(), say).toContain(`column ${column} missing`);
  });

  it('keeps a missing function missing and the history tables unchanged while a table of the schema section is lost', async () => {
    const [name, table] = [draw('function', /^api\./), draw('table', /^section\./)];
    await service.database.query(`drop function ${name}`);
    await service.database.query(`drop table ${table} cascade`);
    const kept = "select string_agg(attrelid::regclass || '.' || attname, ',' order by attrelid::regclass::text, attnum) as text from pg_attribute where attrelid in (select oid from pg_class where relnamespace = 'history'::regnamespace)";
    const history = await one(kept);
    await expect(migrate(service.database, sources), say).rejects.toMatchObject({ code: 'CATALOGUE_DAMAGED' });
    expect(await named(), say).toEqual(expect.arrayContaining([`function ${name} missing`, `table ${table} missing`]));
    expect(await one(kept), say).toBe(history);
  });
});

/** Major version of `pg_dump`, or 0 if the program is not installed. `pg_dump` refuses a server of a newer version. */
const dumpVersion = await promisify(execFile)('pg_dump', ['--version']).then(({ stdout }) => Number(/\d+/.exec(stdout)?.[0]), () => 0);

describeEngines(`a dump${dumpVersion > 0 ? '' : ' [not run: pg_dump is not installed]'}`, (engine) => {
  it.skipIf(dumpVersion === 0)('is restored completely by an owner without superuser rights', async (context) => {
    const admin = await engine.openDatabase();
    const [server] = await admin.query<{ version: number }>("select current_setting('server_version_num')::int4 / 10000 as version");
    if (dumpVersion < server!.version) return context.skip(`pg_dump ${dumpVersion} does not read PostgreSQL ${server!.version}`);
    const folder = await mkdtemp(join(tmpdir(), 'mappale-dump-'));
    const files = await syntheticFiles(60, 5, { only: LISTS, comuni: 2 });
    const role = `mappale_test_owner_${process.pid}`;
    const owned = async (): Promise<string> => {
      const url = new URL(await engine.createDatabase());
      await admin.query(`alter database ${url.pathname.slice(1)} owner to ${role}`);
      [url.username, url.password] = [role, 'owner'];
      urls.push(url.href);
      return url.href;
    };
    const run = promisify(execFile);
    const answers = async (database: Database, url: string): Promise<unknown[]> => {
      const service = await serviceOn(database, url);
      try {
        const key = await service.token();
        const paths = ['/geocode/search?q=via%20roma%201', '/geocode/search?q=via%20rmoa', `/geocode/search?q=${encodeURIComponent(files.region.comuni[0].name.slice(0, -1))}`, `/parcels/${files.region.code}00000000`];
        return (await askEach(service, paths, key)).map(({ status, body }, index) => [paths[index], status, body]);
      } finally {
        await service.close();
      }
    };
    await admin.query(`create role ${role} login password 'owner'`);
    const urls: string[] = [];
    try {
      const [from, to] = [await owned(), await owned()];
      const source = await engine.openDatabase(from);
      const { failures } = await refresh(await contextOn(source), loadOptions([files.folder], [files.region.code]));
      expect(failures).toEqual([]);
      const dump = join(folder, 'dump');
      await run('pg_dump', ['--format', 'custom', '--file', dump, from]);
      const { stderr } = await run('pg_restore', ['--no-owner', '--dbname', to, dump]).catch((error: unknown) => error as { stderr: string });
      // Errors about extensions are expected, because the extensions already exist and belong to the administrator.
      expect(stderr.split('\n').filter((line) => line.includes('error: ') && !/extension|spatial_ref_sys/.test(line))).toEqual([]);
      const restored = await engine.openDatabase(to);
      expect(await restored.session((session) => damageOf(session, PARTS))).toEqual([]);
      expect(await answers(restored, to)).toEqual(await answers(source, from));
    } finally {
      for (const url of urls) await admin.query(`drop database ${new URL(url).pathname.slice(1)} with (force)`);
      await admin.query(`drop role ${role}`);
      await files.remove();
      await rm(folder, { recursive: true, force: true });
    }
  });
}, ['postgres']);
