import type { Download, Edition } from '../../pipelines/contract/download.ts';
import { tilesOf } from '../../pipelines/readers/map-tiles.ts';

export default {
  // A release covers five years and is published in the last quarter of the following year.
  cycle: ['01-15'],
  tokenParameter: 'id',
  // Estimate in bytes for a full tile, whose uncompressed CSV is 1 to 2 GB.
  largest: 2_000_000_000,
  files: ({ box }, today) => tilesOf(box, 3035, 100_000).map(({ east, north }) => {
    const last = today.getUTCFullYear() - 2;
    const issue = (number: number): Edition => {
      const name = `EGMS_L3_E${east}N${north}_100km_U_${last - 4}_${last}_${number}.zip`;
      return { path: name, name };
    };
    return { base: 'https://egms.land.copernicus.eu/insar-api/archive/download/', editions: [issue(2), issue(1)], optional: true };
  }),
  byHand: () => 'log in at https://egms.land.copernicus.eu/ (EU Login, free), choose Download, L3 Ortho, component U, and the tiles of the region, and save the zips without unpacking them. '
    + 'Alternatively, copy the token after "id=" in one of the download links, set MAPPALE_EGMS_VERTICAL_TOKEN to this token and run the same command again. The token is valid for a few hours',
} satisfies Download;
