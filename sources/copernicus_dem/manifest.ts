import { HOLDERS } from '../../pipelines/contract/holders.ts';
import type { Manifest } from '../../pipelines/contract/source.ts';

export const manifest: Manifest = {
  id: 'copernicus_dem',
  version: 2,
  title: 'Copernicus DEM GLO-30, digital surface model with cells of 1″',
  italianTitle: 'Copernicus DEM GLO-30, modello digitale della superficie con celle di 1″',
  attribution: {
    holder: HOLDERS.esa,
    license: 'Copernicus DEM full, free and open',
    url: 'https://doi.org/10.5270/ESA-c5d3d65',
    text:
      'Produced using Copernicus WorldDEM-30 © DLR e.V. 2010-2014 and © Airbus Defence and Space GmbH 2014-2018 provided under COPERNICUS by the European Union and ESA; '
      + 'all rights reserved.',
  },
  vintageRule: 'always 2021, the year in which the model became open; the files state no edition',
  downloads: [
    {
      url: 'https://copernicus-dem-30m.s3.amazonaws.com/',
      note: 'one GeoTIFF per degree, Copernicus_DSM_COG_10_N42_00_E014_00_DEM/Copernicus_DSM_COG_10_N42_00_E014_00_DEM.tif; no registration',
    },
  ],
  cadence: 'irregular: tiles are corrected from time to time',
  crs: 'EPSG:4326; metres above the geoid EGM2008',
  keep: 'newest',
  ignored: {},
  envelope: { rejectShare: 0 },
  layers: ['copernicus_tile'],
};
