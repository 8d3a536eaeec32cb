/**
 * Writes ISPRA's layer of shoreline change for the synthetic region, as a shapefile in a zip. The shore is the northern edge of the region. The file contains
 * segments of every class, with mean changes at and near the limits of the severity classes. The file also contains segments without information, segments of
 * two lines, and a segment far out at sea.
 */
import { join } from 'node:path';
import { cyclicItem, itemAt } from '../../pipelines/synthetic/items.ts';
import { utm32 } from '../../pipelines/synthetic/map-projection.ts';
import { boxOf, nearestOnSegment, polygonsToSegmentM, segmentsOf, type Point } from '../../pipelines/synthetic/plane-geometry.ts';
import { shapefileEntries } from '../../pipelines/synthetic/shapefile-writer.ts';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';
import type { LonLat, SyntheticParcel, SyntheticRegion } from '../../pipelines/synthetic/region.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';

const NAME = 'Dinamica_Litoranea_2006_2020';
const RADIUS_M = 1000;
const MOST = 5;
/** Length of a segment in degrees of longitude, about 210 m. */
const STEP = 0.0025;
const POINT_STEP = 0.0005;
/** Distance in degrees of latitude from the northernmost parcels to the shore, about 33 m. */
const OFFSHORE = 0.0003;

interface Segment {
  readonly label: string | null;
  readonly dynamic: 'erosion' | 'accretion' | 'stable' | null;
  /** Mean change in m/year, or null if not published. */
  readonly rate: number | null;
  readonly lines: readonly (readonly LonLat[])[];
}

/** Published class, served class and mean change of the segments, repeated along the shore. */
const CASES: readonly (readonly [string | null, Segment['dynamic'], number | null])[] = [
  ['Erosione', 'erosion', -0.36], ['Erosione', 'erosion', -0.5], ['Stabilità', 'stable', 0], ['EROSIONE', 'erosion', -0.99], ['Nessuna informazione', null, null],
  ['Erosione', 'erosion', -1], ['Avanzamento', 'accretion', 1.25], ['Erosione', 'erosion', -1.99], ["Stabilita'", 'stable', -0.12], ['Erosione', 'erosion', -2],
  [null, null, null], ['Avanzamento', 'accretion', 0.36], ['Erosione', 'erosion', null], ['Erosione', 'erosion', -7.31], ['Stabilità', 'stable', 0.2],
  ['Avanzamento', 'accretion', null], ['Stabilità', 'stable', null],
];

function line(west: number, east: number, lat: number): LonLat[] {
  const count = Math.max(1, Math.round((east - west) / POINT_STEP));
  return Array.from({ length: count + 1 }, (_, i) => [west + ((east - west) * i) / count, lat]);
}

function segments(region: SyntheticRegion): Segment[] {
  const [west, , east, north] = region.box;
  const lat = north + OFFSHORE;
  const made: Segment[] = [];
  for (let i = 0; west + i * STEP < east; i += 1) {
    const [label, dynamic, rate] = cyclicItem(CASES, i);
    const from = west + i * STEP;
    // Every ninth segment is interrupted, as by a harbour, and consists of two lines.
    const lines = i % 9 === 4 ? [line(from, from + STEP * 0.4, lat), line(from + STEP * 0.6, from + STEP, lat)] : [line(from, from + STEP, lat)];
    made.push({ label, dynamic, rate, lines });
  }
  made.push({ label: 'Erosione', dynamic: 'erosion', rate: -3, lines: [line(west, east, north + 0.5)] });
  return made;
}

/**
 * Returns the geodesic distance in metres from polygons to a line of short pieces, or Infinity if the line is clearly outside the radius. The line must not
 * cross the polygons. A planar approximation selects the pieces that may be nearest, because the exact distance is expensive to compute.
 */
