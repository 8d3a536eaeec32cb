import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { makeRegion } from '../../../pipelines/synthetic/make-region.ts';
import synthetic from '../../../sources/egms_vertical/synthetic.ts';
import { describeWorkspace, syntheticFid } from '../../../test/harness/section-workspace.ts';
import { queryRecords } from '../../../test/harness/records.ts';

const region = makeRegion({ parcels: 2_000, seed: 11 });

/** Rounds a mean to two decimals, with halves away from zero. The result is never −0. */
function printed(mean: number): number {
  const hundredths = Math.round(Math.abs(mean) * 100 + 1e-9);
  return hundredths === 0 ? 0 : (Math.sign(mean) * hundredths) / 100;
}

/**
 * Returns risk class, trend and direction for the two rounded means, according to the rules in section.ts. If the ground is at rest, any acceleration of more
 * than 0.1 mm/year² is classified as accelerating.
 */
function classesOf(velocity: number, acceleration: number): Record<string, unknown> {
  const limits = [2, 5, 10, 20];
  const moving = velocity > 2 ? 'sollevamento' : velocity < -2 ? 'subsidenza' : 'stabile';
  const faster = velocity === 0 || velocity * acceleration > 0;
  return {
    risk_class: 1 + limits.filter((limit) => -velocity >= limit).length,
    direction: moving,
    trend: Math.abs(acceleration) > 0.1 ? (faster ? 'accelerating' : 'decelerating') : 'stable',
  };
}

