import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import type { Recognition } from '../../pipelines/contract/source.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import type { RegisteredSource } from '../../pipelines/contract/registry.ts';
import { recognise } from '../../pipelines/ingest/locate.ts';
import { LineCounter } from './read.ts';
import { FIELDS, egmsRow } from './schema.ts';
import source from './source.ts';
import { collect, type Collected } from '../../test/harness/collect.ts';
import { describeDatabase } from '../../test/harness/database.ts';
import { loaded } from '../../test/harness/loaded.ts';
import { temporaryFolder } from '../../test/harness/temporary-folder.ts';

const FIXTURE = fileURLToPath(new URL('./fixture/', import.meta.url));
const fixture = (name: string): string => join(FIXTURE, name);

const folder = temporaryFolder();
/** The source with its id, as `recognise` expects it. */
const registered = { ...source, id: source.manifest.id } as RegisteredSource;

const read = (path: string): Promise<Collected> => collect(source, path, { role: 'vertical' });

async function recognition(path: string): Promise<Recognition | null> {
  return (await recognise({ path, size: readFileSync(path).length }, [registered]))?.recognition ?? null;
}

/** Returns the number of records, the rows without their member, and the rejects without messages. */
function summary({ members, rows }: Collected): unknown {
  expect(members).toHaveLength(1);
  const member = members[0]!;
  expect(member.records, 'records must equal rows + rejects + duplicates').toBe(member.rows + member.rejects.length + member.duplicates.length);
  return {
    records: member.records,
    rows: rows['raw_egms_cell']!.map(({ member_id: _, ...row }) => row),
    rejects: member.rejects.map(({ position, code }) => ({ position, code })),
  };
}

async function zipped(name: string, entries: Readonly<Record<string, Buffer | string>>): Promise<string> {
  const path = join(folder, name);
  await writeZip(path, Object.entries(entries));
  return path;
}

describe('reading a tile', () => {
  it('gives the same rows from a zipped tile and from a plain tile', async () => {
    const csv = readFileSync(fixture('EGMS_L3_E46N20_100km_U_2018_2022_1.csv'));
    const path = await zipped('EGMS_L3_E46N20_100km_U_2018_2022_1.zip', {
      'EGMS_L3_E46N20_100km_U_2018_2022_1.tiff': 'not read', 'EGMS_L3_E46N20_100km_U_2018_2022_1.csv': csv, 'EGMS_L3_E46N20_100km_U_2018_2022_1.xml': '<a/>',
    });
    const collected = await read(path);
    expect(collected.members[0]!.path).toBe('EGMS_L3_E46N20_100km_U_2018_2022_1.csv');
    expect(summary(collected)).toEqual(summary(await read(fixture('EGMS_L3_E46N20_100km_U_2018_2022_1.csv'))));
  });

  it('keeps the start of the line in a reject and states the invalid value', async () => {
    const { members } = await read(fixture('strings-instead-of-numbers_U.csv'));
    const first = members[0]!.rejects[0]!;
    expect(first.message).toBe('mean_velocity: expected a decimal number, found "nan"');
    expect(first.raw.toString()).toMatch(/^3OaTn5TNYx,4650350,2050150,/);
  });

  it.each([
    ['truncated-last-line_U.csv', 'EGMS_TRUNCATED', /:4$/],
    ['merged-tiles-with-moved-columns_U.csv', 'COLUMNS_CHANGED', /:3$/],
    ['column-missing_U.csv', 'COLUMNS_CHANGED', /:1$/],
    ['column-twice_U.csv', 'COLUMNS_CHANGED', /:1$/],
    ['level-2b.csv', 'EGMS_LEVEL', /:1$/],
    ['empty_U.csv', 'EGMS_EMPTY', /empty_U\.csv$/],
  ])('rejects the whole file %s with the code %s', async (name, code, at) => {
    await expect(read(fixture(name))).rejects.toMatchObject({ code, kind: 'input', at: expect.stringMatching(at), detail: expect.stringMatching(/expected .* found /) });
  });

  it('rejects a file with a line that never ends', async () => {
    const path = join(folder, 'endless_U.csv');
    await writeFile(path, Buffer.concat([readFileSync(fixture('EGMS_L3_E46N20_100km_U_2018_2022_1.csv')), Buffer.alloc(3 << 20)]));
    await expect(read(path)).rejects.toMatchObject({ code: 'LINE_TOO_LONG', at: expect.stringMatching(/endless_U\.csv:\d+$/) });
  });

  it('rejects a zip with two tiles', async () => {
    const path = await zipped('two_U.zip', { 'a_U.csv': 'pid', 'b_U.csv': 'pid' });
    await expect(read(path)).rejects.toMatchObject({ code: 'EGMS_ZIP', message: 'the EGMS zip does not contain exactly one CSV', detail: expect.stringMatching(/found a_U\.csv, b_U\.csv$/) });
  });

  it('reports an unknown column and still reads the cells', async () => {
    const { members } = await read(fixture('column-unknown_U.csv'));
    expect([...members[0]!.added.keys()]).toHaveLength(1);
    expect(members[0]).toMatchObject({ rejects: [] });
    expect(members[0]!.rows).toBeGreaterThan(0);
  });

  it('rejects a truncated zip completely', async () => {
    const path = await zipped('whole.zip', { 'EGMS_L3_E46N20_100km_U_2018_2022_1.csv': readFileSync(fixture('EGMS_L3_E46N20_100km_U_2018_2022_1.csv')) });
    const bytes = readFileSync(path);
    await writeFile(join(folder, 'EGMS_L3_E46N20_100km_U.zip'), bytes.subarray(0, bytes.length - 30));
    await expect(read(join(folder, 'EGMS_L3_E46N20_100km_U.zip'))).rejects.toMatchObject({ code: 'ZIP_UNREADABLE' });
  });

  it('gives the same result for chunks of any size', async () => {
    const text = ['crlf_U.csv', 'strings-instead-of-numbers_U.csv', 'blank-lines_U.csv', 'no-final-newline_U.csv'];
    for (const name of text) {
      const whole = summary(await read(fixture(name)));
      for (const size of [1, 2, 7, 61, 500]) {
        expect(summary(await collectChunks(readFileSync(fixture(name)), size)), `${name} in chunks of ${size}`).toEqual(whole);
      }
    }
  });
});

