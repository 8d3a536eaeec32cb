/** Restores databases that earlier versions created (`scripts/migration-fixture.sh`), and reads the content that a migration must keep. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { ident, openDatabase, type Database, type Session } from '../../pipelines/db/index.ts';
import { ROOT } from './architecture/project.ts';
import type { TestEngine } from './database.ts';

const FOLDER = join(ROOT, 'test/migration/fixture');

/** Names of the fixtures. Each name is the commit that created the fixture. */
export const FIXTURES: readonly string[] = readdirSync(FOLDER).sort();

interface About {
  readonly commit: string;
  readonly postgres: string;
  readonly postgis: string;
  readonly token: string;
}

export interface Fixture {
  readonly about: About;
  /** Maps paths below the base address to their responses. */
  readonly answers: Readonly<Record<string, unknown>>;
  /** Restores a database without migrating it. @returns its URL */
  restore(engine: TestEngine): Promise<string>;
  /** Returns the files that were loaded last. Remove the files afterwards. */
  files(): Promise<{ folder: string; remove(): Promise<void> }>;
}

export function fixture(name: string): Fixture {
  const folder = join(FOLDER, name);
  const unpacked = (file: string): string => gunzipSync(readFileSync(join(folder, file))).toString('utf8');
  return {
    about: JSON.parse(readFileSync(join(folder, 'about.json'), 'utf8')) as About,
    answers: JSON.parse(unpacked('answers.json.gz')) as Record<string, unknown>,
    async restore(engine) {
      const url = await engine.createDatabase();
      const database = await openDatabase(url);
      try {
        await database.session(async (session) => {
          // Roles belong to the server and are not part of a dump.
          const [role] = await session.query<{ there: boolean }>("select exists (select from pg_roles where rolname = 'mappale_api') as there");
          if (!role!.there) await session.query('create role mappale_api nologin').catch(() => undefined);
          await session.script(unpacked('dump.sql.gz'), `${name}/dump.sql`);
          await session.query('analyze');
        });
      } finally {
        await database.close();
      }
      return url;
    },
    async files() {
      const scratch = await mkdtemp(join(tmpdir(), 'mappale-migration-'));
      await promisify(execFile)('tar', ['-xzf', join(folder, 'data.tar.gz'), '-C', scratch]);
      return { folder: join(scratch, 'data'), remove: () => rm(scratch, { recursive: true, force: true }) };
    },
  };
}

/** Columns of each table, sorted by name. */
export type Shape = ReadonlyMap<string, readonly string[]>;

/** Schemas whose rows a migration must not change. */
const KEPT = ['access', 'core', 'layer', 'ledger', 'previous', 'section'];
/** Columns that later versions no longer keep, with the reason. */
const LET_GO: readonly RegExp[] = [
  // The ledger now records the arrival of each file, because files become current one by one.
  /^ledger\.release\.last_seen_run$/,
  // Parcels now refer to their document, which stays the same if a publisher issues the document again.
  /^(core|previous)\.parcel_\d+_\d+(_rows)?\.(release_id|member_id|position)$/,
];
/** Tables in which the program records the SQL files that it applied. */
const OWN: readonly string[] = ['ledger.applied_file'];

/** Returns the tables that store rows, with the columns that a migration must keep. Partitioned parent tables store no rows. */
export async function shapeOf(session: Session): Promise<Shape> {
  const rows = await session.query<{ table: string; columns: string[] }>(
    `select format('%s.%s', n.nspname, c.relname) as table, array_agg(a.attname::text order by a.attname collate "C") as columns
     from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where n.nspname = any ($1) and c.relkind = 'r' group by 1 order by 1`, [KEPT],
  );
  return new Map(rows.filter(({ table }) => !OWN.includes(table)).map(({ table, columns }) => [table, columns.filter((column) => !LET_GO.some((each) => each.test(`${table}.${column}`)))]));
}

