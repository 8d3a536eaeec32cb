/** Tests the data dictionary: comments on tables, columns and API functions, the declared tables of the sections, and dependencies of published tables. */
import { expect, it } from 'vitest';
import { SECTIONS } from '../../pipelines/contract/sections.ts';
import { commentOf } from '../../pipelines/db/section-tables.ts';
import { describeDatabase } from '../harness/database.ts';
import type { Database } from '../../pipelines/db/index.ts';
import { freshContext } from '../harness/fresh-context.ts';

const SCHEMAS = ['core', 'section', 'layer', 'ledger', 'history', 'api'];

describeDatabase('the data dictionary', (engine) => {
  let opened: Promise<Database> | undefined;
  const migrated = (): Promise<Database> =>
    (opened ??= freshContext(engine).then(({ database }) => database));

  it('has a comment on every table and view', async () => {
    const database = await migrated();
    const tables = await database.query<{ name: string; comment: string | null }>(
      `select n.nspname || '.' || c.relname as name, obj_description(c.oid, 'pg_class') as comment
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = any($1) and c.relkind in ('r', 'p', 'v', 'm') and not c.relispartition
       order by 1`,
      [SCHEMAS],
    );
    expect(tables.length).toBeGreaterThan(10);
    expect(tables.filter(({ comment }) => comment === null || comment.trim() === '').map(({ name }) => name)).toEqual([]);
  });

  it('has a comment on every column', async () => {
    const database = await migrated();
    const columns = await database.query<{ name: string; comment: string | null }>(
      `select n.nspname || '.' || c.relname || '.' || a.attname as name, col_description(c.oid, a.attnum) as comment
       from pg_class c
       join pg_namespace n on n.oid = c.relnamespace
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       where n.nspname = any($1) and c.relkind in ('r', 'p', 'v', 'm') and not c.relispartition
       order by 1`,
      [SCHEMAS],
    );
    expect(columns.length).toBeGreaterThan(50);
    expect(columns.filter(({ comment }) => comment === null || comment.trim() === '').map(({ name }) => name)).toEqual([]);
  });

  it('states the meaning of null for every published column that may be null', async () => {
    const database = await migrated();
    const columns = await database.query<{ name: string }>(
      `select n.nspname || '.' || c.relname || '.' || a.attname as name
       from pg_class c
       join pg_namespace n on n.oid = c.relnamespace
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and not a.attnotnull
       where n.nspname in ('core', 'section') and c.relkind in ('r', 'p') and not c.relispartition
         and coalesce(col_description(c.oid, a.attnum), '') not ilike '%null%'
       order by 1`,
    );
    expect(columns.map(({ name }) => name)).toEqual([]);
  });

  it.each(SECTIONS)('has the tables of the section $name as declared: columns, types, key and descriptions', async ({ tables }) => {
    const database = await migrated();
    for (const [relation, { description, key, columns }] of Object.entries(tables)) {
      const found = await database.query(
        `select a.attname as name, t.typname as type, not a.attnotnull as nullable, col_description(a.attrelid, a.attnum) as comment
         from pg_attribute a join pg_type t on t.oid = a.atttypid where a.attrelid = to_regclass($1) and a.attnum > 0 and not a.attisdropped order by a.attname`, [relation],
      );
      const stated = Object.entries(columns).map(([name, column]) => ({
        name,
        type: column.type,
        nullable: column.null !== undefined,
        comment: commentOf(column),
      }));
      expect(found, relation).toEqual(stated.sort((a, b) => (a.name < b.name ? -1 : 1)));
      expect(await database.query("select obj_description(to_regclass($1), 'pg_class') as comment, pg_get_constraintdef(c.oid) as key, pg_get_partkeydef(to_regclass($1)) as parts from pg_constraint c where c.conrelid = to_regclass($1) and c.contype = 'p'", [relation]))
        .toEqual([{ comment: description, key: `PRIMARY KEY (${key.join(', ')})`, parts: 'RANGE (fid)' }]);
    }
  });

  it('declares every published geometry in EPSG:4326', async () => {
    const database = await migrated();
    const columns = await database.query<{ name: string; type: string }>(
      `select n.nspname || '.' || c.relname || '.' || a.attname as name, format_type(a.atttypid, a.atttypmod) as type
       from pg_class c
       join pg_namespace n on n.oid = c.relnamespace
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       where n.nspname in ('core', 'section', 'layer') and c.relkind in ('r', 'p') and not c.relispartition and a.atttypid = 'geometry'::regtype
       order by 1`,
    );
    expect(columns.length).toBeGreaterThan(0);
    expect(columns.filter(({ type }) => !/^geometry\(\w+,4326\)$/.test(type))).toEqual([]);
  });

  it('has a comment on every function of the API', async () => {
    const database = await migrated();
    const functions = await database.query<{ name: string; comment: string | null }>(
      `select p.oid::regprocedure::text as name, obj_description(p.oid, 'pg_proc') as comment
       from pg_proc p join pg_namespace n on n.oid = p.pronamespace
       where n.nspname = 'api'
       order by 1`,
    );
    expect(functions.length).toBeGreaterThan(0);
    expect(functions.filter(({ comment }) => comment === null || comment.trim() === '').map(({ name }) => name)).toEqual([]);
  });

  it('has no view and no foreign key between published tables, because they would block the next publication', async () => {
    const database = await migrated();
    const ties = await database.query<{ name: string }>(
      `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname in ('core', 'section', 'layer', 'api') and c.relkind in ('v', 'm')
       union all
       select conrelid::regclass::text || ' ' || conname from pg_constraint k join pg_namespace n on n.oid = k.connamespace
       where n.nspname in ('core', 'section', 'layer') and contype = 'f'
       order by 1`,
    );
    expect(ties).toEqual([]);
  });
});
