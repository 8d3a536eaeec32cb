import type { Download } from '../../pipelines/contract/download.ts';

export default {
  cycle: ['01-31'],
  byHand: () => 'open https://www.igmi.org/it/dbsn-database-di-sintesi-nazionale, choose the provinces of the region, accept the licence, and save each zip (PZ_dbsn_2025-07-28.zip). Do not unpack the zips',
} satisfies Download;
