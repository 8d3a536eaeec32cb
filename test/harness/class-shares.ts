/** Compares the classes of the land maps, and their shares of each parcel, with the expected values. */
import { expect } from 'vitest';

export interface ClassRow {
  readonly [column: string]: unknown;
  readonly fid: number;
  readonly json: Readonly<Record<string, unknown>> | null;
  readonly coverage: string | null;
}

/**
 * Checks that the rows are the expected rows, with shares that may differ by 0.0001. Also checks that the synthetic region has more than 100 shares below 1,
 * more than 100 shares of 1, and more than five classes.
 */
export function expectClasses(rows: readonly ClassRow[], expected: readonly ClassRow[]): void {
  const withoutShare = (row: ClassRow): ClassRow => ({ ...row, json: row.json === null ? null : { ...row.json, share: 0 } });
  expect(rows.map(withoutShare)).toEqual(expected.map(withoutShare));
  // Expected edges are straight in degrees, and edges in the database are straight in EPSG:3035. The inverse projection of PROJ has an error of 0.5 mm.
  const off = rows.flatMap(({ fid, json }, index) => {
    const [found, wanted] = [json?.['share'], expected[index]!.json?.['share']] as [number | undefined, number | undefined];
    return Math.abs((found ?? 0) - (wanted ?? 0)) <= 1e-4 ? [] : [`${fid}: expected ${wanted}, found ${found}`];
  });
  expect(off).toEqual([]);
  const shares = rows.flatMap(({ json }) => (json === null ? [] : [json['share'] as number]));
  expect(shares.filter((share) => share < 1).length).toBeGreaterThan(100);
  expect(shares.filter((share) => share === 1).length).toBeGreaterThan(100);
  expect(new Set(rows.map(({ json }) => json?.['code'])).size).toBeGreaterThan(5);
}
