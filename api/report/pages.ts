/**
 * Writes the reports of a region and of a comune as self-contained HTML pages, for light and dark screens, phones and paper. The pages have no scripts
 * and send no requests.
 */
import type { z } from 'zod';
import type { municipalityQuality } from '../answers.ts';
import { GATES } from '../../pipelines/contract/gates.ts';
import { sliceName } from '../../pipelines/contract/gate.ts';
import type { FindingKind } from '../../pipelines/contract/schemas.ts';
import type { Relation } from '../../pipelines/contract/sql-files.ts';
import type { FindingCount } from '../../pipelines/operate/findings.ts';
import type {
  CoverageState, Distribution, Moment, Outline, Publication, RegionReport, ReportedFile, ReportedLicense, ReportedRejects, ReportedRelease, SectionCoverage,
} from '../../pipelines/operate/region-report.ts';
import { duration, group } from '../../pipelines/progress.ts';
import { vintageText } from '../../pipelines/contract/vintage.ts';
import { coverageMap, groundOf, mapKey, mapName, MAP_STYLE, shareMap, STATE_WORDS, type Ground } from './coverage-map.ts';
import { html, htmlPage, htmlTable, link, type Filling, type Html } from './html.ts';
import { STYLE } from './style.ts';

export type Passport = z.output<typeof municipalityQuality>;

const PAGE_STYLE = `${STYLE}${MAP_STYLE}
.overview{display:grid;grid-template-columns:1fr 1fr;gap:1rem}.overview .map{max-height:24rem}@media (max-width:40rem){h1{font-size:1.3rem;margin:.3rem 0}.overview{grid-template-columns:1fr;gap:.3rem}.overview .map{max-height:10rem}}
`;

/** @param outlines outlines of the comuni; without an outline of any comune of the report, comuni are drawn as squares */
export function regionPage(report: RegionReport, outlines: readonly Outline[]): string {
  const { region } = report;
  const ground = groundOf(report.coverage, outlines);
  const parts: readonly (readonly [id: string, title: string, body: Html])[] = [
    ['records', 'Records: rows + rejects + duplicates', accounting(report.releases)],
    ['coverage', 'Coverage', coverage(report, ground)],
    ['addresses', 'Address registers', addressRegisters(report)],
    ['distributions', 'Distributions compared with the previous publication', distributions(report)],
    ['rejects', 'Rejects', rejects(report.rejects)],
    ['checks', 'Checks and accepted differences', checks(report)],
    ['time', 'Time and size', timeAndSize(report)],
    ['licences', 'Licences', licences(report.licenses)],
    ['published', 'Publications, files and digests', published(report)],
  ];
  return htmlPage(`${region.name}: quality report`, PAGE_STYLE, html`<h1>${region.name}: content and quality of the published data</h1>
<main><section id="overview">${overview(report, ground)}</section>
<nav aria-label="Parts"><ul>${parts.map(([id, title]) => html`<li><a href="#${id}">${title}</a></li>`)}</ul></nav>
${parts.map(([id, title, body]) => html`<section id="${id}"><h2>${title}</h2>
${body}</section>
`)}</main>`);
}

/** Returns the first screen with the map, the numbers and the changes since the previous publication. */
function overview(report: RegionReport, ground: Ground): Html {
  const { region, publications, coverage: comuni, rejects: refused, releases, tables } = report;
  const now = publications.find(({ unit, state }) => unit === region.code && state === 'current');
  const rowsOf = (relation: Relation): number => tables.find((table) => table.unit === region.code && table.relation === relation)?.rows ?? 0;
  const numbers: readonly (readonly [string, number])[] = [
    ['comuni', comuni.length], ['parcels', rowsOf('core.parcel')], ['addresses', rowsOf('core.access_point')], ['files', releases.reduce((sum, { files }) => sum + files.length, 0)],
    ['records read', releases.reduce((sum, { records }) => sum + records, 0)], ['records refused', refused.reduce((sum, { records }) => sum + records, 0)],
  ];
  return html`${ground.definitions}<p>Published on ${now?.published_at ?? ''}.</p>
<div class="overview"><div>${shareMap('Sections that are mapped, by comune', comuni, ground)}</div>
<div>${htmlTable('Numbers', ['what', 'number'], numbers)}
${changes(report)}</div></div>`;
}

