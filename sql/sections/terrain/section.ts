/** Section terrain: elevation, slope, ruggedness and aspect of a parcel. */
import { z } from 'zod';
import { presence, quantity } from '../../../pipelines/contract/gate.ts';
import { nullable, source, whole } from '../../../pipelines/contract/schemas.ts';
import { defineSection, FID } from '../../../pipelines/contract/section.ts';

const elevation = z.number().describe('Metres above sea level, as in the model');
const NO_SLOPE = 'no cell has all eight neighbours';
const slope = nullable(z.number().min(0).max(90), `Degrees, after Horn (1981); null: ${NO_SLOPE}`);
const ruggedness = (after: string): z.ZodType => nullable(z.number().min(0), `Metres, after ${after}; null: ${NO_SLOPE}`);

const ASPECTS = ['N', 'NE', 'E', 'SE', 'S', 'SW', 'W', 'NW', 'flat'] as const;

const terrain = z.strictObject({
  elevation_min: elevation,
  elevation_max: elevation,
  elevation_mean: elevation,
  elevation_std: z.number().min(0).describe('Standard deviation of the elevations, metres'),
  slope_mean: slope,
  slope_max: slope,
  ruggedness_index: ruggedness('Riley (1999), mean of the cells'),
  tri_mean: ruggedness('Wilson (2007), mean of the cells'),
  aspect_predominant: nullable(z.enum(ASPECTS), `Most frequent aspect (octant) of sloping cells; flat: more than half of the cells have a slope below 1°; null: ${NO_SLOPE}`),
  cells: whole.min(1).describe('Number of cells of the elevation model whose centre is in the parcel; if there is none, 1 for the cell that contains the representative point'),
  elevation_of: nullable(z.enum(['ground', 'surface']), 'ground: height of the bare ground; surface: height including trees and roofs; null: not known for the date of the record'),
  source,
}).meta({ id: 'Terrain', description: 'Height, slope and ruggedness' });

const UNREAD = 'as cells';
const ROUGH = `no cell of the parcel has all eight neighbours; ${UNREAD}`;
const HEIGHT = quantity({ within: [-100, 4850], moves: { step: 20, why: 'near the sea, 25 % of the height is a small change' } });
const STEEP = quantity({ within: [0, 90], moves: { step: 3, why: 'the slope of plains is almost 0, so a change of 25 % is noise' } });
const SPREAD = quantity({ within: [0, null], moves: { step: 3, why: 'the heights within a parcel differ by only a few metres' } });

export default defineSection({
  name: 'terrain',
  position: 100,
  title: 'Terrain',
  block: nullable(terrain, 'Null: no elevation of the parcel is known'),
  kinds: ['land'],
  coverage: 'meta',
  tables: {
    'section.terrain': {
      description: 'Relief of each land parcel, from the finest elevation model with all cells of the parcel: TINITALY (10 m), else GLO-30 (1″). If no model has all cells, from the finest model with some of the cells. No row: no loaded model has an elevation of the parcel',
      key: ['fid'],
      columns: {
        fid: FID,
        elevation_min_m: { type: 'float8', description: 'Smallest elevation of the cells, 1 decimal', unit: 'm', null: UNREAD, gate: HEIGHT },
        elevation_max_m: { type: 'float8', description: 'Largest elevation of the cells, 1 decimal', unit: 'm', null: UNREAD, gate: HEIGHT },
        elevation_mean_m: { type: 'float8', description: 'Mean elevation of the cells, 1 decimal', unit: 'm', null: UNREAD, gate: HEIGHT },
        elevation_std_m: { type: 'float8', description: 'Population standard deviation of the elevations of the cells, 1 decimal', unit: 'm', null: UNREAD, gate: SPREAD },
        slope_mean_deg: { type: 'float8', description: 'Mean slope of the cells after Horn (1981), 1 decimal', unit: 'degrees', null: ROUGH, gate: STEEP },
        slope_max_deg: { type: 'float8', description: 'Largest slope of the cells after Horn (1981), 1 decimal', unit: 'degrees', null: ROUGH, gate: STEEP },
        ruggedness_index_m: { type: 'float8', description: 'Ruggedness after Riley (1999), as the mean of the cells, 2 decimals. The value of a cell is the square root of the sum of the squared differences to its eight neighbours', unit: 'm', null: ROUGH, gate: SPREAD },
        tri_mean_m: { type: 'float8', description: 'Terrain ruggedness index after Wilson (2007), as the mean of the cells, 2 decimals. The value of a cell is the mean difference to its eight neighbours', unit: 'm', null: ROUGH, gate: SPREAD },
        aspect_predominant: {
          type: 'text',
          description: 'Most frequent aspect (octant) of the cells with a slope of 1° or more. If several octants are equally frequent, the first clockwise from N. Value flat: more than half of the cells have a slope below 1°',
          null: ROUGH, gate: presence(),
        },
        cells: {
          type: 'int4',
          description: 'Number of cells with an elevation whose centre is in the parcel; if there is none, 1 for the cell that contains the representative point',
          null: 'the raster with these cells was missing when the parcel was added or changed (see the column unread)',
          gate: quantity({ within: [1, null], moves: { by: 1, step: 10, why: 'the finer model has nine cells for each cell of the other model' } }),
        },
        source_id: { type: 'text', description: 'Source of the elevations: tinitaly_dem or copernicus_dem', null: UNREAD, gate: 'the finer model is used if it has all cells of the parcel' },
        unread: { type: 'bool', description: 'True: no value was computed when the parcel was added or changed, because the raster with its cells was missing', gate: 'status counts these rows' },
      },
    },
  },
  flat: {
    elevation_min_m: { type: 'float8', of: 'elevation_min' }, elevation_max_m: { type: 'float8', of: 'elevation_max' },
    elevation_mean_m: { type: 'float8', of: 'elevation_mean' }, elevation_std_m: { type: 'float8', of: 'elevation_std' },
    slope_mean_deg: { type: 'float8', of: 'slope_mean' }, slope_max_deg: { type: 'float8', of: 'slope_max' },
    ruggedness_index_m: { type: 'float8', of: 'ruggedness_index' }, tri_mean_m: { type: 'float8', of: 'tri_mean' },
    aspect_predominant: { type: 'text' }, cells: { type: 'int4' }, elevation_of: { type: 'text' },
  },
});
