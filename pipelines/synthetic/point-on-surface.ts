/**
 * Computes the same representative point as PostGIS's ST_PointOnSurface, with the algorithm of GEOS (InteriorPointArea, 3.8 and later). For each polygon, the
 * algorithm finds the corners nearest to half the height of the bounding box, one above and one below. A horizontal line runs midway between these two corners.
 * The representative point is the middle of the longest section of these lines inside a polygon.
 */
import { segmentsOf, type MultiPolygon, type Polygon } from './plane-geometry.ts';
import type { LonLat } from './region.ts';

/** Returns the representative point of polygons. @throws RangeError for polygons without an area */
export function pointOnSurface(polygons: MultiPolygon): LonLat {
  let widest = -1;
  let point: LonLat | null = null;
  for (const rings of polygons) {
    const y = scanLine(rings);
    const crossings: number[] = [];
    for (const ring of rings) for (const [from, to] of segmentsOf(ring)) cross(from, to, y, crossings);
    crossings.sort((a, b) => a - b);
    for (const [index, from] of crossings.entries()) {
      const to = crossings[index + 1];
      if (index % 2 === 1 || to === undefined || to - from <= widest) continue;
      widest = to - from;
      point = [(from + to) / 2, y];
    }
  }
  if (point === null) throw new RangeError('expected polygons with an area, found none');
  return point;
}

function scanLine(rings: Polygon): number {
  let low = Infinity;
  let high = -Infinity;
  for (const [, y] of rings[0] ?? []) {
    low = Math.min(low, y);
    high = Math.max(high, y);
  }
  const middle = (low + high) / 2;
  for (const ring of rings) {
    for (const [, y] of ring) {
      if (y <= middle) low = Math.max(low, y);
      else high = Math.min(high, y);
    }
  }
  return (high + low) / 2;
}

function cross([x0, y0]: LonLat, [x1, y1]: LonLat, y: number, into: number[]): void {
  if ((y0 > y && y1 > y) || (y0 < y && y1 < y)) return;
  // Skips horizontal edges. If edges meet at a corner on the line, only edges above the line count.
  if (y0 === y1 || (y0 === y && y1 < y) || (y1 === y && y0 < y)) return;
  into.push(x0 === x1 ? x0 : x0 + (y - y0) / ((y1 - y0) / (x1 - x0)));
}
