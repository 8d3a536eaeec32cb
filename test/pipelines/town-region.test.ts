/** Tests the form `place` of the synthetic region: towns with streets and lots, and fields, tracks and a stream around each town. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { accessesOf } from '../../pipelines/synthetic/access-points.ts';
import { buildingsOf } from '../../pipelines/synthetic/buildings.ts';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import { boxOf, commonPart, covers, polygonsArea, polygonsAreaM2, ringArea, segmentsOf, type Point } from '../../pipelines/synthetic/plane-geometry.ts';
import type { LonLat, SyntheticComune, SyntheticParcel, SyntheticRegion } from '../../pipelines/synthetic/region.ts';

const SEEDS = [1, 2, 5, 77];
const placeOf = (seed: number, parcels = 2000): SyntheticRegion => makeRegion({ parcels, seed, form: 'place' });

/** Digest of the parcels of a region. */
function digest(region: SyntheticRegion): string {
  const hash = createHash('sha256');
  for (const { index, label, reference, kind, polygons, cells } of region.parcels()) {
    hash.update(JSON.stringify([index, label, reference, kind, polygons, cells]));
  }
  return hash.digest('hex');
}

/** Integer coordinates relative to the region's corner, in units of 1e-8 degree. */
const units = (region: SyntheticRegion) => ([lon, lat]: LonLat): Point => [Math.round((lon - region.box[0]) * 1e8), Math.round((lat - region.box[1]) * 1e8)];

const isOpposite = (a: number, b: number): boolean => (a > 0 && b < 0) || (a < 0 && b > 0);
const sideOf = ([x1, y1]: Point, [x2, y2]: Point, [x, y]: Point): number => Math.sign((x2 - x1) * (y - y1) - (x - x1) * (y2 - y1));

/** Counts the pairs of edges that cross at an inner point of both edges, once for each common square. Compares only edges in the same square of about 60 m. */
function crossings(rings: readonly (readonly Point[])[]): number {
  const squares = new Map<string, [Point, Point][]>();
  let found = 0;
  for (const ring of rings) {
    for (const [p, q] of segmentsOf(ring)) {
      const [west, east] = [Math.min(p[0], q[0]), Math.max(p[0], q[0])].map((x) => Math.floor(x / 60_000));
      const [south, north] = [Math.min(p[1], q[1]), Math.max(p[1], q[1])].map((y) => Math.floor(y / 60_000));
      for (let x = west!; x <= east!; x += 1) {
        for (let y = south!; y <= north!; y += 1) {
          const others = squares.get(`${x} ${y}`) ?? [];
          for (const [r, s] of others) if (isOpposite(sideOf(p, q, r), sideOf(p, q, s)) && isOpposite(sideOf(r, s, p), sideOf(r, s, q))) found += 1;
          others.push([p, q]);
          squares.set(`${x} ${y}`, others);
        }
      }
    }
  }
  return found;
}

const roadsAndStrips = (parcels: readonly SyntheticParcel[], comune: SyntheticComune, kind: SyntheticParcel['kind']): SyntheticParcel[] =>
  parcels.filter((parcel) => parcel.comune === comune && parcel.kind === kind);

test('regions of the form lattice have the same digests as in earlier versions', () => {
  expect(digest(makeRegion({ parcels: 2000, seed: 1 }))).toMatch(/^6a0d49f83b717838/);
  expect(digest(makeRegion({ parcels: 1500, seed: 3, form: 'lattice' }))).toMatch(/^767caa1c451a1a42/);
  expect(digest(makeRegion({ parcels: 900, seed: 5, region: 4 }))).toMatch(/^5a7dd5732ede5be9/);
  expect(digest(makeRegion({ parcels: 1200, seed: 6, dense: false }))).toMatch(/^740414688c144dbb/);
});

test('makeRegion refuses an unknown form, and refuses the form place in a region with land registers', () => {
  expect(() => makeRegion({ parcels: 2000, seed: 1, form: 'grid' as 'place' })).toThrow(expect.objectContaining({ code: 'SYNTHETIC_REGION', detail: 'expected form to be lattice or place, found grid' }));
  expect(() => makeRegion({ parcels: 2000, seed: 1, form: 'place', region: 4 })).toThrow(expect.objectContaining({ code: 'SYNTHETIC_REGION', detail: 'expected form to be lattice for region 4, found place' }));
});

test('a region of the form place has the same parcels for the same seed, and different parcels for a different seed', () => {
  expect(digest(placeOf(1))).toBe(digest(placeOf(1)));
  expect(digest(placeOf(1))).not.toBe(digest(placeOf(2)));
});

test.each([[2, 2], [90, 2], [101, 2], [433, 3], [8_000, 2]])('a region of the form place has exactly the requested number of parcels, with unique references: %i parcels in %i comuni', (parcels, comuni) => {
  const references = new Set([...makeRegion({ parcels, seed: 3, comuni, form: 'place' }).parcels()].map(({ reference }) => reference));
  expect(references.size).toBe(parcels);
});

