import type { Download } from '../../pipelines/contract/download.ts';

export default {
  cycle: ['02-01'],
  byHand: ({ code }) => (code !== 4 ? null : 'open the catalogue of the province, geocatalogo.retecivica.bz.it, look for the layer ParcelsAggregate (p_bz-Cadastre), choose the whole province or '
    + 'some comuni catastali, and save it as GeoJSON, GeoPackage or zipped shapefile with ParcelsAggregate in its name'),
} satisfies Download;
