/**
 * Tests shares of parcels in hazard areas with edges that are straight in their publisher's CRS. Exact values are computed in the plane with proj4js and
 * polyclip-ts. A parcel's edges are straight in degrees, so they are split into pieces of at most 10 m and transformed to the publisher's CRS. The edges of
 * the hazard area are not split. Shared areas are computed with the inverse transformation only from transverse Mercator, where the result is exact.
 */
import { beforeAll, expect, it } from 'vitest';
import type { Database } from '../../pipelines/db/index.ts';
import { italyZone, laeaEurope, utm32, type EastNorth, type Projection } from '../../pipelines/synthetic/map-projection.ts';
import { commonPart, polygonsArea, type MultiPolygon, type Polygon } from '../../pipelines/synthetic/plane-geometry.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import type { LonLat, Random } from '../../pipelines/synthetic/region.ts';
import { describeDatabase } from '../harness/database.ts';
import { testEnvironment } from '../harness/environment.ts';
import { loaded } from '../harness/loaded.ts';
import { NO_MERGERS, sqlOf } from '../harness/sql.ts';

const RISK = sqlOf('sql/sections/risk/build.sql');
const { seed } = testEnvironment();
const AREAS = 40;
const PARCELS_EACH = 12;

/** Tables that the section reads in addition to the layers of one loaded source. */
const SETUP = `
  create table parcel (fid int4, belfiore text, area_m2 float8, point geometry(point, 4326), geom geometry(multipolygon, 4326));
  create table current_member as select 1 as member_id, 1 as release_id, 1 as file_id, 1 as rank;
  create table coverage (theme text, belfiore text, mapped bool, release_id int4, member_id int4, position int8);
  create table comune_code (belfiore text);
  create table comune_register (belfiore text, old_istat_code text, istat_code text, divided bool);
  create table seismic_zone (release_id int4, member_id int4, position int8, istat_code text, label text, zone int2);
  create table pga_node (ix int4, iy int4, lon float8, lat float8, ag_g float8, spacing_deg float8, release_id int4, member_id int4, position int8);
`;
const WITHOUT: Readonly<Record<string, string>> = {
  ispra_flood: `create table landslide_hazard_piece (release_id int4, member_id int4, position int8, class text, geom geometry(polygon, 4326));
    create table landslide_coverage (member_id int4);`,
  ispra_landslide: `create table flood_hazard_piece (release_id int4, member_id int4, position int8, class text, geom geometry(polygon, 4326));
    create table flood_coverage (member_id int4, class text);`,
};

/** Returns a ring around a centre, of about the given size in metres. */
function ringAround([x, y]: EastNorth, size: number, random: Random): EastNorth[] {
  const corners = 4 + random.below(5);
  const ring = Array.from({ length: corners }, (_, i): EastNorth => {
    const angle = (2 * Math.PI * (i + 0.8 * random.next())) / corners;
    const radius = size * (0.3 + 0.7 * random.next());
    return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
  });
  return [...ring, ring[0]!];
}

/** Returns a random point from 8° to 16° E and from 38° to 45.5° N, at least 100 km from the limits of the CRS. */
function placeIn(random: Random): LonLat {
  return [8 + 8 * random.next(), 38 + 7.5 * random.next()];
}

/** Draws a number between two limits. Each order of magnitude has the same probability. */
function magnitude(from: number, to: number, random: Random): number {
  return from * (to / from) ** random.next();
}

/** Returns a parcel on or near the border of an area: a quadrilateral with a length and a width of 4 to 500 m each. */
function parcelNear(ring: readonly EastNorth[], { inverse }: Projection, random: Random): LonLat[] {
  const [[x0, y0], [x1, y1]] = ((i: number) => [ring[i]!, ring[i + 1]!])(random.below(ring.length - 1));
  const along = random.next();
  const [length, width] = [magnitude(5, 500, random), magnitude(5, 500, random)];
  const angle = 2 * Math.PI * random.next();
  const middle: EastNorth = [x0 + along * (x1 - x0) + width * 0.4 * (random.next() - 0.5), y0 + along * (y1 - y0) + width * 0.4 * (random.next() - 0.5)];
  const corners = ([[-1, -1], [1, -1], [1, 1], [-1, 1]] as const).map(([a, b]): LonLat => {
    const [u, v] = [(a * length * (0.8 + 0.2 * random.next())) / 2, (b * width * (0.8 + 0.2 * random.next())) / 2];
    // Corners are in degrees, as in the cadastre. The exact position of a corner does not matter.
    const [lon, lat] = inverse([middle[0] + u * Math.cos(angle) - v * Math.sin(angle), middle[1] + u * Math.sin(angle) + v * Math.cos(angle)]);
    return [Math.round(lon * 1e8) / 1e8, Math.round(lat * 1e8) / 1e8];
  });
  return [...corners, corners[0]!];
}

