import { newestEntry, stemOf } from '../../pipelines/readers/packaging.ts';
import { refusalOf } from '../../pipelines/readers/refusal.ts';
import { defineSource, type Probe, type Recognition } from '../../pipelines/contract/source.ts';
import { lookAtVectors, readVectorFile, sidecarsOf, type VectorLook } from '../../pipelines/readers/vector-members.ts';
import { manifest } from './manifest.ts';
import { landCoverRow } from './schema.ts';

/** `U2018_CLC2018_V2020_20u1`: the campaign, the year that is mapped (the campaign of 2018 mapped 2012 again), and the issue. */
const NAME = /(?:^|_)CLC(\d{4})(?:_V(\d{4}_?\d+[a-z]?\d*))?/i;
/** Changes between two years, in the same form as the maps. */
const CHANGES = /(?:^|_)CHA\d{4}/i;
/** The year that is read. */
const YEAR = '2018';
/** As published; what is cut out of it by somebody says more in its name, or less. */
const WHOLE = /^U\d{4}_CLC2018_V\d{4}_\d+[a-z]?\d*(?:_(?:geoPackage|shp|vector))?$/i;
/** What the map is published as besides. */
const OTHER_FORM = /\.(?:tiff?|gdb(?:\/|$))/i;
/** Overseas departments of France, which the package has in layers of their own. */
const OVERSEAS = /_FR_[A-Z]{3}$/i;

const hasColumn = ({ fields, head }: VectorLook): boolean => (fields === null ? /"?code_18"?\b/i.test(head.toString('latin1')) : fields.includes('code_18'));

async function recognise(probe: Probe): Promise<Recognition | null> {
  const looks = (await lookAtVectors(probe)).filter(({ path }) => !OVERSEAS.test(stemOf(path)));
  const names = [...looks.map(({ path }) => stemOf(path)), stemOf(probe.name)];
  const aside = (name: string, ignored: string): Recognition => (
    { role: 'other', vintage: NAME.exec(name)?.[1] ?? '0000', region: null, sidecars: sidecarsOf(probe), complete: false, ignored }
  );
  if (looks.length === 0) {
    const other = [probe.name, ...(probe.entries ?? []).map(({ path }) => path)].find((name) => OTHER_FORM.test(name));
    return other === undefined || !NAME.test(stemOf(probe.name)) ? null : aside(probe.name, 'the raster or File Geodatabase of CORINE; the vector map is read, as GeoPackage or shapefile');
  }
  const other = names.find((name) => CHANGES.test(name) || (NAME.exec(name)?.[1] ?? YEAR) !== YEAR);
  if (other !== undefined) return aside(other, `CORINE of another year, or changes between years; the land cover of ${YEAR} is read`);
  if (!looks.some((look) => hasColumn(look) || NAME.test(stemOf(look.path)))) return null;
  const dated = names.map((name) => NAME.exec(name)?.[2]).find((issue) => issue !== undefined)?.toLowerCase() ?? newestEntry(probe.entries);
  return {
    role: 'map', vintage: YEAR, region: null, sidecars: sidecarsOf(probe), complete: WHOLE.test(stemOf(probe.name)), ...(dated === undefined ? {} : { dated }),
  };
}

export default defineSource({
  manifest,
  names: [/CLC2018[^/]*\.(?:zip|shp|gpkg|geojson)$/i],
  tables: { raw_land_cover: { clc_id: 'text', code: 'text not null', description: 'text not null', geom: 'geometry not null' } },
  recognise,
  read: (file, sink) =>
    readVectorFile(file, sink, ({ name }) => (OVERSEAS.test(name) ? null : {
      table: 'raw_land_cover',
      geometry: 'polygon',
      ofEurope: true,
      columns: { mapped: { code: 'code_18', clc_id: 'id' }, ignored: manifest.ignored, mayLack: manifest.optional },
      types: { code: 'text', clc_id: 'text' },
      row(fields) {
        const parsed = landCoverRow.safeParse(fields);
        return parsed.success ? { values: [parsed.data.clc_id, parsed.data.code, parsed.data.description] } : refusalOf(fields, parsed.error);
      },
    })),
});
