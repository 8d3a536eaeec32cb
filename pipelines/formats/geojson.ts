/**
 * Reads GeoJSON (RFC 7946, and the `crs` member of 2008) feature by feature, without GDAL. The reader reads the file twice, because the last feature may add a
 * field, and the CRS may follow the features. At most one batch of 500 features and one chunk of the file are in memory at a time.
 */
import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { basename, extname } from 'node:path';
import { inputError, type MappaleError } from '../errors.ts';
import { epsgOfName } from './crs.ts';
import type { GdalBatch, GdalFeature, GdalLayer } from './gdal.ts';
import type { VectorField, VectorReader, VectorValue } from './vector.ts';
import { geoJsonWkb, toEwkb } from './wkb.ts';

/** Maximum number of features that the reader returns in a batch. */
const BATCH_FEATURES = 500;
/** Maximum size in bytes of the document's text outside the features. */
const OUTSIDE_BYTES = 16_777_216;

const [QUOTE, BACKSLASH, COLON, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('"\\:[]{}');
/** Nesting depth of a feature's members: document, list, feature. */
const FEATURE_DEPTH = 3;
const BLANK = new Set(Buffer.from(' \t\r\n,'));

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };
type JsonObject = { readonly [key: string]: Json | undefined };

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function damaged(at: string, found: string, cause?: unknown): MappaleError {
  return inputError('vector file cannot be read', {
    code: 'VECTOR_UNREADABLE', at, detail: `expected a complete GeoJSON file, found ${found}`, hint: 'The file is damaged. Download the file again.', cause,
  });
}

/** An element of a document's list `features`. */
interface Part {
  readonly bytes: Buffer;
  /** Number of member names in the element and in its direct child objects, including repeated names. */
  readonly names: number;
}

/** Splits a document into the elements of `features` and the rest of the document. */
class Splitter {
  /** Text of the document, in which an empty list replaces the features. */
  readonly outside: Buffer[] = [];
  readonly #at: string;
  #outsideBytes = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** First 64 bytes of the last string at the top level of the document. The string is a key if a colon follows the string. */
  #string: number[] = [];
  #key = '';
  #inFeatures = false;
  /** Chunks of the element that is being read; null between elements. */
  #element: Buffer[] | null = null;
  /** Number of member names so far in the element that is being read and in its direct child objects. */
  #names = 0;

  constructor(at: string) {
    this.#at = at;
  }

  /** Returns whether the chunks so far are a complete document. */
  get isComplete(): boolean {
    return this.#depth === 0 && !this.#inString && this.outside.length > 0;
  }

