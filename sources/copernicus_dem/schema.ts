/** What a tile is called, and must be. */
import { z } from 'zod';
import { cellsOf, TILE } from '../../pipelines/readers/raster-tiles.ts';

/** `Copernicus_DSM_COG_10_N42_00_E014_00_DEM`: degrees of its south-western corner; some deliveries leave out `COG`. */
export const NAME = /^Copernicus_DSM_(?:COG_)?10_([NS]\d{2})_00_([EW]\d{3})_00_DEM(?![a-z0-9])[^/]*\.tiff?$/i;

const CELL = cellsOf(1 / 3600, '1″');
/** Highest around Italy: Mont Blanc, 4,808 m. Lowest: land drained below the sea, quarries, noise of the radar over water. */
const METRES = z.number().min(-150, 'expected metres, −150 or more').max(4900, 'expected metres, 4,900 or less').nullable();

export const tile = TILE.extend({ epsg: z.literal(4326, 'expected EPSG:4326'), cell_width: CELL, cell_height: CELL, min_value: METRES, max_value: METRES });
