import { newestEntry, stemOf } from '../../pipelines/readers/packaging.ts';
import { refusalOf } from '../../pipelines/readers/refusal.ts';
import { defineSource, inputError, type Probe, type Recognition } from '../../pipelines/contract/source.ts';
import { geodatabaseFolders, readVectorFile, type VectorReading } from '../../pipelines/readers/vector-members.ts';
import { layers } from './layers.ts';
import { manifest } from './manifest.ts';
import { record } from './schema.ts';

/** Pattern of the names of layers of buildings. A zip may contain several layers of buildings. */
const LAYER = /^edifc(?:_|$)/i;

/**
 * Returns the names of layers of buildings in a geodatabase's catalogue. In the catalogue, each name follows its length. GDAL 3.6 skips a table that
 * is in the catalogue but not in the folder. The caller therefore compares the names with the layers that GDAL finds.
 */
function catalogued(catalogue: Buffer): string[] {
  return [...catalogue.toString('latin1').matchAll(/edifc(?:_[a-z0-9]+)*/gi)].flatMap(({ 0: name, index }) => (catalogue[index - 1] === name.length ? [name] : []));
}

const catalogueOf = (folder: string): string => `${folder}/a00000001.gdbtable`;

/** Pattern of the province, which is the part before dbsn in `PZ_dbsn_2025-07-28` and `Potenza_dbsn`. */
const PROVINCE = /^([\p{L}'’ .-]+?)[ _-]*dbsn/iu;

async function recognise(probe: Probe): Promise<Recognition | null> {
  const folders = geodatabaseFolders(probe.entries ?? []);
  const mine: string[] = [];
  for (const folder of folders) if (catalogued(await probe.headOf(catalogueOf(folder))).length > 0) mine.push(folder);
  if (mine.length === 0) return null;
  const packed = newestEntry(probe.entries);
  const day = /(?<!\d)(20\d\d)[-_]?(0[1-9]|1[0-2])[-_]?(0[1-9]|[12]\d|3[01])(?!\d)/.exec(probe.name)?.slice(1).join('-');
  // There is one file per province. A newer file supersedes an older file of the same province.
  const places = [...new Set(mine.flatMap((folder) => PROVINCE.exec(stemOf(folder))?.[1] ?? []))].sort();
  const place = places.length > 0 ? places.join(', ') : PROVINCE.exec(stemOf(probe.name))?.[1];
  return {
    role: 'edifc', vintage: day ?? packed ?? '0000', region: null, complete: false,
    ...(packed === undefined ? {} : { dated: packed }), ...(place === undefined ? {} : { place: place.toUpperCase() }),
  };
}

const BUILDINGS: VectorReading<'use' | 'type' | 'state' | 'level' | 'name' | 'origin'> = {
  table: 'raw_dbsn_building',
  geometry: 'polygon',
  columns: {
    mapped: { use: 'edifc_uso', type: 'edifc_ty', state: 'edifc_stat', level: 'edifc_sot', name: 'edifc_nome', origin: 'meta_ist' },
    ignored: manifest.ignored,
    mayLack: manifest.optional,
  },
  types: { use: 'text', type: 'text', state: 'text', level: 'text', name: 'text', origin: 'text' },
  row(fields) {
    const parsed = record.safeParse(fields);
    if (!parsed.success) return refusalOf(fields, parsed.error);
    const { use, type, state, level, name, origin, counts, residential } = parsed.data;
    return { values: [use, type, state, level, name, origin, counts, residential] };
  },
};

export default defineSource({
  manifest,
  names: [/dbsn[^/]*\.zip$/i],
  tables: {
    raw_dbsn_building: {
      use: 'text', type: 'text', state: 'text', level: 'text', name: 'text', origin: 'text', counts: 'bool not null', residential: 'bool not null', geom: 'geometry not null',
    },
  },
  layers,
  recognise,
  async read(file, sink) {
    const zip = await file.zip();
    const expected: string[] = [];
    try {
      for (const folder of geodatabaseFolders(zip.entries)) expected.push(...catalogued(await zip.head(catalogueOf(folder))));
    } finally {
      await zip.close();
    }
    const found: string[] = [];
    await readVectorFile(file, sink, ({ name }) => {
      // The geodatabase has about eighty other layers.
      if (!LAYER.test(name)) return null;
      found.push(name);
      return BUILDINGS;
    });
    if (found.length < expected.length) {
      throw inputError('the geodatabase lacks a table of its catalogue', {
        code: 'LAYER_MISSING', at: file.name, detail: `expected the layers ${expected.join(', ')}, found ${found.join(', ') || 'none'}`, hint: 'The zip is incomplete. Download it again.',
      });
    }
  },
});
