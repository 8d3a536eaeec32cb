/** Railway stations. */
import { defineSource, type Columns, type InputFile, type Probe, type Recognition, type Sink } from '../../pipelines/contract/source.ts';
import { peekRows, resembles } from '../../pipelines/formats/csv.ts';
import { readCsvRows } from '../../pipelines/readers/csv-rows.ts';
import { layers } from './layers.ts';
import { manifest } from './manifest.ts';
import { COLUMNS, EDITIONS, schema } from './schema.ts';

const raw_station: Columns = { station_code: 'text not null', name: 'text not null', latitude: 'float8 not null', longitude: 'float8 not null' };

export default defineSource({
  manifest,
  names: [/^stazioni_\d{4}\.csv$/i],
  tables: { raw_station },
  layers,
  keys: { raw_station: ['station_code'] },

  async recognise(probe: Probe): Promise<Recognition | null> {
    const year = /^stazioni_(\d{4})\.csv$/i.exec(probe.name)?.[1];
    const [header = []] = probe.entries === null ? peekRows(probe.head, ';', 1) : [];
    return year !== undefined && resembles(header, EDITIONS) ? { role: 'stazioni', vintage: year, region: null, complete: true } : null;
  },

  read(file: InputFile, sink: Sink): Promise<void> {
    return readCsvRows(file, sink, { table: 'raw_station', columns: raw_station, schema, mapped: COLUMNS, ignored: manifest.ignored, editions: EDITIONS, delimiter: ';' });
  },
});
