import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { walkWkb } from '../../pipelines/formats/wkb.ts';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import { writeGeoPackage } from '../../pipelines/synthetic/geopackage-writer.ts';
import source from './source.ts';
import synthetic from './synthetic.ts';
import { describeLoad } from '../../test/harness/loaded.ts';
import { temporaryFolder } from '../../test/harness/temporary-folder.ts';
import { trial } from '../../test/harness/trial.ts';

const FOLDER = fileURLToPath(new URL('./', import.meta.url));
const region = makeRegion({ parcels: 600, seed: 3, region: 4 });

/** Returns the SRID and the sides of a polygon with one ring, without the direction of the sides. */
function shapeOf(ewkb: Buffer): { srid: number; sides: string[] } {
  const corners: string[] = [];
  walkWkb(ewkb, (at) => {
    corners.push(`${ewkb.readDoubleLE(at)} ${ewkb.readDoubleLE(at + 8)}`);
    return null;
  });
  return { srid: ewkb.readUInt32LE(5), sides: corners.slice(1).map((corner, index) => [corners[index], corner].sort().join(', ')).sort() };
}

const folder = temporaryFolder();
beforeAll(() => synthetic.write(region, folder));

describe('the parcels of Bolzano', () => {
  it('are complete if the file has the name of the layer, and a part of the province if the file has a different name', async () => {
    const whole = await trial(source, join(folder, 'ParcelsAggregate.geojson'));
    expect(whole.recognition).toMatchObject({ role: 'parcels', vintage: '0000', region: 4, complete: true });
    const path = join(folder, 'eppan 20250301.geojson');
    await writeFile(path, readFileSync(join(folder, 'ParcelsAggregate.geojson')));
    expect((await trial(source, path)).recognition).toMatchObject({ vintage: '2025-03-01', complete: false });
    await rm(path);
  });

  it('give the same rows from a GeoPackage and a shapefile, which spell the field names differently', async () => {
    const path = join(folder, 'extract.gpkg');
    await writeGeoPackage(path, [{
      name: 'parcels', srid: 25832, geometry: 'Polygon',
      fields: ['PART_CODICE', 'PART_AREA_TOTALE', 'PART_CCAT_CODICE', 'PART_CCAT_NOME_DE', 'PART_CAMM_NOME_DE', 'PART_ISTAT'].map((name) => ({ name, type: 'string' as const })),
      features: [{
        values: ['.107/2', '100', '501', 'Märchendorf', 'Märchendorf', '021901'],
        geometry: { type: 'Polygon', coordinates: [[[677000, 5152000], [677000, 5152010], [677010, 5152010], [677010, 5152000], [677000, 5152000]]] },
      }],
    }]);
    const [geopackage, shapefile] = await Promise.all([trial(source, path), trial(source, join(FOLDER, 'fixture', 'names-cut.zip'))]);
    const plain = ({ collected }: typeof geopackage) => collected!.rows['raw_parcel']!.map(({ geom: _geom, ...row }) => row);
    expect(plain(geopackage)).toEqual(plain(shapefile));
    // The formats have different directions and starting points of rings.
    const shapes = ({ collected }: typeof geopackage) => collected!.rows['raw_parcel']!.map(({ geom }) => shapeOf(geom as Buffer));
    expect(shapes(geopackage)).toEqual([{ srid: 25832, sides: [
      '677000 5152000, 677000 5152010', '677000 5152000, 677010 5152000', '677000 5152010, 677010 5152010', '677010 5152000, 677010 5152010',
    ] }]);
    expect(shapes(shapefile)).toEqual(shapes(geopackage));
    expect(geopackage.recognition).toMatchObject({ role: 'parcels', complete: false });
  });

  it('are read from files with the extension .json, which the service uses', async () => {
    const path = join(folder, 'p_bz-Cadastre_ParcelsAggregate.json');
    await writeFile(path, readFileSync(join(folder, 'ParcelsAggregate.geojson')));
    const { recognition, collected } = await trial(source, path);
    expect(recognition).toMatchObject({ role: 'parcels', complete: true });
    expect(collected!.rows).toEqual((await trial(source, join(folder, 'ParcelsAggregate.geojson'))).collected!.rows);
    await rm(path);
  });
});

describeLoad('loading parcels of Bolzano', 'bolzano_cadastre', (loaded) => {
  it('merges records of the same parcel number, and names each comune catastale once', async () => {
    const box = (x: number): string => `srid=4326;polygon((${11 + x} 46.5, ${11.001 + x} 46.5, ${11.001 + x} 46.501, ${11 + x} 46.501, ${11 + x} 46.5))`;
    const found = await loaded(`
      insert into raw_parcel (member_id, position, code, ccat, name_other, istat_code, geom) values
        (1, 1, '7', '501', 'Märchendorf', '021901', '${box(0)}'), (1, 2, '.7', '501', 'Märchendorf', '021901', '${box(0.001)}'),
        (1, 3, '7', '501', 'Märchendorf', '021902', '${box(0.002)}'), (1, 4, '7', '502', null, null, '${box(0.003)}')`, async ({ session, checks }) => ({
      parcels: await session.query('select position, reference, pieces, st_numgeometries(geom) as parts from bolzano_parcel order by position'),
      pieces: await session.query('select position, ccat, code from bolzano_piece'),
      comuni: await session.query('select ccat, name_other, istat_code, parcels from bolzano_comune order by ccat'),
      violations: (await checks()).map(({ name, level }) => [name, level]),
    }));
    expect(found).toEqual({
      parcels: [
        { position: 1, reference: 'IT.BZ.501.7', pieces: 2, parts: 2 }, { position: 2, reference: 'IT.BZ.501..7', pieces: 1, parts: 1 }, { position: 4, reference: 'IT.BZ.502.7', pieces: 1, parts: 1 },
      ],
      pieces: [{ position: 3, ccat: '501', code: '7' }],
      comuni: [{ ccat: '501', name_other: 'Märchendorf', istat_code: '021901', parcels: 2 }, { ccat: '502', name_other: null, istat_code: null, parcels: 1 }],
      violations: [['comune_catastale_says_its_comune', 'error'], ['comune_catastale_in_one_comune', 'warn']],
    });
  });
});
