import { defineSource, type Probe, type Recognition } from '../../pipelines/contract/source.ts';
import { ITALY } from '../../pipelines/readers/italy.ts';
import { lookAtRasters, readTile, TILE_COLUMNS } from '../../pipelines/readers/raster-tiles.ts';
import { layers } from './layers.ts';
import { manifest } from './manifest.ts';
import { NAME, tile } from './schema.ts';

const VINTAGE = '2021';

async function recognise(probe: Probe): Promise<Recognition | null> {
  const [look] = await lookAtRasters(probe, NAME);
  if (look === undefined) return null;
  const [, north = '', east = ''] = NAME.exec(`${look.name}.tif`) ?? [];
  const place = `${north}${east}`.toUpperCase();
  const recognition: Recognition = { role: 'tile', vintage: VINTAGE, region: null, place, complete: false, ...look.dated };
  const [latitude, longitude] = [degrees(north), degrees(east)];
  const reaches = longitude < ITALY.east && longitude + 1 > ITALY.west && latitude < ITALY.north && latitude + 1 > ITALY.south;
  return reaches ? recognition : { ...recognition, ignored: `the tile ${place} is outside Italy` };
}

/** Converts one coordinate of a tile's corner to signed degrees, `E014` to 14 and `S05` to −5. */
function degrees(corner: string): number {
  return Number(corner.slice(1)) * (/^[SW]/i.test(corner) ? -1 : 1);
}

export default defineSource({
  manifest,
  names: [/^Copernicus_DSM_(?:COG_)?10_[^/]*\.(?:zip|tiff?)$/i],
  tables: { raw_tile: TILE_COLUMNS },
  layers,
  keys: { raw_tile: ['name'] },
  recognise,
  read: (file, sink) => readTile(file, sink, NAME, tile),
});
