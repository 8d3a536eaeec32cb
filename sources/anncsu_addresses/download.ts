import { BROWSER, fixed, MONTHLY, type Download } from '../../pipelines/contract/download.ts';

/** The publisher's codes of the regions, in the order of the ISTAT codes 1 to 20. */
const KEYS: readonly string[] = [
  'PIEM', 'VALL', 'LOMB', 'TREN', 'VENE', 'FRIU', 'LIGU', 'EMIL', 'TOSC', 'UMBR', 'MARC', 'LAZI', 'ABRU', 'MOLI', 'CAMP', 'PUGL', 'BASI', 'CALA', 'SICI', 'SARD',
];

export default {
  cycle: MONTHLY,
  headers: { ...BROWSER, referer: 'https://www.anncsu.gov.it/it/consultazione-dellarchivio/open-data/' },
  // Size in bytes of INDIR_ITA.zip of 2026-09-15, which contains all regions.
  largest: 336_000_000,
  // The query consists only of the code, without an equals sign. With an equals sign, the server returns status 406.
  files: ({ code }) => ['STRAD', 'INDIR'].map((kind) => `${kind}_${KEYS[code - 1] ?? ''}`)
    .map((key) => fixed('https://anncsu.open.agenziaentrate.gov.it/age-inspire/opendata/anncsu/getds.php?', `${key}.zip`, key)),
} satisfies Download;
