/**
 * Tests swapped latitude and longitude. Coordinates that are in Italy only when swapped are rejected. The message of the reject asks whether the
 * coordinates were swapped. Addresses with swapped coordinates are kept without a point, as `sources/anncsu_addresses/anncsu_addresses.test.ts` tests.
 */
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { geometryOutsideItaly, outsideItaly } from '../../pipelines/readers/italy.ts';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { loadSynthetic } from '../../pipelines/synthetic/synthetic.ts';
import { recognise } from '../../pipelines/ingest/locate.ts';
import { validate } from '../../pipelines/operate/validate.ts';
import { collect } from '../harness/collect.ts';
import { ewkbMultiPolygon } from '../harness/section-workspace.ts';
import { rewriteZip } from '../harness/rewrite-zip.ts';

const FIXTURES = fileURLToPath(new URL('../../sources/', import.meta.url));
const sources = await loadSources();
const folder = mkdtempSync(join(tmpdir(), 'mappale-swapped-'));

beforeAll(async () => {
  const region = makeRegion({ parcels: 200, seed: 11 });
  for (const id of ['ade_cadastre', 'omi_quotations', 'postal_codes', 'ingv_mps04']) await (await loadSynthetic(id)).write(region, folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Swaps the coordinates of each line of a table whose first column is a number, such as 35, that could be a coordinate. */
function exchangedAfterId(content: Buffer): Buffer {
  return Buffer.from(content.toString('latin1').replace(/^( *\d+ )(.*)$/gm, (_all, id: string, rest: string) => id + exchanged(Buffer.from(rest, 'latin1')).toString('latin1')), 'latin1');
}

/** Swaps the pairs of coordinates in degrees that are in Italy, with any separator. */
function exchanged(content: Buffer): Buffer {
  const lat = '(?:3[5-9]|4[0-7])(?:\\.\\d+)?';
  const lon = '(?:[6-9]|1[0-8])(?:\\.\\d+)?';
  const pair = new RegExp(`(?<![\\d.])(?:(${lat})([ ,;\\t]+)(${lon})|(${lon})([ ,;\\t]+)(${lat}))(?![\\d.])`, 'g');
  return Buffer.from(content.toString('latin1').replace(pair, (_all, a?: string, first?: string, b?: string, c?: string, second?: string, d?: string) => (
    a === undefined ? `${d}${second}${c}` : `${b}${first}${a}`)), 'latin1');
}

async function rowsOf(path: string): Promise<{ readonly placed: number; readonly rejects: { code: string; message: string }[] }> {
  const found = await recognise({ path, size: statSync(path).size }, sources);
  const source = sources.find(({ id }) => id === found?.source);
  if (found === null || source === undefined) throw new Error(`${path} is not recognised`);
  const { members, rows } = await collect(source, path, found.recognition);
  return { placed: Object.values(rows).reduce((sum, list) => sum + list.length, 0), rejects: members.flatMap(({ rejects }) => rejects) };
}

function tally(rejects: readonly { readonly code: string }[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { code } of rejects) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}

/** Files with the number of rejects by reason after the swap. Rejects that do not depend on coordinates remain. */
const FILES: readonly (readonly [what: string, name: () => string, rejects: Readonly<Record<string, number>>])[] = [
  ['parcels and sheets of the cadastre', () => join(folder, 'MOLISE.zip'), { coordinates_swapped: 209, xml_malformed: 1 }],
  ['a WFS response', () => join(FIXTURES, 'ade_cadastre/fixture/parcels.gml'), { coordinates_swapped: 3 }],
  ['perimeters of the OMI', () => join(folder, readdirSync(folder).find((name) => /\.kml$/.test(name)) ?? ''), { coordinates_swapped: 3, part_outside_italy: 1, no_polygon: 1 }],
  ['perimeters of a provincia', () => join(folder, readdirSync(folder).find((name) => /^Provincia/.test(name)) ?? ''), { coordinates_swapped: 3, part_outside_italy: 1, no_polygon: 1 }],
  ['the grid of MPS04', () => join(folder, 'italia_ag_002_txt.zip'), { coordinates_swapped: 42 }],
  ['postal areas', () => join(folder, 'zone_cap_2025.geojson'), { coordinates_swapped: 2 }],
  ['boundaries as GeoJSON', () => join(FIXTURES, 'istat_boundaries/fixture/municipalities.geojson'), { coordinates_swapped: 1 }],
  ['a flood mosaic as GeoJSON', () => join(FIXTURES, 'ispra_flood/fixture', readdirSync(join(FIXTURES, 'ispra_flood/fixture')).find((name) => /^HPH/.test(name)) ?? ''), { coordinates_swapped: 4 }],
  ['a landslide mosaic as GeoJSON', () => join(FIXTURES, 'ispra_landslide/fixture', readdirSync(join(FIXTURES, 'ispra_landslide/fixture')).find((name) => /\.geojson$/.test(name)) ?? ''), { coordinates_swapped: 4 }],
  ['land cover as GeoJSON', () => join(FIXTURES, 'clc_land_cover/fixture/classes_U2018_CLC2018_V2020_20u1.geojson'), { coordinates_swapped: 2 }],
  ['land use as GeoJSON', () => join(FIXTURES, 'urban_atlas/fixture/IT901L3_BORGO_UA2018_v013.geojson'), { coordinates_swapped: 2 }],
  ['the shoreline as GeoJSON', () => join(FIXTURES, 'ispra_shoreline/fixture/rate-impossible_Dinamica_Litoranea_2006_2020.geojson'), { coordinates_swapped: 2 }],
];

describe('swapped latitude and longitude', () => {
  it.each(FILES)('are rejected in every record of %s with the hint *swapped?*', async (_what, original, rejects) => {
    const path = join(folder, original().split('/').at(-1) ?? '');
    const before = await rowsOf(original());
    const content = readFileSync(original());
    writeFileSync(path, content);
    if (/\.(?:zip|kmz)$/.test(path)) await rewriteZip(path, (name, part) => (/\.txt$/i.test(name) ? exchangedAfterId(part) : /\.(?:gml|kml)$/i.test(name) ? exchanged(part) : part));
    else writeFileSync(path, exchanged(content));
    const after = await rowsOf(path);
    const swapped = after.rejects.filter(({ code }) => code === 'coordinates_swapped');
    expect(before.placed).toBeGreaterThan(0);
    expect(before.rejects.filter(({ code }) => code === 'coordinates_swapped')).toEqual([]);
    expect(after.placed).toBe(0);
    expect(tally(after.rejects)).toEqual(rejects);
    expect(swapped.every(({ message }) => message.includes('swapped?'))).toBe(true);
    const [verdict] = await validate([path], sources, null, () => undefined);
    expect(verdict).toMatchObject({ ok: false });
    expect(verdict?.findings.some(({ message }) => message.includes('swapped?'))).toBe(true);
  });
});

describe('a position', () => {
  it.each([
    [14.5, 41.5, null], [6, 35, null], [19, 47.5, null], [41.5, 14.5, 'coordinates_swapped'], [35, 6, 'coordinates_swapped'], [0, 0, 'outside_italy'], [-14.5, 41.5, 'outside_italy'],
    [2.35, 48.85, 'outside_italy'], [Number.NaN, 41.5, 'outside_italy'], [-9999, -9999, 'outside_italy'], [Infinity, 41, 'outside_italy'],
  ])('with longitude %d and latitude %d, expected reject: %s', (lon, lat, code) => {
    expect(outsideItaly(lon, lat)?.code ?? null).toBe(code);
  });

  it('outside Italy is found in every ring and every part of a geometry', () => {
    const ring = (x: number, y: number): [number, number][] => [[x, y], [x + 0.001, y], [x, y + 0.001], [x, y]];
    expect(geometryOutsideItaly(ewkbMultiPolygon([[ring(14, 42)], [ring(14.1, 42), ring(14.1001, 42.0001)]]))).toBeNull();
    expect(geometryOutsideItaly(ewkbMultiPolygon([[ring(14, 42)], [ring(14.1, 42), ring(42, 14)]]))?.code).toBe('coordinates_swapped');
    expect(geometryOutsideItaly(ewkbMultiPolygon([[ring(14, 42)], [ring(0, 0)]]))?.code).toBe('outside_italy');
  });
});
