/** Writes tiles of the annual VIIRS composite in HDF5, with the groups, types and attributes of NASA's files. */
import { File, ready } from 'h5wasm/node';

export interface ViirsTile {
  readonly rows: number;
  readonly columns: number;
  /**
   * Cell values, row by row from the north-west. Collection 1 stores tenths of nW cm⁻² sr⁻¹ and 65535 for no data. Collection 2 stores nW cm⁻² sr⁻¹ and −999.9
   * for no data.
   */
  readonly cells: Uint16Array | Float32Array | Float64Array;
  /** Name of the dataset; by default the snow-free composite of all angles. */
  readonly dataset?: string;
  /** Type of the attribute `_FillValue`; by default the type of the cells. Null omits the attribute. */
  readonly fillType?: '<f' | '<d' | 'text' | null;
}

export const VIIRS_FILL = -999.9;
const INTEGER_FILL = 65_535;

const library = await ready;

/** Writes one tile. @param path path of the file, which is overwritten */
export function writeViirs(path: string, tile: ViirsTile): void {
  const { rows, columns, cells, dataset = 'AllAngle_Composite_Snow_Free' } = tile;
  const dtype = cells instanceof Uint16Array ? '<H' : cells instanceof Float32Array ? '<f' : '<d';
  const { fillType = dtype } = tile;
  const fill = cells instanceof Uint16Array ? INTEGER_FILL : VIIRS_FILL;
  library.activate_throwing_error_handler();
  // Replaces the current time, which the HDF5 library writes into the file, so that the same values give the same bytes.
  const now = Date.now.bind(Date);
  Date.now = () => 0;
  try {
    const file = new File(path, 'w');
    const fields = file.create_group('HDFEOS').create_group('GRIDS').create_group('VIIRS_Grid_DNB_2d').create_group('Data Fields');
    const chunks = [Math.min(rows, 240), Math.min(columns, 240)];
    const written = fields.create_dataset({ name: dataset, data: cells, shape: [rows, columns], dtype, chunks, compression: 6 });
    if (fillType === 'text') written.create_attribute('_FillValue', String(fill));
    else if (fillType !== null) written.create_attribute('_FillValue', fill, null, fillType);
    if (cells instanceof Uint16Array) written.create_attribute('scale_factor', 0.1, null, '<f');
    written.create_attribute('units', 'nWatts/(cm^2 sr)');
    file.close();
  } finally {
    Date.now = now;
  }
}
