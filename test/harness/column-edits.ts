/** Adds, removes, renames and doubles a column in the bytes of a file, as a publisher would. */

export interface Edit {
  readonly kind: 'added' | 'removed' | 'renamed' | 'doubled';
  /** Index of the column; of an added one, its place. */
  readonly at: number;
  /** Name of an added or renamed column. */
  readonly name: string;
}

export interface Editable {
  readonly columns: readonly string[];
  edit(edit: Edit): Buffer;
}

/** Value of an added column. */
const VALUE = '7';

function edited<T>(cells: readonly T[], { kind, at }: Edit, added: T, renamed: T): T[] {
  const cell = cells[at] as T;
  switch (kind) {
    case 'added': return [...cells.slice(0, at), added, ...cells.slice(at)];
    case 'removed': return [...cells.slice(0, at), ...cells.slice(at + 1)];
    case 'renamed': return [...cells.slice(0, at), renamed, ...cells.slice(at + 1)];
    case 'doubled': return [...cells.slice(0, at + 1), cell, ...cells.slice(at + 1)];
  }
}

/** Divides at a separator outside quotes. */
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

/** A delimited text. The header is the first of three lines with four columns or more; each later line must have as many. */
export function editableText(content: Buffer): Editable | null {
  const text = content.toString('latin1');
  if (/[\u0000-\u0008]/.test(text.slice(0, 500)) || /^\s*[{[<]/.test(text)) return null;
  const top = text.split('\n').slice(0, 3);
  // The header has the most columns; a comma may lie in a value.
  const widest = [';', ',', '\t', '|'].map((each) => [each, Math.max(...top.map((line) => line.split(each).length))] as const).sort(([, a], [, b]) => b - a);
  const delimiter = widest[0]![0];
  for (const quotes of [true, false]) {
    const lines = divided(text, '\n', quotes);
    const first = lines.slice(0, 3).findIndex((line) => /[A-Za-z]/.test(line) && divided(line, delimiter, quotes).length >= 4);
    if (first === -1) continue;
    const columns = divided(lines[first]!.replace(/\r$/, ''), delimiter, quotes);
    // Some files end each line, and the header, with a delimiter.
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

/** A dBASE table: descriptors of 32 bytes, then records of fixed width. */
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
    edit(edit) {
      const descriptors = edited(fields, edit, named(added, edit.name), named(fields[edit.at] ?? added, edit.name));
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

function swappedCase(name: string): string {
  return name === name.toUpperCase() ? name.toLowerCase() : name.toUpperCase();
}

/** Properties of the features of a GeoJSON. */
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
      const changed = (properties: Record<string, unknown>): Record<string, unknown> => {
        const entries = edited(Object.entries(properties), edit, [edit.name, VALUE], [edit.name, properties[columns[edit.at] ?? '']]);
        // A JSON object has no name twice: the second copy differs in case.
        if (edit.kind === 'doubled') entries[edit.at + 1] = [swappedCase(columns[edit.at]!), entries[edit.at]![1]];
        return Object.fromEntries(entries);
      };
      const features = parsed.features!.map((feature) => ({ ...feature, properties: changed(feature.properties!) }));
      return Buffer.from(JSON.stringify({ ...parsed, features }));
    },
  };
}

/** Simple properties of the members of a GML: elements with text only. */
export function editableElements(content: Buffer, member: RegExp): Editable | null {
  const text = content.toString('latin1');
  const property = /<([A-Za-z]+:)([A-Za-z_]+)>([^<]*)<\/\1\2>/g;
  const propertiesOf = (inside: string): string[] => [...inside.matchAll(property)].filter(([, prefix]) => prefix !== 'gml:').map(([whole]) => whole);
  const members = text.match(member) ?? [];
  const nameOf = (element: string): string => /^<[A-Za-z]+:([A-Za-z_]+)/.exec(element)![1]!;
  const columns = propertiesOf(members[0] ?? '').map(nameOf);
  if (columns.length === 0 || !members.every((each) => propertiesOf(each).map(nameOf).join() === columns.join())) return null;
  return {
    columns,
    edit: (edit) => Buffer.from(text.replace(member, (each) => {
      const found = propertiesOf(each);
      const prefix = /^<([A-Za-z]+:)/.exec(found[0]!)![1]!;
      const renamed = (found[edit.at] ?? '').replaceAll(`${prefix}${columns[edit.at] ?? ''}>`, `${prefix}${edit.name}>`);
      const after = edited(found, edit, `<${prefix}${edit.name}>${VALUE}</${prefix}${edit.name}>`, renamed);
      const start = each.indexOf(found[0]!);
      const last = found.at(-1)!;
      const end = each.lastIndexOf(last) + last.length;
      // Elements between the properties, such as the geometry, are kept behind them.
      const others = found.reduce((rest, element) => rest.replace(element, ''), each.slice(start, end));
      return each.slice(0, start) + after.join('') + others + each.slice(end);
    }), 'latin1'),
  };
}

/** What can be edited of a file, by its name; null where nothing can. */
export function editable(name: string, content: Buffer): Editable | null {
  if (/\.(?:csv|txt)$/i.test(name)) return editableText(content);
  if (/\.dbf$/i.test(name)) return editableTable(content);
  if (/\.(?:geojson|json)$/i.test(name)) return editableFeatures(content);
  if (/\.gml$/i.test(name)) return editableElements(content, /<wfs:member>[^]*?<\/wfs:member>/g);
  return null;
}
