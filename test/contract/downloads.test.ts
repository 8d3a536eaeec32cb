/** Tests that every source in `sources/` is downloaded automatically or has download instructions. */
import { describe, expect, it } from 'vitest';
import { lastIssue, loadDownload, MONTHLY, type Download } from '../../pipelines/contract/download.ts';
import { REGIONS } from '../../pipelines/contract/regions.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { ITALY } from '../../pipelines/readers/italy.ts';
import { tilesOf } from '../../pipelines/readers/map-tiles.ts';

const TODAY = new Date('2026-11-23T02:15:00Z');
const sources = await loadSources();
const all = await Promise.all(sources.map(async (source) => ({ source, download: await loadDownload(source.id) })));

function filesOf(download: Download, today = TODAY) {
  return REGIONS.flatMap((region) => [...download.files?.(region, today) ?? []]);
}

describe.each(all.map((each) => [each.source.id, each] as const))('source %s', (_id, { source, download }) => {
  const files = filesOf(download);
  const words = REGIONS.flatMap((region) => download.byHand?.(region) ?? []);

  it('is downloaded, or has instructions that name a web site or a table to save, in each of its regions', () => {
    expect(files.length + words.length).toBeGreaterThan(0);
    const served = REGIONS.filter((region) => [...download.files?.(region, TODAY) ?? [], download.byHand?.(region) ?? []].flat().length > 0);
    expect([20, 19, 1]).toContain(served.length);
    if (download.tokenParameter !== undefined) expect(words.length).toBe(REGIONS.length);
    // The instructions do not end with a full stop, because the caller appends the folder.
    for (const how of words) expect(how).toMatch(/(?:https?:\/\/|[a-z]+\.[a-z]+\.it|save a table)[\s\S]*[^.]$/);
  });

  it('requests files only from the hosts in its manifest, and saves files under distinct names that the source recognises', () => {
    for (const { base, editions, link } of files) {
      const { hostname, protocol } = new URL(base);
      expect(source.manifest.downloads.map(({ url }) => url).join(' ')).toContain(`${protocol}//${hostname}`);
      for (const { name } of editions) if (link === undefined) expect(source.names.some((pattern) => pattern.test(name)), name).toBe(true);
    }
    const names = REGIONS.map((region) => (download.files?.(region, TODAY) ?? []).flatMap(({ editions }) => editions.map(({ name }) => name)));
    for (const each of names) expect(new Set(each).size).toBe(each.length);
  });

  it('has valid days of issue, and requests no future edition', () => {
    if (download.cycle !== 'daily') for (const day of download.cycle) expect(`2024-${day}`).toBe(new Date(`2024-${day}`).toISOString().slice(0, 10));
    const early = filesOf(download, new Date('2026-01-02T00:00:00Z')).flatMap(({ editions }) => editions.map(({ path }) => path));
    expect(early.filter((path) => /(?<!\d)202[6-9]/.test(path))).toEqual([]);
  });
});

it('each host serves files of one publisher only, so that one connection per publisher means one connection per host', () => {
  const holders = new Map<string, Set<string>>();
  for (const { source, download } of all) {
    for (const { base } of filesOf(download)) {
      const { host } = new URL(base);
      holders.set(host, (holders.get(host) ?? new Set()).add(source.manifest.attribution.holder.split(';')[0]!));
    }
  }
  expect(holders.size).toBeGreaterThan(8);
  expect([...holders].filter(([, names]) => names.size > 1)).toEqual([]);
});

it('lastIssue returns the latest day of issue up to now, in this year or in the previous year', () => {
  const day = (cycle: Download['cycle'], now: string): string => lastIssue(cycle, new Date(now)).toISOString().slice(0, 10);
  expect([
    day('daily', '2026-11-23T02:15:00Z'), day(['03-10', '09-10'], '2026-09-09T23:59:59Z'), day(['03-10', '09-10'], '2026-09-10T00:00:00Z'), day(['03-10', '09-10'], '2026-01-01T00:00:00Z'),
    day(MONTHLY, '2026-03-15T12:00:00Z'),
  ]).toEqual(['2026-11-23', '2026-03-10', '2026-09-10', '2025-09-10', '2026-02-16']);
});

describe('tiles of a region', () => {
  it('are the tiles of a grid in degrees or metres that intersect the region\'s box', () => {
    const box = { west: 13.9, south: 41.3, east: 15.2, north: 42.15 };
    expect(tilesOf(box, 4326, 1)).toEqual([41, 42].flatMap((north) => [13, 14, 15].map((east) => ({ east, north }))));
    // The point 14.5° E 41.6° N is at (957 km, 4,625 km) in UTM zone 32, and at (4,695 km, 2,085 km) in EPSG:3035.
    expect(tilesOf(box, 32632, 50_000)).toContainEqual({ east: 19, north: 92 });
    expect(tilesOf(box, 3035, 100_000)).toContainEqual({ east: 46, north: 20 });
  });

  it('use a box within Italy that contains the capital of the region', () => {
    const capitals = [
      [7.69, 45.07], [7.32, 45.74], [9.19, 45.47], [11.12, 46.07], [12.33, 45.44], [13.77, 45.65], [8.93, 44.41], [11.34, 44.49], [11.26, 43.77],
      [12.39, 43.11], [13.52, 43.62], [12.5, 41.9], [13.4, 42.35], [14.66, 41.56], [14.27, 40.85],
      [16.87, 41.12], [15.81, 40.64], [16.6, 38.91], [13.36, 38.12], [9.12, 39.22],
    ] as const;
    for (const { box, name, code } of REGIONS) {
      const [lon, lat] = capitals[code - 1]!;
      expect([name, box.west < lon && lon < box.east && box.south < lat && lat < box.north]).toEqual([name, true]);
      expect(box.west >= ITALY.west && box.east <= ITALY.east).toBe(true);
      expect(box.south >= ITALY.south && box.north <= ITALY.north).toBe(true);
    }
  });
});
