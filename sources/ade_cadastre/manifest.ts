import { HOLDERS } from '../../pipelines/contract/holders.ts';
import type { Manifest } from '../../pipelines/contract/source.ts';

const BULK = 'https://wfs.cartografia.agenziaentrate.gov.it/inspire/wfs/GetDataset.php?dataset=';

export const manifest: Manifest = {
  id: 'ade_cadastre',
  version: 4,
  title: 'Cadastral cartography: parcels and sheets of the Catasto Terreni',
  italianTitle: 'Cartografia catastale: particelle e fogli del Catasto Terreni',
  attribution: {
    holder: HOLDERS.agenziaDelleEntrate,
    license: 'CC-BY-4.0',
    url: 'https://www.agenziaentrate.gov.it/portale/download-massivo-cartografia-catastale',
    text: 'Agenzia delle Entrate - Cartografia catastale (CC BY 4.0)',
  },
  vintageRule: 'the newest date of the entries in the outer zip, or in the first inner zip if another program made the outer zip without dates; for a plain GML document, the day of its timeStamp',
  downloads: [
    { url: `${BULK}<REGION>.zip`, note: 'one zip per region: ABRUZZO, BASILICATA … VALLE-AOSTA, VENETO; none for Trentino-Alto Adige, whose provinces keep their own land registers' },
    { url: `${BULK}ITALIA.zip`, note: 'all regions in one zip' },
    { url: 'https://wfs.cartografia.agenziaentrate.gov.it/inspire/wfs/owfs01.php', note: 'WFS 2.0, GetFeature by BBOX (latitude, longitude); its responses can be loaded too' },
  ],
  cadence: 'half-yearly',
  crs: 'RDN2008 latitude, longitude (EPSG:6706), 8 decimals',
  keep: 'newest',
  ignored: {
    'gml:boundedBy': 'bounding box of the feature or the collection; derived from the geometry',
    INSPIREID_NAMESPACE: 'constant (IT.AGE.PLA. and IT.AGE.MAP)',
    LEVELNAME: 'always Mappa Catastale; the reader checks LEVEL instead',
    LEVELNAME_LOCALE: 'constant (it)',
    '__MACOSX, .DS_Store, Thumbs.db': 'added to zips by desktop systems',
    '*.gfs': 'written next to GML files by GDAL',
  },
  optional: {
    'BEGINLIFESPANVERSION|ENDLIFESPANVERSION|LEVEL|ORIGINALMAPSCALEDENOMINATOR': 'missing in some sheets, because MapServer leaves out empty properties',
    LEVELNAME: 'missing in some sheets, because MapServer leaves out empty properties',
    LEVELNAME_LOCALE: 'missing in some sheets, because MapServer leaves out empty properties',
  },
  highValue: { category: 'geospatial', entry: '1, geospatial: cadastral parcels' },
  // The smallest region has 0.9 million parcels, the largest has 9.7 million, and Italy has 87 million.
  envelope: {
    records: { regione: { max: 12_000_000 }, italia: { max: 120_000_000 } },
    rejectShare: 0.001,
  },
  layers: ['cadastral_parcel', 'cadastral_sheet'],
};
