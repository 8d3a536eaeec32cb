// @ts-check
/* global L */
/** The map page: searches, draws the parcels themselves, and tells their record as tables. It knows only the interface below, and how each section is told. */
import { SECTIONS } from './sections.js';

/** Degrees around a place in which parcels are looked for: about 40 m. */
const MARGIN = 0.0004;
const COLOURS = { land: '#e9e4d6', road: '#d3d6da', water: '#bcd9ec' };

const $ = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
const map = L.map('map', { attributionControl: false, zoomControl: true, minZoom: 5, maxZoom: 22 }).setView([42.2, 12.7], 6);
const drawn = L.featureGroup().addTo(map);
// Above the parcels, which are drawn after it, and their labels.
map.createPane('marks').style.zIndex = '660';
const marks = L.featureGroup().addTo(map);
let asked = 0;

// --- The interface ------------------------------------------------------------------------------------------------------

class Refusal extends Error {}

async function ask(path, parameters = {}) {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== ''));
  const response = await fetch(`.${path}${query.size > 0 ? `?${query}` : ''}`.replace(/^\./, location.pathname.replace(/\/map\/?$/, '')), { headers: { 'x-api-key': /** @type {HTMLInputElement} */ ($('token')).value.trim() } });
  const body = await response.json();
  if (!response.ok) throw new Refusal(body.message);
  return body;
}

function say(text, problem = false) {
  $('status').textContent = text;
  $('status').classList.toggle('problem', problem);
}

/** Runs what the reader asked for last; an answer to an older question is dropped. */
async function run(work) {
  asked += 1;
  const mine = asked;
  const current = () => mine === asked;
  $('record').setAttribute('aria-busy', 'true');
  try {
    await work(current);
  } catch (error) {
    if (current()) say(error instanceof Refusal ? error.message : 'The server does not answer.', true);
  } finally {
    if (current()) $('record').removeAttribute('aria-busy');
  }
}

// --- Searching ----------------------------------------------------------------------------------------------------------

async function search(text, city, current) {
  const coordinates = /^\s*(-?\d+(?:\.\d+)?)\s*[,;\s]\s*(-?\d+(?:\.\d+)?)\s*$/.exec(text);
  showResults([]);
  if (coordinates !== null) return showPlace(Number(coordinates[1]), Number(coordinates[2]), current);
  if (/^\s*\d{9,10}\s*$/.test(text)) return showParcel(Number(text), current);
  say('Searching …');
  const { data } = await ask('/geocode/search', { q: text, city, limit: 8 });
  if (!current()) return;
  if (data.length === 0) return say(`Nothing found for ${text}.`, true);
  showResults(data);
  await choose(data[0], current);
}

function showResults(addresses) {
  const list = $('results');
  list.replaceChildren(...addresses.map((address, index) => {
    const button = element('button', {}, [address.formatted_address, element('small', {}, [`${address.municipality_name ?? address.municipality_code} · ${address.match_type.replaceAll('_', ' ')}`])]);
    if (index === 0) button.setAttribute('aria-current', 'true');
    button.addEventListener('click', () => {
      list.querySelectorAll('button').forEach((each) => each.removeAttribute('aria-current'));
      button.setAttribute('aria-current', 'true');
      list.hidden = true;
      void run((current) => choose(address, current));
    });
    return element('li', {}, [button]);
  }));
  list.hidden = addresses.length < 2;
}

async function choose(address, current) {
  marks.clearLayers();
  L.circleMarker([address.latitude, address.longitude], { radius: 6, color: '#fff', weight: 2, fillColor: '#c2410c', fillOpacity: 1, pane: 'marks' }).bindTooltip(textOf(address.formatted_address)).addTo(marks);
  await showPlace(address.latitude, address.longitude, current, address.formatted_address);
}

/** The parcel at a place and those around it: one question for all of them, one for its record. */
async function showPlace(lat, lng, current, name = `${lat}, ${lng}`) {
  say(`Looking for the parcel at ${name} …`);
  const around = await parcelsIn(L.latLngBounds([lat, lng], [lat, lng]));
  if (!current()) return;
  const away = (parcel) => map.distance([lat, lng], parcel.centroid);
  // An access point may lie on the road in front: then the nearest parcel is meant.
  const [chosen] = [...around].sort((a, b) => Number(holds(b.geometry, lng, lat)) - Number(holds(a.geometry, lng, lat)) || away(a) - away(b));
  if (chosen !== undefined) return showParcel(chosen.fid, current, around);
  map.setView([lat, lng], 18);
  say(`There is no parcel at ${name}.`, true);
}

/** @param around the parcels near it, where they are known already */
async function showParcel(fid, current, around = null) {
  say(`Reading parcel ${fid} …`);
  const record = await ask(`/parcels/${fid}`);
  if (!current()) return;
  const bounds = L.geoJSON(record.basic.geometry).getBounds();
  show(record, around ?? [], bounds);
  if (around !== null) return;
  const found = await parcelsIn(bounds);
  if (current()) show(record, found, bounds);
}

