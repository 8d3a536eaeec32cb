import { readFileSync, statSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { utm32 } from '../../pipelines/synthetic/map-projection.ts';
import type { MultiPolygon } from '../../pipelines/synthetic/plane-geometry.ts';
import { writeShapefile, type ShapefileField } from '../../pipelines/synthetic/shapefile-writer.ts';
import type { Recognition } from '../../pipelines/contract/source.ts';
import { writeXlsx, type XlsxValue } from '../../pipelines/synthetic/xlsx-writer.ts';
import { writeZip, type ZipEntry } from '../../pipelines/synthetic/zip-writer.ts';
import type { RegisteredSource } from '../../pipelines/contract/registry.ts';
import { recognise } from '../../pipelines/ingest/locate.ts';
import source from './source.ts';
import { collect, type Collected } from '../../test/harness/collect.ts';
import { testEnvironment } from '../../test/harness/environment.ts';
import { temporaryFolder } from '../../test/harness/temporary-folder.ts';

const FIXTURE = fileURLToPath(new URL('./fixture/', import.meta.url));
const fixture = (name: string): string => join(FIXTURE, name);
/** The source with its id, as `recognise` expects it. */
const registered = { ...source, id: source.manifest.id } as RegisteredSource;

const folder = temporaryFolder();

const recognition = async (path: string): Promise<Recognition | null> =>
  (await recognise({ path, size: statSync(path).size }, [registered]))?.recognition ?? null;

/** Returns the number of records, the rows, and the position and code of each reject. Requires a single member. */
function summary({ members, rows }: Collected) {
  expect(members).toHaveLength(1);
  const member = members[0]!;
  expect(member.records, 'records = rows + rejects').toBe(member.rows + member.rejects.length);
  return {
    records: member.records!,
    rows: rows['raw_census_indicator']!,
    rejects: member.rejects.map(({ position, code }) => ({ position, code })),
  };
}

/** Returns the table of a fixture as cells. Codes are text and counts are numbers, as in the publisher's workbooks. */
function cells(name: string): XlsxValue[][] {
  const [header, ...rows] = readFileSync(fixture(name), 'utf8').trimEnd().split('\r\n').map((line) => line.split(';'));
  return [header!, ...rows.map((row) => row.map((value, column) => (column > 10 && /^\d+$/.test(value) ? Number(value) : value)))];
}

describe('reading indicators', () => {
  it('gives the same rows and rejects from a workbook and from the CSV', async () => {
    for (const name of ['R02_indicatori_2021_sezioni', 'R02_Finta_2023_sezioni', 'codes-that-became-numbers', 'counts-that-are-none']) {
      const path = join(folder, `${name}.xlsx`);
      await writeXlsx(path, 'R02', cells(`${name}.csv`));
      const expected = summary(await collect(source, fixture(`${name}.csv`), { role: 'indicators', region: 2 }));
      expect(summary(await collect(source, path, { role: 'indicators', region: 2 })), name).toEqual(expected);
    }
  });

  it('gives one member per region from a zip of all regions, and skips the list of fields', async () => {
    const entries: ZipEntry[] = [];
    for (const name of ['R02_indicatori_2021_sezioni', 'later-issue-of-2021']) {
      const path = join(folder, `${name}.xlsx`);
      await writeXlsx(path, 'R02', cells(`${name}.csv`));
      entries.push([`Dati_regionali_2021/${name.startsWith('R02') ? name : 'R03_indicatori_2021_sezioni'}.xlsx`, readFileSync(path)]);
    }
    entries.push(['Dati_regionali_2021/TRACCIATO FILE REGIONALI.xlsx', readFileSync(join(folder, 'later-issue-of-2021.xlsx'))]);
    const path = join(folder, 'Dati_regionali_2021.zip');
    await writeZip(path, entries);
    expect(await recognition(path)).toEqual({ role: 'indicators', vintage: '2021', region: null, complete: true });
    const { members, rows } = await collect(source, path, { role: 'indicators' });
    expect(members.map(({ path: member, records, rows: count }) => [member, records, count])).toEqual([
      ['Dati_regionali_2021/R02_indicatori_2021_sezioni.xlsx', 2, 2], ['Dati_regionali_2021/R03_indicatori_2021_sezioni.xlsx', 1, 1],
    ]);
    expect(rows['raw_census_indicator']).toHaveLength(3);
  });

  it('gives one member per comune from a zip of the largest comuni, which is not complete', async () => {
    const workbook = join(folder, 'workbook.xlsx');
    for (const [zip, names, table] of [
      ['Comuni_2021.zip', ['Genova_indicatori_2021_sezioni', 'Napoli_indicatori_2021_sezioni'], 'R02_indicatori_2021_sezioni.csv'],
      ['Comuni_2023.zip', ['Catania_2023_sezioni', 'Roma_2023_sezioni'], 'R02_Finta_2023_sezioni.csv'],
    ] as const) {
      await writeXlsx(workbook, names[0], cells(table));
      const workbooks = [...names.map((name) => `${name}.xlsx`), 'TRACCIATO FILE COMUNALI.xlsx'];
      // Files of macOS and of a program that has a workbook open.
      const others = names.flatMap((name) => [`__MACOSX/._${name}.xlsx`, `~$${name}.xlsx`]);
      const path = join(folder, zip);
      await writeZip(path, [...workbooks.map((name): ZipEntry => [name, readFileSync(workbook)]), ...others.map((name): ZipEntry => [name, Buffer.from('x')])]);
      expect(await recognition(path), zip).toMatchObject({ role: 'indicators', vintage: zip.slice(7, 11), region: null, complete: false });
      const { members } = await collect(source, path, { role: 'indicators' });
      expect(members.map((member) => member.path), zip).toEqual(names.map((name) => `${name}.xlsx`));
    }
    await rm(workbook);
  });

  it.each([
    ['column-missing.csv', 'COLUMNS_CHANGED', 'pf8'],
    ['R02_indicatori_2023_sezioni.csv', 'CENSUS_EDITION', '2021'],
    ['sections-of-2011.csv', 'CENSUS_BASES', 'SEZ2011'],
  ])('rejects the whole file %s with %s', async (name, code, detail) => {
    await expect(collect(source, fixture(name), { role: 'indicators', region: 2 })).rejects.toMatchObject({ code, kind: 'input', detail: expect.stringContaining(detail) });
  });
});

it('the reader reports an unknown indicator and reads the other indicators', async () => {
  const { members, rows } = await collect(source, fixture('column-unknown.csv'), { role: 'indicators', region: 2 });
  expect([...members[0]!.added.keys()]).toEqual(['P999']);
  expect(rows['raw_census_indicator']).toHaveLength(members[0]!.records!);
});

describe('reading geometry', () => {
  const integer = (name: string): ShapefileField => ({ name, type: 'integer', length: 13 });
  const FIELDS = ['COD_REG', 'COD_UTS', 'PRO_COM', 'SEZ21', 'SEZ21_ID', 'TIPO_LOC', 'POP21', 'FAM21'];
  /** Other fields of the publisher's table, which are not read. */
  const REST = ['COD_TIPO_S', 'LOC21_ID', 'COD_ZIC', 'COD_ISAM', 'COD_ACQUE', 'COD_ISOLE', 'COD_MONT_D', 'COD_AREA_S', 'COM_ASC1', 'COM_ASC2', 'COM_ASC3', 'SHAPE_Leng', 'SHAPE_Area'];
  const square = (lon: number): MultiPolygon => [
    [
      (
        [
          [0, 0],
          [0.01, 0],
          [0.01, 0.01],
          [0, 0.01],
          [0, 0],
        ] as const
      ).map(([x, y]) => utm32.forward([lon + x, 45 + y])),
    ],
  ];

  async function shapefile(name: string, rows: readonly (readonly (number | null)[])[], fields: readonly string[] = FIELDS): Promise<string> {
    const rest = fields.includes('SEZ21_ID') ? REST : [];
    await writeShapefile(folder, name, {
      type: 'polygon', srid: 32632, fields: [...fields, ...rest].map(integer),
      features: rows.map((values, index) => ({ geometry: { type: 'polygon', polygons: square(7 + index / 50) }, values: [...values, ...rest.map(() => 0)] })),
    });
    return join(folder, `${name}.shp`);
  }

  it('keeps codes as text, reads 0 as missing only in fields where 0 means not stated, and rejects invalid codes and other regions', async () => {
    const path = await shapefile('R02_21_WGS84', [
      [2, 7, 7901, 1, 79010000001, 1, 17, 10],
      [2, 7, 7901, 2, 79010000002, 0, 0, 0],
      [2, 7, 7901, 8888888, 79018888888, 4, null, null],
      [2, 7, 7901, 3, 79010000003, 5, 1, 1],
      [2, 7, 7901, 4, 79020000004, 1, 1, 1],
      [3, 7, 7901, 5, 79010000005, 1, 1, 1],
    ]);
    const { members, rows } = await collect(source, path, { role: 'sections', region: 2 });
    expect(rows['raw_census_section']!.map(({ member_id: _, geom, ...row }) => ({ ...row, srid: (geom as Buffer).readUInt32LE(5) }))).toEqual([
      { position: 1, section_id: '79010000001', region_code: 2, istat_code: '007901', tipo_loc: 1, population: 17, households: 10, srid: 32632 },
      { position: 2, section_id: '79010000002', region_code: 2, istat_code: '007901', tipo_loc: null, population: 0, households: 0, srid: 32632 },
      { position: 3, section_id: '79018888888', region_code: 2, istat_code: '007901', tipo_loc: 4, population: null, households: null, srid: 32632 },
    ]);
    expect(members).toMatchObject([{
      records: 6, rejects: [{ position: 4, code: 'tipo_loc_invalid' }, { position: 5, code: 'section_id_invalid' }, { position: 6, code: 'region_other' }],
    }]);
  });

  it('accepts the fields of later issues and reports an unknown field', async () => {
    const later = await shapefile('later', [[2, 7, 7901, 1, 79010000001, 1, 17, 10, 8, 3]], [...FIELDS, 'ABI21', 'EDI21']);
    expect((await collect(source, later, { role: 'sections', region: 2 })).rows['raw_census_section']).toHaveLength(1);
    const unknown = await shapefile('unknown', [[2, 7, 7901, 1, 79010000001, 1, 17, 10, 8]], [...FIELDS, 'NOVITA']);
    expect([...(await collect(source, unknown, { role: 'sections', region: 2 })).members[0]!.added.keys()]).toEqual(['NOVITA']);
  });

  it('recognises a file by its fields, takes the region from its first record, and ignores a file of the census of 2011', async () => {
    await shapefile('R09_21_WGS84', [[9, 48, 48901, 1, 489010000001, 1, 17, 10]]);
    expect(await recognition(join(folder, 'R09_21_WGS84.shp'))).toEqual({
      role: 'sections', vintage: 'basi_2021', region: 9, sidecars: expect.arrayContaining(['R09_21_WGS84.dbf', 'R09_21_WGS84.prj', 'R09_21_WGS84.shx']), complete: true,
    });
    await shapefile('R09_11_WGS84', [[9, 1]], ['COD_REG', 'SEZ2011']);
    expect(await recognition(join(folder, 'R09_11_WGS84.shp'))).toMatchObject({ ignored: expect.stringContaining('SEZ21_ID') });
    await writeZip(join(folder, 'R09_21.zip'), [
      ...['shp', 'shx', 'dbf', 'prj', 'cpg'].map((extension): ZipEntry => [`SHP/R09_21_WGS84.${extension}`, readFileSync(join(folder, `R09_21_WGS84.${extension}`))]),
      ['TAB/ASC1_R09_21.csv', readFileSync(fixture('ASC1_R02_21.csv'))],
    ]);
    expect(await recognition(join(folder, 'R09_21.zip'))).toMatchObject({ role: 'sections', region: 9 });
    const { members } = await collect(source, join(folder, 'R09_21.zip'), { role: 'sections', region: 9 });
    expect(members).toMatchObject([{ path: 'SHP/R09_21_WGS84.shp', records: 1, rows: 1 }]);
  });
});

describe('files of a different census year', () => {
  const { seed } = testEnvironment();
  const random = randomOf('census year', seed);
  const years = [1991, 2001, 2022 + random.below(60)];
  /** Returns possible names of the key column of census sections in a census year. Istat used `SEZ2011` in 2011 and has used `SEZ21_ID` since 2021. */
  const keysOf = (year: number): string[] => [`SEZ${year}`, ...(year > 2021 ? [`SEZ${String(year).slice(2)}_ID`] : [])];

  it.each(years.flatMap((year) => keysOf(year).map((key) => [year, key] as const)))(`are ignored with a message that states the year: %i, key %s (seed ${seed})`, async (year, key) => {
    const expected = { ignored: expect.stringContaining(`census sections of ${year}.`) };
    await writeShapefile(folder, `made_${key}`, {
      type: 'polygon', srid: 32632, fields: ['COD_REG', 'PRO_COM', key].map((name) => ({ name, type: 'integer', length: 13 })), features: [],
    });
    expect(await recognition(join(folder, `made_${key}.shp`))).toMatchObject({ role: `sections_${year}`, ...expected });
    const table = readFileSync(fixture('R02_indicatori_2021_sezioni.csv'), 'utf8').replace('SEZ21_ID', key);
    const path = join(folder, `R02_indicatori_${year}_sezioni.csv`);
    await writeFile(path, table);
    expect(await recognition(path)).toMatchObject({ role: `indicators_${year}_bases`, ...expected });
  });

  it('make the reader reject a national zip of 2021 that contains one of them', async () => {
    const zip = join(folder, 'Dati_regionali_2021.zip');
    const entry = (name: string, key: string): ZipEntry => [name, Buffer.from(readFileSync(fixture('R02_indicatori_2021_sezioni.csv'), 'utf8').replace('SEZ21_ID', key))];
    await writeZip(zip, [entry('R02_indicatori_2021_sezioni.csv', 'SEZ21_ID'), entry('R03_indicatori_2011_sezioni.csv', 'SEZ2011')]);
    await expect(collect(source, zip, { role: 'indicators', region: null })).rejects.toMatchObject({ code: 'CENSUS_BASES' });
  });
});

describe('recognising indicators', () => {
  it.each([
    ['R02_indicatori_2021_sezioni.csv', { role: 'indicators', vintage: '2021', region: 2 }],
    ['later-issue-of-2021.csv', { role: 'indicators', vintage: '2021', region: 2 }],
    ['R02_Finta_2023_sezioni.csv', { role: 'indicators', vintage: '2023', region: 2 }],
    ['sections-of-2011.csv', { role: 'indicators_2011_bases', ignored: expect.stringContaining('2011') }],
    ['census-2011.csv', { role: 'indicators_2011_bases', ignored: expect.stringContaining('SEZ21_ID') }],
    ['ASC1_R02_21.csv', { role: 'companion', ignored: expect.stringContaining('geometry') }],
  ])('classifies %s', async (name, expected) => {
    expect(await recognition(fixture(name))).toMatchObject(expected);
  });

  it.each([
    ['R02_indicatori_2021_sezioni.csv', 'R02_indicatori_2021_sezioni (maggio 2026).csv', '2021'],
    ['R02_Finta_2023_sezioni.csv', 'R02_Finta_2023_sezioni_2026-06-09.csv', '2023'],
  ])('reads the year of the data from %s even if its name is %s', async (name, copy, year) => {
    const path = join(folder, copy);
    await writeFile(path, readFileSync(fixture(name)));
    expect(await recognition(path)).toMatchObject({ role: 'indicators', vintage: year });
    const { rows } = await collect(source, path, { role: 'indicators', region: 2 });
    expect([...new Set(rows['raw_census_indicator']!.map((row) => String(row['reference_year'])))]).toEqual([year]);
  });

  it('rejects a count whose point may separate thousands', async () => {
    const [header = '', first = ''] = readFileSync(fixture('R02_indicatori_2021_sezioni.csv'), 'utf8').split(/\r?\n/);
    const at = header.split(';').indexOf('P1');
    const path = join(folder, 'thousands_2021_sezioni.csv');
    const withCount = (text: string): string => first.split(';').map((cell, index) => (index === at ? text : cell)).join(';');
    await writeFile(path, [header, ...['9', '9.0', '1.000', '1.234'].map(withCount)].join('\n'));
    const { members } = await collect(source, path, { role: 'indicators', region: 2 });
    expect(members[0]!.rejects.map(({ position, code }) => [position, code])).toEqual([[4, 'population_total_invalid'], [5, 'population_total_invalid']]);
  });

  it('distinguishes workbooks with the same name by their columns', async () => {
    const path = join(folder, 'R02_indicatori_2021_sezioni.xlsx');
    await writeXlsx(path, 'R02', cells('R02_indicatori_2021_sezioni.csv'));
    expect(await recognition(path)).toEqual({ role: 'indicators', vintage: '2021', region: 2, complete: true });
    await writeXlsx(path, 'R02', cells('sections-of-2011.csv'));
    expect(await recognition(path)).toMatchObject({ ignored: expect.stringContaining('2011') });
    await writeXlsx(path, 'Foglio1', [['Titolo'], ['x']]);
    await expect(recognition(path)).rejects.toMatchObject({ code: 'ZIP_CONTENT' });
  });

  it('recognises a workbook as complete even if the name of its region contains spaces', async () => {
    const rows = cells('R02_Finta_2023_sezioni.csv');
    const inner = join(folder, 'inner.xlsx');
    await writeXlsx(inner, 'R02', rows);
    for (const region of ['Valle d Aosta', 'Friuli Venezia Giulia', 'Emilia Romagna', 'Trentino Alto Adige']) {
      const zip = join(folder, `R02_${region}_2023.zip`);
      await writeZip(zip, [[`R02_${region}_2023_sezioni.xlsx`, readFileSync(inner)]]);
      expect(await recognition(zip), region).toMatchObject({ role: 'indicators', vintage: '2023', region: 2, complete: true });
      await rm(zip);
    }
    await rm(inner);
  });

  it('ignores the list of fields, and does not recognise an unrelated file', async () => {
    const list = join(folder, 'TRACCIATO FILE REGIONALI.xlsx');
    await writeXlsx(list, 'TRACCIATO', [['SEZ21_ID', 'Codice della sezione'], ['P1', 'Popolazione residente - totale']]);
    expect(await recognition(list)).toMatchObject({ role: 'field_list', ignored: expect.stringContaining('without data') });
    await writeFile(join(folder, 'altro.csv'), 'a;b\n1;2\n');
    expect(await recognition(join(folder, 'altro.csv'))).toBeNull();
  });

  it('rejects a file with the columns of 2021 whose name states a different year', async () => {
    await expect(recognition(fixture('R02_indicatori_2023_sezioni.csv'))).rejects.toMatchObject({ code: 'CENSUS_EDITION' });
  });
});

describe('the manifest of the census', () => {
  it('states in the note of the download which issue of 2023 has all comuni', () => {
    const { note = '' } = source.manifest.downloads.find(({ url }) => url.endsWith('Dati_regionali_2023.zip')) ?? {};
    expect(note).toContain('reissued under the same name on 2026-03-05');
    expect(note).not.toContain('withheld');
  });
});
