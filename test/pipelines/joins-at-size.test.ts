/**
 * Tests joins of tables that are large enough to detect a bad query plan. The tests limit the rows that a plan touches. Rows that the plan reads and drops are
 * included. A plan that compares each of n rows with n other rows touches n² rows.
 */
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { ROOT } from '../../pipelines/config.ts';
import { readChecks, readSqlFile } from '../../pipelines/contract/sql-files.ts';
import { patchedRows } from '../../pipelines/db/changed-rows.ts';
import { expectPagesInMemory } from '../../pipelines/db/figures.ts';
import type { Database, Session } from '../../pipelines/db/index.ts';
import { statementsOf } from '../../pipelines/db/statements.ts';
import { describeDatabase } from '../harness/database.ts';
import { createFunctions } from '../harness/functions.ts';
import { sqlOf } from '../harness/sql.ts';

interface PlanNode {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly 'Shared Hit Blocks'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Counts the rows that each node of a plan returned or dropped, over all its loops. */
function rowsTouched(node: PlanNode): number {
  const rows = node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0);
  return rows * node['Actual Loops'] + (node.Plans ?? []).reduce((sum, each) => sum + rowsTouched(each), 0);
}

/** Returns the text of an SQL file from the first occurrence of `from` up to `to`, or up to the end of the file. */
function part(file: string, from: string, to?: string): string {
  const text = sqlOf(`sql/${file}.sql`);
  const [first, end] = [text.indexOf(from), to === undefined ? text.length : text.indexOf(to)];
  expect([first, end], file).not.toContain(-1);
  return text.slice(first, end);
}

/** Runs the query of a statement that creates a table, without creating the table. @returns the number of rows that the query touched */
async function touchedBy(session: Session, sql: string): Promise<number> {
  const select = sql.replace(/^create (?:unlogged )?table \w+ as\n/, '').replace(/;\s*$/, '');
  const [explained] = await session.query<{ 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }] }>(`explain (analyze, timing off, format json) ${select}`);
  return rowsTouched(explained!['QUERY PLAN'][0].Plan);
}

/**
 * Runs a statement that inserts rows. A plan does not count the invisible rows that the statement itself inserted, but it counts their blocks.
 * @returns the number of blocks that the statement found in the shared buffers
 */
async function blocksRead(session: Session, sql: string, values: readonly unknown[] = []): Promise<number> {
  const [explained] = await session.query<{ 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }] }>(`explain (analyze, buffers, timing off, format json) ${sql}`, values);
  return explained!['QUERY PLAN'][0].Plan['Shared Hit Blocks'] ?? 0;
}

const STREETS = 20_000;
const AREAS = 20_000;

/** Streets of 200 comuni with three words per street, 3,000 points to look up, and flood areas, landslide areas, parcels and access points of 400 comuni. */
const SETUP = `
  create schema plan;
  set search_path to plan, public;
  create table region as select 14::int2 as code;
  create table street as
  select 14::int2 as region_code, i as street_id, 'Z' || lpad((i % 200)::text, 3, '0') as belfiore, '' as locality_key, 7 as located, 1 as member_id, i::int8 as position
  from generate_series(1, ${STREETS}) as i;
  alter table street add primary key (region_code, street_id);
  create table odonimo as
  select
    member_id, position, street_id as progressivo_nazionale, array['official'] as search_kinds, array['via'] as search_types,
    array['w' || street_id % 500 || ' w' || street_id % 7 || ' x' || street_id % 3000] as search_tokens
  from street;
  create table odonimo_indir as select * from odonimo where false;
  create table token as
  select row_number() over (order by text)::int4 as id, text, 1.5::float8 as weight from (select distinct unnest(string_to_array(search_tokens[1], ' ')) as text from odonimo) w;
  create table asked as select 'id ' || i as id, 'Z' || lpad((i % 200)::text, 3, '0') as belfiore from generate_series(1, 3000) as i;

  create table member as select i as member_id, i as file_id from generate_series(1, 700) as i;
  alter table member add primary key (member_id);
  create table current_file (file_id int4, rank int4);
  insert into current_file select i, i from generate_series(1, 20) as i;
  create view current_member as select member_id, file_id, rank, false as may_be_cut from member join current_file using (file_id);
  create table source_file as select theme, 1 as file_id, 1 as rank, 1 as release_id, 1 as member_id, 1::int8 as position, false as is_national, false as may_be_cut from unnest(array['flood_P1', 'flood_P2', 'flood_P3', 'landslide']) as theme;
  create table boundary_piece as
  select 'Z' || lpad((x * 20 + y)::text, 3, '0') as belfiore, st_makeenvelope(14 + x * 0.05, 41 + y * 0.05, 14.05 + x * 0.05, 41.05 + y * 0.05, 4326)::geometry(polygon, 4326) as geom
  from generate_series(0, 19) as x cross join generate_series(0, 19) as y;
  create table flood_layer as
  select 12 as release_id, 'P' || i % 3 + 1 as class, 1 as member_id, i as position, st_makeenvelope(west, south, west + 0.004, south + 0.003, 4326)::geometry(polygon, 4326) as geom
  from generate_series(1::int8, ${AREAS}) as i
  cross join lateral (select 14 + (i * 7919 % 100003) / 1e5 as west, 41 + (i * 104729 % 99991) / 1e5 as south) as corner;
  create index on flood_layer using gist (geom);
  create view flood_hazard_piece as select * from flood_layer where release_id = 12;
  create table landslide_layer as select * from flood_layer where position % 2 = 0;
  create index on landslide_layer using gist (geom);
  create view landslide_hazard_piece as select * from landslide_layer where release_id = 12;
  create table place as select belfiore from boundary_piece;
  create table parcel as
  select
    row_number() over (order by belfiore)::int4 as fid, belfiore, 'land' as kind, 147000.0::float8 as area_m2, belfiore || '_000100.1' as reference,
    st_centroid(geom)::geometry(point, 4326) as point, st_multi(st_expand(st_centroid(geom), 0.002))::geometry(multipolygon, 4326) as geom
  from boundary_piece;
  -- One parcel gets a part at the other end of Italy, so that the box of the parcel has a hundred million cells.
  update parcel set geom = st_multi(st_union(geom, st_makeenvelope(7, 37, 7.001, 37.001, 4326))) where fid = 400;
  create index on parcel using gist (geom);
  create table access_point as
  select i as address_id, st_setsrid(st_point(14 + (i * 7919 % 100003) / 1e5, 41 + (i * 104729 % 99991) / 1e5), 4326)::geometry(point, 4326) as geom from generate_series(1::int8, ${AREAS}) as i;
  insert into access_point select 0, st_setsrid(st_point(7.0005, 37.0005), 4326);
  create index on access_point using gist (geom);
  create view point as select address_id as id, null::text as belfiore, geom from access_point;
  analyze;
`;

