import type { Download } from '../../pipelines/contract/download.ts';

export default {
  cycle: ['01-31'],
  byHand: () => 'search the repositories of https://github.com/pcm-dpc for the structural aggregates (aggregati strutturali) of your comuni, choose Code, Download ZIP, '
    + 'and save the shapefiles, or a zip of them with aggregati_strutturali in its name. These files are used only where the IGM\'s DBSN is missing',
} satisfies Download;
