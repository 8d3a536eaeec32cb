/** Tests the releases of EGMS L3 Ortho, which have different headers. */
import { writeFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { testEnvironment } from '../../test/harness/environment.ts';
import { realData } from '../../test/harness/real-data.ts';
import { trial } from '../../test/harness/trial.ts';
import source from './source.ts';
import synthetic from './synthetic.ts';

/** Columns before the series, as published. */
const OLDER = 'pid,easting,northing,height,rmse,mean_velocity,mean_velocity_std,acceleration,acceleration_std,seasonality,seasonality_std';
const NEWER = 'pid,easting,northing,height_ortho,rmse_ts,mean_velocity,mean_velocity_std,acceleration,acceleration_std,seasonality,seasonality_std,gnss_velocity_n,gnss_velocity_e,gnss_velocity_u';
const RELEASES: readonly (readonly [years: string, header: string])[] = [['2018_2022', OLDER], ['2019_2023', OLDER], ['2020_2024', NEWER]];

const seed = testEnvironment().seed;
const random = randomOf('egms releases', seed);
const folder = mkdtempSync(join(tmpdir(), 'mappale-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the value of a column in a row. Each row is a different cell. */
function valueOf(column: string, row: number): string {
  if (column === 'pid') return `made00000${row}`;
  if (column === 'easting') return `${4_597_550 + 100 * row}`;
  if (column === 'northing') return '1739750';
  return ((column.length + row) / 10).toFixed(1);
}

/** Writes a tile with three rows, in the given order of columns. */
function tile(name: string, columns: readonly string[], dates: readonly string[] = ['20200103', '20200109']): string {
  const all = [...columns, ...dates];
  const path = join(folder, name);
  writeFileSync(path, [all, ...[1, 2, 3].map((row) => all.map((column) => valueOf(column, row)))].map((cells) => `${cells.join(',')}\n`).join(''));
  return path;
}

function shuffled<T>(values: readonly T[]): T[] {
  return values.map((value) => [random.next(), value] as const).sort(([a], [b]) => a - b).map(([, value]) => value);
}

const nameOf = (component: string, years: string): string => `EGMS_L3_E45N17_100km_${component}_${years}_1.csv`;

describe.each(RELEASES)(`an EGMS tile of %s (seed ${seed})`, (years, header) => {
  const columns = header.split(',');
  const expected = [1, 2, 3].map((row) => ({
    pid: `made00000${row}`, easting: 4_597_550 + 100 * row, northing: 1_739_750,
    height_m: Number(valueOf(columns[3]!, row)), rmse_mm: Number(valueOf(columns[4]!, row)), mean_velocity_mm_year: Number(valueOf('mean_velocity', row)),
    mean_velocity_std_mm_year: Number(valueOf('mean_velocity_std', row)), acceleration_mm_year2: Number(valueOf('acceleration', row)),
  }));

  it('is read when it is the U component, with any order of columns and any dates', async () => {
    const published = await trial(source, tile(nameOf('U', years), columns));
    expect(published.recognition).toMatchObject({ role: 'vertical', vintage: years, place: 'E45N17' });
    expect(published.collected!.rows['raw_egms_cell']).toMatchObject(expected);
    const moved = await trial(source, tile(nameOf('U', years), shuffled([...columns, '20210305', '20190101', '20220607']), []));
    expect(moved.collected!.rows['raw_egms_cell']).toMatchObject(expected);
  });

  it('is rejected when a column is missing, doubled or renamed', async () => {
    for (const [index, column] of columns.entries()) {
      const changes = {
        missing: columns.filter((_, at) => at !== index),
        renamed: columns.map((name, at) => (at === index ? `made_${name}` : name)),
        doubled: [...columns, column],
      };
      for (const [change, names] of Object.entries(changes)) {
        const { error } = await trial(source, tile(nameOf('U', years), names));
        expect(error?.code, `${column} ${change}`).toBe('COLUMNS_CHANGED');
      }
    }
  });

  it('is ignored with a reason when it is a horizontal component, with any columns', async () => {
    for (const names of [columns, [...columns, `made_${random.below(1_000_000)}`], columns.slice(0, 4)]) {
      for (const component of ['E', 'N']) {
        const { recognition, error } = await trial(source, tile(nameOf(component, years), names));
        expect(error).toBeNull();
        expect(recognition?.ignored, component).toContain('only the vertical component is read');
      }
    }
  });

  it('is ignored with a reason when it is a renamed E component, or the raster or metadata of a tile', async () => {
    expect((await trial(source, tile('naples_E.csv', columns))).recognition?.ignored).toContain('horizontal component E');
    for (const extension of ['tiff', 'tif', 'xml']) {
      expect((await trial(source, tile(nameOf('U', years).replace('csv', extension), columns))).recognition?.ignored).toContain('raster or metadata');
    }
  });
});

describe('EGMS files', () => {
  it('are rejected with a separate code if their level is 2, even under a name of level 3', async () => {
    const level2 = 'pid,mp_type,latitude,longitude,easting,northing,height_ortho,height_ellipse,line,pixel,rmse_ts,temporal_coherence,amplitude_dispersion,incidence_angle,track_angle,'
      + 'los_east,los_north,los_up,mean_velocity,mean_velocity_std,acceleration,acceleration_std,seasonality,seasonality_std,gnss_velocity';
    expect((await trial(source, tile(nameOf('U', '2020_2024'), level2.split(',')))).error?.code).toBe('EGMS_LEVEL');
  });

  it('have the header of their release, even in a synthetic region', async () => {
    const place = mkdtempSync(join(tmpdir(), 'mappale-test-'));
    await synthetic.write(makeRegion({ parcels: 200, seed: 3 }), place);
    const found = new Map<string, string>();
    for (const name of readdirSync(place).filter((each) => each.endsWith('.zip'))) {
      const zip = await ZipArchive.open(join(place, name));
      const [line = ''] = (await zip.buffer(name.replace(/zip$/, 'csv'))).toString('latin1').split('\n');
      await zip.close();
      found.set(/_([UE]_\d{4}_\d{4})/.exec(name)![1]!, line.split(',').filter((column) => !/^\d{8}$/.test(column)).join(','));
    }
    expect(Object.fromEntries(found)).toEqual({ U_2020_2024: NEWER, E_2020_2024: NEWER, U_2018_2022: OLDER });
    rmSync(place, { recursive: true });
  });

  const ustica = 'egms/EGMS_L3_E45N17_100km_U_2020_2024_1.zip';
  it.skipIf(realData(ustica) === null)('are read, such as the real tile of Ustica of 2020–2024 with 522 cells', async () => {
    const { collected, recognition } = await trial(source, realData(ustica)!);
    expect(recognition).toMatchObject({ vintage: '2020_2024', place: 'E45N17', dated: '001' });
    const rows = collected!.rows['raw_egms_cell']!;
    expect(rows).toHaveLength(522);
    expect(rows[0]).toMatchObject({ pid: '10LDTjEkDv', easting: 4_597_550, northing: 1_739_750, height_m: -47.8, rmse_mm: 2.7, mean_velocity_mm_year: -1.7, acceleration_mm_year2: 0.46 });
  });
});
