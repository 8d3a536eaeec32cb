import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import { polygonsArea, type MultiPolygon } from '../../pipelines/synthetic/plane-geometry.ts';
import source from './source.ts';
import synthetic, { drawnAreaM2, outlineOf, piecesOf } from './synthetic.ts';
import { describeLoad } from '../../test/harness/loaded.ts';
import { temporaryFolder } from '../../test/harness/temporary-folder.ts';
import { trial } from '../../test/harness/trial.ts';

const FOLDER = fileURLToPath(new URL('./', import.meta.url));
const region = makeRegion({ parcels: 600, seed: 3, region: 4 });

const folder = temporaryFolder();
beforeAll(() => synthetic.write(region, folder));

describe('a comune catastale of Trento', () => {
  it('counts as a part of the region, with the number of the comune catastale as the place, in a zip and in a folder', async () => {
    const [zip, plain] = await Promise.all(['IDR0020240701_TIPOCATSH_CC901.zip', '902_vl_parcel_poly.shp'].map((name) => trial(source, join(FOLDER, 'fixture', name))));
    expect(zip!.recognition).toMatchObject({ role: 'ccat', vintage: '2024-07-01', region: 4, complete: false, place: 'CC901' });
    // The vintage is the day in the header of the table.
    expect(plain!.recognition).toMatchObject({ role: 'ccat', vintage: '2025-01-01', region: 4, complete: false, place: 'CC902' });
    expect(plain!.recognition!.sidecars).toContain('902_vl_boundary.shp');
    expect(plain!.collected!.members.map(({ path, records }) => [path, records])).toEqual([['', 3], ['902_vl_boundary.shp', 1]]);
  });

  it('has accents that are decoded with code page 1252', async () => {
    const { collected } = await trial(source, join(FOLDER, 'fixture', 'IDR0020240701_TIPOCATSH_CC901.zip'));
    expect(collected!.rows['raw_boundary']![0]).toMatchObject({ comune_name: 'CITTÀ D\'INVENZIONE', comune_name_other: 'MÄRCHENDORF', istat_code: '022901', parcels: 2 });
  });
});

describe('the synthetic land register', () => {
  it('has pieces whose areas add up to the area of their parcel, and a boundary with the total area of the parcels', () => {
    for (const of of region.comuniCatastali.filter(({ prefix }) => prefix.startsWith('IT.TN.'))) {
      const parcels = [...region.sheets(of.comune)].filter(({ comuneCatastale }) => comuneCatastale === of).flatMap((sheet) => [...region.parcelsOf(sheet)]);
      for (const parcel of parcels) {
        const pieces = piecesOf(parcel).reduce((sum, { polygons }) => sum + polygonsArea(polygons), 0);
        expect(Math.abs(pieces - polygonsArea(parcel.polygons))).toBeLessThan(1e-14);
      }
      const sum = parcels.reduce((area, { polygons }) => area + drawnAreaM2(polygons as MultiPolygon), 0);
      expect(Math.abs(sum - drawnAreaM2(outlineOf(parcels)))).toBeLessThan(0.001);
    }
  });

  it('contains parcels with several pieces, and roofs', async () => {
    const names = readdirSync(folder);
    expect(names.length).toBeGreaterThan(2);
    const { collected, recognition } = await trial(source, join(folder, names[0]!));
    expect(recognition).toMatchObject({ vintage: '2026-01-01' });
    const rows = collected!.rows['raw_piece']!;
    expect(new Set(rows.map(({ roof }) => roof))).toEqual(new Set(['S', 'N', 'T']));
    expect(rows.length).toBeGreaterThan(new Set(rows.map(({ code }) => code)).size);
    expect(new Set(rows.map(({ code }) => code)).size).toBe(collected!.rows['raw_boundary']![0]!['parcels']);
    expect((rows[0]!['geom'] as Buffer).readUInt32LE(5)).toBe(25832);
  });
});

