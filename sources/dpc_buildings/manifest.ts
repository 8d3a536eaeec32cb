import { HOLDERS } from '../../pipelines/contract/holders.ts';
import type { Manifest } from '../../pipelines/contract/source.ts';

export const manifest: Manifest = {
  id: 'dpc_buildings',
  version: 2,
  title: 'Aggregati strutturali: footprints of adjoining buildings, by comune',
  italianTitle: 'Aggregati strutturali: sagome di edifici contigui, per comune',
  attribution: {
    holder: HOLDERS.protezioneCivile,
    license: 'CC-BY-4.0',
    url: 'https://rischi.protezionecivile.gov.it/it/sismico/attivita/emergenza-e-post-emergenza-sismica/agibilita-degli-edifici/',
    text: 'Presidenza del Consiglio dei Ministri - Dipartimento della Protezione Civile, Aggregati strutturali. CC BY 4.0.',
  },
  vintageRule: 'the newest date of change in the headers of the shapefiles\' tables; undated if no header has a date',
  downloads: [
    { url: 'https://github.com/pcm-dpc', note: 'one shapefile per comune, named after the comune (Milo.shp, .shx, .dbf, .prj). A zip may contain several shapefiles' },
  ],
  cadence: 'occasional',
  crs: 'from the .prj file, which has the name of the CRS without a code: EPSG:7794 (RDN2008 / Italy zone E-N)',
  keep: 'newest',
  ignored: {
    label: 'number of the aggregate in its comune; also part of IDAG',
    comune: 'name of the comune; derived from the code in IDAG',
  },
  highValue: { category: 'geospatial', entry: '1, geospatial: buildings' },
  envelope: { rejectShare: 0.001 },
  layers: ['dpc_building'],
};
