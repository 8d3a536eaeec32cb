/**
 * Reads the spatial layers of a vector file, plain or in a zip, into staging tables. Each layer is a member. The reader finds columns by name. The last column
 * of a staging table is the geometry.
 */
import { dirname, join } from 'node:path';
import { columnsChanged, expectColumns, normaliseHeader, type ExpectedColumns } from '../formats/csv.ts';
import { geometryOutsideItaly, isInDegrees, metresMisplaced, noDataAmong, placeInEurope } from './italy.ts';
import { isDay } from './iso-date.ts';
import type { Refusal } from './refusal.ts';
import { inputError, type InputFile, type MemberFacts, type MemberSink, type Probe, type Sink } from '../contract/source.ts';
import { openVector, type VectorDataset, type VectorFeature, type VectorField, type VectorLayer, type VectorValue } from '../formats/vector.ts';
import { bytesAt } from '../formats/shapefile.ts';
import { isZip, type ZipArchive, type ZipEntry } from '../formats/zip.ts';

export interface VectorReading<K extends string> {
  /** Name of the staging table. The last column of this table is the geometry. */
  readonly table: string;
  /** Kind of geometry that a record must have. Single and multi-part geometries are accepted. */
  readonly geometry: keyof typeof TYPES;
  readonly columns: Omit<ExpectedColumns<K>, 'at'>;
  /** Types that the known files declare for each mapped column. Files in formats without declared types, such as GeoJSON, are not checked. */
  readonly types: Readonly<Record<K, VectorType | readonly VectorType[]>>;
  /**
   * True for a map of Europe. The reader skips records whose bounding box does not intersect the box of Italy, and counts these records as duplicates with the
   * code `beside_italy`.
   */
  readonly ofEurope?: true;
  /**
   * Converts a record to the values of the staging columns before the geometry, or to a reject.
   * @param fields values by the project's column names; null for a missing optional column @param layer name of the layer: the table of a GeoPackage or File
   * Geodatabase, otherwise the file name without extension
   */
  row(fields: Readonly<Record<K, VectorValue>>, layer: string): { readonly values: readonly unknown[] } | Refusal;
}

const VECTOR_FILE = /\.(?:shp|gpkg|geojson)$/i;
/** Number of bytes at the end of a GeoJSON in which the reader looks for the properties of a feature. */
const LAST_BYTES = 65_536;
/** Number of bytes of geometry, and number of records, after which the reader waits for the database. */
const DRAIN_BYTES = 1_048_576;
const DRAIN_RECORDS = 500;
/** EWKB geometry types of each kind, single and multi. */
const TYPES: Readonly<Record<'polygon' | 'line', readonly number[]>> = { polygon: [3, 6], line: [2, 5] };

/** Returns the paths of the vector files of a zip. */
function vectorEntries(entries: readonly ZipEntry[]): string[] {
  return entries.filter((entry) => !entry.isFolder && VECTOR_FILE.test(entry.path)).map((entry) => entry.path);
}

/** Returns the folders of File Geodatabases in a zip. Such a folder contains a catalogue of tables. */
export function geodatabaseFolders(entries: readonly ZipEntry[]): string[] {
  const catalogue = /^(.*\.gdb)\/a00000001\.gdbtable$/i;
  return entries.flatMap(({ path, isFolder }) => (isFolder ? [] : catalogue.exec(path)?.[1] ?? []));
}

/** Declared type of a column. */
type VectorType = 'text' | 'number' | 'date';

/** Reason why a layer is not read. */
export interface LayerAside {
  readonly aside: string;
}

/**
 * How to read a file's layers. For files with different layers, a function that returns how to read a layer, or why the layer is not read. The function returns
 * null for a layer with a different subject.
 */
type VectorReadings<K extends string> = VectorReading<K> | ((layer: VectorLayer) => VectorReading<K> | LayerAside | null);

/** Rules for the names of layers and files of a product that is published for several years. */
export interface LayerNames {
  /** Subject in messages, such as `land cover`. */
  readonly subject: string;
  /** Year to read. */
  readonly year: string;
  /** Matches the name of a map of one year. The first group is the year, with four or two digits. */
  readonly map: RegExp;
  /** Matches the name of a layer with changes between two years. */
  readonly changes: RegExp;
}

