import { HOLDERS } from '../../pipelines/contract/holders.ts';
import type { Manifest } from '../../pipelines/contract/source.ts';

export const manifest: Manifest = {
  id: 'dpc_buildings',
  version: 2,
  title: 'Aggregati strutturali: footprints of buildings that stand together, by comune',
  attribution: {
    holder: HOLDERS.protezioneCivile,
    license: 'CC-BY-4.0',
    url: 'https://rischi.protezionecivile.gov.it/it/sismico/attivita/emergenza-e-post-emergenza-sismica/agibilita-degli-edifici/',
    text: 'Presidenza del Consiglio dei Ministri - Dipartimento della Protezione Civile, Aggregati strutturali. CC BY 4.0.',
  },
  vintageRule: 'the newest day on which a shapefile\'s table was last changed, as its header says; undated where none does',
  downloads: [
    { url: 'https://github.com/pcm-dpc', note: 'one shapefile per comune, named after it (Milo.shp, .shx, .dbf, .prj); several may lie in one zip' },
  ],
  cadence: 'now and then',
  crs: 'from the .prj; EPSG:7794 (RDN2008 / Italy zone E-N), of which the .prj has the name and no number',
  keep: 'newest',
  ignored: {
    label: 'number of the aggregate inside its comune: IDAG ends with it',
    comune: 'name of the comune: IDAG has its code',
  },
  envelope: { rejectShare: 0.001 },
  layers: ['dpc_building'],
};
