/**
 * Writes places of culture of the synthetic region: the result of this source's query, and the ministry's list of the same day. The list contains only places
 * with an institutional name. Most places have no coordinates, some have no type, and some have wrong coordinates. Some places are repeated with a
 * second discipline.
 */
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { cyclicItem } from '../../pipelines/synthetic/items.ts';
import { pointsByParcel, pointsOf, serialOf, type SyntheticPoint } from '../../pipelines/synthetic/points.ts';
import type { SyntheticRegion } from '../../pipelines/synthetic/region.ts';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';
import { ANSWER, PUBLISHED } from './schema.ts';

const MOST = 20;
const DAY = '20260701';
const TYPES = ['Museo, Galleria e/o raccolta', 'Biblioteca', 'Archivio', 'Area Archeologica', 'Chiesa o edificio di culto'];
const CLASSES = ['Arte', 'Archeologia', 'Etnografia e antropologia', 'Storia'];
/** Pairs of coordinate columns in the query result: of the place, of the place's geometry, and of the site's geometry. */
const VOCABULARIES = [['lat', 'lon'], ['lat_luogo', 'lon_luogo'], ['lat_sede', 'lon_sede']] as const;

const idOf = (point: SyntheticPoint): string => `http://dati.beniculturali.it/mibact/luoghi/resource/CulturalInstituteOrSite/${serialOf(point, 6)}`;
const isInstitution = ({ nth }: SyntheticPoint): boolean => nth % 8 === 2;
const nameOf = (point: SyntheticPoint): string => `${cyclicItem(TYPES, point.nth)} "Nessun Luogo", ${serialOf(point, 6)}`;
const typeOf = ({ nth }: SyntheticPoint): string => (nth % 10 === 8 ? '' : cyclicItem(TYPES, nth));
const classOf = ({ nth }: SyntheticPoint): string => (nth % 7 === 6 ? '' : cyclicItem(CLASSES, nth));
const addressOf = ({ comune, nth, street, number }: SyntheticPoint): string => (
  `${number === '' ? street : `${street}, ${number}`}${street !== '' && nth % 3 === 1 ? ` - ${comune.italianName}` : ''}`
);
const provinceOf = ({ comune, nth }: SyntheticPoint): string => (nth % 2 === 0 ? comune.province.name : comune.province.sigla);
const codeOf = (point: SyntheticPoint): string => (point.nth % 5 === 4 ? '' : `DBUnico.${serialOf(point, 6)}`);

type Cells = Readonly<Record<string, string | number>>;

const cell = (text: string | number): string => (text === '' ? '' : `"${String(text).replaceAll('"', '""')}"`);
const lineOf = (columns: readonly string[], cells: Cells): string => `${columns.map((column) => cell(cells[column] ?? '')).join(',')}\n`;

function answer(point: SyntheticPoint, more: Cells = {}): string {
  const { comune, reported, nth } = point;
  const [lat, lon] = cyclicItem(VOCABULARIES, nth);
  const label = nameOf(point);
  return lineOf(ANSWER.query, {
    id: idOf(point), nome_istituzionale: isInstitution(point) ? label : '', etichetta: isInstitution(point) ? `Sede di ${label}` : label,
    tipo: typeOf(point), disciplina: classOf(point), indirizzo: addressOf(point), cap: '86100', comune: comune.italianName, provincia: provinceOf(point),
    [lat]: reported?.[1] ?? '', [lon]: reported?.[0] ?? '', codice_catalogo: codeOf(point), ...more,
  });
}

function* answers(region: SyntheticRegion): Generator<string> {
  yield lineOf(ANSWER.query, Object.fromEntries(ANSWER.query.map((column) => [column, column])));
  for (const comune of region.comuni) {
    for (const point of pointsOf(region, comune, 'culture')) {
      yield answer(point);
      if (point.nth % 12 === 3) yield answer(point, { disciplina: 'Altro' });
    }
  }
  const [first] = pointsOf(region, region.comuni[0], 'culture');
  if (first === undefined) return;
  const plain = { indirizzo: 'Via Roma 1' };
  yield answer(first, { ...plain, id: 'urn:finto:1', nome_istituzionale: '', etichetta: '' });
  yield answer(first, { ...plain, id: 'urn:finto:2', etichetta: 'Museo dei gradi', lat: '41°33\'N' });
  yield answer(first, { ...plain, id: 'urn:finto:3', etichetta: 'Museo senza luogo', comune: 'Paese che non esiste' });
  yield answer(first, { ...plain, id: 'urn:finto:4', etichetta: 'Museo senza comune', comune: '', provincia: '' });
}

/** The ministry's list has no discipline and no house number, so that these values show which file was used. */
function* published(region: SyntheticRegion): Generator<string> {
  const columns = PUBLISHED.published;
  yield `${columns.join(',')}\n`;
  for (const comune of region.comuni) {
    for (const point of pointsOf(region, comune, 'culture').filter(isInstitution)) {
      yield lineOf(columns, {
        subject: idOf(point), Nome_Istituzionale: nameOf(point), Descrizione: 'Un luogo\nche non esiste', Identifier: codeOf(point), Indirizzo: point.street,
        Codice_postale: '86100', Comune: comune.italianName, Provincia: provinceOf(point), Biglietti: 'Gratuito',
      });
    }
  }
}

const synthetic: Synthetic = {
  async write(region, folder) {
    const files = { [`luoghi_della_cultura_${DAY}.csv`]: answers, [`datasetLuoghiDellaCultura_${DAY}.csv`]: published };
    for (const [name, lines] of Object.entries(files)) await pipeline(Readable.from(lines(region)), createWriteStream(join(folder, name)));
  },
  truth(region) {
    const text = (value: string): string | null => (value === '' ? null : value);
    const pointsAt = pointsByParcel(region, 'culture', (point, { byStreet, distance }) => ({
      id: idOf(point),
      name: nameOf(point),
      type: text(typeOf(point)),
      class: text(classOf(point)),
      address: addressOf(point),
      municipality: point.comune.italianName,
      province: provinceOf(point),
      catalog_code: text(codeOf(point)),
      distance_m: Math.round(distance * 100) / 100,
      placed_by: byStreet ? 'address' : 'coordinates',
    }));
    const keyOf = ({ name, id }: { name: string; id: string }): string => `${name}\u0000${id}`;
    return (parcel) => ({ cultural_heritage: [...pointsAt(parcel)].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)).slice(0, MOST) });
  },
};
export default synthetic;
