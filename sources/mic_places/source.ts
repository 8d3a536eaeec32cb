import { normaliseHeader, peekRows, resembles } from '../../pipelines/formats/csv.ts';
import { isoDate } from '../../pipelines/readers/iso-date.ts';
import { isWhole, stemOf, type WholeName } from '../../pipelines/readers/packaging.ts';
import { defineSource, type Probe, type Recognition } from '../../pipelines/contract/source.ts';
import { layers, raw_cultural_place } from './layers.ts';
import { manifest } from './manifest.ts';
import { delimiterOf, read } from './read.ts';
import { ANSWER, COLUMNS, PUBLISHED } from './schema.ts';

/** Pattern of the start of names such as `luoghi_della_cultura_20260701`, `datasetLuoghiDellaCultura` and `dbunico_luoghi`. */
const STEM = '(?:(?:dataset[-_ ]?)?luoghi[-_ ]?(?:della[-_ ]?)?cultura|dbunico[-_ ]luoghi)';
const NAME = new RegExp(`^${STEM}`, 'i');
/** Name of the whole list, with or without a day or year. A file with any other word in its name contains a part of Italy. */
const WHOLE: WholeName = { whole: new RegExp(`^${STEM}(?:[-_ ]?\\d{4}(?:[-_]?\\d{2}[-_]?\\d{2})?)?$`, 'i'), stated: NAME };
const KEYS = Object.keys(COLUMNS) as (keyof typeof COLUMNS)[];
/** Fields that tables of other points have, too. A table with only these fields is not recognised unless its name matches NAME. */
const ORDINARY: readonly string[] = ['place_id', 'name', 'address', 'comune', 'province', 'lat', 'lon'];
/** Minimum number of known columns in a table whose name does not match NAME. If the name matches, half of this number is enough. */
const ENOUGH = 8;

function vintageOf(name: string): string {
  const [, year = '', month, day] = /(?<!\d)(20\d{2})(?:[-_]?(\d{2})[-_]?(\d{2}))?(?!\d)/.exec(stemOf(name)) ?? [];
  return (month === undefined || day === undefined ? null : isoDate(`${day}/${month}/${year}`)) ?? (year === '' ? '0000' : year);
}

async function recognise(probe: Probe): Promise<Recognition | null> {
  if (probe.entries !== null || !/\.csv$/i.test(probe.name)) return null;
  const [header = []] = peekRows(probe.head, delimiterOf(probe.head.toString('latin1')), 1);
  const about = { vintage: vintageOf(probe.name), region: null, complete: isWhole([probe.name], WHOLE) };
  if (resembles(header, PUBLISHED)) return { role: 'published', ...about };
  // On the same day, the query result takes precedence over the ministry's list, which has fewer places and columns.
  const asked = { role: 'places', dated: 'query', ...about };
  if (resembles(header, ANSWER)) return asked;
  const names = header.map(normaliseHeader);
  const found = KEYS.filter((key) => (COLUMNS[key] as readonly string[]).some((name) => names.includes(name)));
  const isNamed = NAME.test(probe.name) && found.length >= ENOUGH / 2;
  if (!isNamed && (found.length < ENOUGH || found.every((key) => ORDINARY.includes(key)))) return null;
  return asked;
}

export default defineSource({
  manifest,
  names: [new RegExp(`^${STEM}[^/]*\\.csv$`, 'i')],
  tables: { raw_cultural_place },
  layers,
  repeats: { raw_cultural_place: 'place_repeated' },
  keys: { raw_cultural_place: ['place_id'] },
  unique: { cultural_place: ['place_id'] },
  places: { cultural_place: { place: 'place', point: { id: 'place_id', region: 'region_code' } } },
  recognise,
  read,
});
