import { defineSource, type Probe, type Recognition } from '../../pipelines/contract/source.ts';
import { lookAtRasters, readTile, TILE_COLUMNS } from '../../pipelines/readers/raster-tiles.ts';
import { layers } from './layers.ts';
import { manifest } from './manifest.ts';
import { NAME, tile } from './schema.ts';

const VINTAGE = '1.1';

async function recognise(probe: Probe): Promise<Recognition | null> {
  const [look] = await lookAtRasters(probe, NAME);
  return look === undefined ? null : { role: 'tile', vintage: VINTAGE, region: null, place: look.name.slice(0, 'w47070'.length).toLowerCase(), complete: false, ...look.dated };
}

export default defineSource({
  manifest,
  names: [/^[ew]\d{5}_s10[^/]*\.(?:zip|tiff?)$/i],
  tables: { raw_tile: TILE_COLUMNS },
  layers,
  keys: { raw_tile: ['name'] },
  recognise,
  read: (file, sink) => readTile(file, sink, NAME, tile),
});