/** Returns the tables whose number of rows or statistics changed since the previous publication, with the number of changed statistics of each table. */
function changes({ region, publications, tables, distributions: all }: RegionReport): Html {
  const before = publications.find(({ unit, state }) => unit === region.code && state === 'previous');
  if (before === undefined) return html`<p>This is the first publication of the region, so there is nothing to compare with.</p>`;
  const own = tables.filter(({ unit }) => unit === region.code);
  const moved = own.flatMap(({ relation, rows, rows_before: was }): Filling[][] => {
    const changed = all.filter((each) => each.relation === relation && isChanged(each)).length;
    return rows === was && changed === 0 ? [] : [[html`<code>${relation}</code>`, was ?? html`<span class="soft">new</span>`, rows, changed]];
  });
  if (moved.length === 0) return html`<p>No number of rows and no statistic changed since the publication of ${before.published_at}. ${group(own.filter(({ stands }) => stands).length)} of ${group(own.length)} tables are unchanged.</p>`;
  return htmlTable(`Changes since the publication of ${before.published_at} (all other tables have the same numbers)`, ['table', 'rows before', 'rows now', 'changed statistics'], moved);
}

function isChanged({ before, now }: Distribution): boolean {
  const valuesOf = (moment: Moment | null): string => JSON.stringify([moment?.values, moment?.median, moment?.p95]);
  return before !== null && valuesOf(before) !== valuesOf(now);
}

function published({ region, publications, held, releases }: RegionReport): Html {
  const described = (publication: Publication): Html => html`<dt>${publication.unit === 0 ? 'National lists' : region.name}${publication.state === 'previous' ? ', before' : ''}</dt>
<dd>publication ${publication.publication} of ${publication.published_at}, by run ${publication.run} (<code>${publication.command}</code>, version ${publication.version})${
  publication.digest === null ? '' : html`, digest <code>${publication.digest}</code>`}</dd>`;
  const hold = held === null ? null : html`<p><strong>${held.kind.replace('_', ' ')}</strong> by ${held.heldBy} on ${held.heldAt}${held.reason === null ? '' : `: ${held.reason}`}.
A refresh keeps the region unchanged.</p>`;
  const header = ['source', 'vintage', 'file', 'dated', 'bytes', 'first characters of sha256', 'data folders'];
  const files = releases.flatMap(({ source, files: all }) => all.map((file): Filling[] => [
    source, vintageText(file.vintage), file.name, file.dated ?? '', file.bytes, html`<code>${file.sha256.slice(0, 16)}</code>`, place(file),
  ]));
  return html`<dl>${publications.map(described)}</dl>${hold}
${htmlTable(`${group(files.length)} current files of ${group(releases.length)} releases`, header, files)}`;
}

function place({ in_data_folders: present }: ReportedFile): string {
  return present ? 'present' : 'missing, still used';
}

function accounting(releases: readonly ReportedRelease[]): Html {
  const wrong = releases.filter(({ holds }) => !holds);
  const total = (of: 'records' | 'rows' | 'rejects' | 'duplicates'): number => releases.reduce((sum, release) => sum + release[of], 0);
  return html`<p>Every record of every file is a row, a reject with a reason, or a duplicate. The last column verifies these counts with the ledger's lists
of members, rejects and duplicates. ${wrong.length === 0
  ? html`The counts agree for all ${group(releases.length)} releases.`
  : html`<strong class="bad">They disagree for ${group(wrong.length)} of ${group(releases.length)} releases.</strong>`}</p>
${htmlTable('Records of each release', ['source', 'vintage', 'records', 'rows', 'rejects', 'duplicates', 'sum'], [
  ...releases.map((release): Filling[] => {
    const { source, vintage, records, rows, rejects: refused, duplicates } = release;
    return [source, vintageText(vintage), records, rows, refused, duplicates, sumOf(release)];
  }),
  [html`<strong>all</strong>`, '', total('records'), total('rows'), total('rejects'), total('duplicates'), ''],
])}`;
}

