import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import source from './source.ts';
import synthetic from './synthetic.ts';
import { temporaryFolder } from '../../test/harness/temporary-folder.ts';
import { trial } from '../../test/harness/trial.ts';

const folder = temporaryFolder();

describe('the list of comuni', () => {
  test('is not recognised in a file of a different kind', async () => {
    const path = join(folder, 'other.csv');
    await writeFile(path, 'Codice Comune;Denominazione\r\n070901;Forlì Finto\r\n');
    expect(await trial(source, path)).toEqual({ recognition: null, collected: null, error: null });
  });

  test('is ignored with a reason in an edition before 2021, with or without a year in the file name', async () => {
    const header = [
      'Codice Regione', "Codice dell'Unità territoriale sovracomunale (valida a fini statistici)", 'Codice Provincia (Storico)(1)', 'Progressivo del Comune (2)',
      'Codice Comune formato alfanumerico', 'Denominazione (Italiana e straniera)', 'Denominazione in italiano', 'Denominazione altra lingua', 'Codice Ripartizione Geografica',
      'Ripartizione geografica', 'Denominazione Regione', "Denominazione dell'Unità territoriale sovracomunale (valida a fini statistici)",
      'Flag Comune capoluogo di provincia/città metropolitana/libero consorzio', 'Sigla automobilistica', 'Codice Comune formato numerico',
      'Codice Comune numerico con 110 province (dal 2010 al 2016)', 'Codice Comune numerico con 107 province (dal 2006 al 2009)', 'Codice Comune numerico con 103 province (dal 1995 al 2005)',
      'Codice Catastale del comune', 'Popolazione legale 2011 (09/10/2011)', 'NUTS1', 'NUTS2(3) ', 'NUTS3',
    ];
    for (const name of ['Elenco-comuni-italiani.csv', 'Elenco-comuni-italiani_2019.csv']) {
      await writeFile(join(folder, name), `${header.join(';')}\r\n`, 'latin1');
      const { recognition, error } = await trial(source, join(folder, name));
      expect(error).toBeNull();
      expect(recognition?.ignored).toContain('before 2021');
    }
    await rm(join(folder, 'Elenco-comuni-italiani.csv'));
  });

  test('is rejected if a workbook with the right name has other content, and the message names the sheets', async () => {
    const path = join(folder, 'Elenco-comuni-italiani.xlsx');
    await writeZip(path, [
      ['[Content_Types].xml', '<Types/>'],
      ['xl/workbook.xml', '<workbook><sheets><sheet name="Turni" sheetId="1"/><sheet name="Note" sheetId="2"/></sheets></workbook>'],
      ['xl/worksheets/sheet1.xml', '<worksheet><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c></row></sheetData></worksheet>'],
    ]);
    const { error } = await trial(source, path);
    expect(error).toMatchObject({ message: 'the content of the workbook does not match its name', detail: expect.stringContaining('Turni, Note'), hint: expect.stringMatching(/^Remove this file/) });
    expect(`${error!.message} ${error!.detail} ${error!.hint}`).not.toMatch(/\bzip\b|teach/);
  });

  test('is read for the synthetic region, with accents, apostrophes and second names', async () => {
    const region = makeRegion({ parcels: 20_000, seed: 1 });
    await synthetic.write(region, folder);
    const { recognition, collected } = await trial(source, join(folder, 'Elenco-comuni-italiani.csv'));
    expect(recognition).toEqual({ role: 'elenco', vintage: '2026', region: null, complete: true });
    expect(collected!.members[0]!.rejects).toEqual([]);
    expect(collected!.rows['raw_comune']!.map(({ belfiore, istat_code, name, name_other, province_code, sigla, region_code }) => ({ belfiore, istat_code, name, name_other, province_code, sigla, region_code })))
      .toEqual(region.comuni.map((comune) => ({
        belfiore: comune.belfiore, istat_code: comune.istatCode, name: comune.italianName, name_other: comune.otherName, province_code: comune.province.code,
        sigla: comune.province.sigla, region_code: 14,
      })));
  });

  test('provides the comune in the expected values of a parcel', () => {
    const region = makeRegion({ parcels: 2000, seed: 1 });
    const truth = synthetic.truth!(region);
    const [parcel] = region.parcels(region.comuni[2]);
    expect(truth(parcel!)).toEqual({ municipality: { code: 'Z003', name: 'Borgo Finto', province: 'Campobasso', region: 'Molise' } });
  });
});