/** Reads bytes in chunks of a given size. */
async function collectChunks(bytes: Buffer, size: number): Promise<Collected> {
  const path = join(folder, 'chunks_U.csv');
  await writeFile(path, bytes);
  const { createReadStream } = await import('node:fs');
  const chunked = {
    ...source,
    read: (file: Parameters<typeof source.read>[0], sink: Parameters<typeof source.read>[1]) =>
      source.read({ ...file, open: () => createReadStream(path, { highWaterMark: size }) }, sink),
  };
  return collect(chunked, path, { role: 'vertical' });
}

describe('the fast path and the schema', () => {
  it('accept and reject the same rows and give the same values', async () => {
    const random = randomOf('egms fast path');
    const tokens: Record<string, string[]> = {
      pid: ['3OaTn5TNYv', '0000000000', '3OaTn5TNY', '3OaTn5TNYvv', '3OaTn-TNYv', ''],
      grid: ['4650050', '50', '9999950', '4650051', '4650000', '-50', '4650050.0', '', '04650050', '46500500', ' 4650050'],
      decimal: ['0', '-0', '0.0', '-0.1', '12.3', '1234567.123456', '1234567.1234567', '12345678', '.5', '5.', '-', '', 'nan', '1e3', '+1', '1 ', '--1', '1.2.3', '999.9', '1000.1', '-1000', '0.1', '0.7', '123.456'],
    };
    const lines: string[] = [];
    const texts: Record<string, string>[] = [];
    // Most fields are valid, so that many lines have exactly one invalid field.
    const draw = (list: string[]): string => (random.next() < 0.75 ? list[0]! : random.pick(list));
    for (let i = 0; i < 4_000; i += 1) {
      const text: Record<string, string> = {};
      for (const field of FIELDS) text[field] = field === 'pid' ? draw(tokens['pid']!) : field === 'easting' || field === 'northing' ? draw(tokens['grid']!) : random.pick(tokens['decimal']!.slice(0, random.next() < 0.8 ? 6 : undefined));
      texts.push(text);
      lines.push([...FIELDS.map((field) => text[field]), '0', '0', '0'].join(','));
    }
    const path = join(folder, 'random_U.csv');
    await writeFile(path, `${FIELDS.join(',')},acceleration_std,seasonality,seasonality_std\n${lines.join('\n')}\n`);
    const { rows, members } = await read(path);
    const expected = texts.flatMap((text, index) => {
      const parsed = egmsRow.safeParse(text);
      return parsed.success ? [{ position: index + 2, values: FIELDS.map((field) => parsed.data[field]) }] : [];
    });
    const columns = Object.keys(source.tables['raw_egms_cell']!);
    expect(rows['raw_egms_cell']!.map((row) => ({ position: row['position'], values: columns.map((column) => row[column]) }))).toEqual(expected);
    expect(expected.length).toBeGreaterThan(200);
    expect(members[0]!.rejects.length).toBe(texts.length - expected.length);
  });
});