/** Returns a ring with edges split into pieces of at most `longest`. */
function divided(ring: Polygon[number], longest: number): EastNorth[] {
  const points = ring.slice(0, -1).flatMap(([x, y], i) => {
    const [toX, toY] = ring[i + 1]!;
    const parts = Math.max(1, Math.ceil(Math.hypot(toX - x, toY - y) / longest));
    return Array.from({ length: parts }, (_, n): EastNorth => [x + ((toX - x) * n) / parts, y + ((toY - y) * n) / parts]);
  });
  return [...points, points[0]!];
}

/** Returns the true area in EPSG:3035 of polygons with edges that are straight in a publisher's CRS. */
function trueArea(polygons: MultiPolygon, projection: Projection): number {
  if (projection === laeaEurope) return polygonsArea(polygons);
  return polygonsArea(polygons.map((rings) => rings.map((ring) => divided(ring, 10).map((point) => laeaEurope.forward(projection.inverse(point))))));
}

/** An angle in degrees that is 10 m in latitude, and 7 to 8 m in longitude. */
const TEN_METRES = 0.00009;

/** Returns the area that a parcel shares with hazard areas, and the area of the parcel, in m². */
function exact(parcel: readonly LonLat[], areas: readonly (readonly EastNorth[])[], projection: Projection): Record<'shared' | 'area', number> {
  const inDegrees = divided(parcel, TEN_METRES);
  const area = polygonsArea([[inDegrees.map(laeaEurope.forward)]]);
  const plane = inDegrees.map(projection.forward);
  return { shared: trueArea(commonPart([[plane]], areas.map((ring) => [ring])), projection), area };
}

function wkt(ring: readonly (readonly [number, number])[], srid: number): string {
  return `srid=${srid};polygon((${ring.map(([x, y]) => `${x} ${y}`).join(', ')}))`;
}

const CASES = [
  ['ispra_flood', 'flood', 3035, laeaEurope],
  ['ispra_landslide', 'landslide', 32632, utm32],
  ['ispra_landslide', 'landslide', 7794, italyZone],
] as const;

describeDatabase('shares of parcels in areas with edges of 10 m to 100 km', (engine) => {
  let database: Database;
  beforeAll(async () => {
    database = await engine.openDatabase();
  });

  it.each(CASES)(`are exact to 1e-6 or 0.001 m² for %s (%s, EPSG:%i), seed ${seed}`, async (source, theme, srid, projection) => {
    const random = randomOf('exact shares', srid, seed);
    const areas = Array.from({ length: AREAS }, () => ringAround(projection.forward(placeIn(random)), magnitude(30, 60_000, random), random));
    const parcels = areas.flatMap((ring) => Array.from({ length: PARCELS_EACH }, () => parcelNear(ring, projection, random)));
    const inserts = areas.map((ring, i) => `(1, ${i + 1}, 'P1', null, '${wkt(ring, srid)}')`).join(', ');
    const rows = await loaded(database, source, `insert into raw_${theme}_hazard values ${inserts}`, async ({ session }) => {
      await session.script(`${SETUP} ${WITHOUT[source]!} ${NO_MERGERS}`, 'test');
      await session.query(
        `insert into parcel select n, 'Z001', core.area_m2(geom), st_pointonsurface(geom), st_multi(geom)
         from (select n, st_geomfromewkt(drawn) as geom from unnest($1::text[]) with ordinality as d (drawn, n)) as g`, [parcels.map((ring) => wkt(ring, 4326))],
      );
      await session.script(RISK, 'sql/sections/risk/build.sql');
      return session.query<{ fid: number; share: number | null; area_m2: number }>(`select fid, ${theme}_share as share, area_m2 from risk join parcel using (fid) order by fid`);
    });
    expect(rows).toHaveLength(parcels.length);
    let partly = 0;
    const off = rows.flatMap(({ fid, share, area_m2 }, i) => {
      const { shared, area } = exact(parcels[i]!, areas, projection);
      const wanted = shared < Math.min(1, area / 2) ? 0 : shared / area;
      if (wanted > 0.001 && wanted < 0.999) partly += 1;
      const allowed = Math.max(1e-6, 0.001 / area);
      const isRight = Math.abs((share ?? 0) - wanted) <= allowed && Math.abs(area_m2 - area) <= Math.max(0.001, 1e-6 * area);
      return isRight ? [] : [`${fid}: ${area.toFixed(2)} m², expected ${wanted.toFixed(8)} ± ${allowed.toExponential(1)} and ${area} m², found ${share} and ${area_m2}`];
    });
    expect(off).toEqual([]);
    expect(partly).toBeGreaterThan(parcels.length / 2);
  });
});