/** Returns the reason why a layer or file is not read, judging by the name. Null if the name contains the year to read or no year. */
export function whyAside(name: string, { subject, year, map, changes }: LayerNames): LayerAside | null {
  if (changes.test(name)) return { aside: `changes between two years; the ${subject} of ${year} is read` };
  const [, digits = year] = map.exec(name) ?? [];
  const found = digits.length === 4 ? digits : `${Number(digits) < 80 ? 20 : 19}${digits}`;
  return found === year ? null : { aside: `map of ${found}; the ${subject} of ${year} is read` };
}

/** Counts the layers that were read from a file, and collects descriptions of the ignored layers. */
class Layers {
  read = 0;
  readonly aside: string[] = [];

  /** Checks that a file has a layer to read. @throws input error `LAYER_MISSING` if no layer was read and at least one was ignored with a reason */
  check(at: string): void {
    if (this.read > 0 || this.aside.length === 0) return;
    throw inputError('the file has no layer that mappale reads', {
      code: 'LAYER_MISSING', at, detail: `expected a layer that mappale reads, found ${this.aside.slice(0, 5).join('; ')}`, hint: 'Remove this file from the folder, or download the file with the layer that mappale reads.',
    });
  }
}

/**
 * Streams the features of one vector file into the sink.
 * @param others names of further vector files in the same folder, which are read with a plain file. The layers of these files are separate members
 * @throws input errors of `openVector`; `COLUMNS_CHANGED`; `VECTOR_MISSING` for a zip without a vector file; `LAYER_MISSING` for a file without a spatial
 * layer, or if no layer is read and at least one layer is ignored with a reason
 */
export async function readVectorFile<K extends string>(file: InputFile, sink: Sink, reading: VectorReadings<K>, others: readonly string[] = []): Promise<void> {
  const layers = new Layers();
  if (!(await isZip(file.path))) {
    const progress = (share: number): void => sink.progress(share * file.size);
    await readDataset({ dataset: await openVector(file.path), facts: { path: '' }, progress }, sink, reading, layers);
    for (const name of others) {
      const dataset = await openVector(join(dirname(file.path), name));
      await readDataset({ dataset, facts: { path: name }, progress: () => progress(1) }, sink, reading, layers);
    }
    layers.check(file.name);
    return;
  }
  const zip = await file.zip();
  try {
    const paths = [...vectorEntries(zip.entries), ...geodatabaseFolders(zip.entries)];
    if (paths.length === 0) {
      const found = zip.entries.map((entry) => entry.path).slice(0, 5).join(', ') || 'nothing';
      throw inputError('the zip contains no vector file', { code: 'VECTOR_MISSING', at: file.name, detail: `expected .shp, .gpkg, .geojson or a .gdb folder, found ${found}`, hint: 'Use the downloaded zip, unchanged.' });
    }
    let before = 0;
    for (const path of paths) {
      const parts = partsOf(zip, path);
      const crc32 = parts.reduce((crc, part) => (Math.imul(crc, 31) + part.crc32) >>> 0, 0);
      const size = parts.find((part) => part.path === path)?.size ?? parts.reduce((sum, part) => sum + part.size, 0);
      const facts = { path, crc32, size };
      const start = before;
      const weight = parts.reduce((sum, part) => sum + part.compressedSize, 0);
      const progress = (share: number): void => sink.progress(start + share * weight);
      before += weight;
      // A file other than a GeoPackage or geodatabase has one layer with the file's name. If this layer can be reused, the reader does not unpack the file.
      if (!/\.(?:gpkg|gdb)$/i.test(path) && (await sink.reuse(facts))) {
        layers.read += 1;
        continue;
      }
      await readDataset({ dataset: await openVector({ zip, entry: path }), facts, progress }, sink, reading, layers);
    }
    layers.check(file.name);
  } finally {
    await zip.close();
  }
}

/** Returns the zip entries of one vector file: the entry with all its sidecars, or all files in a geodatabase folder. */
function partsOf(zip: ZipArchive, path: string): ZipEntry[] {
  if (/\.gdb$/i.test(path)) return zip.entries.filter((entry) => entry.path.startsWith(`${path}/`));
  const stem = path.replace(VECTOR_FILE, '.').toLowerCase();
  return zip.entries.filter((entry) => entry.path.toLowerCase().startsWith(stem) && !entry.path.slice(stem.length).includes('/'));
}

