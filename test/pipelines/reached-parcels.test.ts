/** Tests how the parcels that a change affects are found. A region has millions of parcels, so the search must not compare all pairs of parcels. */
import { expect, it } from 'vitest';
import type { Session } from '../../pipelines/db/index.ts';
import { findMeeting, findNear, findSameDocuments, findSameParcels, findSharing, freshMembersOf, provideFresh } from '../../pipelines/db/changed-rows.ts';
import { describeEngines } from '../harness/database.ts';

/**
 * Number of parcels on each side of a square. Parcels are numbered row by row, at intervals of a thousandth of a degree. A building begins in every second
 * parcel of every second row.
 */
const SIDE = 100;
const CELL = 0.001;
/** Changed parcels: one in a hundred, far from each other. */
const CHANGED = Array.from({ length: 100 }, (_, i) => (Math.floor(i / 10) * 10 + 4) * SIDE + (i % 10) * 10 + 4);

const SETTING = `
  create schema work;
  create table work.was as
  select
    y * ${SIDE} + x as fid,
    st_makeenvelope(12 + (x + 0.1) * ${CELL}, 42 + (y + 0.1) * ${CELL}, 12 + (x + 0.9) * ${CELL}, 42 + (y + 0.9) * ${CELL}, 4326) as geom,
    st_setsrid(st_makepoint(12 + (x + 0.5) * ${CELL}, 42 + (y + 0.5) * ${CELL}), 4326) as point
  from generate_series(0, ${SIDE - 1}) y, generate_series(0, ${SIDE - 1}) x;
  alter table work.was add primary key (fid);
  create index on work.was using gist (geom);
  analyze work.was;
  -- Each building extends from the middle of a parcel to the middle of the next parcel to the east. Like a layer, the table has an index.
  create table work.building as
  select st_makeenvelope(12 + (x + 0.4) * ${CELL}, 42 + (y + 0.4) * ${CELL}, 12 + (x + 1.5) * ${CELL}, 42 + (y + 0.6) * ${CELL}, 4326) as geom
  from generate_series(0, ${SIDE - 1}, 2) y, generate_series(0, ${SIDE - 1}, 2) x;
  create index on work.building using gist (geom);
  analyze work.building;
  create table work.changed_fid as
  select unnest(array[${CHANGED.join(', ')}]) as fid;
  create table work.changed_parcel as
  select * from work.was join work.changed_fid using (fid);
  create index on work.changed_parcel using gist (geom);
  analyze work.changed_parcel`;

const fidsIn = async (session: Session, table: string): Promise<number[]> => (
  (await session.query<{ fid: number }>(`select fid from work.${table} order by fid`)).map(({ fid }) => fid)
);

const sorted = (fids: Iterable<number>): number[] => [...new Set(fids)].sort((a, b) => a - b);

