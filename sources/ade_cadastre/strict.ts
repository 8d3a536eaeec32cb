/**
 * The strict path: checks each field of one member that the XML parser has parsed. The strict path reads every member that the scanner does not accept.
 * This path either writes the row or reports the error and its position.
 */
import type { ZodError } from 'zod';
import type { RowWriter } from '../../pipelines/formats/copy.ts';
import { outsideItaly } from '../../pipelines/readers/italy.ts';
import { firstIssue } from '../../pipelines/readers/refusal.ts';
import { inputError } from '../../pipelines/contract/source.ts';
import type { Place, XmlElement } from '../../pipelines/formats/xml.ts';
import type { PropertyColumns } from '../../pipelines/readers/property-columns.ts';
import type { FeatureColumns } from './feature-columns.ts';
import { parseReference, SHEET_REFERENCE_LENGTH, type Reference } from './reference.ts';
import { EWKB_MULTIPOLYGON, EWKB_POLYGON, EWKB_SRID_FLAG, SRID } from './scan.ts';
import { PARCEL_GML_ID, PARCEL_ID, parcelSchema, SHEET_GML_ID, SHEET_ID, sheetSchema } from './schema.ts';

export const NAMESPACES = {
  wfs: 'http://www.opengis.net/wfs/2.0',
  gml: 'http://www.opengis.net/gml/3.2',
  CP: 'http://mapserver.gis.umn.edu/mapserver',
} as const;

/** The reason why a part of a document is rejected. */
export class Refusal extends Error {
  readonly code: string;
  readonly place: Place;

  constructor(code: string, message: string, place: Place) {
    super(message);
    this.code = code;
    this.place = place;
  }
}

/** Writers of a document's rows, and facts about the document. */
export interface Rows {
  readonly parcels: RowWriter;
  readonly sheets: RowWriter;
  /** Cadastral code in the file's name, or null if the name has no code. */
  readonly fileBelfiore: string | null;
  /** Compares the properties of the document's features with the known properties. */
  readonly columns: FeatureColumns;
}

/** Coordinates of one ring, alternating `lon, lat`. */
type Ring = Float64Array;

/**
 * Writes the row of one `wfs:member`.
 * @param position byte offset of the member
 * @param at name of the file in errors
 * @throws Refusal if the member cannot become a row. Input errors `COLUMNS_CHANGED`, `SRS_UNEXPECTED` if the publisher changed the format
 */
export function writeMember(member: XmlElement, position: number, rows: Rows, at: string): void {
  noAttributes(member);
  noText(member);
  const feature = member.children[0];
  if (feature === undefined || member.children.length > 1) {
    throw new Refusal('feature_unexpected', `expected one feature in the member, found ${member.children.length}`, (member.children[1] ?? member).place);
  }
  switch (feature.name) {
    case 'CP:CadastralParcel':
      return writeParcel(feature, position, rows, at);
    case 'CP:CadastralZoning':
      return writeSheet(feature, position, rows, at);
    default:
      throw new Refusal('feature_unexpected', `expected CP:CadastralParcel or CP:CadastralZoning, found ${feature.name}`, feature.place);
  }
}

function writeParcel(feature: XmlElement, position: number, rows: Rows, at: string): void {
  const { fields, polygons } = readFeature(feature, at, Object.keys(parcelSchema.shape), rows.columns.parcels);
  const parsed = parcelSchema.safeParse(fields);
  if (!parsed.success) throw refusalOf(parsed.error, feature);
  const properties = parsed.data;
  const text = properties.NATIONALCADASTRALREFERENCE;
  const reference = parseReference(text);
  if (reference?.label == null) throw new Refusal('reference_malformed', `expected CCCCZFFFFAS.label, found ${text}`, feature.place);
  expectIds(feature, properties, { gmlId: PARCEL_GML_ID, localId: PARCEL_ID }, text);
  if (properties.LABEL !== reference.label) {
    throw new Refusal('reference_contradicts_label', `expected LABEL ${reference.label} as in ${text}, found ${properties.LABEL}`, feature.place);
  }
  const writer = rows.parcels;
  writer.begin(position);
  writer.text(text);
  writeComuni(writer, reference, properties.ADMINISTRATIVEUNIT, rows);
  writeMultiPolygon(writer, polygons);
  writer.end();
}

