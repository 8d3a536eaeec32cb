/** Base map that the operator configures: image tiles from another server, drawn under the layers of the map. */
import { MappaleError } from '../pipelines/errors.ts';
import { retyped, withOption } from '../pipelines/typed.ts';

export interface BaseMap {
  /** URL template of a tile with `{z}`, `{x}` and `{y}`, numbered as in XYZ: rows run from north to south. */
  readonly tiles: string;
  /** Text that the map shows with the tiles. */
  readonly attribution: string;
  /** Highest zoom of the tile server. */
  readonly maxzoom: number;
}

/** Variables of WMTS, and the corresponding variables of XYZ. */
const WMTS: readonly (readonly [RegExp, string])[] = [[/\{tilematrix\}/gi, '{z}'], [/\{tilecol\}/gi, '{x}'], [/\{tilerow\}/gi, '{y}']];

/**
 * Returns the base map that the options configure.
 * @param url XYZ template, or WMTS template with `{TileMatrix}`, `{TileCol}` and `{TileRow}`
 * @throws MappaleError `BASE_MAP_INVALID` (exit 2)
 */
export function baseMapOf(url: string, attribution: string | undefined, maxzoom: number): BaseMap {
  const tiles = WMTS.reduce((text, [variable, name]) => text.replace(variable, name), url);
  const at = (n: number): URL | null => {
    const filled = tiles.replace(/\{[zxy]\}/g, String(n));
    return URL.canParse(filled) ? new URL(filled) : null;
  };
  const [one, other] = [at(0), at(1)];
  const isUrl = one !== null && other !== null && ['https:', 'http:'].includes(one.protocol) && one.username === '' && one.hash === '';
  if (!isUrl || one.origin !== other.origin || !['{z}', '{x}', '{y}'].every((name) => tiles.split(name).length === 2) || /[{}]/.test(tiles.replace(/\{[zxy]\}/g, ''))) {
    throw invalid('--base-map is not the template of a tile', `expected an http or https address with {z}, {x} and {y} once each, or with {TileMatrix}, {TileCol} and {TileRow}, and no other variables; found ${url}`);
  }
  if (attribution === undefined || attribution.trim() === '') throw invalid('--base-map needs --base-map-attribution', 'expected the attribution that the owner of the tiles requires');
  return { tiles, attribution: attribution.trim(), maxzoom };
}

function invalid(problem: string, detail: string): MappaleError {
  const [template, holder] = ['https://tiles.example.org/{z}/{x}/{y}.png', '© Example'];
  return new MappaleError(problem, {
    code: 'BASE_MAP_INVALID', kind: 'usage', detail, hint: 'Use tiles in Web Mercator (EPSG:3857), and the attribution of their owner.',
    fix: retyped(withOption('--base-map', `'${template}'`), `npx mappale serve --base-map '${template}' --base-map-attribution '${holder}'`),
  });
}

/** Returns the origin of the tiles, for the content security policy. */
export function originOfTiles({ tiles }: BaseMap): string {
  return new URL(tiles.replace(/\{[zxy]\}/g, '0')).origin;
}
