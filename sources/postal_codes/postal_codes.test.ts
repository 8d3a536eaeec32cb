import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeGeoPackage } from '../../pipelines/synthetic/geopackage-writer.ts';
import source from './source.ts';
import { temporaryFolder } from '../../test/harness/temporary-folder.ts';
import { trial } from '../../test/harness/trial.ts';

const folder = temporaryFolder();

describe('postal codes', () => {
  it.each([
    ['tax returns by postal code', 'Anno di imposta;CAP;Codice catastale;Codice Istat Comune;Numero contribuenti\r\n2023;15121;Z001;070901;5\r\n'],
    ['the list of comuni', 'Codice Comune formato numerico;Denominazione in italiano;Codice Catastale del comune\r\n70901;Finto;Z001\r\n'],
    ['addresses with a postal code', 'codice_istat;cap;odonimo;civico\n070901;86001;VIA FINTA;1\n'],
    ['a table of postal codes without comuni', 'cap;provincia\n86001;CB\n'],
    ['a table with many additional columns', `codice_istat;cap;${Array.from({ length: 30 }, (_, i) => `c${i}`).join(';')}\n`],
  ])('are not read from %s', async (_what, text) => {
    const path = join(folder, 'other.csv');
    await writeFile(path, text);
    expect((await trial(source, path)).recognition).toBeNull();
  });

  it.each([
    ['tabs', 'CODICE_CATASTALE\tCAP\nZ001\t86001\n', { belfiore: 'Z001', istat_code: null }],
    ['pipes', 'cap|pro_com_t|comune\n86001|070901|Finto\n', { belfiore: null, istat_code: '070901' }],
    ['commas and quotes', '"istat","cap","comune"\n"70901","86001","Finto, il"\n', { belfiore: null, istat_code: '070901' }],
    ['a byte order mark', '\uFEFFcap;belfiore\n86001;z001\n', { belfiore: 'Z001', istat_code: null }],
    ['decimals that a spreadsheet program added', 'cap,istat\n86001.0,70901.0\n', { belfiore: null, istat_code: '070901' }],
  ])('are read from a table with %s', async (_what, text, comune) => {
    const path = join(folder, 'table.csv');
    await writeFile(path, text);
    const { collected } = await trial(source, path);
    expect(collected!.rows['raw_postal_code']).toHaveLength(1);
    expect(collected!.rows['raw_postal_code']![0]).toMatchObject({ cap: '86001', ...comune });
  });

  it.each([
    ['cap_2025.csv', '2025', undefined], ['cap_20250301.csv', '2025', '2025-03-01'], ['cap 01-03-2025 (1).csv', '2025', '2025-03-01'], ['cap_31122024.csv', '2024', '2024-12-31'],
    ['cap_2023_2025.csv', '2023_2025', undefined], ['cap_20250231.csv', '0000', undefined], ['cap.csv', '0000', undefined],
  ])('have the edition and the day in the name %s', async (name, vintage, dated) => {
    const path = join(folder, name);
    await writeFile(path, 'cap;belfiore\n86001;Z001\n');
    expect((await trial(source, path)).recognition).toEqual({ role: 'csv', vintage, region: null, complete: false, ...(dated === undefined ? {} : { dated }) });
  });

  describe('in a JSON list', () => {
    const read = async (objects: readonly unknown[]) => {
      const path = join(folder, 'comuni_cap_2024.json');
      await writeFile(path, JSON.stringify(objects));
      const { collected, error } = await trial(source, path);
      const rows = collected?.rows['raw_postal_code']!.map(({ cap, belfiore, istat_code }) => [cap, belfiore, istat_code]);
      return { rows, rejects: collected?.members[0]!.rejects.map(({ message, raw }) => [message, raw]), error };
    };
    const OBJECTS = [
      { cap: '86001' }, { cap: '86002', belfiore: 'Z002' }, { istat: '070903' }, { codice_postale: ['86004'], codice_catastale: 'Z004' }, { zip: 86005, cap: '86006', pro_com: 70905 },
    ];
    const noCap = 'cap: expected a postal code, found null';

    it('are read from each object, whatever the order of the objects, and an object without a postal code or without a comune is rejected', async () => {
      for (const [index] of OBJECTS.entries()) {
        const { rows, rejects, error } = await read([...OBJECTS.slice(index), ...OBJECTS.slice(0, index)]);
        expect(error).toBeNull();
        expect(rows!.sort()).toEqual([['86002', 'Z002', null], ['86004', 'Z004', null], ['86006', null, '070905']]);
        expect(rejects!.sort()).toEqual([['belfiore: expected a cadastral or an ISTAT code, found null', '{"cap":"86001"}'], [noCap, '{"istat":"070903"}']]);
      }
    });

    it('are read even if the code of the comune is missing in the first 200 objects', async () => {
      const { rows, rejects } = await read([...Array.from({ length: 200 }, () => ({ cap: '86001' })), ...Array.from({ length: 800 }, () => ({ cap: '86002', belfiore: 'Z002' }))]);
      expect([rows!.length, rejects!.length]).toEqual([800, 200]);
    });

    it('are not read if no object has a code of the comune', async () => {
      const { error } = await read([{ cap: '86001' }, { cap: '86002' }]);
      expect(error).toMatchObject({ code: 'COLUMNS_CHANGED', detail: expect.stringContaining('belfiore') });
    });
  });

  it('are read as areas from a GeoPackage, and keep the CRS of the GeoPackage', async () => {
    const path = join(folder, 'zone_cap_2024.gpkg');
    const square = { type: 'Polygon', coordinates: [[[500_000, 4_600_000], [500_100, 4_600_000], [500_100, 4_600_100], [500_000, 4_600_000]]] };
    await writeGeoPackage(path, [{ name: 'zone', srid: 32632, geometry: 'Polygon', fields: [{ name: 'cap', type: 'string' }], features: [{ values: ['86001'], geometry: square }] }]);
    const { recognition, collected } = await trial(source, path);
    expect(recognition).toMatchObject({ role: 'areas', vintage: '2024' });
    const [row] = collected!.rows['raw_postal_code_area']!;
    expect((row!['geom'] as Buffer).readUInt32LE(5)).toBe(32632);
  });
});