describeWorkspace('the section subsidence', {
  region, sources: ['egms_vertical'], sql: ['sql/sections/subsidence/record.sql'],
}, async (workspace) => {
  await workspace.run('sql/sections/subsidence/build.sql');
  await workspace.publish('subsidence', 'section.subsidence');
}, (built) => {
  it('gives every synthetic parcel its expected ground motion, including roads and waters', async () => {
    const truth = synthetic.truth!(region);
    const rows = await queryRecords<{ fid: number; json: Record<string, unknown> | null }>(
      built.database,
      `select p.fid, (api.section_subsidence(p.fid, null::core.parcel)).value as json from ${built.workspace.schema}.parcel p order by p.fid`,
    );
    expect(rows).toHaveLength(region.parcelCount);
    const expected = [...region.parcels()].map((parcel) => {
      const { subsidence } = truth(parcel) as { subsidence: Record<string, unknown> | null };
      return { fid: syntheticFid(region, parcel.index), json: subsidence === null ? null : { ...subsidence, source: null } };
    });
    expect(rows).toEqual(expected);
    // Checks that the synthetic region has every case.
    const seen = (field: string): Set<unknown> => new Set(expected.map(({ json }) => (json as Record<string, unknown> | null)?.[field] ?? null));
    expect(seen('risk_class')).toEqual(new Set([null, 1, 2, 3, 4, 5]));
    expect(seen('direction')).toEqual(new Set([null, 'stabile', 'subsidenza', 'sollevamento']));
    expect(seen('trend')).toEqual(new Set([null, 'stable', 'accelerating', 'decelerating']));
    expect([...seen('cells')].length).toBeGreaterThan(5);
    for (const boundary of [-2, 2, -5, -10, -20, 0]) expect(seen('velocity_mm_year'), `velocity ${boundary}`).toContain(boundary);
  });

  it('returns the same velocities and cell counts as a spatial join, for every tenth parcel', async () => {
    const [difference] = await built.workspace.session((session) => session.query<{ rows: number; differing: number }>(`
      with naive as (
        select p.fid, round((sum(o.w * e.mean_velocity_mm_year) / sum(o.w))::numeric, 2)::float8 as velocity, count(*) as cells
        from parcel p
        join (select distinct on (ix, iy) * from egms_cell order by ix, iy, rmse_mm) e on st_intersects(st_transform(p.geom, 3035), st_makeenvelope(e.ix * 100, e.iy * 100, e.ix * 100 + 100, e.iy * 100 + 100, 3035))
        cross join lateral (select st_area(st_intersection(st_transform(p.geom, 3035), st_makeenvelope(e.ix * 100, e.iy * 100, e.ix * 100 + 100, e.iy * 100 + 100, 3035))) as w) o
        where p.fid % 10 = 3 and o.w >= 0.01
        group by p.fid
      )
      select count(*) as rows, count(*) filter (where n.fid is null or s.fid is null or n.velocity <> s.velocity_mm_year or n.cells <> s.cells) as differing
      from naive n full join (select * from subsidence where fid % 10 = 3) s using (fid)`));
    expect(difference!.differing).toBe(0);
    expect(difference!.rows).toBeGreaterThan(100);
  });

  it('joins cells by integers, and reads all cells once into a hash table', async () => {
    const lines = await built.workspace.session((session) => {
      const file = readFileSync(new URL('../../../sql/sections/subsidence/build.sql', import.meta.url), 'utf8');
      const query = /create table subsidence as([\s\S]*?);\n\n/.exec(file)![1]!;
      return session.query<{ 'QUERY PLAN': string }>(`explain ${query}`);
    });
    const plan = lines.map((line) => line['QUERY PLAN']).join('\n');
    expect(plan).toMatch(/(Hash|Merge) Cond: .*ix.*iy|(Hash|Merge) Cond: .*iy.*ix/);
    expect(plan, 'reads cells once into the hash table instead of once per parcel').toMatch(/->  Hash  .*\n\s+->  .*Anti Join.*\n(?:\s+.*Filter.*\n)?(?:\s+.*Cond.*\n)?\s+->  (Seq|Bitmap Heap) Scan on egms_cell/);
  });

  it('keeps the series with the best fit if a cell is twice in one tile, and both series if the cell is in two tiles', async () => {
    const cells = await built.database.query<{ velocity: number; rows: number }>(
      `select mean_velocity_mm_year as velocity, count(*)::int4 as rows from layer.egms_cell
       where abs(mean_velocity_mm_year) in (99.9, 77.7, 55.5) and release_id = (select max(release_id) from ledger.release where vintage = $1) group by 1`,
      ['2020_2024'],
    );
    // One synthetic tile contains copies of three cells of other tiles, with a worse fit.
    expect(cells).toEqual([{ velocity: -77.7, rows: 3 }]);
    const duplicates = await built.database.query<{ code: string; records: number }>('select code, sum(records)::int4 as records from ledger.duplicate group by code');
    expect(duplicates).toHaveLength(1);
    expect(duplicates[0]!.code).toBe('cell_repeated');
    expect(duplicates[0]!.records).toBeGreaterThanOrEqual(3);
    const rejects = await built.database.query<{ code: string }>('select code from ledger.reject order by code');
    expect(rejects.map(({ code }) => code)).toEqual(['cell_not_on_grid', 'no_data']);
  });

  // This test is last, because the test changes the cells.
  it('derives trend, direction and class from the rounded means, and ignores the sign of a velocity that is rounded to 0', async () => {
    const near = (limit: number): number[] => [limit - 0.006, limit - 0.004, limit, limit + 0.004, limit + 0.006];
    const velocities = [-0.004, -0, 0, 0.004, ...[0, -2, 2, -5, -10, -20].flatMap(near)];
    const accelerations = [-0.3, ...near(-0.1), -0.004, 0, ...near(0.1), 0.3];
    const cases = velocities.flatMap((velocity) => accelerations.map((acceleration) => ({ velocity, acceleration })));
    await built.workspace.session(async (session) => {
      for (const relation of ['cell_share', 'subsidence', 'worse', 'bounds']) await session.query(`drop ${relation === 'cell_share' ? 'view' : 'table'} if exists ${relation} cascade`);
      // Assigns one case to each cell. Parcels on a single cell show the values of the cell.
      await session.query(`update egms_cell set mean_velocity_mm_year = c.velocity, acceleration_mm_year2 = c.acceleration
        from unnest($1::float8[], $2::float8[]) with ordinality as c (velocity, acceleration, n) where c.n - 1 = (ix * 7 + iy * 1009) % $3`,
      [cases.map((each) => each.velocity), cases.map((each) => each.acceleration), cases.length]);
    });
    await built.workspace.run('sql/sections/subsidence/build.sql');
    const rows = await built.workspace.session((session) => session.query<Record<string, number>>(`
      select s.*, c.velocity, c.acceleration from subsidence s join cell_share c using (fid) where s.cells = 1`));
    expect(new Set(rows.map(({ velocity, acceleration }) => `${velocity} ${acceleration}`)).size).toBeGreaterThan(cases.length / 3);
    expect(rows.filter(({ velocity, acceleration }) => Math.abs(velocity!) === 0.004 && Math.abs(acceleration!) === 0.3).length).toBeGreaterThan(1);
    const off = rows.flatMap(({ fid, velocity, acceleration, velocity_mm_year, acceleration_mm_year2, risk_class, direction, trend }) => {
      const [mean, change] = [printed(velocity!), printed(acceleration!)];
      const [found, wanted] = [
        { velocity_mm_year, acceleration_mm_year2, risk_class, direction, trend },
        { velocity_mm_year: mean, acceleration_mm_year2: change, ...classesOf(mean, change) },
      ].map((each) => JSON.stringify(Object.entries(each).sort()));
      return found === wanted && !Object.is(velocity_mm_year, -0) ? [] : [`${fid}, ${velocity} and ${acceleration}: expected ${wanted}, found ${found}`];
    });
    expect(off).toEqual([]);
  });
});
