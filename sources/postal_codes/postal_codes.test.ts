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
  ])('are read from a table with %s', async (_what, text, comune) => {
    const path = join(folder, 'table.csv');
    await writeFile(path, text);
    const { collected } = await trial(source, path);
    expect(collected!.rows['raw_postal_code']).toHaveLength(1);
    expect(collected!.rows['raw_postal_code']![0]).toMatchObject({ cap: '86001', ...comune });
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
