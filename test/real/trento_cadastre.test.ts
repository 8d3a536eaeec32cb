/** Runs one real comune catastale of Trento through every step: the parcel parts, the parcels, and the boundary. */
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Context } from '../../pipelines/run/context.ts';
import { refresh, type RefreshReport } from '../../pipelines/run/refresh.ts';
import { writeZip, type ZipEntry } from '../../pipelines/synthetic/zip-writer.ts';
import { readFileSync } from 'node:fs';
import { describeDatabase } from '../harness/database.ts';
import { freshContext } from '../harness/fresh-context.ts';
import { loadOptions } from '../harness/region.ts';
import { realData } from '../harness/real-data.ts';

const TRENTINO = 4;
const [map, codes] = [realData('trento'), realData('istat-admin')];
const there = [map, codes].every((folder) => folder !== null && existsSync(folder));

describe.skipIf(!there)('comune catastale 001 Agrone, as published (real data next to the checkout)', () => {
  describeDatabase('loaded', (engine) => {
    let folder: string;
    let context: Context;
    let report: RefreshReport;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'mappale-trento-'));
      for (const name of (await readdir(map!)).filter((each) => /_vl_/.test(each))) await copyFile(join(map!, name), join(folder, name));
      context = await freshContext(engine);
      report = await refresh(context, loadOptions([folder, codes!], [TRENTINO]));
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));

    it('has 1,493 parts of 1,320 parcels, and its boundary states the same number of parcels', async () => {
      expect(report.failures).toEqual([]);
      expect(report.loaded.find(({ source }) => source === 'trento_cadastre')).toMatchObject({ vintage: '2024-07-01', region: TRENTINO, records: 1494, rows: 1494, rejects: 0, duplicates: 0 });
      const [counts] = await context.database.query(`
        select (select count(*) from layer.trento_parcel) as parcels, (select sum(pieces) from layer.trento_parcel) as pieces, (select parcels from layer.trento_boundary) as said,
          (select count(*) from layer.trento_building) as roofs, (select count(*) from core.parcel) as published`);
      expect(counts).toEqual({ parcels: 1320, pieces: 1493, said: 1320, roofs: 96, published: 1320 });
    });

    it('is covered by its parcels to 0.01 m² in the file\'s projection (EPSG:25832)', async () => {
      const [found] = await context.database.query<{ parcels: number; boundary: number }>('select (select sum(drawn_area_m2) from layer.trento_parcel) as parcels, (select drawn_area_m2 from layer.trento_boundary) as boundary');
      expect(found!.boundary).toBeCloseTo(2_308_411.87445057, 6);
      expect(Math.abs(found!.parcels - found!.boundary)).toBeLessThan(0.01);
    });

    it('has parcels with fids from the start of the region\'s range, in the current comune', async () => {
      const rows = await context.database.query('select reference, label, gml_id, kind, belfiore, sheet, fid from core.parcel order by fid limit 2');
      expect(rows[0]).toEqual({ reference: 'IT.TN.001..1', label: '.1', gml_id: 'IT.TN.001..1', kind: 'land', belfiore: 'M365', sheet: null, fid: 400_000_000 });
      expect(await context.database.query('select prefix, code, name, name_other, belfiore from core.comune_catastale')).toEqual([{ prefix: 'IT.TN.001', code: '001', name: 'AGRONE', name_other: null, belfiore: 'M365' }]);
    });

    it('gives the same parcels if its files are read from a zip with the publisher\'s file name instead of a folder', async () => {
      const zipped = await mkdtemp(join(tmpdir(), 'mappale-trento-'));
      try {
        const entries = (await readdir(folder)).sort().map((name): ZipEntry => [name, readFileSync(join(folder, name)), { modified: '2024-07-02' }]);
        await writeZip(join(zipped, 'IDR0020240701_TIPOCATSH_CC001.zip'), entries);
        const before = await context.database.query('select fid, reference, st_asewkb(geom)::text as geom from core.parcel order by fid');
        const again = await refresh(context, loadOptions([zipped, codes!], [TRENTINO]));
        expect(again.failures).toEqual([]);
        expect(again.loaded).toHaveLength(1);
        expect(await context.database.query('select fid, reference, st_asewkb(geom)::text as geom from core.parcel order by fid')).toEqual(before);
      } finally {
        await rm(zipped, { recursive: true, force: true });
      }
    });
  });
});
