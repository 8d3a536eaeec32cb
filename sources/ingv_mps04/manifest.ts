import { HOLDERS } from '../../pipelines/contract/holders.ts';
import type { Manifest } from '../../pipelines/contract/source.ts';

export const manifest: Manifest = {
  id: 'ingv_mps04',
  version: 3,
  title: 'Modello di pericolosità sismica MPS04: accelerazione massima del suolo, 10 % in 50 anni',
  italianTitle: 'Modello di pericolosità sismica MPS04: accelerazione massima del suolo, 10 % in 50 anni',
  attribution: {
    holder: HOLDERS.ingv,
    license: 'CC-BY-4.0',
    url: 'https://doi.org/10.13127/sh/mps04/ag',
    text: 'INGV MPS04 seismic hazard model (Meletti et al., 2006), CC BY 4.0.',
  },
  vintageRule: 'always 2004; the model has no other edition',
  downloads: [
    { url: 'https://zonesismiche.mi.ingv.it/elaborazioni/dati/italia_ag_002_txt.zip', note: 'grid of 0.02° in one text file with 104,565 nodes; no registration' },
    { url: 'https://zonesismiche.mi.ingv.it/', note: 'OPCM3519_1B_ag_005_txt.zip: the same model on a grid of 0.05° with 16,852 nodes; used only if no file of 0.02° is loaded' },
  ],
  cadence: 'none, because the model has not changed since 2006',
  crs: 'longitude and latitude in degrees of ED50 (EPSG:4230), as stated on INGV\'s help page; EPSG:1133 transforms a parcel\'s point to ED50',
  keep: 'newest',
  ignored: {
    id: 'sequential number of the node; the position on the grid is the key instead',
    '16perc': '16th percentile of ag; mappale publishes the median instead',
    '84perc': '84th percentile of ag; mappale publishes the median instead',
    fid: 'sequential number added by a conversion; not used for the same reason as id',
    objectid: 'sequential number added by a conversion; not used for the same reason as id',
    ag_16: '16th percentile of ag, under the column name that copies use; mappale publishes the median instead',
    ag_84: '84th percentile of ag, under the column name that copies use; mappale publishes the median instead',
  },
  optional: {
    id: 'copies of the file lack this column', fid: 'copies of the file lack this column', objectid: 'copies of the file lack this column',
  },
  envelope: { records: { grid: { min: 104_000, max: 105_200 }, coarse_grid: { min: 16_500, max: 17_200 } }, rejectShare: 0.001 },
  layers: ['pga_node'],
};
