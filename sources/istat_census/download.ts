import { fixed, type Download } from '../../pipelines/contract/download.ts';

const INDICATORS = 'https://esploradati.istat.it/databrowser/DWL/PERMPOP/SUBCOM/';

export default {
  // The publisher reissues files under the same name.
  cycle: ['01-31', '07-31'],
  // Dati_regionali_2021.zip and Dati_regionali_2023.zip are about 250 MB each.
  largest: 250_000_000,
  // Both editions are needed: an issue of 2023 from before 2026-03-05 lacks 59 comuni, for which the numbers of 2021 are kept.
  files: ({ code }) => [
    fixed('https://www.istat.it/storage/cartografia/basi_territoriali/2021/', `R${String(code).padStart(2, '0')}_21.zip`),
    fixed(INDICATORS, 'Dati_regionali_2021.zip'),
    fixed(INDICATORS, 'Dati_regionali_2023.zip'),
  ],
} satisfies Download;