describeEngines('the parcels that a change affects', (engine) => {
  it('share a building with a changed parcel or are within a given distance of one, and are found with few box comparisons', async () => {
    const database = await engine.openDatabase();
    await database.script(SETTING, 'reached-parcels.test.ts');
    const compared = await database.transaction(async (session) => {
      await session.query(`set local track_functions to 'all'`);
      const was = { schema: 'work', table: 'was' };
      await findMeeting(session, 'work', was, [{ schema: 'work', table: 'building' }]);
      // The gap to a neighbouring parcel is about 17 m (east) or 22 m (north), and to the next but one 100 m or 130 m. So 60 m reach only the eight neighbours.
      await findNear(session, 'work', was, 60);
      return session.query<{ calls: number }>(
        `select coalesce(sum(pg_stat_get_xact_function_calls(oid)), 0)::int8 as calls from pg_proc where proname = 'geometry_overlaps'`,
      );
    });
    // A building is on the changed parcel and on the parcel to its east, because the row and column of a changed parcel are even.
    const meeting = sorted(CHANGED.flatMap((fid) => [fid, fid + 1]));
    expect(await fidsIn(database, 'meeting_fid')).toEqual(meeting);
    expect(await fidsIn(database, 'meeting_parcel')).toEqual(meeting);
    const around = (fids: readonly number[]): number[] => sorted(fids.flatMap((fid) => [-1, 0, 1].flatMap((y) => [-1, 0, 1].map((x) => fid + y * SIDE + x))));
    expect(await fidsIn(database, 'near_fid')).toEqual(around(CHANGED));
    expect(await fidsIn(database, 'near_parcel')).toEqual(around(around(CHANGED)));
    expect(compared[0]!.calls).toBeLessThan(10 * SIDE * SIDE);
  });

  it('are built again only if their row in the layer, or their document, differs from the published parcel', async () => {
    const database = await engine.openDatabase();
    // Parcel 1 has a different geometry, parcel 2 a different kind, and parcel 3 a different document. Parcel 4 is new, and parcel 0 was removed. Every fifth
    // parcel has no section in either table.
    await database.script(`
      create schema work;
      create table work.was as
      select n as fid, 'ref' || n as reference, nullif(n % 5, 0)::text as section, 'land' as kind, st_setsrid(st_makepoint(12, 42 + n), 4326) as geom, n / 100 as document_id
      from generate_series(0, 299) n where n <> 4;
      create table work.cadastral_parcel as
      select
        n / 100 + 10 as member_id, n::int8 as position, 'ref' || n as reference, nullif(n % 5, 0)::text as section, case n when 2 then 'road' else 'land' end as kind,
        st_setsrid(st_makepoint(12, 42 + n + case n when 1 then 1e-8 else 0 end), 4326) as geom
      from generate_series(1, 299) n;
      update work.cadastral_parcel set member_id = 11 where position = 3;
      create table work.current_member as
      select n + 10 as member_id, n as document_id from generate_series(0, 2) n;`, 'reached-parcels.test.ts');
    const [was, layer] = [{ schema: 'work', table: 'was' }, { schema: 'work', table: 'cadastral_parcel' }];
    const fresh = await database.transaction(async (session) => {
      await session.query('create schema changes');
      await findSameDocuments(session, 'changes', was, { region: 14, build: 'work', layers: [] });
      const members = await freshMembersOf(session, 'changes', [layer]);
      expect(await findSameParcels(session, 'changes', was, members)).toBe(299 - 4);
      for (const each of members) await provideFresh(session, 'changes', each);
      return session.query<{ position: number }>('select position from changes.cadastral_parcel order by position');
    });
    expect(fresh.map(({ position }) => position)).toEqual([1, 2, 3, 4]);
  });

  it('share a value of a column with a changed parcel, before or after the change', async () => {
    const database = await engine.openDatabase();
    // Five parcels share each value. The value of parcel 7 changes from 1 to 40. Parcel 99 is new and has no value.
    await database.script(`
      create schema work;
      create table work.was as select n as fid, n / 5 as value from generate_series(0, 499) n where n <> 99;
      create index on work.was (value);
      create table work.start_fid as select unnest(array[7, 99]) as fid;
      create table work.sections as select * from (values (7, 40), (99, null)) v (fid, value);
      create table work.changed_fid as select fid from work.start_fid;
      create table work.changed_parcel as
      select fid, st_setsrid(st_makepoint(12, 42), 4326) as geom, st_setsrid(st_makepoint(12, 42), 4326) as point from work.start_fid;
      create table work.parcel as
      select fid, st_setsrid(st_makepoint(12, 42), 4326) as geom, st_setsrid(st_makepoint(12, 42), 4326) as point from work.was`, 'reached-parcels.test.ts');
    const place = (table: string): { schema: string; table: string } => ({ schema: 'work', table });
    await database.transaction((session) => findSharing(session, 'work', {
      reach: 'sharing', start: 'start', parcels: place('parcel'), was: place('was'), table: 'sections', column: 'value',
    }));
    const expected = [5, 6, 7, 8, 9, 99, 200, 201, 202, 203, 204];
    expect(await fidsIn(database, 'sharing_fid')).toEqual(expected);
    expect(await fidsIn(database, 'sharing_parcel')).toEqual(expected);
  });
}, ['postgres']);
