import type { Download } from '../../pipelines/contract/download.ts';

export default {
  cycle: ['01-31'],
  byHand: () => 'look among the repositories of https://github.com/pcm-dpc for the structural aggregates (aggregati strutturali) of your comuni, Code, Download ZIP; '
    + 'save the shapefiles, or a zip of them under a name with aggregati_strutturali in it. Of use where the DBSN of the IGM is not given',
} satisfies Download;
