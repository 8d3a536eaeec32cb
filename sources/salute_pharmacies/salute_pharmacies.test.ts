import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import source from './source.ts';
import { testEnvironment } from '../../test/harness/environment.ts';
import { temporaryFolder } from '../../test/harness/temporary-folder.ts';
import { trial } from '../../test/harness/trial.ts';

/** Published columns of 2026 and of the years before 2024. */
const HEADER_2026 = 'cod_farmacia;cod_farmacia_asl;indirizzo;descrizione_farmacia;p_iva;cap;cod_comune;comune;frazione;cod_provincia;sigla_provincia;provincia;cod_regione;regione;'
  + 'data_inizio_validita;data_fine_validita;descrizione_tipologia;codice_tipologia;latitudine;longitudine;localizzazione';
const HEADER_OLD = 'CODICEIDENTIFICATIVOFARMACIA;CODFARMACIAASSEGNATODAASL;INDIRIZZO;DESCRIZIONEFARMACIA;PARTITAIVA;CAP;CODICECOMUNEISTAT;DESCRIZIONECOMUNE;FRAZIONE;CODICEPROVINCIAISTAT;'
  + 'SIGLAPROVINCIA;DESCRIZIONEPROVINCIA;CODICEREGIONE;DESCRIZIONEREGIONE;DATAINIZIOVALIDITA;DATAFINEVALIDITA;DESCRIZIONETIPOLOGIA;CODICETIPOLOGIA;LATITUDINE;LONGITUDINE;LOCALIZE';

const random = randomOf('pharmacies', testEnvironment().seed);
const folder = temporaryFolder();

function written(name: string, content: string): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}

const dayName = (extension: string): string => `FRM_FARMA_5_2026${String(1 + random.below(9)).padStart(2, '0')}${String(10 + random.below(18))}.${extension}`;

describe('the list of pharmacies', () => {
  it('is read when it has the columns of 2026', async () => {
    const row = '7;1;VIA ROMA 1;FARMACIA FINTA;00000000000;86100;070901;CAMPO FINTO;-;070;CB;CAMPOBASSO;140;MOLISE;01/01/2012;-;Ordinaria;1;41,5;14,5;1';
    const { collected } = await trial(source, written(dayName('csv'), `${HEADER_2026}\r\n${row}\r\n`));
    expect(collected!.rows['raw_pharmacy']).toMatchObject([{ pharmacy_id: '7', istat_code: '070901', lat: 41.5, lon: 14.5 }]);
  });

  it('is read, but rows with a day that does not exist are rejected', async () => {
    const row = (opened: string, closed: string): string => `7;1;VIA ROMA 1;FARMACIA FINTA;0;86100;070901;CAMPO FINTO;-;070;CB;CAMPOBASSO;140;MOLISE;${opened};${closed};Ordinaria;1;41,5;14,5;1`;
    const rows = [row('30/06/2012', '2024-02-29'), row('2012-06-31', '-'), row('31/06/2012', '-'), row('-', '2023-02-29 00:00:00'), row('-', '2023-13-01')];
    const { collected } = await trial(source, written(dayName('csv'), `${[HEADER_2026, ...rows].join('\r\n')}\r\n`));
    expect(collected!.rows['raw_pharmacy']).toMatchObject([{ position: 2, opened_on: '2012-06-30', closed_on: '2024-02-29' }]);
    const expected = 'expected an existing day DD/MM/YYYY or YYYY-MM-DD, - or nothing';
    expect(collected!.members[0]!.rejects.map(({ position, message }) => [position, message])).toEqual([
      [3, `opened_on: ${expected}, found "2012-06-31"`], [4, `opened_on: ${expected}, found "31/06/2012"`],
      [5, `closed_on: ${expected}, found "2023-02-29 00:00:00"`], [6, `closed_on: ${expected}, found "2023-13-01"`],
    ]);
  });

  it('is ignored with a reason when it is JSON or XML, plain or zipped', async () => {
    const forms: readonly (readonly [string, string])[] = [
      ['json', `[{"cod_farmacia":"${random.below(9999)}"}]`], ['json', '\uFEFF {"farmacie":[]}'],
      ['xml', '<?xml version="1.0" encoding="UTF-8"?><farmacie/>'], ['xml', '<FARMACIE></FARMACIE>'],
    ];
    for (const [extension, content] of forms) {
      const name = dayName(extension);
      const zip = join(folder, `${name}.zip`);
      await writeZip(zip, [[name, content]]);
      for (const path of [written(name, content), zip]) expect((await trial(source, path)).recognition?.ignored, `${path} ${content}`).toContain('the CSV of the same day is read');
    }
  });

  it('is rejected when it is a web page that was saved under the name of the JSON or the XML', async () => {
    for (const extension of ['json', 'xml']) {
      const { error, recognition } = await trial(source, written(dayName(extension), '<!DOCTYPE html><html><body>accesso negato</body></html>'));
      expect([recognition, error?.code]).toEqual([null, 'FILE_IS_PAGE']);
    }
  });

  it('is ignored with a reason when it has the layout of the years before 2024', async () => {
    const { recognition, error } = await trial(source, written(dayName('csv'), `${HEADER_OLD}\r\n1;1;VIA ROMA 1;FARMACIA;0;10100;1272;TORINO;-;1;TO;TORINO;10;PIEMONTE;01/01/2012;-;Ordinaria;1;45,0;7,6;1\r\n`));
    expect(error).toBeNull();
    expect(recognition?.ignored).toContain('before 2024');
  });
});
