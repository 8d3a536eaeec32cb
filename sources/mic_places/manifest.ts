import { HOLDERS } from '../../pipelines/contract/holders.ts';
import type { Manifest } from '../../pipelines/contract/source.ts';

const CONTACT = 'how to reach the place: not shown';
const COMUNE = 'follows from the comune';

export const manifest: Manifest = {
  id: 'mic_places',
  version: 1,
  title: 'MiC: places of culture (DBUnico 2.0)',
  attribution: {
    holder: HOLDERS.cultura,
    license: 'CC-BY-4.0',
    url: 'https://dati.cultura.gov.it/',
    text: 'Fonte: Ministero della Cultura, Luoghi della cultura (DBUnico 2.0)',
  },
  vintageRule: 'the day or year in the name, `luoghi_della_cultura_20260701`; else none is known',
  downloads: [{ url: 'https://dati.cultura.gov.it/sparql', note: 'the query of sources/mic_places/query.sparql, saved as luoghi_della_cultura_<day>.csv' }],
  cadence: 'continuous; an export is of the day it was made',
  crs: 'WGS 84 degrees',
  keep: 'newest',
  ignored: {
    regione: COMUNE,
    cap: 'postal code: the comune and the address say where it is',
    sito_web: CONTACT,
    sito: CONTACT,
    url: CONTACT,
    telefono: CONTACT,
    email: CONTACT,
    pec: CONTACT,
    descrizione: 'a text for visitors',
    orario: 'a text for visitors',
    gestore: 'who runs the place',
  },
  // A query names the columns that it wants.
  optional: ['*'],
  envelope: { records: { places: { min: 3_000, max: 60_000 } }, rejectShare: 0.01 },
  layers: ['cultural_place'],
};
