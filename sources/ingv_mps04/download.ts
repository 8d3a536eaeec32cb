import { fixed, type Download } from '../../pipelines/contract/download.ts';

export default {
  // The current model was published in 2006. The publisher is checked once a year for a change.
  cycle: ['01-31'],
  // The file is about 1.5 MB.
  largest: 1_600_000,
  files: () => [fixed('https://zonesismiche.mi.ingv.it/elaborazioni/dati/', 'italia_ag_002_txt.zip')],
} satisfies Download;
