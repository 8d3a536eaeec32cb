import { fixed, type Download } from '../../pipelines/contract/download.ts';

export default {
  // The model in force since 2006: asked once a year whether it still is.
  cycle: ['01-31'],
  // About 1.5 MB.
  largest: 1_600_000,
  files: () => [fixed('https://zonesismiche.mi.ingv.it/elaborazioni/dati/', 'italia_ag_002_txt.zip')],
} satisfies Download;