interface OpenMember {
  readonly dataset: VectorDataset;
  readonly facts: MemberFacts;
  /** Receives the share of the dataset's features that were read, from 0 to 1. */
  readonly progress: (share: number) => void;
}

async function readDataset<K extends string>(
  { dataset, facts, progress }: OpenMember, sink: Sink, readings: VectorReadings<K>, counted: Layers,
): Promise<void> {
  try {
    // Ignores tables without geometry, such as the styles and metadata of a GeoPackage.
    const layers = dataset.layers.filter((layer) => layer.spatial);
    if (layers.length === 0) {
      const found = dataset.layers.map((layer) => layer.name).join(', ') || 'no layer';
      throw inputError('the vector file has no layer with geometry', {
        code: 'LAYER_MISSING', at: dataset.label, detail: `expected a layer of features, found ${found}`,
        hint: 'The file is truncated or damaged, or is not the expected file. Download the file again.',
      });
    }
    const chosen = layers.map((layer) => ({ layer, reading: typeof readings === 'function' ? readings(layer) : readings }));
    const total = chosen.reduce((sum, { layer, reading }) => (reading === null || 'aside' in reading ? sum : sum + layer.featureCount), 0);
    let before = 0;
    for (const { layer, reading } of chosen) {
      if (reading === null) continue;
      if ('aside' in reading) {
        counted.aside.push(`${layer.name} (${reading.aside})`);
        sink.aside?.(layers.length === 1 ? facts.path : `${facts.path}#${layer.name}`, reading.aside);
        continue;
      }
      counted.read += 1;
      const start = before;
      before += layer.featureCount;
      const own = layers.length === 1 ? facts : { ...facts, path: `${facts.path}#${layer.name}` };
      if (layers.length > 1 && (await sink.reuse(own))) continue;
      const member = await sink.member(own);
      const place = placing(layer, member, reading, UNDECLARED.test(dataset.label) ? 'free' : 'declared');
      let bytes = 0;
      let undrained = 0;
      let records = 0;
      for await (const feature of dataset.features(layer)) {
        place(feature);
        bytes += feature.ewkb?.length ?? 0;
        records += 1;
        undrained += 1;
        if (bytes < DRAIN_BYTES && undrained < DRAIN_RECORDS) continue;
        progress((start + records) / total);
        [bytes, undrained] = [0, 0];
        await member.drain();
      }
      progress(total === 0 ? 1 : (start + records) / total);
      await member.close(layer.featureCount);
    }
  } finally {
    await dataset.close();
  }
}

/** Matches paths of files in formats that do not declare column types. */
const UNDECLARED = /\.(?:geojson|json|kml)$/i;
const TYPE_NAMES: Readonly<Record<VectorField['type'], VectorType | 'other'>> = { string: 'text', integer: 'number', real: 'number', date: 'date', datetime: 'date', other: 'other' };

/** Refuses a file that declares a different type for a mapped column. @throws input error `COLUMNS_CHANGED` */
function refuseRetyped<K extends string>(layer: VectorLayer, columns: readonly (readonly [K, number])[], types: VectorReading<K>['types']): void {
  const retyped = columns.flatMap(([key, index]) => {
    const field = layer.fields[index];
    const expected = [types[key]].flat() as readonly VectorType[];
    if (field === undefined || (expected as readonly string[]).includes(TYPE_NAMES[field.type])) return [];
    return [`"${field.name}" as ${expected.join(' or ')}, found it as ${TYPE_NAMES[field.type]}`];
  });
  if (retyped.length > 0) throw columnsChanged(layer.at, `expected ${retyped.join('; ')}`);
}

/**
 * Returns a function that writes a feature as a row, or rejects the feature. @param types `declared` if the format declares column types; `free` if each value
 * may have a different type
 */
