import { HOLDERS } from '../../pipelines/contract/holders.ts';
import type { Manifest } from '../../pipelines/contract/source.ts';

export const manifest: Manifest = {
  id: 'ingv_mps04',
  version: 3,
  title: 'Modello di pericolosità sismica MPS04: accelerazione massima del suolo, 10 % in 50 anni',
  attribution: {
    holder: HOLDERS.ingv,
    license: 'CC-BY-4.0',
    url: 'https://doi.org/10.13127/sh/mps04/ag',
    text: 'INGV MPS04 seismic hazard model (Meletti et al., 2006), CC BY 4.0.',
  },
  vintageRule: 'always 2004; the model has no other edition',
  downloads: [
    { url: 'https://zonesismiche.mi.ingv.it/elaborazioni/dati/italia_ag_002_txt.zip', note: 'grid of 0.02°, one text file, 104,565 nodes; no registration' },
    { url: 'https://zonesismiche.mi.ingv.it/', note: 'OPCM3519_1B_ag_005_txt.zip: the same model every 0.05°, 16,852 nodes; used only where no file of 0.02° is loaded' },
  ],
  cadence: 'none: the model is unchanged since 2006',
  crs: 'longitude and latitude in degrees of ED50 (EPSG:4230), as INGV\'s help page states; a parcel\'s point is transformed to ED50 by EPSG:1133',
  keep: 'newest',
  ignored: {
    id: 'running number of the node; its position on the grid is the key instead',
    '16perc': '16th percentile of ag; the median is served',
    '84perc': '84th percentile of ag: see 16perc',
    fid: 'running number added by a conversion: see id',
    objectid: 'running number added by a conversion: see id',
    ag_16: '16th percentile of ag, under its name in copies: see 16perc',
    ag_84: '84th percentile of ag, under its name in copies: see 16perc',
  },
  optional: {
    id: 'copies leave it out', fid: 'copies leave it out', objectid: 'copies leave it out',
  },
  envelope: { records: { grid: { min: 104_000, max: 105_200 }, coarse_grid: { min: 16_500, max: 17_200 } }, rejectShare: 0.001 },
  layers: ['pga_node'],
};