  /** Returns the elements that end in this chunk. Adds the bytes outside the list of features to `outside`. */
  split(chunk: Buffer): Part[] {
    const elements: Part[] = [];
    let from = 0;
    for (let index = 0; index < chunk.length; index += 1) {
      const byte = chunk[index] ?? 0;
      if (this.#inString) {
        this.#takeFromString(byte);
      } else if (byte === QUOTE) {
        if (this.#inFeatures && this.#depth === 2) throw this.#strayInList();
        this.#inString = true;
        if (this.#depth === 1) this.#string = [];
      } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
        if (this.#inFeatures && this.#depth === 2 && byte === OPEN_LIST) throw this.#strayInList();
        if (this.#inFeatures && this.#depth === 2) {
          [this.#element, this.#names] = [[], 0];
          from = index;
        }
        this.#depth += 1;
        if (byte === OPEN_LIST && this.#depth === 2 && this.#key === 'features') {
          this.#inFeatures = true;
          this.#keep(chunk.subarray(from, index + 1));
        }
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
        this.#depth -= 1;
        if (this.#element !== null && this.#depth === 2) {
          elements.push({ bytes: Buffer.concat([...this.#element, chunk.subarray(from, index + 1)]), names: this.#names });
          this.#element = null;
        } else if (this.#inFeatures && this.#depth === 1) {
          this.#inFeatures = false;
          from = index;
        }
      } else if (byte === COLON && this.#depth !== 2) {
        if (this.#depth === 1) this.#key = Buffer.from(this.#string).toString('utf8');
        else if (this.#depth === FEATURE_DEPTH || this.#depth === FEATURE_DEPTH + 1) this.#names += 1;
      } else {
        if (this.#inFeatures && this.#depth === 2 && !BLANK.has(byte)) throw this.#strayInList();
      }
    }
    const rest = chunk.subarray(from);
    if (this.#element !== null) this.#element.push(Buffer.from(rest));
    else if (!this.#inFeatures) this.#keep(rest);
    return elements;
  }

  #takeFromString(byte: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (byte === BACKSLASH) this.#escaped = true;
    else if (byte === QUOTE) this.#inString = false;
    if (this.#depth === 1 && this.#inString && this.#string.length < 64) this.#string.push(byte);
  }

  #strayInList(): MappaleError {
    return damaged(this.#at, 'an element that is not a feature in the list of features');
  }

  #keep(bytes: Buffer): void {
    this.#outsideBytes += bytes.length;
    if (this.#outsideBytes > OUTSIDE_BYTES) throw damaged(this.#at, `more than ${OUTSIDE_BYTES} bytes outside the list of features`);
    this.outside.push(Buffer.from(bytes));
  }
}

function parse(bytes: Buffer, at: string): Json {
  if (!isUtf8(bytes)) {
    throw inputError('the JSON is not in UTF-8', {
      code: 'ENCODING_WRONG', at, detail: 'expected UTF-8, which JSON requires, found invalid bytes', hint: 'Use the downloaded file, or save the file in UTF-8.',
    });
  }
  const text = bytes.toString('utf8').replace(/^\ufeff/, '');
  try {
    return JSON.parse(/NaN|Infinity/.test(text) ? withoutNaN(text) : text) as Json;
  } catch (error) {
    throw damaged(at, `text that is not valid JSON: ${(error as Error).message}`, error);
  }
}

/** Replaces NaN and infinities with null. JSON does not allow NaN and infinities, but some programs write NaN or Infinity for missing values. */
function withoutNaN(text: string): string {
  const parts: string[] = [];
  for (let at = 0; at < text.length;) {
    const start = text.indexOf('"', at);
    parts.push(text.slice(at, start === -1 ? undefined : start).replaceAll(/-?(?:NaN|Infinity)/g, 'null'));
    if (start === -1) break;
    at = endOfString(text, start);
    parts.push(text.slice(start, at));
  }
  return parts.join('');
}

/** Returns the position after a JSON string, or the end of the text. @param start position of the first quotation mark */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

/** Returns the number of member names in a feature and its direct child objects. */
function namesIn(feature: JsonObject): number {
  return Object.values(feature).reduce<number>((sum, value) => sum + (isObject(value) ? Object.keys(value).length : 0), Object.keys(feature).length);
}

/**
 * Returns a member name that occurs twice in a feature or in a direct child object of the feature. Null if every name is unique. `JSON.parse` keeps only the
 * last value of a repeated name.
 */
function repeatedName(feature: Buffer): string | null {
  const open: Set<string>[] = [];
  const json = feature.toString('utf8');
  let text = '""';
  for (let at = 0; at < json.length;) {
    const sign = json[at];
    const end = sign === '"' ? endOfString(json, at) : at + 1;
    const names = open.at(-1);
    if (sign === '"') text = json.slice(at, end);
    else if (sign === '{' || sign === '[') open.push(new Set());
    else if (sign === '}' || sign === ']') open.pop();
    else if (sign === ':' && open.length <= 2) {
      const name = JSON.parse(text) as string;
      if (names?.has(name) === true) return name;
      names?.add(name);
    }
    at = end;
  }
  return null;
}

interface FeatureHandler {
  /** Called after the last feature. `outside` is the document without features. */
  readonly document: (outside: JsonObject) => void;
  /** Called for each feature with a repeated member name, with the first repeated name in the feature. */
  readonly repeated: (name: string) => void;
}

const NO_HANDLER: FeatureHandler = { document: () => undefined, repeated: () => undefined };

/** Yields the features in file order. */
async function* featuresOf(path: string, at: string, { document, repeated }: FeatureHandler): AsyncGenerator<JsonObject> {
  const splitter = new Splitter(at);
  let position = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    for (const { bytes, names } of splitter.split(chunk)) {
      position += 1;
      const feature = parse(bytes, `${at}, feature ${position}`);
      if (!isObject(feature)) continue;
      const name = names > namesIn(feature) ? repeatedName(bytes) : null;
      if (name !== null) repeated(name);
      yield feature;
    }
  }
  if (!splitter.isComplete) throw damaged(at, 'a document that ends early');
  const text = Buffer.concat(splitter.outside);
  const outside = parse(text, at);
  if (!isObject(outside)) throw damaged(at, 'a document that is not an object');
  if (outside['type'] === 'Feature') {
    const name = repeatedName(text);
    if (name !== null) repeated(name);
    yield outside;
  }
  if (outside['type'] !== 'Feature' && outside['type'] !== 'FeatureCollection') throw damaged(at, `a document of type ${JSON.stringify(outside['type'] ?? null).slice(0, 60)}`);
  document(outside);
}

/** Yields the members of a feature that become fields: the properties, and `id` if `id` is text and no property is named `id`. */
function* membersOf({ id, properties }: JsonObject): Generator<[string, Json]> {
  if (typeof id === 'string' && !(isObject(properties) && 'id' in properties)) yield ['id', id];
  if (isObject(properties)) for (const [name, value] of Object.entries(properties)) yield [name, value ?? null];
}

/** Returns the field type that can represent both the known type and a value. */
function widen(known: VectorField['type'] | undefined, value: Json): VectorField['type'] | undefined {
  if (value === null) return known;
  const type = typeof value === 'boolean' || Number.isInteger(value) ? 'integer' : typeof value === 'number' ? 'real' : 'string';
  if (known === undefined || known === type) return type;
  return known === 'string' || type === 'string' ? 'string' : 'real';
}

function valueOf(value: Json | undefined, type: VectorField['type']): VectorValue {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  if (typeof value === 'object') return JSON.stringify(value);
  return type === 'string' ? String(value) : Number(value);
}

/** Returns the EPSG number of a document's CRS, or null if the member `crs` names no known CRS. The default is WGS 84 with longitude before latitude. */
function crsOf({ crs }: JsonObject): number | null {
  if (crs === undefined) return 4326;
  const name = isObject(crs) && isObject(crs['properties']) ? crs['properties']['name'] : undefined;
  return typeof name === 'string' ? epsgOfName(name) : null;
}

/**
 * Opens a GeoJSON file.
 * @param at name of the file in messages
 * @throws input errors `VECTOR_UNREADABLE`, `ENCODING_WRONG`; system errors of the file
 */
export async function openGeoJson(path: string, at: string): Promise<VectorReader> {
  const types = new Map<string, VectorField['type'] | undefined>();
  const found: { document: JsonObject } = { document: {} };
  let featureCount = 0;
  const twice = new Set<string>();
  const handler: FeatureHandler = { document: (outside) => (found.document = outside), repeated: (name) => twice.add(name) };
  for await (const feature of featuresOf(path, at, handler)) {
    featureCount += 1;
    for (const [name, value] of membersOf(feature)) types.set(name, widen(types.get(name), value));
  }
  const { name, crs } = found.document;
  // Lists a repeated name twice, so that the check of columns refuses the file.
  const fields = [...types, ...[...twice].map((field) => [field, types.get(field)] as const)].map(([field, type = 'string']): VectorField => ({ name: field, type }));
  const layer: GdalLayer = {
    name: typeof name === 'string' && name !== '' ? name : basename(path, extname(path)),
    spatial: true, fields, featureCount, epsg: crsOf(found.document), wkt: crs === undefined ? '' : JSON.stringify(crs),
  };
  let reading: AsyncGenerator<JsonObject> | null = null;
  let read = 0;
  return {
    layers: [layer],
    async read(_index, srid, which): Promise<GdalBatch> {
      if (which === 'first' || reading === null) {
        await reading?.return(undefined);
        [reading, read] = [featuresOf(path, at, NO_HANDLER), 0];
      }
      const features: GdalFeature[] = [];
      while (features.length < BATCH_FEATURES) {
        const { value, done } = await reading.next() as IteratorResult<JsonObject, undefined>;
        if (done === true) return { features, ended: true, failure: null };
        features.push(featureOf(value, read, fields, srid));
        read += 1;
      }
      return { features, ended: false, failure: null };
    },
    async close(): Promise<void> {
      await reading?.return(undefined);
    },
  };
}

function featureOf(feature: JsonObject, fid: number, fields: readonly VectorField[], srid: number): GdalFeature {
  const members = new Map(membersOf(feature));
  const values = fields.map(({ name, type }) => valueOf(members.get(name), type));
  const { geometry } = feature;
  if (geometry === null || geometry === undefined) return { fid, values, ewkb: null, missing: true, geometryError: null };
  const wkb = geoJsonWkb(geometry);
  if (typeof wkb === 'string') return { fid, values, ewkb: null, missing: false, geometryError: wkb };
  return { fid, values, ewkb: toEwkb(wkb, srid), missing: false, geometryError: null };
}
