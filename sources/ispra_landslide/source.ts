import { normaliseHeader } from '../../pipelines/formats/csv.ts';
import { isWhole, newestEntry, stemOf, type WholeName } from '../../pipelines/readers/packaging.ts';
import { defineSource, inputError, type Probe, type Recognition } from '../../pipelines/contract/source.ts';
import { editionAmong, hasColumn, lookAtVectors, readVectorFile, sidecarsOf } from '../../pipelines/readers/vector-members.ts';
import { layers } from './layers.ts';
import { manifest } from './manifest.ts';
import { classOf, MOSAIC, SERVICES } from './schema.ts';

const LAYOUTS = [...SERVICES, MOSAIC];
const WHOLE: WholeName = {
  whole: /^(?:Mosaicatura_ISPRA_\d{4}(?:_\d{4})?(?:_aree)?_pericolosita_frana(?:_PAI)?(?:_v\d+(?:[._]\d+)*)?|(?:nz2[_-])?aree_peric_frana_pai|(?:idrogeo[_-])?pericolosita_frane)$/i,
  stated: /Mosaicatura_ISPRA|aree_peric_frana_pai|pericolosita_frane/i,
};

/** The publisher's words before the year of the mosaic. */
const TITLE = /Mosaicatura_ISPRA_/i;

async function recognise(probe: Probe): Promise<Recognition | null> {
  const looks = await lookAtVectors(probe);
  const mine = looks.filter((look) => LAYOUTS.some(({ column, layer }) => layer.test(`${probe.name}/${look.path}`) || hasColumn(look, column)));
  if (mine.length === 0) return null;
  const service = SERVICES.find(({ column, layer }) => mine.some((look) => hasColumn(look, column) || layer.test(stemOf(look.path))));
  const vintage = editionAmong([probe.name, ...mine.map(({ path }) => path)], TITLE) ?? service?.edition ?? null;
  if (vintage === null) {
    throw inputError('the edition of the landslide mosaic is unknown', {
      code: 'EDITION_UNKNOWN', at: probe.name, detail: 'expected a year such as 2024 or 2020_2021 in the name, found none', hint: 'Give the file the name under which ISPRA publishes it.',
    });
  }
  const dated = newestEntry(probe.entries);
  return {
    role: 'mosaic', vintage, region: null, sidecars: sidecarsOf(probe), complete: isWhole([probe.name, ...mine.map(({ path }) => path)], WHOLE), ...(dated === undefined ? {} : { dated }),
  };
}

export default defineSource({
  manifest,
  names: [/peric(?:olosit)?\S*_fran[ae][^/]*\.(?:zip|shp|gpkg|geojson|json)$/i],
  tables: { raw_landslide_hazard: { class: 'text', label: 'text', geom: 'geometry not null' } },
  layers,
  recognise,
  read: (file, sink) =>
    readVectorFile<'per_fr_ita'>(file, sink, (layer) => {
      const names = layer.fields.map(({ name }) => normaliseHeader(name));
      const layout = LAYOUTS.find(({ column }) => names.includes(column)) ?? SERVICES.find((each) => each.layer.test(layer.name)) ?? MOSAIC;
      return {
        table: 'raw_landslide_hazard',
        geometry: 'polygon',
        columns: { mapped: { per_fr_ita: layout.column }, ignored: manifest.ignored, mayLack: manifest.optional },
        types: { per_fr_ita: 'text' },
        row(fields) {
          const found = classOf(fields.per_fr_ita, layout);
          return 'code' in found ? found : { values: [found.class, found.label] };
        },
      };
    }),
});
