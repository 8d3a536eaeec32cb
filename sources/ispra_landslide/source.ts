import { isWhole, newestEntry, type WholeName } from '../../pipelines/readers/packaging.ts';
import { defineSource, inputError, type Probe, type Recognition } from '../../pipelines/contract/source.ts';
import { editionOf, lookAtVectors, readVectorFile, sidecarsOf } from '../../pipelines/readers/vector-members.ts';
import { manifest } from './manifest.ts';
import { classOf } from './schema.ts';

const NAME = /pericolosit\S*_frana/i;
const WHOLE: WholeName = {
  whole: /^Mosaicatura_ISPRA_\d{4}(?:_\d{4})?(?:_aree)?_pericolosita_frana(?:_PAI)?(?:_v\d+(?:[._]\d+)*)?$/i,
  stated: /Mosaicatura_ISPRA/i,
};

async function recognise(probe: Probe): Promise<Recognition | null> {
  const looks = await lookAtVectors(probe);
  const mine = looks.filter(({ path, fields, head }) => NAME.test(`${probe.name}/${path}`) || (fields !== null ? fields.includes('per_fr_ita') : head.includes('per_fr_ita')));
  if (mine.length === 0) return null;
  const vintage = editionOf(probe.name) ?? mine.map(({ path }) => editionOf(path)).find((edition) => edition !== null) ?? null;
  if (vintage === null) {
    throw inputError('edition of the landslide mosaic unknown', {
      code: 'EDITION_UNKNOWN', at: probe.name, detail: 'expected a year such as 2024 or 2020_2021 in the name, found none', hint: 'Give the file the name that ISPRA publishes it under.',
    });
  }
  const dated = newestEntry(probe.entries);
  return {
    role: 'mosaic', vintage, region: null, sidecars: sidecarsOf(probe), complete: isWhole([probe.name, ...mine.map(({ path }) => path)], WHOLE), ...(dated === undefined ? {} : { dated }),
  };
}

export default defineSource({
  manifest,
  names: [/pericolosit\S*_frana[^/]*\.(?:zip|shp|gpkg|geojson)$/i],
  tables: { raw_landslide_hazard: { class: 'text', label: 'text', geom: 'geometry not null' } },
  recognise,
  read: (file, sink) =>
    readVectorFile(file, sink, {
      table: 'raw_landslide_hazard',
      geometry: 'polygon',
      columns: { mapped: { per_fr_ita: 'per_fr_ita' }, ignored: manifest.ignored, mayLack: manifest.optional },
      types: { per_fr_ita: 'text' },
      row(fields) {
        const found = classOf(fields.per_fr_ita);
        return 'code' in found ? found : { values: [found.class, found.label] };
      },
    }),
});
