import type { Download } from '../../pipelines/contract/download.ts';

export default {
  cycle: ['01-31', '06-30'],
  // classificazione2024.csv.
  largest: 332_254,
  // Each edition has an address with a hash of its own, which only this page links.
  files: () => [{
    base: 'https://rischi.protezionecivile.gov.it/it/sismico/attivita/classificazione-sismica/', editions: [{ path: '', name: 'classificazione-sismica.csv' }],
    link: /\/classificazione-?sismica[^/"]*\d{4}[^/"]*\.csv$/i,
  }],
} satisfies Download;
