/** Reads the land register's map of Trento: one zip per comune catastale (C.C.), or its shapefiles in a folder. */
import { basename } from 'node:path';
import { newestEntry } from '../../pipelines/readers/packaging.ts';
import { refusalOf } from '../../pipelines/readers/refusal.ts';
import { lookAtVectors, readVectorFile, type VectorReading } from '../../pipelines/readers/vector-members.ts';
import type { VectorLayer } from '../../pipelines/formats/vector.ts';
import { normaliseHeader, resembles } from '../../pipelines/formats/csv.ts';
import { defineSource, inputError, type InputFile, type Probe, type Recognition, type Sink } from '../../pipelines/contract/source.ts';
import { layers } from './layers.ts';
import { manifest } from './manifest.ts';
import { boundarySchema, COLUMNS, EDITIONS, parcelSchema, TYPES } from './schema.ts';

/** Name such as `IDR0020240701_TIPOCATSH_CC001.zip`. */
const PACKAGE = /^IDR00(\d{4})(01|07)01_TIPOCATSH_CC(\d{3})/i;
/** Pattern of the name of the layer of pieces, such as `001_vl_parcel_poly`. The pattern captures the prefix `001_vl_`. */
const PIECES = /^(.*(?:^|[^a-z]))parcel_poly(?:\.shp)?$/i;
/** Pattern of the name of the layer of merged parcels (`001_vl_uniqueparcel_poly`), which has the same columns as the layer of pieces. */
const UNITED = /uniqueparcel_poly(?:\.shp)?$/i;

const isPieces = (fields: readonly string[] | null): boolean => fields !== null && resembles(fields, EDITIONS.parcel);
const isBoundary = (fields: readonly string[] | null): boolean => fields !== null && resembles(fields, EDITIONS.boundary);

/** Returns the name of a shapefile's .dbf, as spelled in the folder or zip. */
function tableOf(shp: string, names: readonly string[]): string | undefined {
  return names.find((name) => name.toLowerCase() === `${shp.slice(0, -4).toLowerCase()}.dbf`);
}

/**
 * Returns the number of the C.C. in the first record of a .dbf, or null if the record has no valid number. dBASE III has descriptors of 32 bytes, then records
 * of fixed width.
 */
function ccatOf(head: Buffer): string | null {
  const start = head.readUInt16LE(8);
  let offset = start + 1;
  for (let at = 32; at + 32 <= start && head[at] !== 0x0d; at += 32) {
    const width = head.readUInt8(at + 16);
    if (normaliseHeader(head.toString('latin1', at, at + 11).replace(/\0.*/s, '')) === COLUMNS.parcel.ccat) {
      const found = head.toString('latin1', offset, offset + width).trim();
      return /^\d{1,3}$/.test(found) ? found.padStart(3, '0') : null;
    }
    offset += width;
  }
  return null;
}

/** Extensions of the files that form a shapefile. */
const PARTS = ['shp', 'dbf', 'shx', 'prj', 'cpg', 'qix', 'sbn', 'sbx', 'shp.xml'] as const;

/**
 * Returns the names of files that may accompany the pieces in a folder: the other files of the same shapefile, and the files of the other layers of the C.C.
 */
function folderHint(name: string, stem: string): string[] {
  return [name.slice(0, -4), `${stem}boundary`, `${stem}uniqueparcel_poly`].flatMap((layer) => PARTS.map((part) => `${layer}.${part}`)).filter((each) => each !== name);
}

