/** Writes the annual composite of VIIRS in HDF5, in the groups, the type and the attributes of NASA's files. */
import { File, ready } from 'h5wasm/node';

export interface ViirsTile {
  readonly rows: number;
  readonly columns: number;
  /** Tenths of nW cm⁻² sr⁻¹, row by row from the north-west; 65535: none. */
  readonly cells: Uint16Array;
  /** Name of the composite; by default that of all angles without snow. */
  readonly dataset?: string;
}

const library = await ready;

/** @param path of the file, which is written anew */
export function writeViirs(path: string, tile: ViirsTile): void {
  const { rows, columns, cells, dataset = 'AllAngle_Composite_Snow_Free' } = tile;
  library.activate_throwing_error_handler();
  // HDF5 notes the time in what it writes, and the same numbers must give the same bytes.
  const now = Date.now.bind(Date);
  Date.now = () => 0;
  try {
    const file = new File(path, 'w');
    const fields = file.create_group('HDFEOS').create_group('GRIDS').create_group('VIIRS_Grid_DNB_2d').create_group('Data Fields');
    const written = fields.create_dataset({ name: dataset, data: cells, shape: [rows, columns], dtype: '<H', chunks: [Math.min(rows, 240), Math.min(columns, 240)], compression: 6 });
    written.create_attribute('_FillValue', 65_535, null, '<H');
    written.create_attribute('scale_factor', 0.1, null, '<f');
    written.create_attribute('units', 'nWatts/(cm^2 sr)');
    file.close();
  } finally {
    Date.now = now;
  }
}
