import { defineSource, inputError, type Probe, type Recognition } from '../../pipelines/kit/source.ts';
import { editionOf, isNational, lookAtVectors, readVectorFile, sidecarsOf } from '../../pipelines/kit/vector-members.ts';
import { manifest } from './manifest.ts';
import { classOf } from './schema.ts';

const NAME = /pericolosit\S*_idraulica|(?:^|\/)[HML]PH_/i;

async function recognise(probe: Probe): Promise<Recognition | null> {
  const looks = await lookAtVectors(probe);
  // By name: the one column is not much to know it by, and reading it says what became of it.
  const mine = looks.filter(({ path }) => NAME.test(`${probe.name}/${path}`));
  if (mine.length === 0) return null;
  const vintage = editionOf(probe.name) ?? mine.map(({ path }) => editionOf(path)).find((edition) => edition !== null) ?? null;
  if (vintage === null) {
    throw inputError('edition of the flood mosaic unknown', {
      code: 'EDITION_UNKNOWN', at: probe.name, detail: 'expected a year such as 2020 in the name of the file or of the shapefiles, found none', hint: 'Give the file the name that ISPRA publishes it under.',
    });
  }
  return { role: 'mosaic', vintage, region: null, sidecars: sidecarsOf(probe), complete: mine.length >= 3 && mine.every(({ extent }) => isNational(extent)) };
}

export default defineSource({
  manifest,
  names: [/pericolosit\S*_idraulica[^/]*\.(?:zip|shp|gpkg|geojson)$/i],
  tables: { raw_flood_hazard: { class: 'text', scenario: 'text', geom: 'geometry' } },
  recognise,
  read: (file, sink) =>
    readVectorFile(file, sink, {
      table: 'raw_flood_hazard',
      geometry: 'polygon',
      columns: { mapped: { scenario: 'scenario' }, ignored: manifest.ignored },
      row(fields, layer) {
        const found = classOf(fields.scenario, layer);
        return 'code' in found ? found : { values: [found.class, found.scenario] };
      },
    }),
});
