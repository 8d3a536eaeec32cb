/**
 * Tests that no-data values are never stored as numbers. In some records or at random positions of each file, numbers are overwritten with NaN, infinities and
 * −9999. The program must reject the file or the record, or store null.
 */
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { MappaleError } from '../../pipelines/errors.ts';
import { isNoData } from '../../pipelines/readers/no-data.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { openRaster } from '../../pipelines/formats/raster.ts';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import { writeGeoTiff } from '../../pipelines/synthetic/raster-writer.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import { loadSources, type RegisteredSource } from '../../pipelines/contract/registry.ts';
import { writeOwn } from '../../pipelines/synthetic/synthetic.ts';
import { recognise } from '../../pipelines/ingest/locate.ts';
import { collect } from '../harness/collect.ts';

const TOKENS = ['NaN', '-nan', 'inf', '-Infinity', '1e999', '-9999', '-9999.0', '-9999,00', '1.#QNAN'];
/** Values that are tried if each value needs a separate file. */
const FEW = ['NaN', '1e999', '-9999'];
/** Number of records of a table, and number of numbers in a document, that are overwritten one by one. */
const RECORDS = 3;
const NUMBERS = 6;

/** Columns in which −9999 may be a real value. Losses can make a sum of incomes negative. */
const MAY_BE_NEGATIVE: readonly (readonly [source: string, column: string])[] = [['mef_income', 'lte_zero_eur'], ['mef_income', 'total_income_eur']];