describe('the line counter', () => {
  it('counts the same records for chunks of any size', () => {
    const bytes = Buffer.from('header\r\n\r\na,b\r\n\nc,d\r\ne');
    for (let size = 1; size <= bytes.length; size += 1) {
      const counter = new LineCounter();
      for (let at = 0; at < bytes.length; at += size) counter.count(bytes.subarray(at, at + size));
      expect(counter.records, `chunks of ${size}`).toBe(3);
    }
  });
});

describe('recognising files', () => {
  it('recognises a zipped or plain tile of a release, and a tile of the baseline, whose name states no release', async () => {
    const csv = readFileSync(fixture('EGMS_L3_E46N20_100km_U_2018_2022_1.csv'));
    expect(await recognition(fixture('EGMS_L3_E46N20_100km_U_2018_2022_1.csv'))).toEqual({ role: 'vertical', vintage: '2018_2022', region: null, complete: false, dated: '001', place: 'E46N20' });
    expect(await recognition(await zipped('EGMS_L3_E46N20_100km_U_2018_2022_1.zip', { 'EGMS_L3_E46N20_100km_U_2018_2022_1.csv': csv }))).toMatchObject({ role: 'vertical', vintage: '2018_2022', dated: '001', place: 'E46N20' });
    expect(await recognition(fixture('EGMS_L3_E46N20_100km_U.baseline.csv'))).toMatchObject({ role: 'vertical', vintage: '2015_2021' });
  });

  it('treats issue _2 as newer than _1, and _10 as newer than _2, of the same years, zipped or plain', async () => {
    const csv = readFileSync(fixture('EGMS_L3_E46N20_100km_U_2018_2022_1.csv'));
    const found: (Recognition | null)[] = [];
    for (const issue of ['1', '2', '10']) {
      const name = `EGMS_L3_E46N20_100km_U_2020_2024_${issue}`;
      const path = join(folder, `${name}.csv`);
      await writeFile(path, csv);
      found.push(await recognition(path));
      expect(await recognition(await zipped(`${name}.zip`, { [`${name}.csv`]: csv })), name).toEqual(found.at(-1));
    }
    expect(found.map((each) => [each?.vintage, each?.place])).toEqual(Array.from({ length: 3 }, () => ['2020_2024', 'E46N20']));
    const issues = found.map((each) => each?.dated ?? '');
    expect([...issues].sort()).toEqual(issues);
    expect(new Set(issues).size).toBe(3);
  });

  it('recognises a renamed tile by its columns and the years of its series', async () => {
    expect(await recognition(fixture('crlf_U.csv'))).toMatchObject({ place: 'E46N20' });
    expect(await recognition(fixture('crlf_U.csv'))).toMatchObject({ role: 'vertical', vintage: '2018_2018' });
    expect(await recognition(await zipped('naples.zip', { 'tile_U.csv': readFileSync(fixture('crlf_U.csv')) }))).toMatchObject({ role: 'vertical', vintage: '2018_2018' });
  });

  it('recognises the east component, the raster and the metadata, and ignores these files', async () => {
    expect(await recognition(fixture('EGMS_L3_E46N20_100km_E_2018_2022_1.csv'))).toMatchObject({ role: 'horizontal', ignored: expect.stringContaining('vertical') });
    for (const extension of ['tiff', 'xml']) {
      const path = join(folder, `EGMS_L3_E46N20_100km_U_2018_2022_1.${extension}`);
      await writeFile(path, 'II*');
      expect(await recognition(path)).toMatchObject({ role: 'companion', ignored: expect.stringContaining('CSV') });
    }
  });

  it.each([
    ['EGMS_L3_E46N21_100km_U_2018_2022_1.zip', 'EGMS_DOWNLOAD_REFUSED', '429'],
    ['level-2b.csv', 'EGMS_LEVEL', 'L3 Ortho'],
    ['without-component.csv', 'EGMS_COMPONENT', 'name'],
    ['column-missing_U.csv', 'COLUMNS_CHANGED', 'Use the downloaded file'],
  ])('rejects %s with the code %s and a hint', async (name, code, hint) => {
    await expect(recognition(fixture(name))).rejects.toMatchObject({ code, kind: 'input', hint: expect.stringContaining(hint) });
  });

  it('rejects a zip with the name of a tile but without a CSV', async () => {
    const path = await zipped('EGMS_L3_E46N22_100km_U_2018_2022_1.zip', { 'EGMS_L3_E46N22_100km_U_2018_2022_1.tiff': 'x' });
    await expect(recognition(path)).rejects.toMatchObject({ code: 'EGMS_ZIP' });
  });

  it('does not recognise files of other sources', async () => {
    const path = join(folder, 'others.csv');
    await writeFile(path, 'CODREG;REGIONE;SEZ21_ID\n1;x;2\n');
    expect(await recognition(path)).toBeNull();
    expect(await recognition(await zipped('others.zip', { 'others.csv': 'easting;northing\n1;2\n' }))).toBeNull();
    await writeFile(join(folder, 'page.zip'), '<html>');
    expect(await recognition(join(folder, 'page.zip'))).toBeNull();
  });
});

