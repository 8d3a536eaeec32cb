/** Reads one file of the operator: a table of comuni and postal codes (CSV, JSON), or polygons with a postal code. */
import { expectColumns, fieldsOf, normaliseHeader, openCsv, type ExpectedColumns } from '../../pipelines/formats/csv.ts';
import { jsonArray } from '../../pipelines/formats/json-array.ts';
import { withStart } from '../../pipelines/formats/streams.ts';
import { firstLine } from '../../pipelines/readers/head.ts';
import { firstIssue, refusalOf } from '../../pipelines/readers/refusal.ts';
import type { InputFile, MemberFacts, MemberSink, Sink } from '../../pipelines/contract/source.ts';
import { PropertyColumns } from '../../pipelines/readers/property-columns.ts';
import { readVectorFile } from '../../pipelines/readers/vector-members.ts';
import type { ZipArchive, ZipEntry } from '../../pipelines/formats/zip.ts';
import { partsOf } from '../../pipelines/readers/file-parts.ts';
import { manifest } from './manifest.ts';
import { ALIASES, cap, pair } from './schema.ts';

/**
 * Columns that the reader ignores, by name. If a table has a code under several accepted names, the reader uses the name that comes first in ALIASES and
 * ignores the others.
 */
const IGNORED: Readonly<Record<string, string>> = {
  ...manifest.ignored, ...Object.fromEntries(Object.values(ALIASES).flat().map((name) => [name, 'another name of a column that the reader uses'])),
};

export type Delimiter = ';' | ',' | '\t' | '|';

/** Returns the delimiter that divides a header line into the largest number of cells. */
export function delimiterOf(line: string): Delimiter {
  const delimiters = [';', ',', '\t', '|'] as const;
  return delimiters.reduce((best, each) => (line.split(each).length > line.split(best).length ? each : best));
}

/** Returns the column name of each field in this table. If the table has several accepted names of a field, the name that comes first in ALIASES is used. */
export function columnsOf(names: readonly string[]): Partial<Record<keyof typeof ALIASES, string>> {
  const found: Partial<Record<keyof typeof ALIASES, string>> = {};
  for (const [key, aliases] of Object.entries(ALIASES) as [keyof typeof ALIASES, readonly string[]][]) {
    const alias = aliases.find((each) => names.includes(each));
    if (alias !== undefined) found[key] = alias;
  }
  return found;
}

export async function read(file: InputFile, sink: Sink): Promise<void> {
  if (file.role === 'areas') {
    return readVectorFile(file, sink, {
      table: 'raw_postal_code_area',
      geometry: 'polygon',
      columns: { mapped: { cap: ALIASES.cap }, ignored: IGNORED, mayLack: manifest.optional },
      types: { cap: ['text', 'number'] },
      row(fields) {
        const parsed = cap.safeParse(fields.cap);
        if (!parsed.success) return { code: 'cap_invalid', message: `cap: ${firstIssue(parsed.error).message}, found ${JSON.stringify(fields.cap)}` };
        return { values: [file.vintage, parsed.data] };
      },
    });
  }
  const [read, name] = file.role === 'json' ? [readJson, /\.json$/i] : [readCsv, /\.(?:csv|txt)$/i];
  const table = (zip: ZipArchive): readonly ZipEntry[] => {
    const entry = zip.entries.find(({ path }) => name.test(path));
    if (entry === undefined) throw new Error(`${file.name} has no table`);
    return [entry];
  };
  for await (const { facts, at, open } of partsOf(file, sink, table)) await read(await open(), facts, at, file, sink);
}

/** Stores one pair of a comune and a postal code, or rejects the pair. The caller counts the records. */
function place(member: MemberSink, position: number, edition: string, fields: { cap: unknown; belfiore: unknown; istat_code: unknown }, raw: string): void {
  const parsed = pair.safeParse(fields);
  if (parsed.success) member.row('raw_postal_code', position, [edition, parsed.data.belfiore, parsed.data.istat_code, parsed.data.cap]);
  else member.reject({ position, ...refusalOf(fields, parsed.error), raw });
}

/**
 * Returns the expected columns of a table.
 * @param used column name in the table for each field
 */
function expectedOf(used: ReturnType<typeof columnsOf>, at: string): ExpectedColumns<keyof typeof ALIASES> {
  const mapped = { cap: used.cap ?? ALIASES.cap, belfiore: used.belfiore ?? ALIASES.belfiore, istat_code: used.istat_code ?? ALIASES.istat_code };
  // One of the two codes of the comune is enough.
  const hasCode = used.belfiore !== undefined || used.istat_code !== undefined;
  return { mapped, optional: hasCode ? ['belfiore', 'istat_code'] : [], ignored: IGNORED, mayLack: manifest.optional, at };
}

async function readCsv(stream: AsyncIterable<Buffer>, facts: MemberFacts, at: string, file: InputFile, sink: Sink): Promise<void> {
  const { start, all } = await withStart(stream, { most: 1 });
  const delimiter = delimiterOf(firstLine(Buffer.concat(start).toString('latin1')));
  const reader = await openCsv(all, { at, delimiter });
  const used = columnsOf(reader.header.map(normaliseHeader));
  const columns = expectColumns(reader.header, expectedOf(used, at));
  const member = await sink.member({ ...facts, envelope: { before: `${reader.header.join(delimiter)}\n`, after: '\n' } });
  columns.reportTo(member);
  let records = 0;
  for await (const { line, values, raw, problem } of reader.records()) {
    records += 1;
    if (problem !== null) member.reject({ position: line, ...problem, raw });
    else place(member, line, file.vintage, fieldsOf(values.map((value) => value.trim()), columns), raw);
    await member.drain();
  }
  await member.close(records);
}

/**
 * Reads a list of objects, one per comune or per pair. The value of `cap` may be a list. Each pair is a record. All objects together determine the expected
 * columns, and an object without a postal code or without a code of the comune is rejected.
 */
async function readJson(stream: AsyncIterable<Buffer>, facts: MemberFacts, at: string, file: InputFile, sink: Sink): Promise<void> {
  const member = await sink.member({ ...facts, envelope: { before: '[', after: ']' } });
  let position = 0;
  const columns = new PropertyColumns((names) => expectedOf(columnsOf(names.map(normaliseHeader)), at), member);
  for await (const item of jsonArray(stream, at)) {
    const object = typeof item === 'object' && item !== null ? (item as Record<string, unknown>) : {};
    const names = new Map(Object.keys(object).map((name) => [normaliseHeader(name), name]));
    const used = columnsOf([...names.keys()]);
    columns.take(Object.keys(object), (index) => Object.values(object)[index]);
    const value = (key: keyof typeof ALIASES): unknown => (used[key] === undefined ? null : object[names.get(used[key]) ?? '']);
    const caps = value('cap');
    for (const each of Array.isArray(caps) && caps.length > 0 ? (caps as unknown[]) : [Array.isArray(caps) ? null : caps]) {
      position += 1;
      place(member, position, file.vintage, { cap: each, belfiore: value('belfiore'), istat_code: value('istat_code') }, JSON.stringify(item));
    }
    await member.drain();
  }
  columns.end();
  await member.close(position);
}