function sumOf(release: ReportedRelease): Html {
  if (release.holds) return html`holds`;
  const { records, rows, rejects: refused, duplicates, broken_members: members } = release;
  const found = rows + refused + duplicates;
  const why = [
    ...(found === records ? [] : [`${group(rows)} + ${group(refused)} + ${group(duplicates)} = ${group(found)}, not ${group(records)}`]),
    ...(release.member_records === records ? [] : [`members have ${group(release.member_records)} records, not ${group(records)}`]),
    ...(release.member_rows === rows ? [] : [`members have ${group(release.member_rows)} rows, not ${group(rows)}`]),
    ...(release.kept_rejects === refused ? [] : [`${group(release.kept_rejects)} rejects are stored, not ${group(refused)}`]),
    ...(release.kept_duplicates === duplicates ? [] : [`${group(release.kept_duplicates)} duplicates are stored, not ${group(duplicates)}`]),
    ...members.map((member) => `in ${member === '' ? 'the file' : member}`),
  ];
  return html`<span class="bad">does not hold: ${why.join('; ')}</span>`;
}

function coverage({ coverage: comuni }: RegionReport, ground: Ground): Html {
  const names = [...new Map(comuni.flatMap(({ sections }) => sections).map((section) => [mapName(section), section])).keys()];
  const asked = comuni.reduce((sum, { parcels_asked: parcels }) => sum + parcels, 0);
  const maps = names.map((name) => coverageMap(
    name, comuni, ({ sections }) => sections.find((section) => mapName(section) === name)?.state ?? null, ground,
  ));
  return html`<p>Coverage in the records of ${group(asked)} land parcels: for each comune, the outermost parcels in eight directions and four random ones.
<em>Mapped, without any feature</em> is a result; <em>not mapped</em> means that there is no data.${ground.note === '' ? '' : ` ${ground.note}`}</p>
${mapKey()}<div class="maps">${maps}</div>`;
}

/** Returns the headings of the columns that count findings. The kind `outside` has one column per distance class. */
function findingHeads(findings: readonly FindingCount[]): string[] {
  return findings.map(({ kind, from_m: from, below_m: below }) => {
    if (from === null) return FINDING_WORDS[kind];
    return below === null ? `outside by ${group(from)} m or more` : `outside by ${from === 0 ? '' : `${group(from)} m to `}less than ${group(below)} m`;
  });
}

const FINDING_WORDS: Readonly<Record<FindingKind, string>> = {
  outside: 'outside', same_point: 'same point', grid_10m: 'on a 10 m grid', no_numbers: 'streets without numbers', out_of_order: 'out of order', moved: 'moved', new: 'new', missing: 'missing',
};

function findingCells(findings: readonly FindingCount[]): Filling[] {
  return findings.map(({ count }) => count ?? html`<span class="soft">unknown</span>`);
}

function addressRegisters({ address_registers: all }: RegionReport): Html {
  const found = all.filter(({ addresses }) => addresses !== null);
  const [first] = found;
  if (first === undefined) return html`<p>No addresses are loaded, so nothing is known about them.</p>`;
  return html`<p>Findings about the addresses of ${group(found.length)} of ${group(all.length)} comuni. <em>Unknown</em> means that the boundary of the comune, or an earlier file of its
addresses, is not loaded. <code>mappale findings --comune CODE --format csv</code> lists each address.</p>
${htmlTable('Possible errors in addresses, by comune', ['comune', 'addresses', 'compared with', ...findingHeads(first.findings)], found.map(({ belfiore, name, addresses, compared_with: earlier, findings }): Filling[] => [
  `${name ?? belfiore} (${belfiore})`, addresses, earlier?.file ?? html`<span class="soft">no earlier file</span>`, ...findingCells(findings),
]))}`;
}

/**
 * Draws box plots of the medians of the comuni, with quartiles and the range from the 10th to the 90th percentile. Top: before. Bottom: now. Returns null if
 * there are fewer than two medians or all medians are equal.
 */
