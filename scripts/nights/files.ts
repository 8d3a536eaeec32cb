/** Edits publishers' files. An edit is a small realistic change, or a corruption that the quality gate must refuse. */
import { buffer } from 'node:stream/consumers';
import { shapefileEntries } from '../../pipelines/synthetic/shapefile-writer.ts';
import { zipStream } from '../../pipelines/synthetic/zip-writer.ts';

type Cells = readonly string[];
type LineEdit = (cells: Cells, number: number, count: number) => Cells | null;

/** Edits each data line of a delimited text file. Removes a line if `edit` returns null. @param head number of lines before the data */
export function eachLine(content: Buffer, { head, delimiter = ';' }: { readonly head: number; readonly delimiter?: string }, edit: LineEdit): Buffer {
  const lines = content.toString('latin1').split('\n');
  const body = lines.slice(head).filter((line) => line !== '');
  const edited = body.flatMap((line, number) => edit(line.split(delimiter), number, body.length)?.join(delimiter) ?? []);
  return Buffer.from([...lines.slice(0, head), ...edited, ''].join('\n'), 'latin1');
}

const withCell = (cells: Cells, at: number, value: string): Cells => cells.map((cell, column) => (column === at ? value : cell));

// --- Register of fuel stations -----------------------------------------------------------------------------------

const FUEL = { head: 2, delimiter: '|' };
const FUEL_ID = 0;
const FUEL_NAME = 4;
const FUEL_CELLS = 10;

/** Returns the ids of the stations that have exactly one line, with a four-digit id, ten cells and a latitude. */
export function stationsOf(content: Buffer): string[] {
  const counts = new Map<string, number>();
  eachLine(content, FUEL, (cells) => {
    const [id = ''] = cells;
    const isPlain = cells.length === FUEL_CELLS && /^\d{4}$/.test(id) && /^\d+\.\d+$/.test(cells[8] ?? '');
    counts.set(id, (counts.get(id) ?? 0) + (isPlain ? 1 : 2));
    return cells;
  });
  return [...counts].flatMap(([id, count]) => (count === 1 ? [id] : []));
}

/** Renames stations and changes the date of the register. @param day date of the register, such as `2026-12-01` */
export function withStations(content: Buffer, names: ReadonlyMap<string, string>, day: string): Buffer {
  const text = content.toString('latin1').replace(/\d{4}-\d{2}-\d{2}/, day);
  return eachLine(Buffer.from(text, 'latin1'), FUEL, (cells) => {
    const name = names.get(cells[FUEL_ID] ?? '');
    return name === undefined || cells.length !== FUEL_CELLS ? cells : withCell(cells, FUEL_NAME, name);
  });
}

export function thirdOfStations(content: Buffer): Buffer {
  return eachLine(content, FUEL, (cells, number, count) => (number * 3 < count ? cells : null));
}

/** Adds a column in the header and in all lines, or renames a column in the header. */
export function withColumn(content: Buffer, kind: 'added' | 'renamed'): Buffer {
  const [day = '', header = '', ...lines] = content.toString('latin1').split('\n');
  if (kind === 'renamed') return Buffer.from([day, header.replace('Bandiera', 'Insegna'), ...lines].join('\n'), 'latin1');
  return Buffer.from([day, `${header}|Gestione`, ...lines.map((line) => (line === '' ? line : `${line}|1`))].join('\n'), 'latin1');
}

// --- Addresses, quotations, incomes, census, parcels ------------------------------------------------------------------

const ADDRESS_COORDINATES: ReadonlySet<number> = new Set([15, 16, 18]);
const ACCESS = 8;
const CIVIC = 10;
/** Number of different house numbers that `withSpreadCivics` writes. */
const OTHER_CIVICS = 7_000;

