import type { Download } from '../../pipelines/contract/download.ts';

export default {
  cycle: ['03-15'],
  byHand: () => 'open https://www.istat.it/classificazione/codici-dei-comuni-delle-province-e-delle-regioni/, choose the "Elenco dei comuni soppressi", '
    + 'and save its table as CSV (semicolons, UTF-8) under the name Elenco-comuni-soppressi.csv',
} satisfies Download;