describeDatabase('tables that are joined with themselves or with a map', (engine) => {
  let database: Database;
  const within = <T>(work: (session: Session) => Promise<T>): Promise<T> =>
    database.session(async (session) => {
      await session.script('set search_path to plan, public', 'test');
      try {
        return await work(session);
      } finally {
        await session.script('reset search_path', 'test');
      }
    });

  beforeAll(async () => {
    database = await engine.openDatabase();
    await database.session(createFunctions);
    await database.session((session) => session.script(SETUP, 'setup'));
  });

  it('let core.street_name find the words of a street without reading all streets for each name', async () => {
    await within(async (session) => {
      await session.script(part('core/street_name', 'create table named_street as', 'create table street_name as'), 'sql/core/street_name.sql');
      expect(await touchedBy(session, part('core/street_name', 'create table street_name as', 'alter table street_name'))).toBeLessThan(30 * STREETS);
    });
  });

  it('let core.point_of_interest look up only once which comuni have points', async () => {
    await within(async (session) => {
      expect(await touchedBy(session, part('core/point_of_interest', 'create table street_form as', 'create table street_word as'))).toBeLessThan(30 * STREETS);
    });
  });

  it('let section.address find the points in the cells of a parcel with a box of any size', async () => {
    await within(async (session) => {
      await session.script(part('steps/placement', 'create table point_method as', 'create unlogged table point_inside as'), 'sql/steps/placement.sql');
      expect(await session.query('select by_cell from point_method')).toEqual([{ by_cell: true }]);
      const inside = part('steps/placement', 'create unlogged table point_inside as', 'analyze point_inside');
      expect(await touchedBy(session, inside)).toBeLessThan(30 * AREAS);
      await session.script(inside, 'sql/steps/placement.sql');
      const plain = 'select a.id, p.fid from point a join parcel p on st_covers(p.geom, a.geom) order by 1';
      const found = await session.query<{ id: number; fid: number }>('select id, fid from point_inside order by 1');
      expect(found).toEqual(await session.query(plain));
      expect(found[0]).toEqual({ id: 0, fid: 400 });
      expect(found.length).toBeGreaterThan(50);
    });
  });

  it('let core.coverage find the areas of a comune without reading all areas for each comune', async () => {
    await within(async (session) => {
      await session.script(part('core/coverage', 'create view area_piece as', 'create table met as'), 'sql/core/coverage.sql');
      expect(await touchedBy(session, part('core/coverage', 'create table met as', 'create table coverage as'))).toBeLessThan(30 * AREAS);
      const [met] = await session.query<{ met: number }>('select count(distinct (belfiore, theme))::int4 as met from shared_piece where shared_m2 >= 1');
      expect(met!.met).toBeGreaterThan(1_500);
    });
  });

  it('let core.access_point find the file of an address without reading all members for each address', async () => {
    await within(async (session) => {
      await session.script(`
        create schema members;
        set search_path to members, plan, public;
        create table current_member as select i as member_id, i as file_id, 1 as rank from generate_series(1, 700) as i;
        create table accesso as
        select
          i % 700 + 1 as member_id, i as position, 1 as release_id, i as progressivo_accesso, i % 900 as progressivo_nazionale, 'Z001' as belfiore, 1 as civico,
          null::text as esponente, null::text as specificita, null::int4 as metrico, null::text as progressivo_snc, null::geometry as geom, 'present' as coordinate_flag,
          null::text as metodo
        from generate_series(1::int8, ${AREAS}) as i;
        -- The second row of this address is in an older file.
        insert into accesso select 701, 0, release_id, 5, progressivo_nazionale, 'Z002', 2 from accesso where progressivo_accesso = 5;
        insert into current_member values (701, 701, 2);
        analyze`, 'setup');
      await session.script(part('core/access_point', 'create table access_twice as', '-- Sorts the rows'), 'sql/core/access_point.sql');
      const made = part('core/access_point', 'create table access_point as', 'drop table access_twice');
      expect(await touchedBy(session, made)).toBeLessThan(30 * AREAS);
      await session.script(made, 'sql/core/access_point.sql');
      expect(await session.query('select count(*)::int4 as n, count(distinct belfiore)::int4 as comuni from access_point')).toEqual([{ n: AREAS, comuni: 1 }]);
    });
  });

  it('let the check of land use compare each polygon only with parcels in its box', async () => {
    await within(async (session) => {
      await session.script(`
        create schema checks;
        set search_path to checks, plan, public;
        create view land_use_piece as select geom from plan.flood_layer;
        create table parcel as select * from plan.parcel where fid < 400;
        create index on parcel using gist (point);
        -- Few parcels lack a class, so the planner may look for these parcels first.
        create table land_use as select fid from parcel where fid <> 7;
        alter table land_use add primary key (fid);
        analyze`, 'setup');
      const [check] = readChecks(readSqlFile(join(ROOT, 'sql/sections/land_use/checks.sql')));
      expect(await touchedBy(session, check!.sql)).toBeLessThan(30 * AREAS);
    });
  });

  it('let a release find the members that repeat a record without reading all members for each record', async () => {
    await within(async (session) => {
      await session.script(`
        create schema staged;
        create table staged.member as select i as member_id, 1 as file_id from generate_series(1, 700) as i;
        create table staged.parcel as select i % 700 + 1 as member_id, 'r' || i as reference from generate_series(1, ${AREAS}) as i;
        create schema read;
        create table read.parcel as select * from staged.parcel where member_id = 7;
        insert into staged.parcel select 9, reference from read.parcel limit 1;
        create index on staged.parcel (member_id);
        create table staged.sheet as select distinct member_id, case when member_id in (7, 9) then 7 else member_id end as sheet from staged.parcel;
        create table read.sheet as select * from staged.sheet where member_id = 7;
        analyze`, 'setup');
      const names = { schema: 'staged', own: 'read', layer: 'parcel', columns: ['reference'] };
      const inGroups = statementsOf('workspace')('in_same_groups', { schema: 'staged', own: 'read', groups: 'sheet', columns: ['sheet'] });
      const [all, grouped] = ['', inGroups].map((sql) => statementsOf('workspace')('repeating_members', { ...names, in_groups: { sql } }));
      expect(await touchedBy(session, all!)).toBeLessThan(30 * AREAS);
      expect(await touchedBy(session, grouped!)).toBeLessThan(AREAS / 2);
      for (const statement of [all, grouped]) expect(await session.query(`select id from (${statement}) found order by id`)).toEqual([{ id: 7 }, { id: 9 }]);
    });
  });

  it('let a release check the references and sheets of the read parcels without reading all parcels of the file', async () => {
    await within(async (session) => {
      await session.script(`
        create schema checked;
        set search_path to checked, public;
        create table member as select i as member_id, 1 as file_id, i = 7 as is_read from generate_series(1, 200) as i;
        create table cadastral_parcel as
        select i % 200 + 1 as member_id, 's' || i % 200 + 1 || '.' || i as reference, 's' || i % 200 + 1 as sheet_reference, 'a' as belfiore
        from generate_series(1, ${AREAS}) as i;
        insert into cadastral_parcel select * from cadastral_parcel where member_id = 7 limit 1;
        insert into cadastral_parcel select 9, reference || 'x', 's7', 'a' from cadastral_parcel where member_id = 7 limit 1;
        create index on cadastral_parcel (member_id);
        create table cadastral_coverage as
        select member_id, belfiore, sheet_reference, null::text as administrative_unit, null::text as file_belfiore, count(*)::int4 as parcels
        from cadastral_parcel
        group by member_id, belfiore, sheet_reference;
        create table cadastral_sheet as
        select distinct member_id, sheet_reference as reference, belfiore, null::text as administrative_unit, null::text as file_belfiore
        from cadastral_parcel
        where sheet_reference <> 's8';
        analyze`, 'setup');
      const found: Record<string, number> = {};
      for (const { name, sql } of readChecks(readSqlFile(join(ROOT, 'sources/ade_cadastre/checks.sql')))) {
        expect([name, (await touchedBy(session, sql)) < AREAS / 2]).toEqual([name, true]);
        found[name] = (await session.query(sql)).length;
      }
      expect(found).toEqual({
        parcel_reference_repeated: 1, sheet_reference_repeated: 1, parcel_sheet_missing: 1, parcel_of_another_comune: 0, sheet_of_another_comune: 0,
      });
    });
  });

  it('let the quality gate measure the parcels of a few comuni without reading a whole patched table', async () => {
    await within(async (session) => {
      await session.script(`
        create schema gated;
        set search_path to gated, public;
        create table was as select i as fid, i as value from generate_series(1, ${AREAS}) as i;
        alter table was add primary key (fid);
        create table place as select i * 200 as fid from generate_series(1, 100) as i;
        create table patch as select i * 200 as fid from generate_series(1, 3) as i;
        create table came as select i * 200 as fid, 0 as value from generate_series(1, 3) as i;
        analyze`, 'setup');
      await expectPagesInMemory(session);
      const at = (table: string): { schema: string; table: string } => ({ schema: 'gated', table });
      const { sql } = patchedRows({ was: at('was'), fids: at('patch'), came: at('came'), columns: ['fid', 'value'], parcels: at('place') });
      expect(await touchedBy(session, `select * from ${sql} t`)).toBeLessThan(AREAS / 10);
      expect(await session.query(`select count(*)::int4 as n, sum(value)::int4 as sum from ${sql} t`)).toEqual([{ n: 100, sum: 200 * (5050 - 6) }]);
    });
  });

  it('let history store the rows of a table that changed completely without reading the stored rows for each row', async () => {
    await within(async (session) => {
      await session.script(`
        create schema kept;
        create table kept.was as select i as fid, 0 as value from generate_series(1, ${AREAS}) as i;
        create table kept.now as select i as fid, 1 as value from generate_series(1, ${AREAS}) as i;
        create table kept.history (fid int4, value int4, from_swap int4, until_swap int4, absent bool, primary key (fid, until_swap));
        analyze`, 'setup');
      const rows = (table: string): { sql: string } => ({ sql: statementsOf('history')('rows', { from: { schema: 'kept', table } }) });
      const statement = statementsOf('history')('keep_rows', {
        history: { schema: 'kept', table: 'history' }, leaving: rows('was'), coming: rows('now'), key: ['fid'], columns: ['fid', 'value'], content: ['fid', 'value'],
        others: ['value'], same: { sql: 'h.fid = d.fid' },
      });
      expect(await blocksRead(session, statement, [2, 1])).toBeLessThan(10 * AREAS);
      expect(await session.query('select count(*)::int4 as n, min(value) as value, max(from_swap) as "from", min(until_swap) as until from kept.history')).toEqual([{ n: AREAS, value: 0, from: 1, until: 2 }]);
    });
  });

  it('let core.parcel of Trentino number new parcels without reading the numbered parcels for each parcel', async () => {
    await within(async (session) => {
      await session.script(`
        create schema register;
        set search_path to register, plan, public;
        create table core.parcel_register (region_code int2, reference text, fid int4 unique, primary key (region_code, reference));
        insert into core.parcel_register values (14, 'r0', 1450000006);
        create table mapped as select 'r' || i as reference, i % 2 * 50000000 as first_number from generate_series(1, ${AREAS}) as i;
        analyze`, 'setup');
      await session.script(part('core/parcel_libro_fondiario', 'create table province_range as', 'insert into core.parcel_register'), 'sql/core/parcel_libro_fondiario.sql');
      const numbering = part('core/parcel_libro_fondiario', 'insert into core.parcel_register', 'drop table province_range').replace(/;\s*$/, '');
      expect(await blocksRead(session, numbering)).toBeLessThan(30 * AREAS);
      expect(await session.query('select min(fid) as first, max(fid) as last, count(*)::int4 as n from core.parcel_register group by fid >= 1450000000 order by 1')).toEqual([
        { first: 1_400_000_000, last: 1_400_000_000 + AREAS / 2 - 1, n: AREAS / 2 },
        { first: 1_450_000_006, last: 1_450_000_006 + AREAS / 2, n: AREAS / 2 + 1 },
      ]);
    });
  });
});
