import { normaliseHeader } from '../../pipelines/formats/csv.ts';
import { isWhole, newestEntry, stemOf, type WholeName } from '../../pipelines/readers/packaging.ts';
import { defineSource, inputError, type Probe, type Recognition } from '../../pipelines/contract/source.ts';
import { editionAmong, hasColumn, lookAtVectors, readVectorFile, sidecarsOf } from '../../pipelines/readers/vector-members.ts';
import { layers } from './layers.ts';
import { manifest } from './manifest.ts';
import { classOf, classOfLayer, MOSAIC, SERVICES } from './schema.ts';

const WHOLE: WholeName = {
  whole: /^(?:[HML]PH_)?Mosaicatura_ISPRA_\d{4}(?:_aree)?_pericolosita_idraulica(?:_(?:elevata|media|bassa))?(?:_v\d+(?:[._]\d+)*)?$/i,
  stated: /Mosaicatura_ISPRA/i,
};
/** Prefix of an unpacked file, which has one class. */
const CLASS = /^([HML]PH)_/i;

/** Edition of version 5.0, assumed for exports of the services without a year in the name. */
const SERVICE_EDITION = '2020';

/** The publisher's words before the year of the mosaic. */
const TITLE = /Mosaicatura_ISPRA_/i;

async function recognise(probe: Probe): Promise<Recognition | null> {
  const looks = await lookAtVectors(probe);
  const isService = looks.some((look) => SERVICES.some(({ column, layer }) => hasColumn(look, column) || layer.test(stemOf(look.path))));
  // The mosaic is recognised by its name, because the column `scenario` alone does not identify the mosaic. The reader reports a missing column. The
  // columns of the services occur only in files of the services.
  const mine = looks.filter(({ path }) => isService || MOSAIC.layer.test(`${probe.name}/${path}`));
  if (mine.length === 0) return null;
  const vintage = editionAmong([probe.name, ...mine.map(({ path }) => path)], TITLE) ?? (isService ? SERVICE_EDITION : null);
  if (vintage === null) {
    throw inputError('the edition of the flood mosaic is unknown', {
      code: 'EDITION_UNKNOWN', at: probe.name, detail: 'expected a year such as 2020 in the name of the file or of the shapefiles, found none', hint: 'Give the file the name under which ISPRA publishes it.',
    });
  }
  const dated = newestEntry(probe.entries);
  const names = probe.entries === null ? [probe.name] : mine.map(({ path }) => path);
  const classes = new Set(names.flatMap((name) => CLASS.exec(stemOf(name))?.[1]?.toUpperCase() ?? []));
  // Several files of one class from a service are used together, so they have no `place`.
  const [place] = classes.size === 1 && !isService ? classes : [];
  const hasAllClasses = classes.size === 0 || classes.size === 3;
  return {
    role: 'mosaic', vintage, region: null, sidecars: sidecarsOf(probe), complete: hasAllClasses && !isService && isWhole([probe.name, ...mine.map(({ path }) => path)], WHOLE),
    ...(dated === undefined ? {} : { dated }), ...(place === undefined ? {} : { place }),
  };
}

export default defineSource({
  manifest,
  names: [/peric(?:olosit)?\S*_idraulica[^/]*\.(?:zip|shp|gpkg|geojson|json)$/i],
  tables: { raw_flood_hazard: { class: 'text', scenario: 'text', geom: 'geometry not null' } },
  layers,
  recognise,
  read: (file, sink) =>
    readVectorFile<'scenario'>(file, sink, (layer) => {
      const names = layer.fields.map(({ name }) => normaliseHeader(name));
      const layout = [...SERVICES, MOSAIC].find(({ column }) => names.includes(column)) ?? SERVICES.find((each) => each.layer.test(layer.name)) ?? MOSAIC;
      return {
        table: 'raw_flood_hazard',
        geometry: 'polygon',
        columns: { mapped: { scenario: layout.column }, ignored: manifest.ignored, mayLack: manifest.optional },
        types: { scenario: 'text' },
        row({ scenario }, name) {
          const found = classOf(scenario, layout.class ?? classOfLayer(name), layout.class === null ? `the name ${name}` : `the column ${layout.column}`);
          return 'code' in found ? found : { values: [found.class, found.scenario] };
        },
      };
    }),
});
