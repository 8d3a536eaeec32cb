import { HOLDERS } from '../../pipelines/contract/holders.ts';
import type { Manifest } from '../../pipelines/contract/source.ts';

/** Column of STRAD without a name. */
export const GHOST_COLUMN = "'' (10th column of STRAD)";

export const manifest: Manifest = {
  id: 'anncsu_addresses',
  version: 4,
  title: 'ANNCSU, Archivio Nazionale dei Numeri Civici delle Strade Urbane: indirizzario (INDIR) and stradario (STRAD)',
  italianTitle: 'ANNCSU, Archivio Nazionale dei Numeri Civici delle Strade Urbane: indirizzario (INDIR) e stradario (STRAD)',
  attribution: {
    holder: `${HOLDERS.agenziaDelleEntrate}; ${HOLDERS.istat}`,
    license: 'CC-BY-4.0',
    url: 'https://www.anncsu.gov.it/it/consultazione-dellarchivio/open-data/',
    text: 'Fonte: ANNCSU - Istat e Agenzia delle Entrate, CC BY 4.0',
  },
  vintageRule:
    'the eight digits of the date in the name of the CSV (INDIR_CALA_20260602.csv is 2026-06-02), otherwise in the name of the zip '
    + '(indirizzarioCalabria20260602.zip), otherwise the date of the zip entry; a CSV outside a zip is rejected if its name has no date',
  downloads: [
    {
      url: 'https://anncsu.open.agenziaentrate.gov.it/age-inspire/opendata/anncsu/getds.php?INDIR_ITA',
      note:
        'INDIR or STRAD, an underscore, and ITA or the region: ABRU BASI CALA CAMP EMIL FRIU LAZI LIGU LOMB MARC MOLI PIEM PUGL SARD SICI TOSC TREN UMBR VALL VENE. '
        + 'The query is only the name, without =, and a browser\'s User-Agent is required. The publisher serves only the latest release, so keep older files.',
    },
  ],
  cadence: 'monthly',
  crs: 'EPSG:6706 (RDN2008 2D); COORD_X_COMUNE is the longitude, COORD_Y_COMUNE the latitude, degrees with a decimal comma',
  keep: 'newest',
  ignored: {
    [GHOST_COLUMN]: 'the last column of STRAD has no name and no value, because every line ends with a separator; a line with a value in this column is a reject',
  },
  highValue: { category: 'geospatial', entry: '1, geospatial: addresses' },
  envelope: {
    // The national release has 27.4 million accesses and 1.22 million streets. The manifest sets no minimum number of records, because the sizes of regions
    // differ by a factor of a hundred.
    records: { INDIR: { max: 40_000_000 }, STRAD: { max: 2_000_000 } },
    rejectShare: 0.01,
  },
  layers: ['accesso', 'odonimo'],
};
