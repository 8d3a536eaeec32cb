/**
 * Tests files with a publisher's name but different content, incomplete shapefiles, wrong coordinates and bytes before a zip. The finding states what was found
 * and the next step.
 */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ROOT, readConfig, testClock } from '../../pipelines/config.ts';
import { metresMisplaced, outsideItaly } from '../../pipelines/readers/italy.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { validate, type FileVerdict } from '../../pipelines/operate/validate.ts';
import { trial } from '../harness/trial.ts';

const sources = await loadSources();
const root = mkdtempSync(join(tmpdir(), 'mappale-words-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const fixture = (path: string): string => join(ROOT, 'sources', path.replace('/', '/fixture/'));
const INDIR = fixture('anncsu_addresses/INDIR_MOLI_20260602.csv');
const EGMS = fixture('egms_vertical/EGMS_L3_E46N20_100km_U_2018_2022_1.csv');
const FLOOD = fixture('ispra_flood/class-missing_Mosaicatura_ISPRA_2020_pericolosita_idraulica.geojson');
const COMUNI = 'Com2011_WGS84';
const PARTS = ['.shp', '.shx', '.dbf', '.prj', '.cpg'];

let folders = 0;
function folder(): string {
  folders += 1;
  mkdirSync(join(root, String(folders)));
  return join(root, String(folders));
}

/** Returns the verdict on one file with changed bytes and, on request, a different name. */
async function verdictOn(original: string, change: (content: Buffer) => Buffer, name: string = basename(original)): Promise<FileVerdict> {
  const data = folder();
  writeFileSync(join(data, name), change(readFileSync(original)));
  return (await validate([data], sources, null, () => undefined)).find(({ path }) => basename(path) === name)!;
}

const carriageReturns = (content: Buffer): Buffer => Buffer.from(content.toString('latin1').replace(/\r?\n/g, '\r'), 'latin1');
const utf16 = (mark: string) => (content: Buffer): Buffer => Buffer.from(mark + content.toString('utf8'), 'utf16le');
const starting = (hex: string) => (): Buffer => Buffer.concat([Buffer.from(hex, 'hex'), Buffer.alloc(4096, 0x41)]);
const XLSX = 'Elenco-comuni-italiani.xlsx';

describe('a file under a publisher\'s name', () => {
  it.each<[string, string, (content: Buffer) => Buffer, string, RegExp, string?]>([
    ['with CR as its line end', INDIR, carriageReturns, 'LINE_ENDS', /carriage returns \(CR\)/],
    ['with CR as its line end, of a different source', EGMS, carriageReturns, 'LINE_ENDS', /carriage returns \(CR\)/],
    ['in UTF-16 with a byte order mark', INDIR, utf16('\ufeff'), 'ENCODING_WRONG', /two bytes for each character/],
    ['in UTF-16 without a byte order mark', EGMS, utf16(''), 'ENCODING_WRONG', /two bytes for each character/],
    ['in UTF-16 with swapped bytes', EGMS, (content) => utf16('\ufeff')(content).swap16(), 'ENCODING_WRONG', /two bytes for each character/],
    ['that is only a byte order mark', INDIR, () => Buffer.from('efbbbf', 'hex'), 'FILE_EMPTY', /a byte order mark and nothing else/],
    ['that is a renamed old workbook', INDIR, starting('d0cf11e0a1b11ae1'), 'FILE_FORM', /\.xls, whatever/, XLSX],
    ['that is a gzip archive', INDIR, starting('1f8b0800'), 'FILE_FORM', /gzip/],
    ['that is a 7-Zip archive', INDIR, starting('377abcaf271c'), 'FILE_FORM', /7-Zip/, 'MOLISE.zip'],
    ['that is a PDF document', INDIR, starting('255044462d312e37'), 'FILE_FORM', /PDF/],
    ['of a future year', EGMS, (content) => content, 'VINTAGE_FUTURE', /found 2090_2094/, 'EGMS_L3_E46N20_100km_U_2090_2094_1.csv'],
    ['of a future day', INDIR, (content) => content, 'VINTAGE_FUTURE', /found 2099/, 'INDIR_MOLI_20990602.csv'],
  ])('%s causes an error that states what was found', async (_what, original, change, code, found, name) => {
    expect(await verdictOn(original, change, name)).toMatchObject({ ok: false, findings: [{ level: 'error', code, detail: expect.stringMatching(found), hint: expect.any(String) }] });
  });

  it('may have the date of next year, because some editions are dated ahead', async () => {
    expect(await verdictOn(INDIR, (content) => content, `INDIR_MOLI_${new Date().getFullYear() + 1}0101.csv`)).toMatchObject({ ok: true });
  });
});

describe('a shapefile', () => {
  const put = (data: string, lacks: string): void => {
    for (const part of PARTS) if (part !== lacks) copyFileSync(fixture(`istat_boundaries/${COMUNI}${part}`), join(data, COMUNI + part));
  };

  it.each([['.dbf', '.shp'], ['.shx', '.shp'], ['.shp', '.dbf']])('is reported as incomplete without its %s', async (lacks, reason) => {
    const data = folder();
    put(data, lacks);
    const verdict = (await validate([data], sources, null, () => undefined)).find(({ path }) => path.endsWith(reason));
    expect(verdict).toMatchObject({ ok: false, findings: [{ code: 'SIDECAR_MISSING', detail: expect.stringContaining(lacks) }] });
  });

  it('is rejected if the table has more rows than there are shapes', async () => {
    const data = folder();
    put(data, '');
    const table = readFileSync(join(data, `${COMUNI}.dbf`));
    const [records, start, size] = [table.readUInt32LE(4), table.readUInt16LE(8), table.readUInt16LE(10)];
    table.writeUInt32LE(records + 1, 4);
    writeFileSync(join(data, `${COMUNI}.dbf`), Buffer.concat([table.subarray(0, start + records * size), table.subarray(start, start + size)]));
    expect((await validate([data], sources, null, () => undefined)).find(({ path }) => path.endsWith('.shp'))).toMatchObject({ ok: false, findings: [{ code: 'SHAPEFILE_INCONSISTENT' }] });
  });
});

describe('coordinates', () => {
  const moved = (move: (x: number, y: number) => readonly number[]) => (content: Buffer): Buffer => Buffer.from(JSON.stringify(JSON.parse(content.toString('utf8')), (_key, value: unknown) =>
    (Array.isArray(value) && typeof value[0] === 'number' ? move(value[0], value[1] as number) : value)));

  it.each<[string, (x: number, y: number) => readonly number[], string, RegExp]>([
    ['with swapped axes', (x, y) => [y, x], 'coordinates_swapped', /swapped\?/],
    ['in metres with a CRS in degrees', (x, y) => [x * 80_000, y * 111_000], 'outside_italy', /metres\?/],
  ])('are reported by validate: %s', async (_what, move, code, message) => {
    expect(await verdictOn(FLOOD, moved(move))).toMatchObject({ ok: false, findings: [{ level: 'error', code, message: expect.stringMatching(message) }] });
  });

  it('are read without the height if the shapes have a height', async () => {
    expect(await verdictOn(FLOOD, moved((x, y) => [x, y, 812.5]))).toMatchObject({ ok: true, rejects: 0 });
    const path = join(folder(), basename(FLOOD));
    writeFileSync(path, moved((x, y) => [x, y, 812.5])(readFileSync(FLOOD)));
    const flood = sources.find(({ id }) => id === 'ispra_flood')!;
    const [flat, high] = [await trial(flood, FLOOD), await trial(flood, path)];
    expect(flat.collected!.members[0]!.rows).toBeGreaterThan(0);
    expect(high.collected!.rows).toEqual(flat.collected!.rows);
  });

  it('are rejected if the first position of a shape is in degrees with a CRS in metres, or has swapped axes', () => {
    const ring = (x: number, y: number, srid = 32_633): Buffer => {
      const bytes = Buffer.alloc(9 + 4 + 9 + 4 + 16);
      let at = bytes.writeUInt32LE(0x20000006, 1);
      at = bytes.writeUInt32LE(srid, at);
      at = bytes.writeUInt32LE(1, at);
      at = bytes.writeUInt32LE(3, at + 1);
      at = bytes.writeUInt32LE(1, at);
      at = bytes.writeUInt32LE(1, at);
      bytes.writeDoubleLE(y, bytes.writeDoubleLE(x, at));
      return bytes;
    };
    expect(metresMisplaced(ring(14.5, 41.7))).toMatchObject({ code: 'coordinates_in_degrees', message: expect.stringContaining('found 14.5 and 41.7: degrees?') });
    // The cases are the coordinates of San Felice del Molise in the publishers' projections. The projections are UTM 32 and 33, Gauss-Boaga west and east, two
    // national systems, the European system, and Web Mercator.
    for (const [srid, x, y] of [
      [32_632, 977_000, 4_658_000],
      [32_633, 474_000, 4_637_000],
      [3003, 1_977_000, 4_658_000],
      [3004, 2_494_000, 4_637_000],
      [6875, 7_223_000, 4_640_000],
      [6876, 3_223_000, 4_640_000],
      [3035, 4_712_000, 2_108_000],
      [3857, 1_638_000, 5_142_000],
    ] as const) {
      expect(metresMisplaced(ring(x, y, srid)), `EPSG:${srid}`).toBeNull();
      expect(metresMisplaced(ring(y, x, srid)), `EPSG:${srid}`).toMatchObject({ code: 'coordinates_swapped', message: expect.stringContaining('swapped?') });
    }
    expect(outsideItaly(100, 20)?.message).not.toContain('metres');
  });
});

it('bytes before a zip are reported, and the zip is read', async () => {
  const path = join(folder(), 'Z001_BORGO D`ESEMPIO.zip');
  writeFileSync(path, Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\n\r\n'), readFileSync(fixture('ade_cadastre/Z001_BORGO D`ESEMPIO.zip'))]));
  const [verdict] = await validate([path], sources, null, () => undefined);
  expect(verdict).toMatchObject({ ok: true, source: 'ade_cadastre' });
  expect(verdict!.findings).toContainEqual(expect.objectContaining({ level: 'warn', code: 'ZIP_STRAY_BYTES', message: '19 bytes before or after the zip archive' }));
  expect(verdict!.rows).toBeGreaterThan(0);
});

it('the settings for logs and for the test clock have defaults, and an invalid value is rejected with a usage error', () => {
  expect(() => readConfig({ MAPPALE_LOG: 'nonsense' })).toThrow(expect.objectContaining({ code: 'CONFIG_UNKNOWN', kind: 'usage', detail: 'expected human or json, found "nonsense"' }));
  expect([{}, { MAPPALE_LOG: 'json' }, { MAPPALE_LOG_LEVEL: 'warn' }].map((env) => readConfig(env).logLevel)).toEqual(['info', 'debug', 'warn']);
  expect([{}, { MAPPALE_TEST_CLOCK: '2026-12-01T02:15:00Z' }].map((env) => testClock(env))).toEqual([null, Date.UTC(2026, 11, 1, 2, 15)]);
  expect(() => testClock({ MAPPALE_TEST_CLOCK: 'noon' })).toThrow(expect.objectContaining({ code: 'CONFIG_UNKNOWN', at: 'MAPPALE_TEST_CLOCK' }));
  expect(() => readConfig({ MAPPALE_LOG_LEVEL: 'loud' })).toThrow(expect.objectContaining({ code: 'CONFIG_UNKNOWN', detail: 'expected debug, info or warn, found "loud"' }));
  expect(['json', 'human', ''].map((log) => readConfig({ MAPPALE_LOG: log }).log)).toEqual(['json', 'human', 'human']);
});
