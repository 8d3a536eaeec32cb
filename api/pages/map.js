// @ts-check
/* global L */
/** The map page: searches, draws the parcels themselves, and tells their record as tables. It knows only the interface below. */

/** Degrees around a place in which parcels are looked for: about 40 m. */
const MARGIN = 0.0004;
const COLOURS = { land: '#e9e4d6', road: '#d3d6da', water: '#bcd9ec' };

const TITLES = {
  basic: 'Parcel', risk: 'Risk', subsidence: 'Ground motion', coastal_erosion: 'Coastal erosion', valuation: 'Property values (OMI)',
  valuation_history: 'Property values since 2015', economics: 'Declared incomes', demographics: 'Census 2021', address: 'Addresses',
};

/** Words for fields whose name does not say enough. */
const WORDS = {
  area_m2: 'Area', pga: 'Peak ground acceleration', velocity_mm_year: 'Vertical velocity', acceleration_mm_year2: 'Acceleration',
  avg_change_m_year: 'Average change', distance_m: 'Distance', parcel_share: 'Parcel\'s share of the section', gml_id: 'Identifier (gml:id)', fid: 'Identifier (fid)',
  avg_residential_price_m2: 'Average residential price', affordability_index: 'Years of income for 80 m²', gini_index: 'Gini index', flood_level: 'Flood hazard', flood_share: 'Share of the parcel in it', landslide_level: 'Landslide hazard', landslide_share: 'Share of the parcel in it',
  comune_code: 'Cadastral code', cadastral: 'Cadastre', sheet: 'foglio', section: 'sezione', attachment: 'allegato', development: 'sviluppo', label: 'Particella', lat: 'latitude', lng: 'longitude',
  eu: 'EU', non_eu: 'non-EU', lte_zero: 'zero or less', over_120k: 'over 120,000 €', taxpayers: 'Taxpayers', gross_yield_pct: 'Gross yield', mid_eur_m2: 'middle', min_eur_m2: 'from', max_eur_m2: 'to',
};
const UNITS = [
  [/^area_m2$/, 'm²'], [/^pga$/, 'g'], [/_mm_year$/, 'mm/year'], [/_mm_year2$/, 'mm/year²'], [/_m_year$/, 'm/year'], [/^distance_m$/, 'm'], [/^avg_residential_price_m2$/, '€/m²'],
  [/^(average_income|total_income|net_tax)$/, '€'], [/_pct$/, '%'], [/_apt_size_m2$/, 'm²'],
];

/** What a reader wants first; the rest keeps its order behind it. */
const FIRST = [
  'cadastral', 'sheet', 'section', 'label', 'kind', 'area_m2', 'cadastral_reference', 'centroid', 'fid', 'gml_id',
  'seismic_zone', 'seismic_zone_label', 'seismic_zone_exact', 'pga', 'flood_level', 'flood_share', 'landslide_level', 'landslide_share', 'landslide_attention', 'coverage', 'velocity_mm_year', 'acceleration_mm_year2', 'direction', 'trend', 'risk_class', 'risk_label', 'cells',
  'average_income', 'taxpayers', 'total_income', 'net_tax', 'tax_year', 'gini_index', 'avg_residential_price_m2', 'affordability_index', 'affordability_apt_size_m2', 'level', 'income_brackets',
  'lte_zero', 'from_0_to_10k', 'from_10k_to_15k', 'from_15k_to_26k', 'from_26k_to_55k', 'from_55k_to_75k', 'from_75k_to_120k', 'over_120k',
  'population_total', 'male', 'female', 'age_brackets', '0_4', '5_9', 'foreigners', 'households', 'dwellings', 'employed', 'education', 'section_id', 'parcel_share', 'total', 'no_title', 'elementary', 'middle_school',
  'zone_current', 'municipality_code', 'property_type', 'condition',
];
const rank = (field) => (FIRST.includes(field) ? FIRST.indexOf(field) : FIRST.length);

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
function plainWords(field) {
  return WORDS[field] ?? field.replace(/^from_(\d+)k?_to_(\d+)k$/, (_, from, to) => `${from === '0' ? '0' : `${from},000`}–${to},000 €`).replace(/^(\d+)_(\d+)$/, '$1–$2').replace(/_plus\b/, ' and more').replaceAll('_', ' ');
}

function wordsOf(field) {
  const words = plainWords(field);
  return words[0].toUpperCase() + words.slice(1);
}