function writeSheet(feature: XmlElement, position: number, rows: Rows, at: string): void {
  const { fields, polygons } = readFeature(feature, at, Object.keys(sheetSchema.shape), rows.columns.sheets);
  const parsed = sheetSchema.safeParse(fields);
  if (!parsed.success) throw refusalOf(parsed.error, feature);
  const properties = parsed.data;
  const text = properties.NATIONALCADASTRALZONINGREFERENCE;
  const reference = parseReference(text);
  if (reference === null || text.length !== SHEET_REFERENCE_LENGTH) throw new Refusal('reference_malformed', `expected CCCCZFFFFAS, found ${text}`, feature.place);
  expectIds(feature, properties, { gmlId: SHEET_GML_ID, localId: SHEET_ID }, text);
  const writer = rows.sheets;
  writer.begin(position);
  writer.text(text);
  writer.text(properties.LABEL);
  writer.value('date', properties.BEGINLIFESPANVERSION);
  writer.value('date', properties.ENDLIFESPANVERSION);
  writer.value('int4', properties.ORIGINALMAPSCALEDENOMINATOR);
  writeComuni(writer, reference, properties.ADMINISTRATIVEUNIT, rows);
  writeMultiPolygon(writer, polygons);
  writer.end();
}

/** Writes the comune of the feature and the comune of the file name. A comune that equals the comune of the reference is written as null. */
function writeComuni(writer: RowWriter, reference: Reference, administrativeUnit: string, rows: Rows): void {
  writer.value('text', administrativeUnit === reference.belfiore ? null : administrativeUnit);
  writer.value('text', rows.fileBelfiore === reference.belfiore ? null : rows.fileBelfiore);
}

function expectIds(
  feature: XmlElement, { 'gml:id': gmlId, INSPIREID_LOCALID: localId }: Readonly<Record<'gml:id' | 'INSPIREID_LOCALID', string>>,
  prefixes: { readonly gmlId: string; readonly localId: string }, reference: string,
): void {
  if (localId !== prefixes.localId + reference) {
    throw new Refusal('reference_contradicts_id', `expected INSPIREID_LOCALID ${prefixes.localId}${reference}, found ${localId}`, feature.place);
  }
  if (gmlId !== prefixes.gmlId + reference) {
    throw new Refusal('reference_contradicts_id', `expected gml:id ${prefixes.gmlId}${reference}, found ${gmlId}`, feature.place);
  }
}

/** Converts the first issue of zod to a refusal at the position of the field. */
function refusalOf(error: ZodError, feature: XmlElement): Refusal {
  const { field, message } = firstIssue(error);
  const element = feature.children.find(({ name }) => name === `CP:${field}`);
  const found = field === 'gml:id' ? feature.attributes.get(field) : element?.text;
  if (found === undefined) return new Refusal('field_missing', `expected ${field}, found none`, feature.place);
  const code = /REFERENCE$/.test(field) ? 'reference_malformed' : 'field_malformed';
  return new Refusal(code, `${field}: ${message}, found ${JSON.stringify(found)}`, (element ?? feature).place);
}

/** Returns the name of a property without the publisher's prefix. */
const nameOf = ({ name }: XmlElement): string => (name.startsWith('CP:') ? name.slice(3) : name);

/**
 * Reads the geometry, and the simple properties as text. Unknown properties and attributes are reported and skipped.
 * @throws Refusal; input error `COLUMNS_CHANGED`
 */
