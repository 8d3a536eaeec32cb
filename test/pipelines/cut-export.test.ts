/** Tests exports of a web service that may lack features. The exports are reported and loaded, but supersede no file. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { regionPage } from '../../api/report/pages.ts';
import { describe as describeReport } from '../../cli/refresh-report.ts';
import { describe as describeStatus, readStatus } from '../../cli/status.ts';
import { findRegion } from '../../pipelines/contract/regions.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { one } from '../../pipelines/db/types.ts';
import { currentFiles, type LoadedFile } from '../../pipelines/ledger/current-files.ts';
import { SILENT } from '../../pipelines/log.ts';
import { describeState, STATE_STATEMENT, type PublishedState } from '../../pipelines/operate/metrics.ts';
import { readRegionReport } from '../../pipelines/operate/region-report.ts';
import { validate, type FileVerdict } from '../../pipelines/operate/validate.ts';
import { describeNight, runNight } from '../../pipelines/operate/watch.ts';
import { whyCut } from '../../pipelines/readers/cut-export.ts';
import type { Context } from '../../pipelines/run/context.ts';
import { exitCodeOf, refresh } from '../../pipelines/run/refresh.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import { describeDatabase } from '../harness/database.ts';
import { testEnvironment } from '../harness/environment.ts';
import { freshContext } from '../harness/fresh-context.ts';
import { loadOptions, syntheticFiles } from '../harness/region.ts';
import { queryRecords } from '../harness/records.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

const { seed } = testEnvironment();
const LIMITS = [1_000, 2_000, 5_000, 10_000];
const random = randomOf('cut exports', seed);

const folder = temporaryFolder();

/** Returns a square of 0.001 degrees from its south-western corner. */
const square = (lon: number, lat: number): number[][][] => [[[lon, lat], [lon + 0.001, lat], [lon + 0.001, lat + 0.001], [lon, lat + 0.001], [lon, lat]]];

/** Returns GeoJSON whose features have their members in the order of GeoServer, with the geometry before the properties. */
function geoJson(properties: object, shapes: readonly unknown[], type: 'Polygon' | 'LineString' = 'Polygon'): string {
  const features = shapes.map((coordinates, i) => JSON.stringify({ type: 'Feature', id: `x.${i}`, geometry: { type, coordinates }, geometry_name: 'geom', properties: { id: i, ...properties } }));
  return `{"type":"FeatureCollection","features":[${features.join(',\n')}]}`;
}

