import type { Download } from '../../pipelines/contract/download.ts';

export default {
  cycle: ['06-30'],
  byHand: () => 'log in at https://urs.earthdata.nasa.gov (free), open https://ladsweb.modaps.eosdis.nasa.gov/archive/allData/5200/VNP46A4/ (collection 2), choose the newest year, day 001, '
    + 'and save the tiles h18v04, h19v04, h18v05 and h19v05. Do not rename the tiles. For years without VNP46A4, use VJ146A4 from the same archive',
} satisfies Download;
