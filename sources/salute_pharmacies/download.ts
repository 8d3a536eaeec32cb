import { MONTHLY, type Download } from '../../pipelines/contract/download.ts';

export default {
  cycle: MONTHLY,
  byHand: () => 'open https://www.dati.salute.gov.it/it/dataset/farmacie/, Download of the CSV; its name, FRM_FARMA_5_<day>.csv, changes daily: leave it as it is',
} satisfies Download;
