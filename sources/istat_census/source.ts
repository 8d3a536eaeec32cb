import { normaliseHeader, peekRows, resembles } from '../../pipelines/formats/csv.ts';
import { isWhole, newestEntry, stemOf, workbookDate, type WholeName } from '../../pipelines/readers/packaging.ts';
import { refusalOf } from '../../pipelines/readers/refusal.ts';
import { findRegion } from '../../pipelines/contract/regions.ts';
import { defineSource, type Probe, type Recognition } from '../../pipelines/contract/source.ts';
import { lookAtVectors, readVectorFile, sidecarsOf } from '../../pipelines/readers/vector-members.ts';
import { firstRows } from '../../pipelines/formats/xlsx.ts';
import { SECTION_EDITIONS } from './columns.ts';
import { layers } from './layers.ts';
import { manifest } from './manifest.ts';
import { INDICATOR_COLUMNS, INDICATOR_FILE, editionOf, otherRegion, readIndicators } from './read.ts';
import { sectionRow } from './schema.ts';

/** Names of complete files, such as `R15_21.zip`, and of the shapefile inside. */
const WHOLE_BASES: WholeName = { whole: /^R\d{2}_21(?:_WGS84)?$/i, stated: /^R\d{2}_21/i };
/** Names of complete files, such as `Dati_regionali_2021.zip` and `R02_indicatori_2021_sezioni.xlsx`. */
const WHOLE_INDICATORS: WholeName = { whole: /^(?:Dati_regionali_\d{4}|R\d{2}_indicatori_\d{4}_sezioni)$/i, stated: /^(?:Dati_regionali|R\d{2}_)/i };
/** Pattern of the names of workbooks since 2023, such as `R18_Calabria_2023_sezioni.xlsx`. */
const REGION_WORKBOOK = /^R\d{2}_(.+)_\d{4}_sezioni$/i;
const BASES_VINTAGE = 'basi_2021';
/** Pattern of the names of the tables that come with the geometry, as CSV (UTF-16, tabs), xlsx and ods. */
const COMPANION = /^(?:(?:SEZ|LOC|ISAM|ZIC|ASC[123])_)?R\d{2}_21\b.*\.(?:csv|xlsx|ods)$/i;
const FIELD_LIST = /^TRACCIATO\b.*\.(?:xlsx|csv)$/i;
const OLD_BASES = 'the file has the key of the census sections of 2011, whose geometry is not loaded. Use the issue of July 2024 or later, which has the same file name and the key SEZ21_ID';

/**
 * Returns the census year in the name of a key column (`SEZ2011` → 2011, `SEZ31_ID` → 2031) if the year is not 2021. Returns null if there is no such column.
 */
function otherBases(columns: readonly string[]): number | null {
  for (const column of columns) {
    const [, long, short] = /^sez(?:(\d{4})|(\d{2})_id)$/.exec(column) ?? [];
    const year = Number(long ?? `20${short ?? '21'}`);
    if (year !== 2021) return year;
  }
  return null;
}

/** Returns the reason why a file with the census sections of a different year is ignored. */
function otherBasesText(year: number): string {
  return year === 2011 ? OLD_BASES : `the file has the key of the census sections of ${year}. Only census sections of 2021 (SEZ21_ID) are read, and years are never mixed`;
}

