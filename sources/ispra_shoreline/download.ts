import type { Download } from '../../pipelines/contract/download.ts';

export default {
  cycle: ['01-31'],
  byHand: () => 'open https://sinacloud.isprambiente.it/portal/apps/sites/#/coste/pages/dati, choose Linea di costa 2020, layer Dinamica litoranea 2006-2020, Download, '
    + 'and save it as GeoPackage, GeoJSON or zipped shapefile with Dinamica_Litoranea_2006_2020 in its name',
} satisfies Download;
