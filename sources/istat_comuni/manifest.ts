import { HOLDERS } from '../../pipelines/contract/holders.ts';
import type { Manifest } from '../../pipelines/contract/source.ts';

export const manifest: Manifest = {
  id: 'istat_comuni',
  version: 2,
  title: 'ISTAT: codes of comuni, provinces and regions in force',
  italianTitle: 'ISTAT: codici dei comuni, delle province e delle regioni vigenti',
  attribution: {
    holder: HOLDERS.istat,
    license: 'CC-BY-4.0',
    url: 'https://www.istat.it/classificazione/codici-dei-comuni-delle-province-e-delle-regioni/',
    text: 'Fonte: Istat, Codici statistici delle unità amministrative territoriali',
  },
  vintageRule:
    'for a workbook, the date in the name of its sheet (`CODICI al 01_01_2026` → `2026-01-01`). For a CSV, which has no date, the date or year in the file name (`Elenco-comuni-italiani_2023.csv` → `2023`). '
    + 'If the name has no date, the first year that the columns imply is used. This is the year after the last closed numbering (`dal 2017 al 2025` → `2026`), '
    + 'or the year of the newest NUTS',
  downloads: [
    {
      url: 'https://www.istat.it/storage/codici-unita-amministrative/Elenco-comuni-italiani.csv',
      note: 'always the current list. Save each edition under a name with its date, because the file contains no date. Elenco-comuni-italiani.xlsx contains its date and is accepted too',
    },
  ],
  cadence: 'twice a year and at each change of territory',
  crs: null,
  keep: 'newest',
  reference: true,
  ignored: {
    'Progressivo del Comune (2)': 'the last three digits of the code',
    'Denominazione (Italiana e straniera)': 'the two names joined; the columns of each name are read instead',
    'Codice Ripartizione Geografica': 'derived from the region',
    'Ripartizione geografica': 'derived from the region',
    'Codice Comune formato numerico': 'the code without leading zeros',
    'Codice NUTS*': 'European statistical regions: not served',
  },
  optional: { 'Codice Comune numerico con 107 province (dal 2017*': 'the lists before 2026 lack this column' },
  envelope: {
    records: { elenco: { min: 7_800, max: 8_300 } },
    rejectShare: 0,
  },
  layers: ['comune_code'],
};