describeLoad('loading a comune catastale', 'trento_cadastre', (loaded) => {
  const box = (x: number, y: number, width: number, height: number): string =>
    `srid=25832;polygon((${[[x, y], [x + width, y], [x + width, y + height], [x, y + height], [x, y]].map(([east, north]) => `${660_000 + east!} ${5_100_000 + north!}`).join(', ')}))`;
  const load = (pieces: string, parcels = 2) => loaded(`
    insert into raw_piece (member_id, position, type, code, ccat, roof, geom) values ${pieces};
    insert into raw_boundary (member_id, position, ccat, name, parcels, geom) values (2, 1, '001', 'BORGO', ${parcels}, '${box(0, 0, 40, 20)}')`, async ({ session, checks }) => ({
    parcels: await session.query('select position, reference, pieces, round(drawn_area_m2::numeric, 6)::float8 as area, st_numgeometries(geom) as parts, made_valid from trento_parcel order by position'),
    pieces: await session.query('select position, code, roof from trento_piece order by position'),
    buildings: await session.query('select position, reference from trento_building order by position'),
    rejects: await session.query('select position, code from reject'),
    violations: (await checks()).map(({ name, level }) => [name, level]),
  }));

  it('merges the pieces with the same number, keeps further pieces as rows, and separates the roofs', async () => {
    expect(await load(`
      (1, 1, 'C', '.7', '001', 'S', '${box(20, 0, 10, 20)}'),
      (1, 2, 'P', '.7', '001', 'N', '${box(30, 0, 10, 20)}'),
      (1, 3, 'P', '7', '001', 'N', '${box(0, 0, 20, 20)}')`)).toEqual({
      parcels: [
        { position: 2, reference: 'IT.TN.001..7', pieces: 2, area: 400, parts: 1, made_valid: false },
        { position: 3, reference: 'IT.TN.001.7', pieces: 1, area: 400, parts: 1, made_valid: false },
      ],
      pieces: [{ position: 1, code: '.7', roof: 'S' }],
      buildings: [{ position: 1, reference: 'IT.TN.001..7' }],
      rejects: [],
      violations: [],
    });
  });

  it('reports an error if the boundary states more parcels than the file contains, and a warning if the areas differ slightly', async () => {
    const found = await load(`(1, 1, 'P', '7', '001', 'N', '${box(0, 0, 20, 20)}')`);
    expect(found.violations).toEqual([['parcels_are_as_many_as_said', 'error'], ['parcels_cover_the_boundary', 'error'], ['parcels_cover_the_boundary_exactly', 'warn']]);
    const moved = await load(`(1, 1, 'P', '7', '001', 'N', '${box(0, 0, 20, 20)}'), (1, 2, 'P', '8', '001', 'N', '${box(20, 0, 20, 20.001)}')`);
    expect(moved.violations).toEqual([['parcels_cover_the_boundary_exactly', 'warn']]);
  });

  it('reports an error for parcels of a different comune catastale, and a warning for unknown roof letters', async () => {
    const found = await load(`(1, 1, 'P', '7', '001', 'T', '${box(0, 0, 20, 20)}'), (1, 2, 'P', '8', '001', 'X', '${box(20, 0, 20, 20)}'), (1, 3, 'P', '8', '002', null, '${box(20, 0, 20, 20)}')`);
    expect(found.violations).toEqual([['parcel_without_boundary', 'error'], ['roof_known', 'warn']]);
    expect(found.buildings).toEqual([]);
  });

  it('repairs polygons that cross themselves, and rejects polygons without an area', async () => {
    const found = await load(`(1, 1, 'P', '7', '001', 'N', 'srid=25832;polygon((660000 5100000, 660020 5100020, 660020 5100000, 660000 5100020, 660000 5100000))'),
      (1, 2, 'P', '8', '001', 'N', 'srid=25832;polygon((660020 5100000, 660030 5100000, 660020 5100000, 660020 5100000))')`);
    expect(found.parcels).toEqual([{ position: 1, reference: 'IT.TN.001.7', pieces: 1, area: 200, parts: 2, made_valid: true }]);
    expect(found.rejects).toEqual([{ position: 2, code: 'geometry_empty' }]);
  });
});
