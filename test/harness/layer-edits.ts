/** Edits columns of the layers of a GeoPackage or a File Geodatabase. Reads all layers that have a geometry, and writes them again with one change. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import { openVector, type VectorLayer, type VectorPath } from '../../pipelines/formats/vector.ts';
import { geodatabaseEntries } from '../../pipelines/synthetic/geodatabase-writer.ts';
import { writeGeoPackage, type WrittenLayer } from '../../pipelines/synthetic/geopackage-writer.ts';
import { edited, VALUE, type Edit } from './column-edits.ts';

type Field = WrittenLayer['fields'][number];
type Feature = WrittenLayer['features'] extends Iterable<infer F> ? F : never;
type ReadLayer = Omit<WrittenLayer, 'features'> & { readonly features: readonly Feature[] };

export interface EditableLayer {
  readonly layer: string;
  readonly columns: readonly string[];
  /** Returns the files by name. The only file of a GeoPackage has the name `''`. */
  edit(edit: Edit): Promise<ReadonlyMap<string, Buffer>>;
}

/** Origin and scale of coordinates in the synthetic geodatabases. With these options, coordinates are read back unchanged. */
const GEODATABASE_STEPS = ['XORIGIN=6000000', 'YORIGIN=3000000', 'XYSCALE=100000000'];

/** Returns the plain WKB of an EWKB with SRID. */
function plainWkb(ewkb: Buffer): Buffer {
  const type = Buffer.alloc(4);
  type.writeUInt32LE(ewkb.readUInt32LE(1) & ~0x20000000);
  return Buffer.concat([ewkb.subarray(0, 1), type, ewkb.subarray(9)]);
}

const fieldOf = ({ name, type }: VectorLayer['fields'][number]): Field => ({ name, type: type === 'integer' || type === 'real' ? type : 'string' });

/** Returns the layers of a vector file that have a geometry and at least one other column. */
export async function editableLayers(path: VectorPath): Promise<EditableLayer[]> {
  const isGeodatabase = typeof path !== 'string';
  const dataset = await openVector(path);
  const layers: ReadLayer[] = [];
  try {
    for (const layer of dataset.layers.filter(({ spatial }) => spatial)) {
      const features: Feature[] = [];
      for await (const { properties, ewkb } of dataset.features(layer)) {
        features.push({ values: layer.fields.map(({ name }) => properties[name] ?? null), geometry: ewkb === null ? null : plainWkb(ewkb) });
      }
      layers.push({
        name: layer.name, srid: layer.srid, geometry: isGeodatabase ? 'MultiPolygon' : 'Unknown', fields: layer.fields.map(fieldOf), features,
        ...(isGeodatabase ? { options: GEODATABASE_STEPS } : {}),
      });
    }
  } finally {
    await dataset.close();
  }
  return layers.filter(({ fields }) => fields.length > 0).map(({ name, fields }) => ({
    layer: name,
    columns: fields.map((field) => field.name),
    edit: (edit) => (isGeodatabase ? asGeodatabase : asGeoPackage)(layers.map((layer) => (layer.name === name ? editedLayer(layer, edit) : layer))),
  }));
}

function editedLayer(layer: ReadLayer, edit: Edit): ReadLayer {
  const { fields, features } = layer;
  const own = fields[edit.at];
  const changed = edited<Field>(fields, edit, { name: edit.name, type: 'string' }, { name: edit.name, type: own?.type ?? 'string' });
  // A table cannot have two columns with the same name. The second name has an additional character that readers ignore.
  if (edit.kind === 'doubled') changed[edit.at + 1] = { ...own!, name: `${own!.name}_` };
  if (edit.kind === 'retyped') changed[edit.at] = { ...own!, type: 'date' };
  return {
    ...layer, fields: changed,
    features: features.map(({ values, geometry }) => {
      const cells = edit.kind === 'retyped' ? values.map((value, at) => (at === edit.at ? null : value)) : edited(values, edit, VALUE, values[edit.at] ?? null);
      return { geometry, values: cells };
    }),
  };
}

async function asGeoPackage(layers: readonly ReadLayer[]): Promise<Map<string, Buffer>> {
  const folder = await mkdtemp(join(tmpdir(), 'mappale-layers-'));
  try {
    const path = join(folder, 'edited.gpkg');
    await writeGeoPackage(path, layers);
    return new Map([['', await readFile(path)]]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function asGeodatabase(layers: readonly ReadLayer[]): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for await (const [path, content] of geodatabaseEntries('edited.gdb', layers)) files.set(path.slice('edited.gdb/'.length), await buffer(content as Readable));
  return files;
}

/** Returns the layers of a GeoPackage from its bytes. */
export async function layersOfGeoPackage(content: Buffer): Promise<EditableLayer[]> {
  const folder = await mkdtemp(join(tmpdir(), 'mappale-layers-'));
  try {
    const path = join(folder, 'before.gpkg');
    await writeFile(path, content);
    return await editableLayers(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
