/**
 * Tests that adding one folder adds a section. Copies the checkout, adds the folder `shaking` to its sections, and checks every part of a section.
 * `docs/adding-a-section.md` describes the same steps.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../pipelines/db/index.ts';
import { refresh } from '../../pipelines/run/refresh.ts';
import { copyCheckout, onDatabase, type Checkout } from '../harness/checkout.ts';
import { describeDatabase } from '../harness/database.ts';
import { childEnvironment } from '../harness/environment.ts';
import { contextOn, syntheticFiles, loadOptions } from '../harness/region.ts';
import { queryRecords } from '../harness/records.ts';

const SOURCES = ['ade_cadastre', 'istat_comuni', 'istat_soppressi', 'ingv_mps04', 'istat_census'];

/** Line of `doctor` if the objects of the database were compared with the objects of the program. */
const OBJECTS = /^ok +the database has every table, index, function and grant of this version of the program: \d+ objects$/m;

/** Maximum number of files that the addition of a section or of a field may touch, including golden files. */
const MOST_FILES = 6;
/**
 * Number of golden files of a section. `goldens.test.ts` writes the rows of the section's table and their version into the file, and
 * `test/api/contract.test.ts` writes the section's JSON.
 */
const GOLDEN_FILES = 1;
/** Number of files outside the folder: `synthetic.ts` of a source states the true values of the section. */
const TRUTH_FILES = 1;

/** Edits that add a field with a column to the section: file → replaced text → new text. */
const FIELD: Readonly<Record<string, readonly (readonly [from: string, to: string])[]>> = {
  'section.ts': [
    ['  source,\n}).meta', "  spread: nullable(acceleration, 'Difference of the greatest and the least acceleration, g; null: one corner').optional(),\n  source,\n}).meta"],
    ["        corners: { type: 'int2', d", "        spread_g: { type: 'float8', description: 'Difference of both accelerations', unit: 'g', null: 'one corner', gate: quantity({ within: [0, 1] }) },\n        corners: { type: 'int2', d"],
    ["    corners: { type: 'int2' },\n", "    corners: { type: 'int2' },\n    spread_g: { type: 'float8', of: 'spread' },\n"],
    ["corners: 'Corners' },", "corners: 'Corners', spread: 'Spread' },"],
    ["ag_max: 'g' },", "ag_max: 'g', spread: 'g' },"],
    ["corners: 'Nodi' }", "corners: 'Nodi', spread: 'Scarto' }"],
    ["        'Number of corners", "        'Difference of the greatest and the least acceleration, g; null: one corner': 'Scarto, g; vuoto: un solo nodo',\n        'Number of corners"],
  ],
  'build.sql': [
    ['-- version: 1', '-- version: 2'],
    ['  count(*)::int2 as corners', '  case when count(*) > 1 then max(n.ag_g) - min(n.ag_g) end as spread_g,\n  count(*)::int2 as corners'],
  ],
  'record.sql': [
    ['ag_max numeric)', 'ag_max numeric, spread numeric)'],
    ['    trim_scale(round((p_row).ag_max_g::numeric, 4))\n', '    trim_scale(round((p_row).ag_max_g::numeric, 4)),\n    trim_scale(round((p_row).spread_g::numeric, 4))\n'],
    ["      'corners', s.corners,", "      'corners', s.corners,\n      'spread', v.spread,"],
    ['      s.corners\n    )', '      s.corners,\n      v.spread\n    )'],
  ],
};