function placing<K extends string>(layer: VectorLayer, member: MemberSink, reading: VectorReading<K>, types: 'declared' | 'free'): (feature: VectorFeature) => void {
  const names = layer.fields.map((field) => field.name);
  const found = expectColumns(names, { ...reading.columns, at: layer.at });
  const columns = Object.entries(found.indexes) as [K, number][];
  if (types === 'declared') refuseRetyped(layer, columns, reading.types);
  found.reportTo(member);
  return (feature) => {
    const { position, properties, ewkb } = feature;
    found.sample((index) => properties[names[index] ?? '']);
    const refusal = geometryRefusal(feature, reading);
    if (refusal === 'outside') return member.duplicate(position, 'beside_italy');
    const fields = (): Record<K, VectorValue> =>
      Object.fromEntries(columns.map(([key, index]) => [key, properties[names[index] ?? ''] ?? null])) as Record<K, VectorValue>;
    const row = refusal ?? reading.row(fields(), layer.name);
    if ('code' in row) member.reject({ position, ...row, raw: JSON.stringify(properties) });
    else member.row(reading.table, position, [...row.values, ewkb]);
  };
}

/** Returns the reason for refusing a geometry, or null for a usable geometry. Returns `outside` for a geometry outside Italy in a map of Europe. */
function geometryRefusal(
  { ewkb, geometryError }: VectorFeature, { geometry: kind, ofEurope }: Pick<VectorReading<string>, 'geometry' | 'ofEurope'>,
): Refusal | 'outside' | null {
  if (geometryError !== null) return { code: 'geometry_unreadable', message: `expected a geometry, found: ${geometryError}` };
  if (ewkb === null) return { code: 'geometry_missing', message: `expected a ${kind}, found no geometry` };
  const type = ewkb.readUInt32LE(1) & 0xff;
  if (!TYPES[kind].includes(type)) return { code: `geometry_not_${kind}`, message: `expected a ${kind} or several, found geometry type ${type}` };
  if (ewkb.readUInt32LE(9) === 0) return { code: 'geometry_empty', message: `expected a ${kind}, found an empty one` };
  if (ofEurope) return noDataAmong(ewkb) ?? placeInEurope(ewkb);
  return isInDegrees(ewkb.readUInt32LE(5)) ? geometryOutsideItaly(ewkb) : noDataAmong(ewkb) ?? metresMisplaced(ewkb);
}

// --- recognising ---------------------------------------------------------------------------------------------------

export interface VectorLook {
  /** Path inside the zip; name of the file if the file is not in a zip. */
  readonly path: string;
  /** Field names from a shapefile's .dbf, normalised by `normaliseHeader`; null for other formats, or without a .dbf. */
  readonly fields: readonly string[] | null;
  /** Date of the last change according to the header of a shapefile's .dbf, such as `2021-03-23`; null without such a date. */
  readonly changed: string | null;
  /** First bytes of the file. For a GeoPackage, these bytes contain the column names. */
  readonly head: Buffer;
  /**
   * Normalised property names of a GeoJSON feature; null for other formats, or if neither the first bytes nor, outside a zip, the last bytes contain the
   * properties of a feature.
   */
  readonly properties: readonly string[] | null;
}

/**
 * Returns whether a vector file has a column with this normalised name, according to the .dbf of a shapefile, the properties of a GeoJSON feature or the first
 * bytes of a GeoPackage.
 */
export function hasColumn({ fields, properties, path, head }: VectorLook, column: string): boolean {
  return (fields ?? properties)?.includes(column) ?? (/\.gpkg$/i.test(path) && new RegExp(`\\b${column}\\b`, 'i').test(head.toString('latin1')));
}

const isFeatureCollection = (head: Buffer): boolean => /^\s*(?:\uFEFF)?\{[^]{0,4096}"FeatureCollection"/.test(head.toString('utf8', 0, 8192));

/**
 * Returns the normalised property names of a feature in the first or last bytes of a GeoJSON, or null. The first bytes may end inside a geometry, because
 * services write the properties after the geometry.
 */
function propertiesOf(...texts: readonly string[]): string[] | null {
  for (const text of texts) {
    for (const [, members = ''] of text.matchAll(/"properties"\s*:\s*(\{[^{}]*\})\s*[,}]/g)) {
      try {
        const names = Object.keys(JSON.parse(members) as object);
        // Skips the properties of the CRS, which has only the property `name`.
        if (names.join() !== 'name') return names.map(normaliseHeader);
      } catch {
        // A brace inside a text makes the match incomplete JSON.
      }
    }
  }
  return null;
}

