import type { Download } from '../../pipelines/contract/download.ts';

export default {
  cycle: ['02-01'],
  byHand: ({ code }) => (code !== 4 ? null : 'open the catalogue of the province, geocatalogo.retecivica.bz.it, look for the layer ParcelsAggregate (p_bz-Cadastre), choose the whole province or '
    + 'some comuni catastali, and save it as GeoJSON, GeoPackage or zipped shapefile under a name with ParcelsAggregate in it'),
} satisfies Download;
