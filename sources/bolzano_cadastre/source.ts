/** Reads the land register's map of Bolzano: the layer of parcels of the province's open geodata service, in any of its formats. */
import { resembles } from '../../pipelines/formats/csv.ts';
import { jsonKeys } from '../../pipelines/readers/head.ts';
import { dayOrYearOf, isWhole, newestEntry, stemOf, type WholeName } from '../../pipelines/readers/packaging.ts';
import { refusalOf } from '../../pipelines/readers/refusal.ts';
import { lookAtVectors, readVectorFile, sidecarsOf, type VectorLook, type VectorReading } from '../../pipelines/readers/vector-members.ts';
import { defineSource, type Probe, type Recognition } from '../../pipelines/contract/source.ts';
import { layers } from './layers.ts';
import { manifest } from './manifest.ts';
import { COLUMNS, EDITIONS, OPTIONAL, parcelSchema, TYPES } from './schema.ts';

/** Name of the layer in the service, with or without the workspace. */
const WHOLE: WholeName = { whole: /^(?:p_bz-Cadastre[_:.-])?(?:ParcelsAggregate|WebRepresentation)$/i, stated: /ParcelsAggregate|WebRepresentation/i };

/** Returns whether a file has most of the columns of the parcels. The reader reports the missing columns. */
function isMine({ path, fields, head }: Pick<VectorLook, 'path' | 'fields' | 'head'>): boolean {
  if (fields !== null) return resembles(fields, EDITIONS);
  // The first properties in the file may be the properties of the reference system.
  const names = /json$/i.test(path) ? [...head.toString('utf8').matchAll(/"properties"\s*:\s*\{([^{}]*)/g)].flatMap(([, inner = '']) => jsonKeys(inner)) : head.toString('latin1').match(/PART_\w+/gi);
  return resembles([...new Set(names ?? [])], EDITIONS);
}

async function recognise(probe: Probe): Promise<Recognition | null> {
  // Many programs save the service's GeoJSON response as .json.
  const plain = probe.entries === null && /\.json$/i.test(probe.name);
  const mine = (plain ? [{ path: probe.name, fields: null, changed: null, head: probe.head, properties: null }] : await lookAtVectors(probe)).filter(isMine);
  if (mine.length === 0) return null;
  const dated = newestEntry(probe.entries);
  return {
    role: 'parcels',
    vintage: dayOrYearOf(stemOf(probe.name)) ?? dated ?? mine[0]?.changed ?? '0000',
    region: 4,
    sidecars: sidecarsOf(probe),
    complete: isWhole([probe.name, ...mine.map(({ path }) => path)], WHOLE),
    ...(dated === undefined ? {} : { dated }),
  };
}

const READING: VectorReading<keyof typeof COLUMNS> = {
  table: 'raw_parcel',
  geometry: 'polygon',
  columns: { mapped: COLUMNS, optional: OPTIONAL, ignored: manifest.ignored, mayLack: manifest.optional },
  types: TYPES,
  row(fields) {
    const { data, error } = parcelSchema.safeParse(fields);
    if (data === undefined) return refusalOf(fields, error);
    return { values: [data.code, data.registered_area_m2, data.ccat, data.name, data.name_other, data.comune_name, data.comune_name_other, data.istat_code] };
  },
};

export default defineSource({
  manifest,
  names: [/(?:ParcelsAggregate|p_bz-Cadastre)[^/]*\.(?:zip|shp|gpkg|geojson|json)$/i],
  tables: {
    raw_parcel: {
      code: 'text not null', registered_area_m2: 'float8', ccat: 'text not null', name: 'text', name_other: 'text', comune_name: 'text', comune_name_other: 'text', istat_code: 'text',
      geom: 'geometry not null',
    },
  },
  layers,
  places: { bolzano_parcel: { place: 'ccat' }, bolzano_piece: { place: 'ccat' }, bolzano_comune: { place: 'ccat' } },
  unique: { bolzano_parcel: ['reference'] },
  recognise,
  read: (file, sink) => readVectorFile(file, sink, READING),
});
