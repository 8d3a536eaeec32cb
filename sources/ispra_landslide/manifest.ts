import { POLYGON_MEASURES, ROW_NUMBERS } from '../../pipelines/contract/exported-columns.ts';
import { HOLDERS } from '../../pipelines/contract/holders.ts';
import type { Manifest } from '../../pipelines/contract/source.ts';

export const manifest: Manifest = {
  id: 'ispra_landslide',
  version: 4,
  title: 'Mosaicatura nazionale delle aree a pericolosità da frana dei Piani di Assetto Idrogeologico (PAI)',
  italianTitle: 'Mosaicatura nazionale delle aree a pericolosità da frana dei Piani di Assetto Idrogeologico (PAI)',
  attribution: {
    holder: HOLDERS.ispra,
    license: 'CC-BY-SA-4.0',
    url: 'https://idrogeo.isprambiente.it/',
    text: 'ISPRA, Pericolosità e indicatori di rischio per frane e alluvioni. idrogeo.isprambiente.it. CC BY-SA 4.0.',
  },
  vintageRule: 'the year or years of the mosaic in the file\'s name: Mosaicatura_ISPRA_2020_2021_… is 2020_2021, Mosaicatura_ISPRA_2024_… is 2024. For an export of the web services without a year, the class column determines the edition',
  downloads: [
    {
      url: 'https://idrogeo.isprambiente.it/opendata/wms/Mosaicatura_ISPRA_2024_pericolosita_frana_PAI.zip',
      note: 'version 5.0, one GeoPackage for Italy; no registration',
    },
    {
      url: 'https://idrogeo.isprambiente.it/opendata/wms/Mosaicatura_ISPRA_2020_2021_aree_pericolosita_frana_PAI.zip',
      note: 'version 4.0, one shapefile for Italy; no registration',
    },
  ],
  cadence: 'about every three years',
  crs: 'the CRS that the file states; EPSG:32632 in the known editions',
  keep: 'newest',
  ignored: {
    per_fr_eng: 'the class in English, with the same content as per_fr_ita',
    ...ROW_NUMBERS.ignored,
    ...POLYGON_MEASURES.ignored,
  },
  optional: {
    per_fr_eng: 'the edition 2020–2021 lacks this column',
    ...ROW_NUMBERS.optional,
    ...POLYGON_MEASURES.optional,
  },
  highValue: { category: 'environment', entry: '2, earth observation and environment: natural risk zones' },
  envelope: { records: { mosaic: { min: 700_000, max: 1_500_000 } }, rejectShare: 0.001 },
  layers: ['landslide_hazard'],
};
