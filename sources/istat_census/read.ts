/** Reads the indicators from workbooks and CSV files, single or in a zip. `source.ts` reads the geometry. */
import { expectColumns, fieldsOf, openCsv, resembles, type CsvReader, type FoundColumns } from '../../pipelines/formats/csv.ts';
import { openEntry, openFile } from '../../pipelines/readers/file-parts.ts';
import { refusalOf, type Refusal } from '../../pipelines/readers/refusal.ts';
import { inputError, type Columns, type InputFile, type MemberSink, type Sink } from '../../pipelines/contract/source.ts';
import { Workbook, XlsxRowCounter } from '../../pipelines/formats/xlsx.ts';
import type { ZipArchive } from '../../pipelines/formats/zip.ts';
import { INDICATORS, INDICATOR_EDITIONS, SINCE_2023 } from './columns.ts';
import { manifest } from './manifest.ts';
import { indicatorRow } from './schema.ts';

/** Staging columns of the indicators. */
export const INDICATOR_COLUMNS: Columns = {
  section_id: 'text not null', region_code: 'int2 not null', istat_code: 'text not null', reference_year: 'int2 not null',
  ...Object.fromEntries(Object.keys(INDICATORS).map((name) => [name, 'int4 not null' as const])),
};
const TABLE = 'raw_census_indicator';
const MAPPED: Readonly<Record<string, string>> = { section_id: 'sez21_id', region_code: 'codreg', istat_code: 'procom', ...INDICATORS };
const VALUES = Object.keys(INDICATOR_COLUMNS);
/** Number of CSV records after which the reader waits for the database. */
const BATCH = 500;

/**
 * Pattern of the entries of a zip that contain indicators, of a region (`R18_Calabria_2023_sezioni.xlsx`) or of a comune (`Catania_2023_sezioni.xlsx`). Ignores
 * files of macOS (`._R18…`) and of open workbooks (`~$R18…`).
 */
export const INDICATOR_FILE = /(?:^|\/)(?![.~])(?=[^/]*\.(?:xlsx|csv)$)(?:R\d{2}_[^/]*|[^/]*_20\d{2}_)sezioni/i;

/**
 * Returns the reference year of a table of indicators, from its header and its file name.
 * @param names normalised column names
 * @returns the year of the data; null if the columns are not indicators of 2021 census sections
 * @throws `CENSUS_EDITION` if the columns are those of 2021 and the name of the file states a different year
 */
export function editionOf(names: readonly string[], fileName: string): number | null {
  if (!resembles(names, INDICATOR_EDITIONS)) return null;
  // Other years in the name, such as the year of the download, are not the year of the data.
  const year = /(?<!\d)(20\d\d)_sezioni/i.exec(fileName)?.[1] ?? [...fileName.matchAll(/(?<!\d)(20\d\d)(?!\d)/g)].at(-1)?.[1];
  const named = year === undefined ? undefined : Number(year);
  const later = SINCE_2023.some((name) => names.includes(name));
  if (!later && named !== undefined && named !== 2021) {
    throw inputError('the edition of the census indicators is unclear', {
      code: 'CENSUS_EDITION', at: fileName, detail: `expected the columns of ${named} (with ${SINCE_2023.join(', ')}), found the columns of 2021`,
      hint: 'Give the file the name under which it was published. If the edition is new, report it to the maintainers.',
    });
  }
  return later ? (named !== undefined && named >= 2023 ? named : 2023) : 2021;
}

/**
 * Returns a refusal if a row is in a different region from its file, otherwise null. Such a row would be published in the wrong region.
 * @param region region of the file; null if the file has several regions
 */
export function otherRegion(found: number, region: number | null): Refusal | null {
  return region === null || found === region ? null : { code: 'region_other', message: `region_code: expected ${region} as in the first record, found ${found}` };
}

/**
 * Reads the indicators from a workbook, a CSV file, or each workbook and CSV file of a zip. The position of a record is the row number in the sheet or the
 * line number in the CSV.
 */
export async function readIndicators(file: InputFile, sink: Sink): Promise<void> {
  const name = file.name.toLowerCase();
  const whole: Indicators = { name: file.name, path: '', size: file.size, region: file.region };
  if (name.endsWith('.csv')) return readCsv(openFile(file, sink), whole, sink);
  const archive = await file.zip();
  try {
    if (name.endsWith('.xlsx')) {
      await readWorkbook(archive, whole, sink);
      return;
    }
    let done = 0;
    for (const entry of archive.entries) {
      if (!INDICATOR_FILE.test(entry.path)) continue;
      const base = done;
      const packed = { path: entry.path, size: entry.compressedSize, region: file.region };
      const inner: Sink = { ...sinkOf(sink), progress: (bytes) => sink.progress(base + bytes) };
      if (entry.path.toLowerCase().endsWith('.csv')) {
        await readCsv(await openEntry(archive, entry, (bytes) => inner.progress(bytes)), { ...packed, name: `${file.name}!${entry.path}` }, inner);
      } else {
        const workbook = await archive.archive(entry.path);
        try {
          await readWorkbook(workbook, { ...packed, name: entry.path }, inner);
        } finally {
          await workbook.close();
        }
      }
      done += entry.compressedSize;
    }
  } finally {
    await archive.close();
  }
}