/** Parcels in and around a box, with their geometry. */
async function parcelsIn(bounds) {
  const sides = [bounds.getWest() - MARGIN, bounds.getSouth() - MARGIN, bounds.getEast() + MARGIN, bounds.getNorth() + MARGIN];
  return (await ask('/parcels/locate', { bbox: sides.map((side) => side.toFixed(7)).join(','), geometry: true, limit: 200 })).data;
}

function show(record, around, bounds) {
  const neighbours = around.filter(({ fid }) => fid !== record.fid);
  draw([...neighbours, record.basic], record.fid);
  // Beside the list of results, which lies on the map.
  const list = $('results');
  const covered = list.hidden ? [0, 0] : matchMedia('(max-width: 60rem)').matches ? [0, list.offsetHeight] : [list.offsetWidth, 0];
  map.fitBounds(bounds.pad(.9), { animate: false, paddingBottomRight: covered });
  tell(record, neighbours);
  say(`Parcel ${record.basic.label}, ${record.municipality.name ?? record.municipality.code}.`);
}

/** Whether a point lies in a geometry: a ray from it crosses the rings an odd number of times. */
function holds(geometry, lng, lat) {
  const rings = geometry.type === 'Polygon' ? geometry.coordinates : geometry.coordinates.flat();
  return rings.flatMap((ring) => ring.slice(1).map((corner, index) => [ring[index], corner]))
    .filter(([[x1, y1], [x2, y2]]) => (y1 > lat) !== (y2 > lat) && lng < x1 + ((lat - y1) / (y2 - y1)) * (x2 - x1)).length % 2 === 1;
}

// --- Drawing ------------------------------------------------------------------------------------------------------------

function draw(parcels, chosen) {
  drawn.clearLayers();
  for (const parcel of parcels) {
    const isChosen = parcel.fid === chosen;
    const shape = L.geoJSON(parcel.geometry, {
      style: { color: isChosen ? '#0b5c8a' : '#8a8372', weight: isChosen ? 3 : 1, fillColor: isChosen ? '#9cc9e3' : COLOURS[parcel.kind], fillOpacity: isChosen ? .75 : .9 },
    });
    shape.eachLayer((layer) => {
      layer.bindTooltip(textOf(parcel.label), { permanent: true, direction: 'center', className: 'parcel-label' });
      layer.on('click', (event) => {
        L.DomEvent.stopPropagation(event);
        if (!isChosen) void run((current) => showParcel(parcel.fid, current));
      });
    });
    shape.addTo(drawn);
    shape.eachLayer((layer) => layer.getElement()?.setAttribute('data-fid', String(parcel.fid)));
  }
}

map.on('click', ({ latlng }) => void run((current) => showPlace(Number(latlng.lat.toFixed(7)), Number(latlng.lng.toFixed(7)), current)));

// --- Telling ------------------------------------------------------------------------------------------------------------

/** What Leaflet would take as HTML, as text. */
function textOf(text) {
  return element('span', {}, [text]);
}

function element(name, attributes = {}, children = []) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** `from_15k_to_26k`, `5_9`, `75_plus`, `2_members`: numbers in names. */
function plainWords(field, panel) {
  return panel.words?.[field] ?? field.replace(/^from_(\d+)k?_to_(\d+)k$/, (_, from, to) => `${from === '0' ? '0' : `${from},000`}–${to},000 €`).replace(/^(\d+)_(\d+)$/, '$1–$2').replace(/_plus\b/, ' and more').replaceAll('_', ' ');
}

function wordsOf(field, panel) {
  const words = plainWords(field, panel);
  return words[0].toUpperCase() + words.slice(1);
}

function valueOf(field, value, panel) {
  if (value === null) return '–';
  if (typeof value === 'number') {
    const unit = panel.units?.[field];
    return element('span', { class: 'value' }, [`${panel.codes?.includes(field) ? value : value.toLocaleString('en-GB', { maximumFractionDigits: 7 })}${unit === undefined ? '' : ` ${unit}`}`]);
  }
  return breakable(String(value).replaceAll('not_mapped', 'not mapped'));
}

/** Long identifiers may break behind a dot, and nowhere else. */
function breakable(text) {
  return element('span', {}, text.split(/(?<=[a-z]\.)/i).flatMap((part) => [part, document.createElement('wbr')]));
}

/** Rows of an object; objects inside it get their name in front. */
function rowsOf(block, panel, prefix = '') {
  const rank = (field) => ((panel.first?.indexOf(field) ?? -1) + 1 || Infinity);
  const order = ([a], [b]) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b));
  return Object.entries(block).sort(order).flatMap(([field, value]) => {
    if (['source', 'geometry', 'municipality'].includes(field) && typeof block === 'object' && prefix === '') return [];
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return rowsOf(value, panel, `${prefix}${wordsOf(field, panel)}: `);
    if (Array.isArray(value)) return [];
    const name = prefix === '' ? wordsOf(field, panel) : prefix + (prefix.startsWith('Coverage') ? field : plainWords(field, panel));
    return [element('tr', {}, [element('th', { scope: 'row' }, [name]), element('td', {}, [valueOf(field, value, panel)])])];
  });
}