function distanceM(polygons: SyntheticParcel['polygons'], line: readonly LonLat[]): number {
  const [x0, y0] = itemAt(line, 0);
  const east = 111_320 * Math.cos((y0 * Math.PI) / 180);
  const plane = ([x, y]: LonLat): Point => [(x - x0) * east, (y - y0) * 111_100];
  const corners = polygons.flatMap((rings) => rings[0].map(plane));
  const rough = Array.from(segmentsOf(line.map(plane)), ([from, to]) => Math.min(...corners.map((corner) => {
    const [x, y] = nearestOnSegment(corner, from, to);
    return Math.hypot(x - corner[0], y - corner[1]);
  })));
  // The approximation checks only the corners of a parcel. An edge can be nearer to the shore than the corners, but by less than the length of the edge,
  // which is about 50 m.
  const least = Math.min(...rough);
  if (least > RADIUS_M + 100) return Infinity;
  let nearest = Infinity;
  for (const [i, [from, to]] of [...segmentsOf(line)].entries()) {
    if (itemAt(rough, i) <= least + 50) nearest = Math.min(nearest, polygonsToSegmentM(polygons, from, to));
  }
  return nearest;
}

/** Returns the mean change of a segment in m/year. If no mean is published, the change is 0 for a stable segment and null for any other segment. */
const changeOf = ({ dynamic, rate }: Segment): number | null => rate ?? (dynamic === 'stable' ? 0 : null);

const severity = (rate: number): number => (rate >= 0 ? 0 : rate > -0.5 ? 1 : rate > -1 ? 2 : rate > -2 ? 3 : 4);

const synthetic: Synthetic = {
  async write(region, folder) {
    await writeZip(join(folder, `${NAME}.zip`), shapefileEntries(NAME, {
      type: 'line', srid: 32632, encoding: null,
      fields: [{ name: 'OBJECTID', type: 'integer', length: 9 }, { name: 'Dinamica', type: 'text', length: 40 }, { name: 'm_anno', type: 'real', length: 12, decimals: 3 }, { name: 'Shape_Leng', type: 'real', length: 18, decimals: 6 }],
      features: segments(region).map(({ label, rate, lines }, index) => ({
        geometry: { type: 'line' as const, lines: lines.map((points) => points.map((point) => utm32.forward(point))) },
        values: [index + 1, label, rate, null],
      })),
    }));
  },

  /**
   * Distances differ from the database's distances by a few millimetres, because the database searches for the nearest point on the sphere. In a region of the
   * form `place`, two distant corners of a parcel may be at almost the same distance from the shore. If the sphere changes their order, the database's distance
   * is up to about 0.2 % longer.
   */
  truth(region) {
    const all = segments(region);
    const [west, , , north] = region.box;
    return (parcel) => {
      // The file covers only part of Italy: the comuni whose northern edge is the shore. Each of these comuni has several segments.
      const coverage = { coastal_erosion: parcel.comune.coastal ? 'mapped' : 'not_mapped' };
      // A degree of latitude is 111 km long, so a parcel more than 0.01 degree south of the northern edge is outside the radius.
      const [parcelWest, , , parcelNorth] = boxOf(parcel.polygons);
      if (parcelNorth < north - 0.01) return { coastal_erosion: [], coverage };
      const middle = Math.floor((parcelWest - west) / STEP);
      const near: { segment: Segment; distance: number }[] = [];
      all.forEach((segment, order) => {
        if (segment.dynamic === null || (order !== all.length - 1 && Math.abs(order - middle) > 10)) return;
        let distance = Infinity;
        for (const points of segment.lines) distance = Math.min(distance, distanceM(parcel.polygons, points));
        distance = Math.round(distance * 100) / 100;
        if (distance <= RADIUS_M) near.push({ segment, distance });
      });
      // If two segments have the same distance from the parcel, the segment with the lower mean change comes first, and a segment without a mean comes last.
      const rank = (segment: Segment): number => changeOf(segment) ?? Infinity;
      near.sort((a, b) => a.distance - b.distance || rank(a.segment) - rank(b.segment) || ((a.segment.dynamic ?? '') < (b.segment.dynamic ?? '') ? -1 : 1));
      return {
        coverage,
        coastal_erosion: near.slice(0, MOST).map(({ segment, distance }) => {
          const change = changeOf(segment);
          return { dynamic: segment.dynamic, avg_change_m_year: change, severity_index: change === null ? null : severity(change), distance_m: distance };
        }),
      };
    };
  },
};

export default synthetic;
