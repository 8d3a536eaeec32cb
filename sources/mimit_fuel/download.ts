import { fixed, type Download } from '../../pipelines/contract/download.ts';

export default {
  cycle: 'daily',
  // Estimate: 23,972 rows of 150 bytes each.
  largest: 3_600_000,
  files: () => [fixed('https://www.mimit.gov.it/images/exportCSV/', 'anagrafica_impianti_attivi.csv')],
} satisfies Download;
