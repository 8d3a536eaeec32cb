/** Adds, removes, renames, repeats and retypes a column in the bytes of a file, as a publisher might. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Workbook, type XlsxRow } from '../../pipelines/formats/xlsx.ts';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import { writeXlsx } from '../../pipelines/synthetic/xlsx-writer.ts';

export interface Edit {
  /** `retyped` declares the column as a date column. */
  readonly kind: 'added' | 'removed' | 'renamed' | 'doubled' | 'retyped';
  /** Index of the column, or the position of an added column. */
  readonly at: number;
  /** Name of an added or renamed column. */
  readonly name: string;
}

export interface Editable {
  readonly columns: readonly string[];
  /** Whether the format declares the type of each column. */
  readonly isTyped?: true;
  edit(edit: Edit): Buffer | Promise<Buffer>;
}

/** Value of an added column. */
export const VALUE = '7';

export function edited<T>(cells: readonly T[], { kind, at }: Edit, added: T, renamed: T): T[] {
  const cell = cells[at] as T;
  switch (kind) {
    case 'added': return [...cells.slice(0, at), added, ...cells.slice(at)];
    case 'removed': return [...cells.slice(0, at), ...cells.slice(at + 1)];
    case 'renamed': return [...cells.slice(0, at), renamed, ...cells.slice(at + 1)];
    case 'retyped': return [...cells];
    case 'doubled': return [...cells.slice(0, at + 1), cell, ...cells.slice(at + 1)];
  }
}

/** Splits a text at each separator outside quotes. */
function divided(text: string, separator: string, quotes: boolean): string[] {
  const parts: string[] = [];
  let start = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    if (quotes && text[at] === '"') quoted = !quoted;
    else if (text[at] === separator && !quoted) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, text.slice(start)];
}

/**
 * Returns the editable table of a delimited text, or null if the text has no such table. The header is among the first three lines. The header is the first
 * line with at least four columns, or else with the required number. Later lines must have the same number of columns, apart from empty cells at the end.
 */
