import { HOLDERS } from '../../pipelines/contract/holders.ts';
import type { Manifest } from '../../pipelines/contract/source.ts';

export const manifest: Manifest = {
  id: 'tinitaly_dem',
  version: 2,
  title: 'TINITALY 1.1, digital elevation model of Italy with cells of 10 m',
  italianTitle: 'TINITALY 1.1, modello digitale del terreno d\'Italia con celle di 10 m',
  attribution: {
    holder: HOLDERS.ingv,
    license: 'CC-BY-4.0',
    url: 'https://doi.org/10.13127/tinitaly/1.1',
    text: 'Tarquini S., Isola I., Favalli M., Battistini A., Dotta G. (2023), TINITALY, a digital elevation model of Italy with a 10 meters cell size (Version 1.1), INGV, CC BY 4.0.',
  },
  vintageRule: 'always 1.1, because only tiles of this edition have these names; the files state no edition',
  downloads: [
    { url: 'https://tinitaly.pi.ingv.it/data_1.1/', note: 'one zip per tile of 50 km, w<NNN><EE>_s10/w<NNN><EE>_s10.zip; tinitaly.pi.ingv.it has a map of the tiles; no registration' },
  ],
  cadence: 'irregular: version 1.0 in 2007, version 1.1 in 2023',
  crs: 'EPSG:32632 (WGS 84 / UTM zone 32N), even east of 12°; metres above sea level',
  keep: 'newest',
  ignored: {},
  envelope: { rejectShare: 0 },
  layers: ['tinitaly_tile'],
};
