import { expectColumns, normaliseHeader, peekRows, resembles } from '../../pipelines/formats/csv.ts';
import { isWhole, newestEntry, type WholeName } from '../../pipelines/readers/packaging.ts';
import { defineSource, inputError, type Probe, type Recognition } from '../../pipelines/contract/source.ts';
import { layers } from './layers.ts';
import { manifest } from './manifest.ts';
import { read } from './read.ts';
import { COLUMNS, EDITIONS, OPTIONAL, tables } from './schema.ts';

const WHOLE: WholeName = { whole: /^Redditi_e_principali_variabili_IRPEF_su_base_(?:sub)?comunale_CSV_\d{4}$/i, stated: /^Redditi_e_principali_variabili/i };

/** First tax year whose columns are read. Tables of earlier tax years have other columns, such as `Ammontare` without `in euro`. */
const FIRST_TAX_YEAR = 2015;
/** Columns of the tables of all tax years. */
const EVERY_YEAR = [COLUMNS.tax_year, COLUMNS.belfiore, COLUMNS.taxpayers, COLUMNS.from_0_to_10k_n, COLUMNS.over_120k_n];

/**
 * Returns whether a table has on average at least two rows per comune.
 * @param codes cadastral code of each row; `0` means taxpayers without a comune
 */
function hasComuniTwice(codes: readonly string[]): boolean {
  const comuni = codes.filter((code) => /^[A-Z]\d{3}$/.test(code));
  return comuni.length > 0 && new Set(comuni).size * 2 <= comuni.length;
}

function recogniseCsv(head: Buffer, names: readonly string[]): Recognition | null {
  const at = names.join('!');
  const [header = [], ...rows] = peekRows(head, ';', Infinity);
  const columns = header.map(normaliseHeader);
  const [first = []] = rows;
  const year = /^20\d{2}$/.exec(first[columns.indexOf(COLUMNS.tax_year)]?.trim() ?? '')?.[0];
  if (year !== undefined && Number(year) < FIRST_TAX_YEAR && EVERY_YEAR.every((name) => columns.includes(name))) {
    const ignored = `the tables of tax years before ${FIRST_TAX_YEAR} have other columns and are not read. Use the table of a later tax year`;
    return { role: 'other', vintage: year, region: null, complete: false, ignored };
  }
  if (!resembles(header, EDITIONS.comunale)) return null;
  // If the CAP column is missing, the table by postal code looks like the table by comune. In this case, the file name determines the level. If the file
  // name states no level, the number of rows per comune determines the level.
  const [, named] = /_((?:sub)?comunale)(?![a-z])/i.exec(at) ?? [];
  const isByPostalCode = named === undefined ? hasComuniTwice(rows.map((row) => row[columns.indexOf(COLUMNS.belfiore)]?.trim() ?? '')) : /^sub/i.test(named);
  const role = columns.includes('cap') || isByPostalCode ? 'subcomunale' : 'comunale';
  if (year === undefined) {
    expectColumns(header, { mapped: COLUMNS, optional: OPTIONAL, ignored: manifest.ignored, editions: EDITIONS[role], at: `${at}:1` });
    throw inputError('the MEF table has no tax year', {
      code: 'VINTAGE_MISSING', at: `${at}:2`, detail: `expected a year in the first cell, found ${JSON.stringify(first.join(';').slice(0, 40))}`, hint: 'Download the file again.',
    });
  }
  return { role, vintage: year, region: null, complete: isWhole(names, WHOLE) };
}

async function recognise(probe: Probe): Promise<Recognition | null> {
  if (probe.entries === null) return recogniseCsv(probe.head, [probe.name]);
  const csv = probe.entries.filter((entry) => /\.csv$/i.test(entry.path));
  const first = csv[0]?.path;
  if (first === undefined || csv.length > 2) return null;
  const recognition = recogniseCsv(await probe.headOf(first), [probe.name, first]);
  const dated = newestEntry(probe.entries);
  return recognition === null || dated === undefined ? recognition : { ...recognition, dated };
}

export default defineSource({
  manifest,
  names: [/^Redditi_e_principali_variabili_IRPEF[^/]*\.(?:zip|csv)$/i],
  tables,
  layers,
  keys: { raw_income: ['tax_year', 'level', 'belfiore', 'cap'] },
  places: { income: { series: ['tax_year', 'level'], place: 'belfiore', likelyRegion: 'region_code' } },
  recognise,
  read,
});
