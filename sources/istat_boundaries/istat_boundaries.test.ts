import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import { utm32 } from '../../pipelines/synthetic/map-projection.ts';
import { boxPolygon, polygonsAreaM2 } from '../../pipelines/synthetic/plane-geometry.ts';
import { writeShapefile } from '../../pipelines/synthetic/shapefile-writer.ts';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import { writeZip, type ZipEntry } from '../../pipelines/synthetic/zip-writer.ts';
import { EDITIONS } from './schema.ts';
import source from './source.ts';
import synthetic from './synthetic.ts';
import { describeLoad } from '../../test/harness/loaded.ts';
import { temporaryFolder } from '../../test/harness/temporary-folder.ts';
import { trial } from '../../test/harness/trial.ts';

const FOLDER = fileURLToPath(new URL('./', import.meta.url));

const folder = temporaryFolder();

describe('the boundaries', () => {
  describe('in the zip of 2026', () => {
    const EDITION = join(FOLDER, 'fixture', 'Limiti01012026_g.zip');
    /** Returns the path of an entry without its top folder. In the fixture, the top folder is `Limiti01012026_g`. Some published zips have no top folder. */
    const withoutTop = (path: string): string => path.replace(/^[^/]*\//, '');

    async function repacked(name: string, path: (of: string) => string | null): Promise<string> {
      const target = join(folder, name);
      await mkdir(dirname(target), { recursive: true });
      const archive = await ZipArchive.open(EDITION);
      await writeZip(target, (async function* (): AsyncGenerator<ZipEntry> {
        for (const entry of archive.entries) {
          const to = path(entry.path);
          if (to !== null) yield [to, await archive.buffer(entry.path), { modified: '2026-03-20' }];
        }
      })());
      await archive.close();
      return target;
    }

    test.each([
      ['without top folder', 'Limiti01012026_g.zip', withoutTop],
      ['with a different top folder', 'Limiti01012026_g.zip', (path: string) => `Confini al 1 gennaio/${withoutTop(path)}`],
      ['with two top folders', 'Limiti01012026_g.zip', (path: string) => `a/${path}`],
      ['without any folder', 'Limiti01012026_g.zip', (path: string) => basename(path)],
      ['with extensions in capital letters', 'Limiti01012026_g.zip', (path: string) => path.replace(/\.\w+$/, (ending) => ending.toUpperCase())],
      ['with the file names of the detailed edition', 'Limiti01012026.zip', (path: string) => withoutTop(path).replaceAll('_g', '')],
      ['without the files that declare the encoding', 'Limiti01012026_g.zip', (path: string) => (path.endsWith('.cpg') ? null : withoutTop(path))],
    ])('give the same rows if the zip is repacked %s', async (_words, name, path) => {
      const expected = await trial(source, EDITION);
      const { recognition, collected, error } = await trial(source, await repacked(name, path));
      expect(error).toBeNull();
      expect(recognition).toEqual({ ...expected.recognition, dated: '2026-03-20' });
      expect(collected!.rows).toEqual(expected.collected!.rows);
    });

    test('give the same rows if the zip is unpacked into one shapefile per level', async () => {
      const archive = await ZipArchive.open(EDITION);
      for (const entry of archive.entries) await writeFile(join(folder, basename(entry.path)), await archive.buffer(entry.path));
      await archive.close();
      const expected = (await trial(source, EDITION)).collected!.rows['raw_boundary']!;
      const found: Record<string, unknown>[] = [];
      for (const [level, role] of [['Com', 'comune'], ['ProvCM', 'provincia'], ['Reg', 'regione']] as const) {
        const { recognition, collected } = await trial(source, join(folder, `${level}01012026_g_WGS84.shp`));
        expect(recognition).toMatchObject({ role, vintage: '2026-01-01', complete: true });
        found.push(...collected!.rows['raw_boundary']!);
      }
      const values = (rows: readonly Record<string, unknown>[]): unknown => rows.map((row) => ({ ...row, member_id: 0 }));
      expect(values(found)).toEqual(values(expected));
    });
  });

  test('are not recognised in a file of census sections, even if its name resembles that of a boundary file', async () => {
    const geometry = { type: 'polygon', polygons: [boxPolygon([900_000, 4_600_000, 901_000, 4_601_000])] } as const;
    await writeShapefile(folder, 'ComSez2021', {
      type: 'polygon', srid: 32632,
      fields: [{ name: 'PRO_COM', type: 'integer', length: 6 }, { name: 'COMUNE', type: 'text', length: 10 }, { name: 'SEZ21', type: 'integer', length: 7 }],
      features: [{ geometry, values: [70901, 'Finto', 1] }],
    });
    expect((await trial(source, join(folder, 'ComSez2021.shp'))).recognition).toBeNull();
  });

  test('are not recognised in an unrelated GeoJSON file', async () => {
    await writeFile(join(folder, 'x.geojson'), '{"type":"FeatureCollection","features":[]}');
    expect((await trial(source, join(folder, 'x.geojson'))).recognition).toBeNull();
  });

  test('are recognised in GeoJSON if the CRS precedes the features, or if the properties of a feature follow a long geometry', async () => {
    const properties = Object.fromEntries(EDITIONS.geojson[2023].map((name) => [name, 'Prova']));
    const ring = [[14, 41], [14.1, 41], ...Array.from({ length: 20_000 }, (_, index) => [14.1 - index * 5e-6, 41.1]), [14, 41]];
    const crs = { type: 'name', properties: { name: 'urn:ogc:def:crs:OGC:1.3:CRS84' } };
    const collections = [
      { type: 'FeatureCollection', crs, features: [{ type: 'Feature', properties, geometry: null }] },
      { type: 'FeatureCollection', crs, features: [{ type: 'Feature', geometry: { type: 'Polygon', coordinates: [ring] }, properties }] },
    ];
    for (const collection of collections) {
      await writeFile(join(folder, 'limits_P_70_municipalities.geojson'), JSON.stringify(collection));
      expect((await trial(source, join(folder, 'limits_P_70_municipalities.geojson'))).recognition).toMatchObject({ role: 'geojson', place: 'P_70' });
    }
  });

  test('are read for the synthetic region, with one boundary per comune, province and region', async () => {
    const region = makeRegion({ parcels: 20_000, seed: 1 });
    await synthetic.write(region, folder);
    const { recognition, collected, error } = await trial(source, join(folder, 'Limiti01012026_g.zip'));
    expect(error).toBeNull();
    expect(recognition).toEqual({ role: 'limiti', vintage: '2026-01-01', region: null, sidecars: [], complete: true });
    expect(collected!.members.map(({ rejects }) => rejects)).toEqual([[], [], []]);
    expect(collected!.rows['raw_boundary']!.map(({ kind, code, name }) => [kind, code, name])).toEqual([
      ...region.comuni.map((comune) => ['comune', comune.istatCode, comune.italianName]),
      ...region.provinces.map((province) => ['provincia', province.code, province.name]),
      ['regione', '14', 'Molise'],
    ]);
  });
});

describeLoad('loading boundaries', 'istat_boundaries', (loaded) => {
  const square = (x: number, y: number, size: number): string => `ST_MakeEnvelope(${x}, ${y}, ${x + size}, ${y + size}, 32632)`;
  const row = (member: number, position: number, kind: string, code: string, geometry: string): string =>
    `insert into raw_boundary values (${member}, ${position}, '${kind}', '${code}', null, 'Finto', '2026-01-01', ${geometry});`;

  test('reprojects and repairs boundaries, keeps each unit once, and measures its area', async () => {
    // The comune's box is drawn in UTM like the publisher's boundaries. The area of the box is computed in degrees without PostGIS.
    const region = makeRegion({ parcels: 2000, seed: 1 });
    const { box } = region.comuni[0];
    const corners: [number, number][] = [];
    const [west, south, east, north] = box;
    for (let i = 0; i < 20; i += 1) corners.push([west + ((east - west) * i) / 20, south]);
    for (let i = 0; i < 20; i += 1) corners.push([east, south + ((north - south) * i) / 20]);
    for (let i = 0; i < 20; i += 1) corners.push([east - ((east - west) * i) / 20, north]);
    for (let i = 0; i < 20; i += 1) corners.push([west, north - ((north - south) * i) / 20]);
    corners.push(corners[0]!);
    const area = polygonsAreaM2([[corners]]);
    const wkt = corners.map((corner) => utm32.forward(corner).join(' ')).join(', ');
    const inserts = [
      row(1, 1, 'comune', '094901', `ST_GeomFromText('POLYGON((${wkt}))', 32632)`),
      row(1, 2, 'comune', '094902', "ST_GeomFromText('POLYGON((900000 4600000, 901000 4601000, 901000 4600000, 900000 4601000, 900000 4600000))', 32632)"),
      row(1, 3, 'comune', '094903', "ST_GeomFromText('POLYGON((900000 4600000, 901000 4600000, 900000 4600000, 900000 4600000))', 32632)"),
      // This unit has two boundaries. The second boundary has more corners, so the second boundary is the detailed edition and is kept.
      row(1, 4, 'comune', '094904', square(903_000, 4_600_000, 1000)),
      row(2, 1, 'comune', '094904', `ST_Segmentize(${square(903_000, 4_600_000, 1000)}, 100)`),
      // The same code at a different level identifies a different unit.
      row(3, 1, 'provincia', '094904', square(903_000, 4_600_000, 1000)),
    ].join('\n');
    await loaded(inserts, async ({ session, checks }) => {
      const rows = await session.query<{
        member_id: number;
        position: number;
        code: string;
        made_valid: boolean;
        area_m2: number;
        valid: boolean;
        srid: number;
      }>(
        'select member_id, position::int4 as position, code, made_valid, area_m2, st_isvalid(geom) as valid, st_srid(geom) as srid from boundary order by member_id, position',
      );
      expect(rows.map(({ member_id, position, code, made_valid, valid, srid }) => [member_id, position, code, made_valid, valid, srid])).toEqual([
        [1, 1, '094901', false, true, 4326],
        [1, 2, '094902', true, true, 4326],
        [2, 1, '094904', false, true, 4326],
        [3, 1, '094904', false, true, 4326],
      ]);
      // The edges between corners 50–100 m apart are straight in UTM but not in degrees. The area therefore differs slightly from the area of the box.
      expect(Math.abs(rows[0]!.area_m2 - area)).toBeLessThan(1);
      expect(rows[1]!.area_m2 / 500_000).toBeGreaterThan(0.99);
      expect(await session.query('select member_id, position::int4 as position, code from duplicate')).toEqual([{ member_id: 1, position: 4, code: 'unit_repeated' }]);
      expect(await session.query('select member_id, position::int4 as position, code from reject')).toEqual([{ member_id: 1, position: 3, code: 'geometry_without_area' }]);
      expect(await checks()).toEqual([]);
    });
  });

  test('keeps the less detailed boundary of a unit if the detailed boundary has no area', async () => {
    const withoutArea = "ST_Segmentize(ST_GeomFromText('POLYGON((900000 4600000, 901000 4600000, 900000 4600000, 900000 4600000))', 32632), 100)";
    await loaded([row(1, 1, 'comune', '094901', withoutArea), row(2, 1, 'comune', '094901', square(900_000, 4_600_000, 1000))].join('\n'), async ({ session }) => {
      expect(await session.query('select member_id, code, made_valid from boundary')).toEqual([{ member_id: 2, code: '094901', made_valid: false }]);
      expect(await session.query('select member_id, code from reject')).toEqual([{ member_id: 1, code: 'geometry_without_area' }]);
      expect(await session.query('select member_id from duplicate')).toEqual([]);
    });
  });

  test('reports an error if a boundary is outside Italy, and a warning if the area of a region differs from the area of its provinces', async () => {
    const inserts = [
      row(1, 1, 'comune', '094901', square(0, 0, 1000)),
      row(2, 1, 'provincia', '094', square(900_000, 4_600_000, 10_000)),
      row(3, 1, 'regione', '14', square(900_000, 4_600_000, 20_000)),
    ].join('\n');
    await loaded(inserts, async ({ checks }) => {
      expect((await checks()).map(({ name, level, rows }) => [name, level, rows])).toEqual([['in_italy', 'error', 1], ['levels_agree', 'warn', 1]]);
    });
  });
});
