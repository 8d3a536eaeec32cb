/** The list of comuni in force: who has which code, in the cadastre, in statistics and formerly. */
import { peekRows, resembles } from '../../pipelines/kit/csv.ts';
import { readCsvRows } from '../../pipelines/kit/csv-rows.ts';
import { isWhole, type WholeName } from '../../pipelines/kit/packaging.ts';
import { defineSource, type Columns, type InputFile, type Probe, type Recognition, type Sink } from '../../pipelines/kit/source.ts';
import { manifest } from './manifest.ts';
import { COLUMNS, EDITIONS, OPTIONAL, schema } from './schema.ts';

/** `Elenco-comuni-italiani`, with the day that an operator adds; another word names a part. */
const WHOLE: WholeName = { whole: /^Elenco[-_ ]comuni[-_ ]italiani(?:[-_ ]*(?:al|del|\d+))*$/i, stated: /^Elenco[-_ ]comuni/i };

const raw_comune: Columns = {
  region_code: 'int2',
  province_code: 'text',
  province_historic_code: 'text',
  istat_code: 'text',
  name: 'text',
  name_other: 'text',
  region_name: 'text',
  province_name: 'text',
  province_type: 'int2',
  capoluogo: 'bool',
  sigla: 'text',
  code_107_2017: 'text',
  code_110: 'text',
  code_107: 'text',
  code_103: 'text',
  belfiore: 'text',
};

export default defineSource({
  manifest,
  names: [/^Elenco-comuni-italiani[^/]*\.csv$/i],
  tables: { raw_comune },
  keys: { raw_comune: ['belfiore', 'istat_code'] },

  async recognise(probe: Probe): Promise<Recognition | null> {
    if (probe.entries !== null) return null;
    const [header = []] = peekRows(probe.head, ';', 1);
    if (!resembles(header, EDITIONS)) return null;
    return { role: 'elenco', vintage: vintageOf(probe.name, header), region: null, complete: isWhole([probe.name], WHOLE) };
  },

  read(file: InputFile, sink: Sink): Promise<void> {
    return readCsvRows(file, sink, {
      table: 'raw_comune', columns: raw_comune, schema, mapped: COLUMNS, optional: OPTIONAL, ignored: manifest.ignored, editions: EDITIONS, delimiter: ';', encoding: 'detect',
    });
  },
});

/** The manifest's vintage rule. */
function vintageOf(name: string, header: readonly string[]): string {
  const day = /(20\d\d)[-_.]?(0[1-9]|1[0-2])[-_.]?(0[1-9]|[12]\d|3[01])(?!\d)/.exec(name);
  if (day !== null) return `${day[1]}-${day[2]}-${day[3]}`;
  const year = /(?<!\d)(20\d\d)(?!\d)/.exec(name);
  if (year !== null) return year[1]!;
  const closed = [...header.join(';').matchAll(/dal \d{4} al (\d{4})/g)].map((match) => Number(match[1]));
  return String(closed.length === 0 ? 2000 : Math.max(...closed) + 1);
}
