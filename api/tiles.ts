/** GET /tiles/{z}/{x}/{y}: vector tiles for the map. Not in the table of endpoints, because it answers no JSON and has its own queue. */
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

const parameters = z.strictObject({ layer: z.enum(NAMES).describe(`What is drawn; one of ${NAMES.join(', ')}`) });

export const TILES_ENDPOINT: Described = {
  path: '/tiles/{z}/{x}/{y}',
  operation: 'getTile',
  scope: 'parcels:read',
  summary: 'A tile of the map',
  description: 'One layer as a Mapbox Vector Tile 2.1 in Web Mercator: `comuni` as their boundaries are published, `ground` (roads and water), `parcels`, and sections, of '
    + 'which each parcel has its `value`, as its record says it, or, where there is none, `coverage`: `mapped` means none here. `map/overview.json` says from which zoom on a layer '
    + `is drawn, and its legend. Tiles are not counted in the hour: ${TILES_PER_TOKEN.working} of a token are worked on at a time, ${TILES_PER_TOKEN.waiting} more wait, others are 429.`,
  parameters,
  pathParameters,
  answer: z.string().meta({ id: 'Tile', description: 'A Mapbox Vector Tile, which is binary' }),
  type: TILE_TYPE,
  errors: [],
  example: { z: '15', x: '17719', y: '12197', layer: 'parcels' },
  otherExamples: {},
  refused: { layer: 'nowhere' },
  nothing: 'Nothing of the layer is there, or it is not drawn at this zoom',
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
  if (layer === undefined) throw new Error(`there is no layer ${name}`);
  return { tile, layer };
}

/** @returns publication null: the layer is not drawn at this zoom, in any publication @throws MappaleError */
export async function lookUpTile(reader: Reader, { tile, layer }: AskedTile): Promise<Omit<Tile, 'publication'> & { readonly publication: string | null }> {
  return tile.z < layer.minzoom ? { publication: null, bytes: null } : tileOf((statement, values) => reader.call(statement, values), layer, tile);
}
