import { HOLDERS } from '../../pipelines/contract/holders.ts';
import type { Manifest } from '../../pipelines/contract/source.ts';

export const manifest: Manifest = {
  id: 'mimit_fuel',
  version: 6,
  title: 'MIMIT: register of active fuel stations',
  italianTitle: 'MIMIT: anagrafica degli impianti di carburante attivi',
  attribution: {
    holder: HOLDERS.mimit,
    license: 'IODL-2.0',
    url: 'https://www.mimit.gov.it/it/open-data/elenco-dataset/carburanti-prezzi-praticati-e-anagrafica-degli-impianti',
    text: 'Fonte: Ministero delle Imprese e del Made in Italy, Anagrafica degli impianti attivi',
  },
  vintageRule: 'the day in the first line (`Estrazione del 2026-08-21`)',
  downloads: [{ url: 'https://www.mimit.gov.it/images/exportCSV/anagrafica_impianti_attivi.csv', note: 'anagrafica_impianti_attivi.csv, which is updated each morning' }],
  cadence: 'daily',
  crs: 'WGS 84 degrees, as reported by the stations',
  keep: 'newest',
  ignored: { Gestore: 'operator of the station, in many cases a person: not served' },
  envelope: { records: { stations: { min: 20_000, max: 30_000 } }, rejectShare: 0.01 },
  layers: ['fuel_station'],
};
