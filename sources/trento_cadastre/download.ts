import type { Download } from '../../pipelines/contract/download.ts';

export default {
  cycle: ['01-20', '07-20'],
  byHand: ({ code }) => (code !== 4 ? null : 'open https://www.catasto.provincia.tn.it/, find the open data of the cadastral map, choose the comuni catastali, '
    + 'and save each zip (IDR00<YYYY>0701_TIPOCATSH_CC<NNN>.zip). Do not unpack the zips'),
} satisfies Download;
