import type { Download } from '../../pipelines/contract/download.ts';

export default {
  cycle: ['01-31'],
  byHand: () => 'open https://globalsolaratlas.info/download/italy, GIS data, "LTAym_YearlyMonthlyTotals (GeoTIFF)", accept the terms; save the zip as it is. Not the daily totals',
} satisfies Download;
