// @ts-check
/** Saves the record of a parcel, and the parcels in view, as files. */
import { ask } from './interface.js';
import { state } from './state.js';
import { flat, panelOf } from './values.js';
import { boxInView } from './view.js';

/** Maximum number of parcels in a view that can be saved, and number of parcels per request. */
const [MOST, PAGE] = [5000, 200];
/** Maximum side length in degrees of a box that the server accepts. */
const LARGEST = 0.05;

/** @typedef {'geojson' | 'csv'} Format */

const TYPES = { geojson: 'application/geo+json', csv: 'text/csv' };

/** Quotes a cell of a CSV file. A text that a spreadsheet would evaluate as a formula gets an apostrophe in front. @param {unknown} value */
function cell(value) {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) && !Number.isFinite(Number(value)) ? `'${value}` : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** @param {readonly (readonly unknown[])[]} rows */
const csv = (rows) => rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');

/** @param {string} name @param {Format} format @param {string} text */
function save(name, format, text) {
  const url = URL.createObjectURL(new Blob([text], { type: TYPES[format] }));
  const link = Object.assign(document.createElement('a'), { href: url, download: `${name}.${format}` });
  link.click();
  URL.revokeObjectURL(url);
}

/** Saves a record as a GeoJSON feature, or as a CSV file with the columns section, field, value and unit. @param {any} record @param {Format} format */
export function saveRecord(record, format) {
  const { geometry, ...basic } = record.basic;
  const properties = { ...record, basic };
  if (format === 'geojson') return save(basic.cadastral_reference, format, JSON.stringify({ type: 'Feature', id: record.fid, geometry, properties }));
  const rows = record.meta.sections_included.flatMap((/** @type {string} */ section) => flat(properties[section] ?? {}).map(([path, value]) => (
    [section, path, value, panelOf(section).units?.[path.slice(path.lastIndexOf('.') + 1)]]
  )));
  save(basic.cadastral_reference, format, csv([['section', 'field', 'value', 'unit'], ...rows]));
}

/** Saves the parcels that are in view and meet the filters. @param {Format} format @returns {Promise<'saved' | 'too large'>} */
export async function saveView(format) {
  const box = boxInView();
  if (box === null || box[2] - box[0] > LARGEST || box[3] - box[1] > LARGEST) return 'too large';
  /** @type {any[]} */
  const read = [];
  const bbox = box.map((side) => side.toFixed(7)).join(',');
  for (let isMore = true; isMore;) {
    const after = read.at(-1)?.fid;
    const { data, meta } = await ask('/parcels/locate', { bbox, geometry: true, limit: PAGE, ...(after === undefined ? {} : { after }) });
    read.push(...data);
    isMore = meta.truncated;
    if (read.length > MOST) return 'too large';
  }
  const drawn = state.view.passing === null ? null : new Set(state.view.passing);
  const parcels = drawn === null ? read : read.filter(({ fid }) => drawn.has(fid));
  save('parcels', format, format === 'csv' ? viewRows(parcels) : JSON.stringify({
    type: 'FeatureCollection', features: parcels.map(({ fid, geometry, ...properties }) => ({ type: 'Feature', id: fid, geometry, properties: { fid, ...properties } })),
  }));
  return 'saved';
}

/** @param {any[]} parcels */
function viewRows(parcels) {
  const head = ['fid', 'cadastral_reference', 'label', 'kind', 'municipality_code', 'municipality_name', 'area_m2', 'lat', 'lng'];
  return csv([head, ...parcels.map(({ fid, cadastral_reference: reference, label, kind, municipality, area_m2: area, centroid }) => (
    [fid, reference, label, kind, municipality.code, municipality.name, area, centroid.lat, centroid.lng]
  ))]);
}
