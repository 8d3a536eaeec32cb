/**
 * Writes the elevation of the ground as tiles of 50 km. Tiles contain only the extent of the region, as tiles at the coast contain only the extent of the land.
 * About one of five sheets contains an area without data.
 */
import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeGeoTiff } from '../../pipelines/synthetic/raster-writer.ts';
import { GROUND_CELL_M, groundModel, reliefOf } from '../../pipelines/synthetic/relief.ts';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';

/** Number of cells along a side of a tile. */
const TILE = 5000;

const synthetic: Synthetic = {
  async write(region, folder) {
    const { columns, rows, value } = groundModel(region);
    const temporary = mkdtempSync(join(tmpdir(), 'mappale-synthetic-'));
    try {
      for (let tileRow = Math.floor(rows[0] / TILE); tileRow * TILE < rows[1]; tileRow += 1) {
        for (let tileColumn = Math.floor(columns[0] / TILE); tileColumn * TILE < columns[1]; tileColumn += 1) {
          const [west, east] = [Math.max(columns[0], tileColumn * TILE), Math.min(columns[1], (tileColumn + 1) * TILE)];
          const [north, south] = [Math.max(rows[0], tileRow * TILE), Math.min(rows[1], (tileRow + 1) * TILE)];
          // The name contains the northing and easting of the tile's south-western corner in units of 10 km. Row numbers increase southward from 0 at the
          // equator, so rows in Italy are negative.
          const name = `w${String((-tileRow - 1) * 5).padStart(3, '0')}${String(tileColumn * 5).padStart(2, '0')}_s10`;
          const path = join(temporary, `${name}.tif`);
          writeGeoTiff(path, {
            epsg: 32632, width: east - west, height: south - north, west: west * GROUND_CELL_M, north: -north * GROUND_CELL_M, cell: GROUND_CELL_M, noData: '-9999',
            row: (row) => Float32Array.from({ length: east - west }, (_, column) => {
              const metres = value(west + column, north + row);
              return Number.isNaN(metres) ? -9999 : metres;
            }),
          });
          await writeZip(join(folder, `${name}.zip`), [[`${name}/${name}.tif`, createReadStream(path), { modified: '2023-01-16' }]]);
          rmSync(path);
        }
      }
    } finally {
      rmSync(temporary, { recursive: true });
    }
  },

  truth(region) {
    const model = groundModel(region);
    return (parcel) => {
      const terrain = parcel.kind === 'land' ? reliefOf(model, parcel) : null;
      // If the ground is unknown in one of the parcel's cells, the section `terrain` uses the surface model (source `copernicus_dem`).
      return terrain === null ? {} : { terrain: { ...terrain, elevation_of: 'ground' } };
    };
  },
};

export default synthetic;
