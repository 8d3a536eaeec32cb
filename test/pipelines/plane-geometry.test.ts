import { describe, expect, test } from 'vitest';
import {
  boxPolygon, clipped, commonPart, distanceToSegmentM, isConvex, nearestOnSegment, placeOf, pointToPolygonsM, polygonsArea, polygonsAreaM2,
  polygonsToSegmentM, ringArea, type MultiPolygon,
} from '../../pipelines/synthetic/plane-geometry.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';

const FIELD: MultiPolygon = [[
  [[14.5, 41.7], [14.51, 41.7], [14.512, 41.71], [14.499, 41.708], [14.5, 41.7]],
  [[14.503, 41.703], [14.504, 41.706], [14.507, 41.705], [14.503, 41.703]],
]];
/** A polygon that is not convex and has a hole. */
const NOTCHED: MultiPolygon = [[
  [[0, 0], [10, 0], [10, 10], [5, 4], [0, 10], [0, 0]],
  [[2, 1], [2, 3], [4, 3], [4, 1], [2, 1]],
]];
const TWO_PARTS: MultiPolygon = [[[[1, -1], [6, 2], [3, 9], [1, -1]]], [[[7, 7], [12, 7], [12, 12], [7, 12], [7, 7]]]];

describe('the area', () => {
  test('is positive for a counter-clockwise ring and negative for the reverse ring', () => {
    expect(ringArea([[0, 0], [2, 0], [2, 3], [0, 0]])).toBe(3);
    expect(ringArea([[0, 0], [2, 3], [2, 0], [0, 0]])).toBe(-3);
  });

  test('excludes holes with any winding', () => {
    const hole = [[2, 1], [4, 1], [4, 3], [2, 3], [2, 1]] as const;
    expect(polygonsArea(NOTCHED)).toBe(66);
    expect(polygonsArea([[NOTCHED[0]![0]!, hole]])).toBe(66);
  });

  test('is measured in square metres in EPSG:3035', () => {
    // For the expected area, each edge was split into 5,000 parts in degrees before the projection. Without the split, the area would be 3.86 m² larger.
    expect(polygonsAreaM2(FIELD)).toBeCloseTo(905_956.3182, 2);
  });
});

describe('the point', () => {
  test.each([
    [[5, 1], 'inside'], [[3, 2], 'outside'], [[2, 2], 'border'], [[5, 4], 'border'], [[5, 5], 'outside'], [[0, 0], 'border'], [[11, 0], 'outside'], [[1, 4], 'inside'],
  ] as const)('%j is %s', (point, place) => {
    expect(placeOf(point, NOTCHED)).toBe(place);
  });
});

