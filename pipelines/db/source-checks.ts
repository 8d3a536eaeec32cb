/** Collects the checks of a release: the queries in the source's `checks.sql`, and general checks that layers declare. */
import type { RegisteredSource } from '../contract/registry.ts';
import type { Box, Layer } from '../contract/source.ts';
import { readChecks, type Check } from '../contract/sql-files.ts';
import { group } from '../progress.ts';
import { statementsOf, type Names } from './statements.ts';

const statement = statementsOf('checks');

/** Returns all checks that run on each release of a source. */
export function checksOf({ checks, layers }: Pick<RegisteredSource, 'checks' | 'layers'>): Check[] {
  return [...(checks === null ? [] : readChecks(checks)), ...Object.entries(layers).flatMap(([name, layer]) => sharedChecks(name, layer))];
}

function sharedChecks(layer: string, { checks = {} }: Layer): Check[] {
  const { within, overlaps, pieces, area, grid } = checks;
  const check = (name: string, level: Check['level'], expects: string, query: string, names: Names = {}): Check =>
    ({ name: `${layer}_${name}`, level, expects, sql: statement(query, { layer, ...names }), file: 'sql/statements/checks.sql' });
  return [
    ...(within === undefined ? [] : [check('in_italy', 'error', `every row of ${layer} is in or around Italy, ${rangeOf(within)}`, 'within', edgesOf(within))]),
    ...(overlaps === undefined ? [] : [check('in_italy', 'error', `every row of ${layer} has a part in or near Italy, ${rangeOf(overlaps)}`, 'overlaps', edgesOf(overlaps))]),
    ...(pieces === undefined ? [] : [check('pieces_whole', 'error', 'the areas of a polygon\'s pieces add up to the area of the polygon, to a millionth', 'pieces', { pieces })]),
    ...(area === undefined ? [] : [check('of_a_size', 'warn', `an area of ${layer} is between ${group(area[0])} m² and ${group(area[1])} m²`, 'area', { least: area[0], most: area[1] })]),
    ...(grid === undefined ? [] : [check('on_one_grid', 'warn', 'the edges of all tiles are on one grid, so that the tiles can be read as one raster', 'grid')]),
  ];
}

function edgesOf([west, south, east, north]: Box): Names {
  return { west, south, east, north };
}

function rangeOf([west, south, east, north]: Box): string {
  return `between ${west} and ${east} degrees east and ${south} and ${north} degrees north`;
}
