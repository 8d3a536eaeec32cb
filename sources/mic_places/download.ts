import type { Download } from '../../pipelines/contract/download.ts';

export default {
  cycle: ['01-31', '07-31'],
  byHand: () => 'open https://dati.cultura.gov.it/sparql, paste the query of sources/mic_places/query.sparql, choose CSV; the endpoint answers 10,000 rows at most and is often down: '
    + 'go on with "offset 10000" and so on; save the answers as luoghi_della_cultura_<day>.csv',
} satisfies Download;
