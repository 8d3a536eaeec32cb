/**
 * Serves GET /map/overview.json for the map, without a key. Without a parameter, the response has the published regions, the layers of the map, the
 * attributions and the base map. With parameter `region`, the response has the outlines and the coverage of the region's comuni. Each response is computed
 * once per publication and kept in memory.
 */
import { z } from 'zod';
import type { Reader } from '../pipelines/db/reader.ts';
import { SECTION_NAMES, SECTIONS } from '../pipelines/contract/sections.ts';
import { columnsOf, licencesOf, rowsOf, type Ask, type AnswerRows } from '../pipelines/deliver/columns.ts';
import { LEGENDS } from '../pipelines/deliver/tiles.ts';
import type { BaseMap } from './base-map.ts';
import { ApiError } from './errors.ts';
import { simplifiedWithNeighbours, type MultiPolygon } from './outlines.ts';
import { readParameters, whole } from './parameters.ts';
import { prepare, type Prepared } from './prepared.ts';

export const OVERVIEW_PATH = '/map/overview.json';

const parameters = z.strictObject({ region: whole(1, 20, 'ISTAT code of a region; only comuni of this region are returned').optional() });

type Coverage = 'mapped' | 'partial' | 'not_mapped' | 'not_loaded' | 'not_applicable';

interface MapRegion {
  readonly code: number;
}

interface MapComune {
  readonly belfiore: string;
  readonly outline: MultiPolygon | null;
}

/**
 * Maximum displacement of a border in degrees. A border moves by at most half a pixel if a region fills the map, and by at most four pixels at the smallest
 * scale that shows parcels.
 */
const TOLERANCE = 0.0005;

/** Number of comuni per query for sample parcels, and number of parcels per query for coverage. */
const [COMUNI, PARCELS] = [200, 1_000];

export class Overview {
  readonly #reader: Reader;
  readonly #found = new Map<number | null, { readonly publication: string; readonly content: Promise<Prepared> }>();

  readonly #baseMap: BaseMap | null;

  constructor(reader: Reader, baseMap: BaseMap | null) {
    this.#reader = reader;
    this.#baseMap = baseMap;
  }

  /**
   * @param publication identifier of the set of current publications
   * @throws ApiError `INVALID_PARAMS`, `NOT_FOUND`; MappaleError
   */
  async get(publication: string, query: Readonly<Record<string, unknown>>): Promise<Prepared> {
    const region = readParameters(parameters, query).region ?? null;
    const known = this.#found.get(region);
    if (known?.publication === publication) return known.content;
    const content = (region === null ? this.#regions() : this.#comuni(region)).then((found) => prepare(JSON.stringify(found)));
    const entry = { publication, content };
    this.#found.set(region, entry);
    // A failure is not cached, so the next request tries again.
    content.catch(() => {
      if (this.#found.get(region) === entry) this.#found.delete(region);
    });
    return content;
  }

  async #regions(): Promise<object> {
    const licences = await licencesOf(this.#ask, null, SECTION_NAMES);
    return { regions: await this.#answered<MapRegion>('select publication, answer from api.map_regions()', []), layers: LEGENDS, attribution: [...new Set(licences.map(({ attribution }) => attribution))], base_map: this.#baseMap };
  }

  async #comuni(code: number): Promise<object> {
    const region = (await this.#answered<MapRegion>('select publication, answer from api.map_regions()', [])).find((each) => each.code === code);
    if (region === undefined) throw new ApiError('NOT_FOUND', `no data is published for region ${code}`, { region: code });
    const comuni = await this.#answered<MapComune>('select publication, answer from api.map_comuni($1)', [code]);
    const samples: (readonly [belfiore: string, fid: number])[] = [];
    for (const codes of parts(comuni.map(({ belfiore }) => belfiore), COMUNI)) {
      samples.push(...await this.#answered<readonly [string, number]>('select publication, answer from api.map_samples($1)', [codes]));
    }
    const found = new Map<string, Map<string, Set<string>>>();
    for (const batch of parts(samples, PARCELS)) {
      const { cells } = await rowsOf(this.#ask, batch.map(([, fid]) => fid), SECTION_NAMES);
      for (const [belfiore, fid] of batch) {
        const row = cells.get(fid);
        const ofComune = found.get(belfiore) ?? new Map<string, Set<string>>();
        found.set(belfiore, ofComune);
        for (const { name, columns } of COVERAGES) {
          const states = ofComune.get(name) ?? new Set<string>();
          ofComune.set(name, states);
          for (const column of columns) states.add(String(row?.[column] ?? 'not_loaded'));
        }
      }
    }
    const outlines = simplifiedWithNeighbours(comuni.map(({ outline }) => outline), TOLERANCE);
    return {
      region,
      comuni: comuni.map((comune, at) => ({
        ...comune, outline: outlines[at], coverage: Object.fromEntries([...found.get(comune.belfiore) ?? []].map(([name, states]) => [name, combined(states)])),
      })),
    };
  }

  readonly #ask: Ask = (statement, values) => this.#reader.call(statement, values);

  async #answered<T>(statement: string, values: readonly unknown[]): Promise<T[]> {
    return JSON.parse((await this.#ask<AnswerRows>(statement, values)).answer ?? '[]') as T[];
  }
}

/** For each section with coverage columns, the indexes of these columns in a row of cells. */
const COVERAGES = SECTIONS.flatMap(({ name, flat }) => {
  const all = columnsOf(SECTION_NAMES).map((column) => column.name);
  const own = ['coverage', ...Object.entries(flat).filter(([, { of }]) => of?.startsWith('coverage.') === true).map(([column]) => column)];
  const columns = own.map((column) => all.indexOf(`${name}_${column}`)).filter((index) => index !== -1);
  return columns.length === 0 ? [] : [{ name, columns }];
});

/** Combines the coverage of a section in several parcels and in several maps of each parcel. */
function combined(answers: ReadonlySet<string>): Coverage {
  // Parcels to which the section does not apply have no effect on the comune's coverage, unless the section applies to none of the parcels.
  const states = new Set([...answers].filter((answer) => answer !== 'not_applicable' || answers.size === 1));
  const [only] = states;
  return states.size === 1 ? (only as Coverage) : states.has('mapped') || states.has('partial') ? 'partial' : 'not_mapped';
}

function* parts<T>(items: readonly T[], size: number): Generator<readonly T[], void, undefined> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}
