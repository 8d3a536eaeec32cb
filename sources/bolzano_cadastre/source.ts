/** The land register's map of Bolzano: the layer of parcels of the province's open geodata service, whatever form it was taken in. */
import { jsonKeys } from '../../pipelines/readers/head.ts';
import { isWhole, newestEntry, stemOf, type WholeName } from '../../pipelines/readers/packaging.ts';
import { refusalOf } from '../../pipelines/readers/refusal.ts';
import { lookAtVectors, readVectorFile, sidecarsOf, type VectorLook, type VectorReading } from '../../pipelines/readers/vector-members.ts';
import type { VectorLayer } from '../../pipelines/formats/vector.ts';
import { defineSource, type InputFile, type Probe, type Recognition, type Sink } from '../../pipelines/contract/source.ts';
import { manifest } from './manifest.ts';
import { COLUMNS, MARKS, OPTIONAL, parcelSchema } from './schema.ts';

/** The layer as the service names it, with or without its workspace. */
const WHOLE: WholeName = { whole: /^(?:p_bz-Cadastre[_:.-])?(?:ParcelsAggregate|WebRepresentation)$/i, stated: /ParcelsAggregate|WebRepresentation/i };
const AGGREGATE = /ParcelsAggregate/i;
const DRAWING = /WebRepresentation/i;

function isMine({ path, fields, head }: VectorLook): boolean {
  if (fields !== null) return MARKS.every((mark) => fields.some((field) => mark.test(field)));
  const names = /\.geojson$/i.test(path) ? jsonKeys(/"properties"\s*:\s*\{([^{}]*)/.exec(head.toString('utf8'))?.[1] ?? '').join(' ') : head.toString('latin1');
  return MARKS.every((mark) => mark.test(names));
}

/** `ParcelsAggregate_2025-03-01` → `2025-03-01`, `…_20250301`, `…_2025`. */
function editionOf(name: string): string | null {
  const [, year, month, day] = /(?<!\d)(20\d\d)(?:-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01]))?(?!\d)/.exec(name) ?? [];
  return year === undefined ? null : [year, month, day].filter((part) => part !== undefined).join('-');
}

/** Day of the last change of a .dbf, from its head. */
async function changedOf(probe: Probe): Promise<string | null> {
  const table = probe.entries === null && /\.shp$/i.test(probe.name) ? probe.siblings.find((name) => name.toLowerCase() === `${probe.name.slice(0, -4).toLowerCase()}.dbf`) : undefined;
  if (table === undefined) return null;
  const head = await probe.headOfSibling(table);
  const [year, month, day] = [1900 + head.readUInt8(1), head.readUInt8(2), head.readUInt8(3)];
  return month >= 1 && month <= 12 && day >= 1 && day <= 31 ? [year, String(month).padStart(2, '0'), String(day).padStart(2, '0')].join('-') : null;
}

async function recognise(probe: Probe): Promise<Recognition | null> {
  const mine = (await lookAtVectors(probe)).filter(isMine);
  if (mine.length === 0) return null;
  const dated = newestEntry(probe.entries);
  const found: Recognition = {
    role: 'parcels',
    vintage: editionOf(stemOf(probe.name)) ?? dated ?? (await changedOf(probe)) ?? '0000',
    region: 4,
    sidecars: sidecarsOf(probe),
    complete: isWhole([probe.name, ...mine.map(({ path }) => path)], WHOLE),
    ...(dated === undefined ? {} : { dated }),
  };
  const onlyDrawing = mine.every(({ path }) => DRAWING.test(path)) && !AGGREGATE.test(probe.name);
  const beside = probe.siblings.some((name) => AGGREGATE.test(name) && /\.(?:zip|shp|gpkg|geojson)$/i.test(name));
  return onlyDrawing && beside ? { ...found, ignored: manifest.ignored['WebRepresentation'] } : found;
}

function readingOf(isAside: (layer: string) => boolean, layer: VectorLayer): VectorReading<string> | null {
  if (isAside(layer.name)) return null;
  // Names that mean the same are listed together in the manifest.
  const ignored = Object.fromEntries(Object.entries(manifest.ignored).flatMap(([names, reason]) => names.split(', ').map((name) => [name, reason])));
  return {
    table: 'raw_parcel',
    geometry: 'polygon',
    columns: { mapped: COLUMNS, optional: OPTIONAL, ignored },
    row(fields) {
      const { data, error } = parcelSchema.safeParse(fields);
      if (data === undefined) return refusalOf(fields, error);
      return { values: [data.code, data.ccat, data.name, data.name_other, data.comune_name, data.comune_name_other, data.istat_code] };
    },
  };
}

async function read(file: InputFile, sink: Sink): Promise<void> {
  let hasAggregate = false;
  await readVectorFile(file, sink, (layer) => {
    hasAggregate ||= AGGREGATE.test(layer.name);
    return readingOf((name) => hasAggregate && DRAWING.test(name), layer);
  });
}

export default defineSource({
  manifest,
  names: [/(?:ParcelsAggregate|p_bz-Cadastre)[^/]*\.(?:zip|shp|gpkg|geojson)$/i],
  tables: {
    raw_parcel: {
      code: 'text not null', ccat: 'text not null', name: 'text', name_other: 'text', comune_name: 'text', comune_name_other: 'text', istat_code: 'text', geom: 'geometry not null',
    },
  },
  places: { bolzano_parcel: { place: 'ccat' }, bolzano_piece: { place: 'ccat' }, bolzano_comune: { place: 'ccat' } },
  unique: { bolzano_parcel: ['reference'] },
  recognise,
  read,
});