function readFeature(
  feature: XmlElement, at: string, known: readonly string[], columns: PropertyColumns<string>,
): { fields: Record<string, string>; polygons: Ring[][] } {
  const properties = feature.children.filter(({ name }) => name !== 'gml:boundedBy');
  const attributes = [...feature.attributes].filter(([name]) => name !== 'gml:id' && !name.startsWith('xmlns'));
  const doubled = columns.take(
    [...properties.map(nameOf), ...attributes.map(([name]) => `@${name}`)],
    (index) => properties[index]?.text.trim() ?? attributes[index - properties.length]?.[1],
  );
  if (doubled !== null) throw new Refusal('field_repeated', `expected one ${doubled}, found two`, properties.findLast((child) => nameOf(child) === doubled)?.place ?? feature.place);
  const fields: Record<string, string> = {};
  const id = feature.attributes.get('gml:id');
  if (id !== undefined) fields['gml:id'] = id;
  noText(feature);
  let geometry: XmlElement | null = null;
  for (const child of properties) {
    const field = nameOf(child);
    if (child.name === 'CP:msGeometry') geometry = child;
    if (!child.name.startsWith('CP:') || !known.includes(field)) continue;
    noAttributes(child);
    const [inside] = child.children;
    if (inside !== undefined) throw new Refusal('markup_unexpected', `expected text in ${child.name}, found ${inside.name}`, child.place);
    fields[field] = child.text;
  }
  if (geometry === null) throw new Refusal('geometry_missing', 'expected CP:msGeometry, found none', feature.place);
  return { fields, polygons: readGeometry(geometry, at) };
}

function readGeometry(property: XmlElement, at: string): Ring[][] {
  noAttributes(property);
  noText(property);
  const [geometry, second] = property.children;
  if (geometry === undefined) throw new Refusal('geometry_missing', 'expected a geometry, found none', property.place);
  if (second !== undefined) throw new Refusal('geometry_unexpected', `expected one geometry, found ${property.children.length}`, second.place);
  const polygons: Ring[][] = [];
  let srs = false;
  const read = (surface: XmlElement): void => {
    for (const [name, value] of surface.attributes) {
      if (name === 'srsName') {
        expectSrs(value, surface, at);
        srs = true;
      } else if (name === 'srsDimension') expectTwo(value, surface);
      else if (name !== 'gml:id') throw new Refusal('attribute_unexpected', `expected gml:id and srsName, found ${name}`, surface.place);
    }
    noText(surface);
    if (surface.name === 'gml:Polygon') {
      if (!srs) throw new Refusal('srs_missing', 'expected srsName on the geometry, found none', surface.place);
      polygons.push(readPolygon(surface));
      return;
    }
    if (surface.name !== 'gml:MultiSurface') {
      throw new Refusal('geometry_unexpected', `expected gml:Polygon or gml:MultiSurface, found ${surface.name}`, surface.place);
    }
    for (const member of surface.children) {
      if (member.name !== 'gml:surfaceMember' && member.name !== 'gml:surfaceMembers') {
        throw new Refusal('geometry_unexpected', `expected gml:surfaceMember, found ${member.name}`, member.place);
      }
      noAttributes(member);
      noText(member);
      for (const inner of member.children) read(inner);
    }
  };
  read(geometry);
  if (polygons.length === 0) throw new Refusal('geometry_missing', 'expected a polygon, found none', property.place);
  return polygons;
}

function readPolygon(polygon: XmlElement): Ring[] {
  const rings: Ring[] = [];
  for (const boundary of polygon.children) {
    const expected = rings.length === 0 ? 'gml:exterior' : 'gml:interior';
    if (boundary.name !== expected) throw new Refusal('geometry_unexpected', `expected ${expected}, found ${boundary.name}`, boundary.place);
    noAttributes(boundary);
    noText(boundary);
    const ring = boundary.children[0];
    if (ring === undefined || boundary.children.length > 1 || ring.name !== 'gml:LinearRing') {
      throw new Refusal('geometry_unexpected', `expected one gml:LinearRing, found ${boundary.children.map(({ name }) => name).join(', ') || 'none'}`, boundary.place);
    }
    noAttributes(ring);
    noText(ring);
    const list = ring.children[0];
    if (list === undefined || ring.children.length > 1 || list.name !== 'gml:posList') {
      throw new Refusal('geometry_unexpected', `expected one gml:posList, found ${ring.children.map(({ name }) => name).join(', ') || 'none'}`, ring.place);
    }
    rings.push(readRing(list));
  }
  if (rings.length === 0) throw new Refusal('geometry_missing', 'expected gml:exterior, found none', polygon.place);
  return rings;
}

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

