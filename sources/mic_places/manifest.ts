import { HOLDERS } from '../../pipelines/contract/holders.ts';
import type { Manifest } from '../../pipelines/contract/source.ts';

const CONTACT = 'contacts and visits: not served';
const COMUNE = 'derived from the comune';

export const manifest: Manifest = {
  id: 'mic_places',
  version: 6,
  title: 'MiC: places of culture (DBUnico 2.0)',
  italianTitle: 'MiC: luoghi della cultura (DBUnico 2.0)',
  attribution: {
    holder: HOLDERS.cultura,
    license: 'CC-BY-4.0',
    url: 'https://dati.cultura.gov.it/',
    text: 'Fonte: Ministero della Cultura, Luoghi della cultura (DBUnico 2.0)',
  },
  vintageRule: 'the day or year in the name (`luoghi_della_cultura_20260701`); otherwise unknown',
  downloads: [
    { url: 'https://dati.cultura.gov.it/sparql', note: 'the result of sources/mic_places/query.sparql. Pages are joined in luoghi_della_cultura_<day>.csv' },
    { url: 'https://dati.beniculturali.it/', note: 'the ministry\'s list, datasetLuoghiDellaCultura, as CSV. The list contains only places with an institutional name' },
  ],
  cadence: 'continuous; an export contains the data of its day',
  crs: 'WGS 84 degrees',
  keep: 'newest',
  ignored: {
    regione: COMUNE,
    cap: 'postal code; comune and address locate the place',
    codice_postale: 'postal code; comune and address locate the place',
    isilidentifier: 'code of libraries and archives',
    sito_web: CONTACT,
    sito: CONTACT,
    url: CONTACT,
    website: CONTACT,
    telefono: CONTACT,
    fax: CONTACT,
    email: CONTACT,
    pec: CONTACT,
    prenotazioni: CONTACT,
    orari_di_apertura: CONTACT,
    biglietti: CONTACT,
    servizi: CONTACT,
    descrizione: 'a text for visitors',
    description: 'a text for visitors',
    orario: 'a text for visitors',
    gestore: 'operator of the place: not served',
  },
  optional: {
    '*': 'a query returns only the columns named in the query',
    'etichetta|tipo|tipo_luogo|tipologia|type|disciplina|categoria|classe|class|category|indirizzo|address': 'a query returns only the columns named in the query',
    'provincia|prov|sigla_provincia|province|codice_catalogo|identifier|codice|codice_dbunico|catalog_code': 'a query returns only the columns named in the query',
    'lat_luogo|lon_luogo|lat_sede|lon_sede': 'only the query of this project returns several pairs of coordinates',
  },
  // The query returns 58,941 places, and 6,721 of them have an institutional name.
  envelope: { records: { places: { min: 20_000, max: 100_000 }, published: { min: 3_000, max: 100_000 } }, rejectShare: 0.01 },
  layers: ['cultural_place'],
};
