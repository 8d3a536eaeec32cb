import { describe, expect, it } from 'vitest';
import { makeRegion } from '../../../pipelines/synthetic/make-region.ts';
import copernicus from '../../../sources/copernicus_dem/synthetic.ts';
import tinitaly from '../../../sources/tinitaly_dem/synthetic.ts';
import { describeWorkspace, syntheticFid } from '../../../test/harness/section-workspace.ts';
import type { AreaSweep, CellRows } from '../../../pipelines/contract/sweep.ts';
import sweeps from './sweep.ts';
import { queryRecords } from '../../../test/harness/records.ts';

const region = makeRegion({ parcels: 1_500, seed: 11 });

/** Returns the values of an area that consists of the middle cells of the given windows. A window has nine cells. */
function gathered(windows: readonly (readonly number[])[], cellWidthM = 10, cellHeightM = 10): (number | string | null)[] {
  const accumulator = (sweeps[0] as AreaSweep).accumulator();
  for (const window of windows) {
    const [north, here, south] = [0, 3, 6].map((at) => Float64Array.from(window.slice(at, at + 3)));
    accumulator.add({ north, here, south, cellWidthM, cellHeightM } as CellRows, 1, 2);
  }
  return [...accumulator.take()];
}

const plane = (toEast: number, toSouth: number): number[] => [-1, 0, 1].flatMap((y) => [-1, 0, 1].map((x) => 100 + toEast * x + toSouth * y));

describe('the relief of cells', () => {
  const aspect = (...windows: readonly (readonly number[])[]): unknown => gathered(windows).at(-1);

  it('has a slope of 45° if the height rises by the size of a cell from one cell to the next, even if cells are not square', () => {
    expect(gathered([plane(10, 0)]).slice(4, 6)).toEqual([45, 45]);
    expect(gathered([plane(0, 30)], 20, 30)[4]).toBeCloseTo(45, 12);
    expect(gathered([plane(20, 0)], 20, 30)[4]).toBeCloseTo(45, 12);
  });

  it('has the octant of the downhill direction as its aspect, or in a tie the first octant clockwise from north', () => {
    const falls = { N: [0, 10], NE: [-10, 10], E: [-10, 0], SE: [-10, -10], S: [0, -10], SW: [10, -10], W: [10, 0], NW: [10, 10] } as const;
    for (const [name, [toEast, toSouth]] of Object.entries(falls)) expect(aspect(plane(toEast, toSouth)), name).toBe(name);
    expect(aspect(plane(10, 0), plane(0, -10))).toBe('S');
    expect(aspect(plane(10, 10), plane(0, 10), plane(10, 10), plane(0, 10))).toBe('N');
    expect(aspect(plane(10, 10), plane(0, 10), plane(10, 10))).toBe('NW');
  });

  it('has the aspect flat only if more than half of the cells have a slope below 1°', () => {
    expect(aspect(plane(0, 0), plane(0.1, 0), plane(0, -10))).toBe('flat');
    expect(aspect(plane(0, 0), plane(0, -10))).toBe('S');
    expect(aspect(plane(0, 0))).toBe('flat');
  });

  it('has a ruggedness that is computed from the differences to the eight neighbours', () => {
    const window = [1, 2, 3, 4, 10, 6, 7, 8, 9].map((value) => 100 + value);
    const differences = [9, 8, 7, 6, 4, 3, 2, 1];
    const values = gathered([window]) as number[];
    expect(values[6]).toBeCloseTo(Math.sqrt(differences.reduce((sum, value) => sum + value * value, 0)), 2);
    expect(values[7]).toBe(40 / 8);
  });

  it('has only an elevation for a cell that lacks a neighbour', () => {
    const edge = plane(10, 0);
    edge[2] = NaN;
    expect(gathered([edge])).toEqual([100, 100, 100, 0, null, null, null, null, null]);
    expect(gathered([edge, plane(0, 10)]).slice(4, 6)).toEqual([45, 45]);
    expect(gathered([[...edge.slice(0, 4), NaN, ...edge.slice(5)]])).toEqual(Array.from({ length: 9 }, () => null));
  });

  it('has the population standard deviation of the heights, without loss of precision at high elevations', () => {
    const windows = [2, 4, 4, 4, 5, 5, 7, 9].map((value) => [0, 0, 0, 0, value + 4000.5, 0, 0, 0, 0]);
    expect(gathered(windows)[3]).toBeCloseTo(2, 9);
  });
});

describeWorkspace('the section terrain', { region, sources: ['tinitaly_dem', 'copernicus_dem', 'gsa_pvout', 'viirs_nightlights'], sql: ['sql/sections/terrain/record.sql'] }, async (workspace, database) => {
  await workspace.run('sql/core/raster_tile.sql');
  await workspace.publish('raster_tile', 'core.raster_tile');
  await workspace.run('sql/sections/terrain/build.sql');
  await workspace.publish('terrain', 'section.terrain');
  await database.query('create or replace function api.raster_reaches(text, int4, geometry, anyelement) returns bool language sql immutable as $$ select true $$');
}, (built) => {
  it('matches the expected values of every synthetic parcel, with both models', async () => {
    const truths = [copernicus.truth!(region), tinitaly.truth!(region)];
    const rows = await queryRecords<{ fid: number; json: Record<string, unknown> | null; model: string | null }>(
      built.database,
      `select p.fid, (api.section_terrain(p.fid, null::core.parcel)).value as json, t.source_id as model from ${built.workspace.schema}.parcel p left join section.terrain t using (fid) order by p.fid`,
    );
    const expected = [...region.parcels()].map((parcel) => {
      const found = truths.map((truth) => truth(parcel)['terrain'] as Record<string, unknown> | undefined);
      return { fid: syntheticFid(region, parcel.index), json: found[1] ?? found[0] ?? null };
    });
    const truthful = rows.map(({ fid, json }) => ({ fid, json: json === null ? null : Object.fromEntries(Object.entries(json).filter(([name]) => name !== 'source')) }));
    expect(truthful).toEqual(expected);
    // Checks that the synthetic region has every case.
    const models = rows.map(({ model }) => model);
    for (const model of ['tinitaly_dem', 'copernicus_dem']) expect(models.filter((each) => each === model).length, model).toBeGreaterThan(50);
    const aspects = new Set(rows.map(({ json }) => json?.['aspect_predominant']));
    for (const aspect of ['N', 'NE', 'E', 'SE', 'S', 'SW', 'W', 'NW', 'flat']) expect(aspects, aspect).toContain(aspect);
  });
});
