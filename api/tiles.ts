/**
 * Serves GET /tiles/{z}/{x}/{y}, the vector tiles of the map. This path is not in the table of endpoints, because its responses are not JSON and its requests
 * have a separate queue.
 */
import { z } from 'zod';
import type { Reader } from '../pipelines/db/reader.ts';
import { TILE_LAYERS, TILE_TYPE, tileOf, type Tile } from '../pipelines/deliver/tiles.ts';
import { HIGHEST_ZOOM, type TileNumber } from '../pipelines/formats/vector-tile.ts';
import { TILES_PER_TOKEN } from './access.ts';
import type { Described } from './endpoint.ts';
import { invalidParameter } from './errors.ts';
import { readParameters, whole } from './parameters.ts';

const LAST_ROW = 2 ** HIGHEST_ZOOM - 1;

const pathParameters = z.strictObject({
  z: whole(0, HIGHEST_ZOOM, 'Zoom of the tile'),
  x: whole(0, LAST_ROW, 'Column of the tile, from the west; less than 2 to the power of z'),
  y: whole(0, LAST_ROW, 'Row of the tile, from the north; less than 2 to the power of z'),
});

const NAMES = TILE_LAYERS.map(({ name }) => name);

const parameters = z.strictObject({ layer: z.enum(NAMES).describe(`Layer to draw; one of ${NAMES.join(', ')}`) });

/** Scope of a key that reads tiles. */
export const TILES_SCOPE = 'parcels:read';

export const TILES_ENDPOINT: Described = {
  path: '/tiles/{z}/{x}/{y}',
  operation: 'getTile',
  scope: TILES_SCOPE,
  summary: 'Get a tile of the map',
  description: 'Returns one layer as a Mapbox Vector Tile 2.1 in Web Mercator: `comuni` (published boundaries), `ground` (roads and water), `parcels`, `footprints` (building outlines), `house_numbers` (points), or a section. In the layer of a section, '
    + 'a parcel has the property `value` or, if the section has no value for the parcel, `coverage`. The coverage `mapped` means that the parcel has no feature. `map/overview.json` has the legend and the smallest zoom of each layer. '
    + `Tiles do not count against the hourly limit. At most ${TILES_PER_TOKEN.working} tiles of a token are drawn in parallel, and at most ${TILES_PER_TOKEN.waiting} tile requests wait. Further tile requests get 429.`,
  parameters,
  pathParameters,
  answer: z.string().meta({ id: 'Tile', description: 'A Mapbox Vector Tile (binary)' }),
  type: TILE_TYPE,
  errors: [],
  example: { z: '15', x: '17719', y: '12197', layer: 'parcels' },
  otherExamples: {},
  refused: { layer: 'nowhere' },
  nothing: 'The tile has no features of the layer, or the layer is not drawn at this zoom',
};

interface AskedTile {
  readonly tile: TileNumber;
  readonly layer: (typeof TILE_LAYERS)[number];
}

/** @throws ApiError `INVALID_PARAMS` */
export function readTile(path: Readonly<Record<string, unknown>>, query: Readonly<Record<string, unknown>>): AskedTile {
  const tile = readParameters(pathParameters, path);
  const last = 2 ** tile.z - 1;
  for (const name of ['x', 'y'] as const) if (tile[name] > last) throw invalidParameter(name, `a whole number, 0–${last} at zoom ${tile.z}`);
  const { layer: name } = readParameters(parameters, query);
  const layer = TILE_LAYERS.find((each) => each.name === name);
  if (layer === undefined) throw new Error(`layer ${name} does not exist`);
  return { tile, layer };
}

/** @returns publication null: the layer is not drawn at this zoom in any publication @throws MappaleError */
export async function lookUpTile(reader: Reader, { tile, layer }: AskedTile): Promise<Omit<Tile, 'publication'> & { readonly publication: string | null }> {
  return tile.z < layer.minzoom ? { publication: null, bytes: null } : tileOf((statement, values) => reader.call(statement, values), layer, tile);
}
