import { expectColumns, normaliseHeader, peekRows } from '../../pipelines/formats/csv.ts';
import { isoDate } from '../../pipelines/readers/iso-date.ts';
import { isWhole, stemOf, type WholeName } from '../../pipelines/readers/packaging.ts';
import { defineSource, inputError, type Probe, type Recognition } from '../../pipelines/contract/source.ts';
import { layers, raw_school } from './layers.ts';
import { manifest } from './manifest.ts';
import { read } from './read.ts';
import { COLUMNS, EDITIONS, OF_STATE_ONLY, schoolYear } from './schema.ts';

/** Names of complete lists, such as `SCUANAGRAFESTAT20242520240901`: list, school year and, in some names, day of issue. */
const WHOLE: WholeName = { whole: /^SCUANA(?:GRAFE|AUT)(?:STAT|PAR)\d{6}(?:\d{8})?$/i, stated: /^SCUANA(?:GRAFE|AUT)/i };
const USED = Object.values(COLUMNS).map(normaliseHeader);
/** Minimum share of the mapped columns in a header that is recognised as a list of schools. */
const RESEMBLING = 0.6;
/** Pattern of the region names in the lists for the autonomous provinces and Aosta. */
const AUTONOMOUS = /AOSTA|TRENTO|BOLZANO|TRENTINO/i;

async function recognise(probe: Probe): Promise<Recognition | null> {
  if (probe.entries !== null) return null;
  const [header = [], ...rows] = peekRows(probe.head, ',', 40);
  const names = header.map(normaliseHeader);
  if (USED.filter((name) => names.includes(name)).length < RESEMBLING * USED.length) return null;
  const at = (name: string): number => names.indexOf(normaliseHeader(name));
  const year = rows.map((row) => schoolYear(row[at(COLUMNS.school_year)] ?? '')).find((found) => found !== null) ?? schoolYear(/(20\d{4})/.exec(probe.name)?.[1] ?? '');
  const [, group, list] = /SCUANA(GRAFE|AUT)(STAT|PAR)/i.exec(probe.name) ?? [];
  // If a copy has a different name, its content identifies the list. Only lists of state schools name an institute, and lists of Aosta and the autonomous
  // provinces contain no schools of other regions.
  const kind = list?.toUpperCase() ?? (OF_STATE_ONLY.some((name) => at(name) !== -1) ? 'STAT' : 'PAR');
  const isAutonomous = group === undefined ? rows.length > 0 && rows.every((row) => AUTONOMOUS.test(row[at(COLUMNS.region)] ?? '')) : group.toUpperCase() === 'AUT';
  const role = `${isAutonomous ? 'AUT' : ''}${kind}`;
  if (year === null) {
    expectColumns(header, { mapped: COLUMNS, ignored: manifest.ignored, editions: EDITIONS[role] ?? {}, at: `${probe.name}:1` });
    throw inputError('the list of schools states no school year', {
      code: 'VINTAGE_MISSING', at: `${probe.name}:2`, detail: 'expected ANNOSCOLASTICO such as 202425, found none',
      hint: 'Download the file again, or give it the publisher\'s name, such as SCUANAGRAFESTAT20242520240901.csv.',
    });
  }
  const [, y, m, d] = /\d{6}(20\d{2})(\d{2})(\d{2})$/.exec(stemOf(probe.name)) ?? [];
  const dated = y === undefined || m === undefined || d === undefined ? null : isoDate(`${d}/${m}/${y}`);
  return {
    role, vintage: year, region: null, complete: isWhole([probe.name], WHOLE),
    ...(dated === null ? {} : { dated }),
  };
}

export default defineSource({
  manifest,
  names: [/^SCUANA(?:GRAFE|AUT)(?:STAT|PAR)[^/]*\.csv$/i],
  tables: { raw_school },
  layers,
  keys: { raw_school: ['school_id'] },
  unique: { school: ['school_id'] },
  places: { school: { series: ['kind'], place: 'belfiore', likelyRegion: 'region_code', point: { id: 'school_id' } } },
  recognise,
  read,
});
