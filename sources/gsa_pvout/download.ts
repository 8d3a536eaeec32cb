import type { Download } from '../../pipelines/contract/download.ts';

export default {
  cycle: ['01-31'],
  byHand: () => 'open https://globalsolaratlas.info/download/italy, choose GIS data, "LTAym_YearlyMonthlyTotals (GeoTIFF)" (not the daily totals), accept the terms, and save the zip. Do not unpack the zip',
} satisfies Download;
