/**
 * Places of culture of the synthetic region as the query of this source answers them: a place once for each of its categories, some without type,
 * coordinates that are missing or wrong.
 */
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { inTurn } from '../../pipelines/synthetic/items.ts';
import { pointsByParcel, pointsOf, serialOf, type SyntheticPoint } from '../../pipelines/synthetic/points.ts';
import type { SyntheticRegion } from '../../pipelines/synthetic/region.ts';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';

const MOST = 20;
const TYPES = ['Museo', 'Biblioteca', 'Archivio', 'Area archeologica', 'Chiesa o edificio di culto'];
const CLASSES = ['Arte', 'Archeologia', 'Etnografia e antropologia', 'Storia'];

const idOf = (point: SyntheticPoint): string => `http://dati.beniculturali.it/mibact/luoghi/resource/CulturalInstituteOrSite/${serialOf(point, 6)}`;
const nameOf = (point: SyntheticPoint): string => `${inTurn(TYPES, point.nth)} "Nessun Luogo", ${serialOf(point, 6)}`;
const typeOf = ({ nth }: SyntheticPoint): string => (nth % 10 === 8 ? '' : inTurn(TYPES, nth));
const classOf = ({ nth }: SyntheticPoint): string => (nth % 7 === 6 ? '' : inTurn(CLASSES, nth));
const addressOf = ({ street, number }: SyntheticPoint): string => (number === '' ? street : `${street}, ${number}`);
const provinceOf = ({ comune, nth }: SyntheticPoint): string => (nth % 2 === 0 ? comune.province.name : comune.province.sigla);
const codeOf = ({ nth, comune }: SyntheticPoint): string => (nth % 5 === 4 ? '' : `DBU-${comune.index}-${nth}`);

const cell = (text: string | number): string => `"${String(text).replaceAll('"', '""')}"`;

function record(point: SyntheticPoint, more: Readonly<Record<string, string>> = {}): string {
  const { comune, reported } = point;
  return `${Object.values({
    id: idOf(point), nome: nameOf(point), tipo: typeOf(point), categoria: classOf(point), indirizzo: addressOf(point),
    comune: comune.italianName, provincia: provinceOf(point),
    lat: reported?.[1] ?? '', lon: reported?.[0] ?? '', codice_catalogo: codeOf(point), ...more,
  } satisfies Record<string, string | number>).map(cell).join(',')}\n`;
}

function* lines(region: SyntheticRegion): Generator<string> {
  yield 'id,nome,tipo,categoria,indirizzo,comune,provincia,lat,lon,codice_catalogo\n';
  for (const comune of region.comuni) {
    for (const point of pointsOf(region, comune, 'culture')) {
      yield record(point);
      if (point.nth % 12 === 3) yield record(point, { categoria: 'Altro' });
    }
  }
  const [first] = pointsOf(region, region.comuni[0], 'culture');
  if (first === undefined) return;
  const plain = { indirizzo: 'Via Roma 1' };
  yield record(first, { ...plain, id: 'urn:finto:1', nome: '' });
  yield record(first, { ...plain, id: 'urn:finto:2', nome: 'Museo dei gradi', lat: '41°33\'N' });
  yield record(first, { ...plain, id: 'urn:finto:3', nome: 'Museo senza luogo', comune: 'Paese che non esiste' });
  yield record(first, { ...plain, id: 'urn:finto:4', nome: 'Museo senza comune', comune: '', provincia: '' });
}

const synthetic: Synthetic = {
  async write(region, folder) {
    await pipeline(Readable.from(lines(region)), createWriteStream(join(folder, 'luoghi_della_cultura_20260701.csv')));
  },
  truth(region) {
    const text = (value: string): string | null => (value === '' ? null : value);
    const pointsAt = pointsByParcel(region, 'culture', (point, { distance }) => ({
      id: idOf(point),
      name: nameOf(point),
      type: text(typeOf(point)),
      class: text(classOf(point)),
      address: addressOf(point),
      municipality: point.comune.italianName,
      province: provinceOf(point),
      catalog_code: text(codeOf(point)),
      distance_m: Math.round(distance * 100) / 100,
    }));
    const keyOf = ({ name, id }: { name: string; id: string }): string => `${name}\u0000${id}`;
    return (parcel) => ({ cultural_heritage: [...pointsAt(parcel)].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)).slice(0, MOST) });
  },
};
export default synthetic;
