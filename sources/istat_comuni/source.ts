/** Reads the list of current comuni with their codes in the cadastre, in statistics and in former numberings. */
import { normaliseHeader, peekRows, resembles } from '../../pipelines/formats/csv.ts';
import { readCsvRows } from '../../pipelines/readers/csv-rows.ts';
import { peekWorkbook, readXlsxRows } from '../../pipelines/readers/xlsx-rows.ts';
import { isZip } from '../../pipelines/formats/zip.ts';
import { isWhole, workbookDate, type WholeName } from '../../pipelines/readers/packaging.ts';
import { defineSource, type Columns, type InputFile, type Probe, type Recognition, type Sink } from '../../pipelines/contract/source.ts';
import { layers } from './layers.ts';
import { manifest } from './manifest.ts';
import { COLUMNS, EDITIONS, OPTIONAL, schema } from './schema.ts';

/** Name `Elenco-comuni-italiani`, with or without a date that the user added. A file with any other word in its name contains a part of the list. */
const WHOLE: WholeName = { whole: /^Elenco[-_ ]comuni[-_ ]italiani(?:[-_ ]*(?:al|del|\d))*$/i, stated: /^Elenco[-_ ]comuni/i };

const raw_comune: Columns = {
  region_code: 'int2 not null',
  province_code: 'text not null',
  province_historic_code: 'text not null',
  istat_code: 'text not null',
  name: 'text not null',
  name_other: 'text',
  region_name: 'text not null',
  province_name: 'text not null',
  province_type: 'int2 not null',
  capoluogo: 'bool not null',
  sigla: 'text not null',
  code_107_2017: 'text',
  code_110: 'text',
  code_107: 'text',
  code_103: 'text',
  belfiore: 'text not null',
};

/** Returns whether this is the header of an edition before 2021. In such an edition, the names of the NUTS columns have no year, or the year 2010. */
function isBefore2021(header: readonly string[]): boolean {
  const nuts = header.map(normaliseHeader).filter((name) => name.includes('nuts'));
  return nuts.length > 0 && nuts.every((name) => !/20(?!10)\d\d/.test(name));
}

const BEFORE_2021: Recognition = {
  role: 'old', vintage: '0000', region: null, complete: false,
  ignored: 'the file is an edition of the list of comuni from before 2021, which has other columns; use the current list',
};

export default defineSource({
  manifest,
  names: [/^Elenco-comuni-italiani[^/]*\.(?:csv|xlsx)$/i],
  tables: { raw_comune },
  layers,
  repeats: { raw_comune: 'comune_repeated' },
  keys: { raw_comune: ['belfiore', 'istat_code'] },

  async recognise(probe: Probe): Promise<Recognition | null> {
    const complete = isWhole([probe.name], WHOLE);
    if (probe.entries !== null) {
      const found = await peekWorkbook(probe, EDITIONS);
      if (found === null) return null;
      if (isBefore2021(found.header)) return BEFORE_2021;
      const dated = await workbookDate(probe);
      return { role: 'elenco', vintage: vintageOf([found.sheets, probe.name], found.header), region: null, complete, ...(dated === undefined ? {} : { dated }) };
    }
    const [header = []] = peekRows(probe.head, ';', 1);
    if (!resembles(header, EDITIONS)) return null;
    return isBefore2021(header) ? BEFORE_2021 : { role: 'elenco', vintage: vintageOf([probe.name], header), region: null, complete };
  },

  async read(file: InputFile, sink: Sink): Promise<void> {
    const options = { table: 'raw_comune', columns: raw_comune, schema, mapped: COLUMNS, optional: OPTIONAL, ignored: manifest.ignored, editions: EDITIONS } as const;
    await ((await isZip(file.path)) ? readXlsxRows(file, sink, options) : readCsvRows(file, sink, { ...options, delimiter: ';' }));
  },
});

/** Returns the vintage according to the rule in the manifest. */
function vintageOf(names: readonly string[], header: readonly string[]): string {
  for (const name of names) {
    const day = /(?<!\d)(20\d\d)[-_.]?(0[1-9]|1[0-2])[-_.]?(0[1-9]|[12]\d|3[01])(?!\d)/.exec(name);
    if (day !== null) return day.slice(1).join('-');
    const italian = /(?<!\d)(0[1-9]|[12]\d|3[01])[-_.](0[1-9]|1[0-2])[-_.](20\d\d)(?!\d)/.exec(name);
    if (italian !== null) return italian.slice(1).reverse().join('-');
  }
  const year = names.map((name) => /(?<!\d)(20\d\d)(?!\d)/.exec(name)?.[1]).find((found) => found !== undefined);
  if (year !== undefined) return year;
  const text = header.join(';');
  const closed = [...text.matchAll(/dal \d{4} al (\d{4})/g)].map((match) => Number(match[1]) + 1);
  const statistical = [...text.matchAll(/NUTS\d (20\d\d)/gi)].map((match) => Number(match[1]));
  return String(Math.max(2000, ...closed, ...statistical));
}
