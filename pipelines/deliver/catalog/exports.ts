/** Lists the exports in a folder. Reads the STAC item that `export` writes next to each exported file. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { REGIONS, type Region } from '../../contract/regions.ts';

/** The members of a STAC item that the catalogue needs. */
export interface Item {
  readonly id: string;
  readonly bbox: readonly number[];
  readonly properties: {
    readonly datetime: string;
    readonly title: string;
    readonly attribution: string;
    readonly providers: readonly { readonly name: string; readonly roles: readonly string[] }[];
  } & Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly rel: string; readonly href: string; readonly title?: string }[];
  readonly assets: { readonly data: { readonly href: string; readonly type: string; readonly title: string; readonly 'file:size': number; readonly 'file:checksum': string } };
}

/** An exported file with its STAC item. */
export interface ExportedFile {
  /** Name of the file, without folder. */
  readonly name: string;
  readonly region: Region;
  /** Identifier of the exported region and area, equal for all formats and publications. */
  readonly dataset: string;
  readonly item: Item;
}

export interface Found {
  readonly exports: readonly ExportedFile[];
  /** Names of STAC items that this program did not write, or whose exported file is missing or has a different size. */
  readonly skipped: readonly string[];
}

const ENDING = '.stac.json';

/**
 * Reads the exports of a folder, newest first, then by name. Skips STAC items that this program did not write, and exports whose file is missing or differs in
 * size from the STAC item.
 * @throws the error of the file system
 */
export async function exportsIn(folder: string): Promise<Found> {
  const names = await readdir(folder);
  const exports: ExportedFile[] = [];
  const skipped: string[] = [];
  for (const name of names.filter((each) => each.endsWith(ENDING)).sort()) {
    const found = exportOf(name.slice(0, -ENDING.length), await readFile(join(folder, name), 'utf8'));
    const size = found === null ? null : await stat(join(folder, found.name)).then((file) => (file.isFile() ? file.size : null), () => null);
    if (found !== null && size === found.item.assets.data['file:size']) exports.push(found);
    else skipped.push(name);
  }
  const timeOf = ({ item }: ExportedFile): number => Date.parse(item.properties.datetime);
  return { exports: exports.toSorted((a, b) => timeOf(b) - timeOf(a)), skipped };
}

/** Parses a STAC item. Returns null for an item that this program did not write. */
function exportOf(name: string, text: string): ExportedFile | null {
  try {
    const item = JSON.parse(text) as Item;
    // The identifier ends with the digest of the publication: mappale-molise-H501-DIGEST.
    const dataset = item.id.replace(/-[^-]+$/, '');
    const region = REGIONS.toSorted((a, b) => b.slug.length - a.slug.length).find(({ slug }) => `${dataset}-`.startsWith(`mappale-${slug}-`));
    return region === undefined || item.assets.data.href !== `./${name}` ? null : { name, region, dataset, item };
  } catch {
    return null;
  }
}

/** Returns the exports of the newest publication of each dataset. @param exports exports, newest first */
export function newestOf(exports: readonly ExportedFile[]): ReadonlyMap<string, readonly ExportedFile[]> {
  const found = new Map<string, ExportedFile[]>();
  for (const each of exports) {
    const known = found.get(each.dataset) ?? [];
    if (known.every(({ item }) => item.id === each.item.id)) found.set(each.dataset, [...known, each]);
  }
  return found;
}
