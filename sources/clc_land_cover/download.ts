import type { Download } from '../../pipelines/contract/download.ts';

export default {
  cycle: ['01-31'],
  byHand: () => 'log in at https://land.copernicus.eu/en/products/corine-land-cover/clc2018 (EU Login, free), choose Download, prepackaged, Vector, GeoPackage, '
    + 'and save u2018_clc2018_v2020_20u1_geoPackage.zip without unpacking it',
} satisfies Download;
