import { defineSource, inputError, type Probe, type Recognition } from '../../pipelines/contract/source.ts';
import { lookAtRasters, readTile, TILE_COLUMNS, type RasterLook } from '../../pipelines/readers/raster-tiles.ts';
import { layers } from './layers.ts';
import { manifest } from './manifest.ts';
import { COMPANION, COMPANIONS, NAME, RADIANCE, tile } from './schema.ts';

/** Names of the tiles of 10° that overlap Italy. */
const TILES = ['h18v04', 'h19v04', 'h18v05', 'h19v05'];
/** Patterns of the year in the name: the year in the date (`A2023001`), otherwise a separate number (`_2023_`). */
const YEARS = [/[._]A((?:19|20)\d{2})\d{3}(?=[._])/, /(?<!\d)(20\d{2})(?!\d)/];
const PRODUCT = /^(?:VNP46A4|VJ146A4|VNL)/i;
/** Pattern of the collection and NASA's time of production: year, day of the year, time. */
const ISSUE = /\.h\d{2}v\d{2}\.(\d{3})(?:\.(\d{13}))?(?=\.|$)/i;

/**
 * Returns a text that sorts the files of one year. The file that takes precedence sorts last: collection 2 after 1, VNP46A4 after VJ146A4, and later
 * production after earlier production.
 */
function issueOf({ name, dated }: RasterLook): string {
  const [, collection = '0', made = dated.dated ?? ''] = ISSUE.exec(name) ?? [];
  return `collection ${Number(collection)} ${PRODUCT.exec(name)?.[0].toUpperCase() ?? ''} ${made}`.trim();
}

async function recognise(probe: Probe): Promise<Recognition | null> {
  const looks = await lookAtRasters(probe, NAME);
  // A zip may contain rasters with radiances and other rasters of the product.
  const look = looks.find(({ name }) => !COMPANION.test(name)) ?? looks[0];
  if (look === undefined) return null;
  const vintage = YEARS.map((pattern) => pattern.exec(look.name)?.[1]).find((year) => year !== undefined);
  if (vintage === undefined) {
    throw inputError('the year of the light at night is unknown', {
      code: 'VIIRS_YEAR', at: probe.name, detail: `expected a year in the name, found ${JSON.stringify(look.name)}`, hint: 'Give the file the name under which it was published.',
    });
  }
  const content = COMPANIONS[COMPANION.exec(look.name)?.[1]?.toLowerCase() ?? ''];
  if (content !== undefined) {
    const ignored = `the cells contain ${content}; the average or median radiance of the year is read instead`;
    return { role: 'companion', vintage, region: null, complete: false, ignored };
  }
  const place = /h\d{2}v\d{2}/i.exec(look.name)?.[0].toLowerCase();
  const dated = issueOf(look);
  if (place === undefined) return { role: 'year', vintage, region: null, complete: true, dated };
  const recognition: Recognition = { role: 'year', vintage, region: null, complete: false, place, dated };
  return TILES.includes(place) ? recognition : { ...recognition, ignored: `the tile ${place} is outside Italy` };
}

export default defineSource({
  manifest,
  names: [/^V(?:NP|J1)46A4[^/]*\.(?:h5|zip|tiff?)$/i, /^VNL_[^/]*\.(?:zip|tiff?)$/i],
  tables: { raw_tile: TILE_COLUMNS },
  layers,
  keys: { raw_tile: ['name'] },
  recognise,
  read: (file, sink) => readTile(file, sink, RADIANCE, tile),
});