function strip(before: Moment | null, now: Moment | null): Html | null {
  const both = [...(before?.medians ?? []), ...(now?.medians ?? [])];
  const [low, high] = [Math.min(...both), Math.max(...both)];
  if (both.length < 2 || low === high) return null;
  const x = (value: number): string => (4 + ((value - low) / (high - low)) * 136).toFixed(1);
  const at = (medians: readonly number[], share: number): number => medians[Math.round((medians.length - 1) * share)] ?? low;
  const box = (moment: Moment | null, y: number, style: string): Html | null => {
    if (moment === null || moment.medians.length === 0) return null;
    const [p10, q1, middle, q3, p90] = [0.1, 0.25, 0.5, 0.75, 0.9].map((share) => x(at(moment.medians, share)));
    return html`<g class="${style}"><line x1="${p10 ?? ''}" x2="${p90 ?? ''}" y1="${y}" y2="${y}"/><rect x="${q1 ?? ''}" y="${y - 4}" width="${(Number(q3) - Number(q1)).toFixed(1)}" height="8"/><line class="mid" x1="${middle ?? ''}" x2="${middle ?? ''}" y1="${y - 5}" y2="${y + 5}"/></g>`;
  };
  return html`<svg class="strip" viewBox="0 0 144 26" role="img" aria-label="medians of the comuni from ${figure(low)} to ${figure(high)}">${box(before, 7, 'was')}${box(now, 19, 'now')}</svg>`;
}

function figure(value: number | null): string {
  return value === null ? '–' : value.toLocaleString('en-US', { maximumSignificantDigits: 5 });
}

function pair(before: number | null | undefined, now: number | null | undefined): Html {
  if (before === undefined || now === undefined) return html`${figure(now ?? before ?? null)}`;
  return before === now ? html`${figure(now)}` : html`<strong>${figure(before)} → ${figure(now)}</strong>`;
}

function distributions({ distributions: all, publications, tables }: RegionReport): Html {
  const isFirst = !publications.some(({ unit, state }) => unit > 0 && state === 'previous');
  const byRelation = new Map<Relation, Distribution[]>();
  for (const each of all) byRelation.set(each.relation, [...(byRelation.get(each.relation) ?? []), each]);
  const unchanged = new Set(tables.filter(({ stands }) => stands).map(({ relation }) => relation));
  return html`<p>Statistics of the quality gate, by province. ${isFirst
    ? 'There is no previous publication to compare with.'
    : 'Changed values are shown as before → now.'}
The small charts show the medians of the comuni: quartiles and the 10th to 90th percentile${isFirst ? '' : '; dashed line: before; solid line: now'}.</p>
${[...byRelation].map(([relation, found]) => tableOf(relation, found, unchanged.has(relation) ? 'kept' : 'rebuilt'))}`;
}

function tableOf(relation: Relation, found: readonly Distribution[], state: 'kept' | 'rebuilt'): Html {
  const gate = GATES[relation];
  const slice = (value: string): string => (gate === undefined || 'unwatched' in gate ? value : sliceName(gate, value));
  const moved = found.filter(isChanged);
  const note = state === 'kept' ? 'unchanged, reused from the previous publication' : moved.length > 0 ? `${group(moved.length)} of ${group(found.length)} statistics changed` : '';
  const rows = found.map(({ province, slice: of, field, before, now }): Filling[] => [
    province === '' ? 'not listed' : province, slice(of), field, pair(before?.rows, now?.rows), pair(before?.values, now?.values), pair(before?.median, now?.median),
    pair(before?.p95, now?.p95), strip(before, now),
  ]);
  return html`<details><summary><code>${relation}</code> ${note === '' ? '' : html`<span class="soft">(${note})</span>`}</summary>
${htmlTable(`Statistics of ${relation}`, ['province', 'slice', 'field', 'rows', 'values', 'median', '95th percentile', 'comuni'], rows)}</details>`;
}

function rejects(all: readonly ReportedRejects[]): Html {
  if (all.length === 0) return html`<p>No record was refused.</p>`;
  return html`<p>The ledger keeps the content of each reject; <code>mappale rejects --raw</code> prints it.</p>
${htmlTable('Rejects, by reason', ['source', 'reason', 'records', 'for example'], all.map(({ source, code, records, examples }) => [
  source, html`<code>${code}</code>`, records, html`<ul>${examples.map((example) => html`<li>${spot(example)}: ${example.message}</li>`)}</ul>`,
]))}`;
}

function spot({ file, member, position }: { readonly file: string; readonly member?: string | null | undefined; readonly position: number }): Html {
  return html`<code>${file}${member === null || member === undefined ? '' : `!${member}`}:${position}</code>`;
}