/** Returns a function that recognises the lines with a plain house number and an address that is in no other line. */
function plainCivics(content: Buffer): (cells: Cells) => boolean {
  const counts = new Map<string, number>();
  eachLine(content, { head: 1 }, (cells) => {
    counts.set(cells[ACCESS] ?? '', (counts.get(cells[ACCESS] ?? '') ?? 0) + 1);
    return cells;
  });
  return (cells) => /^\d+$/.test(cells[CIVIC] ?? '') && cells.slice(CIVIC + 1, CIVIC + 5).every((cell) => cell === '') && counts.get(cells[ACCESS] ?? '') === 1;
}

/** Changes the house numbers of the first addresses that have a plain number. @param numbers new house numbers, one for each address */
export function withCivics(content: Buffer, numbers: readonly number[]): Buffer {
  const isPlain = plainCivics(content);
  let next = 0;
  return eachLine(content, { head: 1 }, (cells) => {
    const number = isPlain(cells) ? numbers[next] : undefined;
    if (number === undefined) return cells;
    next += 1;
    return withCell(cells, CIVIC, String(number));
  });
}

/**
 * Changes the house numbers of addresses in all parts of the file.
 * @param step one address in every `step` lines changes
 * @param first lowest new house number
 * @returns the new content and the number of changed addresses
 */
export function withSpreadCivics(content: Buffer, step: number, first: number): { readonly content: Buffer; readonly changed: number } {
  const isPlain = plainCivics(content);
  let [changed, due] = [0, 0];
  const edited = eachLine(content, { head: 1 }, (cells, number) => {
    if (number < due || !isPlain(cells)) return cells;
    due += step;
    changed += 1;
    return withCell(cells, CIVIC, String(first + (changed % OTHER_CIVICS)));
  });
  return { content: edited, changed };
}

export function withoutCoordinates(content: Buffer): Buffer {
  return eachLine(content, { head: 1 }, (cells) => cells.map((cell, column) => (ADDRESS_COORDINATES.has(column) ? '' : cell)));
}

/** Returns the highest maximum purchase price of a VALORI table. */
export function highestPrice(content: Buffer): number {
  let highest = 0;
  eachLine(content, { head: 2 }, (cells) => {
    highest = Math.max(highest, Number(cells[16]) || 0);
    return cells;
  });
  return highest;
}

/** Raises the purchase prices of a VALORI table. @param euros amount to add to the minimum and the maximum price */
export function withPrices(content: Buffer, euros: number): Buffer {
  return eachLine(content, { head: 2 }, (cells) => cells.map((cell, column) => ((column === 15 || column === 16) && /^[1-9]\d*$/.test(cell) ? String(Number(cell) + euros) : cell)));
}

export function thirdOfLines(content: Buffer, head: number): Buffer {
  return eachLine(content, { head }, (cells, number, count) => (number * 3 < count ? cells : null));
}

const TOTAL_INCOME = 35;

/** Returns the total income of the first comune. */
export function incomeOf(content: Buffer): number {
  return Number(content.toString('latin1').split('\n')[1]?.split(';')[TOTAL_INCOME]);
}

/** Sets the total income of the first comune. Also changes the highest bracket, so that the brackets still add up to the total. */
export function withIncome(content: Buffer, euros: number): Buffer {
  return eachLine(content, { head: 1 }, (cells, number) => {
    if (number > 0) return cells;
    const last = cells.length - 1;
    const highest = Number(cells[last]) + euros - Number(cells[TOTAL_INCOME]);
    return withCell(withCell(cells, TOTAL_INCOME, String(euros)), last, `${highest}${cells[last]?.endsWith('\r') === true ? '\r' : ''}`);
  });
}

/**
 * Returns the incomes of a different tax year. Each bracket is 2 % higher, and the total rises by the sum of these increases. The brackets therefore still add
 * up to the total.
 * @returns the new content, and the sum of the total incomes of the comuni in euros
 */
