import type { Download } from '../../pipelines/contract/download.ts';

export default {
  cycle: ['01-31', '06-30'],
  // Size in bytes of classificazione2024.csv.
  largest: 332_254,
  // The URL of each edition contains a hash, and only this page links to the file.
  files: () => [{
    base: 'https://rischi.protezionecivile.gov.it/it/sismico/attivita/classificazione-sismica/', editions: [{ path: '', name: 'classificazione-sismica.csv' }],
    link: /\/classificazione-?sismica[^/"]*\d{4}[^/"]*\.csv$/i,
  }],
} satisfies Download;