async function recognise(probe: Probe): Promise<Recognition | null> {
  const looks = (await lookAtVectors(probe)).filter(({ path }) => /\.shp$/i.test(path));
  const [pieces, another] = looks.filter(({ path, fields }) => isPieces(fields) && !UNITED.test(basename(path)));
  // A plain shapefile of a boundary or of merged parcels is not recognised. If the pieces are in the same folder, the boundary is read with the pieces, and the
  // merged parcels are ignored.
  if (pieces === undefined) return null;
  const stop = (detail: string, hint: string): never => {
    throw inputError('the file is not one comune catastale', { code: 'CCAT_INCOMPLETE', at: probe.name, detail, hint });
  };
  if (another !== undefined) {
    stop(`expected the parcels of one comune catastale, found ${pieces.path} and ${another.path}`, 'Use one zip per comune catastale, as published.');
  }
  const zipped = probe.entries !== null;
  const [, stem = ''] = PIECES.exec(basename(pieces.path)) ?? [];
  const bounded = zipped ? looks.some(({ fields }) => isBoundary(fields)) : await probe.headOfSibling(`${stem}boundary.shp`).then(() => true, () => false);
  if (!bounded) {
    stop(
      `expected ${stem}boundary.shp next to ${basename(pieces.path)}, found none`,
      'Add all shapefiles of the comune catastale. The boundary states the comune and the number of parcels.',
    );
  }
  const table = tableOf(pieces.path, probe.entries?.map(({ path }) => path) ?? probe.siblings);
  if (table === undefined) return null;
  const ccat = ccatOf(zipped ? await probe.headOf(table) : await probe.headOfSibling(table));
  const [, year, month, number] = PACKAGE.exec(probe.name) ?? [];
  const dated = newestEntry(probe.entries);
  return {
    role: 'ccat',
    vintage: year === undefined || month === undefined ? pieces.changed ?? '0000' : `${year}-${month}-01`,
    region: 4,
    sidecars: zipped ? [] : folderHint(probe.name, stem),
    complete: false,
    ...(dated === undefined ? {} : { dated }),
    place: `CC${ccat ?? number ?? stem.replace(/\D/g, '')}`,
  };
}

function readingOf(file: InputFile, layer: VectorLayer): VectorReading<string> | null {
  const fields = layer.fields.map(({ name }) => normaliseHeader(name));
  if (UNITED.test(layer.name)) return null;
  const [table, form] = isBoundary(fields) ? ['raw_boundary', 'boundary'] as const : ['raw_piece', 'parcel'] as const;
  if (form === 'parcel' && !PIECES.test(layer.name) && !isPieces(fields)) {
    throw inputError('the file contains an unknown layer', {
      code: 'LAYER_UNEXPECTED', at: `${file.name}, layer ${layer.name}`, detail: `expected …_vl_parcel_poly, …_vl_uniqueparcel_poly or …_vl_boundary, found ${layer.fields.map(({ name }) => name).join(', ')}`,
      hint: 'Use the file as downloaded. If the file is unchanged, remove the file from the folder and report its layers.',
    });
  }
  return {
    table,
    geometry: 'polygon',
    columns: { mapped: COLUMNS[form], ignored: manifest.ignored, editions: EDITIONS[form] },
    types: TYPES[form],
    row(values) {
      if (form === 'boundary') {
        const { data, error } = boundarySchema.safeParse(values);
        if (data === undefined) return refusalOf(values, error);
        return { values: [data.ccat, data.name, data.name_other, data.istat_code, data.comune_name, data.comune_name_other, data.parcels] };
      }
      const { data, error } = parcelSchema.safeParse(values);
      return data === undefined ? refusalOf(values, error) : { values: [data.type, data.code, data.ccat, data.roof] };
    },
  };
}

export default defineSource({
  manifest,
  names: [/^IDR00\d{8}_TIPOCATSH_CC\d{3}[^/]*\.zip$/i, /^\d{3}_vl_parcel_poly\.shp$/i],
  tables: {
    raw_piece: { type: 'text not null', code: 'text not null', ccat: 'text not null', roof: 'text', geom: 'geometry not null' },
    raw_boundary: {
      ccat: 'text not null', name: 'text not null', name_other: 'text', istat_code: 'text', comune_name: 'text', comune_name_other: 'text', parcels: 'int4 not null', geom: 'geometry not null',
    },
  },
  layers,
  unique: { trento_parcel: ['reference'], trento_boundary: ['ccat'] },
  recognise,
  read: (file: InputFile, sink: Sink) => readVectorFile(file, sink, (layer) => readingOf(file, layer), [file.name.replace(PIECES, '$1boundary.shp')]),
});
