import { BROWSER, fixed, type Download } from '../../pipelines/contract/download.ts';

/**
 * Names of the regions in the publisher's spelling, in the order of the ISTAT codes 1 to 20. The value is null for Trentino-Alto Adige, for which the publisher
 * has no file.
 */
export const REGION_NAMES: readonly (string | null)[] = [
  'PIEMONTE', 'VALLE-AOSTA', 'LOMBARDIA', null, 'VENETO', 'FRIULI-VENEZIA-GIULIA', 'LIGURIA', 'EMILIA-ROMAGNA', 'TOSCANA', 'UMBRIA', 'MARCHE', 'LAZIO', 'ABRUZZO',
  'MOLISE', 'CAMPANIA', 'PUGLIA', 'BASILICATA', 'CALABRIA', 'SICILIA', 'SARDEGNA',
];

export default {
  // The publisher generates the files on 1 March and 1 September and publishes them within days.
  cycle: ['03-10', '09-10'],
  headers: { ...BROWSER, referer: 'https://www.agenziaentrate.gov.it/portale/download-massivo-cartografia-catastale' },
  // Estimate: the files of all regions take about 18 GB, and the largest file has less than a sixth of this size.
  largest: 3_000_000_000,
  files: ({ code }) => {
    const name = REGION_NAMES[code - 1] ?? null;
    return name === null ? [] : [fixed('https://wfs.cartografia.agenziaentrate.gov.it/inspire/wfs/GetDataset.php?dataset=', `${name}.zip`)];
  },
} satisfies Download;