async function recognise(probe: Probe): Promise<Recognition | null> {
  if (FIELD_LIST.test(probe.name) && mentionsFields(await textOf(probe))) {
    return { role: 'field_list', vintage: BASES_VINTAGE, region: null, complete: false, ignored: 'the file is a list of the fields and their meaning, without data' };
  }
  if (COMPANION.test(probe.name)) {
    return { role: 'companion', vintage: BASES_VINTAGE, region: null, complete: false, ignored: 'the file is a table next to the geometry; the same numbers are in the .dbf file, and localities are not served' };
  }
  const looks = await lookAtVectors(probe);
  for (const { path, fields } of looks) {
    const year = otherBases(fields ?? []);
    if (year !== null) {
      return { role: `sections_${year}`, vintage: `basi_${year}`, region: null, sidecars: sidecarsOf(probe), complete: false, ignored: otherBasesText(year) };
    }
    if (resembles(fields ?? [], SECTION_EDITIONS)) {
      const dated = newestEntry(probe.entries);
      return {
        role: 'sections', vintage: BASES_VINTAGE, region: await regionOfTable(probe, path), sidecars: sidecarsOf(probe), complete: isWhole([probe.name, path], WHOLE_BASES),
        ...(dated === undefined ? {} : { dated }),
      };
    }
  }
  if (probe.entries === null) return /\.csv$/i.test(probe.name) ? recogniseCsv(probe.name, probe.head, [probe.name]) : null;
  if (/\.xlsx$/i.test(probe.name)) return recogniseWorkbook(probe, probe.name, '', [probe.name]);
  const inside = probe.entries.filter((entry) => INDICATOR_FILE.test(entry.path));
  const first = inside[0]?.path;
  if (first === undefined) return null;
  const names = [probe.name, first];
  const recognition = /\.csv$/i.test(first) ? recogniseCsv(first, await probe.headOf(first), names) : await recogniseWorkbook(probe, first, `${first}/`, names);
  if (recognition === null) return null;
  const dated = newestEntry(probe.entries);
  // If a zip contains one file, the file states the region of the zip. If a zip contains several files, each row states its region.
  return { ...recognition, region: inside.length === 1 ? recognition.region : null, ...(dated === undefined ? {} : { dated }) };
}

async function textOf(probe: Probe): Promise<string> {
  if (probe.entries === null) return probe.head.toString('latin1');
  return probe.entries.some((entry) => entry.path === 'xl/sharedStrings.xml') ? (await probe.headOf('xl/sharedStrings.xml')).toString('utf8') : '';
}

/**
 * Returns whether the text is a list of fields. A list of fields contains the key and the meaning of the first indicator. Data files never contain
 * this meaning.
 */
function mentionsFields(text: string): boolean {
  return text.includes('SEZ21_ID') && /Popolazione residente/i.test(text);
}

/**
 * Recognises a workbook of indicators by its header.
 * @param inner path of the workbook inside the probed zip, with a final slash; empty for a single workbook
 */
async function recogniseWorkbook(probe: Probe, name: string, inner: string, names: readonly string[]): Promise<Recognition | null> {
  const entries = inner === '' ? probe.entries ?? [] : await probe.entriesOf(inner.slice(0, -1));
  const sheet = entries.find((entry) => /^xl\/worksheets\/[^/]+\.xml$/.test(entry.path));
  if (sheet === undefined) return null;
  const texts = entries.some((entry) => entry.path === 'xl/sharedStrings.xml') ? await probe.headOf(`${inner}xl/sharedStrings.xml`) : null;
  const [header, first] = firstRows(await probe.headOf(`${inner}${sheet.path}`), texts, 2);
  const recognition = header === undefined ? null : recogniseIndicators(name, header.cells, first?.cells ?? [], names);
  const dated = recognition === null ? undefined : await workbookDate(probe, inner.slice(0, -1));
  return recognition === null || dated === undefined ? recognition : { ...recognition, dated };
}

function recogniseCsv(name: string, head: Buffer, names: readonly string[]): Recognition | null {
  const [header = [], first = []] = peekRows(head, ';', 2);
  return recogniseIndicators(name, header, first, names);
}

/**
 * Recognises a table of indicators by its header and its first record.
 * @param names name of the file and, if it is in a zip, of the entry
 * @throws `CENSUS_EDITION`
 */
function recogniseIndicators(
  name: string,
  header: readonly (string | null)[],
  first: readonly (string | null)[],
  names: readonly string[],
): Recognition | null {
  const columns = header.map((cell) => normaliseHeader(cell ?? ''));
  const bases = columns.includes('p1') ? otherBases(columns) : null;
  if (bases !== null) {
    return { role: `indicators_${bases}_bases`, vintage: `basi_${bases}`, region: null, complete: false, ignored: otherBasesText(bases) };
  }
  const year = editionOf(columns, name);
  if (year === null) return null;
  const code = Number(first[columns.indexOf('codreg')] ?? /(?:^|\/)R(\d{2})_/i.exec(name)?.[1]);
  return { role: 'indicators', vintage: String(year), region: Number.isInteger(code) && code >= 1 && code <= 20 ? code : null, complete: isWholeRegion(names) };
}

