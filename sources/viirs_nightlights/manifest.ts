import { HOLDERS } from '../../pipelines/contract/holders.ts';
import type { Manifest } from '../../pipelines/contract/source.ts';

export const manifest: Manifest = {
  id: 'viirs_nightlights',
  version: 2,
  title: 'VIIRS Black Marble VNP46A4, light at night: annual composite with cells of 15″',
  attribution: {
    holder: HOLDERS.nasa,
    license: 'NASA open data',
    url: 'https://doi.org/10.5067/VIIRS/VNP46A4.001',
    text: 'Román, M.O. et al. (2018), NASA\'s Black Marble nighttime lights product suite, Remote Sensing of Environment 210. VNP46A4, NASA LAADS DAAC.',
  },
  vintageRule: 'the year in the name: VNP46A4.A2023001.h19v04.… is 2023',
  downloads: [
    {
      url: 'https://ladsweb.modaps.eosdis.nasa.gov/archive/allData/5000/VNP46A4/',
      note: 'with an Earthdata login: tiles h18v04, h19v04, h18v05 and h19v05 of a year, HDF5. Or an annual GeoTIFF of the same radiance, called VNL_… or VNP46A4….',
    },
  ],
  cadence: 'yearly',
  crs: 'EPSG:4326; an HDF5 has its place in its name, column h and row v of tiles of 10°',
  keep: 'newest',
  ignored: {},
  envelope: { rejectShare: 0 },
  layers: ['radiance_tile'],
};
