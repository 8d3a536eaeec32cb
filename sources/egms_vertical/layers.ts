/** Vertical ground motion with one row per 100 m cell, and the tiles in the release. */
import type { Layers } from '../../pipelines/contract/source.ts';

export const layers: Layers = {
  egms_cell: {
    description: 'EGMS L3 Ortho, vertical component: mean motion of the 100 m cells with measurement points. A cell without a row was not measured, so its motion is unknown.',
    position: 'Line of the CSV; the header is line 1.',
    columns: {
      ix: ['int4 not null', 'Column of the cell: floor(easting / 100 m), EPSG:3035.'],
      iy: ['int4 not null', 'Row of the cell: floor(northing / 100 m), EPSG:3035.'],
      mean_velocity_mm_year: ['float8 not null', 'Mean vertical velocity over the years of the release, mm/year. Positive is uplift, negative is sinking.'],
      mean_velocity_std_mm_year: ['float8 not null', 'Standard deviation of the velocity, mm/year.'],
      acceleration_mm_year2: ['float8 not null', 'Vertical acceleration, mm/year². Positive is acceleration upwards.'],
      rmse_mm: ['float8 not null', 'Root mean square residual of the series after a third-order polynomial and the seasonal term, mm.'],
      height_m: ['float8 not null', 'Orthometric height of the cell, metres.'],
      pid: ['text not null', 'The publisher\'s identifier of the cell in this release: 10 base62 characters, case sensitive.'],
    },
  },
  egms_tile: {
    description: 'Tiles of 100 km in the release. A cell without a row was not measured if the cell is inside a tile. Outside the tiles, the motion of a cell is unknown.',
    position: 'Line of the CSV that determined the tile: 1 (the header) if the file name states the tile, otherwise the line of the first cell.',
    columns: {
      tile_x: ['int4 not null', 'Column of the tile: easting / 100 km, EPSG:3035 (46 of E46N19).'],
      tile_y: ['int4 not null', 'Row of the tile: northing / 100 km, EPSG:3035 (19 of E46N19).'],
    },
  },
};
