/**
 * Draws small coverage maps of comuni as inline SVG. A page contains the outlines once. Each map shows the coverage of each comune by brightness and
 * pattern.
 */
import { COVERAGE_STATES, type ComuneCoverage, type CoverageState, type Outline, type SectionCoverage } from '../../pipelines/operate/region-report.ts';
import { html, Html } from './html.ts';

/** Longer side of a map, in SVG units. */
const SIZE = 400;

export const STATE_WORDS: Readonly<Record<CoverageState, string>> = {
  mapped: 'mapped', none: 'mapped, without any feature', partial: 'partly mapped', not_mapped: 'not mapped', not_loaded: 'not loaded', not_applicable: 'not applicable',
};

/** Style sheet of the maps. Colour-blind readers can distinguish the coverage states by brightness and pattern. */
export const MAP_STYLE = `
.map{width:100%;height:auto;max-height:15rem;display:block}
.map g{stroke:var(--ink);stroke-width:.6}.map g.mapped{stroke:var(--paper)}.map g.not_loaded{stroke-dasharray:2 2}.map g.not_applicable{stroke-dasharray:1 4}
#comuni path{vector-effect:non-scaling-stroke}
.blank{fill:var(--paper)}.mapped{fill:#0072b2}.none{fill:url(#dots)}.partial{fill:url(#stripes)}.not_mapped{fill:url(#cross)}.not_loaded,.not_applicable,.unknown{fill:none}
.tone-mapped{fill:#0072b2}.tone-none{fill:#cfe8f7}.tone-partial{fill:#e69f00}.tone-not_mapped{fill:#d9d9d9}
.tile-ink{stroke:#222;stroke-width:1.4;fill:none}.tile-dot{fill:#0072b2;stroke:none}
.key{display:flex;flex-wrap:wrap;gap:.4rem 1rem;list-style:none;padding:0;margin:.5rem 0}
.key li{display:flex;align-items:center;gap:.4rem}.key svg{width:1.6rem;height:1.1rem}
.maps{display:grid;grid-template-columns:repeat(auto-fill,minmax(9.5rem,1fr));gap:1rem}
.maps figure{margin:0;border:1px solid var(--line);border-radius:.4rem;padding:.5rem;break-inside:avoid}
.maps figcaption{font-size:.85rem}
`;

/** SVG definitions that all maps of a page use: the patterns, and the outlines of all comuni. */
export interface Ground {
  readonly definitions: Html;
  readonly viewBox: string;
  readonly known: ReadonlySet<string>;
  /** Sentence about the comuni whose boundaries are not loaded; empty if each comune is drawn with its boundary. */
  readonly note: string;
}

/**
 * Creates the outlines of all comuni of a region. If no boundary of these comuni is loaded, comuni are squares in rows, sorted by name. Boundaries of other
 * comuni do not count.
 */
export function groundOf(comuni: readonly ComuneCoverage[], outlines: readonly Outline[]): Ground {
  const names = new Map(comuni.map(({ belfiore, name }) => [belfiore, name ?? belfiore]));
  const points = outlines.flatMap(({ geometry }) => geometry?.coordinates.flat(2) ?? []);
  const isTiled = !outlines.some(({ belfiore, geometry }) => names.has(belfiore) && isDrawn(geometry));
  const drawn = isTiled ? tiles(comuni) : projected(outlines, points);
  const shown = drawn.shapes.filter(({ belfiore, path }) => names.has(belfiore) && path !== '');
  const known = new Set(shown.map(({ belfiore }) => belfiore));
  const missing = [...names.keys()].filter((belfiore) => !known.has(belfiore)).length;
  const paths = shown.map(({ belfiore, path }) => html`<path id="c-${belfiore}" d="${path}"><title>${names.get(belfiore) ?? ''} (${belfiore})</title></path>
`);
  return {
    viewBox: `0 0 ${drawn.width} ${drawn.height}`,
    known,
    note: isTiled ? 'No boundaries of these comuni are loaded, so comuni are drawn as squares, sorted by name.'
      : missing === 0 ? '' : `Comuni without a loaded boundary are not drawn (${missing} of ${names.size}).`,
    definitions: html`<svg width="0" height="0" style="position:absolute" aria-hidden="true"><defs>
<pattern id="dots" width="8" height="8" patternUnits="userSpaceOnUse"><rect width="8" height="8" class="tone-none"/><circle cx="4" cy="4" r="1.5" class="tile-dot"/></pattern>
<pattern id="stripes" width="8" height="8" patternUnits="userSpaceOnUse"><rect width="8" height="8" class="tone-partial"/><path d="M-2 2l4-4M0 8l8-8M6 10l4-4" class="tile-ink"/></pattern>
<pattern id="cross" width="8" height="8" patternUnits="userSpaceOnUse"><rect width="8" height="8" class="tone-not_mapped"/><path d="M0 0l8 8M8 0l-8 8" class="tile-ink"/></pattern>
<g id="comuni">${paths}</g>
</defs></svg>`,
  };
}

