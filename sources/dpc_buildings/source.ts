import { resembles } from '../../pipelines/formats/csv.ts';
import { newestEntry } from '../../pipelines/readers/packaging.ts';
import { refusalOf } from '../../pipelines/readers/refusal.ts';
import { defineSource, type Probe, type Recognition } from '../../pipelines/contract/source.ts';
import { lookAtVectors, readVectorFile, sidecarsOf } from '../../pipelines/readers/vector-members.ts';
import { layers } from './layers.ts';
import { manifest } from './manifest.ts';
import { EDITIONS, record } from './schema.ts';

/**
 * Returns whether a table without IDAG is probably a table of this source. The other columns have common names, so a table with more columns than the
 * edition of 2021 is not accepted.
 */
function isAlike(fields: readonly string[]): boolean {
  return fields.length <= EDITIONS[2021].length && resembles(fields, EDITIONS);
}

async function recognise(probe: Probe): Promise<Recognition | null> {
  const mine = (await lookAtVectors(probe)).filter(({ fields }) => fields !== null && (fields.includes('idag') || isAlike(fields)));
  if (mine.length === 0) return null;
  const [vintage = '0000'] = mine.flatMap(({ changed }) => changed ?? []).sort().reverse();
  const dated = newestEntry(probe.entries);
  return { role: 'aggregati', vintage, region: null, sidecars: sidecarsOf(probe), complete: false, ...(dated === undefined ? {} : { dated }) };
}

export default defineSource({
  manifest,
  names: [/aggregati[^/]*struttural[^/]*\.(?:zip|shp)$/i],
  tables: { raw_dpc_building: { aggregate_id: 'text not null', istat_code: 'text not null', geom: 'geometry not null' } },
  layers,
  places: { dpc_building: { place: 'istat_code', istatCode: 'istat_code' } },
  recognise,
  read: (file, sink) =>
    readVectorFile(file, sink, {
      table: 'raw_dpc_building',
      geometry: 'polygon',
      columns: { mapped: { idag: 'idag' }, ignored: manifest.ignored, editions: EDITIONS },
      types: { idag: 'text' },
      row(fields) {
        const parsed = record.safeParse(fields);
        return parsed.success ? { values: [parsed.data.aggregateId, parsed.data.istatCode] } : refusalOf(fields, parsed.error);
      },
    }),
});