export function withTaxYear(content: Buffer, year: number): { readonly content: Buffer; readonly total: number } {
  let total = 0;
  const edited = eachLine(content, { head: 1 }, ([, ...cells]) => {
    const brackets = cells.map((cell, at) => (at > TOTAL_INCOME && at % 2 === 0 ? Math.trunc(Number(cell) / 50) : 0));
    const income = Number(cells[TOTAL_INCOME - 1]) + brackets.reduce((sum, raise) => sum + raise, 0);
    if (cells[0] !== '0') total += income;
    const raised = cells.map((cell, at) => (at === TOTAL_INCOME - 1 ? String(income) : brackets[at] === 0 ? cell : cell.replace(/^-?\d+/, (euros) => String(Number(euros) + (brackets[at] ?? 0)))));
    return [String(year), ...raised];
  });
  return { content: edited, total };
}

/** Multiplies all amounts in a file of incomes by ten. */
export function tenfoldIncomes(content: Buffer): Buffer {
  return eachLine(content, { head: 1 }, (cells) => cells.map((cell, column) => (column > 8 && column % 2 === 1 && /^-?[1-9]\d*\r?$/.test(cell) ? cell.replace(/\r?$/, '0$&') : cell)));
}

/** Returns a sheet with only the header and two rows. */
export function twoRows(sheet: Buffer): Buffer {
  return Buffer.from(sheet.toString('utf8').replace(/(<row r="3">.*?<\/row>).*<\/sheetData>/s, '$1</sheetData>'));
}

const MEMBER = /<(wfs:member|gml:featureMember)>[\s\S]*?<\/\1>\s*/g;

/**
 * Removes parcels from a GML file. @param isKept returns whether to keep a parcel. Receives the number of the parcel in the file, from 0, and the total number
 * of parcels
 */
export function withoutParcels(content: Buffer, isKept: (position: number, count: number) => boolean): Buffer {
  const text = content.toString('utf8');
  const count = [...text.matchAll(MEMBER)].length;
  let at = -1;
  return Buffer.from(text.replace(MEMBER, (member) => {
    at += 1;
    return isKept(at, count) ? member : '';
  }));
}

/** Multiplies the velocities of an EGMS tile by 1,000. */
export function thousandfoldMotion(content: Buffer): Buffer {
  return withMotion(content, (velocity) => velocity * 1_000);
}

/** Changes the velocities of an EGMS tile. @param changed returns the new velocity of a cell in mm/year */
export function withMotion(content: Buffer, changed: (velocity: number) => number): Buffer {
  const header = content.toString('latin1', 0, content.indexOf(0x0a)).split(',');
  const at = header.indexOf('mean_velocity');
  return eachLine(content, { head: 1, delimiter: ',' }, (cells) => withCell(cells, at, changed(Number(cells[at])).toFixed(1)));
}

// --- Floods -----------------------------------------------------------------------------------------------------------

const SCENARIOS = [['HPH_', 'elevata'], ['MPH_', 'media'], ['LPH_', 'bassa']] as const;

/** Returns the bounding box of a shapefile: west, south, east, north. */
export function boxOf(shp: Buffer): readonly [number, number, number, number] {
  return [shp.readDoubleLE(36), shp.readDoubleLE(44), shp.readDoubleLE(52), shp.readDoubleLE(60)];
}

/** Returns a flood mosaic with a single rectangle in each scenario. */
export function oneFlood([west, south, east, north]: readonly [number, number, number, number]): Promise<Buffer> {
  const ring = [[west, south], [west, north], [east, north], [east, south], [west, south]] as const;
  const folder = 'Mosaicatura_ISPRA_2020_aree_pericolosita_idraulica';
  return buffer(zipStream(SCENARIOS.flatMap(([prefix, word]) => [...shapefileEntries(`${folder}/${prefix}Mosaicatura_ISPRA_2020_pericolosita_idraulica_${word}`, {
    type: 'polygon', srid: 3035, fields: [{ name: 'scenario', type: 'text', length: 80 }], features: [{ geometry: { type: 'polygon', polygons: [[ring]] }, values: [null] }],
  })])));
}
