import { isWhole, newestEntry, stemOf, type WholeName } from '../../pipelines/readers/packaging.ts';
import { defineSource, inputError, type Probe, type Recognition } from '../../pipelines/contract/source.ts';
import { editionOf, lookAtVectors, readVectorFile, sidecarsOf } from '../../pipelines/readers/vector-members.ts';
import { manifest } from './manifest.ts';
import { classOf } from './schema.ts';

const NAME = /pericolosit\S*_idraulica|(?:^|\/)[HML]PH_/i;
const WHOLE: WholeName = {
  whole: /^(?:[HML]PH_)?Mosaicatura_ISPRA_\d{4}(?:_aree)?_pericolosita_idraulica(?:_(?:elevata|media|bassa))?(?:_v\d+(?:[._]\d+)*)?$/i,
  stated: /Mosaicatura_ISPRA/i,
};
/** Unpacked, each class is a file of its own. */
const CLASS = /^([HML]PH)_/i;

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
  const dated = newestEntry(probe.entries);
  const place = probe.entries === null ? CLASS.exec(stemOf(probe.name))?.[1]?.toUpperCase() : undefined;
  return {
    role: 'mosaic', vintage, region: null, sidecars: sidecarsOf(probe), complete: place === undefined && isWhole([probe.name, ...mine.map(({ path }) => path)], WHOLE),
    ...(dated === undefined ? {} : { dated }), ...(place === undefined ? {} : { place }),
  };
}

export default defineSource({
  manifest,
  names: [/pericolosit\S*_idraulica[^/]*\.(?:zip|shp|gpkg|geojson)$/i],
  tables: { raw_flood_hazard: { class: 'text', scenario: 'text', geom: 'geometry not null' } },
  recognise,
  read: (file, sink) =>
    readVectorFile(file, sink, {
      table: 'raw_flood_hazard',
      geometry: 'polygon',
      columns: { mapped: { scenario: 'scenario' }, ignored: manifest.ignored, mayLack: manifest.optional },
      types: { scenario: 'text' },
      row(fields, layer) {
        const found = classOf(fields.scenario, layer);
        return 'code' in found ? found : { values: [found.class, found.scenario] };
      },
    }),
});
