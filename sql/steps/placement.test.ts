/** Tests that both methods of the step placement (cells and index) find the expected parcels. */
import { beforeAll, expect, it } from 'vitest';
import type { Database } from '../../pipelines/db/index.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { describeDatabase } from '../../test/harness/database.ts';
import { testEnvironment } from '../../test/harness/environment.ts';
import { rolledBack } from '../../test/harness/rolled-back.ts';
import { sqlOf } from '../../test/harness/sql.ts';

const STEP = 'sql/steps/placement.sql';

/**
 * A grid of 20 × 20 parcels from 14° E 42° N. Coordinates are multiples of 1/2048°, which are exact in binary. The parcels have different areas, so a point on
 * a border belongs to one parcel.
 */
const PARCELS = Array.from({ length: 400 }, (_, fid) => ({ fid, x: fid % 20, y: Math.floor(fid / 20), kind: fid % 7 === 0 ? 'road' : 'land', areaM2: 1_000 + ((fid * 37) % 400) }));

/** A point in half units of the grid. Odd coordinates are inside a parcel, and even coordinates on a border. */
type Point = readonly [x: number, y: number];

/** Returns the fid of the smallest land parcel that touches the point. */
function ownerOf([x, y]: Point): number | undefined {
  const touches = (at: number, from: number): boolean => at >= 2 * from && at <= 2 * from + 2;
  return PARCELS.filter((each) => each.kind === 'land' && touches(x, each.x) && touches(y, each.y)).sort((a, b) => a.areaM2 - b.areaM2)[0]?.fid;
}

describeDatabase('the step placement', (engine) => {
  let database: Database;
  beforeAll(async () => {
    database = await engine.openDatabase();
  });

  it.each([['the index', 30, false], ['cells', 300, true]])('assigns a point to the smallest land parcel that touches the point, with %s', async (_, many, byCell) => {
    const random = randomOf(STEP, testEnvironment().seed);
    const points = Array.from({ length: many }, (): Point => [random.below(41), random.below(41)]);
    const found = await rolledBack(database, async (session) => {
      await session.script(`
        create schema cases;
        set local search_path to cases, public;
        create table parcel (fid int4, belfiore text default 'Z001', reference text, kind text, area_m2 float8, geom geometry(multipolygon, 4326));
        create table point (id int4, belfiore text default 'Z001', geom geometry(point, 4326));
        create index on parcel using gist (geom);
        insert into parcel (fid, reference, kind, area_m2, geom) values ${PARCELS.map(({ fid, x, y, kind, areaM2 }) =>
          `(${fid}, 'R${fid}', '${kind}', ${areaM2}, st_multi(st_makeenvelope(${14 + x / 2048}, ${42 + y / 2048}, ${14 + (x + 1) / 2048}, ${42 + (y + 1) / 2048}, 4326)))`).join(',\n')};
        insert into point (id, geom) values ${points.map(([x, y], id) => `(${id}, st_setsrid(st_makepoint(${14 + x / 4096}, ${42 + y / 4096}), 4326))`).join(',\n')};`, 'test');
      await session.script(sqlOf(STEP), STEP);
      expect(await session.query('select by_cell from point_method')).toEqual([{ by_cell: byCell }]);
      return session.query<{ id: number; fid: number }>('select id, fid from placed where inside order by id');
    });
    const wanted = points.flatMap((point, id) => (ownerOf(point) === undefined ? [] : [{ id, fid: ownerOf(point) }]));
    expect(found).toEqual(wanted);
    expect(found.length).toBeGreaterThan(many / 2);
  });
});