function flat(row, prefix = '') {
  return Object.entries(row).flatMap(([field, value]) => (value !== null && typeof value === 'object' ? flat(value, `${prefix}${field}.`) : [[`${prefix}${field}`, value]]));
}

/** @param columns heading of each */
function tableOf(rows, columns, codes, caption) {
  const flatRows = rows.map((row) => new Map(flat(row)));
  const shown = Object.entries(columns).map(([column, heading]) => ({ column, heading, isNumber: flatRows.some((row) => typeof row.get(column) === 'number') && !codes.includes(column) }));
  const cellOf = (value) => (value === null || value === undefined || value === '' ? '–' : typeof value === 'number' ? value.toLocaleString('en-GB', { useGrouping: value >= 10000 && value < 1e8 }) : String(value).replace(/^(\d{4})_([12])$/, '$1/$2'));
  return element('div', { class: 'wide' }, [element('table', { 'aria-label': caption }, [
    element('thead', {}, [element('tr', {}, shown.map(({ heading, isNumber }) => element('th', { scope: 'col', ...(isNumber ? { class: 'number' } : {}) }, [heading])))]),
    element('tbody', {}, flatRows.map((row) => element('tr', {}, shown.map(({ column, isNumber }) => element('td', isNumber ? { class: 'number' } : typeof row.get(column) === 'number' ? { class: 'value' } : {}, [cellOf(row.get(column))]))))),
  ])]);
}

/** A sentence with the values of a row. */
function noteOf(note, row) {
  return note.replace(/\{(\w+)\}/g, (_, field) => String(row[field] ?? '').replace(/^(\d{4})_([12])$/, '$1, half-year $2'));
}

function sectionOf(name, block, licenses) {
  const panel = SECTIONS[name];
  const { list, codes = [] } = panel;
  const parts = [element('h3', {}, [panel.title])];
  const rows = list?.field === undefined ? block : block?.[list.field];
  if (block === null || (Array.isArray(block) && block.length === 0)) parts.push(element('p', { class: 'none' }, ['No data for this place.']));
  else {
    if (!Array.isArray(block)) parts.push(element('table', { 'aria-label': panel.title }, [element('tbody', {}, rowsOf(block, panel))]));
    if (list?.note !== undefined) parts.push(element('p', { class: 'none' }, [noteOf(list.note, rows[0])]));
    if (Array.isArray(rows)) {
      const columns = list?.columns ?? Object.fromEntries(flat(rows[0]).map(([field]) => [field, wordsOf(field, panel)]));
      parts.push(tableOf(list?.latestFirst ? [...rows].reverse() : rows, columns, codes, list?.caption ?? panel.title));
    }
  }
  const source = block?.source ?? licenses.filter((license) => license.section === name).map(({ source: title, reference_period: period }) => (period === null ? title : `${title} (${period})`)).join('; ');
  if (source) parts.push(element('p', { class: 'source' }, [`Source: ${source}`]));
  return element('section', { 'data-section': name }, parts);
}

function tell(record, neighbours) {
  const { basic, municipality, meta } = record;
  const place = [municipality.name ?? municipality.code, municipality.province, municipality.region].filter((part) => part !== null).join(', ');
  const parts = [
    element('h2', {}, [`Particella ${basic.label}, foglio ${basic.cadastral.sheet}`]),
    element('p', { class: 'place' }, [`${place} · ${basic.cadastral_reference}`]),
    ...meta.sections_included.map((name) => sectionOf(name, record[name], meta.licenses)),
  ];
  if (neighbours.length > 0) {
    const byDistance = [...neighbours].sort((a, b) => map.distance(a.centroid, basic.centroid) - map.distance(b.centroid, basic.centroid));
    parts.push(element('section', { 'data-section': 'neighbours' }, [
      element('h3', {}, ['Neighbours']),
      element('ul', { class: 'neighbours' }, byDistance.map((parcel) => {
        const button = element('button', { type: 'button' }, [parcel.label]);
        button.addEventListener('click', () => void run((current) => showParcel(parcel.fid, current)));
        return element('li', {}, [button]);
      })),
    ]));
  }
  const shown = new Map(meta.licenses.map((license) => [license.attribution, license]));
  parts.push(element('section', {}, [
    element('h3', {}, ['Attributions']),
    element('ul', { class: 'licenses' }, [...shown.values()].map((license) => element('li', {}, [`${license.attribution} · `, link(license.url, license.license)]))),
  ]));
  $('record').replaceChildren(...parts);
  $('record').scrollTop = 0;
}

function link(url, text) {
  return /^https?:\/\//.test(url) ? element('a', { href: url, rel: 'noopener noreferrer', target: '_blank' }, [text]) : text;
}

// --- The form -----------------------------------------------------------------------------------------------------------

const token = /** @type {HTMLInputElement} */ ($('token'));
token.value = sessionStorage.getItem('token') ?? '';
$('search').addEventListener('submit', (event) => {
  event.preventDefault();
  sessionStorage.setItem('token', token.value.trim());
  void run((current) => search(/** @type {HTMLInputElement} */ ($('query')).value.trim(), /** @type {HTMLInputElement} */ ($('city')).value.trim(), current));
});
