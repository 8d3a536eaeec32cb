import { HOLDERS } from '../../pipelines/contract/holders.ts';
import type { Manifest } from '../../pipelines/contract/source.ts';

const COMUNE = 'derived from the comune';
const CONTACT = 'contact of the school: not served';

export const manifest: Manifest = {
  id: 'mim_schools',
  version: 5,
  title: 'MIM: schools, of the State and private ones',
  italianTitle: 'MIM: scuole statali e paritarie',
  attribution: {
    holder: HOLDERS.istruzione,
    license: 'IODL-2.0',
    url: 'https://dati.istruzione.it/opendata/opendata/catalogo/elements1/?area=Scuole',
    text: 'Fonte: Ministero dell\'Istruzione e del Merito, Portale Unico dei Dati della Scuola',
  },
  vintageRule: 'ANNOSCOLASTICO of the first row (`202021` → `2020_2021`)',
  downloads: [
    {
      url: 'https://dati.istruzione.it/opendata/opendata/catalogo/elements1/?area=Scuole',
      note: 'four files: SCUANAGRAFESTAT and SCUANAGRAFEPAR, and SCUANAAUTSTAT and SCUANAAUTPAR for Aosta, Trento and Bolzano',
    },
  ],
  cadence: 'yearly, reissued during the year',
  crs: null,
  keep: 'newest',
  ignored: {
    AREAGEOGRAFICA: COMUNE,
    CAPSCUOLA: 'postal code; comune and address locate the school',
    CODICEISTITUTORIFERIMENTO: 'institute to which the school belongs',
    DENOMINAZIONEISTITUTORIFERIMENTO: 'institute to which the school belongs',
    DESCRIZIONECARATTERISTICASCUOLA: 'type of the site: NORMALE, or another site of lessons',
    INDICAZIONESEDEDIRETTIVO: 'whether the site has the head\'s office',
    INDICAZIONESEDEOMNICOMPRENSIVO: 'whether the site is the seat of an institute of all grades',
    INDIRIZZOEMAILSCUOLA: CONTACT,
    INDIRIZZOPECSCUOLA: CONTACT,
    SITOWEBSCUOLA: CONTACT,
    SEDESCOLASTICA: 'whether the site has lessons',
  },
  envelope: {
    records: { STAT: { min: 40_000, max: 70_000 }, PAR: { min: 8_000, max: 20_000 }, AUTSTAT: { min: 900 }, AUTPAR: { min: 50 } },
    rejectShare: 0.01,
  },
  layers: ['school'],
};
