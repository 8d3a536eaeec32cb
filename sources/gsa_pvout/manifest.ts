import { HOLDERS } from '../../pipelines/contract/holders.ts';
import type { Manifest } from '../../pipelines/contract/source.ts';

export const manifest: Manifest = {
  id: 'gsa_pvout',
  version: 3,
  title: 'Global Solar Atlas 2, PVOUT: photovoltaic electricity output of a mean year',
  italianTitle: 'Global Solar Atlas 2, PVOUT: produzione fotovoltaica di un anno medio',
  attribution: {
    holder: HOLDERS.worldBank,
    license: 'CC-BY-4.0',
    url: 'https://globalsolaratlas.info/',
    text:
      'Data obtained from the Global Solar Atlas 2.0, a free, web-based application developed and operated by the company Solargis s.r.o. on behalf of the World Bank Group, '
      + 'utilizing Solargis data, with funding provided by the Energy Sector Management Assistance Program (ESMAP). CC BY 4.0.',
  },
  vintageRule: 'the version of the atlas in the name of the zip (GlobalSolarAtlas-v2); 2 if no name has a version',
  downloads: [
    {
      url: 'https://globalsolaratlas.info/download/italy',
      note: 'GIS data, LTAym_YearlyMonthlyTotals (GeoTIFF). Only PVOUT.tif is read from the zip. The daily totals (LTAy_AvgDailyTotals) are rejected.',
    },
  ],
  cadence: 'irregular: version 2 has been current since 2019',
  crs: 'EPSG:4326; kWh per kWp and year',
  keep: 'newest',
  ignored: {},
  envelope: { rejectShare: 0 },
  layers: ['pvout_tile'],
};
