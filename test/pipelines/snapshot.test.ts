/** Tests the snapshots from which embedded databases are created. A snapshot must equal a database that is created without a snapshot. */
import { execFile } from 'node:child_process';
import { appendFile, cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ROOT } from '../../pipelines/config.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { foundObjects } from '../../pipelines/db/objects.ts';
import { readSnapshot } from '../../pipelines/db/pglite-snapshot.ts';
import { openDatabase, type Database } from '../../pipelines/db/index.ts';
import { EXTENSIONS, migrate } from '../../pipelines/db/migrate.ts';
import { describeEngines } from '../harness/database.ts';
import { freshContext } from '../harness/fresh-context.ts';
import { PROGRAM } from '../harness/program.ts';

let scratch: string;
let program: string;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'mappale-snapshot-'));
  program = join(scratch, 'program');
  await cp(dirname(dirname(PROGRAM)), program, { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(scratch, 'node_modules'));
  await promisify(execFile)('npm', ['run', '--silent', 'snapshot', '--', program], { cwd: ROOT });
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

/** Imports a module of the compiled program. */
const moduleOf = async <Module>(file: string): Promise<Module> => (await import(pathToFileURL(join(program, file)).href)) as Module;

/** Returns the objects, settings, roles, extensions and applied files of a database, and the number of rows of each table. */
async function contentOf(database: Database): Promise<unknown> {
  const objects = await database.session((session) => foundObjects(session));
  return {
    objects: objects.map((each) => JSON.stringify(each)).sort(),
    settings: await database.query("select name, setting, source, pending_restart from pg_settings where setting not like '/%' order by name"),
    ofRoles: await database.query('select setdatabase::regclass::text as database, setrole::regrole::text as role, setconfig from pg_db_role_setting order by 1, 2'),
    roles: await database.query('select rolname, rolsuper, rolcanlogin, rolinherit from pg_roles order by rolname'),
    extensions: await database.query('select extname, extversion from pg_extension order by extname'),
    applied: await database.query('select file, sha256, version from ledger.applied_file order by file'),
    rows: await database.query(`
      select relation, (xpath('/row/n/text()', query_to_xml(format('select count(*) as n from %s', relation), false, true, '')))[1]::text as rows
      from (select c.oid::regclass::text as relation from pg_class c join pg_namespace n on n.oid = c.relnamespace
            where c.relkind in ('r', 'p') and n.nspname not in ('pg_catalog', 'information_schema')) as t order by relation`),
  };
}

const systemOf = async (database: Database): Promise<string> =>
  (await database.query<{ id: string }>('select system_identifier::text as id from pg_control_system()'))[0]!.id;

/** Time of the first migration, which is the same in all databases from one snapshot. */
const migratedAt = async (database: Database): Promise<string> =>
  (await database.query<{ at: string }>('select min(applied_at)::text as at from ledger.applied_file'))[0]!.at;

describeEngines('an embedded database of the compiled program', (engine) => {
  let created: Database[];

  beforeAll(async () => {
    const { openDatabase } = await moduleOf<typeof import('../../pipelines/db/index.ts')>('pipelines/db/index.js');
    created = [];
    for (const name of ['first', 'second']) created.push(await openDatabase(`pglite:${join(scratch, name)}`));
  });
  afterAll(async () => {
    for (const database of created) await database.close();
  });

  it('comes from the snapshot, and no migration is left to apply', async () => {
    const [first, second] = created as [Database, Database];
    expect(await systemOf(first)).toBe(await systemOf(second));
    expect(await migrate(first, await loadSources())).toEqual({ steps: [], losses: [] });
  });

  it('equals a database that migrate creates, including the settings', async () => {
    const { database } = await freshContext(engine);
    expect(await migratedAt(database)).not.toBe(await migratedAt(created[0]!));
    expect(await contentOf(created[0]!)).toEqual(await contentOf(database));
  });
}, ['pglite']);

it('a checkout has a snapshot of the extensions, whose name contains the versions of PGlite and PostGIS from package.json', async () => {
  const { dependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { dependencies: Record<string, string> };
  const [pglite, postgis] = ['pglite', 'pglite-postgis'].map((name) => dependencies[`@electric-sql/${name}`]?.replaceAll('.', '-'));
  expect((await readdir(join(ROOT, 'pipelines/db'))).filter((file) => file.endsWith('.br'))).toEqual([`extensions-pglite-${pglite}-postgis-${postgis}.br`]);
  expect((await readSnapshot())?.size).toBeGreaterThan(1e6);
});

/** Returns the extensions with their functions and other objects, the reference systems of PostGIS, the settings and the roles. */
async function extensionsOf(database: Database): Promise<unknown> {
  return {
    extensions: await database.query('select extname, extversion, extnamespace::regnamespace::text as schema from pg_extension order by extname'),
    functions: await database.query(`
      select p.oid::regprocedure::text as name, p.prosrc, p.probin, p.provolatile, p.proparallel, p.procost
      from pg_proc p join pg_depend d on d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e' order by 1`),
    others: await database.query(`
      select pg_describe_object(classid, objid, 0) as object from pg_depend where deptype = 'e' and classid <> 'pg_proc'::regclass order by 1`),
    references: await database.query('select count(*)::int as systems, md5(string_agg(s::text, chr(10) order by s.srid)) as digest from spatial_ref_sys s'),
    // Leaves out settings with a dot, which appear only after the session has loaded their library.
    settings: await database.query("select name, setting, source from pg_settings where setting not like '/%' and name not like '%.%' order by name"),
    roles: await database.query('select rolname, rolsuper, rolcanlogin, rolinherit from pg_roles order by rolname'),
  };
}

it('the compiled program uses no snapshot if its SQL or a source\'s layers changed, and creates the same extensions as a checkout\'s snapshot', async () => {
  const { readSnapshot: snapshotOfProgram } = await moduleOf<typeof import('../../pipelines/db/pglite-snapshot.ts')>('pipelines/db/pglite-snapshot.js');
  const { openDatabase: openInProgram } = await moduleOf<typeof import('../../pipelines/db/index.ts')>('pipelines/db/index.js');
  expect((await snapshotOfProgram())?.size).toBeGreaterThan(1e6);
  const layers = join(program, 'sources/postal_codes/layers.js');
  const before = await readFile(layers);
  await appendFile(layers, '\n// changed\n');
  expect(await snapshotOfProgram()).toBeUndefined();
  await writeFile(layers, before);
  expect((await snapshotOfProgram())?.size).toBeGreaterThan(1e6);
  const [migration = ''] = (await readdir(join(program, 'sql/migrations'))).slice(-1);
  await appendFile(join(program, 'sql/migrations', migration), '\n-- changed\n');
  expect(await snapshotOfProgram()).toBeUndefined();

  const [created, copied] = [await openInProgram('pglite:memory'), await openDatabase('pglite:memory')];
  try {
    for (const extension of EXTENSIONS) await created.query(`create extension ${extension}`);
    expect(await systemOf(created)).not.toBe(await systemOf(copied));
    expect(await extensionsOf(copied)).toEqual(await extensionsOf(created));
  } finally {
    await created.close();
    await copied.close();
  }
});
