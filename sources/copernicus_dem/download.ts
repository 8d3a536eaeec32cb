import type { Download } from '../../pipelines/contract/download.ts';
import { tilesOf } from '../../pipelines/readers/map-tiles.ts';

export default {
  cycle: ['01-31'],
  // A tile of one degree is about 40 MB.
  largest: 45_000_000,
  onlyNamed: 'used only where TINITALY has no cell; about 40 MB per degree',
  files: ({ box }) => tilesOf(box, 4326, 1).map(({ east, north }) => {
    const tile = `Copernicus_DSM_COG_10_N${String(north).padStart(2, '0')}_00_E${String(east).padStart(3, '0')}_00_DEM`;
    return { base: 'https://copernicus-dem-30m.s3.amazonaws.com/', editions: [{ path: `${tile}/${tile}.tif`, name: `${tile}.tif` }], optional: true };
  }),
} satisfies Download;
