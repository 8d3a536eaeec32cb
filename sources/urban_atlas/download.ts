import type { Download } from '../../pipelines/contract/download.ts';

export default {
  cycle: ['01-31'],
  byHand: () => 'log in at https://land.copernicus.eu/en/products/urban-atlas/urban-atlas-2018 (EU Login, free), choose Download, prepackaged, and the functional urban areas of the region, '
    + 'and save each zip (IT025L3_NAPOLI_UA2018_v013.zip). Do not unpack the zips',
} satisfies Download;
