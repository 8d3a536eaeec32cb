/**
 * Writes schools of the synthetic region in two lists, state and private. The quirks are doubled quotes, `Non Disponibile`, and numbers with and
 * without a comma. A list of the previous year must not be used, one school is repeated, and some rows cannot be read.
 */
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { cyclicItem } from '../../pipelines/synthetic/items.ts';
import { coordinatesOf, pointsByParcel, pointsOf, serialOf, type SyntheticPoint } from '../../pipelines/synthetic/points.ts';
import type { SyntheticRegion } from '../../pipelines/synthetic/region.ts';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';

const COMMON = ['CODICESCUOLA', 'DENOMINAZIONESCUOLA', 'INDIRIZZOSCUOLA', 'CAPSCUOLA', 'CODICECOMUNESCUOLA', 'DESCRIZIONECOMUNE'];
const STAT = [
  'ANNOSCOLASTICO', 'AREAGEOGRAFICA', 'REGIONE', 'PROVINCIA', 'CODICEISTITUTORIFERIMENTO', 'DENOMINAZIONEISTITUTORIFERIMENTO', ...COMMON, 'DESCRIZIONECARATTERISTICASCUOLA',
  'DESCRIZIONETIPOLOGIAGRADOISTRUZIONESCUOLA', 'INDICAZIONESEDEDIRETTIVO', 'INDICAZIONESEDEOMNICOMPRENSIVO', 'INDIRIZZOEMAILSCUOLA', 'INDIRIZZOPECSCUOLA', 'SITOWEBSCUOLA', 'SEDESCOLASTICA',
];
const PAR = ['ANNOSCOLASTICO', 'AREAGEOGRAFICA', 'REGIONE', 'PROVINCIA', ...COMMON, 'DESCRIZIONETIPOLOGIAGRADOISTRUZIONESCUOLA', 'INDIRIZZOEMAILSCUOLA', 'INDIRIZZOPECSCUOLA', 'SITOWEBSCUOLA'];
const NONE = 'Non Disponibile';
const TYPES = ['SCUOLA INFANZIA', 'SCUOLA PRIMARIA', 'SCUOLA PRIMO GRADO', 'LICEO SCIENTIFICO'];

/** Returns whether a school is private. One in five schools is private. */
const isPrivate = ({ nth }: SyntheticPoint): boolean => nth % 5 === 4;
const idOf = (point: SyntheticPoint): string => `${point.comune.province.sigla}${isPrivate(point) ? '1M' : 'EE'}${serialOf(point, 6).slice(-6)}`.padEnd(10, 'X');
const nameOf = (point: SyntheticPoint): string => (point.nth % 6 === 1 ? `"NESSUNO ${idOf(point)}"` : `LUIGI NESSUNO ${idOf(point)}`);
const typeOf = (point: SyntheticPoint): string => `${cyclicItem(TYPES, point.nth)}${isPrivate(point) ? ' NON STATALE' : ''}`;
/** Returns the address in the publisher's spelling. In some addresses, as in the lists of Bolzano, the number comes after many spaces, without a comma. */
function writtenOf({ street, number, nth, reason }: SyntheticPoint): string {
  return street === '' ? NONE : number === '' ? street : nth % 3 === 2 || reason !== null ? `${street}      ${number}` : `${street}, ${number}`;
}
const localityOf = ({ comune }: SyntheticPoint): string => (comune.otherName === null ? comune.italianName : `${comune.italianName} * ${comune.otherName}`).toUpperCase();

