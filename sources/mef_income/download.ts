import { yearsSince, type Download } from '../../pipelines/contract/download.ts';

export default {
  // The data of a tax year is published in the second April after the year's end, and is reissued without notice.
  cycle: ['05-15', '07-15', '10-15'],
  // Uncompressed size of the CSV of tax year 2023, in bytes.
  largest: 2_308_165,
  files: (_region, today) => ['comunale', 'subcomunale'].map((level) => {
    const [newest, before] = yearsSince(today, 5);
    const edition = (year: number) => {
      const name = `Redditi_e_principali_variabili_IRPEF_su_base_${level}_CSV_${year - 2}.zip`;
      return { path: name, name };
    };
    return { base: 'https://www1.finanze.gov.it/finanze/analisi_stat/public/v_4_0_0/contenuti/', editions: [edition(newest), edition(before)] };
  }),
} satisfies Download;
