/** Reads the list of suppressed comuni, which maps former ISTAT codes to the codes of their successors. */
import { expectColumns, normaliseHeader, peekRows, resembles } from '../../pipelines/formats/csv.ts';
import { readCsvRows } from '../../pipelines/readers/csv-rows.ts';
import { isWhole, type WholeName } from '../../pipelines/readers/packaging.ts';
import { defineSource, inputError, type Columns, type InputFile, type Probe, type Recognition, type Sink } from '../../pipelines/contract/source.ts';
import { isoDate } from '../../pipelines/readers/iso-date.ts';
import { layers } from './layers.ts';
import { manifest } from './manifest.ts';
import { COLUMNS, EDITIONS, schema } from './schema.ts';

/** Names such as `comuni-soppressi` and `Elenco-comuni-soppressi_2024`. A file with any other word in its name contains a part of the list. */
const WHOLE: WholeName = { whole: /^(?:istat[-_ ])?(?:elenco[-_ ](?:dei[-_ ])?)?comuni[-_ ]soppressi(?:[-_ ]*(?:al|del|\d))*$/i, stated: /comuni[-_ ]soppressi/i };

const raw_suppressed: Columns = {
  istat_code: 'text not null',
  name: 'text not null',
  province_code: 'text not null',
  sigla: 'text not null',
  divided: 'bool not null',
  event_date: 'date not null',
  successor_istat_code: 'text',
  successor_name: 'text not null',
};

export default defineSource({
  manifest,
  names: [/comuni[-_ ]soppressi[^/]*\.csv$/i],
  tables: { raw_suppressed },
  layers,
  repeats: { raw_suppressed: 'event_repeated' },
  keys: { raw_suppressed: ['istat_code', 'event_date', 'successor_istat_code', 'successor_name'] },

  async recognise(probe: Probe): Promise<Recognition | null> {
    if (probe.entries !== null) return null;
    const [header = [], ...rows] = peekRows(probe.head, ';', Infinity);
    if (!resembles(header, EDITIONS)) return null;
    const at = header.map(normaliseHeader).indexOf(normaliseHeader(COLUMNS.event_date));
    if (at === -1) expectColumns(header, { mapped: COLUMNS, ignored: manifest.ignored, editions: EDITIONS, at: `${probe.name}:1` });
    const newest = rows.flatMap((row) => row[at] ?? []).map((cell) => isoDate(cell.trim())).filter((day) => day !== null).sort().at(-1);
    if (newest === undefined) {
      throw inputError('the list of suppressed comuni has no dated event', {
        code: 'VINTAGE_MISSING', at: probe.name, detail: 'expected a day DD/MM/YYYY in "Data evento", found none', hint: 'Download the file again.',
      });
    }
    return { role: 'soppressi', vintage: newest, region: null, complete: isWhole([probe.name], WHOLE) };
  },

  read(file: InputFile, sink: Sink): Promise<void> {
    return readCsvRows(file, sink, {
      table: 'raw_suppressed', columns: raw_suppressed, schema, mapped: COLUMNS, ignored: manifest.ignored, editions: EDITIONS, delimiter: ';',
    });
  },
});