/**
 * Returns facts about the vector files in a probe; empty without vector files. Reads only the first bytes of each file, and the last bytes of a GeoJSON outside
 * a zip.
 */
export async function lookAtVectors(probe: Probe): Promise<VectorLook[]> {
  const { entries } = probe;
  const isPlain = VECTOR_FILE.test(probe.name) || (/\.json$/i.test(probe.name) && isFeatureCollection(probe.head));
  const paths = entries === null ? (isPlain ? [probe.name] : []) : vectorEntries(entries);
  const names = entries?.map(({ path }) => path) ?? probe.siblings;
  const headOf = (path: string): Promise<Buffer> => (entries === null ? probe.headOfSibling(path) : probe.headOf(path));
  const looks: VectorLook[] = [];
  for (const path of paths) {
    const dbf = names.find((name) => name.toLowerCase() === `${path.slice(0, -4).toLowerCase()}.dbf`);
    const table = dbf === undefined || !/\.shp$/i.test(path) ? null : await headOf(dbf);
    const head = entries === null ? probe.head : await probe.headOf(path);
    looks.push({
      path,
      fields: table === null ? null : dbfFields(table),
      changed: table === null ? null : dbfDay(table),
      head,
      properties: !/json$/i.test(path) ? null : propertiesOf(head.toString('utf8'), entries === null ? await lastText(probe) : ''),
    });
  }
  return looks;
}

/** Returns the last bytes of a plain file as text. */
async function lastText({ path, size }: Probe): Promise<string> {
  return (await bytesAt(path, Math.max(0, size - LAST_BYTES), Math.min(size, LAST_BYTES))).toString('utf8');
}

/** Returns the field names of a dBASE table. The list of field descriptors starts at byte 32 and ends with the byte 0x0D. Each descriptor has 32 bytes. */
function dbfFields(head: Buffer): string[] {
  const names: string[] = [];
  for (let at = 32; at + 32 <= head.length && head[at] !== 0x0d; at += 32) {
    const end = head.indexOf(0, at);
    names.push(normaliseHeader(head.toString('latin1', at, end === -1 || end > at + 11 ? at + 11 : end)));
  }
  return names;
}

/** Returns the date in the header of a dBASE table, or null for an invalid date. The header stores the year as a number of years since 1900. */
function dbfDay(head: Buffer): string | null {
  const [, years = 0, month = 0, day = 0] = head;
  const iso = [1900 + years, month, day].map((part) => String(part).padStart(2, '0')).join('-');
  return isDay(iso) ? iso : null;
}

/** Returns the names of the sidecars of a shapefile that is not in a zip. */
export function sidecarsOf(probe: Probe): string[] {
  if (!/\.shp$/i.test(probe.name)) return [];
  const stem = probe.name.slice(0, -4).toLowerCase();
  return probe.siblings.filter((name) => /\.(?:dbf|shx|prj|cpg|qix|qpj|sbn|sbx|xml)$/i.test(name) && name.toLowerCase().startsWith(`${stem}.`));
}

/**
 * Returns the year or years of an edition in a name: `…_2020_2021_…` → `2020_2021`, `…_2024_…` → `2024`.
 * @param title the publisher's words before the year. Other years in the name, such as the year of the download, are then ignored
 * @returns the first edition after the title, otherwise the last edition in the name; null if the name has no edition
 */
export function editionOf(name: string, title?: RegExp): string | null {
  const editions = (text: string): string[] => [...text.matchAll(/(?<!\d)(20\d\d)(?:[_-](20\d\d))?(?!\d)/g)].map((found) => found.slice(1).filter(Boolean).join('_'));
  const titled = title?.exec(name);
  return (titled == null ? undefined : editions(name.slice(titled.index + titled[0].length))[0]) ?? editions(name).at(-1) ?? null;
}

/** Returns the edition in the first name with the title, otherwise the edition in the first name with an edition; null if no name has an edition. */
export function editionAmong(names: readonly string[], title: RegExp): string | null {
  return [...names.filter((name) => title.test(name)), ...names].map((name) => editionOf(name, title)).find((edition) => edition !== null) ?? null;
}
