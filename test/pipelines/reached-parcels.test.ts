/** Tests that the parcels that a change affects are found by location. A region has millions of parcels, so all pairs cannot be compared. */
import { expect, it } from 'vitest';
import type { Session } from '../../pipelines/db/index.ts';
import { findMeeting, findNear } from '../../pipelines/db/changed-rows.ts';
import { describeEngines } from '../harness/database.ts';

/**
 * Number of parcels on each side of a square. A parcel is a thousandth of a degree wide, and the numbers run row by row. Every second parcel of every
 * second row has a building.
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
  it('share a building with a changed parcel or are within a distance of one, and are found with few box comparisons', async () => {
    const database = await engine.openDatabase();
    await database.script(SETTING, 'reached-parcels.test.ts');
    const compared = await database.transaction(async (session) => {
      await session.query(`set local track_functions to 'all'`);
      const was = { schema: 'work', table: 'was' };
      await findMeeting(session, 'work', was, [{ schema: 'work', table: 'building' }]);
      // The gap to a neighbouring parcel is 15 to 22 m, and to the next but one 80 to 110 m. The eight parcels around each parcel are found.
      await findNear(session, 'work', was, 60);
      return session.query<{ calls: number }>(
        `select coalesce(sum(pg_stat_get_xact_function_calls(oid)), 0)::int8 as calls from pg_proc where proname = 'geometry_overlaps'`,
      );
    });
    // A building is on the changed parcel and on the parcel to its east, because both numbers are even.
    const meeting = sorted(CHANGED.flatMap((fid) => [fid, fid + 1]));
    expect(await fidsIn(database, 'meeting_fid')).toEqual(meeting);
    expect(await fidsIn(database, 'meeting_parcel')).toEqual(meeting);
    const around = (fids: readonly number[]): number[] => sorted(fids.flatMap((fid) => [-1, 0, 1].flatMap((y) => [-1, 0, 1].map((x) => fid + y * SIDE + x))));
    expect(await fidsIn(database, 'near_fid')).toEqual(around(CHANGED));
    expect(await fidsIn(database, 'near_parcel')).toEqual(around(around(CHANGED)));
    expect(compared[0]!.calls).toBeLessThan(10 * SIDE * SIDE);
  });
}, ['postgres']);
