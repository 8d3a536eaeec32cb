import { isWhole, newestEntry, type WholeName } from '../../pipelines/readers/packaging.ts';
import { defineSource, inputError, type Probe, type Recognition } from '../../pipelines/contract/source.ts';
import { editionAmong, lookAtVectors, readVectorFile, sidecarsOf } from '../../pipelines/readers/vector-members.ts';
import { layers } from './layers.ts';
import { manifest } from './manifest.ts';
import { COLUMNS, segmentOf, yearsOf } from './schema.ts';

const NAME = /dinamica\S{0,8}litoranea|linea\S{0,8}costa/i;
const WHOLE: WholeName = { whole: /^(?:Dinamica_?Litoranea_\d{4}_\d{4}|(?:\d\d)?Linea_?(?:di_?)?costa_?\d{4}(?:_v\d+(?:[._]\d+)*)?(?:_DT)?)$/i, stated: NAME };
/** Pattern of the names of other layers in the same publication. */
const COMPANION = /retrospiaggia|spiagge|opere_?rigide/i;
const ASIDE = 'beaches, back-shore or coastal works; the section uses only the shoreline change';

async function recognise(probe: Probe): Promise<Recognition | null> {
  const looks = await lookAtVectors(probe);
  const mine = looks.filter(({ path }) => NAME.test(`${probe.name}/${path}`));
  if (mine.length === 0) return null;
  // NAME also matches the other layers, because the name of the file or layer contains the title of the publication.
  const companions = mine.filter(({ path }) => COMPANION.test(path));
  const edition = editionAmong([probe.name, ...mine.map(({ path }) => path)], NAME);
  if (edition === null) {
    throw inputError('the edition of the shoreline is unknown', {
      code: 'EDITION_UNKNOWN', at: probe.name, detail: 'expected a year such as 2020 in the name, found none', hint: 'Give the file the name under which ISPRA publishes it.',
    });
  }
  const dated = newestEntry(probe.entries);
  const recognition = {
    role: 'dynamics', vintage: edition.slice(-4), region: null, sidecars: sidecarsOf(probe), complete: isWhole([probe.name, ...mine.map(({ path }) => path)], WHOLE),
    ...(dated === undefined ? {} : { dated }),
  };
  if (companions.length === mine.length) return { ...recognition, role: 'companion', complete: false, ignored: ASIDE };
  return recognition;
}

export default defineSource({
  manifest,
  names: [/dinamica_?litoranea[^/]*\.(?:zip|shp|gpkg|geojson)$/i],
  tables: { raw_shoreline_segment: { dynamic: 'text', avg_change_m_year: 'float8', geom: 'geometry not null' } },
  layers,
  recognise,
  read: (file, sink) =>
    readVectorFile<keyof typeof COLUMNS>(file, sink, ({ name }) => COMPANION.test(name) ? { aside: ASIDE } : {
      table: 'raw_shoreline_segment',
      geometry: 'line',
      columns: { mapped: COLUMNS, optional: ['rate', 'change'], ignored: manifest.ignored, mayLack: manifest.optional },
      types: { dynamic: 'text', rate: 'number', change: 'number' },
      row(fields, layer) {
        const found = segmentOf(fields, yearsOf(layer) ?? yearsOf(file.name));
        return 'code' in found ? found : { values: [found.dynamic, found.rate] };
      },
    }),
});