function valueOf(field, value) {
  if (value === null) return '–';
  if (typeof value === 'number') {
    const isCode = /^(fid|tax_year|address_id|section_id)$/.test(field);
    const unit = UNITS.find(([pattern]) => pattern.test(field))?.[1];
    return element('span', { class: 'value' }, [`${isCode ? value : value.toLocaleString('en-GB', { maximumFractionDigits: 7 })}${unit === undefined ? '' : ` ${unit}`}`]);
  }
  return breakable(String(value).replaceAll('not_mapped', 'not mapped'));
}

/** Long identifiers may break behind a dot, and nowhere else. */
function breakable(text) {
  return element('span', {}, text.split(/(?<=[a-z]\.)/i).flatMap((part) => [part, document.createElement('wbr')]));
}

/** Rows of an object; objects inside it get their name in front. */
function rowsOf(block, prefix = '') {
  return Object.entries(block).sort(([a], [b]) => rank(a) - rank(b)).flatMap(([field, value]) => {
    if (['source', 'geometry', 'municipality'].includes(field) && typeof block === 'object' && prefix === '') return [];
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return rowsOf(value, `${prefix}${wordsOf(field)}: `);
    if (Array.isArray(value)) return [];
    const name = prefix === '' ? wordsOf(field) : prefix + (prefix.startsWith('Coverage') ? field : plainWords(field));
    return [element('tr', {}, [element('th', { scope: 'row' }, [name]), element('td', {}, [valueOf(field, value)])])];
  });
}

function flat(row, prefix = '') {
  return Object.entries(row).flatMap(([field, value]) => (value !== null && typeof value === 'object' ? flat(value, `${prefix}${field}.`) : [[`${prefix}${field}`, value]]));
}

/** Columns that differ or matter, for arrays of rows. */
const COLUMNS = {
  coastal_erosion: ['dynamic', 'avg_change_m_year', 'severity_index', 'distance_m'],
  valuation: ['property_type', 'condition', 'purchase.min_eur_m2', 'purchase.max_eur_m2', 'rental.min_eur_m2', 'rental.max_eur_m2'],
  semesters: ['semester', 'zone', 'purchase.min_eur_m2', 'purchase.max_eur_m2', 'rental.min_eur_m2', 'rental.max_eur_m2', 'gross_yield_pct'],
  address: ['formatted_address', 'locality', 'address_id'],
};
const HEADINGS = {
  'purchase.min_eur_m2': 'Sale from, €/m²', 'purchase.max_eur_m2': 'to', 'rental.min_eur_m2': 'Rent from, €/m² month', 'rental.max_eur_m2': 'to', gross_yield_pct: 'Yield, %',
  avg_change_m_year: 'Change, m/year', distance_m: 'Distance, m', address_id: 'ANNCSU id', formatted_address: 'Address',
};

function tableOf(rows, columns, caption) {
  const flatRows = rows.map((row) => new Map(flat(row)));
  const isNumber = columns.map((column) => flatRows.some((row) => typeof row.get(column) === 'number') && column !== 'address_id');
  const cellOf = (value) => (value === null || value === undefined || value === '' ? '–' : typeof value === 'number' ? value.toLocaleString('en-GB', { useGrouping: value >= 10000 && value < 1e8 }) : String(value).replace(/^(\d{4})_([12])$/, '$1/$2'));
  return element('div', { class: 'wide' }, [element('table', { 'aria-label': caption }, [
    element('thead', {}, [element('tr', {}, columns.map((column, index) => element('th', { scope: 'col', ...(isNumber[index] ? { class: 'number' } : {}) }, [HEADINGS[column] ?? wordsOf(column)])))]),
    element('tbody', {}, flatRows.map((row) => element('tr', {}, columns.map((column, index) => element('td', isNumber[index] ? { class: 'number' } : typeof row.get(column) === 'number' ? { class: 'value' } : {}, [cellOf(row.get(column))]))))),
  ])]);
}

function sectionOf(name, block, licenses) {
  const parts = [element('h3', {}, [TITLES[name] ?? wordsOf(name)])];
  if (block === null || (Array.isArray(block) && block.length === 0)) parts.push(element('p', { class: 'none' }, ['No data for this place.']));
  else if (Array.isArray(block)) {
    if (name === 'valuation') parts.push(element('p', { class: 'none' }, [`Zone ${block[0].zone}, ${block[0].zone_description ?? ''} ${block[0].semester.replace('_', ', half-year ')}`]));
    parts.push(tableOf(block, COLUMNS[name] ?? flat(block[0]).map(([field]) => field), TITLES[name] ?? name));
  } else {
    parts.push(element('table', { 'aria-label': TITLES[name] ?? name }, [element('tbody', {}, rowsOf(block))]));
    if (Array.isArray(block.semesters)) parts.push(tableOf([...block.semesters].reverse(), COLUMNS.semesters, 'Half-years, latest first'));
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