/** Maps each table to its number of rows and a digest of the given columns, or to `gone: …` if the table or a column is missing. */
export async function contentOf(session: Session, shape: Shape): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  const now = await shapeOf(session);
  for (const [table, columns] of shape) {
    const there = now.get(table);
    const missing = there === undefined ? ['the table'] : columns.filter((column) => !there.includes(column));
    if (missing.length > 0) {
      found[table] = `gone: ${missing.join(', ')}`;
      continue;
    }
    const [schema, name] = table.split('.') as [string, string];
    const [row] = await session.query<{ rows: number; digest: string }>(
      `select count(*) as rows, md5(coalesce(string_agg(r, e'\\n' order by r collate "C"), '')) as digest
       from (select row(${columns.map((column) => `t.${ident(column)}`).join(', ')})::text as r from ${ident(schema, name)} t) x`,
    );
    found[table] = `${row!.rows} rows, ${row!.digest}`;
  }
  return found;
}

/** Fields that each request computes by rules that have changed. The comune now replaces a missing locality, and the score depends on the match. */
const MADE_ANEW = ['formatted_address', 'score'];

/** Returns the values of an earlier response that a later response lacks or changes. Added fields and the fields of `MADE_ANEW` are not reported. */
export function differences(was: unknown, now: unknown, path = ''): string[] {
  if (Array.isArray(was)) {
    // A record of the later version may have more sections.
    if (Array.isArray(now) && path.endsWith('.sections_included')) return was.every((each) => now.includes(each)) ? [] : [`${path}: ${JSON.stringify(now)}`];
    if (!Array.isArray(now) || now.length !== was.length) return [`${path}: ${JSON.stringify(was)} → ${JSON.stringify(now)}`];
    return was.flatMap((each, index) => differences(each, now[index], `${path}[${index}]`));
  }
  if (typeof was === 'object' && was !== null) {
    if (typeof now !== 'object' || now === null || Array.isArray(now)) return [`${path}: ${JSON.stringify(was)} → ${JSON.stringify(now)}`];
    return Object.entries(was).filter(([key]) => !MADE_ANEW.includes(key)).flatMap(([key, value]) => (key in now ? differences(value, (now as Record<string, unknown>)[key], `${path}.${key}`) : [`${path}.${key} is gone`]));
  }
  return was === now ? [] : [`${path}: ${JSON.stringify(was)} → ${JSON.stringify(now)}`];
}

/** Returns the number of rows and a digest of each current table of each region. Fids are replaced by references, and ids of this database are left out. */
export async function publishedByReference(database: Database): Promise<Record<string, string>> {
  const tables = await database.query<{ region: number; relation: string; partition: string }>(
    `select p.unit_code::int4 as region, t.relation, coalesce(to_jsonb(t) ->> 'held_in', t.partition) as partition from ledger.publication p join ledger.publication_table t using (publication_id)
     where p.state = 'current' order by 1, 2`,
  );
  const found: Record<string, string> = {};
  for (const { region, relation, partition } of tables) {
    const [schema, name] = relation.split('.') as [string, string];
    const table = region === 0 ? name : partition;
    const columns = (await database.query<{ name: string }>(
      "select attname as name from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped and attname <> all ('{release_id,member_id,position,document_id,file_id,fid}') order by attname", [ident(schema, table)],
    )).map(({ name: column }) => column);
    const [keyed] = await database.query<{ fid: boolean }>("select exists (select from pg_attribute where attrelid = to_regclass($1) and attname = 'fid' and not attisdropped) as fid", [ident(schema, table)]);
    const [row] = await database.query<{ rows: number; digest: string }>(
      `select count(*) as rows, md5(coalesce(string_agg(r, e'\\n' order by r collate "C"), '')) as digest
       from (select row(${[...columns.map((column) => `t.${ident(column)}`), ...(keyed!.fid ? ['p.reference'] : [])].join(', ')})::text as r
         from ${ident(schema, table)} t ${keyed!.fid ? 'join core.parcel p on p.fid = t.fid' : ''}) x`,
    );
    found[`${region} ${relation}`] = `${row!.rows} rows, ${row!.digest}`;
  }
  return found;
}
