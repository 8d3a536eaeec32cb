/**
 * Writes the synthetic region's grid of ground acceleration as INGV packs it: one text file in a zip, with spaces between the columns. Some nodes are
 * missing, so that the other corners of a cell must be used. The file also repeats a node and has a blank line. The nodes are in ED50, and the region is in
 * WGS 84.
 */
import { join } from 'node:path';
import { ed50, ed50Distance } from '../../pipelines/synthetic/map-projection.ts';
import { pointOnSurface } from '../../pipelines/synthetic/point-on-surface.ts';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';
import type { SyntheticRegion } from '../../pipelines/synthetic/region.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';

/** Nodes per degree. */
const PER_DEGREE = 50;
const MAX_DISTANCE_M = 5000;
/** Number of additional nodes on each side of the region's box. */
const MARGIN = 2;

interface Extent {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

function extentOf(region: SyntheticRegion): Extent {
  const [west, south, east, north] = region.box;
  return {
    west: Math.floor(west * PER_DEGREE) - MARGIN, south: Math.floor(south * PER_DEGREE) - MARGIN,
    east: Math.ceil(east * PER_DEGREE) + MARGIN, north: Math.ceil(north * PER_DEGREE) + MARGIN,
  };
}

/** Returns the acceleration of a node in g with four decimals. The acceleration varies from node to node. */
function agOf(seed: number, ix: number, iy: number): number {
  const wave = Math.sin(ix / 7 + seed) * Math.cos(iy / 5 - seed);
  const step = (((ix * 7 + iy * 13 + seed) % 9) + 9) % 9;
  return Math.round((0.16 + 0.06 * wave + step * 0.0007) * 10_000) / 10_000;
}

/** Returns whether a node is missing: one node near the middle of the region, and about one in two hundred. */
function isMissing(extent: Extent, ix: number, iy: number): boolean {
  if (ix === Math.floor((extent.west + extent.east) / 2) && iy === Math.floor((extent.south + extent.north) / 2)) return true;
  return (ix * 31 + iy * 17) % 211 === 0;
}

const synthetic: Synthetic = {
  async write(region, folder) {
    const extent = extentOf(region);
    function* lines(): Generator<string> {
      yield 'id lon lat ag 16perc 84perc\r\n';
      let id = 0;
      let repeated = false;
      for (let iy = extent.north; iy >= extent.south; iy -= 1) {
        for (let ix = extent.west; ix <= extent.east; ix += 1) {
          if (isMissing(extent, ix, iy)) continue;
          id += 1;
          const ag = agOf(region.seed, ix, iy);
          const line = `${String(id).padStart(6)}  ${(ix / PER_DEGREE).toFixed(2)} ${(iy / PER_DEGREE).toFixed(2)}  ${ag.toFixed(4)} ${(ag * 0.6).toFixed(4)} ${(ag * 1.15).toFixed(4)}\r\n`;
          yield line;
          if (!repeated) {
            repeated = true;
            yield '\r\n';
            yield line;
          }
        }
      }
    }
    await writeZip(join(folder, 'italia_ag_002_txt.zip'), [['italia_ag_002.txt', lines()]]);
  },

  truth(region) {
    const extent = extentOf(region);
    return (parcel) => {
      const point = ed50.forward(pointOnSurface(parcel.polygons));
      const [ix, iy] = [Math.floor(point[0] * PER_DEGREE), Math.floor(point[1] * PER_DEGREE)];
      let sum = 0;
      let weights = 0;
      for (const [x, y] of [[ix, iy], [ix + 1, iy], [ix, iy + 1], [ix + 1, iy + 1]] as const) {
        if (isMissing(extent, x, y)) continue;
        const distance = ed50Distance(point, [x / PER_DEGREE, y / PER_DEGREE]);
        if (distance > MAX_DISTANCE_M) continue;
        sum += agOf(region.seed, x, y) / Math.max(distance, 1e-6);
        weights += 1 / Math.max(distance, 1e-6);
      }
      if (weights === 0) throw new Error('the synthetic grid must have a node around each parcel, found a parcel without a node');
      return { risk: { pga: Math.round((sum / weights) * 10_000) / 10_000, coverage: { pga: 'mapped' } } };
    };
  },
};

export default synthetic;
