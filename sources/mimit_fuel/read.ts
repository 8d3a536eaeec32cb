/** Reads the register of fuel stations: a line with the day, a header, then one line per station. The name of a station may contain the separator. */
import { addressValues } from '../../pipelines/address/point-address.ts';
import { expectColumns, fieldsOf, type FoundColumns } from '../../pipelines/formats/csv.ts';
import { regionOfPlate } from '../../pipelines/contract/regions.ts';
import { TableEnd } from '../../pipelines/formats/table-end.ts';
import { inputError, type InputFile, type Sink } from '../../pipelines/contract/source.ts';
import { cellsOf, linesOf } from '../../pipelines/readers/delimited-lines.ts';
import { openFile } from '../../pipelines/readers/file-parts.ts';
import { refusalOf } from '../../pipelines/readers/refusal.ts';
import { manifest } from './manifest.ts';
import { COLUMNS, EDITIONS, station } from './schema.ts';

const BATCH = 1000;

/** Returns the separator: `|` since February 2026, `;` in older files. */
export function separatorOf(header: string): '|' | ';' {
  return header.includes('|') ? '|' : ';';
}

/**
 * Returns the cells of a record. The publisher writes no quotes around cells, but a spreadsheet program writes quotes around a cell that contains the
 * separator. Otherwise, only the name of the station may contain the separator.
 * @param cells texts between the separators of the line
 * @param name index of the name
 * @returns one cell for each column, or null if the line has fewer cells than the header
 */
function recordOf(
  line: string, cells: readonly string[], { separator, width, name }: { readonly separator: '|' | ';'; readonly width: number; readonly name: number },
): readonly string[] | null {
  if (cells.length <= width) return cells.length < width ? null : cells;
  const quoted = cellsOf(line, separator);
  if (quoted.length === width) return quoted;
  const end = name + 1 + cells.length - width;
  return [...cells.slice(0, name), cells.slice(name, end).join(separator), ...cells.slice(end)];
}

/**
 * Reads the file as a stream. The position of a record is its line number. The line with the day is line 1. @throws input errors `COLUMNS_CHANGED`,
 * `REGISTER_EMPTY`, `FILE_TRUNCATED`
 */
export async function read(file: InputFile, sink: Sink): Promise<void> {
  const member = await sink.member({ path: '', size: file.size });
  let columns: FoundColumns<keyof typeof COLUMNS> | null = null;
  let separator: '|' | ';' = '|';
  let width = 0;
  const end = new TableEnd();
  let records = 0;
  for await (const { number, text, isOpen } of linesOf(openFile(file, sink), file.name)) {
    if (number === 1) continue;
    if (columns === null) {
      separator = separatorOf(text);
      const header = text.split(separator);
      width = header.length;
      columns = expectColumns(header, { mapped: COLUMNS, ignored: manifest.ignored, editions: EDITIONS, at: `${file.name}:${number}` }).reportTo(member);
      continue;
    }
    records += 1;
    const cells = text.split(separator);
    end.take(cells, width, isOpen ? `${file.name}:${number}` : null);
    const values = recordOf(text, cells, { separator, width, name: columns.indexes.name });
    if (values === null) {
      member.reject({ position: number, code: 'column_count', message: `expected ${width} fields or more, found ${cells.length}`, raw: text });
      continue;
    }
    const fields = fieldsOf(values, columns);
    const parsed = station.safeParse(fields);
    if (parsed.success) {
      const { station_id, brand, type, name, address, comune, province, lat, lon } = parsed.data;
      member.row('raw_fuel_station', number, [station_id, brand, type, name, address, comune, province, regionOfPlate(province ?? ''), lat, lon, ...addressValues(address, comune)]);
    } else member.reject({ position: number, ...refusalOf(fields, parsed.error), raw: text });
    if (records % BATCH === 0) await member.drain();
  }
  if (columns === null) {
    throw inputError('the register of fuel stations has no header', { code: 'REGISTER_EMPTY', at: file.name, detail: 'expected a header in the second line, found none', hint: 'Download the file again.' });
  }
  await member.close(records);
}
