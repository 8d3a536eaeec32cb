import { fixed, type Download } from '../../pipelines/contract/download.ts';

export default {
  cycle: ['01-31', '07-31'],
  // Estimate, because no size is known: a million polygons of 1 kB each.
  largest: 1_000_000_000,
  files: () => [fixed('https://idrogeo.isprambiente.it/opendata/wms/', 'Mosaicatura_ISPRA_2020_aree_pericolosita_idraulica.zip')],
} satisfies Download;