function checks({ checks: { all }, added_columns: added, cut_exports: cut, publications, releases }: RegionReport): Html {
  const accepted = publications.filter(({ state, reason }) => state === 'current' && reason !== null);
  const warned = releases.flatMap(({ source, vintage, warnings }) => (warnings ?? []).map((warning) => [`${source} ${vintageText(vintage)}`, warning.expects, warning.rows]));
  const answer = ({ asked, rows }: (typeof all)[number]): Html => {
    if (rows > 0) return html`<strong>${group(rows)} violations</strong>`;
    if (asked === null) return html`<span class="soft">not recorded when this was published</span>`;
    return asked ? html`passed` : html`not run again: its tables are unchanged`;
  };
  return html`${accepted.length === 0 ? html`<p>The quality gate refused nothing.</p>` : accepted.map(acceptanceOf)}
${htmlTable('Checks of the built tables (a violation of level error stops the publication)', ['check', 'level', 'expected', 'found'], all.map((each) => [
  html`<code>${each.name}</code>`, each.level, each.expects, answer(each),
]))}
${warned.length === 0 ? null : htmlTable('Warnings of the file checks', ['release', 'expected', 'violations'], warned)}
${added.length === 0 ? null : htmlTable('Columns that publishers added and that this version does not read', ['source', 'vintage', 'file', 'columns'], added.map((each) => [
  each.source, vintageText(each.vintage), each.file, each.columns.join(', '),
]))}
${cut.length === 0 ? null : htmlTable('Exports of web services that may be truncated (EXPORT_MAY_BE_CUT)', ['source', 'vintage', 'file'], cut.map((each) => [
  each.source, vintageText(each.vintage), each.file,
]))}`;
}

function acceptanceOf({ reason, accepted }: Publication): Html {
  const by = accepted === null ? '' : ` by ${accepted.who} on ${accepted.at}`;
  return html`<p><strong>Accepted${by}</strong>, although the quality gate refused. Reason: “${reason ?? ''}”</p>
${accepted === null ? null : htmlTable('Statistics that the gate refused', ['section', 'table', 'place', 'statistic', 'before', 'after', 'allowed'], accepted.figures.map((violation) => [
  violation.section, violation.relation, violation.place, violation.figure, violation.before, violation.after, violation.limit,
]))}`;
}

function timeAndSize({ steps, releases, tables }: RegionReport): Html {
  const time = (seconds: number | null): string => (seconds === null ? '' : duration(seconds));
  const bytes = tables.reduce((sum, table) => sum + (table.bytes ?? 0), 0);
  return html`${htmlTable('Steps of the run that created this publication', ['step', 'subject', 'time'], steps.map(({ step, subject, seconds }) => [step, subject, time(seconds)]))}
${htmlTable('Time for reading each release', ['source', 'vintage', 'time', 'bytes of files'], releases.map(({ source, vintage, seconds, files }) => [
  source, vintageText(vintage), time(seconds), files.reduce((sum, file) => sum + file.bytes, 0),
]))}
${htmlTable(`Tables, ${group(bytes)} bytes with their indexes`, ['table', 'rows', 'rows before', 'bytes', 'build time'], tables.map(({ relation, rows, rows_before: before, bytes: size, seconds, stands }) => [
  html`<code>${relation}</code>`, rows, before, size, stands ? 'unchanged' : time(seconds),
]))}`;
}

function licences(all: readonly ReportedLicense[]): Html {
  return html`<p>Show these attributions with the data.</p>
${all.map((license) => html`<h3>${license.source}</h3>
<p>${license.attribution}</p>
<p class="soft">${license.holder}; ${license.license}, ${link(license.url)}${license.reference_period === null ? '' : `; of ${license.reference_period}`}${
  license.sections === null ? '' : `; sections ${license.sections.join(', ')}`}</p>
`)}`;
}

