import { fixed, type Download } from '../../pipelines/contract/download.ts';

export default {
  cycle: ['01-31'],
  largest: 500_000,
  files: (_region, today) => [fixed('https://www.rfi.it/it/', `stazioni_${today.getUTCFullYear()}.csv`)],
} satisfies Download;