function isDrawn(geometry: Outline['geometry']): boolean {
  return (geometry?.coordinates.flat(2).length ?? 0) > 0;
}

interface Drawing {
  readonly shapes: readonly { readonly belfiore: string; readonly path: string }[];
  readonly width: number;
  readonly height: number;
}

/** Projects outlines from degrees to SVG units. In the middle of the region, both axes have the same scale. */
function projected(outlines: readonly Outline[], points: readonly (readonly [number, number])[]): Drawing {
  const range = (of: 0 | 1): readonly [number, number] => points.reduce<readonly [number, number]>(
    ([low, high], point) => [Math.min(low, point[of]), Math.max(high, point[of])], [Infinity, -Infinity],
  );
  const [[west, east], [south, north]] = [range(0), range(1)];
  const narrow = Math.cos(((south + north) / 2) * (Math.PI / 180));
  const scale = SIZE / Math.max((east - west) * narrow, north - south);
  const place = ([lng, lat]: readonly [number, number]): string => `${((lng - west) * narrow * scale).toFixed(1)} ${((north - lat) * scale).toFixed(1)}`;
  return {
    shapes: outlines.map(({ belfiore, geometry }) => ({
      belfiore, path: (geometry?.coordinates ?? []).flat().map((ring) => `M${ring.slice(0, -1).map(place).join('L')}z`).join(''),
    })),
    width: Math.ceil((east - west) * narrow * scale), height: Math.ceil((north - south) * scale),
  };
}

function tiles(comuni: readonly ComuneCoverage[]): Drawing {
  const across = Math.max(1, Math.ceil(Math.sqrt(comuni.length)));
  const side = SIZE / across;
  const inner = (side * 0.9).toFixed(1);
  const sorted = [...comuni].sort((a, b) => ((a.name ?? a.belfiore) < (b.name ?? b.belfiore) ? -1 : 1));
  return {
    shapes: sorted.map(({ belfiore }, index) => ({
      belfiore, path: `M${((index % across) * side).toFixed(1)} ${(Math.floor(index / across) * side).toFixed(1)}h${inner}v${inner}h-${inner}z`,
    })),
    width: SIZE, height: Math.ceil(Math.max(1, Math.ceil(comuni.length / across)) * side),
  };
}

/** Returns the name of a section or of a map in a section. */
export function mapName({ section, map }: Pick<SectionCoverage, 'section' | 'map'>): string {
  return map === null ? section : `${section}: ${map}`;
}

/** @param stateOf returns the coverage state of a comune, or null if the comune has no parcels */
export function coverageMap(name: string, comuni: readonly ComuneCoverage[], stateOf: (comune: ComuneCoverage) => CoverageState | null, ground: Ground): Html {
  const byState = new Map<CoverageState | 'unknown', ComuneCoverage[]>();
  for (const comune of comuni) {
    const state = stateOf(comune) ?? 'unknown';
    byState.set(state, [...(byState.get(state) ?? []), comune]);
  }
  // To keep the page of a large region small, the most frequent state is drawn once for all comuni. All other states are drawn over the most frequent state.
  const [commonest, ...others] = [...byState].sort(([, a], [, b]) => b.length - a.length);
  const counts = [...COVERAGE_STATES, 'unknown' as const].flatMap((state) => {
    const found = byState.get(state) ?? [];
    return found.length === 0 ? [] : [html`${found.length} ${state === 'unknown' ? 'without parcels' : STATE_WORDS[state]}`];
  });
  const layers = [
    ...(commonest === undefined ? [] : [html`<g class="${commonest[0]}"><use href="#comuni"/></g>`]),
    ...others.map(([state, found]) => html`<g class="blank">${found.filter(({ belfiore }) => ground.known.has(belfiore)).map(({ belfiore }) => html`<use href="#c-${belfiore}"/>`)}</g><g class="${state}">${found
      .filter(({ belfiore }) => ground.known.has(belfiore)).map(({ belfiore }) => html`<use href="#c-${belfiore}"/>`)}</g>`),
  ];
  const said = counts.map((count, index) => html`${index === 0 ? '' : ', '}${count}`);
  return html`<figure><svg class="map" viewBox="${ground.viewBox}" role="img" aria-label="${name}">${layers}</svg>
<figcaption><strong>${name}</strong>: ${said}${unusual(byState, comuni.length)}</figcaption></figure>`;
}

