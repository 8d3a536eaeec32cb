import { HOLDERS } from '../../pipelines/contract/holders.ts';
import type { Manifest } from '../../pipelines/contract/source.ts';

export const manifest: Manifest = {
  id: 'viirs_nightlights',
  version: 5,
  title: 'VIIRS Black Marble VNP46A4, light at night: annual composite with cells of 15″',
  italianTitle: 'VIIRS Black Marble VNP46A4, luci notturne: composito annuale con celle di 15″',
  attribution: {
    holder: HOLDERS.nasa,
    license: 'NASA open data',
    url: 'https://doi.org/10.5067/VIIRS/VNP46A4.002',
    text: 'Román, M.O. et al. (2018), NASA\'s Black Marble nighttime lights product suite, Remote Sensing of Environment 210. VNP46A4 and VJ146A4, NASA LAADS DAAC.',
  },
  vintageRule: 'the year in the name: VNP46A4.A2025001.h19v04.002.… is 2025. Within one year, collection 2 (002) takes precedence over collection 1, and VNP46A4 takes precedence over VJ146A4',
  downloads: [
    {
      url: 'https://ladsweb.modaps.eosdis.nasa.gov/archive/allData/5200/VNP46A4/',
      note: 'with an Earthdata login: collection 2 (ArchiveSet 5200), tiles h18v04, h19v04, h18v05 and h19v05 of a year, HDF5. VJ146A4 is the same product of a later satellite. An annual GeoTIFF of the same radiance, named VNL_… or VNP46A4…, is read too.',
    },
  ],
  cadence: 'yearly',
  crs: 'EPSG:4326; the name of an HDF5 contains its position: column h and row v of tiles of 10°',
  keep: 'newest',
  ignored: {
    'VNL_*.cf_cvg.*': 'number of cloud-free observations: not served',
    'VNL_*.cvg.*': 'number of observations: not served',
    'VNL_*.lit_mask.*': 'mask of lit cells: not served',
    'VNL_*.maximum.*': 'highest radiance of the year: not served',
    'VNL_*.minimum.*': 'lowest radiance of the year: not served',
  },
  envelope: { rejectShare: 0 },
  layers: ['radiance_tile'],
};
