import { fixed, type Download } from '../../pipelines/contract/download.ts';

const INDICATORS = 'https://esploradati.istat.it/databrowser/DWL/PERMPOP/SUBCOM/';

export default {
  // Files are issued again under the same name.
  cycle: ['01-31', '07-31'],
  // Of 2021 too: the 59 comuni that 2023 leaves out have their figures there.
  files: ({ code }) => [
    fixed('https://www.istat.it/storage/cartografia/basi_territoriali/2021/', `R${String(code).padStart(2, '0')}_21.zip`),
    fixed(INDICATORS, 'Dati_regionali_2021.zip'),
    fixed(INDICATORS, 'Dati_regionali_2023.zip'),
  ],
} satisfies Download;
