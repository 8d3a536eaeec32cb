import type { Manifest } from '../../pipelines/contract/source.ts';

export const manifest: Manifest = {
  id: 'rfi_stations',
  version: 1,
  title: 'RFI: railway stations',
  italianTitle: 'RFI: stazioni ferroviarie',
  attribution: { holder: 'RFI – Rete Ferroviaria Italiana S.p.A.', license: 'CC-BY-4.0', url: 'https://www.rfi.it/it/stazioni.html', text: 'Fonte: RFI, elenco delle stazioni' },
  vintageRule: 'the year in the file name (`stazioni_2026.csv`)',
  downloads: [{ url: 'https://www.rfi.it/it/stazioni.html', note: 'stazioni_<year>.csv' }],
  cadence: 'yearly',
  crs: 'WGS 84 longitude and latitude, EPSG:4326',
  keep: 'newest',
  ignored: { gestore: 'operator of the building: not served' },
  envelope: { records: { stazioni: { min: 2_000, max: 4_000 } }, rejectShare: 0.25 },
  layers: ['station'],
};
