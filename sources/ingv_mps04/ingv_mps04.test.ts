import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../pipelines/db/index.ts';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import { pointOnSurface } from '../../pipelines/synthetic/point-on-surface.ts';
import type { LonLat } from '../../pipelines/synthetic/region.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import type { MemberSink, Recognition } from '../../pipelines/contract/source.ts';
import { currentFiles, type LoadedFile } from '../../pipelines/ledger/current-files.ts';
import { readGml } from './gml.ts';
import source from './source.ts';
import synthetic from './synthetic.ts';
import { describeDatabase } from '../../test/harness/database.ts';
import { loaded } from '../../test/harness/loaded.ts';
import { temporaryFolder } from '../../test/harness/temporary-folder.ts';
import { trial } from '../../test/harness/trial.ts';

const FOLDER = fileURLToPath(new URL('./', import.meta.url));

const folder = temporaryFolder();

describe('the grid of ground acceleration', () => {
  it('is found among other files in a zip, and is complete if it has the published name', async () => {
    const path = join(folder, 'italia.zip');
    function* lines(): Generator<string> {
      yield 'id lon lat ag 16perc 84perc\r\n';
      for (let i = 0; i < 60_000; i += 1) yield `${i + 1} ${(7 + (i % 500) * 0.02).toFixed(2)} ${(38 + Math.floor(i / 500) * 0.02).toFixed(2)} 0.1234 0.0800 0.1500\r\n`;
    }
    await writeZip(path, [['leggimi.txt', 'Griglia dei valori di ag\r\n'], ['italia_ag_002.txt', lines()]]);
    const { recognition, collected } = await trial(source, path);
    expect(recognition).toEqual({ role: 'grid', vintage: '2004', region: null, complete: true, dated: '50 nodes per degree' });
    expect(collected!.members.map(({ path: member, records }) => [member, records])).toEqual([['italia_ag_002.txt', 60_000]]);
    expect(collected!.rows['raw_pga_node']).toHaveLength(60_000);
  });

  it('gives the same nodes from GML in chunks of any size, and keeps a rejected feature as published', async () => {
    const document = readFileSync(join(FOLDER, 'fixture', 'inspire-members-with-geometry.gml'));
    const reported = async (size: number): Promise<unknown[]> => {
      const said: unknown[] = [];
      const pieces = Array.from({ length: Math.ceil(document.length / size) }, (_, i) => document.subarray(i * size, (i + 1) * size));
      const member = {
        memberId: 1,
        row: (...row: unknown[]) => said.push(row),
        reject: (reject: unknown) => said.push(reject),
        duplicate: () => undefined,
        drain: () => undefined,
        close: async (records: number) => void said.push(records),
      };
      await readGml(Readable.from(pieces), 'grid.gml', member as unknown as MemberSink);
      return said;
    };
    const whole = await reported(document.length);
    expect(whole).toHaveLength(5);
    const third = /<f:nodo gml:id="nodo\.3">[^]*?<\/f:nodo>/.exec(document.toString('utf8'))![0];
    expect(whole[2]).toMatchObject({ position: 3, code: 'ag_invalid', raw: third });
    for (const size of [1, 7, 100]) expect(await reported(size)).toEqual(whole);
  });

  it('is complete if it is the grid of 0.05° under its published name, but counts as older than the grid of 0.02°, whatever the dates in the zips', async () => {
    const grid = (step: number): string => `id lon lat ag 16perc 84perc\r\n${Array.from({ length: 40 }, (_, i) =>
      `${i + 1} ${(14 + (i % 8) * step).toFixed(2)} ${(42 + Math.floor(i / 8) * step).toFixed(2)} 0.1234 0.08 0.15\r\n`).join('')}`;
    const recognised = async (name: string, step: number, modified: string | null): Promise<Recognition> => {
      const path = join(folder, name);
      if (modified === null) writeFileSync(path, grid(step));
      else await writeZip(path, [[`${name.replace(/_txt\.zip$/, '')}.txt`, grid(step), { modified }]]);
      expect(source.names.some((pattern) => pattern.test(name)), name).toBe(true);
      return (await trial(source, path)).recognition!;
    };
    const coarse = [await recognised('OPCM3519_1B_ag_005_txt.zip', 0.05, '2019-05-01'), await recognised('OPCM3519_1B_ag_005.txt', 0.05, null)];
    const fine = [await recognised('italia_ag_002_txt.zip', 0.02, '2006-03-01'), await recognised('italia_ag_002.txt', 0.02, null)];
    for (const each of coarse) expect(each).toMatchObject({ role: 'coarse_grid', vintage: '2004', region: null, complete: true });
    for (const each of fine) expect(each).toMatchObject({ role: 'grid', vintage: '2004', region: null, complete: true });
    for (const other of coarse) for (const each of fine) expect(each.dated! > other.dated!, `${each.dated} after ${other.dated}`).toBe(true);
    // If both grids are complete, only the fine grid is current.
    const loadedAs = (recognition: Recognition, fileId: number): LoadedFile => ({
      ...recognition, dated: recognition.dated ?? null, place: null, fileId, releaseId: 1, sourceId: 'ingv_mps04', assigned: null, name: String(fileId), sha256: String(fileId), reader: '',
      present: true, arrived: fileId, forgotten: false, refersTo: [],
      held: [{ layer: 'pga_node', series: '', region: null, likelyRegion: null, dated: null, named: true, places: [''] }],
    });
    for (const each of fine) {
      for (const other of coarse) {
        const current = currentFiles([loadedAs(each, 1), loadedAs(other, 2)], { id: 'ingv_mps04', manifest: source.manifest }, { region: 14, layer: 'pga_node', register: new Map() });
        expect(current.files.map(({ file }) => file.fileId)).toEqual([1]);
        expect(current.ties).toEqual([]);
      }
    }
  });

  it.each([
    ['a byte order mark alone in the first line', '\uFEFF\n', []],
    ['a space and a form feed', '\uFEFF \f\r\n', []],
    ['a blank of Unicode after the header', '', ['\u00A0\n']],
    ['a byte order mark after the header', '', ['\uFEFF\n']],
    ['a NUL after the header', '', ['\0\n']],
  ])('has one record per line after the header that is not blank, if the file contains %s', async (_what, before, after) => {
    const path = join(folder, 'blank.txt');
    writeFileSync(path, [before, 'id,lon,lat,ag\n', ...after, '1,14.00,42.00,0.1234\n'].join(''));
    const { collected } = await trial(source, path);
    expect(collected!.members.map(({ records }) => records)).toEqual([1 + after.length]);
    expect(collected!.rows['raw_pga_node']).toHaveLength(1);
    expect(collected!.members.flatMap(({ rejects }) => rejects.map(({ code }) => code))).toEqual(after.map(() => 'column_count'));
  });

  it('is ignored if its file has the name of the spreadsheet', async () => {
    const path = join(folder, 'italia_ag_002_xls.zip');
    await writeZip(path, [['italia_ag_002.xls', Buffer.from([0xd0, 0xcf, 0x11, 0xe0])]]);
    expect((await trial(source, path)).recognition?.ignored).toContain('italia_ag_002_txt.zip');
  });

  it('is read for the synthetic region, including the repeated node and the blank line', async () => {
    const region = makeRegion({ parcels: 600, seed: 3 });
    await synthetic.write(region, folder);
    const { collected } = await trial(source, join(folder, 'italia_ag_002_txt.zip'));
    const rows = collected!.rows['raw_pga_node']!;
    expect(rows.length).toBeGreaterThan(20);
    expect(new Set(rows.map(({ lon, lat }) => `${String(lon)} ${String(lat)}`)).size).toBe(rows.length - 1);
    expect(rows[1]).toMatchObject({ position: 4, lon: rows[0]!['lon'], ag_g: rows[0]!['ag_g'] });
  });
});

