import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { makeRegion, SHEET_PARCELS } from '../../pipelines/synthetic/make-region.ts';
import { commonPart, polygonsAreaM2, ringArea } from '../../pipelines/synthetic/plane-geometry.ts';
import type { SyntheticRegion } from '../../pipelines/synthetic/region.ts';

function fingerprint(region: SyntheticRegion): string {
  const hash = createHash('sha256');
  for (const parcel of region.parcels()) hash.update(`${parcel.reference} ${parcel.kind} ${JSON.stringify(parcel.polygons)}\n`);
  return hash.digest('hex');
}

describe('the synthetic region', () => {
  test.each([2, 3, 399, 801, 2000, 12_345])('has exactly %d parcels, with consecutive numbers and unique references', (parcels) => {
    const region = makeRegion({ parcels, seed: 7 });
    const references = new Set<string>();
    let index = 0;
    for (const parcel of region.parcels()) {
      expect(parcel.index).toBe(index);
      index += 1;
      references.add(parcel.reference);
    }
    expect(index).toBe(parcels);
    expect(region.parcelCount).toBe(parcels);
    expect(references.size).toBe(parcels);
    expect(region.comuni.reduce((sum, comune) => sum + comune.parcelCount, 0)).toBe(parcels);
  });

  test('has the requested number of comuni, and refuses more comuni than parcels', () => {
    const region = makeRegion({ parcels: 2000, seed: 1, comuni: 20 });
    expect(region.comuni).toHaveLength(20);
    expect([...region.parcels()]).toHaveLength(2000);
    expect(() => makeRegion({ parcels: 10, seed: 1, comuni: 11 })).toThrow(expect.objectContaining({ code: 'SYNTHETIC_REGION', detail: 'expected comuni to be 2 to 10, found 11' }));
  });

  test('is the same for the same parameters, and different for a different seed', () => {
    const first = fingerprint(makeRegion({ parcels: 1500, seed: 3 }));
    expect(fingerprint(makeRegion({ parcels: 1500, seed: 3 }))).toBe(first);
    expect(fingerprint(makeRegion({ parcels: 1500, seed: 4 }))).not.toBe(first);
  });

  test('gives a comune the same parcels if only this comune is generated', () => {
    const region = makeRegion({ parcels: 2000, seed: 1 });
    const all = [...region.parcels()];
    for (const comune of region.comuni) expect([...region.parcels(comune)]).toEqual(all.filter((parcel) => parcel.comune === comune));
  });

  test('describes ten million parcels without generating them, and can be read from any comune', () => {
    const region = makeRegion({ parcels: 10_000_000, seed: 1 });
    const last = region.comuni.at(-1)!;
    const [parcel] = region.parcels(last);
    expect(parcel!.index).toBe(10_000_000 - last.parcelCount);
    for (const key of ['belfiore', 'istatCode', 'name'] as const) expect(new Set(region.comuni.map((comune) => comune[key])).size).toBe(region.comuni.length);
    expect(region.comuni.every((comune) => /^Z\d{3}$/.test(comune.belfiore) && /^(070|094)\d{3}$/.test(comune.istatCode))).toBe(true);
    for (const comune of [region.comuni[1], last]) {
      const references = [...region.sheets(comune)].map((sheet) => sheet.reference);
      expect(new Set(references).size).toBe(references.length);
      expect(references.every((reference) => /^Z\d{3}[A-Z_]\d{4}[0-9A-Z][0-9A-Z]$/.test(reference))).toBe(true);
    }
  });

  test.each([4, 14])('gives 999 comuni of region %i different ISTAT codes, which no real comune of their provinces has', (code) => {
    const { comuni } = makeRegion({ parcels: 999, seed: 1, comuni: 999, region: code });
    const codes = comuni.map(({ istatCode }) => istatCode);
    expect(new Set(codes).size).toBe(999);
    // The last three digits of real codes of these provinces are below 300, as in 022253 (Novella).
    expect(codes.filter((each) => !/^\d{6}$/.test(each) || Number(each.slice(3)) <= 400)).toEqual([]);
  });

  test('keeps every parcel inside its sheet and its sheet inside its comune, with rings in the correct direction and at most 8 decimals', () => {
    const region = makeRegion({ parcels: 2000, seed: 5 });
    for (const parcel of region.parcels()) {
      const [west, south, east, north] = parcel.sheet.box;
      const comune = parcel.comune.box;
      expect(west >= comune[0] && south >= comune[1] && east <= comune[2] && north <= comune[3]).toBe(true);
      for (const polygon of parcel.polygons) {
        polygon.forEach((ring, index) => {
          expect(ring.at(-1)).toEqual(ring[0]);
          expect(Math.sign(ringArea(ring))).toBe(index === 0 ? 1 : -1);
          for (const [x, y] of ring) {
            expect(x >= west && x <= east && y >= south && y <= north).toBe(true);
            expect(Number(x.toFixed(8))).toBe(x);
            expect(Number(y.toFixed(8))).toBe(y);
          }
        });
      }
      expect(polygonsAreaM2(parcel.polygons)).toBeGreaterThan(500);
    }
  });

  test('fills a whole sheet without gaps or overlaps', () => {
    const region = makeRegion({ parcels: 2000, seed: 9 });
    for (const sheet of [...region.sheets(region.comuni[0])].filter((each) => each.parcelCount === SHEET_PARCELS)) {
      const parcels = [...region.parcels(region.comuni[0])].filter((parcel) => parcel.sheet.index === sheet.index);
      const [west, south, east, north] = sheet.box;
      // All sheet corners are parcel corners, so the planar areas add up to the area of the box, up to rounding.
      const sum = parcels.reduce(
        (total, parcel) => total + parcel.polygons.reduce((part, polygon) => part + polygon.reduce((ringSum, ring) => ringSum + ringArea(ring), 0), 0),
        0,
      );
      expect(sum).toBeCloseTo((east - west) * (north - south), 12);
      const area = parcels.reduce((total, parcel) => total + polygonsAreaM2(parcel.polygons), 0);
      for (let i = 0; i < parcels.length; i += 7) {
        for (let j = 0; j < parcels.length; j += 1) {
          if (i !== j) expect(polygonsAreaM2(commonPart(parcels[i]!.polygons, parcels[j]!.polygons))).toBeLessThan(1e-4);
        }
      }
      expect(area / SHEET_PARCELS).toBeGreaterThan(1500);
    }
  });

  test('contains the special cases of parcels, sheets and comuni', () => {
    const region = makeRegion({ parcels: 2000, seed: 1 });
    const parcels = [...region.parcels()];
    const sheets = region.comuni.flatMap((comune) => [...region.sheets(comune)]);
    expect(new Set(parcels.map((parcel) => parcel.kind))).toEqual(new Set(['land', 'road', 'water']));
    expect(parcels.some((parcel) => parcel.polygons.length === 2)).toBe(true);
    expect(parcels.some((parcel) => parcel.polygons[0].length === 2)).toBe(true);
    expect(parcels.some((parcel) => /^\d+A$/.test(parcel.label))).toBe(true);
    expect(parcels.some((parcel) => parcel.label === 'A')).toBe(true);
    expect(parcels.some((parcel) => parcel.kind === 'road' && parcel.polygons.length === 2)).toBe(true);
    expect(new Set(sheets.map((sheet) => sheet.section))).toEqual(new Set([null, 'A', 'B']));
    expect(sheets.some((sheet) => sheet.attachment !== '0')).toBe(true);
    expect(region.comuni.some((comune) => comune.name.includes('/'))).toBe(true);
    expect(region.comuni.some((comune) => comune.name.includes("'"))).toBe(true);
    expect(region.comuni.some((comune) => comune.coastal) && region.comuni.some((comune) => !comune.coastal)).toBe(true);
    expect(region.comuni.filter((comune) => comune.postalCodes.length > 1)).toHaveLength(1);
  });

  test.each([0, 1, 1.5, 10_000_001, Number.NaN])('refuses %d parcels', (parcels) => {
    expect(() => makeRegion({ parcels, seed: 1 })).toThrow(expect.objectContaining({ code: 'SYNTHETIC_REGION', exitCode: 2 }));
  });

  test('gives each key its own random stream, which is the same every time', () => {
    const region = makeRegion({ parcels: 2, seed: 1 });
    const draw = (...key: (string | number)[]): number[] => {
      const random = region.random(...key);
      return Array.from({ length: 5 }, () => random.next());
    };
    expect(draw('a', 1)).toEqual(draw('a', 1));
    expect(draw('a', 1)).not.toEqual(draw('a', 2));
    expect(draw('a1')).not.toEqual(draw('a', 1));
    const random = region.random('mean');
    const mean = Array.from({ length: 20_000 }, () => random.next()).reduce((sum, value) => sum + value, 0) / 20_000;
    expect(Math.abs(mean - 0.5)).toBeLessThan(0.01);
  });
});
