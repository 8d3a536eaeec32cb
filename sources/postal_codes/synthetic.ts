/** Writes synthetic postal codes: a table with common quirks, an older table that must not be used, and areas for the comune with several codes. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';
import { formerIstatCode } from '../../pipelines/synthetic/former-codes.ts';
import { postalCodeOf, postalCodeOfSheet } from '../../pipelines/synthetic/postal-codes.ts';
import type { SyntheticRegion, SyntheticParcel } from '../../pipelines/synthetic/region.ts';

async function write(region: SyntheticRegion, folder: string): Promise<void> {
  const lines = ['"Codice ISTAT";"Comune";"CAP"'];
  for (const comune of region.comuni) {
    // Tables of postal codes often keep ISTAT codes that have changed.
    const istatCode = formerIstatCode(comune) ?? comune.istatCode;
    for (const [index, cap] of comune.postalCodes.entries()) {
      // Spreadsheets drop the leading zeros of codes.
      lines.push(`${index % 2 === 0 ? istatCode.replace(/^0+/, '') : istatCode};"${comune.italianName}";${cap}`);
    }
  }
  const [first, second] = region.comuni;
  lines.push(`${first.istatCode};"${first.italianName}";${first.postalCodes[0]}`);
  lines.push('070999;"Comune senza codice";999999', ';"Comune senza ISTAT";86090');
  await writeFile(join(folder, 'cap_2025.csv'), `${lines.join('\r\n')}\r\n`);

  const older = region.comuni.map((comune) => ({ nome: comune.italianName, codiceCatastale: comune.belfiore, cap: ['86199'] }));
  await writeFile(join(folder, 'cap_2019.json'), JSON.stringify(older, null, 1));

  const features = [];
  for (const sheet of region.sheets(first)) {
    // On a sheet without a postal code, an area has the neighbour's code. This area must not determine the code of the sheet's parcels.
    const cap = postalCodeOfSheet(sheet) ?? second.postalCodes[0];
    features.push({ type: 'Feature', properties: { CAP: cap }, geometry: { type: 'Polygon', coordinates: [sheet.outline()] } });
  }
  await writeFile(join(folder, 'zone_cap_2025.geojson'), JSON.stringify({ type: 'FeatureCollection', name: 'zone_cap', features }));
}

function truth(): (parcel: SyntheticParcel) => Record<string, unknown> {
  return (parcel) => ({ basic: { cadastral: { postal_code: postalCodeOf(parcel) } } });
}

const synthetic: Synthetic = { write, truth };
export default synthetic;