function editableText(content: Buffer, leastColumns: number): Editable | null {
  const text = content.toString('latin1');
  if (/[\u0000-\u0008]/.test(text.slice(0, 500)) || /^\s*[{[<]/.test(text)) return null;
  const top = text.split('\n').slice(0, 3);
  // Uses the delimiter that gives the most columns, because a value may contain a comma.
  const widest = [';', ',', '\t', '|'].map((each) => [each, Math.max(...top.map((line) => line.split(each).length))] as const).sort(([, a], [, b]) => b - a);
  const delimiter = widest[0]![0];
  for (const quotes of [true, false]) {
    const lines = divided(text, '\n', quotes);
    const withColumns = (least: number): number => lines.slice(0, 3).findIndex((line) => /[A-Za-z]/.test(line) && divided(line, delimiter, quotes).length >= least);
    const first = withColumns(4) === -1 ? withColumns(leastColumns) : withColumns(4);
    if (first === -1) continue;
    const columns = divided(lines[first]!.replace(/\r$/, ''), delimiter, quotes);
    // Some files end each line, including the header, with a delimiter.
    while (columns.at(-1)?.trim() === '') columns.pop();
    const data = lines.slice(first + 1).filter((line) => line.trim() !== '');
    const cellsOf = data.map((line) => divided(line.replace(/\r$/, ''), delimiter, quotes));
    if (cellsOf.some((cells) => cells.length < columns.length || cells.slice(columns.length).some((cell) => cell !== ''))) continue;
    return {
      columns: columns.map((name) => name.replace(/"/g, '').replace('\u00ef\u00bb\u00bf', '')),
      edit: (edit) => Buffer.from(lines.map((line, index) => {
        if (index < first || line.trim() === '') return line;
        const end = line.endsWith('\r') ? '\r' : '';
        const cells = divided(line.slice(0, line.length - end.length), delimiter, quotes);
        const isHeader = line === lines[first];
        return `${edited(cells, edit, isHeader ? edit.name : VALUE, isHeader ? edit.name : cells[edit.at]!).join(delimiter)}${end}`;
      }).join('\n'), 'latin1'),
    };
  }
  return null;
}

/** Returns a copy of a dBASE field descriptor, with the type changed to date. */
function asDate(field: Buffer): Buffer {
  const copy = Buffer.from(field);
  copy.write('D', 11, 'latin1');
  return copy;
}

/** Returns an editable dBASE table. Such a table has field descriptors of 32 bytes, then records of fixed width. */
export function editableTable(dbf: Buffer): Editable {
  const [headerSize, recordSize] = [dbf.readUInt16LE(8), dbf.readUInt16LE(10)];
  const fields: Buffer[] = [];
  for (let at = 32; dbf[at] !== 0x0d; at += 32) fields.push(dbf.subarray(at, at + 32));
  const named = (field: Buffer, name: string): Buffer => Buffer.concat([Buffer.from(name.slice(0, 10).padEnd(11, '\0'), 'latin1'), field.subarray(11)]);
  const added = Buffer.alloc(32);
  added.write('C', 11, 'latin1');
  added[16] = 1;
  return {
    columns: fields.map((field) => field.toString('latin1', 0, 11).replace(/\0.*$/s, '')),
    isTyped: true,
    edit(edit) {
      const descriptors = edited(fields, edit, named(added, edit.name), named(fields[edit.at] ?? added, edit.name));
      if (edit.kind === 'retyped') descriptors[edit.at] = asDate(descriptors[edit.at]!);
      const header = Buffer.from(dbf.subarray(0, 32));
      header.writeUInt16LE(headerSize + 32 * (descriptors.length - fields.length), 8);
      header.writeUInt16LE(1 + descriptors.reduce((sum, field) => sum + field[16]!, 0), 10);
      const records: Buffer[] = [];
      for (let record = headerSize; record + recordSize <= dbf.length; record += recordSize) {
        let at = record + 1;
        const cells = fields.map((field) => dbf.subarray(at, at += field[16]!));
        records.push(dbf.subarray(record, record + 1), ...edited(cells, edit, Buffer.from(VALUE), cells[edit.at]!));
      }
      return Buffer.concat([header, ...descriptors, dbf.subarray(32 + 32 * fields.length, headerSize), ...records, Buffer.from([0x1a])]);
    },
  };
}

/** Returns the editable properties of the features of a GeoJSON file, or null if not all features have the same properties. */
export function editableFeatures(content: Buffer): Editable | null {
  let parsed: { features?: { properties: Record<string, unknown> | null }[] };
  try {
    parsed = JSON.parse(content.toString('utf8')) as typeof parsed;
  } catch {
    return null;
  }
  const columns = Object.keys(parsed.features?.[0]?.properties ?? {});
  if (columns.length === 0 || !parsed.features!.every(({ properties }) => Object.keys(properties ?? {}).join() === columns.join())) return null;
  return {
    columns,
    edit(edit) {
      const written = (properties: Record<string, unknown>): string => {
        const entries = edited(Object.entries(properties), edit, [edit.name, VALUE], [edit.name, properties[columns[edit.at] ?? '']]);
        return `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join()}}`;
      };
      // The edit is made as text, because a JavaScript object cannot have the same name twice.
      const features = parsed.features!.map(({ properties, ...feature }) => `${JSON.stringify(feature).slice(0, -1)},"properties":${written(properties!)}}`);
      return Buffer.from(`${JSON.stringify({ ...parsed, features: undefined }).slice(0, -1)},"features":[${features.join()}]}`);
    },
  };
}

/** Describes how records and properties are recognised in a document. */
interface Elements {
  /** Matches a record. */
  readonly record: RegExp;
  /** Matches a property in a record. */
  readonly property: RegExp;
  nameOf(property: string): string;
  renamed(property: string, from: string, to: string): string;
  /** Creates a property with this name and with the value that added columns get. @param like another property of the record */
  made(name: string, like: string): string;
}

const GML: Elements = {
  record: /<(wfs:member|gml:featureMember)>[^]*?<\/\1>/g,
  property: /<((?!gml:)[A-Za-z]+:)([A-Za-z_]+)>(?:[^]*?)<\/\1\2>/g,
  nameOf: (property) => /^<(?:[A-Za-z]+:)?([A-Za-z_]+)/.exec(property)![1]!,
  renamed: (property, from, to) => property.replace(`${from}>`, `${to}>`).replace(new RegExp(`${from}>$`), `${to}>`),
  made(name, like) {
    const prefix = /^<([A-Za-z]+:)/.exec(like)![1]!;
    return `<${prefix}${name}>${VALUE}</${prefix}${name}>`;
  },
};

const KML: Elements = {
  record: /<Placemark\b[^]*?<\/Placemark>/g,
  property: /<Data name="[^"]*">[^]*?<\/Data>/g,
  nameOf: (property) => /^<Data name="([^"]*)"/.exec(property)![1]!,
  renamed: (property, from, to) => property.replace(`"${from}"`, `"${to}"`),
  made: (name) => `<Data name="${name}"><value>${VALUE}</value></Data>`,
};

/** Returns the editable properties of the records of an XML document. Elements between the properties, such as a box, are moved after the last property. */
function editableElements(content: Buffer, { record, property, nameOf, renamed, made }: Elements): Editable | null {
  const text = content.toString('latin1');
  // The record's own element also matches the pattern of a property.
  const propertiesOf = (each: string): string[] => each.slice(each.indexOf('>') + 1).match(property) ?? [];
  const records = text.match(record) ?? [];
  const columns = propertiesOf(records[0] ?? '').map(nameOf);
  if (columns.length === 0 || !records.every((each) => propertiesOf(each).map(nameOf).join() === columns.join())) return null;
  return {
    columns,
    edit: (edit) => Buffer.from(text.replace(record, (each) => {
      const found = propertiesOf(each);
      const other = edit.at < found.length ? renamed(found[edit.at]!, columns[edit.at]!, edit.name) : '';
      const after = edited(found, edit, made(edit.name, found[0]!), other);
      const start = each.indexOf(found[0]!);
      const last = found.at(-1)!;
      const end = each.lastIndexOf(last) + last.length;
      const others = found.reduce((rest, element) => rest.replace(element, ''), each.slice(start, end));
      return each.slice(0, start) + after.join('') + others + each.slice(end);
    }), 'latin1'),
  };
}

/** Runs work in a temporary folder. */
async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'mappale-edit-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Returns the editable table of the first sheet that has a header of at least four columns, or null if no sheet has such a header. The edited file contains
 * only this sheet. Rows above the header stay unchanged.
 */
async function editableWorkbook(content: Buffer): Promise<Editable | null> {
  return inFolder(async (folder) => {
    const path = join(folder, 'before.xlsx');
    await writeFile(path, content);
    const archive = await ZipArchive.open(path);
    try {
      const workbook = await Workbook.open(archive);
      for (const { name, path: entry } of workbook.sheets) {
        const rows: XlsxRow[] = [];
        for await (const batch of workbook.rows({ name, path: entry })) rows.push(...batch.rows);
        const widest = Math.max(...rows.slice(0, 20).map(({ cells }) => cells.length));
        const header = rows.find(({ cells }) => cells.length === widest && cells.every((cell) => cell !== null));
        if (header === undefined || widest < 4) continue;
        return { columns: header.cells.map(String), edit: (edit) => inFolder((target) => editedSheet(join(target, basename(path)), name, rows, header, edit)) };
      }
      return null;
    } finally {
      await archive.close();
    }
  });
}

async function editedSheet(path: string, sheet: string, rows: readonly XlsxRow[], header: XlsxRow, edit: Edit): Promise<Buffer> {
  const last = rows.at(-1)!.number;
  const numbered = new Map(rows.map((row) => [row.number, row]));
  await writeXlsx(path, sheet, Array.from({ length: last }, (_, index) => {
    const { number, cells } = numbered.get(index + 1) ?? { number: 0, cells: [] };
    // Titles and footnotes have a single cell.
    if (number < header.number || cells.filter((cell) => cell !== null && cell !== '').length <= 1) return cells;
    const padded = header.cells.map((_cell, at) => cells[at] ?? null);
    return number === header.number ? edited(padded, edit, edit.name, edit.name) : edited(padded, edit, VALUE, padded[edit.at] ?? null);
  }));
  return readFile(path);
}

/** Returns the editable table of a file, or null if the name has no known format or the content has no editable table. */
export async function editable(name: string, content: Buffer): Promise<Editable | null> {
  // In a .txt file, a line of prose with a comma could be mistaken for a header of two columns.
  if (/\.(?:csv|txt)$/i.test(name)) return editableText(content, /\.txt$/i.test(name) ? 4 : 2);
  if (/\.dbf$/i.test(name)) return editableTable(content);
  if (/\.(?:geojson|json)$/i.test(name)) return editableFeatures(content);
  if (/\.gml$/i.test(name)) return editableElements(content, GML);
  if (/\.kml$/i.test(name)) return editableElements(content, KML);
  if (/\.xlsx$/i.test(name)) return editableWorkbook(content);
  return null;
}
