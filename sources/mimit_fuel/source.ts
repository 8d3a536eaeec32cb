import { resembles } from '../../pipelines/formats/csv.ts';
import { decodeLine } from '../../pipelines/readers/delimited-lines.ts';
import { isDay, isoDate } from '../../pipelines/readers/iso-date.ts';
import { isWhole, type WholeName } from '../../pipelines/readers/packaging.ts';
import { defineSource, inputError, type Probe, type Recognition } from '../../pipelines/contract/source.ts';
import { layers, raw_fuel_station } from './layers.ts';
import { manifest } from './manifest.ts';
import { read, separatorOf } from './read.ts';
import { EDITIONS } from './schema.ts';

/** Name `anagrafica_impianti_attivi`, with or without a date. */
const WHOLE: WholeName = { whole: /^anagrafica_impianti_attivi(?:[-_]?\d{8}|[-_]\d{4}-\d{2}-\d{2})?$/i, stated: /^anagrafica_impianti/i };

async function recognise(probe: Probe): Promise<Recognition | null> {
  if (probe.entries !== null) return null;
  const [first = '', header = ''] = decodeLine(probe.head.subarray(0, 4096)).replace(/^\uFEFF/, '').split(/\r?\n/, 2);
  // A copy without the line of the extraction begins with the header.
  if (![header, first].some((line) => resembles(line.split(separatorOf(line)), EDITIONS))) return null;
  const [, iso, italian = ''] = /(\d{4}-\d{2}-\d{2})|(\d{2}\/\d{2}\/\d{4})/.exec(first) ?? [];
  const vintage = iso !== undefined && isDay(iso) ? iso : isoDate(italian);
  if (vintage === null) {
    throw inputError('the register of fuel stations states no day', {
      code: 'VINTAGE_MISSING', at: `${probe.name}:1`,
      detail: `expected "Estrazione del <day>" with an existing day, found ${JSON.stringify(first.slice(0, 60))}`,
      hint: 'Download the file again, or write its first line again, such as "Estrazione del 2026-08-21" with the day of the list.',
    });
  }
  return { role: 'stations', vintage, region: null, complete: isWhole([probe.name], WHOLE) };
}

export default defineSource({
  manifest,
  names: [/^anagrafica_impianti_attivi[^/]*\.csv$/i],
  tables: { raw_fuel_station },
  layers,
  repeats: { raw_fuel_station: 'station_repeated' },
  keys: { raw_fuel_station: ['station_id'] },
  unique: { fuel_station: ['station_id'] },
  places: { fuel_station: { place: 'place', point: { id: 'station_id', region: 'region_code' } } },
  recognise,
  read,
});
