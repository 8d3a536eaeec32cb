/** Reads one of the four lists of schools, which are CSV with doubled quotes. */
import { addressValues } from '../../pipelines/address/point-address.ts';
import { expectColumns, fieldsOf, openCsv } from '../../pipelines/formats/csv.ts';
import type { InputFile, Sink } from '../../pipelines/contract/source.ts';
import { openFile } from '../../pipelines/readers/file-parts.ts';
import { refusalOf } from '../../pipelines/readers/refusal.ts';
import { manifest } from './manifest.ts';
import { COLUMNS, EDITIONS, school } from './schema.ts';

const BATCH = 1000;

/**
 * Reads the file as a stream. The position of a record is the number of its last line. @throws input errors `CSV_EMPTY`, `CSV_MALFORMED`,
 * `ENCODING_WRONG`, `COLUMNS_CHANGED`
 */
export async function read(file: InputFile, sink: Sink): Promise<void> {
  const reader = await openCsv(openFile(file, sink), { at: file.name, delimiter: ',' });
  try {
    const columns = expectColumns(reader.header, { mapped: COLUMNS, ignored: manifest.ignored, editions: EDITIONS[file.role] ?? {}, at: `${file.name}:${reader.headerLine}` });
    const member = await sink.member({ path: '', size: file.size, envelope: { before: `${reader.header.join(',')}\n`, after: '\n' } });
    columns.reportTo(member);
    let records = 0;
    for await (const { line, values, raw, problem } of reader.records()) {
      records += 1;
      const fields = fieldsOf(values, columns);
      const parsed = school.safeParse(fields);
      if (problem !== null) member.reject({ position: line, ...problem, raw });
      else if (parsed.success) {
        const { school_year, region, province, school_id, name, address, belfiore, comune, type } = parsed.data;
        member.row('raw_school', line, [file.role, school_year, region, province, school_id, name, address, belfiore, comune, type, ...addressValues(address, comune)]);
      } else member.reject({ position: line, ...refusalOf(fields, parsed.error), raw });
      if (records % BATCH === 0) await member.drain();
    }
    await member.close(records);
  } finally {
    reader.close();
  }
}
