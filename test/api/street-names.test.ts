/** Tests where the map places names of streets: along the house numbers, or among the house numbers if they do not form a line. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

interface Placed {
  readonly properties: { readonly name: string };
  readonly geometry: { readonly type: 'Point' | 'LineString'; readonly coordinates: readonly (readonly number[])[] };
}

const { streetNames } = (await import(fileURLToPath(new URL('../../api/pages/map/streets.js', import.meta.url)))) as {
  streetNames: (numbers: readonly { street: number; name: string; lng: number; lat: number }[]) => readonly Placed[];
};

/** Returns house numbers at positions in metres east and north of a point. */
function numbered(street: number, metres: readonly (readonly [east: number, north: number])[]) {
  return metres.map(([east, north]) => ({ street, name: `Via ${street}`, lng: 14 + east / (111_320 * Math.cos((42 * Math.PI) / 180)), lat: 42 + north / 111_320 }));
}

function metresOf([lng, lat]: readonly number[]): [number, number] {
  return [Math.round((lng! - 14) * 111_320 * Math.cos((42 * Math.PI) / 180)), Math.round((lat! - 42) * 111_320)];
}

function lineOf([feature]: readonly Placed[]): [number, number][] {
  expect(feature?.geometry.type).toBe('LineString');
  return feature!.geometry.coordinates.map(metresOf);
}

describe('the name of a street', () => {
  it('is in the middle of a street with numbers on both sides', () => {
    const both = Array.from({ length: 11 }, (_, index) => [[index * 20, 6], [index * 20, -6]] as const).flat();
    const line = lineOf(streetNames(numbered(1, both)));
    expect([line[0], line.at(-1)]).toEqual([[0, 0], [200, 0]]);
    expect(line.every(([, north]) => Math.abs(north) <= 1)).toBe(true);
  });

  it('follows a bend, and ignores one number at a wrong position', () => {
    const bend = Array.from({ length: 40 }, (_, index) => [index * 10, (index * 10 - 200) ** 2 / 800] as const);
    const line = lineOf(streetNames(numbered(1, [...bend, [200, 45]])));
    expect(line.length).toBeGreaterThan(4);
    for (const [east, north] of line.slice(1, -1)) expect(Math.abs(north - (east - 200) ** 2 / 800)).toBeLessThan(8);
  });

  it('is a point if the numbers are around a square, or closer together than a name needs', () => {
    for (const set of [[[0, 0], [60, 0], [60, 60], [0, 60]], [[0, 0], [10, 0]]] as const) {
      const [feature] = streetNames(numbered(2, set));
      expect([feature?.geometry.type, feature?.properties]).toEqual(['Point', { name: 'Via 2' }]);
    }
  });

  it('is left out for a single number, even if two tiles repeat the number', () => {
    expect(streetNames([...numbered(3, [[5, 5]]), ...numbered(3, [[5, 5]])])).toEqual([]);
  });
});
