import type { Download } from '../../pipelines/contract/download.ts';

export default {
  cycle: ['01-20', '07-20'],
  byHand: ({ code }) => (code !== 4 ? null : 'open https://www.catasto.provincia.tn.it/, open data of the cadastral map, and choose the comuni catastali; '
    + 'save each zip (IDR00<YYYY>0701_TIPOCATSH_CC<NNN>.zip) as it is'),
} satisfies Download;
