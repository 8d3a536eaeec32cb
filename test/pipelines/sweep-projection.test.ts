/** Tests the projection of a sweep's areas against the database. */
import { expect, it } from 'vitest';
import { projectionInto } from '../../pipelines/build/sweep-projection.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { describeDatabase } from '../harness/database.ts';

describeDatabase('coordinates of rasters', (engine) => {
  it('equal the coordinates of PostGIS to 1e-8 units of the CRS everywhere in Italy', async () => {
    const random = randomOf(7, 'points');
    const points = Array.from({ length: 2000 }, () => [6 + 13 * random.next(), 35 + 12.5 * random.next()] as const);
    const database = await engine.openDatabase();
    const out = new Float64Array(2);
    for (const epsg of [4326, 32632, 32633]) {
      const rows = await database.query<{ x: number; y: number }>(
        `select st_x(p) as x, st_y(p) as y from unnest($1::float8[], $2::float8[]) with ordinality as u (lon, lat, n)
         cross join lateral (select st_transform(st_setsrid(st_makepoint(lon, lat), 4326), $3::int4) as p offset 0) as t order by n`,
        [points.map(([lon]) => lon), points.map(([, lat]) => lat), epsg],
      );
      const project = projectionInto(epsg);
      expect(rows).toHaveLength(points.length);
      rows.forEach(({ x, y }, i) => {
        project(points[i]![0], points[i]![1], out);
        expect(Math.hypot(out[0]! - x, out[1]! - y), `${epsg} ${points[i]!.join(' ')}`).toBeLessThan(1e-8);
      });
    }
  });

  it('are refused for a CRS that no source has', () => {
    expect(() => projectionInto(3003)).toThrow('EPSG:3003');
  });
});
