import { HOLDERS } from '../../pipelines/contract/holders.ts';
import type { Manifest } from '../../pipelines/contract/source.ts';

export const manifest: Manifest = {
  id: 'dpc_seismic',
  version: 2,
  title: 'Protezione Civile: seismic zones of comuni',
  italianTitle: 'Protezione Civile: zone sismiche dei comuni',
  attribution: {
    holder: HOLDERS.protezioneCivile,
    license: 'CC-BY-4.0',
    url: 'https://rischi.protezionecivile.gov.it/it/sismico/attivita/classificazione-sismica/',
    text: 'Dipartimento della Protezione Civile - Presidenza del Consiglio dei Ministri, classificazione sismica dei comuni italiani, CC BY 4.0',
  },
  vintageRule: 'the year of the column (`Classificazione 2021`), otherwise the year in the file name (`classificazione-sismica-aggiornata-maggio-2025.csv` → `2025`)',
  downloads: [
    {
      url: 'https://rischi.protezionecivile.gov.it/it/sismico/attivita/classificazione-sismica/',
      note: 'this page links to the CSV, whose URL changes with each edition',
    },
  ],
  cadence: 'yearly',
  crs: null,
  keep: 'newest',
  ignored: {
    "PROV/CITTA'_METROPOLITANA": 'name of the province; derived from the comune',
    Province: 'name of the province in the editions until 2022; derived from the comune',
  },
  highValue: { category: 'environment', entry: '2, earth observation and environment: natural risk zones' },
  envelope: {
    records: { comuni: { min: 7_000, max: 8_200 } },
    rejectShare: 0.005,
  },
  layers: ['seismic_zone'],
};
