import { BROWSER, fixed, type Download } from '../../pipelines/contract/download.ts';

/** The publisher's spelling of regions, by ISTAT code. Null for Trentino-Alto Adige, which has no file of the cadastre. */
export const REGION_NAMES: readonly (string | null)[] = [
  'PIEMONTE', 'VALLE-AOSTA', 'LOMBARDIA', null, 'VENETO', 'FRIULI-VENEZIA-GIULIA', 'LIGURIA', 'EMILIA-ROMAGNA', 'TOSCANA', 'UMBRIA', 'MARCHE', 'LAZIO', 'ABRUZZO',
  'MOLISE', 'CAMPANIA', 'PUGLIA', 'BASILICATA', 'CALABRIA', 'SICILIA', 'SARDEGNA',
];

export default {
  // The files are generated on 1 March and 1 September and published within days.
  cycle: ['03-10', '09-10'],
  headers: { ...BROWSER, referer: 'https://www.agenziaentrate.gov.it/portale/download-massivo-cartografia-catastale' },
  // Estimate: all regions together have about 18 GB, and the largest has less than a sixth.
  largest: 3_000_000_000,
  files: ({ code }) => {
    const name = REGION_NAMES[code - 1] ?? null;
    return name === null ? [] : [fixed('https://wfs.cartografia.agenziaentrate.gov.it/inspire/wfs/GetDataset.php?dataset=', `${name}.zip`)];
  },
} satisfies Download;
