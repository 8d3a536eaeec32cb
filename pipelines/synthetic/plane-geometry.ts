/**
 * Computes areas, containment, intersections and distances of polygons without PostGIS. The true values of synthetic regions depend on these computations.
 * Polygons may be concave, have holes and consist of several parts. Edges are straight in the plane of the given coordinates. Functions whose names end in `M2`
 * or `M` take degrees and return square metres or metres.
 */
import { intersection, union, type Geom } from 'polyclip-ts';
import { gaussianRadius, geodesic, laeaEurope } from './map-projection.ts';
import type { LonLat } from './region.ts';

export type Point = readonly [number, number];
/** A closed ring, in which the last point repeats the first. */
export type Ring = readonly Point[];
/** A polygon: the outer ring, followed by the holes. */
export type Polygon = readonly Ring[];
export type MultiPolygon = readonly Polygon[];
/** A box: west, south, east, north. */
export type Box = readonly [number, number, number, number];

/** Yields the segments of a line or ring, in order. */
export function* segmentsOf<P extends Point>(line: readonly P[]): Generator<readonly [from: P, to: P]> {
  let from: P | undefined;
  for (const to of line) {
    if (from !== undefined) yield [from, to];
    from = to;
  }
}

/**
 * Returns the signed area of a ring, positive for a counter-clockwise ring. Computes relative to the first point, so that large coordinates cause no loss of
 * digits.
 */
export function ringArea(ring: Ring): number {
  const [[x0, y0] = [0, 0]] = ring;
  let twice = 0;
  for (const [[x1, y1], [x2, y2]] of segmentsOf(ring)) twice += (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0);
  return twice / 2;
}

/** Returns the total area of polygons, in squares of the coordinates' unit. Subtracts holes, whatever their orientation. */
export function polygonsArea(polygons: MultiPolygon): number {
  let sum = 0;
  for (const polygon of polygons) polygon.forEach((ring, index) => (sum += index === 0 ? Math.abs(ringArea(ring)) : -Math.abs(ringArea(ring))));
  return sum;
}

/** Applies a function, such as a map projection, to every point of polygons. */
export function mapPoints(polygons: MultiPolygon, place: (point: Point) => Point): Polygon[] {
  return polygons.map((rings) => rings.map((ring) => ring.map(place)));
}

/**
 * Maximum length in degrees (about 11 m) of an edge before projection. Longer edges are divided. An edge of this length that is straight in degrees differs by
 * at most 0.003 mm from an edge that is straight in EPSG:3035.
 */
const SHORT_EDGE = 0.0001;

/** Transforms polygons from degrees to EPSG:3035. Divides long edges first, because edges are straight in degrees. */
export function inLaea(polygons: MultiPolygon): Polygon[] {
  return polygons.map((rings) => rings.map((ring) => ring.flatMap(([x, y], index): Point[] => {
    const [toX, toY] = ring[index + 1] ?? [x, y];
    const parts = Math.max(1, Math.ceil(Math.hypot(toX - x, toY - y) / SHORT_EDGE));
    return Array.from({ length: parts }, (_, part) => laeaEurope.forward([x + ((toX - x) * part) / parts, y + ((toY - y) * part) / parts]));
  })));
}

/** Returns the ground area in m² of polygons in degrees. The area is measured in EPSG:3035, but edges are straight in degrees. */
export function polygonsAreaM2(polygons: MultiPolygon): number {
  return polygonsArea(inLaea(polygons));
}

export function boxOf(polygons: MultiPolygon): Box {
  let west = Infinity;
  let south = Infinity;
  let east = -Infinity;
  let north = -Infinity;
  for (const polygon of polygons) {
    for (const [x, y] of polygon[0] ?? []) {
      if (x < west) west = x;
      if (x > east) east = x;
      if (y < south) south = y;
      if (y > north) north = y;
    }
  }
  return [west, south, east, north];
}

/** Returns the ring of a box, counter-clockwise from the south-west corner. */
export function boxRing([west, south, east, north]: Box): [Point, Point, Point, Point, Point] {
  return [[west, south], [east, south], [east, north], [west, north], [west, south]];
}

export function boxPolygon(box: Box): Polygon {
  return [boxRing(box)];
}

export type Place = 'inside' | 'border' | 'outside';

/** Returns whether a point is inside polygons, outside or on the border. `border` is exact only if products of the coordinates are exact. */
export function placeOf([x, y]: Point, polygons: MultiPolygon): Place {
  let inside = false;
  for (const polygon of polygons) {
    for (const ring of polygon) {
      for (const [[x1, y1], [x2, y2]] of segmentsOf(ring)) {
        const side = (x2 - x1) * (y - y1) - (x - x1) * (y2 - y1);
        if (side === 0 && Math.min(x1, x2) <= x && x <= Math.max(x1, x2) && Math.min(y1, y2) <= y && y <= Math.max(y1, y2)) return 'border';
        // Edges are half-open in y, so that the ray crosses a corner only once.
        if ((y1 > y) !== (y2 > y) && (side > 0) === (y2 > y1)) inside = !inside;
      }
    }
  }
  return inside ? 'inside' : 'outside';
}

