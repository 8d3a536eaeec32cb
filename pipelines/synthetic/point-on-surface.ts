/**
 * The representative point that PostGIS's ST_PointOnSurface gives, computed without it: the algorithm of GEOS (InteriorPointArea, 3.8 and later).
 * A horizontal line runs half-way between the two corners' heights next to the middle of the box; the point is the middle of the widest stretch
 * of it inside, in the polygon where that stretch is widest.
 */
import type { LonLat } from './region.ts';

type Ring = readonly LonLat[];

/** @param polygons outer ring first, closed; at least one with an area */
export function pointOnSurface(polygons: readonly (readonly Ring[])[]): LonLat {
  let widest = -1;
  let point: LonLat = polygons[0]![0]![0]!;
  for (const rings of polygons) {
    const y = scanLine(rings);
    const crossings: number[] = [];
    for (const ring of rings) for (let i = 1; i < ring.length; i += 1) cross(ring[i - 1]!, ring[i]!, y, crossings);
    crossings.sort((a, b) => a - b);
    for (let i = 0; i + 1 < crossings.length; i += 2) {
      const width = crossings[i + 1]! - crossings[i]!;
      if (width > widest) {
        widest = width;
        point = [(crossings[i]! + crossings[i + 1]!) / 2, y];
      }
    }
  }
  return point;
}

function scanLine(rings: readonly Ring[]): number {
  let low = Infinity;
  let high = -Infinity;
  for (const [, y] of rings[0]!) {
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
  // Level edges do not cross; of the edges that meet in a corner on the line, those above it count.
  if (y0 === y1 || (y0 === y && y1 < y) || (y1 === y && y0 < y)) return;
  into.push(x0 === x1 ? x0 : x0 + (y - y0) / ((y1 - y0) / (x1 - x0)));
}
