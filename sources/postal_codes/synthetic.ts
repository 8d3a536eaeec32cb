/** Synthetic postal codes: a table with the quirks of such tables, an older one that must not count, and areas for the comune that has several. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';
import { formerIstatCode } from '../../pipelines/synthetic/world-former-codes.ts';
import { postalCodeOf, postalCodeOfSheet } from '../../pipelines/synthetic/world-postal-codes.ts';
import type { World, WorldParcel } from '../../pipelines/synthetic/world.ts';

async function write(world: World, folder: string): Promise<void> {
  const lines = ['"Codice ISTAT";"Comune";"CAP"'];
  for (const comune of world.comuni) {
    // Tables of this kind are not renewed when codes change.
    const istatCode = formerIstatCode(comune) ?? comune.istatCode;
    for (const [index, cap] of comune.postalCodes.entries()) {
      // Spreadsheets drop the zeros of codes.
      lines.push(`${index % 2 === 0 ? istatCode.replace(/^0+/, '') : istatCode};"${comune.italianName}";${cap}`);
    }
  }
  lines.push(`${world.comuni[0]!.istatCode};"${world.comuni[0]!.italianName}";${world.comuni[0]!.postalCodes[0]!}`);
  lines.push('070999;"Comune senza codice";999999', ';"Comune senza ISTAT";86090');
  await writeFile(join(folder, 'cap_2025.csv'), `${lines.join('\r\n')}\r\n`);

  const older = world.comuni.map((comune) => ({ nome: comune.italianName, codiceCatastale: comune.belfiore, cap: ['86199'] }));
  await writeFile(join(folder, 'cap_2019.json'), JSON.stringify(older, null, 1));

  const first = world.comuni[0]!;
  const features = [];
  for (const sheet of world.sheets(first)) {
    const [west, south, east, north] = sheet.box;
    // Where no area says which code it is, the neighbour's area reaches over, and must not give its code.
    const cap = postalCodeOfSheet(sheet) ?? world.comuni[1]!.postalCodes[0]!;
    features.push({ type: 'Feature', properties: { CAP: cap }, geometry: { type: 'Polygon', coordinates: [[[west, south], [east, south], [east, north], [west, north], [west, south]]] } });
  }
  await writeFile(join(folder, 'zone_cap_2025.geojson'), JSON.stringify({ type: 'FeatureCollection', name: 'zone_cap', features }));
}

function truth(): (parcel: WorldParcel) => Record<string, unknown> {
  return (parcel) => ({ basic: { cadastral: { postal_code: postalCodeOf(parcel) } } });
}

const synthetic: Synthetic = { write, truth };
export default synthetic;