const cell = (text: string): string => (/[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

function record(region: SyntheticRegion, columns: readonly string[], point: SyntheticPoint, more: Readonly<Record<string, string>> = {}): string {
  const { comune } = point;
  const cells: Readonly<Record<string, string>> = {
    ANNOSCOLASTICO: '202526', AREAGEOGRAFICA: 'SUD', REGIONE: region.name.toUpperCase(), PROVINCIA: comune.province.name.toUpperCase(),
    CODICEISTITUTORIFERIMENTO: `${comune.province.sigla}IC800001`, DENOMINAZIONEISTITUTORIFERIMENTO: '"I.C. FINTO"', CODICESCUOLA: idOf(point), DENOMINAZIONESCUOLA: nameOf(point),
    INDIRIZZOSCUOLA: writtenOf(point), CAPSCUOLA: comune.postalCodes[0], CODICECOMUNESCUOLA: comune.belfiore, DESCRIZIONECOMUNE: localityOf(point), DESCRIZIONECARATTERISTICASCUOLA: 'NORMALE',
    DESCRIZIONETIPOLOGIAGRADOISTRUZIONESCUOLA: typeOf(point), INDICAZIONESEDEDIRETTIVO: 'NO', ...more,
  };
  return `${columns.map((name) => cell(cells[name] ?? NONE)).join(',')}\n`;
}

function* lines(
  region: SyntheticRegion, columns: readonly string[], wanted: (point: SyntheticPoint) => boolean, more: Readonly<Record<string, string>> = {},
): Generator<string> {
  yield `${columns.join(',')}\n`;
  for (const comune of region.comuni) for (const point of pointsOf(region, comune, 'school')) if (wanted(point)) yield record(region, columns, point, more);
}

function* stateLines(region: SyntheticRegion): Generator<string> {
  yield* lines(region, STAT, (point) => !isPrivate(point));
  const [comune] = region.comuni;
  const [first] = pointsOf(region, comune, 'school');
  if (first === undefined) return;
  const id = (last: number): string => `${comune.province.sigla}EE99999${last}`;
  yield record(region, STAT, first, { DENOMINAZIONESCUOLA: 'LA STESSA' });
  yield record(region, STAT, first, { CODICESCUOLA: 'CBEE' });
  yield record(region, STAT, first, { CODICESCUOLA: id(1), CODICECOMUNESCUOLA: '070901' });
  yield record(region, STAT, first, { CODICESCUOLA: id(2), ANNOSCOLASTICO: '2025' });
  yield `${record(region, STAT, first, { CODICESCUOLA: id(3), INDIRIZZOSCUOLA: NONE }).trimEnd()},di troppo\n`;
  // The cadastral code belongs to no current comune, so the names of the comune and the province identify the comune. In the second row, no comune has the
  // name.
  yield record(region, STAT, first, { CODICESCUOLA: id(4), CODICECOMUNESCUOLA: 'Y999', INDIRIZZOSCUOLA: NONE });
  yield record(region, STAT, first, { CODICESCUOLA: id(5), CODICECOMUNESCUOLA: 'Y999', DESCRIZIONECOMUNE: 'PAESE CHE NON ESISTE', INDIRIZZOSCUOLA: 'VIA ROMA 1' });
}

const synthetic: Synthetic = {
  async write(region, folder) {
    const files: readonly (readonly [string, Iterable<string>])[] = [
      ['SCUANAGRAFESTAT20252620250901.csv', stateLines(region)],
      ['SCUANAGRAFEPAR20252620250901.csv', lines(region, PAR, isPrivate)],
      // The list of the previous year contains every second school, under a different name.
      ['SCUANAGRAFESTAT20242520240901.csv', lines(region, STAT, ({ nth }) => nth % 2 === 0, { ANNOSCOLASTICO: '202425', DENOMINAZIONESCUOLA: 'COM\'ERA' })],
    ];
    for (const [name, content] of files) await pipeline(Readable.from(content), createWriteStream(join(folder, name)));
  },
  truth(region) {
    const pointsAt = pointsByParcel(region, 'school', (point, { byStreet, at }) => ({
      id: `school:${idOf(point)}`,
      name: nameOf(point),
      category: 'school',
      categories: typeOf(point),
      address: writtenOf(point).replace(/ +/g, ' '),
      locality: localityOf(point),
      coordinates: coordinatesOf(at),
      placed_by: byStreet ? 'address' : 'coordinates',
    }));
    return (parcel) => ({ poi: pointsAt(parcel) });
  },
};
export default synthetic;