describeDatabase('loading tiles', (engine) => {
  it('determines a tile by its file name or, after a rename, by its cells, and keeps a cell of two tiles in both tiles', async () => {
    const found = await loaded(await engine.openDatabase(), 'egms_vertical', `
      delete from member where member_id > 5;
      update member set file_id = member_id;
      update member set path = 'EGMS_L3_E46N19_100km_U_2020_2024_1.csv', file_name = 'EGMS_L3_E46N19_100km_U_2020_2024_1.zip' where member_id = 1;
      update member set path = 'tile_U.csv', file_name = 'egms_l3_e46n20_100km_u_2020_2024_1.ZIP' where member_id = 2;
      update member set path = '', file_name = 'EGMS_L3_E47N19_100km_U_2020_2024_1.csv' where member_id = 3;
      update member set path = 'tile_U.csv', file_name = 'naples.zip' where member_id in (4, 5);
      insert into raw_egms_cell values
        -- pid, easting, northing, height, rmse, velocity, its deviation, acceleration. The same cell twice in one tile, and in its neighbour.
        (1, 2, 'aaaaaaaaaa', 4600050, 1900050, 1, 2.0, -3, 0.1, 0), (1, 3, 'aaaaaaaaab', 4600050, 1900050, 1, 1.0, -5, 0.1, 0),
        (2, 2, 'aaaaaaaaac', 4600050, 1900050, 1, 0.5, -7, 0.1, 0), (2, 3, 'aaaaaaaaad', 4600050, 2000050, 1, 0.5, -7, 0.1, 0),
        (4, 7, 'aaaaaaaaae', 4799950, 1999950, 1, 0.5, -7, 0.1, 0), (4, 9, 'aaaaaaaaaf', 4800050, 1999950, 1, 0.5, -7, 0.1, 0), (4, 8, 'aaaaaaaaag', 4800150, 1999950, 1, 0.5, -7, 0.1, 0)`, async ({ session, checks }) => ({
      tiles: await session.query('select member_id, tile_x, tile_y, position from egms_tile order by 1, 2'),
      cells: await session.query('select member_id, position from egms_cell order by 1, 2'),
      duplicates: await session.query('select member_id, position from duplicate'),
      violations: (await checks()).map(({ name }) => name),
    }));
    expect(found.tiles).toEqual([
      { member_id: 1, tile_x: 46, tile_y: 19, position: 1 },
      { member_id: 2, tile_x: 46, tile_y: 20, position: 1 },
      { member_id: 3, tile_x: 47, tile_y: 19, position: 1 },
      { member_id: 4, tile_x: 47, tile_y: 19, position: 7 },
      { member_id: 4, tile_x: 48, tile_y: 19, position: 8 },
    ]);
    expect(found.duplicates).toEqual([{ member_id: 1, position: 2 }]);
    expect(found.cells.map(({ member_id, position }) => [member_id, position])).toEqual([[1, 3], [2, 2], [2, 3], [4, 7], [4, 8], [4, 9]]);
    expect(found.violations).toEqual([]);
  });
});