function readRing(list: XmlElement): Ring {
  for (const [name, value] of list.attributes) {
    if (name === 'srsDimension') expectTwo(value, list);
    else throw new Refusal('attribute_unexpected', `expected srsDimension, found ${name}`, list.place);
  }
  const [inside] = list.children;
  if (inside !== undefined) throw new Refusal('markup_unexpected', `expected coordinates, found ${inside.name}`, list.place);
  const ring: number[] = [];
  // Words are read one at a time, because an array of all words would take ten times the memory of the numbers.
  const words = /[^ \t\r\n]+/g;
  let lat: number | null = null;
  for (let word = words.exec(list.text); word !== null; word = words.exec(list.text)) {
    if (lat === null) lat = coordinate(word[0], 'a latitude', list);
    else {
      const lon = coordinate(word[0], 'a longitude', list);
      const fault = outsideItaly(lon, lat);
      if (fault !== null) throw new Refusal(fault.code, fault.message, list.place);
      ring.push(lon, lat);
      lat = null;
    }
  }
  if (lat !== null) throw new Refusal('coordinates_odd', `expected pairs of latitude and longitude, found ${ring.length + 1} numbers`, list.place);
  const [lon, first] = ring;
  const [lastLon, last] = ring.slice(-2);
  if (lon === undefined || first === undefined || lastLon === undefined || last === undefined) throw new Refusal('geometry_empty', 'expected coordinates, found none', list.place);
  if (lon !== lastLon || first !== last) {
    throw new Refusal('ring_not_closed', `expected the last position to be the first, found ${first} ${lon} and ${last} ${lastLon}`, list.place);
  }
  // PostGIS accepts no ring of fewer than four positions. Repeating the last position keeps the point set, and load.sql detects that the polygon has no area.
  while (ring.length < 8) ring.push(lastLon, last);
  return Float64Array.from(ring);
}

function coordinate(word: string, what: string, list: XmlElement): number {
  const value = NUMBER.test(word) ? Number(word) : NaN;
  if (Number.isNaN(value)) throw new Refusal('coordinate_malformed', `expected ${what}, found ${JSON.stringify(word)}`, list.place);
  return value;
}

function expectSrs(name: string, element: XmlElement, at: string): void {
  if (new RegExp(`^(?:urn:ogc:def:crs:EPSG:[0-9.]*:|https?://www\\.opengis\\.net/def/crs/EPSG/[0-9.]+/)${SRID}$`).test(name)) return;
  throw inputError('the coordinates are in an unknown reference system', {
    code: 'SRS_UNEXPECTED',
    at,
    detail: `expected urn:ogc:def:crs:EPSG::${SRID}, found ${name} on ${element.name}`,
    hint: 'Request EPSG:6706 from the service and load that response instead.',
  });
}

function expectTwo(dimension: string, element: XmlElement): void {
  if (dimension !== '2') throw new Refusal('dimension_unexpected', `expected srsDimension 2, found ${dimension}`, element.place);
}

function noAttributes(element: XmlElement): void {
  for (const name of element.attributes.keys()) throw new Refusal('attribute_unexpected', `expected no attribute on ${element.name}, found ${name}`, element.place);
}

function noText(element: XmlElement): void {
  if (/[^ \t\r\n]/.test(element.text)) {
    throw new Refusal('markup_unexpected', `expected elements only in ${element.name}, found text ${JSON.stringify(element.text.trim().slice(0, 40))}`, element.place);
  }
}

/** Writes a MultiPolygon as little-endian EWKB, in one field. */
function writeMultiPolygon(writer: RowWriter, polygons: readonly (readonly Ring[])[]): void {
  let size = 13;
  for (const rings of polygons) {
    size += 9;
    for (const ring of rings) size += 4 + ring.length * 8;
  }
  writer.ensure(size + 4);
  const out = writer.buffer;
  let at = out.writeInt32BE(size, writer.length);
  at = out.writeUInt8(1, at);
  at = out.writeUInt32LE((EWKB_MULTIPOLYGON | EWKB_SRID_FLAG) >>> 0, at);
  at = out.writeUInt32LE(SRID, at);
  at = out.writeUInt32LE(polygons.length, at);
  for (const rings of polygons) {
    at = out.writeUInt8(1, at);
    at = out.writeUInt32LE(EWKB_POLYGON, at);
    at = out.writeUInt32LE(rings.length, at);
    for (const ring of rings) {
      at = out.writeUInt32LE(ring.length / 2, at);
      for (const value of ring) at = out.writeDoubleLE(value, at);
    }
  }
  writer.length = at;
}