/** Classes of the share of mapped sections, lowest first. Colour-blind readers can distinguish the classes by brightness. */
const SHARES: readonly { readonly from: number; readonly label: string; readonly color: string }[] = [
  { from: 0, label: 'less than half', color: '#f7fbff' }, { from: 0.5, label: 'half to three quarters', color: '#9ecae1' },
  { from: 0.75, label: 'three quarters or more', color: '#4292c6' }, { from: 1, label: 'all', color: '#084594' },
];

/**
 * Returns the share of sections whose coverage in a comune is `mapped` or `none`. Sections that do not apply to the comune's parcels are ignored. Returns null
 * if the comune has no parcels or no section applies.
 */
function mappedShare({ sections, parcels_asked: parcels }: ComuneCoverage): number | null {
  const counted = sections.filter(({ state }) => state !== 'not_applicable');
  return parcels === 0 || counted.length === 0 ? null : counted.filter(({ state }) => state === 'mapped' || state === 'none').length / counted.length;
}

/** Draws a map of the share of mapped sections in each comune, with a legend. */
export function shareMap(name: string, comuni: readonly ComuneCoverage[], ground: Ground): Html {
  const classed = SHARES.map((each, index) => ({
    ...each,
    found: comuni.filter((comune) => {
      const share = mappedShare(comune);
      return share !== null && share >= each.from && share < (SHARES[index + 1]?.from ?? Infinity);
    }),
  }));
  const unknown = comuni.filter((comune) => mappedShare(comune) === null);
  const drawn = (found: readonly ComuneCoverage[]): Html[] => found.filter(({ belfiore }) => ground.known.has(belfiore)).map(({ belfiore }) => html`<use href="#c-${belfiore}"/>`);
  return html`<figure><svg class="map" viewBox="${ground.viewBox}" role="img" aria-label="${name}"><g class="unknown">${drawn(unknown)}</g>${
    classed.map(({ color, found }) => html`<g fill="${color}">${drawn(found)}</g>`)}</svg>
<figcaption>${name}<ul class="key">${classed.filter(({ found }) => found.length > 0).map(({ color, label, found }) => html`<li><svg viewBox="0 0 32 22" class="map" aria-hidden="true"><g fill="${color}"><path d="M1 1h30v20h-30z"/></g></svg>${label}: ${found.length} comuni</li>`)}${
  unknown.length === 0 ? null : html`<li>without parcels: ${unknown.length} comuni</li>`}</ul></figcaption></figure>`;
}

/**
 * Returns a list of the comuni by state, because small comuni are hard to see on the map. The list omits the state `mapped`, and a state that all comuni have.
 * Returns null if no state remains.
 */
function unusual(byState: ReadonlyMap<string, readonly ComuneCoverage[]>, all: number): Html | null {
  const named = [...byState].filter(([state, found]) => state !== 'mapped' && found.length < all).map(([state, found]) => html`<li>${
    state === 'unknown' ? 'without parcels' : STATE_WORDS[state as CoverageState]}: ${found.map(({ name, belfiore }) => name ?? belfiore).join(', ')}</li>`);
  return named.length === 0 ? null : html`<details><summary>list comuni</summary><ul>${named}</ul></details>`;
}

export function mapKey(): Html {
  return html`<ul class="key">${COVERAGE_STATES.map((state) => html`<li><svg viewBox="0 0 32 22" class="map" aria-hidden="true"><g class="${state}"><path d="M1 1h30v20h-30z"/></g></svg>${STATE_WORDS[state]}</li>`)}</ul>`;
}
