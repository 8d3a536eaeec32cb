/** Writes File Geodatabases for fixtures and synthetic regions, as entries of a zip. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeLayers, type WrittenLayer } from './geopackage-writer.ts';
import type { ZipEntry, ZipEntryOptions } from './zip-writer.ts';

/**
 * GUIDs of the item types folder, workspace and feature class. In the table of items, the GUID of an item precedes the GUID of the item's type. GDAL generates
 * new item GUIDs for each file. FGDB format: https://github.com/rouault/dump_gdbtable/wiki/FGDB-Spec
 */
const ITEM_TYPES: readonly Buffer[] = ['f3783e6f-65ca-4514-8315-ce3985dad3b1', 'c673fe0f-7280-404f-8532-20755dd8fc06', '70737809-852c-4a03-9e22-2cecea5b9bfa'].map(guidBytes);
/** Names of the table of items and of the table of relationships between items. */
const [ITEMS, RELATIONSHIPS] = ['a00000004.gdbtable', 'a00000006.gdbtable'];

/** Returns the 16 bytes of a GUID in the file's order, in which the first three groups are reversed. */
function guidBytes(guid: string): Buffer {
  const bytes = Buffer.from(guid.replaceAll('-', ''), 'hex');
  return Buffer.concat([bytes.subarray(0, 4).reverse(), bytes.subarray(4, 6).reverse(), bytes.subarray(6, 8).reverse(), bytes.subarray(8)]);
}

function placesIn(bytes: Buffer, part: Buffer): number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(part); at !== -1; at = bytes.indexOf(part, at + 1)) places.push(at);
  return places;
}

/** Replaces the GUID of each item and relationship with a hash of a consecutive number, so that the same input gives the same bytes. */
async function numberItems(folder: string): Promise<void> {
  const [items, relationships] = [await readFile(join(folder, ITEMS)), await readFile(join(folder, RELATIONSHIPS))];
  const drawn = ITEM_TYPES.flatMap((type) => placesIn(items, type)).map((at) => Buffer.from(items.subarray(at - 16, at)));
  const relations = placesIn(relationships, guidBytes('dc78f1ab-34e4-43ac-ba47-1c4eabd0e7c7')).map((at) => Buffer.from(relationships.subarray(at - 48, at - 32)));
  for (const [index, guid] of [...drawn, ...relations].entries()) {
    const given = createHash('md5').update(`item ${index}`).digest();
    for (const table of [items, relationships]) for (const at of placesIn(table, guid)) given.copy(table, at);
  }
  await writeFile(join(folder, ITEMS), items);
  await writeFile(join(folder, RELATIONSHIPS), relationships);
}

/**
 * Writes a geodatabase to a temporary folder, and yields the files as entries of a zip.
 * @param path path of the geodatabase in the zip, such as `Potenza_dbsn.gdb`
 * @throws MappaleError `GDAL_MISSING`, `FILE_NOT_WRITTEN` (exit 2)
 */
export async function* geodatabaseEntries(path: string, layers: readonly WrittenLayer[], options: ZipEntryOptions = {}): AsyncGenerator<ZipEntry> {
  const parent = await mkdtemp(join(tmpdir(), 'mappale-geodatabase-'));
  try {
    const folder = join(parent, 'written.gdb');
    await writeLayers(folder, 'OpenFileGDB', layers);
    await numberItems(folder);
    for (const name of (await readdir(folder)).sort()) yield [`${path}/${name}`, createReadStream(join(folder, name)), options];
  } finally {
    await rm(parent, { recursive: true, force: true });
  }
}
