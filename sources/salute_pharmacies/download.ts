import { MONTHLY, type Download } from '../../pipelines/contract/download.ts';

export default {
  cycle: MONTHLY,
  byHand: () => 'open https://www.dati.salute.gov.it/it/dataset/farmacie/ and download the CSV. Keep the file name, FRM_FARMA_5_<day>.csv, which changes daily',
} satisfies Download;
