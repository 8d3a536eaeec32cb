/** Reads the list of pharmacies line by line: a header, then one line per pharmacy and period of validity. */
import { addressValues } from '../../pipelines/address/point-address.ts';
import { expectColumns, fieldsOf, type FoundColumns } from '../../pipelines/formats/csv.ts';
import { TableEnd } from '../../pipelines/formats/table-end.ts';
import { inputError, type InputFile, type Sink } from '../../pipelines/contract/source.ts';
import { cellsOf, linesOf } from '../../pipelines/readers/delimited-lines.ts';
import { openFile } from '../../pipelines/readers/file-parts.ts';
import { refusalOf } from '../../pipelines/readers/refusal.ts';
import { manifest } from './manifest.ts';
import { COLUMNS, EDITIONS, OPTIONAL, markEntities, pharmacy, withoutEntities } from './schema.ts';

const BATCH = 1000;

/**
 * Reads the file as a stream. The position of a record is its line number. The header is line 1. @throws input errors `COLUMNS_CHANGED`, `LIST_EMPTY`,
 * `FILE_TRUNCATED`
 */
export async function read(file: InputFile, sink: Sink): Promise<void> {
  const member = await sink.member({ path: '', size: file.size });
  let columns: FoundColumns<keyof typeof COLUMNS> | null = null;
  let width = 0;
  const end = new TableEnd();
  let records = 0;
  for await (const { number, text, isOpen } of linesOf(openFile(file, sink), file.name)) {
    const cells = cellsOf(markEntities(text), ';').map(withoutEntities);
    if (columns === null) {
      columns = expectColumns(cells, { mapped: COLUMNS, optional: OPTIONAL, ignored: manifest.ignored, editions: EDITIONS, at: `${file.name}:${number}` }).reportTo(member);
      width = cells.length;
      continue;
    }
    records += 1;
    end.take(cells, width, isOpen ? `${file.name}:${number}` : null);
    if (cells.length !== width) {
      member.reject({ position: number, code: 'column_count', message: `expected ${width} fields, found ${cells.length}`, raw: text });
      continue;
    }
    const fields = fieldsOf(cells, columns);
    const parsed = pharmacy.safeParse(fields);
    if (parsed.success) {
      const { pharmacy_id, name, address, istat_code, comune, type, opened_on, closed_on, lat, lon } = parsed.data;
      const open = closed_on === null || closed_on > file.vintage;
      member.row('raw_pharmacy', number, [pharmacy_id, name, address, istat_code, comune, type, opened_on, closed_on, open, lat, lon, ...addressValues(address, comune)]);
    } else member.reject({ position: number, ...refusalOf(fields, parsed.error), raw: text });
    if (records % BATCH === 0) await member.drain();
  }
  if (columns === null) {
    throw inputError('the list of pharmacies has no header', { code: 'LIST_EMPTY', at: file.name, detail: 'expected a header line, found none', hint: 'Download the file again.' });
  }
  await member.close(records);
}
