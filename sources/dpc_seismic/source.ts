/** Reads the classification that states the seismic zone of each comune. */
import { normaliseHeader, peekRows, resembles } from '../../pipelines/formats/csv.ts';
import { readCsvRows } from '../../pipelines/readers/csv-rows.ts';
import { peekWorkbook, readXlsxRows } from '../../pipelines/readers/xlsx-rows.ts';
import { isZip } from '../../pipelines/formats/zip.ts';
import { isWhole, workbookDate, type WholeName } from '../../pipelines/readers/packaging.ts';
import { defineSource, inputError, type Columns, type InputFile, type Probe, type Recognition, type Sink } from '../../pipelines/contract/source.ts';
import { layers } from './layers.ts';
import { manifest } from './manifest.ts';
import { COLUMNS, EDITIONS, OPTIONAL, schema } from './schema.ts';

/**
 * Names with the publisher's words and dates, such as `classificazione-sismica-aggiornata-maggio-2025` and `classificazione2024`. A file with any other word in
 * its name contains only a part of the list.
 */
const WHOLE: WholeName = {
  whole: /^classificazione(?:[-_ ]*(?:sismica|dei|aggiornata|aggiornamento|comuni|italiani|al|gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre|\d))*$/i,
  stated: /^classificazione/i,
};

const raw_seismic: Columns = {
  region_name: 'text not null',
  sigla: 'text',
  name: 'text not null',
  istat_code: 'text not null',
  label: 'text not null',
  zone: 'int2 not null',
};

export default defineSource({
  manifest,
  names: [/classificazione[-_ ]?(?:sismica)?[^/]*\d{4}[^/]*\.(?:csv|xlsx)$/i],
  tables: { raw_seismic },
  layers,
  repeats: { raw_seismic: 'comune_repeated' },
  keys: { raw_seismic: ['istat_code', 'label'] },

  async recognise(probe: Probe): Promise<Recognition | null> {
    const workbook = probe.entries === null ? null : await peekWorkbook(probe, EDITIONS);
    if (probe.entries !== null && workbook === null) return null;
    const header = workbook?.header ?? peekRows(probe.head, ';', 1)[0] ?? [];
    if (!resembles(header, EDITIONS)) return null;
    const zone = header.find((name) => /^classificazione(_\d{4})?$/.test(normaliseHeader(name)));
    const vintage = /(20\d\d)/.exec(zone ?? '')?.[1] ?? /(?<!\d)(20\d\d)(?!\d)/.exec(probe.name)?.[1];
    if (vintage === undefined) {
      throw inputError('the year of the seismic classification is unknown', {
        code: 'VINTAGE_MISSING', at: probe.name, detail: 'expected a year in the zone\'s column or in the file name, found none',
        hint: 'Give the file its original name, such as classificazione-sismica-2025.csv.',
      });
    }
    const dated = workbook === null ? undefined : await workbookDate(probe);
    return { role: 'comuni', vintage, region: null, complete: isWhole([probe.name], WHOLE), ...(dated === undefined ? {} : { dated }) };
  },

  async read(file: InputFile, sink: Sink): Promise<void> {
    const options = { table: 'raw_seismic', columns: raw_seismic, schema, mapped: COLUMNS, optional: OPTIONAL, ignored: manifest.ignored, editions: EDITIONS } as const;
    await ((await isZip(file.path)) ? readXlsxRows(file, sink, options) : readCsvRows(file, sink, { ...options, delimiter: ';' }));
  },
});
