/** Reads places of culture from CSV: the result of a query, or the ministry's list. */
import { comuneKey } from '../../pipelines/address/normalise.ts';
import { addressValues } from '../../pipelines/address/point-address.ts';
import { expectColumns, fieldsOf, openCsv, resembles, type CsvOptions } from '../../pipelines/formats/csv.ts';
import { withStart } from '../../pipelines/formats/streams.ts';
import { firstLine } from '../../pipelines/readers/head.ts';
import { regionOfPlate } from '../../pipelines/contract/regions.ts';
import type { InputFile, Sink } from '../../pipelines/contract/source.ts';
import { openFile } from '../../pipelines/readers/file-parts.ts';
import { refusalOf } from '../../pipelines/readers/refusal.ts';
import { manifest } from './manifest.ts';
import { ANSWER, COLUMNS, OPTIONAL, place, PUBLISHED } from './schema.ts';

const BATCH = 1000;

/** Returns the delimiter: a semicolon if the first line contains a semicolon, as in files from spreadsheets, otherwise a comma. */
export function delimiterOf(text: string): CsvOptions['delimiter'] {
  return firstLine(text).includes(';') ? ';' : ',';
}

/** Pattern of the postal code and the province, which surround the comune in `Via Roma, 12 - 86100 Campobasso (CB)`. */
const AROUND_COMUNE = /(?<!\d)\d{5}(?!\d)|\([A-Za-z]{2}\)/g;

/** Returns the address without the comune at its end. Returns an address that does not end with the comune unchanged. */
function streetOf(address: string | null, comune: string | null): string | null {
  const key = comuneKey(comune ?? '');
  if (address === null || key === '') return address;
  const end = [...address.matchAll(/\s[-–]\s|,/g)].find(({ index, 0: mark }) => comuneKey(address.slice(index + mark.length).replace(AROUND_COMUNE, ' ')) === key);
  return end === undefined ? address : address.slice(0, end.index);
}

/**
 * Reads the file as a stream. The position of a record is the number of its last line. @throws input errors `CSV_EMPTY`, `CSV_MALFORMED`,
 * `ENCODING_WRONG`, `COLUMNS_CHANGED`
 */
export async function read(file: InputFile, sink: Sink): Promise<void> {
  const { start, all } = await withStart(openFile(file, sink), { most: 1 });
  const delimiter = delimiterOf(Buffer.concat(start).toString('latin1'));
  const reader = await openCsv(all, { at: file.name, delimiter });
  const { header } = reader;
  const editions = [ANSWER, PUBLISHED].find((each) => resembles(header, each));
  try {
    const columns = expectColumns(header, {
      mapped: COLUMNS, optional: OPTIONAL, ignored: manifest.ignored, mayLack: manifest.optional, at: `${file.name}:${reader.headerLine}`, ...(editions === undefined ? {} : { editions }),
    });
    const member = await sink.member({ path: '', size: file.size, envelope: { before: `${header.join(delimiter)}\n`, after: '\n' } });
    columns.reportTo(member);
    let records = 0;
    for await (const { line, values, raw, problem } of reader.records()) {
      records += 1;
      const fields = fieldsOf(values, columns);
      const parsed = place.safeParse(fields);
      if (problem !== null) member.reject({ position: line, ...problem, raw });
      else if (parsed.success) {
        const { place_id, name, type, class: category, address, comune, province, lat, lon, catalog_code } = parsed.data;
        member.row('raw_cultural_place', line, [place_id, name, type, category, address, comune, province, regionOfPlate(province ?? ''), lat, lon, catalog_code, ...addressValues(streetOf(address, comune), comune)]);
      } else member.reject({ position: line, ...refusalOf(fields, parsed.error), raw });
      if (records % BATCH === 0) await member.drain();
    }
    await member.close(records);
  } finally {
    reader.close();
  }
}
