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
    objectid: 'row number added by the program that wrote the file',
    objectid_1: 'see objectid',
    fid: 'see objectid',
    id: 'see objectid',
    shape_leng: 'perimeter in the file\'s CRS: not served',
    shape_length: 'see shape_leng',
    shape_le_1: 'see shape_leng',
    shape_area: 'area in the file\'s CRS; measured in EPSG:3035 instead',
  },
  optional: {
    objectid: 'added by programs that export the file', objectid_1: 'see objectid', fid: 'see objectid', id: 'only files of the web services have this column',
    shape_leng: 'added by exports from a database', shape_length: 'see shape_leng', shape_le_1: 'see shape_leng', shape_area: 'see shape_leng',
  },
  highValue: { category: 'environment', entry: '2, earth observation and environment: natural risk zones' },
  envelope: { records: { mosaic: { min: 60_000, max: 400_000 } }, rejectShare: 0.001 },
  layers: ['flood_hazard'],
};
