import type { Download } from '../../pipelines/contract/download.ts';
import { tilesOf } from '../../pipelines/readers/map-tiles.ts';

/** Side of a tile in metres. */
const TILE = 50_000;
/** Side of a tile in units of 10 km. The names of tiles contain coordinates in these units. */
const UNITS = 5;
/** Easting in units of 10 km from which the two digits of a name start again at 0, with `e` instead of `w`. */
const EAST = 100;

export default {
  cycle: ['01-31'],
  // An uncompressed tile has 25 million cells of 4 bytes.
  largest: 100_000_000,
  files: ({ box }) => tilesOf(box, 32632, TILE).map(({ east, north }) => {
    const [northing, easting] = [north * UNITS, east * UNITS];
    const name = `${easting < EAST ? 'w' : 'e'}${northing}${String(easting % EAST).padStart(2, '0')}_s10`;
    return { base: 'https://tinitaly.pi.ingv.it/data_1.1/', editions: [{ path: `${name}/${name}.zip`, name: `${name}.zip` }], optional: true };
  }),
} satisfies Download;