const sources = await loadSources();
const root = mkdtempSync(join(tmpdir(), 'mappale-no-data-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Returns the x and y values of all positions of a two-dimensional EWKB geometry. */
function ordinates(ewkb: Buffer): number[] {
  const found: number[] = [];
  let at = 0;
  const walk = (): void => {
    const type = ewkb.readUInt32LE(at + 1);
    at += 5 + ((type & 0x20000000) === 0 ? 0 : 4);
    const points = (count: number): void => {
      for (let i = 0; i < count * 2; i += 1, at += 8) found.push(ewkb.readDoubleLE(at));
    };
    const count = (): number => {
      at += 4;
      return ewkb.readUInt32LE(at - 4);
    };
    const kind = type & 0xff;
    if (kind === 1) points(1);
    else if (kind === 2) points(count());
    else if (kind === 3) for (let rings = count(); rings > 0; rings -= 1) points(count());
    else for (let parts = count(); parts > 0; parts -= 1) walk();
  };
  walk();
  return found;
}

function violations(id: string, rows: Readonly<Record<string, readonly Record<string, unknown>[]>>): string[] {
  const found: string[] = [];
  for (const [table, list] of Object.entries(rows)) {
    for (const row of list) {
      for (const [column, value] of Object.entries(row)) {
        const numbers = Buffer.isBuffer(value) ? ordinates(value) : Array.isArray(value) ? value : [value];
        const allowed = MAY_BE_NEGATIVE.some(([source, name]) => source === id && name === column);
        if (numbers.some((each) => typeof each === 'number' && (!Number.isFinite(each) || (!allowed && isNoData(each))))) found.push(`${table}.${column} = ${Buffer.isBuffer(value) ? 'geometry' : String(value)}`);
      }
    }
  }
  return [...new Set(found)];
}

/**
 * Splits a text into the header and the last rows of a table. The header ends before the first line that contains a number and as many cells as the last line.
 * @returns null if the text is not a table with a header
 */
function tableOf(text: string): { readonly delimiter: string; readonly header: readonly string[]; readonly rows: readonly string[] } | null {
  if (/^\s*[<{[]/.test(text)) return null;
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const last = lines.at(-1) ?? '';
  const delimiter = [';', ',', '\t', ' '].find((each) => last.split(each).length > 2);
  if (delimiter === undefined) return null;
  const numeric = (line: string): number => line.split(delimiter).filter((cell) => /^"?-?\d+(?:[.,]\d+)?"?\s*$/.test(cell)).length;
  const first = lines.findIndex((line) => line.split(delimiter).length === last.split(delimiter).length && numeric(line) > 0);
  return first < 1 ? null : { delimiter, header: lines.slice(0, first), rows: lines.slice(first).slice(-RECORDS) };
}

/** Returns variants of a file's content with no-data values in place of numbers. For a table, one variant contains all replacements. */
function variantsOf(name: string, content: Buffer): Buffer[] {
  const random = randomOf(`no data ${name}`);
  if (/\.dbf$/i.test(name)) return dbfVariants(content);
  if (/\.(?:shp|shx|prj|cpg|gpkg|pdf)$/i.test(name)) return [];
  const text = content.toString('latin1');
  if (/^[\u00ff\u00fe]{2}|PK\u0003/.test(text)) return [];
  const table = tableOf(text);
  if (table !== null) {
    const { delimiter, header, rows } = table;
    const more = rows.flatMap((row) => row.split(delimiter).flatMap((cell, index, cells) => (/\d/.test(cell)
      ? TOKENS.map((token) => cells.map((each, at) => (at === index ? `${/^"/.test(cell) ? `"${token}"` : token}${each.endsWith('\r') ? '\r' : ''}` : each)).join(delimiter)) : [])));
    return [Buffer.from([...header, ...rows, ...more, ''].join('\n'), 'latin1')];
  }
  // In a document, numbers are between tags, spaces and commas. Only a few of the numbers are tried.
  const numbers = [...text.matchAll(/(?<=[\s,[>:"])-?\d+(?:\.\d+)?(?=[\s,\]<"}])/g)];
  return Array.from({ length: Math.min(NUMBERS, numbers.length) }, () => random.pick(numbers)).flatMap((match) => FEW.map((token) => (
    Buffer.from(`${text.slice(0, match.index)}${token}${text.slice(match.index + match[0].length)}`, 'latin1'))));
}

/** Returns copies of a DBF file. In each copy, one number of the first record is replaced with one token that fits into the field. */
function dbfVariants(dbf: Buffer): Buffer[] {
  const [headerSize, recordSize] = [dbf.readUInt16LE(8), dbf.readUInt16LE(10)];
  if (dbf.length < headerSize + recordSize) return [];
  const variants: Buffer[] = [];
  let offset = headerSize + 1;
  for (let at = 32; dbf[at] !== 0x0d; at += 32) {
    const [type, width] = [String.fromCharCode(dbf[at + 11]!), dbf[at + 16]!];
    if (type === 'N' || type === 'F') {
      for (const token of FEW.filter(({ length }) => length <= width)) {
        const copy = Buffer.from(dbf);
        copy.write(token.padStart(width), offset, 'latin1');
        variants.push(copy);
      }
    }
    offset += width;
  }
  return variants;
}

/** Returns copies of a .shp file in which a coordinate of the last point is NaN or infinite. */
function shapeVariants(shp: Buffer): Buffer[] {
  return [Number.NaN, Infinity].flatMap((value) => [shp.length - 16, shp.length - 8].map((at) => {
    const copy = Buffer.from(shp);
    copy.writeDoubleLE(value, at);
    return copy;
  }));
}

/** Returns one file of each kind of a source, with the content of each part. The parts of a zip are its members. Any other file has one part. */
async function materialOf(
  source: RegisteredSource,
): Promise<{ readonly path: string; readonly parts: readonly { readonly name: string; readonly content: Buffer }[]; readonly zipped: boolean }[]> {
  const folder = join(root, source.id);
  mkdirSync(folder);
  await writeOwn(source.id, folder, { parcels: 200, seed: 5 });
  const kinds = new Set<string>();
  const found = [];
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name);
    const kind = name.replace(/\d+|E\d+N\d+/g, '');
    if (!statSync(path).isFile() || kinds.has(kind)) continue;
    kinds.add(kind);
    if (!/\.(?:zip|kmz|xlsx)$/i.test(name)) {
      found.push({ path, parts: [{ name, content: readFileSync(path) }], zipped: false });
      continue;
    }
    const archive = await ZipArchive.open(path);
    const parts = [];
    for (const entry of archive.entries.filter(({ isFolder }) => !isFolder)) parts.push({ name: entry.path, content: await archive.buffer(entry.path) });
    await archive.close();
    found.push({ path, parts, zipped: true });
  }
  if (found.some(({ parts }) => parts.some(({ name }) => !/\.gpkg$/i.test(name)))) return found;
  // Single numbers of a GeoPackage cannot be overwritten. The same content is tried as GeoJSON, which the same reader reads.
  const fixtures = join(source.folder, 'fixture');
  return readdirSync(fixtures).filter((name) => name.endsWith('.geojson'))
    .map((name) => ({ path: join(fixtures, name), parts: [{ name, content: readFileSync(join(fixtures, name)) }], zipped: false }));
}

/** Returns rasters with the grid of the given raster. In each raster, the first column contains one of the no-data values. */
async function rasterVariants(name: string, content: Buffer): Promise<Buffer[]> {
  // An HDF5 file needs no variant, because its numbers are whole and most cells already have the fill value.
  if (/\.h5$/i.test(name)) return [content];
  const file = join(root, basename(name));
  writeFileSync(file, content);
  const raster = await openRaster(file);
  const { epsg, width, height, blockHeight, transform: [west, cell, , north] } = raster.grid;
  const value = (await raster.readBlock(0, Math.ceil(height / blockHeight) - 1)).find((each) => !Number.isNaN(each)) ?? 0;
  await raster.close();
  return FEW.map((token) => {
    writeGeoTiff(file, { epsg: epsg as 4326, width, height, west, north, cell, row: () => new Float32Array(width).fill(value).fill(Number(token), 0, 1) });
    return readFileSync(file);
  });
}

/** Returns variants of a zip in which one document changes. As in the cadastre, the document may be in a nested zip. */
async function nestedVariants(content: Buffer): Promise<Buffer[]> {
  const file = join(root, 'nested.zip');
  writeFileSync(file, content);
  const archive = await ZipArchive.open(file);
  const entries = [];
  for (const { path } of archive.entries) entries.push({ path, content: await archive.buffer(path) });
  await archive.close();
  const variants: Buffer[] = [];
  const first = entries.find(({ path }) => /_ple\.gml$|\.zip$/.test(path));
  if (first === undefined) return [];
  for (const variant of first.path.endsWith('.zip') ? await nestedVariants(first.content) : variantsOf(first.path, first.content)) {
    await writeZip(file, entries.slice(0, 4).map((entry) => [entry.path, entry === first ? variant : entry.content, { modified: '2026-07-01' }]));
    variants.push(readFileSync(file));
  }
  return variants;
}

describe.each(sources.map((source) => [source.id, source] as const))('source %s', (id, source) => {
  it('never stores NaN, infinity or −9999', async () => {
    const found: string[] = [];
    let tried = 0;
    let records = 0;
    for (const { path, parts, zipped } of await materialOf(source)) {
      const tables = parts.filter(({ name }) => /\.(?:dbf|shp)$/i.test(name));
      for (const part of parts) {
        // One layer of a zip of shapefiles is enough, because the same code reads all layers.
        if (tables.includes(part) && tables.indexOf(part) > 1) continue;
        const variants = /\.shp$/i.test(part.name) ? shapeVariants(part.content)
          : /\.(?:tif|h5)$/i.test(part.name) ? await rasterVariants(part.name, part.content)
            : /\.zip$/i.test(part.name) ? await nestedVariants(part.content) : variantsOf(part.name, part.content);
        for (const variant of variants) {
          const target = join(root, basename(path));
          if (zipped) await writeZip(target, parts.map((each) => [each.name, each === part ? variant : each.content, { modified: '2026-07-01' }]));
          else writeFileSync(target, variant);
          try {
            const recognised = await recognise({ path: target, size: statSync(target).size }, [source]);
            if (recognised === null || recognised.recognition.ignored !== undefined) continue;
            const collected = await collect(source, target, recognised.recognition);
            tried += 1;
            records += collected.members.reduce((sum, member) => sum + (member.records ?? 0), 0);
            found.push(...violations(id, collected.rows).map((violation) => `${part.name}: ${violation}`));
          } catch (error) {
            // A file may be rejected as a whole with an error. Any other exception is a bug.
            if (!(error instanceof MappaleError)) throw error;
          } finally {
            rmSync(target, { force: true });
          }
        }
      }
    }
    expect([...new Set(found)]).toEqual([]);
    // At least one variant must be readable. Otherwise nothing is tested.
    expect(tried).toBeGreaterThan(0);
    expect(records).toBeGreaterThan(0);
  });
});
