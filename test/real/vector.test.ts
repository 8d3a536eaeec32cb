import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openVector } from '../../pipelines/formats/vector.ts';
import { realData } from '../harness/real-data.ts';

/** Folders of publishers' shapefiles, with the CRS and the total number of records of each folder. */
const FOLDERS: readonly (readonly [string, number, number])[] = [
  ['istat/2021_R15_geodata/SHP', 32632, 5726],
  ['istat-admin/boundaries/shp-napoli-census-editions', 32632, 8],
  ['buildings', 7794, 1095],
];

for (const [path, srid, records] of FOLDERS) {
  const folder = realData(path);
  it.skipIf(folder === null)(`${path}: has the CRS of the .prj, every record with its geometry, and text without a lost character`, async () => {
    let read = 0;
    for (const name of readdirSync(folder!).filter((each) => each.endsWith('.shp'))) {
      const dataset = await openVector(join(folder!, name));
      const layer = dataset.layer();
      expect(layer.srid, name).toBe(srid);
      for await (const feature of dataset.features(layer)) {
        read += 1;
        expect([feature.geometryError, feature.ewkb === null], `${name} ${feature.position}`).toEqual([null, false]);
        for (const value of Object.values(feature.properties)) expect(String(value)).not.toMatch(/\uFFFD|Ã/);
      }
      await dataset.close();
    }
    expect(read).toBe(records);
  });
}
