/**
 * Writes the register of fuel stations of the synthetic region. The first line states the day. Some names contain `|` or a tab. Other rows have no coordinates,
 * wrong coordinates or the former name of a comune, and some rows cannot be read.
 */
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { mergedComuni } from '../../pipelines/synthetic/former-codes.ts';
import { cyclicItem } from '../../pipelines/synthetic/items.ts';
import { coordinatesOf, pointsByParcel, pointsOf, serialOf, type SyntheticPoint } from '../../pipelines/synthetic/points.ts';
import type { SyntheticRegion } from '../../pipelines/synthetic/region.ts';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';
import { EDITIONS } from './schema.ts';

const BRANDS = ['Agip Eni', 'Api-Ip', 'Esso', 'Pompe Bianche', 'Q8'];

const idOf = (point: SyntheticPoint): string => String(Number(serialOf(point, 5)));
const comuneOf = ({ comune, nth }: SyntheticPoint): string => (mergedComuni(comune)[nth % 3]?.name ?? comune.italianName).toUpperCase();
const typeOf = ({ nth }: SyntheticPoint): string => (nth % 37 === 5 ? 'Autostradale' : 'Stradale');
const isNamed = ({ nth }: SyntheticPoint): boolean => nth % 11 !== 4;
const brandOf = ({ nth }: SyntheticPoint): string => cyclicItem(BRANDS, nth);
/** Returns the name of a station. Some names contain quotation marks, the separator or a tab. The reader converts the tab to a space. */
function nameOf(point: SyntheticPoint): string {
  const shapes = [`"FINTI" ${idOf(point)}`, `FINTI ${idOf(point)} | gestori.example`, `FINTI\t${idOf(point)}`, `CITTÀ FINTA ${idOf(point)}`];
  return cyclicItem(shapes, point.nth);
}
const addressOf = ({ street, number, comune }: SyntheticPoint): string => `${street} ${number} ${comune.postalCodes[0]}`.trim().replace(/ +/g, ' ');

function line(point: SyntheticPoint): string {
  const { comune, reported, nth } = point;
  // Like the publisher, writes some addresses in lower case and with surrounding spaces.
  const address = nth % 5 === 2 ? ` ${addressOf(point).toLowerCase()}  ` : addressOf(point);
  return [
    idOf(point), 'FINTI CARBURANTI S.R.L.', brandOf(point), typeOf(point), isNamed(point) ? nameOf(point) : '', address, comuneOf(point), comune.province.sigla,
    reported?.[1] ?? '', reported?.[0] ?? '',
  ].join('|');
}

function* lines(region: SyntheticRegion): Generator<string> {
  yield 'Estrazione del 2026-08-21\n';
  yield `${EDITIONS[2015].join('|')}\n`;
  let first: string | null = null;
  for (const comune of region.comuni) {
    for (const point of pointsOf(region, comune, 'fuel')) {
      first ??= line(point);
      yield `${line(point)}\n`;
    }
  }
  const { sigla } = region.comuni[0].province;
  yield `${first ?? ''}\n`;
  yield `900001|FINTI|Esso|Stradale|SENZA COMUNE|VIA ROMA 1|PAESE CHE NON ESISTE|${sigla}|41.5|14.5\n`;
  yield `90000A|FINTI|Esso|Stradale|SENZA NUMERO|VIA ROMA 1|${region.comuni[0].italianName}|${sigla}|41.5|14.5\n`;
  yield `900003|FINTI|Esso|Stradale|COORDINATE|VIA ROMA 1|${region.comuni[0].italianName}|${sigla}|41.5.2|14.5\n`;
  yield `900004|FINTI|Esso|Stradale|CORTA|${sigla}|41.5|14.5\n`;
}

const synthetic: Synthetic = {
  async write(region, folder) {
    await pipeline(Readable.from(lines(region)), createWriteStream(join(folder, 'anagrafica_impianti_attivi.csv')));
  },
  truth(region) {
    const pointsAt = pointsByParcel(region, 'fuel', (point, { byStreet, at }) => ({
      id: `fuel:${idOf(point)}`,
      name: isNamed(point) ? nameOf(point).replace('\t', ' ') : brandOf(point),
      category: 'fuel',
      categories: typeOf(point),
      address: point.nth % 5 === 2 ? addressOf(point).toLowerCase() : addressOf(point),
      locality: comuneOf(point),
      coordinates: coordinatesOf(at),
      placed_by: byStreet ? 'address' : 'coordinates',
    }));
    return (parcel) => ({ poi: pointsAt(parcel) });
  },
};
export default synthetic;
