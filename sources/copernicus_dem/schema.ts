/** Defines the names and the allowed properties of a tile. */
import { z } from 'zod';
import { cellsOf, TILE } from '../../pipelines/readers/raster-tiles.ts';

/** Pattern of names: `Copernicus_DSM_COG_10_N42_00_E014_00_DEM` has the degrees of the tile's south-western corner. Some deliveries lack `COG`. */
export const NAME = /^Copernicus_DSM_(?:COG_)?10_([NS]\d{2})_00_([EW]\d{3})_00_DEM(?![a-z0-9])[^/]*\.tiff?$/i;

const CELL = cellsOf(1 / 3600, '1″');
/** The highest value around Italy is Mont Blanc, 4,808 m. The lowest values are drained land below sea level, quarries, and radar noise over water. */
const METRES = z.number().min(-150, 'expected metres, −150 or more').max(4900, 'expected metres, 4,900 or less').nullable();

export const tile = TILE.extend({ epsg: z.literal(4326, 'expected EPSG:4326'), cell_width: CELL, cell_height: CELL, min_value: METRES, max_value: METRES });
