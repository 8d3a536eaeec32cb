/** Writes the dossier of a parcel as a self-contained HTML page for screens and paper, with a map. The page has no scripts and sends no requests. */
import { ringsOf, type Dossier, type Labelled, type ParcelRecord, type Shape } from '../../pipelines/operate/dossier.ts';
import { html, htmlPage, htmlTable, link, type Filling, type Html } from './html.ts';
import { absenceOf, labelOf, listOf, numberIn, rowsOf, shared, valueOf, type Block, type Language, type Panel } from './record-values.ts';
import { STYLE } from './style.ts';

const TEXTS = {
  en: {
    parcel: 'Parcel {label}', parcelOf: 'Parcel {label}, sheet {sheet}', map: 'Map', parcelMap: 'Map of the parcel and the parcels around it', summary: 'Summary', neighbours: 'Neighbours',
    sources: 'Sources', published: 'Published', reference: 'Reference', period: 'Period', source: 'Source', section: 'Section', kind: 'Kind', area: 'Area, m²', border: 'Shared border, m',
    noNeighbours: 'No parcel shares a border with this parcel.', moreNeighbours: 'The list does not show all neighbours of the parcel.', moreRows: '{n} more rows are not shown.', value: 'Value', field: 'Field',
    notStated: 'not stated', licences: 'Show these attributions with the data.', label: 'Parcel', comune: 'Comune',
    mapped: 'The sources cover this place and have no feature here.', partial: 'The sources cover only a part of this place.', not_mapped: 'The loaded files do not cover this place. This does not mean that there is no feature here.',
    not_loaded: 'No file of this section is loaded.', not_applicable: 'This section does not exist for parcels of this kind.',
  },
  it: {
    parcel: 'Particella {label}', parcelOf: 'Particella {label}, foglio {sheet}', map: 'Mappa', parcelMap: 'Mappa della particella e delle particelle vicine', summary: 'In sintesi',
    neighbours: 'Particelle confinanti', sources: 'Fonti', published: 'Pubblicazione', reference: 'Riferimento', period: 'Periodo', source: 'Fonte', section: 'Sezione', kind: 'Tipo', area: 'Superficie, m²',
    border: 'Confine comune, m', noNeighbours: 'Nessuna particella confina con questa.', moreNeighbours: 'Le particelle confinanti sono più di quelle elencate.',
    moreRows: 'Altre {n} righe non sono mostrate.', value: 'Valore', field: 'Voce', notStated: 'non indicato', licences: 'Riporta queste attribuzioni insieme ai dati.', label: 'Particella', comune: 'Comune',
    mapped: 'Le fonti coprono questo luogo e qui non riportano alcun elemento.', partial: 'Le fonti coprono solo una parte di questo luogo.', not_mapped: 'I file caricati non coprono questo luogo. Ciò non significa che qui non vi sia alcun elemento.',
    not_loaded: 'Nessun file di questa sezione è caricato.', not_applicable: 'Questa sezione non riguarda le particelle di questo tipo.',
  },
} as const satisfies Readonly<Record<Language, Readonly<Record<string, string>>>>;

type Texts = (typeof TEXTS)[Language];

/** Width, minimum height and maximum height of the map in SVG units. */
const MAP = { width: 640, least: 240, most: 640 } as const;