describeDatabase('a section that is added as one folder', (engine) => {
  let copy: Checkout;
  let files: Awaited<ReturnType<typeof syntheticFiles>>;
  let url: string;
  let loaded: { built: readonly string[] };

  /** Returns the output of `doctor`, which may report other problems of this machine. */
  const doctor = (): Promise<string> => copy.mappale(url, 'doctor').catch((error: unknown) => (error as { stdout: string }).stdout);
  const look = <T>(work: (database: Database) => Promise<T>): Promise<T> => onDatabase(url, work);

  beforeAll(async () => {
    files = await syntheticFiles(60, 4, { only: SOURCES, comuni: 2 });
    url = await engine.createDatabase();
    await look(async (database) => expect((await refresh(await contextOn(database), loadOptions([files.folder], [14]))).failures).toEqual([]));
    copy = await copyCheckout(['test/sections/shaking', 'sql/sections/shaking']);
    const report = JSON.parse(await copy.mappale(url, 'load-region', 'molise', '--data', files.folder, '--json')) as { units: { built: { relation: string }[] }[] };
    loaded = { built: report.units.flatMap(({ built }) => built.map(({ relation }) => relation)) };
  });
  afterAll(async () => {
    await files?.remove();
    await copy?.remove();
  });

  it('has the only table that is built in an existing database, because no other table becomes stale', () => {
    expect(loaded.built).toEqual(['section.shaking']);
  });

  it('touches at most six files, including its test, golden file and true values, because all lists are derived from the folder', async () => {
    const folder = readdirSync(join(copy.folder, 'sql/sections/shaking'));
    expect(folder.filter((name) => name.endsWith('.test.ts')).length).toBe(1);
    expect(folder.length + GOLDEN_FILES + TRUTH_FILES).toBeLessThanOrEqual(MOST_FILES);
    // `doctor` prints this line only if the list of database objects was generated from the same SQL files.
    expect(await doctor()).toMatch(OBJECTS);
  });

  it('has the values of the model\'s nodes at every parcel', async () => {
    const [parcels, nodes] = await look(async (database) => [
      await queryRecords<{ fid: number; x: number; y: number; json: { ag_min: number; ag_max: number; corners: number } | null }>(
        database,
        'select fid, st_x(point) as x, st_y(point) as y, (api.section_shaking(fid, null::core.parcel)).value as json from core.parcel order by fid'),
      await database.query<{ ix: number; iy: number; ag: number; spacing: number }>('select ix, iy, ag_g as ag, spacing_deg as spacing from layer.pga_node'),
    ]);
    const at = new Map(nodes.map(({ ix, iy, ag }) => [`${ix} ${iy}`, ag]));
    const { spacing } = nodes[0]!;
    expect(parcels.length).toBeGreaterThan(50);
    for (const { fid, x, y, json } of parcels) {
      const corners = [0, 1].flatMap((dx) => [0, 1].flatMap((dy) => at.get(`${Math.floor(x / spacing) + dx} ${Math.floor(y / spacing) + dy}`) ?? []));
      expect(json, String(fid)).toMatchObject({ ag_min: Math.min(...corners), ag_max: Math.max(...corners), corners: corners.length });
    }
  });

  it('is explained with the nodes of the model', async () => {
    const [{ fid } = { fid: 0 }] = await look((database) => database.query<{ fid: number }>('select min(fid) as fid from section.shaking'));
    const found = JSON.parse(await copy.mappale(url, 'explain', String(fid), 'shaking', '--json')) as { reproduced: boolean; rules: string[]; evidence: { source: string; value: string }[] };
    expect(found).toMatchObject({ reproduced: true, rules: ['sql/sections/shaking/build.sql'] });
    expect(new Set(found.evidence.map(({ source }) => source))).toEqual(new Set(['ingv_mps04']));
    expect(found.evidence.length).toBeGreaterThan(2);
  });

  it('is measured by the quality gate and listed in the data dictionary', async () => {
    const [measured, dictionary] = await look(async (database) => [
      await database.query<{ field: string }>("select distinct jsonb_object_keys(fields) as field from ledger.figure where relation = 'section.shaking' order by 1"),
      await database.query<{ comment: string }>("select col_description('section.shaking'::regclass, attnum) as comment from pg_attribute where attrelid = 'section.shaking'::regclass and attname = 'ag_max_g'"),
    ]);
    expect(measured.map(({ field }) => field)).toEqual(['ag_max_g', 'ag_min_g', 'corners']);
    expect(dictionary).toEqual([{ comment: 'Greatest acceleration of the corners; unit: g' }]);
  });

  it('is served in the record with coverage and licence, in include, in the OpenAPI document and on the map', async () => {
    const token = (await copy.mappale(url, 'token', 'create', '--scopes', 'parcels:read')).trim();
    const server: ChildProcess = spawn(process.execPath, [join(copy.folder, 'pipelines/mappale.mjs'), 'serve', '--port', '0'], { cwd: copy.folder, env: childEnvironment({ DATABASE_URL: url }), stdio: ['ignore', 'pipe', 'ignore'] });
    try {
      const [said] = (await once(server.stdout!, 'data')) as [Buffer];
      const base = said.toString().split('\n')[0]!;
      const get = async (path: string): Promise<Response> => fetch(`${base}${path}`, { headers: { 'x-api-key': token } });
      const record = (await (await get('/parcels/1400000000?include=shaking')).json()) as { shaking: { source: string }; meta: { coverage: unknown; licenses: { section: string; holder: string }[] } };
      expect(Object.keys(record)).toEqual(['fid', 'municipality', 'basic', 'shaking', 'meta']);
      expect(record.shaking.source).toMatch(/2004/);
      expect(record.meta.coverage).toEqual({ basic: 'mapped', shaking: 'mapped' });
      expect(record.meta.licenses.map(({ section }) => section)).toContain('shaking');
      const all = (await (await get('/parcels/1400000000')).json()) as Record<string, unknown>;
      expect(Object.keys(all).at(-2)).toBe('shaking');
      const document = (await (await get('/openapi.json')).json()) as { paths: Record<string, { get: { parameters: { name: string; schema: { items: { enum: string[] } } }[] } }>; components: { schemas: Record<string, { properties: object }> } };
      expect(document.paths['/parcels/{id}']!.get.parameters.find(({ name }) => name === 'include')!.schema.items.enum.at(-1)).toBe('shaking');
      expect(Object.keys(document.components.schemas['Shaking']!.properties)).toEqual(['ag_min', 'ag_max', 'corners', 'source']);
      expect(await (await get('/map/sections.js')).text()).toContain('"title": "Shaking"');
    } finally {
      server.kill('SIGTERM');
      await once(server, 'exit');
    }
  });

  it('gets a field with a column by edits of three files, the golden file and the true values, without a new migration file', async () => {
    // A section with a `map.ts` has its texts in this file, which is one more file.
    expect(Object.keys(FIELD).length + 1 + GOLDEN_FILES + TRUTH_FILES).toBeLessThanOrEqual(MOST_FILES);
    for (const [name, edits] of Object.entries(FIELD)) {
      const path = join(copy.folder, 'sql/sections/shaking', name);
      let text = readFileSync(path, 'utf8');
      for (const [from, to] of edits) {
        expect(text.split(from).length, `${name}: ${from}`).toBe(2);
        text = text.replace(from, to);
      }
      writeFileSync(path, text);
    }
    expect(await copy.mappale(url, 'migrate')).toContain('sql/sections/shaking/section.ts: the tables of the section shaking');
    expect(await doctor()).toMatch(OBJECTS);
    const report = JSON.parse(await copy.mappale(url, 'load-region', 'molise', '--data', files.folder, '--json')) as { units: { built: { relation: string }[] }[] };
    expect(report.units.flatMap(({ built }) => built.map(({ relation }) => relation))).toEqual(['section.shaking']);
    const blocks = await look((database) => queryRecords<{ json: { ag_min: number; ag_max: number; corners: number; spread: number | null } }>(
      database, 'select (api.section_shaking(fid, null::core.parcel)).value as json from section.shaking order by fid',
    ));
    expect(blocks.length).toBeGreaterThan(50);
    for (const { json: { ag_min: least, ag_max: most, corners, spread } } of blocks) {
      if (corners === 1) expect(spread).toBeNull();
      else expect(spread).toBeCloseTo(most - least, 3);
    }
  });
});
