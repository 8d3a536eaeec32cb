import { HOLDERS } from '../../pipelines/contract/holders.ts';
import type { Manifest } from '../../pipelines/contract/source.ts';

export const manifest: Manifest = {
  id: 'igm_dbsn',
  version: 2,
  title: 'Database di sintesi nazionale (DBSN): buildings',
  italianTitle: 'Database di sintesi nazionale (DBSN): edifici',
  attribution: {
    holder: HOLDERS.igm,
    license: 'ODbL-1.0',
    url: 'https://www.igmi.org/it/dbsn-database-di-sintesi-nazionale',
    text: 'Istituto Geografico Militare, Database di sintesi nazionale (DBSN). Open Data Commons Open Database License (ODbL) 1.0.',
  },
  vintageRule: 'the date in the file\'s name (PZ_dbsn_2025-07-28.zip), otherwise the newest date of the zip\'s entries; undated if neither exists',
  downloads: [
    { url: 'https://www.igmi.org/it/dbsn-database-di-sintesi-nazionale', note: 'one zip per province with a File Geodatabase (PZ_dbsn_2025-07-28.zip, Potenza_dbsn.gdb); do not unpack the zip' },
  ],
  cadence: 'about every year',
  crs: 'the CRS that each layer states; EPSG:7794, 7791, 7792 or 6706 in the known editions',
  keep: 'newest',
  ignored: {
    'objectid*': 'row number added by the program that wrote the file',
    fid: 'see objectid',
    classid: 'identifier of the object; the position identifies the row instead',
    classref: 'see classid',
    uuid: 'see classid',
    scril: 'scale of the survey: not served',
    edifc_at: 'height: not served, because most values are −9999',
    edifc_mon: 'whether the building is a monument: not served',
    'edifc_id*': 'identifiers of other registers: not served',
    'data_*': 'dates of the survey and of the object\'s life; the date of the file is used instead',
    'shape_*': 'length and area in the file\'s CRS; the area is measured in EPSG:3035 instead',
  },
  optional: {
    'objectid*': 'some exports lack this column', fid: 'some exports lack this column', 'shape_*': 'some exports lack these columns', classref: 'missing in the files of some provinces', uuid: 'missing in the files of some provinces',
    'edifc_id*': 'missing in the files of some provinces', 'data_*': 'missing in the files of some provinces',
  },
  highValue: { category: 'geospatial', entry: '1, geospatial: buildings' },
  envelope: { rejectShare: 0.001 },
  layers: ['dbsn_building'],
};
