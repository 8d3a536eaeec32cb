import type { Download } from '../../pipelines/contract/download.ts';

export default {
  cycle: ['01-31'],
  byHand: () => 'open https://sinacloud.isprambiente.it/portal/apps/sites/#/coste/pages/dati, Linea di costa 2020, layer Dinamica litoranea 2006-2020, Download; '
    + 'save it as GeoPackage, GeoJSON or zipped shapefile under a name with Dinamica_Litoranea_2006_2020 in it',
} satisfies Download;
