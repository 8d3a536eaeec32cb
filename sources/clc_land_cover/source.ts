import { newestEntry, stemOf } from '../../pipelines/readers/packaging.ts';
import { refusalOf } from '../../pipelines/readers/refusal.ts';
import { defineSource, type Probe, type Recognition } from '../../pipelines/contract/source.ts';
import { lookAtVectors, readVectorFile, sidecarsOf, whyAside, type LayerNames, type VectorLook } from '../../pipelines/readers/vector-members.ts';
import { layers } from './layers.ts';
import { manifest } from './manifest.ts';
import { landCoverRow } from './schema.ts';

/**
 * Pattern of names: `U2018_CLC2018_V2020_20u1` and, in national deliveries, `clc18_it`. The first year is the year of the campaign, and the year
 * after CLC is the year of the map.
 */
const LAYERS: LayerNames = {
  subject: 'land cover', year: '2018', map: /(?:^|[_.-])CLC_?(\d{4}|\d{2})(?!\d)/i, changes: /(?:^|[_.-])CHA_?\d/i,
};
/** Issue of the map in the name, such as `V2020_20u1`. */
const ISSUE = /(?:^|_)CLC\d{4}_V(\d{4}_?\d+[a-z]?\d*)/i;
/** Pattern of the published name of the whole map. Files that were cut from the map have longer or shorter names. */
const WHOLE = /^U\d{4}_CLC2018_V\d{4}_\d+[a-z]?\d*(?:_(?:geoPackage|shp|vector))?$/i;
/** Pattern of the names of the map in other formats. */
const OTHER_FORM = /\.(?:tiff?|gdb(?:\/|$))/i;
/** Names of the overseas departments of France, which are separate layers of the package. */
const OVERSEAS = /_FR_[A-Z]{3}$/i;

const hasColumn = ({ fields, head }: VectorLook): boolean => (fields === null ? /"?code_18"?\b/i.test(head.toString('latin1')) : fields.includes('code_18'));

/**
 * Pattern of the SQL that creates a table with a map or with changes in a GeoPackage. Any such table is enough to recognise the file, because the layer of
 * the right year may be defined after the first bytes.
 */
const TABLE = /CREATE TABLE "(?:\w{1,60}_)?(?:CLC|CHA)_?\d{2,4}(?:_\w{1,60})?"/i;
const hasTable = ({ path, head }: VectorLook): boolean => /\.gpkg$/i.test(path) && TABLE.test(head.toString('latin1'));

async function recognise(probe: Probe): Promise<Recognition | null> {
  const looks = (await lookAtVectors(probe)).filter(({ path }) => !OVERSEAS.test(stemOf(path)));
  const names = [...looks.map(({ path }) => stemOf(path)), stemOf(probe.name)];
  const aside = (name: string, ignored: string): Recognition => (
    { role: 'other', vintage: /CLC(\d{4})/i.exec(name)?.[1] ?? '0000', region: null, sidecars: sidecarsOf(probe), complete: false, ignored }
  );
  if (looks.length === 0) {
    const other = [probe.name, ...(probe.entries ?? []).map(({ path }) => path)].find((name) => OTHER_FORM.test(name));
    return other === undefined || !LAYERS.map.test(stemOf(probe.name)) ? null : aside(probe.name, 'the file is the raster or File Geodatabase of CORINE. Use the vector map as GeoPackage or shapefile');
  }
  // The name of the zip determines the year of all its files. If the zip's name has no year, one file of the right year in the zip is enough.
  const outer = whyAside(stemOf(probe.name), LAYERS);
  const statements = looks.map(({ path }) => outer ?? whyAside(stemOf(path), LAYERS));
  const [other] = statements;
  if (other !== null && other !== undefined && !statements.includes(null)) return aside(outer === null ? names[0] ?? '' : stemOf(probe.name), `CORINE: ${other.aside}`);
  if (!looks.some((look) => hasColumn(look) || hasTable(look) || LAYERS.map.test(stemOf(look.path)))) return null;
  const dated = names.map((name) => ISSUE.exec(name)?.[1]).find((issue) => issue !== undefined)?.toLowerCase() ?? newestEntry(probe.entries);
  return {
    role: 'map', vintage: LAYERS.year, region: null, sidecars: sidecarsOf(probe), complete: WHOLE.test(stemOf(probe.name)), ...(dated === undefined ? {} : { dated }),
  };
}

export default defineSource({
  manifest,
  names: [/CLC2018[^/]*\.(?:zip|shp|gpkg|geojson)$/i],
  tables: { raw_land_cover: { clc_id: 'text', code: 'text not null', description: 'text not null', geom: 'geometry not null' } },
  layers,
  recognise,
  read: (file, sink) =>
    readVectorFile(file, sink, ({ name }) => (OVERSEAS.test(name) ? { aside: 'the layer is an overseas department of France' } : whyAside(name, LAYERS) ?? {
      table: 'raw_land_cover',
      geometry: 'polygon',
      ofEurope: true,
      columns: { mapped: { code: 'code_18', clc_id: 'id' }, optional: ['clc_id'], ignored: manifest.ignored, mayLack: manifest.optional },
      types: { code: 'text', clc_id: 'text' },
      row(fields) {
        const parsed = landCoverRow.safeParse(fields);
        return parsed.success ? { values: [parsed.data.clc_id, parsed.data.code, parsed.data.description] } : refusalOf(fields, parsed.error);
      },
    })),
});
