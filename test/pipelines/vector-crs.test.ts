/** Tests that the CRS of a vector file is read correctly, however many files were opened before. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openVector } from '../../pipelines/formats/vector.ts';
import { writeGeoPackage } from '../../pipelines/synthetic/geopackage-writer.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

const SYSTEMS = [3035, 32632, 32633, 6706, 7794];
const TIMES = 400;

const folder = temporaryFolder();

async function sridOf(path: string): Promise<number | null> {
  const dataset = await openVector(path);
  try {
    const [layer] = dataset.layers;
    return layer?.srid ?? null;
  } finally {
    await dataset.close();
  }
}

it(`each file has its own CRS if GeoPackages and GeoJSON are opened and closed in turn ${TIMES} times`, async () => {
  const files = new Map<string, number>();
  for (const srid of SYSTEMS) {
    const path = join(folder, `${srid}.gpkg`);
    await writeGeoPackage(path, [{ name: 'l', srid, geometry: 'Point', fields: [], features: [{ values: [], geometry: { type: 'Point', coordinates: [1, 2] } }] }]);
    files.set(path, srid);
  }
  const lonLat = join(folder, 'a.geojson');
  await writeFile(lonLat, JSON.stringify({ type: 'FeatureCollection', features: [{ type: 'Feature', properties: {}, geometry: { type: 'Point', coordinates: [14, 41] } }] }));
  files.set(lonLat, 4326);
  const wrong: string[] = [];
  const paths = [...files.keys()];
  for (let time = 0; time < TIMES; time += 1) {
    const path = paths[(time * 7 + (time >> 3)) % paths.length]!;
    const found = await sridOf(path);
    if (found !== files.get(path)) wrong.push(`${time}: ${path.slice(folder.length + 1)} is ${found}`);
  }
  expect(wrong).toEqual([]);
});
