import { HOLDERS } from '../../pipelines/contract/holders.ts';
import type { Manifest } from '../../pipelines/contract/source.ts';

export const manifest: Manifest = {
  id: 'istat_soppressi',
  version: 1,
  title: 'ISTAT: suppressed comuni and their successors',
  italianTitle: 'ISTAT: comuni soppressi e comuni subentranti',
  attribution: {
    holder: HOLDERS.istat,
    license: 'CC-BY-4.0',
    url: 'https://www.istat.it/classificazione/codici-dei-comuni-delle-province-e-delle-regioni/',
    text: 'Fonte: Istat, Codici statistici delle unità amministrative territoriali',
  },
  vintageRule: 'the day of the newest event, which is on the first row (`2024-01-22`)',
  downloads: [
    {
      url: 'https://www.istat.it/classificazione/codici-dei-comuni-delle-province-e-delle-regioni/',
      note: 'Elenco dei comuni soppressi, saved as CSV (UTF-8 with ;)',
    },
  ],
  cadence: 'at each change of territory',
  crs: null,
  keep: 'newest',
  reference: true,
  ignored: {
    Anno: 'the year of Data evento',
    'Codice Unità territoriale sovracomunale associato alla variazione': 'derived from the comune that took over',
    'Sigla Automobilistica associata alla variazione': 'derived from the comune that took over',
    '': 'columns without a name at the end of each line, always empty',
  },
  envelope: {
    records: { soppressi: { min: 2_500, max: 5_000 } },
    rejectShare: 0,
  },
  layers: ['comune_suppressed'],
};
