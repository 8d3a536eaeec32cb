/** Defines the names and the allowed properties of a tile. */
import { z } from 'zod';
import { cellsOf, TILE } from '../../pipelines/readers/raster-tiles.ts';

/** Pattern of names: `w47070_s10` contains the northing and easting of the tile's south-western corner in units of 10 km. */
export const NAME = /^[ew]\d{5}_s10(?![a-z0-9])[^/]*\.tiff?$/i;

const CELL = cellsOf(10, '10 m');
/** Elevation in metres. The highest point is Mont Blanc, 4,808 m. The lowest points are drained land and quarries below sea level. */
const METRES = z.number().min(-100, 'expected metres, −100 or more').max(4900, 'expected metres, 4,900 or less').nullable();

export const tile = TILE.extend({ epsg: z.literal(32632, 'expected EPSG:32632'), cell_width: CELL, cell_height: CELL, min_value: METRES, max_value: METRES });
