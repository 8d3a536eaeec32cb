/** Lists the columns that programs add when they export a file, for `ignored` and `optional` of a manifest. */
import type { Manifest } from './source.ts';

type Columns = Readonly<Record<'ignored' | 'optional', Manifest['ignored']>>;

/** Columns that contain row numbers. */
export const ROW_NUMBERS: Columns = {
  ignored: {
    objectid: 'row number added by the program that wrote the file',
    objectid_1: 'see objectid',
    fid: 'see objectid',
    id: 'see objectid',
  },
  optional: {
    objectid: 'added by programs that export the file', objectid_1: 'see objectid', fid: 'see objectid', id: 'only files of the web services have this column',
  },
};

/** Columns that contain the perimeter or area of a polygon. */
export const POLYGON_MEASURES: Columns = {
  ignored: {
    shape_leng: 'perimeter in the file\'s CRS: not served',
    shape_length: 'see shape_leng',
    shape_le_1: 'see shape_leng',
    shape_area: 'area in the file\'s CRS; measured in EPSG:3035 instead',
  },
  optional: {
    shape_leng: 'added by exports from a database', shape_length: 'see shape_leng', shape_le_1: 'see shape_leng', shape_area: 'see shape_leng',
  },
};
