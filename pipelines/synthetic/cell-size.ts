/** Defines the size of cells and sheets of the synthetic region. */

/** Width and height of a cell in degrees: about 41 × 44 m at latitude 42. */
export const CELL_LON = 0.0005;
export const CELL_LAT = 0.0004;
/** Number of columns and rows of cells in a sheet. */
export const SHEET_COLUMNS = 12;
export const SHEET_ROWS = 10;

/** Number of coordinate units per degree. */
export const UNIT = 100_000_000;
/** Width and height of a cell in coordinate units. */
export const CELL_X = 50_000;
export const CELL_Y = 40_000;
