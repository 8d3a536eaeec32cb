/** Tests that outlines with shared borders are simplified together. Gaps would appear if each outline were simplified alone. */
import { describe, expect, it } from 'vitest';
import { simplifiedWithNeighbours, type MultiPolygon } from '../../api/outlines.ts';

type Point = readonly [number, number];

const drawn = (...rings: readonly (readonly Point[])[]): MultiPolygon => ({ type: 'MultiPolygon', coordinates: [rings.map((ring) => [...ring, ring[0]!])] });

/** Returns the edges of all rings, regardless of direction. */
function edges(outline: MultiPolygon | null): Set<string> {
  return new Set((outline?.coordinates.flat() ?? []).flatMap((ring) => ring.slice(1).map((point, at) => [String(ring[at]), String(point)].sort().join(' '))));
}

const corners = (outline: MultiPolygon | null): number => (outline?.coordinates.flat() ?? []).reduce((sum, ring) => sum + ring.length - 1, 0);

/** Returns a jagged line from one point to another. */
function trembling([x1, y1]: Point, [x2, y2]: Point, steps = 40): Point[] {
  return Array.from({ length: steps + 1 }, (_, at): Point => {
    const away = at === 0 || at === steps ? 0 : Math.sin(at * 1.7) * 0.0004;
    return [Number((x1 + ((x2 - x1) * at) / steps + away).toFixed(4)), Number((y1 + ((y2 - y1) * at) / steps + away).toFixed(4))];
  });
}

describe('outlines simplified together', () => {
  // Two squares are next to each other, and a rectangle is above both squares.
  const middle = trembling([1, 0], [1, 1]);
  const [roofWest, roofEast] = [trembling([0, 1], [1, 1]), trembling([1, 1], [2, 1])];
  const west = drawn([[0, 0], ...middle, ...roofWest.slice(1, -1).reverse(), [0, 1]]);
  const east = drawn([...[...middle].reverse(), [2, 0], [2, 1], ...roofEast.slice(1, -1).reverse()]);
  const above = drawn([...roofWest, ...roofEast.slice(1), [2, 2], [0, 2]]);

  it('lose corners but keep all shared borders, for any start corner and direction of the rings', () => {
    const turned = drawn([...east.coordinates[0]![0]!.slice(0, -1)].reverse());
    const begun = drawn([...turned.coordinates[0]![0]!.slice(20, -1), ...turned.coordinates[0]![0]!.slice(0, 20)]);
    for (const other of [east, turned, begun]) {
      const all = [west, other, above];
      const simplified = simplifiedWithNeighbours(all, 0.001);
      for (const [at, outline] of simplified.entries()) expect(corners(outline)).toBeLessThan(corners(all[at]!) / 4);
      const seen = simplified.map(edges);
      // Each of the three shared borders is now a single edge of two outlines. All other edges belong to one outline.
      const twice = [...seen[0]!].filter((edge) => seen[1]!.has(edge)).length + [...seen[2]!].filter((edge) => seen[0]!.has(edge) || seen[1]!.has(edge)).length;
      const once = new Set(seen.flatMap((each) => [...each])).size;
      expect([twice, once]).toEqual([3, seen.reduce((sum, each) => sum + each.size, 0) - 3]);
    }
  });

  it('keep corners that are farther from the simplified line than the tolerance', () => {
    const [outline] = simplifiedWithNeighbours([drawn([[0, 0], [0.5, 0.01], [1, 0], [1, 1], [0, 1]])], 0.001);
    expect(corners(outline!)).toBe(5);
  });

  it('keep at least three corners in every ring, including holes, islands, and outlines smaller than the tolerance', () => {
    const hole = trembling([0.4, 0.4], [0.6, 0.4], 10).concat([[0.6, 0.6], [0.4, 0.6]]);
    const islet: Point[] = [[3, 3], [3.0001, 3], [3.0001, 3.0001], [3, 3.0001]];
    const around = drawn([[0, 0], [1, 0], [1, 1], [0, 1]], hole);
    const [outer, inner, small, none] = simplifiedWithNeighbours([around, drawn([...hole].reverse()), drawn(islet), null], 0.001);
    expect([...edges(inner!)].every((edge) => edges(outer!).has(edge))).toBe(true);
    const rings = [outer!, inner!, small!].flatMap((outline) => outline.coordinates.flat());
    for (const ring of rings) expect(new Set(ring.map(String)).size).toBeGreaterThanOrEqual(3);
    expect(none).toBeNull();
  });

  it('keep the shared borders of an outline that would become a line', () => {
    // A lens between two squares, narrower than the tolerance. Each side of the lens has more than two corners.
    const left: Point[] = [[1, 0.4], [0.9995, 0.45], [0.9994, 0.5], [0.9995, 0.55], [1, 0.6]];
    const right: Point[] = [[1, 0.4], [1.0005, 0.45], [1.0006, 0.5], [1.0005, 0.55], [1, 0.6]];
    const lens = drawn([...right, ...[...left].reverse().slice(1, -1)]);
    const squares = [drawn([[0, 0], [1, 0], ...left, [1, 1], [0, 1]]), drawn([[2, 1], [1, 1], ...[...right].reverse(), [1, 0], [2, 0]])];
    const [small, ...others] = simplifiedWithNeighbours([lens, ...squares], 0.001);
    expect(corners(small!)).toBe(8);
    const shared = new Set(others.flatMap((outline) => [...edges(outline)]));
    expect([...edges(small!)].filter((edge) => !shared.has(edge))).toEqual([]);
  });
});
