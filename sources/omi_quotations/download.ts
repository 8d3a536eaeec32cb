import { platesOfRegion } from '../../pipelines/contract/regions.ts';
import type { Download, Edition } from '../../pipelines/contract/download.ts';

/**
 * Returns the two newest half-years that should be published. The first half of a year is expected from November of that year on, and the second half from
 * April of the next year on.
 */
function halfYears(today: Date): readonly [newest: string, before: string] {
  const [year, month] = [today.getUTCFullYear(), today.getUTCMonth() + 1];
  if (month >= 11) return [`${year}1`, `${year - 1}2`];
  return month >= 4 ? [`${year - 1}2`, `${year - 1}1`] : [`${year - 1}1`, `${year - 2}2`];
}

export default {
  cycle: ['04-15', '11-15'],
  // Estimate: the perimeters of all comuni are about 100 MB in total, and those of one province are less than a tenth of this size.
  largest: 10_000_000,
  files: ({ code }, today) => platesOfRegion(code).map((plate) => {
    const edition = (half: string): Edition => ({ path: `prov=${plate}&semestre=${half}&formato=kml`, name: `${plate} ${half.slice(0, 4)}-${half.slice(4)}.kml` });
    const [newest, before] = halfYears(today);
    return { base: 'https://www1.agenziaentrate.gov.it/servizi/geopoi_omi/perimetri.php?', editions: [edition(newest), edition(before)] };
  }),
  byHand: () => 'the quotations require registration: log in at https://telematici.agenziaentrate.gov.it (SPID, CIE, CNS or Entratel), choose Forniture OMI – Quotazioni Immobiliari, '
    + 'region and half-years, and save the zip. Do not unpack the zip. The name of the zip contains your tax code, which is masked in all output. The perimeters are downloaded without registration',
} satisfies Download;