describeDatabase('loading the grid of ground acceleration', (engine) => {
  let database: Database;
  beforeAll(async () => {
    database = await engine.openDatabase();
  });

  it('stores nodes as integers, rejects nodes off the grid and contradicting nodes, and counts repeated nodes', async () => {
    const found = await loaded(database, 'ingv_mps04', `
      insert into raw_pga_node values
        (1, 2, 14.00, 42.00, 0.1234), (1, 3, 14.02, 42.00, 0.1250), (1, 4, 14.04, 42.02, 0.1260),
        (1, 5, 14.00, 42.00, 0.1234), (1, 6, 14.02, 42.00, 0.1999), (1, 7, 14.033, 42.00, 0.13)`, async ({ session, checks }) => ({
      nodes: await session.query('select position, ix, iy, ag_g, spacing_deg from pga_node order by position'),
      rejects: await session.query('select position, code, message from reject order by position'),
      duplicates: await session.query('select position, code from duplicate'),
      violations: await checks(),
    }));
    expect(found.nodes).toEqual([
      { position: 2, ix: 700, iy: 2100, ag_g: 0.1234, spacing_deg: 0.02 },
      { position: 3, ix: 701, iy: 2100, ag_g: 0.125, spacing_deg: 0.02 },
      { position: 4, ix: 702, iy: 2101, ag_g: 0.126, spacing_deg: 0.02 },
    ]);
    expect(found.rejects).toEqual([
      { position: 6, code: 'node_contradicts', message: 'expected 0.125 g as earlier in the file, found 0.1999 g' },
      { position: 7, code: 'node_off_grid', message: 'expected multiples of 0.02 degrees, found 14.033 42' },
    ]);
    expect(found.duplicates).toEqual([{ position: 5, code: 'node_repeated' }]);
    expect(found.violations).toEqual([]);
  });

  it('accepts files with the same nodes in one release, and determines the step of each file separately', async () => {
    const found = await loaded(database, 'ingv_mps04', `
      update member set file_id = member_id;
      insert into raw_pga_node values (1, 2, 14.00, 42.00, 0.1234), (1, 3, 14.02, 42.00, 0.1250), (2, 2, 14.00, 42.00, 0.1234), (3, 2, 14.00, 42.00, 0.1301), (3, 3, 14.05, 42.00, 0.1301)`,
    async ({ session, checks }) => ({
      nodes: await session.query('select member_id, ix, iy, spacing_deg from pga_node order by member_id, ix'),
      violations: await checks(),
    }));
    expect(found.nodes).toEqual([[1, 700, 2100, 0.02], [1, 701, 2100, 0.02], [2, 700, 2100, 0.02], [3, 280, 840, 0.05], [3, 281, 840, 0.05]]
      .map(([member_id, ix, iy, spacing_deg]) => ({ member_id, ix, iy, spacing_deg })));
    expect(found.violations).toEqual([]);
  });

  it('recognises the coarser grid by its nodes, and warns about a large difference between neighbours', async () => {
    const found = await loaded(database, 'ingv_mps04', `
      insert into raw_pga_node values (1, 2, 14.00, 42.00, 0.1234), (1, 3, 14.05, 42.00, 0.25), (1, 4, 14.05, 42.05, 0.1260), (1, 5, 14.10, 42.05, 0.1270)`, async ({ session, checks }) => ({
      nodes: await session.query('select ix, iy, spacing_deg from pga_node order by position'),
      violations: (await checks()).map(({ name, rows }) => [name, rows]),
    }));
    expect(found.nodes).toEqual([[280, 840], [281, 840], [281, 841], [282, 841]].map(([ix, iy]) => ({ ix, iy, spacing_deg: 0.05 })));
    expect(found.violations).toEqual([['pga_node_smooth', 1]]);
  });

  it('computes the same representative points for the expected values as the database', async () => {
    const ring = (points: readonly LonLat[]): readonly LonLat[] => [...points, points[0]!];
    const shapes: readonly (readonly (readonly (readonly LonLat[])[])[])[] = [
      [[ring([[0, 0], [4, 0], [4, 1], [1, 1], [1, 4], [0, 4]])]],
      [[ring([[0, 0], [10, 0], [10, 10], [0, 10]]), ring([[2, 2], [2, 8], [9, 8], [9, 2]])]],
      [[ring([[0, 0], [1, 0], [1, 1], [0, 1]])], [ring([[5, 5], [9, 5], [9, 6], [5, 6.3]])]],
      [[ring([[0, 0], [3, 0.3], [6, 0], [6, 5], [3, 2.6], [0, 5]])]],
    ];
    for (const polygons of shapes) {
      const [found] = await database.query<{ x: number; y: number }>('select st_x(p) as x, st_y(p) as y from (select st_pointonsurface(st_geomfromgeojson($1)) as p) s', [JSON.stringify({ type: 'MultiPolygon', coordinates: polygons })]);
      expect([found!.x, found!.y]).toEqual(pointOnSurface(polygons));
    }
  });
});
