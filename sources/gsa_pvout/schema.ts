/** Defines the name and the allowed properties of the raster. */
import { z } from 'zod';
import { cellsOf, TILE } from '../../pipelines/readers/raster-tiles.ts';

/** Name of the raster for the year. The names for the months are `PVOUT_01.tif` …. */
export const NAME = /^PVOUT(?!_?\d{2}\.)[^/]*\.tiff?$/i;
export const MONTHLY = /^PVOUT_?\d{2}\.tiff?$/i;

const CELL = cellsOf(1 / 120, '30″');
/** Maximum yield of a day anywhere on earth, kWh/kWp. */
const MOST_OF_A_DAY = 10;

export const tile = TILE.extend({ epsg: z.literal(4326, 'expected EPSG:4326'), cell_width: CELL, cell_height: CELL }).superRefine((found, context) => {
  const { min_value: least, max_value: most } = found;
  if (least === null || most === null) return;
  if (most < MOST_OF_A_DAY) {
    context.addIssue({ code: 'custom', path: ['max_value'], message: 'expected kWh/kWp of a year, not of a day', params: { code: 'PVOUT_DAILY' } });
  } else if (least < 100) {
    context.addIssue({ code: 'custom', path: ['min_value'], message: 'expected kWh/kWp of a year, 100 or more' });
  } else if (most < 500 || most > 2500) {
    context.addIssue({ code: 'custom', path: ['max_value'], message: 'expected kWh/kWp of a year, 500 to 2,500' });
  }
});
