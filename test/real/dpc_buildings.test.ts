/** Tests the published aggregates of a comune. Python computed the expected numbers from the bytes of the .shp (rings, shoelace formula). */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { walkWkb } from '../../pipelines/formats/wkb.ts';
import source from '../../sources/dpc_buildings/source.ts';
import { realData } from '../harness/real-data.ts';
import { trial } from '../harness/trial.ts';

const folder = realData('buildings');

/**
 * Returns the area of an EWKB polygon or multipolygon, which is the absolute sum of the signed areas of its rings. Here outer rings are clockwise and holes
 * counter-clockwise.
 */
function ringsArea(ewkb: Buffer): number {
  let area = 0;
  let [x0, y0, x1, y1] = [0, 0, 0, 0];
  let first = true;
  walkWkb(ewkb, (at) => {
    const [x, y] = [ewkb.readDoubleLE(at), ewkb.readDoubleLE(at + 8)];
    if (first) [x0, y0] = [x, y];
    else area += ((x1 - x0) * (y - y0) - (x - x0) * (y1 - y0)) / 2;
    // A ring ends where its first position is repeated.
    first = !first && x === x0 && y === y0;
    [x1, y1] = [x, y];
    return null;
  });
  return Math.abs(area);
}

it.skipIf(folder === null)('every aggregate of Milo is read, with the expected sum of areas in the file\'s projection', async () => {
  const { recognition, collected } = await trial(source, join(folder!, 'Milo.shp'));
  expect(recognition).toMatchObject({ role: 'aggregati', vintage: '2021-03-23', complete: false });
  expect(collected!.members.map(({ records, rejects }) => [records, rejects.length])).toEqual([[1095, 0]]);
  const rows = collected!.rows['raw_dpc_building']!;
  expect(new Set(rows.map((row) => row['istat_code']))).toEqual(new Set(['087026']));
  expect(new Set(rows.map((row) => (row['geom'] as Buffer).readUInt32LE(5)))).toEqual(new Set([7794]));
  const sum = rows.reduce((total, row) => total + ringsArea(row['geom'] as Buffer), 0);
  expect(Math.abs(sum - 180_028.964_312_56)).toBeLessThan(0.01);
});