describe(`an export of a service (seed ${seed})`, () => {
  const file = async (name: string, text = '{}'): Promise<{ path: string; name: string; size: number }> => {
    const path = join(folder, name);
    await writeFile(path, text);
    return { path, name, size: Buffer.byteLength(text) };
  };

  it.each(LIMITS)('may be incomplete as GeoJSON, GML or XML if it has exactly %i features, but not with one feature more or less', async (limit) => {
    for (const name of ['made_a.geojson', 'made_b.json', 'made_c.gml', 'made_d.XML']) {
      expect(await whyCut(await file(name), [{ path: '', records: limit }]), name).toMatch(`exactly ${limit}`);
      for (const records of [limit - 1, limit + 1, 1 + random.below(limit - 1)]) expect(await whyCut(await file(name), [{ path: '', records }]), `${name} ${records}`).toBeNull();
    }
    for (const name of ['made_e.shp', 'made_f.csv', 'made_g.gpkg']) expect(await whyCut(await file(name), [{ path: '', records: limit }]), name).toBeNull();
  });

  it('may be incomplete if the number of features that it states is larger than the number in the file', async () => {
    const [returned, more] = [3 + random.below(900), 1 + random.below(90_000)];
    const wfs = (matched: number | string): string => `<wfs:FeatureCollection numberMatched="${matched}" numberReturned="${returned}" timeStamp="2026-01-01T00:00:00Z"><a/>`;
    const geoServer = (matched: number | string): string => `{"type":"FeatureCollection","features":[],"totalFeatures":${matched},"numberMatched":${matched},"numberReturned":${returned}}`;
    for (const [name, text] of [['made_h.gml', wfs], ['made_i.geojson', geoServer]] as const) {
      expect(await whyCut(await file(name, text(returned + more)), [{ path: '', records: returned }]), name).toBe(`expected ${returned + more} features (the server's count in the file), found ${returned}`);
      expect(await whyCut(await file(name, text(returned)), [{ path: '', records: returned }]), name).toBeNull();
      expect(await whyCut(await file(name, text('"unknown"')), [{ path: '', records: returned }]), name).toBeNull();
    }
  });

  it('is not reported as incomplete if it is one of several GML documents in a zip', async () => {
    const members = [{ path: 'A001_ple.gml', records: 2_000 }, { path: 'A001_map.gml', records: 12 }];
    expect(await whyCut(await file('made_zip.zip'), members)).toBeNull();
    expect(await whyCut(await file('made_zip.zip'), [{ path: 'a.gml', records: 2_000 }])).toMatch('in a.gml');
    expect(await whyCut(await file('made_zip.zip'), [...members, { path: 'b.geojson', records: 1_000 }])).toMatch('in b.geojson');
  });

  it('supersedes nothing and is superseded by a complete file of any vintage', async () => {
    const source = (await loadSources()).find(({ id }) => id === 'ispra_landslide')!;
    const [layer] = source.manifest.layers as [string];
    const loaded = (fileId: number, vintage: string, complete: boolean, mayBeCut: boolean): LoadedFile => ({
      fileId, releaseId: fileId, sourceId: source.id, role: 'mosaic', vintage, dated: null, region: null, assigned: null, complete, mayBeCut, place: null, name: String(fileId),
      sha256: String(fileId), reader: '', present: true, arrived: fileId, forgotten: false, refersTo: [],
      held: [{ layer, series: '', region: null, likelyRegion: null, dated: null, named: true, places: [''] }],
    });
    const current = (...files: LoadedFile[]): number[] =>
      currentFiles(files, source, { region: 14, layer, register: new Map() }).files.map(({ file: { fileId } }) => fileId);
    expect(current(loaded(1, '2021', true, false), loaded(2, '2024', true, true))).toEqual([1]);
    expect(current(loaded(1, '2021', false, false), loaded(2, '2024', true, true))).toEqual([1, 2]);
    expect(current(loaded(2, '2024', true, true))).toEqual([2]);
  });

  it('is reported by validate as a warning, not as an error', async () => {
    const path = join(folder, 'made_pericolosita_frane.geojson');
    await writeFile(path, geoJson({ cod_per_it: '3' }, Array.from({ length: 1_000 }, (_, i) => square(14 + (i % 40) * 0.01, 41 + Math.floor(i / 40) * 0.01))));
    const verdicts: FileVerdict[] = [];
    await validate([path], await loadSources(), null, (verdict) => verdicts.push(verdict));
    expect(verdicts).toMatchObject([{ source: 'ispra_landslide', vintage: '2024', ok: true, records: 1_000 }]);
    expect(verdicts[0]!.findings.map(({ code, level }) => [code, level])).toEqual([['EXPORT_MAY_BE_CUT', 'warn']]);
  });

  it('is reported by validate as possibly incomplete, even if other bytes precede the zip', async () => {
    const path = join(folder, 'made_pericolosita_frane.zip');
    const content = geoJson({ cod_per_it: '3' }, Array.from({ length: 1_000 }, (_, i) => square(14 + (i % 40) * 0.01, 41 + Math.floor(i / 40) * 0.01)));
    await writeZip(path, [['made_pericolosita_frane.geojson', Buffer.from(content)]]);
    await writeFile(path, Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\n\r\n'), await readFile(path)]));
    const [verdict] = await validate([path], await loadSources(), null, () => undefined);
    expect(verdict!.findings.map(({ code }) => code)).toEqual(['ZIP_STRAY_BYTES', 'EXPORT_MAY_BE_CUT']);
  });
});

interface Found extends Record<string, unknown> {
  readonly fid: number;
  readonly lon: number;
  readonly lat: number;
  readonly flood: string | null;
  readonly flood_coverage: string;
  readonly landslide: string | null;
  readonly landslide_coverage: string;
}

interface Reports {
  readonly texts: Readonly<Record<string, string>>;
  /** Codes and files of the warnings, for each report. */
  readonly listed: Readonly<Record<string, string[]>>;
  readonly metrics: string[];
}

/** Returns every report that lists the warnings of a region. */
async function reportsOf(context: Context, data: string): Promise<Reports> {
  const molise = findRegion(14)!;
  const again = await refresh(context, loadOptions([data], [14]));
  const status = await readStatus(context);
  const region = await readRegionReport(context, molise);
  const { state } = await one<{ state: PublishedState }>(context.database, STATE_STATEMENT);
  const line = await runNight(
    { sources: [], settings: () => ({ url: 'http://127.0.0.1:1/', login: null, token: null }), log: SILENT, open: (work) => work(context) },
    { regions: [molise], data: [data], parallel: 2, metrics: null, webhook: null, webhookPrivate: false, keep: null },
  );
  const names = (warnings: readonly { readonly code: string; readonly file: string }[]): string[] => warnings.map(({ code, file }) => `${code} ${file}`).sort();
  expect([exitCodeOf(again), line.exit_code]).toEqual([0, 0]);
  return {
    texts: { refresh: describeReport(again), status: describeStatus(status), watch: describeNight(line), page: regionPage(region, []) },
    listed: { refresh: names(again.warnings), status: names(status.warnings), watch: names(line.warnings), region: names(region.cut_exports) },
    metrics: (await describeState(state, 'now')).split('\n').filter((text) => /^mappale_(?:cut_exports|schema_warnings)\{/.test(text)).sort(),
  };
}

interface Shore extends Record<string, unknown> {
  readonly fid: number;
  readonly lon: number;
  readonly lat: number;
  readonly segments: number;
  readonly coverage: string;
  /** Coverage in the columns of exports. */
  readonly exported: string;
}

/** Returns the length of a degree of longitude in metres. @param lat latitude in degrees */
function metresOfDegree(lat: number): number {
  return 111_320 * Math.cos((lat * Math.PI) / 180);
}

describeDatabase('a region with incomplete exports of maps', (engine) => {
  it('has the coverage partial where the export has a feature, and not_mapped elsewhere, even if the export has features in all regions', async () => {
    const files = await syntheticFiles(60, 5, { comuni: 2, only: ['ade_cadastre', 'istat_comuni', 'istat_soppressi'] });
    try {
      const context = await freshContext(engine);
      const found = async (): Promise<Found[]> => {
        expect((await refresh(context, loadOptions([files.folder], [14]))).failures).toEqual([]);
        return queryRecords<Found>(context.database, `
          select p.fid, st_x(p.point) as lon, st_y(p.point) as lat, value ->> 'flood_level' as flood, value -> 'coverage' ->> 'flood' as flood_coverage,
            value ->> 'landslide_level' as landslide, value -> 'coverage' ->> 'landslide' as landslide_coverage
          from core.parcel p cross join lateral api.section_risk(p.fid, null::core.parcel) order by p.fid`);
      };
      const parcels = await found();
      // One feature is on a parcel. All other features are near the centres of the boxes of the other regions.
      const [first] = parcels as [Found, ...Found[]];
      const boxes = await context.database.query<{ lon: number; lat: number }>('select st_x(st_centroid(geom)) as lon, st_y(st_centroid(geom)) as lat from core.region_box where region_code <> 14 order by region_code');
      const polygons = (count: number): number[][][][] => Array.from({ length: count }, (_, i) => {
        const box = boxes[i % boxes.length]!;
        return i === 0 ? square(first.lon - 0.0005, first.lat - 0.0005) : square(box.lon + 0.002 * Math.floor(i / boxes.length), box.lat);
      });
      const write = (name: string, properties: object, count: number): Promise<void> =>
        writeFile(join(files.folder, name), geoJson(properties, polygons(count)));
      await write('made_aree_peric_frana_pai.geojson', { peric_ita: 'Elevata P3' }, 1_000);
      await write('made_aree_peric_idraulica_p1.geojson', { scenariop1: "Aree a pericolosita' idraulica bassa P1" }, 1_000);
      const cut = await found();
      const cutFiles = ['made_aree_peric_frana_pai.geojson', 'made_aree_peric_idraulica_p1.geojson'];
      const { texts, listed, metrics } = await reportsOf(context, files.folder);
      for (const [report, text] of Object.entries(texts)) {
        expect(text, report).toContain('EXPORT_MAY_BE_CUT');
        for (const name of cutFiles) expect(text, report).toContain(name);
      }
      for (const [report, names] of Object.entries(listed)) expect(names, report).toEqual(cutFiles.map((name) => `EXPORT_MAY_BE_CUT ${name}`));
      expect(metrics).toEqual(['ispra_flood', 'ispra_landslide'].map((source) => `mappale_cut_exports{source="${source}",region="molise"} 1`));
      const touched = cut.filter(({ landslide }) => landslide !== null);
      expect(touched.map(({ fid }) => fid)).toContain(first.fid);
      expect(touched.length).toBeLessThan(cut.length / 2);
      for (const each of touched) expect(each).toMatchObject({ flood: 'P1', flood_coverage: 'partial', landslide: 'P3', landslide_coverage: 'partial' });
      for (const each of cut.filter(({ landslide }) => landslide === null)) expect(each).toMatchObject({ flood: null, flood_coverage: 'not_mapped', landslide_coverage: 'not_mapped' });
      // With one more feature and the publisher's names, the files are complete maps of Italy and replace the incomplete exports.
      await write('aree_peric_frana_pai.geojson', { peric_ita: 'Elevata P3' }, 1_001);
      await write('Mosaicatura_ISPRA_2020_pericolosita_idraulica_bassa.geojson', { scenario: 'Pericolosità idraulica bassa - LowProbabilityHazard' }, 1_001);
      for (const each of await found()) expect(each).toMatchObject({ flood_coverage: 'partial', landslide_coverage: 'mapped' });
      const whole = await reportsOf(context, files.folder);
      for (const [report, text] of Object.entries(whole.texts)) expect(text, report).not.toContain('EXPORT_MAY_BE_CUT');
      expect([whole.metrics, ...Object.values(whole.listed)]).toEqual([[], [], [], [], []]);
    } finally {
      await files.remove();
    }
  });

  it('gives the coverage partial to parcels near segments of an incomplete shoreline export, and not_mapped elsewhere', async () => {
    const files = await syntheticFiles(60, 5, { comuni: 2, only: ['ade_cadastre', 'istat_comuni', 'istat_soppressi'] });
    try {
      const context = await freshContext(engine);
      const { database } = context;
      const found = async (): Promise<Shore[]> => {
        expect((await refresh(context, loadOptions([files.folder], [14]))).failures).toEqual([]);
        return queryRecords<Shore>(database, `
          select p.fid, st_x(p.point) as lon, st_y(p.point) as lat, json_array_length(record -> 'coastal_erosion') as segments,
            record #>> '{meta,coverage,coastal_erosion}' as coverage, cells.coverage as exported
          from core.parcel p
          cross join lateral (select api.parcel(p.fid, '{coastal_erosion}') as record) as r
          cross join lateral (
            select api.section_coverage(14, p.belfiore, p.point, p.kind, 'coastal_erosion', c.linked, c.found, null::core.parcel) as coverage
            from (select 1) as one left join api.columns_coastal_erosion(array[p.fid], null::core.parcel) as c on true
          ) as cells
          order by p.fid`);
      };
      const parcels = await found();
      // One line of the export is about 20 m long, and is 950 m west of the point of the westernmost parcel. All other lines are in other regions south of 45.9
      // degrees, far from all parcels.
      const west = parcels.reduce((a, b) => (b.lon < a.lon ? b : a));
      const boxes = await database.query<{ lon: number; lat: number }>(
        `select st_x(st_centroid(geom)) as lon, st_y(st_centroid(geom)) as lat from core.region_box
         where region_code <> 14 and st_y(st_centroid(geom)) < 45.9 order by region_code`,
      );
      const [lon, lat] = [west.lon - 950 / metresOfDegree(west.lat), west.lat];
      const lines = (count: number): number[][][] => Array.from({ length: count }, (_, i) => {
        const box = boxes[i % boxes.length]!;
        const [x, y] = i === 0 ? [lon, lat] : [box.lon + 0.002 * Math.floor(i / boxes.length), box.lat];
        return [[x, y], [x, y + 0.0002]];
      });
      const write = (name: string, count: number): Promise<void> => (
        writeFile(join(files.folder, name), geoJson({ Dinamica: 'Erosione', m_anno: -1.5 }, lines(count), 'LineString'))
      );
      await write('made_Dinamica_Litoranea_2006_2020.geojson', random.pick(LIMITS.slice(0, 2)));
      const cut = await found();
      const distance = ({ lon: x, lat: y }: Shore): number => Math.hypot((x - lon) * metresOfDegree(lat), (y - lat) * 111_100);
      // A parcel is at most about 100 m wide. The distance of its representative point therefore shows on which side of 1,000 m the parcel is.
      const [near, far] = [cut.filter((each) => distance(each) < 980), cut.filter((each) => distance(each) > 1_100)];
      expect([near.length > 0, far.length > 0]).toEqual([true, true]);
      for (const each of near) expect(each).toMatchObject({ segments: 1, coverage: 'partial', exported: 'partial' });
      for (const each of far) expect(each).toMatchObject({ segments: 0, coverage: 'not_mapped', exported: 'not_mapped' });
      // A complete file under the publisher's name replaces the export.
      await write('Dinamica_Litoranea_2006_2020.geojson', 1_001);
      for (const each of await found()) expect(each).toMatchObject({ coverage: 'mapped', exported: 'mapped' });
    } finally {
      await files.remove();
    }
  });
});