describe.each(SEEDS)('a region with seed %i', (seed) => {
  const region = placeOf(seed);
  const parcels = [...region.parcels()];

  test('has valid rings in the correct direction, with at most 8 decimals', () => {
    const at = units(region);
    for (const { polygons, comune, reference } of parcels) {
      const [west, south, east, north] = boxOf(polygons);
      expect(west >= comune.box[0] && south >= comune.box[1] && east <= comune.box[2] && north <= comune.box[3], reference).toBe(true);
      expect(crossings(polygons.flat().map((ring) => ring.map(at))), reference).toBe(0);
      for (const polygon of polygons) {
        for (const [index, ring] of polygon.entries()) {
          expect(ring.at(-1)).toEqual(ring[0]);
          expect(Math.sign(ringArea(ring))).toBe(index === 0 ? 1 : -1);
          expect(new Set(ring.slice(1).map(String)).size, reference).toBe(ring.length - 1);
          expect(ring.flat().map((value) => Number(value.toFixed(8)))).toEqual(ring.flat());
        }
      }
      expect(polygonsAreaM2(polygons), reference).toBeGreaterThan(60);
    }
  });

  test('fills every comune without gaps or overlaps', () => {
    const at = units(region);
    for (const comune of region.comuni) {
      const mine = parcels.filter((parcel) => parcel.comune === comune);
      const area = mine.reduce((sum, { polygons }) => sum + polygonsArea(polygons.map((rings) => rings.map((ring) => ring.map(at)))), 0);
      const [west, south, east, north] = comune.box;
      const [left, bottom] = at([west, south]);
      const [right, top] = at([east, north]);
      // The areas are sums of products of integers, so equality is exact. A gap would go unnoticed only with an overlap of exactly the same area.
      expect(area).toBe((right - left) * (top - bottom));
      expect(crossings(mine.flatMap(({ polygons }) => polygons.flat().map((ring) => ring.map(at))))).toBe(0);
    }
  });

  test('fills the outline of every sheet', () => {
    for (const comune of region.comuni) {
      for (const sheet of region.sheets(comune)) {
        const mine = [...region.parcelsOf(sheet)];
        expect(mine).toHaveLength(sheet.parcelCount);
        const area = mine.reduce((sum, { polygons }) => sum + polygonsAreaM2(polygons), 0);
        expect(area / polygonsAreaM2([[sheet.outline()]])).toBeCloseTo(1, 6);
      }
    }
  });

  test('has no overlapping parcels', () => {
    const mine = parcels.filter(({ comune }) => comune.index === 1);
    for (let i = 0; i < mine.length; i += 9) {
      const [west, south, east, north] = boxOf(mine[i]!.polygons);
      for (const other of mine) {
        const box = boxOf(other.polygons);
        if (other === mine[i] || box[0] > east || box[2] < west || box[1] > north || box[3] < south) continue;
        expect(polygonsAreaM2(commonPart(mine[i]!.polygons, other.polygons))).toBeLessThan(1e-4);
      }
    }
  });

  test('has small lots and large fields', () => {
    const areas = parcels.filter(({ kind }) => kind === 'land').map(({ polygons }) => polygonsAreaM2(polygons)).sort((a, b) => a - b);
    const at = (share: number): number => areas[Math.floor(share * areas.length)]!;
    expect(at(0.9) / at(0.1)).toBeGreaterThan(8);
  });

  test('has streets that continue from sheet to sheet and a stream through each comune', () => {
    for (const comune of region.comuni) {
      const roads = roadsAndStrips(parcels, comune, 'road');
      const corners = new Map<string, Set<string>>();
      for (const { sheet, polygons } of roads) {
        for (const corner of polygons.flat(2)) corners.set(String(corner), (corners.get(String(corner)) ?? new Set()).add(sheet.reference));
      }
      // Each road has corners in common with the road of a neighbouring sheet.
      for (const { sheet } of roads) expect([...corners.values()].some((sheets) => sheets.size > 1 && sheets.has(sheet.reference)), sheet.reference).toBe(true);
      const stream = boxOf(roadsAndStrips(parcels, comune, 'water').flatMap(({ polygons }) => polygons));
      expect([stream[0], stream[2]]).toEqual([comune.box[0], comune.box[2]]);
      const road = boxOf(roads.flatMap(({ polygons }) => polygons));
      expect(road).toEqual([...comune.box]);
    }
  });

  test('has roads with a mean width of 3 to 12 m', () => {
    // The mean width of a strip is twice its area divided by its perimeter.
    for (const { polygons, reference } of parcels.filter(({ kind }) => kind === 'road')) {
      const edges = polygons.flat().flatMap((ring) => [...segmentsOf(ring)]);
      const lengths = edges.map(([[x1, y1], [x2, y2]]) => Math.hypot((x2 - x1) * 82_800, (y2 - y1) * 111_100));
      const perimeter = lengths.reduce((sum, length) => sum + length, 0);
      const width = (2 * polygonsAreaM2(polygons)) / perimeter;
      expect(width, reference).toBeGreaterThan(3);
      expect(width, reference).toBeLessThan(12);
    }
  });

  test('has buildings on land, and accesses at distance 0 inside their parcels', () => {
    const [comune] = region.comuni;
    const land = [...region.parcels(comune)].filter(({ kind }) => kind === 'land');
    for (const { polygon: [ring] } of buildingsOf(region, comune)) {
      expect(land.some(({ polygons }) => ring!.every((corner) => covers(polygons, corner)))).toBe(true);
    }
    const { accesses, owners } = accessesOf(region, comune);
    const byIndex = new Map(land.map((parcel) => [parcel.index, parcel]));
    for (const { key, point } of accesses) {
      const owner = owners.get(key);
      if (point !== null && owner?.distance === 0) expect(covers(byIndex.get(owner.parcel)!.polygons, point)).toBe(true);
    }
  });
});
