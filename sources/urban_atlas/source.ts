import { newestEntry, stemOf } from '../../pipelines/readers/packaging.ts';
import { defineSource, inputError, type InputFile, type Probe, type Recognition } from '../../pipelines/contract/source.ts';
import { lookAtVectors, readVectorFile, sidecarsOf, type VectorLook, type VectorReading } from '../../pipelines/readers/vector-members.ts';
import type { VectorLayer } from '../../pipelines/formats/vector.ts';
import { manifest } from './manifest.ts';
import { landUseOf } from './schema.ts';

/** `IT025L3_NAPOLI_UA2018_v013`: the urban area, its name, the year, the issue; what else stands behind the year is another product. */
const NAME = /^([A-Z]{2}\d{3}L\d)_.+?_UA(\d{4})(.*)$/i;
const ISSUE = /^_v(\d+)$/i;
/** The year that is read. */
const YEAR = '2018';
const BOUNDARY = /_Boundary$/i;
const URBAN_CORE = /_Urban_?Core$/i;

const hasColumns = ({ fields, head }: VectorLook): boolean => ['code_2018', 'class_2018'].every((name) => (fields === null ? head.toString('latin1').toLowerCase().includes(name) : fields.includes(name)));

async function recognise(probe: Probe): Promise<Recognition | null> {
  const looks = await lookAtVectors(probe);
  const own = looks.filter(({ path }) => !BOUNDARY.test(stemOf(path)) && !URBAN_CORE.test(stemOf(path)));
  const said = [stemOf(probe.name), ...own.map(({ path }) => stemOf(path))].map((name) => NAME.exec(name)).find((found) => found !== null);
  const [, area, year = YEAR, rest = ''] = said ?? [];
  if (said !== undefined && (year !== YEAR || !(rest === '' || ISSUE.test(rest)))) {
    return {
      role: 'other', vintage: year, region: null, sidecars: sidecarsOf(probe), complete: false, ignored: `the Urban Atlas of another year, or another product of it; its land use of ${YEAR} is read`,
    };
  }
  if (!own.some((look) => hasColumns(look) || NAME.test(stemOf(look.path)))) return null;
  const dated = ISSUE.exec(rest)?.[1] ?? newestEntry(probe.entries);
  return {
    role: 'urban_area', vintage: YEAR, region: null, sidecars: sidecarsOf(probe), complete: false, place: area?.toUpperCase() ?? stemOf(probe.name), ...(dated === undefined ? {} : { dated }),
  };
}

function readingOf(file: InputFile, { name, fields }: VectorLayer): VectorReading<string> | null {
  if (URBAN_CORE.test(name)) return null;
  if (BOUNDARY.test(name)) {
    return {
      table: 'raw_urban_area', geometry: 'polygon', ofEurope: true,
      // Of the boundary its shape alone is used.
      columns: { mapped: {}, ignored: { ...manifest.ignored, fua_code: 'only the shape is used' }, mayLack: ['*'] },
      types: {},
      row: () => ({ values: [] }),
    };
  }
  if (!fields.some((field) => /^code_2018$/i.test(field.name))) {
    throw inputError('the file holds a layer that is not known', {
      code: 'LAYER_UNEXPECTED', at: `${file.name}, layer ${name}`, detail: `expected the land use with code_2018, …_Boundary or …_UrbanCore, found ${fields.map((field) => field.name).join(', ')}`,
      hint: 'Take the layer out of the file, or teach sources/urban_atlas what it is.',
    });
  }
  return {
    table: 'raw_land_use', geometry: 'polygon', ofEurope: true,
    columns: { mapped: { fua_code: 'fua_code', code: 'code_2018', class: 'class_2018' }, ignored: manifest.ignored, mayLack: manifest.optional },
    types: { fua_code: 'text', code: 'text', class: 'text' },
    row(values) {
      const found = landUseOf(values);
      return 'message' in found ? found : { values: [found.fua_code, found.code, found.class] };
    },
  };
}

export default defineSource({
  manifest,
  names: [/^[A-Z]{2}\d{3}L\d_[^/]*_UA2018(?:_v\d+)?\.(?:zip|gpkg)$/i],
  tables: {
    raw_land_use: { fua_code: 'text not null', code: 'text not null', class: 'text', geom: 'geometry not null' },
    raw_urban_area: { geom: 'geometry not null' },
  },
  recognise,
  read: (file, sink) => readVectorFile(file, sink, (layer) => readingOf(file, layer)),
});
