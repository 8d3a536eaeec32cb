import { fixed, type Download } from '../../pipelines/contract/download.ts';

export default {
  cycle: 'daily',
  files: () => [fixed('https://www.mimit.gov.it/images/exportCSV/', 'anagrafica_impianti_attivi.csv')],
} satisfies Download;
