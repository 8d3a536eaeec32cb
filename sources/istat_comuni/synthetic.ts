/**
 * Writes the list of comuni of the synthetic region in the layout of 2026. The file is windows-1252 with CRLF, and has two header fields of two
 * lines. One comune had a different code until 2025.
 */
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';
import { formerIstatCode } from '../../pipelines/synthetic/former-codes.ts';
import type { SyntheticRegion, SyntheticComune } from '../../pipelines/synthetic/region.ts';

const UNIT = 'Unità territoriale sovracomunale';
const HEADER: readonly string[] = [
  'Codice Regione', `"Codice dell'${UNIT} \n(valida a fini statistici)"`, 'Codice Provincia (Storico)(1)', 'Progressivo del Comune (2)',
  'Codice Comune formato alfanumerico', 'Denominazione (Italiana e straniera)', 'Denominazione in italiano', 'Denominazione altra lingua',
  'Codice Ripartizione Geografica', 'Ripartizione geografica', 'Denominazione Regione', `"Denominazione dell'${UNIT} \n(valida a fini statistici)"`,
  `Tipologia di ${UNIT} `, 'Flag Comune capoluogo di Provincia/Città metropolitana/libero consorzio', 'Sigla automobilistica', 'Codice Comune formato numerico',
  'Codice Comune numerico con 107 Province (dal 2017 al 2025)', 'Codice Comune numerico con 110 Province (dal 2010 al 2016)',
  'Codice Comune numerico con 107 Province (dal 2006 al 2009)', 'Codice Comune numerico con 103 Province (dal 1995 al 2005)', 'Codice Catastale del Comune',
  'Codice NUTS1 2021', 'Codice NUTS2 2021 (3) ', 'Codice NUTS3 2021', 'Codice NUTS1 2024', 'Codice NUTS2 2024 (3) ', 'Codice NUTS3 2024',
];
/** Encodes text like the publisher, who replaces letters missing from the encoding with question marks. */
const latin1 = (text: string): Buffer => Buffer.from(text.replace(/[\u0100-\u{10ffff}]/gu, '?'), 'latin1');

function row(region: SyntheticRegion, comune: SyntheticComune, rank: 'capoluogo' | 'comune'): string {
  const { province } = comune;
  const numeric = String(Number(comune.istatCode));
  const former = String(Number(formerIstatCode(comune) ?? comune.istatCode));
  return [
    String(region.code).padStart(2, '0'), province.code, province.code, ` ${comune.istatCode.slice(3)} `, comune.istatCode, comune.name, comune.italianName,
    comune.otherName ?? '', '4', 'Sud', region.name, province.name, '1', rank === 'capoluogo' ? '1' : '0', province.sigla, numeric,
    former, former, former, former, comune.belfiore, 'ITF', 'ITF2', 'ITF2Z', 'ITF', 'ITF2', 'ITF2Z',
  ].join(';');
}

const synthetic: Synthetic = {
  async write(region, folder) {
    function* lines(): Generator<Buffer> {
      yield latin1(`${HEADER.join(';')}\r\n`);
      const seats = new Set<string>();
      for (const comune of region.comuni) {
        yield latin1(`${row(region, comune, seats.has(comune.province.code) ? 'comune' : 'capoluogo')}\r\n`);
        seats.add(comune.province.code);
      }
    }
    await pipeline(Readable.from(lines()), createWriteStream(join(folder, 'Elenco-comuni-italiani.csv')));
  },
  truth(region) {
    return ({ comune }) => ({
      municipality: { code: comune.belfiore, name: comune.italianName, province: comune.province.name, region: region.name },
    });
  },
};
export default synthetic;