/** Returns whether a file with these names contains a whole region or all of Italy. Since 2023, the workbook's name contains the region's name. */
function isWholeRegion(names: readonly string[]): boolean {
  return isWhole(names, WHOLE_INDICATORS) || names.slice(-1).some((name) => findRegion(REGION_WORKBOOK.exec(stemOf(name))?.[1] ?? '') !== undefined);
}

/**
 * Returns COD_REG of the first record in the dBASE table of a shapefile, or null if there is no valid code. A dBASE table has a header, field descriptors of 32
 * bytes, and records of fixed width.
 */
async function regionOfTable(probe: Probe, shp: string): Promise<number | null> {
  const dbf = shp.replace(/\.shp$/i, '.dbf').toLowerCase();
  const name = (probe.entries === null ? probe.siblings : probe.entries.map((entry) => entry.path)).find((found) => found.toLowerCase() === dbf);
  if (name === undefined) return null;
  const head = probe.entries === null ? await probe.headOfSibling(name) : await probe.headOf(name);
  let offset = head.readUInt16LE(8) + 1;
  for (let at = 32; at + 32 <= head.length && head[at] !== 0x0d; at += 32) {
    const width = head.readUInt8(at + 16);
    if (head.toString('latin1', at, at + 11).replace(/\0.*$/s, '').toUpperCase() === 'COD_REG') {
      const code = Number(head.toString('latin1', offset, offset + width).trim());
      return Number.isInteger(code) && code >= 1 && code <= 20 ? code : null;
    }
    offset += width;
  }
  return null;
}

export default defineSource({
  manifest,
  names: [/^R\d{2}_[^/]*sezioni[^/]*\.(?:xlsx|csv)$/i, /^R\d{2}_21[^/]*\.(?:zip|shp)$/i, /^(?:Dati_regionali|Comuni)_\d{4}\.zip$/i, /_\d{4}_sezioni\.(?:xlsx|csv)$/i],
  tables: {
    raw_census_section: { section_id: 'text not null', region_code: 'int2 not null', istat_code: 'text not null', tipo_loc: 'int2', population: 'int4', households: 'int4', geom: 'geometry not null' },
    raw_census_indicator: INDICATOR_COLUMNS,
  },
  layers,
  // Only polygons with an area count as repeated census sections. The file load.sql therefore finds the duplicates of raw_census_section.
  repeats: { raw_census_indicator: 'section_repeated' },
  keys: { raw_census_section: ['section_id'], raw_census_indicator: ['section_id', 'reference_year'] },
  // The data of a year does not supersede the data of a different year. A later edition may lack whole comuni, which keep the numbers of the previous edition.
  places: { census_section: { place: 'istat_code', region: 'region_code' }, census_indicator: { series: ['reference_year'], place: 'istat_code', region: 'region_code' } },
  unique: { census_section: ['section_id'], census_indicator: ['section_id', 'reference_year'] },
  recognise,
  async read(file, sink) {
    if (file.role === 'indicators') return readIndicators(file, sink);
    await readVectorFile(file, sink, {
      table: 'raw_census_section',
      geometry: 'polygon',
      columns: {
        mapped: { section_id: 'sez21_id', region_code: 'cod_reg', istat_code: 'pro_com', tipo_loc: 'tipo_loc', population: 'pop21', households: 'fam21', number: 'sez21' },
        optional: ['number'],
        ignored: manifest.ignored,
        editions: SECTION_EDITIONS,
      },
      types: { section_id: 'number', region_code: 'number', istat_code: 'number', tipo_loc: 'number', population: 'number', households: 'number', number: 'number' },
      row({ number: _, ...fields }) {
        const parsed = sectionRow.safeParse(fields);
        if (!parsed.success) return refusalOf(fields, parsed.error);
        const { section_id, region_code, istat_code, tipo_loc, population, households } = parsed.data;
        const refused = otherRegion(region_code, file.region);
        return refused ?? { values: [section_id, region_code, istat_code, tipo_loc, population, households] };
      },
    });
  },
});
