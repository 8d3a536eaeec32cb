/** Synthetic postal codes: a table with the quirks of such tables, an older one that must not count, and areas for the comune that has several. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';
import { formerIstatCode } from '../../pipelines/synthetic/former-codes.ts';
import { postalCodeOf, postalCodeOfSheet } from '../../pipelines/synthetic/postal-codes.ts';
import type { SyntheticRegion, SyntheticParcel } from '../../pipelines/synthetic/region.ts';

async function write(region: SyntheticRegion, folder: string): Promise<void> {
  const lines = ['"Codice ISTAT";"Comune";"CAP"'];
  for (const comune of region.comuni) {
    // Tables of this kind are not renewed when codes change.
    const istatCode = formerIstatCode(comune) ?? comune.istatCode;
    for (const [index, cap] of comune.postalCodes.entries()) {
      // Spreadsheets drop the zeros of codes.
      lines.push(`${index % 2 === 0 ? istatCode.replace(/^0+/, '') : istatCode};"${comune.italianName}";${cap}`);
    }
  }
  lines.push(`${region.comuni[0]!.istatCode};"${region.comuni[0]!.italianName}";${region.comuni[0]!.postalCodes[0]!}`);
  lines.push('070999;"Comune senza codice";999999', ';"Comune senza ISTAT";86090');
  await writeFile(join(folder, 'cap_2025.csv'), `${lines.join('\r\n')}\r\n`);

  const older = region.comuni.map((comune) => ({ nome: comune.italianName, codiceCatastale: comune.belfiore, cap: ['86199'] }));
  await writeFile(join(folder, 'cap_2019.json'), JSON.stringify(older, null, 1));

  const first = region.comuni[0]!;
  const features = [];
  for (const sheet of region.sheets(first)) {
    const [west, south, east, north] = sheet.box;
    // Where no area says which code it is, the neighbour's area reaches over, and must not give its code.
    const cap = postalCodeOfSheet(sheet) ?? region.comuni[1]!.postalCodes[0]!;
    features.push({ type: 'Feature', properties: { CAP: cap }, geometry: { type: 'Polygon', coordinates: [[[west, south], [east, south], [east, north], [west, north], [west, south]]] } });
  }
  await writeFile(join(folder, 'zone_cap_2025.geojson'), JSON.stringify({ type: 'FeatureCollection', name: 'zone_cap', features }));
}

function truth(): (parcel: SyntheticParcel) => Record<string, unknown> {
  return (parcel) => ({ basic: { cadastral: { postal_code: postalCodeOf(parcel) } } });
}

const synthetic: Synthetic = { write, truth };
export default synthetic;
