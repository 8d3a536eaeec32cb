/**
 * Writes the surface model in tiles of 1°, each cut to the region. The surface model covers the whole region and is served where the ground elevation is
 * unknown.
 */
import { join } from 'node:path';
import { writeGeoTiff } from '../../pipelines/synthetic/raster-writer.ts';
import { groundModel, SURFACE_CELL_DEG, surfaceModel, reliefOf } from '../../pipelines/synthetic/relief.ts';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';

/** Number of cells along the side of a tile, and of a block in the tile. */
const TILE = 3600;
const BLOCK = 1024;

const synthetic: Synthetic = {
  async write(region, folder) {
    const { columns, rows, value } = surfaceModel(region);
    // Rows run from north to south. The last row is one arc second north of the tile's southern edge.
    for (let tileRow = Math.floor(rows[0] / TILE); tileRow * TILE < rows[1]; tileRow += 1) {
      for (let tileColumn = Math.floor(columns[0] / TILE); tileColumn * TILE < columns[1]; tileColumn += 1) {
        const [west, east] = [Math.max(columns[0], tileColumn * TILE), Math.min(columns[1], (tileColumn + 1) * TILE)];
        const [north, south] = [Math.max(rows[0], tileRow * TILE), Math.min(rows[1], (tileRow + 1) * TILE)];
        const name = `Copernicus_DSM_COG_10_N${String(-tileRow - 1).padStart(2, '0')}_00_E${String(tileColumn).padStart(3, '0')}_00_DEM`;
        writeGeoTiff(join(folder, `${name}.tif`), {
          epsg: 4326, width: east - west, height: south - north, west: west * SURFACE_CELL_DEG, north: -north * SURFACE_CELL_DEG, cell: SURFACE_CELL_DEG,
          isPoint: true, tile: BLOCK,
          row: (row) => Float32Array.from({ length: east - west }, (_, column) => value(west + column, north + row)),
        });
      }
    }
  },

  truth(region) {
    const [ground, surface] = [groundModel(region), surfaceModel(region)];
    return (parcel) => {
      if (parcel.kind !== 'land') return {};
      const terrain = reliefOf(ground, parcel) === null ? reliefOf(surface, parcel) : null;
      return { ...(terrain === null ? {} : { terrain: { ...terrain, elevation_of: 'surface' } }), coverage: { terrain: 'mapped' } };
    };
  },
};

export default synthetic;
