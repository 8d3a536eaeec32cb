import { normaliseHeader } from '../../pipelines/formats/csv.ts';
import { cellsOf, decodeLine } from '../../pipelines/readers/delimited-lines.ts';
import { isoDate } from '../../pipelines/readers/iso-date.ts';
import { isWhole, type WholeName } from '../../pipelines/readers/packaging.ts';
import { defineSource, inputError, type Probe, type Recognition } from '../../pipelines/contract/source.ts';
import { layers, raw_pharmacy } from './layers.ts';
import { manifest } from './manifest.ts';
import { read } from './read.ts';
import { COLUMNS } from './schema.ts';

const WHOLE: WholeName = { whole: /^FRM_FARMA_5_\d{8}$/i, stated: /^FRM_FARMA/i };
/** Columns that identify the list. Two of these columns are enough, even if the rest of the header has changed. */
const TELLING = [...COLUMNS.pharmacy_id, ...COLUMNS.name, ...COLUMNS.closed_on] as readonly string[];

/** Names of the same list in other formats, which the ministry also publishes. */
const OTHER_FORM = /^FRM_FARMA[^/]*\.(json|xml)(?:\.zip)?$/i;
/** Columns of the layout before 2024, whose header is in capitals, normalised by `normaliseHeader`. */
const OLD_LAYOUT = ['codiceidentificativofarmacia', 'codicecomuneistat', 'descrizionefarmacia', 'datafinevalidita', 'localize'];

function aside(probe: Probe, ignored: string): Recognition {
  return { role: 'other', vintage: /_(\d{8})(?!\d)/.exec(probe.name)?.[1] ?? '0000', region: null, complete: false, ignored };
}

/** Returns whether the file is the JSON or the XML of the list. A web page that was saved under this name is not the list. */
function isOtherForm({ name, head, entries }: Probe): boolean {
  if (!OTHER_FORM.test(name)) return false;
  return entries !== null || /^\s*(?:[[{]|<\?xml\b|<(?!!doctype|html|head|body)[a-z])/i.test(decodeLine(head).replace(/^\uFEFF/, ''));
}

async function recognise(probe: Probe): Promise<Recognition | null> {
  if (isOtherForm(probe)) return aside(probe, 'the file is the list of pharmacies as JSON or XML; the CSV of the same day is read instead');
  if (probe.entries !== null) return null;
  const lines = decodeLine(probe.head).replace(/^\uFEFF/, '').split(/\r?\n/);
  const names = cellsOf(lines[0] ?? '', ';').map(normaliseHeader);
  if (OLD_LAYOUT.filter((name) => names.includes(name)).length > OLD_LAYOUT.length / 2) {
    return aside(probe, 'the file has the layout of the years before 2024, whose ISTAT codes lack zeros. Use the current list (FRM_FARMA_5_<day>.csv)');
  }
  if (names.filter((name) => TELLING.includes(name)).length < 2) return null;
  const [, year, month, day] = /_(\d{4})(\d{2})(\d{2})(?!\d)/.exec(probe.name) ?? [];
  const named = year === undefined || month === undefined || day === undefined ? null : isoDate(`${day}/${month}/${year}`);
  // If the file name has no day, the newest day in the first rows counts as the day of the file.
  const newest = named ?? lines.slice(1).flatMap((line) => cellsOf(line, ';').map((cell) => isoDate(cell.trim().slice(0, 10))))
    .filter((date) => date !== null && date < '2100').sort().at(-1) ?? null;
  if (newest === null) {
    throw inputError('the list of pharmacies states no day', {
      code: 'VINTAGE_MISSING', at: probe.name, detail: 'expected a day in the name, FRM_FARMA_5_<day>.csv, or in the rows, found none',
      hint: 'Give the file the publisher\'s name, such as FRM_FARMA_5_20260816.csv.',
    });
  }
  return { role: 'pharmacies', vintage: newest, region: null, complete: isWhole([probe.name], WHOLE) };
}

export default defineSource({
  manifest,
  names: [/^FRM_FARMA[^/]*\.(?:csv|json|xml)$/i],
  tables: { raw_pharmacy },
  layers,
  places: { pharmacy: { place: 'istat_code', point: { id: 'pharmacy_id', istatCode: 'istat_code' } } },
  recognise,
  read,
});
