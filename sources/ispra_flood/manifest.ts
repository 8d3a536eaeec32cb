import { POLYGON_MEASURES, ROW_NUMBERS } from '../../pipelines/contract/exported-columns.ts';
import { HOLDERS } from '../../pipelines/contract/holders.ts';
import type { Manifest } from '../../pipelines/contract/source.ts';

export const manifest: Manifest = {
  id: 'ispra_flood',
  version: 4,
  title: 'Mosaicatura nazionale delle aree a pericolosità idraulica (D.Lgs. 49/2010)',
  italianTitle: 'Mosaicatura nazionale delle aree a pericolosità idraulica (D.Lgs. 49/2010)',
  attribution: {
    holder: HOLDERS.ispra,
    license: 'CC-BY-SA-4.0',
    url: 'https://idrogeo.isprambiente.it/',
    text: 'ISPRA, Pericolosità e indicatori di rischio per frane e alluvioni. idrogeo.isprambiente.it. CC BY-SA 4.0.',
  },
  vintageRule: 'the year of the mosaic in the name of the zip or its shapefiles: Mosaicatura_ISPRA_2020_… is 2020. An export of the web services without a year has the edition 2020',
  downloads: [
    {
      url: 'https://idrogeo.isprambiente.it/opendata/wms/Mosaicatura_ISPRA_2020_aree_pericolosita_idraulica.zip',
      note: 'one zip for Italy with the licence and three shapefiles: HPH (P3), MPH (P2) and LPH (P1); no registration',
    },
  ],
  cadence: 'about every three years',
  crs: 'the CRS in the .prj file; EPSG:3035 (ETRS89-LAEA) in the known editions',
  keep: 'newest',
  ignored: {
    ...ROW_NUMBERS.ignored,
    ...POLYGON_MEASURES.ignored,
  },
  optional: {
    ...ROW_NUMBERS.optional,
    ...POLYGON_MEASURES.optional,
  },
  highValue: { category: 'environment', entry: '2, earth observation and environment: natural risk zones' },
  envelope: { records: { mosaic: { min: 60_000, max: 400_000 } }, rejectShare: 0.001 },
  layers: ['flood_hazard'],
};
