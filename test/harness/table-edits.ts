/** Finds the editable tables of a file, including tables in nested zips. Each table can be rewritten with one changed column. */
import { copyFileSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import { geodatabaseFolders } from '../../pipelines/readers/vector-members.ts';
import { editable, type Edit, type Editable } from './column-edits.ts';
import { editableLayers, layersOfGeoPackage } from './layer-edits.ts';
import { rewriteZip } from './rewrite-zip.ts';

export interface Table {
  /** File that is passed to the source. */
  readonly path: string;
  /** Entry of the zip, or file in the folder, that contains the columns. For a database with layers, `#` and the name of the layer are appended. */
  readonly part: string;
  /** File name extension of the part, such as `csv` or `gdb`. */
  readonly format: string;
  readonly columns: readonly string[];
  /** True if the format declares the type of each column. */
  readonly isTyped: boolean;
  /** Writes the file with one change. @param folder an empty folder @returns the new path */
  write(edit: Edit, folder: string): Promise<string>;
}

type Changed = ReadonlyMap<string, Buffer>;

/** A table in a part of a file. The part is an entry of a zip or a file of a folder. `layer` is `''` if the format has no layers. */
interface Part {
  readonly part: string;
  readonly layer: string;
  readonly columns: readonly string[];
  readonly isTyped: boolean;
  /** @returns the new bytes of each changed file, by path in the zip or by name in the folder */
  edit(edit: Edit): Promise<Changed>;
}

async function partsOf(part: string, content: Buffer): Promise<Part[]> {
  if (/\.gpkg$/i.test(part)) {
    return (await layersOfGeoPackage(content)).map(({ layer, columns, edit }) => ({
      part, layer, columns, isTyped: true, edit: async (each) => new Map([[part, (await edit(each)).get('')!]]),
    }));
  }
  const found: Editable | null = await editable(part, content);
  if (found === null) return [];
  return [{ part, layer: '', columns: found.columns, isTyped: found.isTyped === true, edit: async (each) => new Map([[part, await found.edit(each)]]) }];
}

async function geodatabasesOf(path: string): Promise<Part[]> {
  const zip = await ZipArchive.open(path);
  try {
    const parts: Part[] = [];
    for (const folder of geodatabaseFolders(zip.entries)) {
      for (const { layer, columns, edit } of await editableLayers({ zip, entry: folder })) {
        parts.push({ part: folder, layer, columns, isTyped: true, edit: async (each) => new Map([...await edit(each)].map(([name, bytes]) => [`${folder}/${name}`, bytes])) });
      }
    }
    return parts;
  } finally {
    await zip.close();
  }
}

const layoutOf = ({ part, columns }: Part): string => `${extname(part).toLowerCase()} ${columns.join()}`;

/**
 * Returns the tables of a zip. Tables with the same layout are changed together, as a publisher would do. Layers of a GeoPackage or file geodatabase are
 * changed one by one.
 */
async function zipped(path: string): Promise<Table[]> {
  const contents = new Map<string, Buffer>();
  await rewriteZip(path, (entry, bytes) => {
    contents.set(entry, bytes);
    return bytes;
  }, { into: join('/dev', 'null') });
  const parts = await geodatabasesOf(path);
  for (const [entry, bytes] of contents) if (!/\.(?:zip|gdbtable|gdbtablx)$/i.test(entry)) parts.push(...await partsOf(entry, bytes));
  return parts.map((own) => ({
    ...tableOf(path, own),
    async write(edit, folder) {
      const sameTable = own.layer === '' ? parts.filter((each) => layoutOf(each) === layoutOf(own)) : [own];
      const changed = new Map<string, Buffer>();
      for (const each of sameTable) for (const [entry, bytes] of await each.edit(edit)) changed.set(entry, bytes);
      for (const entry of changed.keys()) if (!contents.has(entry)) throw new Error(`${path} has no ${entry}`);
      const target = join(folder, basename(path));
      await rewriteZip(path, (entry, before) => changed.get(entry) ?? before, { into: target });
      return target;
    },
  }));
}

function tableOf(path: string, { part, layer, columns, isTyped }: Part): Omit<Table, 'write'> {
  return { path, part: layer === '' ? part : `${part}#${layer}`, format: extname(part).slice(1).toLowerCase(), columns, isTyped };
}

/** Returns the editable tables of a file. */
export async function tablesOf(path: string): Promise<Table[]> {
  if (/\.(?:zip|kmz)$/i.test(path)) return zipped(path);
  const stem = basename(path).replace(/[^.]+$/, '');
  const siblings = readdirSync(dirname(path)).filter((name) => name.startsWith(stem));
  const name = /\.shp$/i.test(path) ? siblings.find((each) => /\.dbf$/i.test(each)) : basename(path);
  if (name === undefined) return [];
  return (await partsOf(name, readFileSync(join(dirname(path), name)))).map((own) => ({
    ...tableOf(path, own),
    async write(edit, folder) {
      for (const each of siblings) copyFileSync(join(dirname(path), each), join(folder, each));
      for (const [each, bytes] of await own.edit(edit)) writeFileSync(join(folder, each), bytes);
      return join(folder, basename(path));
    },
  }));
}
