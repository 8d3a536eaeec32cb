/** Reads the published content and the history of a database, and finds tables that contradict the ledger, even after processes were killed. */
import { digestOf } from '../../pipelines/db/comparing.ts';
import { splitOf } from '../../pipelines/db/partitions.ts';
import { openDatabase, type Database, type Session } from '../../pipelines/db/index.ts';
import { schemaOf, tableOf, type Relation } from '../../pipelines/contract/sql-files.ts';

/** Opens a database that no run is using, runs a task and closes the database. */
export async function withDatabase<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase(url);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

interface Listed extends Record<string, unknown> {
  readonly region: number;
  readonly state: 'current' | 'previous' | 'past';
  readonly relation: Relation;
  /** Name of the partition in the ledger. The name identifies the content. */
  readonly partition: string;
  /** Table that stores the rows. */
  readonly heldIn: string;
  readonly rows: number;
  readonly digest: string;
}

async function listed(session: Session): Promise<Listed[]> {
  const [made] = await session.query<{ there: boolean }>("select to_regclass('ledger.publication_table') is not null as there");
  if (!made!.there) return [];
  return session.query<Listed>(
    `select p.unit_code::int4 as region, p.state, t.relation, t.partition, coalesce(to_jsonb(t) ->> 'held_in', t.partition) as "heldIn", t.rows, t.digest
     from ledger.publication p join ledger.publication_table t using (publication_id) order by 1, 2, 3, 4`,
  );
}

/** Returns the current content from the ledger. Maps `region relation` to rows and digest. */
export async function currentContent(database: Database): Promise<Record<string, string>> {
  const rows = await database.session(listed);
  return Object.fromEntries(rows.filter(({ state }) => state === 'current').map(({ region, relation, rows: count, digest }) => [`${region} ${relation}`, `${count} rows, ${digest}`]));
}

/** Maps `region history.table` to the number of rows and a digest of each history table with rows. The digest does not depend on swap numbers. */
export async function keptHistory(database: Database): Promise<Record<string, string>> {
  const tables = await database.query<{ name: string; region: number }>(
    `select c.relname as name,
       case when to_regclass('core.' || c.relname) in (select oid from pg_class where relkind = 'r') then 0 else 14 end as region
     from pg_class c where c.relnamespace = to_regnamespace('history') and c.relkind = 'r' order by 1`,
  );
  const found: Record<string, string> = {};
  for (const { name, region } of tables) {
    const [kept] = await database.query<{ rows: number; digest: string }>(
      `select count(*) as rows, coalesce(sum(hashtextextended((to_jsonb(h) - '{from_swap,until_swap}'::text[])::text, 0)::numeric), 0)::text as digest
       from history."${name}" h`,
    );
    if (kept!.rows > 0) found[`${region} history.${name}`] = `${kept!.rows} rows, ${kept!.digest}`;
  }
  return found;
}

/** Returns the digests of the current content of published tables, and of the history. */
export async function everPublished(database: Database): Promise<Record<string, string>> {
  return { ...(await currentContent(database)), ...(await keptHistory(database)) };
}

/** Returns the current content from the tables that readers use. A table that does not exist or is not attached is `missing`. */
export async function recount(database: Database): Promise<Record<string, string>> {
  return database.session(async (session) => {
    const found: Record<string, string> = {};
    for (const { relation, heldIn, region } of (await listed(session)).filter(({ state }) => state === 'current')) {
      const whole = (await splitOf(session, relation)) === 'whole';
      const place = { schema: schemaOf(relation), table: whole ? tableOf(relation) : heldIn };
      const [there] = await session.query<{ attached: boolean }>(
        `select $3 and c.relkind = 'r' or exists (select from pg_inherits i join pg_class p on p.oid = i.inhparent where i.inhrelid = c.oid and p.relname = $4) as attached
         from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relname = $2`, [place.schema, place.table, whole, tableOf(relation)],
      );
      if (there?.attached !== true) {
        found[`${region} ${relation}`] = 'missing';
        continue;
      }
      const { rows, digest } = await digestOf(session, place.schema, place.table);
      found[`${region} ${relation}`] = `${rows} rows, ${digest}`;
    }
    return found;
  });
}

/** Returns workspaces, tables that the ledger does not list, and tables that the ledger lists but that do not exist. Empty after a successful run. */
export async function orphans(database: Database): Promise<string[]> {
  return database.session(async (session) => {
    const all = await listed(session);
    const known = new Set(all.flatMap(({ partition, heldIn }) => [partition, heldIn, `${partition}_rows`, `${partition}_fids`]));
    // The ledger still lists the tables of past publications, even after they were pruned.
    const patched = all.filter(({ state, region, relation, partition, heldIn }) => state === 'previous'
      && all.some((now) => now.state === 'current' && now.region === region && now.relation === relation && now.heldIn === heldIn && now.partition !== partition));
    const lasting = new Set([
      ...all.filter(({ state }) => state !== 'past').map(({ heldIn }) => heldIn), ...patched.flatMap(({ partition }) => [`${partition}_rows`, `${partition}_fids`]),
    ]);
    const loaded = new Set((await session.query<{ id: number }>("select release_id as id from ledger.release where state = 'loaded'")).map(({ id }) => id));
    const workspaces = await session.query<{ name: string }>(String.raw`select nspname as name from pg_namespace where nspname ~ '^(staging|build)_' order by 1`);
    // Parent tables are partitioned (kind p). Tables that are swapped as a whole, and the register of fids, which is never swapped, are created by a migration.
    const tables = await session.query<{ schema: string; name: string; child: boolean }>(
      `select n.nspname as schema, c.relname as name, c.relispartition as child from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname in ('layer', 'core', 'section', 'previous') and c.relkind = 'r'
         and not exists (select from pg_inherits i where i.inhrelid = c.oid and i.inhparent = to_regclass('core.parcel_register')) order by 1, 2`,
    );
    const strange = tables.filter(({ schema, name, child }) => {
      if (schema === 'layer') return !loaded.has(Number(/_(\d+)$/.exec(name)?.[1]));
      if (schema === 'previous' || child) return !known.has(name);
      return false;
    });
    const unknown = [...workspaces.map(({ name }) => `schema ${name}`), ...strange.map(({ schema, name }) => `${schema}.${name}`)];
    const lost = [...lasting].filter((partition) => !tables.some(({ name }) => name === partition));
    const whole = new Set(all.filter(({ state, relation }) => state === 'current' && tables.some(({ schema, name }) => `${schema}.${name}` === relation)).map(({ heldIn }) => heldIn));
    return [...unknown, ...lost.filter((partition) => !whole.has(partition)).map((partition) => `${partition} is in the ledger but is no table`)];
  });
}
