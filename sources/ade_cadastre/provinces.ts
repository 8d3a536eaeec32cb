/**
 * Lists the province codes (sigle) in the names of the publisher's zips, by region. The cadastre keeps former codes (PS for Pesaro, FO or FC for Forlì) and
 * lacks newer codes (BT, MB, FM). The cadastre may adopt these newer codes, so all past and present codes are listed. A code is used only to determine the
 * region.
 */
const SIGLE: Readonly<Record<number, string>> = {
  1: 'AL AT BI CN NO TO VB VC',
  2: 'AO',
  3: 'BG BS CO CR LC LO MB MI MN PV SO VA',
  4: 'BZ TN',
  5: 'BL PD RO TV VE VI VR',
  6: 'GO PN TS UD',
  7: 'GE IM SP SV',
  8: 'BO FC FE FO MO PC PR RA RE RN',
  9: 'AR FI GR LI LU MS PI PO PT SI',
  10: 'PG TR',
  11: 'AN AP FM MC PS PU',
  12: 'FR LT RI RM VT',
  13: 'AQ CH PE TE',
  14: 'CB IS',
  15: 'AV BN CE NA SA',
  16: 'BA BR BT FG LE TA',
  17: 'MT PZ',
  18: 'CS CZ KR RC VV',
  19: 'AG CL CT EN ME PA RG SR TP',
  20: 'CA CI MD NU OG OR OT SS SU VS',
};

const REGION_OF = new Map<string, number>();
for (const [region, sigle] of Object.entries(SIGLE)) for (const sigla of sigle.split(' ')) REGION_OF.set(sigla, Number(region));

/** Returns the ISTAT region code of a province's sigla, or undefined for an unknown sigla. */
export function regionOfSigla(sigla: string): number | undefined {
  return REGION_OF.get(sigla.toUpperCase());
}