/** @param passport the response of `/admin/municipalities/{code}/quality` */
export function comunePage(passport: Passport): string {
  const { municipality: { code, name, province, region }, istat_code: istat } = passport;
  const title = `${name ?? code} (${code})`;
  return htmlPage(`${title}: quality passport`, PAGE_STYLE, html`<h1>${title}: quality passport</h1>
<dl><dt>Province, region</dt><dd>${province ?? 'not listed'}, ${region ?? 'not listed'}</dd><dt>ISTAT code</dt><dd>${istat ?? 'not listed'}</dd>
<dt>Published</dt><dd>${passport.published_at}</dd></dl>
<main><section><h2>Coverage</h2>
<p>Coverage in the records of ${passport.coverage.parcels_asked} land parcels: the outermost parcels in eight directions and four random ones.</p>
${mapKey()}
${htmlTable('Coverage by section', ['section', 'state', 'rows', 'checked parcels, by coverage'], passport.coverage.sections.map((section) => [
  mapName(section), stateCell(section.state), section.rows ?? html`<span class="soft">not counted</span>`,
  Object.entries(section.answers).map(([answer, parcels]) => `${answer}: ${parcels}`).join(', '),
]))}</section>
<section><h2>Files that cover the comune</h2>
${htmlTable('Current files (each layer uses the newest file that names the comune)', ['source', 'vintage', 'file', 'dated', 'names the comune', 'layers'], passport.files.map((file) => [
  file.source, vintageText(file.vintage), file.file, file.dated ?? '', file.names_comune ? 'yes' : 'does not name comuni', file.layers.join(', '),
]))}</section>
<section><h2>Statistics compared with the province</h2>
${passport.figures.map(figuresOfTable)}</section>
<section><h2>Rejects</h2>
<p>Rejects whose file, member or content contains a code of the comune. Other rejects cannot be assigned to a comune.</p>
${rejects(passport.rejects)}</section>
<section><h2>Address register</h2>
${addressRegister(passport)}</section>
<section><h2>Licences</h2>
<p>Show these attributions with the data.</p>
${passport.meta.licenses.map((license) => html`<p>${license.attribution} <span class="soft">(${license.section}: ${license.source}; ${license.license}, ${link(license.url)})</span></p>`)}</section></main>`);
}

function addressRegister({ municipality: { code }, address_register: { addresses, compared_with: earlier, findings } }: Passport): Html {
  if (addresses === null) return html`<p>No addresses are loaded, so nothing is known about them.</p>`;
  const cells = findingCells(findings);
  return html`<p>${group(addresses)} addresses, ${earlier === null ? 'no earlier file to compare with' : `compared with ${earlier.file}`}.
<code>mappale findings --comune ${code} --format csv</code> lists each address.</p>
${htmlTable('Possible errors in addresses', ['finding', 'count'], findingHeads(findings).map((head, index): Filling[] => [head, cells[index] ?? null]))}`;
}

function stateCell(state: CoverageState): Html {
  return html`<svg viewBox="0 0 32 22" width="24" height="16" class="${state}" aria-hidden="true"><path d="M1 1h30v20h-30z" stroke="currentColor"/></svg> ${STATE_WORDS[state]}`;
}

function figuresOfTable({ table, slice, rows, rows_province: ofProvince, fields }: Passport['figures'][number]): Html {
  const header = ['field', 'with a value', 'in the province', 'median', 'in the province', '95th percentile', 'in the province'];
  const gate = GATES[table as Relation];
  const of = slice === null || gate === undefined || 'unwatched' in gate ? slice : sliceName(gate, slice);
  const share = (values: number, all: number | null): string => (all === null || all === 0 ? '' : `${Math.round((values / all) * 100)} %`);
  return html`<details><summary><code>${table}</code> ${of ?? ''} <span class="soft">(${group(rows)} rows, in the province ${ofProvince === null ? 'not counted' : group(ofProvince)})</span></summary>
${htmlTable(`Statistics of ${table}`, header, Object.entries(fields).map(([name, field]) => [
  name, share(field.values, rows), share(field.values_province ?? 0, ofProvince), figure(field.median), figure(field.median_province),
  figure(field.p95), figure(field.p95_province),
]))}</details>`;
}

/** Returns lines for the terminal, one for each applicable section or map whose coverage is not `mapped`. */
export function unusualCoverage(sections: readonly SectionCoverage[]): string[] {
  return sections.filter(({ state }) => state !== 'mapped' && state !== 'not_applicable').map((section) => `${mapName(section)}: ${STATE_WORDS[section.state]}`);
}
