/**
 * Writes pharmacies of the synthetic region. More rows are closed than open. The quirks are decimal commas, a line in windows-1252, entities in
 * names, and a comune under its former code. One pharmacy is open twice, some coordinates are swapped, zero or in a different comune, and some rows cannot be
 * read.
 */
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { formerIstatCode, mergedComuni } from '../../pipelines/synthetic/former-codes.ts';
import { cyclicItem } from '../../pipelines/synthetic/items.ts';
import { coordinatesOf, pointsByParcel, pointsOf, serialOf, type SyntheticPoint } from '../../pipelines/synthetic/points.ts';
import type { SyntheticRegion } from '../../pipelines/synthetic/region.ts';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';

const HEADER = [
  'cod_farmacia', 'cod_farmacia_asl', 'indirizzo', 'descrizione_farmacia', 'p_iva', 'cap', 'cod_comune', 'comune', 'frazione', 'cod_provincia', 'sigla_provincia', 'provincia',
  'cod_regione', 'regione', 'data_inizio_validita', 'data_fine_validita', 'descrizione_tipologia', 'codice_tipologia', 'latitudine', 'longitudine', 'localizzazione',
] as const;
type Column = (typeof HEADER)[number];

const idOf = (point: SyntheticPoint): string => String(Number(serialOf(point, 5)));
function nameOf(point: SyntheticPoint): string {
  return cyclicItem([`Farmacia "del Nulla" ${idOf(point)}`, `FARMACIA F.LLI FINTI & C. ${idOf(point)}`, `Farmacia Verità ${idOf(point)}`], point.nth);
}
const addressOf = ({ street, number }: SyntheticPoint): string => (number === '' ? street : `${street}, ${number}`);
const typeOf = ({ nth }: SyntheticPoint): string => (nth % 13 === 6 ? 'Dispensario' : 'Ordinaria');
const comma = (degrees: number | undefined): string => (degrees === undefined ? '-' : String(degrees).replace('.', ','));
/** Returns the ISTAT code. The list still contains codes of merged comuni and of an abolished province. */
const codeOf = ({ comune, nth }: SyntheticPoint): string => mergedComuni(comune)[nth % 3]?.istatCode ?? formerIstatCode(comune) ?? comune.istatCode;

function record(region: SyntheticRegion, point: SyntheticPoint, more: Partial<Record<Column, string>> = {}): string {
  const { comune, reported, nth } = point;
  const cells: Record<Column, string> = {
    cod_farmacia: idOf(point), cod_farmacia_asl: String(nth), indirizzo: addressOf(point), descrizione_farmacia: nameOf(point).replace('&', '&amp;'), p_iva: '00000000000',
    cap: comune.postalCodes[0], cod_comune: codeOf(point), comune: comune.italianName.toUpperCase(), frazione: '-', cod_provincia: comune.province.code, sigla_provincia: comune.province.sigla,
    provincia: comune.province.name.toUpperCase(), cod_regione: '140', regione: region.name.toUpperCase(), data_inizio_validita: '01/01/2012', data_fine_validita: nth % 8 === 5 ? '31/12/2099' : '-',
    descrizione_tipologia: typeOf(point), codice_tipologia: '1', latitudine: comma(reported?.[1]), longitudine: comma(reported?.[0]), localizzazione: '1', ...more,
  };
  return HEADER.map((name) => cells[name]).join(';');
}

function* lines(region: SyntheticRegion): Generator<Buffer> {
  const line = (text: string): Buffer => Buffer.from(`${text}\r\n`);
  yield line(HEADER.join(';'));
  let first: SyntheticPoint | null = null;
  for (const comune of region.comuni) {
    for (const point of pointsOf(region, comune, 'pharmacy')) {
      first ??= point;
      // The first row is a former site of the pharmacy. The second row, for every second pharmacy, ends on the day of the file and is therefore closed.
      yield line(record(region, point, { data_inizio_validita: '01/03/1998', data_fine_validita: '31/12/2011', indirizzo: 'VIA FINTA, 1', latitudine: '-', longitudine: '-' }));
      if (point.nth % 2 === 0) yield line(record(region, point, { data_inizio_validita: '01/01/2010', data_fine_validita: '16/08/2026' }));
      yield comune.index === 0 && point.nth === 2 ? Buffer.from(`${record(region, point)}\r\n`, 'latin1') : line(record(region, point));
    }
  }
  if (first === null) return;
  // A second open row of the same pharmacy. This row starts earlier and therefore becomes a duplicate.
  yield line(record(region, first, { data_inizio_validita: '01/01/2011', descrizione_farmacia: 'FARMACIA DI PRIMA' }));
  yield line(record(region, first, { cod_farmacia: '999001', cod_comune: region.comuni[0].istatCode.slice(1) }));
  yield line(record(region, first, { cod_farmacia: '999002', latitudine: 'nord' }));
  yield line(record(region, first, { cod_farmacia: '999003', data_fine_validita: '31/02/2020' }));
  yield line(record(region, first, { cod_farmacia: '999004' }).split(';').slice(1).join(';'));
  yield line(record(region, first, { cod_farmacia: '999005', cod_comune: `${region.comuni[0].province.code}899`, comune: 'PAESE CHE NON ESISTE', descrizione_farmacia: 'FARMACIA DI NESSUN COMUNE' }));
}

const synthetic: Synthetic = {
  async write(region, folder) {
    await pipeline(Readable.from(lines(region)), createWriteStream(join(folder, 'FRM_FARMA_5_20260816.csv')));
  },
  truth(region) {
    const pointsAt = pointsByParcel(region, 'pharmacy', (point, { byStreet, at }) => ({
      id: `pharmacy:${idOf(point)}`,
      name: nameOf(point),
      category: 'pharmacy',
      categories: typeOf(point),
      address: addressOf(point),
      locality: point.comune.italianName.toUpperCase(),
      coordinates: coordinatesOf(at),
      placed_by: byStreet ? 'address' : 'coordinates',
    }));
    return (parcel) => ({ poi: pointsAt(parcel) });
  },
};
export default synthetic;