/** Returns whether a point is inside polygons or on the border. */
export function covers(polygons: MultiPolygon, point: Point): boolean {
  return placeOf(point, polygons) !== 'outside';
}

/** Returns the intersection of two sets of polygons. Each polygon follows the even-odd rule. Polygons of the same set may overlap. */
export function commonPart(a: MultiPolygon, b: MultiPolygon): MultiPolygon {
  return intersection(a as Geom, b as Geom);
}

/** Returns whether a ring turns in the same direction at every corner. */
export function isConvex(ring: Ring): boolean {
  const edges = Array.from(segmentsOf(ring), ([from, to]): Point => [to[0] - from[0], to[1] - from[1]]);
  const turns = Array.from(segmentsOf([...edges, ...edges.slice(0, 1)]), ([one, next]) => Math.sign(one[0] * next[1] - next[0] * one[1]));
  return !turns.includes(1) || !turns.includes(-1);
}

/**
 * Returns the part of polygons inside a convex ring, to compute the area of this part. Takes much less time than `commonPart`. The parts of a polygon that is
 * not convex stay connected by edges along the ring. These edges enclose no area.
 */
export function clipped(polygons: MultiPolygon, convex: Ring): Polygon[] {
  const sign = ringArea(convex) < 0 ? -1 : 1;
  return polygons.map((rings) => rings.map((ring) => {
    let closed = ring;
    for (const [[x1, y1], [x2, y2]] of segmentsOf(convex)) {
      const side = ([x, y]: Point): number => sign * ((x2 - x1) * (y - y1) - (x - x1) * (y2 - y1));
      const points = Array.from(segmentsOf(closed)).flatMap(([before, point]): Point[] => {
        const [from, to] = [side(before), side(point)];
        const kept = to >= 0 ? [point] : [];
        if ((from >= 0) === (to >= 0)) return kept;
        const part = from / (from - to);
        return [[before[0] + part * (point[0] - before[0]), before[1] + part * (point[1] - before[1])], ...kept];
      });
      closed = [...points.slice(-1), ...points];
    }
    return closed;
  }));
}

/** Returns the union of several sets of polygons. */
export function unionOf(sets: readonly MultiPolygon[]): MultiPolygon {
  const [first, ...others] = sets as readonly Geom[];
  return first === undefined ? [] : union(first, ...others);
}

/** Returns the point of a segment with the smallest distance to a given point, in the plane. */
export function nearestOnSegment([x, y]: Point, [x1, y1]: Point, [x2, y2]: Point): Point {
  const dx = x2 - x1;
  const dy = y2 - y1;
  const length2 = dx * dx + dy * dy;
  const t = length2 === 0 ? 0 : Math.min(1, Math.max(0, ((x - x1) * dx + (y - y1) * dy) / length2));
  return [x1 + t * dx, y1 + t * dy];
}

/**
 * Returns the geodesic distance in metres from a point to the geodesic between two other points, all in degrees, like PostGIS's `geography`. Finds the nearest
 * point in a gnomonic projection around the point, in which geodesics are straight lines. On the ellipsoid, the error is at most 1e-4 m for distances up to 10
 * km.
 */
export function distanceToSegmentM(point: LonLat, from: LonLat, to: LonLat): number {
  const radius = gaussianRadius(point[1]);
  const gnomonic = (p: LonLat): Point => {
    const { distance, azimuth } = geodesic(point, p);
    const rho = radius * Math.tan(distance / radius);
    return [rho * Math.sin(azimuth), rho * Math.cos(azimuth)];
  };
  const [x, y] = nearestOnSegment([0, 0], gnomonic(from), gnomonic(to));
  return radius * Math.atan(Math.hypot(x, y) / radius);
}

function segmentsCross(p: Point, q: Point, r: Point, s: Point): boolean {
  const side = (a: Point, b: Point, c: Point): number => Math.sign((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]));
  return side(p, q, r) * side(p, q, s) < 0 && side(r, s, p) * side(r, s, q) < 0;
}

/** Returns the geodesic distance in metres from polygons to a segment, both in degrees; 0 if the segment intersects the polygons. */
export function polygonsToSegmentM(polygons: MultiPolygon, from: LonLat, to: LonLat): number {
  if (covers(polygons, from) || covers(polygons, to)) return 0;
  let nearest = Infinity;
  for (const [p, q] of polygons.flat().flatMap((ring) => [...segmentsOf(ring)])) {
    if (segmentsCross(p, q, from, to)) return 0;
    nearest = Math.min(nearest, distanceToSegmentM(p, from, to), distanceToSegmentM(from, p, q), distanceToSegmentM(to, p, q));
  }
  return nearest;
}

/** Returns the geodesic distance in metres from a point to polygons, both in degrees; 0 if the point is inside or on the border. */
export function pointToPolygonsM(point: LonLat, polygons: MultiPolygon): number {
  if (covers(polygons, point)) return 0;
  return Math.min(...polygons.flat().flatMap((ring) => Array.from(segmentsOf(ring), ([from, to]) => distanceToSegmentM(point, from, to))));
}
