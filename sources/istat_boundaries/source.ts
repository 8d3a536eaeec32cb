/** Reads boundaries of comuni, provinces and regions: the yearly editions, the census editions, and a GeoJSON derived from one edition. */
import { normaliseHeader, resembles } from '../../pipelines/formats/csv.ts';
import { isDay } from '../../pipelines/readers/iso-date.ts';
import { isWhole, newestEntry, stemOf, type WholeName } from '../../pipelines/readers/packaging.ts';
import { refusalOf } from '../../pipelines/readers/refusal.ts';
import { defineSource, inputError, type Columns, type InputFile, type Probe, type Recognition, type Sink } from '../../pipelines/contract/source.ts';
import { lookAtVectors, readVectorFile, sidecarsOf, type VectorReading } from '../../pipelines/readers/vector-members.ts';
import type { VectorLayer } from '../../pipelines/formats/vector.ts';
import { layers } from './layers.ts';
import { manifest } from './manifest.ts';
import { COLUMNS, EDITIONS, OPTIONAL, SCHEMAS, TYPES, type Level } from './schema.ts';

const raw_boundary: Columns = {
  kind: 'text not null',
  code: 'text not null',
  belfiore: 'text',
  name: 'text not null',
  vintage: 'text not null',
  geom: 'geometry not null',
};

type Form = keyof typeof SCHEMAS;

/**
 * Names of complete files, such as `Limiti01012026_g`, `Com0101YYYY_g_WGS84`, `Reg2021`. `limits_IT_municipalities` is all of Italy, and `limits_P_60_…` is one
 * province.
 */
const WHOLE: WholeName = {
  whole: /^(?:Limiti|Com|Prov|ProvCM|Reg|RipGeo)(?:\d{4}|\d{8})(?:_g)?(?:_WGS84)?$|^limits_IT_municipalities$/i,
  stated: /^(?:Limiti|Com|Prov|ProvCM|Reg|RipGeo)\d{4}|^limits_/i,
};
/** Pattern of the part of Italy in the name of a GeoJSON file, such as `P_60` for one province. */
const PART = /^limits_([A-Z]+(?:_\d+)?)_/i;

/**
 * Returns the key in SCHEMAS for a layer with this name and these columns. Returns `aside` for the groups of regions, which are ignored, and null for any other
 * layer. Census sections have all columns of comuni, so a layer with a column `SEZ…` is never a layer of comuni.
 */
function formOf(name: string, fields: readonly string[]): Form | 'aside' | null {
  if (resembles(fields, EDITIONS.geojson)) return 'geojson';
  if (fields.some((field) => field.startsWith('sez'))) return null;
  if (/^RipGeo/i.test(name) && fields.includes('cod_rip')) return 'aside';
  if (/^Com/i.test(name) && resembles(fields, EDITIONS.comune)) return 'comune';
  if (/^Prov/i.test(name) && resembles(fields, EDITIONS.provincia)) return 'provincia';
  if (/^Reg/i.test(name) && resembles(fields, EDITIONS.regione)) return 'regione';
  return null;
}

/**
 * Returns the day or year in the first name that contains one, or `0000`: `Com01012025_g_WGS84` → `2025-01-01`, `Com2021` → `2021`. The digits of WGS84 are not
 * a year.
 */
function vintageOf(...names: readonly string[]): string {
  for (const name of names) {
    const day = /(?<!\d)(0[1-9]|[12]\d|3[01])(0[1-9]|1[0-2])((?:19|20)\d\d)(?!\d)/.exec(name);
    const iso = day?.slice(1).reverse().join('-');
    if (iso !== undefined && isDay(iso)) return iso;
    const year = /(?<!\d)((?:19|20)\d\d)(?!\d)/.exec(name);
    if (year !== null) return year[0];
  }
  return '0000';
}

async function recognise(probe: Probe): Promise<Recognition | null> {
  const forms = (await lookAtVectors(probe)).map((look) => ({ look, form: formOf(stemOf(look.path), look.fields ?? look.properties ?? []) }));
  const mine = forms.flatMap(({ look, form }) => (form === null || form === 'aside' ? [] : [{ look, form }]));
  const first = mine[0];
  if (first === undefined) {
    const aside = forms.find(({ form }) => form === 'aside');
    if (aside === undefined || probe.entries !== null) return null;
    return { role: 'ripartizione', vintage: vintageOf(probe.name), region: null, sidecars: sidecarsOf(probe), complete: false, ignored: manifest.ignored['RipGeo*.shp'] };
  }
  const dated = newestEntry(probe.entries);
  const place = PART.exec(stemOf(probe.name))?.[1]?.toUpperCase();
  return {
    role: probe.entries === null ? first.form : 'limiti',
    vintage: vintageOf(stemOf(first.look.path), probe.name),
    region: null,
    sidecars: sidecarsOf(probe),
    complete: isWhole([probe.name, ...mine.map(({ look }) => look.path)], WHOLE),
    ...(dated === undefined ? {} : { dated }),
    ...(place === undefined || place === 'IT' ? {} : { place }),
  };
}

function readingOf(file: InputFile, layer: VectorLayer): VectorReading<string> | null {
  const form = formOf(layer.name, layer.fields.map((field) => normaliseHeader(field.name)));
  if (form === 'aside') return null;
  if (form === null) {
    throw inputError('the file contains an unknown layer', {
      code: 'LAYER_UNEXPECTED', at: `${file.name}, layer ${layer.name}`, detail: `expected Com…, ProvCM…, Reg… or RipGeo… with their codes, found ${layer.fields.map((field) => field.name).join(', ')}`,
      hint: 'Use the file as downloaded. If the file is unchanged, remove the file from the folder and report its layers.',
    });
  }
  const kind: Level = form === 'geojson' ? 'comune' : form;
  // Some keys of the manifest contain several column names, such as `op_id, opdm_id, minint_*`.
  const ignored = Object.fromEntries(Object.entries(manifest.ignored).flatMap(([names, reason]) => names.split(', ').map((name) => [name, reason])));
  return {
    table: 'raw_boundary',
    geometry: 'polygon',
    columns: { mapped: COLUMNS[form], optional: OPTIONAL[form], ignored, editions: EDITIONS[form] },
    types: TYPES[form],
    row(fields) {
      const parsed = SCHEMAS[form].safeParse(fields);
      if (!parsed.success) return refusalOf(fields, parsed.error);
      const { code, belfiore, name } = parsed.data;
      return { values: [kind, code, belfiore, name, file.vintage] };
    },
  };
}

export default defineSource({
  manifest,
  names: [/^Limiti\d{4,8}[^/]*\.zip$/i, /^(?:Com|Prov|ProvCM|Reg)\d{4,8}[^/]*\.shp$/i],
  tables: { raw_boundary },
  layers,
  keys: { raw_boundary: ['kind', 'code'] },
  places: { boundary: { series: ['kind'], place: 'code' } },
  unique: { boundary: ['kind', 'code'] },
  recognise,
  read: (file: InputFile, sink: Sink) => readVectorFile(file, sink, (layer) => readingOf(file, layer)),
});