describe('the intersection of polygons', () => {
  const commonArea = (a: MultiPolygon, b: MultiPolygon): number => polygonsArea(commonPart(a, b));

  test('has the area that GEOS computes for polygons with holes and notches', () => {
    // st_area(st_intersection(…)), PostGIS 3.3.2 / GEOS 3.11.1
    expect(commonArea(NOTCHED, TWO_PARTS)).toBeCloseTo(17.5224487725705, 10);
    expect(commonArea(TWO_PARTS, NOTCHED)).toBeCloseTo(17.5224487725705, 10);
  });

  test('is empty if the polygons only touch', () => {
    expect(commonPart([boxPolygon([0, 0, 1, 1])], [boxPolygon([1, 0, 2, 1])])).toEqual([]);
    expect(commonPart([boxPolygon([0, 0, 1, 1])], [boxPolygon([1, 1, 2, 2])])).toEqual([]);
  });

  test('is the whole polygon if both polygons are equal, and counts an area only once if polygons of the same argument overlap', () => {
    expect(commonArea(NOTCHED, NOTCHED)).toBeCloseTo(66, 10);
    expect(commonArea(NOTCHED, [boxPolygon([-1, -1, 6, 11]), boxPolygon([4, -1, 11, 11])])).toBeCloseTo(66, 10);
    expect(polygonsAreaM2(commonPart(FIELD, FIELD))).toBeCloseTo(polygonsAreaM2(FIELD), 3);
  });

  test('has the same area as polygons clipped by a convex ring of any winding', () => {
    const random = randomOf('clip');
    const turned = (ring: readonly (readonly [number, number])[]): (readonly [number, number])[] => [...ring].reverse();
    let overlaps = 0;
    for (let round = 0; round < 200; round += 1) {
      const [x, y, size, turn] = [random.next() * 12, random.next() * 12, 1 + random.next() * 8, random.next() * 7];
      const corner = (index: number): [number, number] => [x + size * Math.cos(turn + index), y + size * Math.sin(turn + index)];
      const ring = [0, 1.5, 2.5, 4, 5.5, 0].map(corner);
      expect(isConvex(ring)).toBe(true);
      for (const polygons of [NOTCHED, TWO_PARTS, FIELD]) {
        const area = commonArea(polygons, [[ring]]);
        if (area > 0) overlaps += 1;
        expect(polygonsArea(clipped(polygons, ring))).toBeCloseTo(area, 9);
        expect(polygonsArea(clipped(polygons, turned(ring)))).toBeCloseTo(area, 9);
      }
    }
    expect(overlaps).toBeGreaterThan(100);
    expect(polygonsArea(clipped([boxPolygon([0, 0, 1, 1])], boxPolygon([1, 0, 2, 1])[0]!))).toBe(0);
    expect(isConvex(NOTCHED[0]![0]!)).toBe(false);
    expect(isConvex(turned(NOTCHED[0]![0]!))).toBe(false);
  });

  test('adds up to the whole polygon if the other argument is each side of a line in turn', () => {
    const random = randomOf('split');
    for (let round = 0; round < 20; round += 1) {
      const at = random.next() * 10;
      expect(commonArea(NOTCHED, [boxPolygon([-1, -1, at, 11])]) + commonArea(NOTCHED, [boxPolygon([at, -1, 11, 11])])).toBeCloseTo(66, 9);
      expect(commonArea(NOTCHED, [boxPolygon([-1, -1, 11, at])]) + commonArea(NOTCHED, [boxPolygon([-1, at, 11, 11])])).toBeCloseTo(66, 9);
    }
  });
});

describe('distances', () => {
  test('are measured to the end of a segment if the point is beyond that end', () => {
    expect(nearestOnSegment([5, 5], [0, 0], [2, 0])).toEqual([2, 0]);
    expect(nearestOnSegment([1, 5], [0, 0], [2, 0])).toEqual([1, 0]);
    expect(nearestOnSegment([1, 5], [3, 3], [3, 3])).toEqual([3, 3]);
  });

  test('equal the distances of PostGIS geography in metres', () => {
    // Values of st_distance(…::geography, …::geography) in PostGIS 3.3.2. The values are up to a few millimetres too long, because PostGIS searches for the
    // nearest point on a sphere.
    expect(distanceToSegmentM([14.5, 41.7], [14.52, 41.69], [14.49, 41.75])).toBeCloseTo(1169.57571349, 2);
    expect(polygonsToSegmentM(FIELD, [14.52, 41.69], [14.53, 41.75])).toBeCloseTo(935.79573986, 2);
  });

  test('are zero for objects that intersect', () => {
    expect(polygonsToSegmentM(FIELD, [14.4, 41.7], [14.6, 41.702])).toBe(0);
    expect(polygonsToSegmentM(FIELD, [14.501, 41.701], [14.502, 41.702])).toBe(0);
    expect(pointToPolygonsM([14.501, 41.701], FIELD)).toBe(0);
    // A point in the hole is outside the polygon, but near it.
    expect(pointToPolygonsM([14.5045, 41.705], FIELD)).toBeGreaterThan(0);
  });
});
