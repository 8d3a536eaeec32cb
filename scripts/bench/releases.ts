/**
 * Writes the next releases of publishers' files into a data folder. Most functions return a number that the published tables must show after the next refresh.
 */
import { readdir, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import { itemAt } from '../../pipelines/synthetic/items.ts';
import type { SyntheticComune } from '../../pipelines/synthetic/region.ts';
import { writeZip, zipStream, type ZipEntry } from '../../pipelines/synthetic/zip-writer.ts';
import { rewriteZip, type Edit } from '../../test/harness/rewrite-zip.ts';
import { highestPrice, withMotion, withPrices, withSpreadCivics, withTaxYear } from '../nights/files.ts';

// --- Parcels -----------------------------------------------------------------------------------------------------------

/** Edits the GML document with the parcels of a comune. @param comune cadastral code */
export type GmlEdit = (gml: string, comune: string) => string;

/** Edits the parcels of some comuni in the zip of a region. The zips of the other comuni keep their bytes. */
export async function rewriteComuni(path: string, comuni: ReadonlySet<string>, edit: GmlEdit): Promise<void> {
  async function* entriesOf(archive: ZipArchive): AsyncGenerator<ZipEntry> {
    for (const { path: name, modified } of archive.entries) {
      const [comune = ''] = /^[A-Z]\d{3}(?=_)/.exec(name) ?? [];
      if (name.endsWith('.zip') && (comune === '' || comuni.has(comune))) {
        const inner = await archive.archive(name);
        yield [name, zipStream(entriesOf(inner)), { modified, level: 0 }];
        await inner.close();
        continue;
      }
      const content = await archive.buffer(name);
      const changes = name.endsWith('_ple.gml') && comuni.has(comune);
      yield [name, changes ? edit(content.toString('utf8'), comune) : content, { modified, level: name.endsWith('.zip') ? 0 : 1 }];
    }
  }
  const archive = await ZipArchive.open(path);
  await writeZip(`${path}.part`, entriesOf(archive));
  await archive.close();
  await rename(`${path}.part`, path);
}

/** Changes the bytes of a GML document but no values, as when the publisher writes the document again. */
export function withSameValues(gml: string): string {
  return gml.replaceAll(' </gml:posList>', '</gml:posList>').replace(/\s*$/, '\n\n');
}

const MEMBER = /<wfs:member>[\s\S]*?<\/wfs:member>\s*/g;
const CORNERS = /(<gml:posList[^>]*>)([^<]*)</g;
/** Three metres in degrees of latitude. */
const THREE_METRES = 0.000027;

/**
 * Moves parcels of a GML document three metres to the north or the south.
 * @param isMoved returns whether to move the parcel at a position in the document, counted from 0
 * @returns the new document and the number of moved parcels
 */
export function movedParcels(gml: string, isMoved: (position: number) => boolean, direction: 1 | -1 = 1): { readonly gml: string; readonly moved: number } {
  let [position, moved] = [-1, 0];
  const edited = gml.replace(MEMBER, (member) => {
    position += 1;
    if (!isMoved(position)) return member;
    moved += 1;
    return member.replace(CORNERS, (_all, tag: string, list: string) => {
      const numbers = list.trim().split(/\s+/).map((value, at) => (at % 2 === 0 ? (Number(value) + direction * THREE_METRES).toFixed(8) : value));
      return `${tag}${numbers.join(' ')} <`;
    });
  });
  return { gml: edited, moved };
}

/** Parcels that move in one night. */
interface Move {
  /** Cadastral code. */
  readonly comune: string;
  readonly isMoved: (position: number) => boolean;
  readonly direction: 1 | -1;
}

/**
 * Returns the parcels to move in a night. Each night moves parcels of one comune. The nights go through the comuni in order, without the first comune, and then
 * start again. The parcels of a comune are divided into groups of equal size, and a remainder never moves. Each visit to a comune moves the next group. When
 * all groups have moved, the groups move back one after another.
 * @param night number of the night, from 0
 * @param count number of parcels to move; fewer parcels move if the comune is smaller
 */
export function moveOf(night: number, [, ...comuni]: readonly Pick<SyntheticComune, 'belfiore' | 'parcelCount'>[], count: number): Move {
  const comune = itemAt(comuni, night % comuni.length);
  const visit = Math.floor(night / comuni.length);
  const moved = Math.min(count, comune.parcelCount);
  const step = Math.floor(comune.parcelCount / moved);
  return {
    comune: comune.belfiore, isMoved: (position) => position % step === visit % step && position < moved * step,
    direction: Math.floor(visit / step) % 2 === 0 ? 1 : -1,
  };
}

// --- Other sources -----------------------------------------------------------------------------------------------------

/** @throws Error if no file or several files match */
async function fileIn(folder: string, pattern: RegExp): Promise<string> {
  const found = (await readdir(folder)).filter((name) => pattern.test(name));
  const [name] = found;
  if (name === undefined || found.length > 1) throw new Error(`expected one file like ${String(pattern)}, found ${found.join(', ') || 'none'}`);
  return name;
}

/** Copies a zip of a data folder under a different name, and edits the copy. */
async function copyZip(folder: string, name: string, edit: Edit, renamed: (name: string) => string): Promise<void> {
  if (renamed(name) === name) throw new Error(`expected a different name for the new release of ${name}`);
  await rewriteZip(join(folder, name), edit, { into: join(folder, renamed(name)), renamed });
}

/** Number of the half-year after the newest half-year of the synthetic region. The number of the first half of a year is year × 2. */
export const NEXT_HALF_YEAR = 2026 * 2;
const EUROS = 35;

/** Writes the OMI files of the next half-year, with higher prices. @returns the highest price of the new half-year */
export async function nextHalfYear(folder: string): Promise<number> {
  const name = await fileIn(folder, /^QIP900098_.*\.zip$/);
  let highest = 0;
  const edit: Edit = (path, content) => {
    // All formats write the half-year as two numbers: 2025/2, 2025 / 2.
    const dated = Buffer.from(content.toString('latin1').replace(/2025( ?\/ ?)2(?!\d)/g, '2026$11'), 'latin1');
    if (!path.endsWith('VALORI.csv')) return dated;
    const raised = withPrices(dated, EUROS);
    highest = highestPrice(raised);
    return raised;
  };
  await copyZip(folder, name, edit, (each) => each.replace('QIP900098', 'QIP900100').replace('2025_2', '2026_1'));
  return highest;
}

export const NEXT_TAX_YEAR = 2025;

/** Writes the MEF incomes of comuni for the next tax year, with higher incomes. @returns the sum of the total incomes of all comuni, in euros */
export async function nextTaxYear(folder: string): Promise<number> {
  let sum = 0;
  await copyZip(folder, await fileIn(folder, /_su_base_comunale_CSV_2024\.zip$/), (_, csv) => {
    const { content, total } = withTaxYear(csv, NEXT_TAX_YEAR);
    sum = total;
    return content;
  }, (name) => name.replace('2024', String(NEXT_TAX_YEAR)));
  return sum;
}

/** Lowest new house number. All house numbers of the synthetic region are lower. */
const FIRST_NEW_CIVIC = 2_000;
/** One address in 200 gets a different house number. */
const ADDRESS_STEP = 200;

/** Writes newer ANNCSU archives of addresses and streets. One address in 200 has a different house number. @returns the number of changed addresses */
export async function newerAddresses(folder: string): Promise<number> {
  const renamed = (name: string): string => name.replace('20260602', '20260702');
  let changes = 0;
  await copyZip(folder, await fileIn(folder, /^indirizzario.*20260602\.zip$/), (_, csv) => {
    const { content, changed } = withSpreadCivics(csv, ADDRESS_STEP, FIRST_NEW_CIVIC);
    changes = changed;
    return content;
  }, renamed);
  await copyZip(folder, await fileIn(folder, /^stradario.*20260602\.zip$/), (_, csv) => csv, renamed);
  return changes;
}

/** Writes the next issue of the largest EGMS tile, in which each cell rises one mm/year faster. */
export async function nextIssueOfTile(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => /^EGMS_L3_.*_U_2020_2024_1\.zip$/.test(name));
  const sizes = await Promise.all(names.map(async (name) => ({ name, size: (await stat(join(folder, name))).size })));
  const [largest] = sizes.toSorted((a, b) => b.size - a.size);
  if (largest === undefined) throw new Error('expected an EGMS tile of the release 2020_2024_1, found none');
  await copyZip(folder, largest.name, (path, content) => (path.endsWith('.csv') ? withMotion(content, (velocity) => velocity + 1) : content),
    (name) => name.replace('_2020_2024_1', '_2020_2024_2'));
}
