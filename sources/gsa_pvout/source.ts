import { defineSource, type Probe, type Recognition } from '../../pipelines/contract/source.ts';
import { lookAtRasters, readTile, TILE_COLUMNS } from '../../pipelines/readers/raster-tiles.ts';
import { layers } from './layers.ts';
import { manifest } from './manifest.ts';
import { MONTHLY, NAME, tile } from './schema.ts';

async function recognise(probe: Probe): Promise<Recognition | null> {
  const names = [probe.name, ...(probe.entries ?? []).map(({ path }) => path)].join('\n');
  const vintage = /GlobalSolarAtlas-v(\d+(?:\.\d+)?)/i.exec(names)?.[1] ?? '2';
  const [look] = await lookAtRasters(probe, NAME);
  if (look !== undefined) return { role: 'year', vintage, region: null, complete: true, ...look.dated };
  const [month] = await lookAtRasters(probe, MONTHLY);
  if (month === undefined) return null;
  return { role: 'month', vintage, region: null, complete: false, ignored: `${month.name} covers one month; PVOUT.tif of the year is read instead` };
}

export default defineSource({
  manifest,
  names: [/^PVOUT[^/]*\.(?:zip|tiff?)$/i, /GISdata_LTAym?_[^/]*GlobalSolarAtlas[^/]*\.zip$/i],
  tables: { raw_tile: TILE_COLUMNS },
  layers,
  keys: { raw_tile: ['name'] },
  recognise,
  read: (file, sink) => readTile(file, sink, NAME, tile),
});
