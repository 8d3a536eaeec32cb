import { normaliseHeader, peekRows } from '../../pipelines/formats/csv.ts';
import { isoDate } from '../../pipelines/readers/iso-date.ts';
import { isWhole, stemOf, type WholeName } from '../../pipelines/readers/packaging.ts';
import { defineSource, type Probe, type Recognition } from '../../pipelines/contract/source.ts';
import { manifest } from './manifest.ts';
import { delimiterOf, read } from './read.ts';
import { COLUMNS, raw_cultural_place } from './schema.ts';

const NAME = /^(?:luoghi[-_ ](?:della[-_ ])?cultura|dbunico[-_ ]luoghi)/i;
/** With its day or year; any other word makes a part. */
const WHOLE: WholeName = { whole: /^(?:luoghi[-_ ](?:della[-_ ])?cultura|dbunico[-_ ]luoghi)(?:[-_ ]?\d{4}(?:[-_]?\d{2}[-_]?\d{2})?)?$/i, stated: NAME };
const KEYS = Object.keys(COLUMNS) as (keyof typeof COLUMNS)[];
/** What any table of points has. */
const ORDINARY: readonly string[] = ['place_id', 'name', 'address', 'comune', 'province', 'lat', 'lon'];
/** How many columns a table under another name must have to be known. */
const ENOUGH = 8;

function vintageOf(name: string): string {
  const [, year = '', month, day] = /(20\d{2})(?:[-_]?(\d{2})[-_]?(\d{2}))?(?!\d)/.exec(stemOf(name)) ?? [];
  return (month === undefined || day === undefined ? null : isoDate(`${day}/${month}/${year}`)) ?? (year === '' ? '0000' : year);
}

async function recognise(probe: Probe): Promise<Recognition | null> {
  if (probe.entries !== null || !/\.csv$/i.test(probe.name)) return null;
  const [header = []] = peekRows(probe.head, delimiterOf(probe.head.toString('latin1')), 1);
  const names = header.map(normaliseHeader);
  const found = KEYS.filter((key) => (COLUMNS[key] as readonly string[]).some((name) => names.includes(name)));
  const isNamed = NAME.test(probe.name) && found.length >= ENOUGH / 2;
  if (!isNamed && (found.length < ENOUGH || found.every((key) => ORDINARY.includes(key)))) return null;
  return { role: 'places', vintage: vintageOf(probe.name), region: null, complete: isWhole([probe.name], WHOLE) };
}

export default defineSource({
  manifest,
  names: [/^luoghi[-_ ](?:della[-_ ])?cultura[^/]*\.csv$/i, /^dbunico[-_ ]luoghi[^/]*\.csv$/i],
  tables: { raw_cultural_place },
  keys: { raw_cultural_place: ['place_id'] },
  unique: { cultural_place: ['place_id'] },
  places: { cultural_place: { place: 'place' } },
  recognise,
  read,
});
