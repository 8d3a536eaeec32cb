/**
 * Tests columns that a publisher adds, removes, renames, repeats or gives a different type. An added column is reported, and the rows stay the same. A file is
 * rejected if a required column is removed, renamed or gets a different type, or if any column is repeated.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../../pipelines/config.ts';
import { loadSources, type RegisteredSource } from '../../pipelines/contract/registry.ts';
import { knownBy, normaliseHeader } from '../../pipelines/formats/csv.ts';
import { locate } from '../../pipelines/ingest/locate.ts';
import { validate, type Finding } from '../../pipelines/operate/validate.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { writeOwn } from '../../pipelines/synthetic/synthetic.ts';
import type { Edit } from '../harness/column-edits.ts';
import { testEnvironment } from '../harness/environment.ts';
import { tablesOf, type Table } from '../harness/table-edits.ts';
import { goldenOf, trial } from '../harness/trial.ts';

const sources = await loadSources();
const { seed, mutations } = testEnvironment();
const REGION = { parcels: 60, seed: 11 };
/** Maximum number of columns of a table that are tried for each change. The columns are drawn at random. */
const DRAWN = Math.ceil(mutations / 5);
const root = mkdtempSync(join(tmpdir(), 'mappale-columns-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Layers that these tests skip, with the reason. */
const ASIDE: readonly (readonly [source: string, part: RegExp, reason: string])[] = [
  ['igm_dbsn', /#edi_min$/, 'a geodatabase has about eighty other layers'],
  ['istat_boundaries', /RipGeo/, 'groups of regions are ignored because of their name'],
  ['urban_atlas', /_Boundary$/, 'only the shape of the boundary is used'],
];

/** Columns by which a table is recognised even if the file's name is not the publisher's. The other columns are numbers and coordinates. */
const DISTINCTIVE: readonly (readonly [source: string, column: RegExp])[] = [
  ['ingv_mps04', /^(?:ag|pga)(?:_475|\(g\))?$/i], ['ispra_flood', /^scenario(?:p\d)?$/i], ['ispra_landslide', /^(?:peric_ita|cod_per_it)$/i],
  ['postal_codes', /^cap$/i],
];

/** Minimum number of layouts of each table format, by source. A source that is not listed has at least one layout. */
const LEAST: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  ade_cadastre: { gml: 2 }, anncsu_addresses: { csv: 4 }, bolzano_cadastre: { geojson: 2, dbf: 1 }, clc_land_cover: { gpkg: 1, geojson: 2 },
  copernicus_dem: {},
  dpc_buildings: { dbf: 1 }, dpc_seismic: { csv: 4, xlsx: 1 }, egms_vertical: { csv: 6 }, gsa_pvout: {}, igm_dbsn: { gdb: 1 },
  ingv_mps04: { txt: 3, csv: 2, gml: 1 },
  ispra_flood: { dbf: 1, geojson: 2, json: 1 }, ispra_landslide: { dbf: 1, gpkg: 1, geojson: 3, json: 1 }, ispra_shoreline: { dbf: 1, geojson: 4 },
  istat_boundaries: { dbf: 8, geojson: 1 }, istat_census: { csv: 3, xlsx: 1, dbf: 1 }, istat_comuni: { csv: 4, xlsx: 2 }, mef_income: { csv: 5 },
  mic_places: { csv: 5 }, mim_schools: { csv: 3 }, omi_quotations: { csv: 2, kml: 2 }, postal_codes: { csv: 1, geojson: 1 }, tinitaly_dem: {},
  trento_cadastre: { dbf: 2 }, urban_atlas: { gpkg: 1, geojson: 2 }, viirs_nightlights: {},
};

/** Writes the table's file with an edit into a new folder, and returns the path. */
function withEdit(table: Table, edit: Edit): Promise<string> {
  return table.write(edit, mkdtempSync(join(root, 'edit-')));
}

interface Golden {
  readonly rows?: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;
  readonly members?: readonly { readonly records: number; readonly rejects: readonly unknown[]; readonly added?: Readonly<Record<string, unknown>> }[];
}

/**
 * Returns the results that must stay the same: the rows, and the numbers of records and rejects. Positions are left out, because an added property moves
 * the bytes of a GML.
 */
function heldOf({ rows = {}, members = [] }: Golden): unknown {
  return {
    rows: Object.entries(rows).map(([table, each]) => [table, each.map(({ position, ...values }) => values)]),
    members: members.map(({ records, rejects }) => ({ records, rejects: rejects.length })),
  };
}

/**
 * Returns the files of a source. Synthetic files have the publisher's names and come before the fixtures, which may have other names. The order does not
 * depend on the folder of the checkout.
 */
async function filesOf(source: RegisteredSource): Promise<string[]> {
  const synthetic = join(root, source.id);
  mkdirSync(synthetic, { recursive: true });
  await writeOwn(source.id, synthetic, REGION);
  const paths: string[] = [];
  for (const folder of [synthetic, join(ROOT, source.folder, 'fixture')]) {
    const { releases } = await locate([folder], [source], { get: () => undefined, set() {} });
    paths.push(...releases.flatMap(({ files }) => files.map(({ path }) => path)).sort());
  }
  return paths;
}

/** Returns one table of each layout, with the output of its file. Only files that are read without an error and without an added column are used. */
async function layoutsOf(source: RegisteredSource): Promise<{ table: Table; before: Golden }[]> {
  const seen = new Set<string>();
  const layouts: { table: Table; before: Golden }[] = [];
  for (const path of await filesOf(source)) {
    const before = goldenOf(await trial(source, path)) as Golden;
    if ((before.members ?? []).length === 0 || before.members!.some(({ added }) => added !== undefined)) continue;
    for (const table of await tablesOf(path)) {
      const layout = `${table.format} ${table.columns.join()}`;
      if (seen.has(layout)) continue;
      seen.add(layout);
      layouts.push({ table, before });
    }
  }
  return layouts;
}

describe.each(sources.map((source) => [source.id, source] as const))(`source %s (seed ${seed})`, (id, source) => {
  const random = randomOf(`columns ${id}`, seed);
  const { ignored, optional = {} } = source.manifest;
  const isKnown = knownBy({ mapped: {}, ignored });
  const isOptional = knownBy({ mapped: {}, ignored: { ...('*' in optional ? ignored : {}), ...Object.fromEntries(Object.entries(optional).filter(([name]) => name !== '*')) } });
  /** Returns whether a change of the column makes the table unrecognisable. */
  const isStranger = ({ path }: Table, column: string): boolean =>
    !source.names.some((name) => name.test(basename(path))) && DISTINCTIVE.some(([mine, name]) => mine === id && name.test(column));
  const newName = (columns: readonly string[]): string => {
    for (;;) {
      const name = `${random.pick(['indice', 'esito', 'grado', 'gruppo', 'soglia'])}_${random.pick(['agg', 'bis', 'rev', 'uff'])}`;
      if (!isKnown(name) && !columns.some((column) => normaliseHeader(column) === name)) return name;
    }
  };
  const drawn = (columns: readonly string[]): number[] =>
    columns.map((name, at) => [random.next(), at, name] as const).filter(([, , name]) => normaliseHeader(name) !== '' && !/^\d{8}$/.test(name)).sort(([a], [b]) => a - b).slice(0, DRAWN).map(([, at]) => at);

  let layouts: Awaited<ReturnType<typeof layoutsOf>>;
  beforeAll(async () => {
    layouts = (await layoutsOf(source)).filter(({ table }) => !ASIDE.some(([mine, part]) => mine === id && part.test(table.part)));
  });
  /** Returns the errors and warnings about a file after one change. */
  const findingsOf = async (table: Table, edit: Edit): Promise<readonly Finding[]> => {
    const path = await withEdit(table, edit);
    const [verdict] = (await validate([path], sources, null, () => undefined)).filter((each) => each.path === path);
    rmSync(dirname(path), { recursive: true });
    return verdict!.findings;
  };
  const refused = (findings: readonly Finding[], code: string): boolean => findings.some((each) => each.code === code && each.level === 'error');
  const explained = (table: Table, edit: Edit, findings: readonly Finding[]): string =>
    `${basename(table.path)}!${table.part} ${edit.kind} ${table.columns[edit.at] ?? ''}: ${JSON.stringify(findings.map(({ code, detail }) => [code, detail?.slice(0, 100)]))}`;

  it('has at least the expected number of layouts in each table format', () => {
    const counts: Record<string, number> = {};
    for (const { table } of layouts) counts[table.format] = (counts[table.format] ?? 0) + 1;
    if (LEAST[id] === undefined) expect(layouts.length).toBeGreaterThanOrEqual(1);
    for (const [format, least] of Object.entries(LEAST[id] ?? {})) expect(counts[format] ?? 0, format).toBeGreaterThanOrEqual(least);
  });

  it('gives the same rows if a column is added at the start, the end or a random position, and reports the column\'s name', async () => {
    const violations: string[] = [];
    for (const { table, before } of layouts) {
      for (const at of [0, table.columns.length, random.below(table.columns.length)]) {
        const name = newName(table.columns);
        const path = await withEdit(table, { kind: 'added', at, name });
        const after = goldenOf(await trial(source, path)) as Golden & { readonly error?: unknown };
        const added = [...new Set((after.members ?? []).flatMap((member) => Object.keys(member.added ?? {})))];
        const [verdict] = (await validate([path], sources, null, () => undefined)).filter((each) => each.path === path);
        const isSame = JSON.stringify(heldOf(after)) === JSON.stringify(heldOf(before));
        const isReported = added.join() === name && verdict!.source === id && verdict!.findings.some(({ code, column }) => code === 'COLUMNS_ADDED' && column === name);
        if (!isSame || !isReported) violations.push(`${basename(table.path)}!${table.part} ${name} at ${at}: ${isSame ? 'same rows' : 'other rows'}, reported ${added.join()}, ${JSON.stringify(after.error)} ${verdict!.findings.map(({ code }) => code).join()}`);
        rmSync(dirname(path), { recursive: true });
      }
    }
    expect(violations).toEqual([]);
  });

  it('rejects a table with a repeated column, or without a required column, with COLUMNS_CHANGED, or with FILE_UNKNOWN if only this column identifies the table', async () => {
    const violations: string[] = [];
    for (const { table } of layouts) {
      for (const kind of ['removed', 'renamed', 'doubled'] as const) {
        for (const at of drawn(table.columns)) {
          const column = table.columns[at]!;
          if (kind !== 'doubled' && isOptional(column)) continue;
          const edit = { kind, at, name: newName(table.columns) };
          const findings = await findingsOf(table, edit);
          const isUnknown = kind !== 'doubled' && isStranger(table, column) && findings.length > 0 && findings.every(({ code }) => code === 'FILE_UNKNOWN');
          if (!refused(findings, 'COLUMNS_CHANGED') && !isUnknown) violations.push(explained(table, edit, findings));
        }
      }
    }
    expect(violations).toEqual([]);
  });

  it('rejects a column with a different declared type, with COLUMNS_CHANGED', async () => {
    const violations: string[] = [];
    for (const { table } of layouts.filter((each) => each.table.isTyped)) {
      for (const at of drawn(table.columns).filter((each) => !isKnown(table.columns[each]!))) {
        const edit = { kind: 'retyped', at, name: '' } as const;
        const findings = await findingsOf(table, edit);
        if (!refused(findings, 'COLUMNS_CHANGED')) violations.push(explained(table, edit, findings));
      }
    }
    expect(violations).toEqual([]);
  });
});
