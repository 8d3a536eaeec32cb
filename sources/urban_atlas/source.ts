import { resembles } from '../../pipelines/formats/csv.ts';
import { newestEntry, stemOf } from '../../pipelines/readers/packaging.ts';
import { defineSource, inputError, type InputFile, type Probe, type Recognition } from '../../pipelines/contract/source.ts';
import { lookAtVectors, readVectorFile, sidecarsOf, whyAside, type LayerAside, type LayerNames, type VectorLook, type VectorReading } from '../../pipelines/readers/vector-members.ts';
import type { VectorLayer } from '../../pipelines/formats/vector.ts';
import { layers } from './layers.ts';
import { manifest } from './manifest.ts';
import { LAND_USE, landUseOf, OF_THE_YEAR } from './schema.ts';

/**
 * Pattern of names such as `IT025L3_NAPOLI_UA2018_v013`: the code of the urban area, its name, the year, the rest. If the rest is not empty, and neither an
 * issue nor `_Boundary` or `_UrbanCore`, the file is a different product.
 */
const NAME = /^([A-Z]{2}\d{3}L\d)_.+?_UA(\d{4})([^]*)$/i;
const ISSUE = /^_v(\d+)$/i;
const LAYERS: LayerNames = { subject: 'land use', year: '2018', map: /_UA(\d{4})(?!\d)/i, changes: /(?:^|_)changes?(?![a-z])/i };
/** Returns whether a file name belongs to a map or a change file of one urban area, such as `EE003L1_NARVA_change_2012_2018`. */
const isNamed = (name: string): boolean => /^[A-Z]{2}\d{3}L\d_/i.test(name) && (LAYERS.map.test(name) || LAYERS.changes.test(name));
/** Reason for ignoring other products of the same area and year, such as street trees and building heights. */
const OTHER_PRODUCT: LayerAside = { aside: `another product; the land use of ${LAYERS.year} is read` };
const BOUNDARY = /_Boundary$/i;
const URBAN_CORE = /_Urban_?Core$/i;

/** Returns whether a file has most columns of the land use, and at least one column that no other map has. The reader reports the missing columns. */
function hasColumns({ fields, head }: VectorLook): boolean {
  const found = fields ?? [...new Set(head.toString('latin1').toLowerCase().match(/\b\w{3,40}\b/g))];
  return OF_THE_YEAR.some((name) => found.includes(name)) && resembles(found, LAND_USE);
}

/**
 * Returns the reason why a file or layer is not read, from its name. Returns null for a file that is read and for a name that is not from the Urban
 * Atlas.
 */
function notRead(name: string): LayerAside | null {
  const [, , , rest = ''] = NAME.exec(name) ?? [];
  const isRead = rest === '' || ISSUE.test(rest) || BOUNDARY.test(rest) || URBAN_CORE.test(rest);
  return whyAside(name, LAYERS) ?? (isRead ? null : OTHER_PRODUCT);
}

async function recognise(probe: Probe): Promise<Recognition | null> {
  const looks = await lookAtVectors(probe);
  const own = looks.filter(({ path }) => !BOUNDARY.test(stemOf(path)) && !URBAN_CORE.test(stemOf(path)));
  // The names of files inside a zip take precedence over the name of the zip. One readable file is enough.
  const inside = own.map(({ path }) => stemOf(path)).filter(isNamed);
  const names = inside.length > 0 ? inside : [stemOf(probe.name)].filter(isNamed);
  const [name] = names;
  const aside = name === undefined || names.some((each) => notRead(each) === null) ? null : notRead(name);
  if (name !== undefined && aside !== null) {
    const vintage = NAME.exec(name)?.[2] ?? '0000';
    return { role: 'other', vintage, region: null, sidecars: sidecarsOf(probe), complete: false, ignored: `Urban Atlas: ${aside.aside}` };
  }
  const [, area, , rest = ''] = NAME.exec(names.find((each) => notRead(each) === null) ?? '') ?? [];
  if (!own.some((look) => hasColumns(look) || NAME.test(stemOf(look.path)))) return null;
  const issue = [rest, NAME.exec(stemOf(probe.name))?.[3] ?? ''].map((each) => ISSUE.exec(each)?.[1]).find((each) => each !== undefined);
  const dated = issue ?? newestEntry(probe.entries);
  return {
    role: 'urban_area', vintage: LAYERS.year, region: null, sidecars: sidecarsOf(probe), complete: false, place: area?.toUpperCase() ?? stemOf(probe.name), ...(dated === undefined ? {} : { dated }),
  };
}

function readingOf(file: InputFile, { name, fields }: VectorLayer): VectorReading<string> | LayerAside {
  if (URBAN_CORE.test(name)) return { aside: 'the layer is the city inside the urban area, which is not served' };
  const aside = notRead(name);
  if (aside !== null) return aside;
  if (BOUNDARY.test(name)) {
    return {
      table: 'raw_urban_area', geometry: 'polygon', ofEurope: true,
      // Only the shape of the boundary is used.
      columns: { mapped: {}, ignored: { ...manifest.ignored, fua_code: 'only the shape of the boundary is used' }, mayLack: { '*': 'only the shape of the boundary is used' } },
      types: {},
      row: () => ({ values: [] }),
    };
  }
  if (!resembles(fields.map((field) => field.name), LAND_USE)) {
    throw inputError('the file contains an unknown layer', {
      code: 'LAYER_UNEXPECTED', at: `${file.name}, layer ${name}`, detail: `expected the land use with most of its columns, …_Boundary or …_UrbanCore, found ${fields.map((field) => field.name).join(', ')}`,
      hint: 'Use the file as downloaded. If the file is unchanged, remove the file from the folder and report its layers.',
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
  names: [/^[A-Z]{2}\d{3}L\d_[^/]*_UA2018(?:_v\d+)?\.(?:(?:gpkg\.|shp\.)?zip|gpkg)$/i],
  tables: {
    raw_land_use: { fua_code: 'text not null', code: 'text not null', class: 'text', geom: 'geometry not null' },
    raw_urban_area: { geom: 'geometry not null' },
  },
  layers,
  recognise,
  read: (file, sink) => readVectorFile(file, sink, (layer) => readingOf(file, layer)),
});