/** Returns an object with the methods of a sink as its own properties, so that the object can be spread. */
function sinkOf(sink: Sink): Sink {
  return { member: (facts) => sink.member(facts), reuse: (facts) => sink.reuse(facts), progress: (bytes) => sink.progress(bytes) };
}

/** A file of indicators, either single or in a zip. */
interface Indicators {
  /** Name of the file in messages. */
  readonly name: string;
  /** Path inside the zip; empty for a single file. */
  readonly path: string;
  readonly size: number;
  readonly region: number | null;
}

async function readWorkbook(archive: ZipArchive, { name, path, size, region }: Indicators, sink: Sink): Promise<void> {
  const workbook = await Workbook.open(archive);
  const [sheet] = workbook.sheets;
  if (sheet === undefined) throw new Error(`${name} has no sheet with the data`);
  const total = archive.entry(sheet.path).size;
  const counter = new XlsxRowCounter();
  let open: { readonly member: MemberSink; readonly place: Place } | undefined;
  for await (const { rows, bytes } of workbook.rows(sheet, counter)) {
    for (const row of rows) {
      const values = row.cells.map((cell) => cell ?? '');
      if (open === undefined) {
        const header = openHeader(values, name, `${archive.label}!${sheet.path}:${row.number}`);
        const member = await sink.member({ path, size });
        open = { member, place: placer(member, header, region) };
      } else {
        open.place(values, row.number, values.join('\t'));
      }
    }
    sink.progress((size * bytes) / Math.max(1, total));
    const full = open?.member.drain();
    if (full !== undefined) await full;
  }
  if (open === undefined) {
    throw inputError('the workbook is empty', { code: 'CENSUS_EMPTY', at: archive.label, detail: 'expected a header row, found nothing', hint: 'Download the file again.' });
  }
  await open.member.close(counter.rows - 1);
}

async function readCsv(stream: AsyncIterable<Buffer>, { name, path, size, region }: Indicators, sink: Sink): Promise<void> {
  const reader: CsvReader = await openCsv(stream, { at: name, delimiter: ';' });
  try {
    const header = openHeader(reader.header, name, `${name}:${reader.headerLine}`);
    const member = await sink.member({ path, size });
    const place = placer(member, header, region);
    let records = 0;
    for await (const record of reader.records()) {
      records += 1;
      if (record.problem !== null) member.reject({ position: record.line, ...record.problem, raw: record.raw });
      else place(record.values, record.line, record.raw);
      if (records % BATCH === 0) await member.drain();
    }
    await member.close(records);
  } finally {
    reader.close();
  }
}

interface Header {
  readonly columns: FoundColumns<string>;
  readonly year: number;
}

/**
 * Finds the columns and the reference year.
 * @throws `COLUMNS_CHANGED`, `CENSUS_EDITION`, and `CENSUS_BASES` for a file with census sections of 2011
 */
function openHeader(names: readonly string[], fileName: string, at: string): Header {
  const lower = names.map((name) => name.trim().toLowerCase());
  if (lower.includes('sez2011')) {
    throw inputError('the indicators belong to the census sections of 2011', {
      code: 'CENSUS_BASES', at, detail: 'expected the key SEZ21_ID, found SEZ2011', hint: 'Use the issue of July 2024 or later, which has the same file name.',
    });
  }
  // Spreadsheets add columns without a name at the end.
  const columns = expectColumns(names, { mapped: MAPPED, ignored: { ...manifest.ignored, '': 'no name' }, editions: INDICATOR_EDITIONS, at });
  const year = editionOf(lower, fileName);
  if (year === null) throw new Error(`${at}: a recognised file has no year`);
  return { columns, year };
}

type Place = (values: readonly string[], position: number, raw: string) => void;

/**
 * Returns a function that validates a row and then stores or rejects the row.
 * @param region code that all rows must have; null if the file has several regions
 */
function placer(member: MemberSink, { columns, year }: Header, region: number | null): Place {
  columns.reportTo(member);
  return (values, position, raw) => {
    const published = fieldsOf(values, columns);
    const parsed = indicatorRow.safeParse(published);
    const refused = parsed.success ? otherRegion(parsed.data.region_code, region) : refusalOf(published, parsed.error);
    if (refused !== null) return member.reject({ position, ...refused, raw });
    const row: Readonly<Record<string, unknown>> = { ...parsed.data, reference_year: year };
    member.row(TABLE, position, VALUES.map((name) => row[name]));
  };
}