const DOSSIER_STYLE = `${STYLE}
.lots{width:100%;height:auto;max-height:24rem;border:1px solid var(--line)}.lots path{fill:none;stroke:var(--soft);stroke-width:1;fill-rule:evenodd}
.lots .own{fill:#f2a65a;fill-opacity:.6;stroke:var(--ink);stroke-width:2.5}.lots text{fill:var(--soft);font-size:16px;text-anchor:middle}.lots .name{fill:var(--ink);font-weight:700}
.first{display:grid;grid-template-columns:3fr 2fr;gap:1rem}@media (max-width:40rem){.first{grid-template-columns:1fr}}
h1{margin:.5rem 0}h2{margin-top:1rem;break-after:avoid}.parts{columns:22rem 2;column-gap:1.5rem;margin-top:1rem}.parts section{break-inside:avoid;padding-bottom:1rem}.parts h2{font-size:1rem;margin:0 0 .2rem}
.facts caption,.facts thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}.facts td:first-child{color:var(--soft);width:50%}.parts caption{font-size:.8rem}
@page{size:A4;margin:1.3cm}@media print{body{padding:0;font-size:8.5pt}table{font-size:7.5pt}th,td{padding:.08rem .2rem;overflow-wrap:break-word}.first{grid-template-columns:3fr 2fr}.lots{max-height:8cm}.parts{columns:2}}
`;

/** @param panels names and units of the sections' fields, in the language of the page */
export function dossierPage(dossier: Dossier, panels: readonly Panel[], language: Language): string {
  const { record, published_at: publishedAt } = dossier;
  const { basic, municipality } = record;
  const texts = TEXTS[language];
  const { sheet } = basic.cadastral;
  const title = filled(sheet === null ? texts.parcel : texts.parcelOf, { label: basic.label, sheet: sheet ?? '' });
  const place = [municipality.name ?? municipality.code, municipality.province, municipality.region].filter((part) => part !== null).join(', ');
  const included = panels.filter(({ name }) => record.meta.sections_included.includes(name));
  // The section `basic`, which has identifiers, comes last.
  const shown = [...included.filter(({ name }) => name !== 'basic'), ...included.filter(({ name }) => name === 'basic')];
  return htmlPage(`${title}, ${place}`, DOSSIER_STYLE, html`<main><h1>${title}</h1>
<p>${place}. ${texts.reference}: <code>${basic.cadastral_reference}</code>. ${texts.published}: ${publishedAt.slice(0, 10)}.</p>
<div class="first"><section><h2>${texts.map}</h2>
${parcelMap(dossier, texts)}</section>
<section><h2>${texts.summary}</h2>
${facts(texts.summary, summaryOf(record, included), texts)}</section></div>
<div class="parts">${shown.map((panel) => html`<section><h2>${panel.title}</h2>
${sectionOf(record, panel, texts)}</section>
`)}</div>
<section><h2>${texts.neighbours}</h2>
${neighboursOf(dossier, { texts, language })}</section>
<section><h2>${texts.sources}</h2>
${sourcesOf(record, { shown, texts })}</section></main>`, language);
}

function filled(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''));
}

function facts(caption: string, rows: readonly (readonly [label: string, value: string])[], texts: Texts): Html {
  return html`<div class="facts">${htmlTable(caption, [texts.field, texts.value], rows)}</div>`;
}

/** Returns the values that each section selects for the summary. A missing value is shown only if its reason is known. */
function summaryOf(record: ParcelRecord, panels: readonly Panel[]): [string, string][] {
  return panels.flatMap((panel) => (panel.map.summary ?? []).flatMap((path): [string, string][] => {
    const steps = path.split('.');
    const field = steps.at(-1) ?? path;
    const block = record[panel.name] as Block | null;
    const value = steps.reduce<unknown>((inside, step) => (inside as Block | null | undefined)?.[step] ?? null, block);
    const text = value === null ? absenceOf(block ?? {}, field, panel) : valueOf(field, value, panel);
    return text === undefined ? [] : [[labelOf(field, panel), text]];
  }));
}

function sectionOf(record: ParcelRecord, panel: Panel, texts: Texts): Html {
  const block = record[panel.name] as Block | readonly Block[] | null;
  const state = record.meta.coverage[panel.name];
  if (block === null || (isList(block) && block.length === 0)) return html`<p class="soft">${absence(state ?? 'mapped', texts)}</p>`;
  const inside = panel.map.list?.field === undefined ? block : (block as Block)[panel.map.list.field];
  return html`${state === undefined || state === 'mapped' ? null : html`<p class="soft">${absence(state, texts)}</p>`}${
    isList(block) ? null : facts(panel.title, rowsOf(block, panel), texts)}${
    isList(inside) && inside.length > 0 ? listed(inside, panel, texts) : null}`;
}

function isList(block: unknown): block is readonly Block[] {
  return Array.isArray(block);
}

function absence(state: string, texts: Texts): string {
  return Object.hasOwn(texts, state) ? texts[state as 'mapped'] : state;
}

function listed(rows: readonly Block[], panel: Panel, texts: Texts): Html {
  const { table, note, left } = listOf(rows, panel);
  return html`${note === null ? null : html`<p class="soft">${note}</p>`}${table}${left === 0 ? null : html`<p class="soft">${filled(texts.moreRows, { n: left })}</p>`}`;
}

function neighboursOf({ neighbours, has_more_neighbours: more }: Dossier, { texts, language }: { readonly texts: Texts; readonly language: Language }): Html {
  if (neighbours.length === 0) return html`<p>${texts.noNeighbours}</p>`;
  const number = (value: number): Html => html`<span class="n">${numberIn(language, value, { maximumFractionDigits: 2 })}</span>`;
  return html`${htmlTable(texts.neighbours, [texts.label, texts.reference, texts.kind, texts.area, texts.border], neighbours.map((each): Filling[] => [
    each.label, each.cadastral_reference, shared(each.kind, language), number(each.area_m2), number(each.shared_m),
  ]))}${more ? html`<p>${texts.moreNeighbours}</p>` : null}`;
}

function sourcesOf({ meta: { licenses } }: ParcelRecord, { shown, texts }: { readonly shown: readonly Panel[]; readonly texts: Texts }): Html {
  const title = (section: string): string => shown.find(({ name }) => name === section)?.title ?? '';
  const attributions = new Map(licenses.map((license) => [license.attribution, license]));
  return html`${htmlTable(texts.sources, [texts.section, texts.source, texts.period], licenses.map(({ section, source, reference_period: period }) => [title(section), source, period ?? texts.notStated]))}
<p>${texts.licences}</p>
<ul>${[...attributions.values()].map(({ attribution, license, url }) => html`<li>${attribution} <span class="soft">(${license}, ${link(url)})</span></li>`)}</ul>`;
}

/** Draws the parcel and the parcels around it. In the middle of the map, both axes have the same scale. */
function parcelMap({ record, around, box: [west, south, east, north] }: Dossier, texts: Texts): Html {
  const narrow = Math.cos(((south + north) / 2) * (Math.PI / 180));
  const scale = Math.min(MAP.width / ((east - west) * narrow), MAP.most / (north - south));
  const [width, height] = [(east - west) * narrow * scale, Math.max(MAP.least, (north - south) * scale)];
  const place = ([lng, lat]: readonly [number, number]): readonly [number, number] => [(lng - west) * narrow * scale, (north - lat) * scale];
  const pathOf = (shape: Shape): string => ringsOf(shape).map((ring) => `M${ring.slice(0, -1).map((position) => place(position).map((each) => each.toFixed(1)).join(' ')).join('L')}z`).join('');
  const nameOf = ({ label, centroid: { lng, lat } }: Labelled, style: string): Html => {
    const [x, y] = place([lng, lat]);
    return x < 0 || x > width || y < 0 || y > height ? html`` : html`<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" class="${style}">${label}</text>`;
  };
  const others = around.filter(({ id }) => id !== record.fid);
  const { geometry } = record.basic;
  return html`<svg class="lots" viewBox="0 0 ${width.toFixed(0)} ${height.toFixed(0)}" role="img" aria-label="${texts.parcelMap}">${
    others.map((each) => html`<path d="${pathOf(each.geometry)}"/>`)}<path class="own" d="${pathOf(geometry)}"/>${
    others.map((each) => nameOf(each.properties, 'lot'))}${nameOf(record.basic, 'name')}</svg>`;
}
