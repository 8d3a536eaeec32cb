import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import type { Database } from '../../../pipelines/db/index.ts';
import { makeRegion } from '../../../pipelines/synthetic/make-region.ts';
import synthetic from '../../../sources/egms_vertical/synthetic.ts';
import { describeDatabase } from '../../../test/harness/database.ts';
import { sectionWorkspace, syntheticFid, type SectionWorkspace } from '../../../test/harness/section-workspace.ts';

const region = makeRegion({ parcels: 2_000, seed: 11 });

describeDatabase('the section subsidence', (engine) => {
  let database: Database;
  let workspace: SectionWorkspace;

  beforeAll(async () => {
    database = await engine.openDatabase();
    workspace = await sectionWorkspace(database, {
      region, sources: ['egms_vertical'], sql: ['sql/sections/subsidence/record.sql'],
    });
    await workspace.run('sql/sections/subsidence/build.sql');
    await workspace.publish('subsidence', 'section.subsidence');
  });

  it('holds the synthetic truth of every parcel, of land, roads and water', async () => {
    const truth = synthetic.truth!(region);
    const rows = await database.query<{ fid: number; json: Record<string, unknown> | null }>(
      `select p.fid, (api.section_subsidence(p.fid)).value as json from ${workspace.schema}.parcel p order by p.fid`,
    );
    expect(rows).toHaveLength(region.parcelCount);
    const expected = [...region.parcels()].map((parcel) => {
      const { subsidence } = truth(parcel) as { subsidence: Record<string, unknown> | null };
      return { fid: syntheticFid(region, parcel.index), json: subsidence === null ? null : { ...subsidence, source: null } };
    });
    expect(rows).toEqual(expected);
    // The synthetic region must hold every case, or the comparison says less than it seems to.
    const seen = (field: string): Set<unknown> => new Set(expected.map(({ json }) => (json as Record<string, unknown> | null)?.[field] ?? null));
    expect(seen('risk_class')).toEqual(new Set([null, 1, 2, 3, 4, 5]));
    expect(seen('direction')).toEqual(new Set([null, 'stabile', 'subsidenza', 'sollevamento']));
    expect(seen('trend')).toEqual(new Set([null, 'stable', 'accelerating', 'decelerating']));
    expect([...seen('cells')].length).toBeGreaterThan(5);
    for (const boundary of [-2, 2, -5, -10, -20, 0]) expect(seen('velocity_mm_year'), `velocity ${boundary}`).toContain(boundary);
  });

  it('gives what the naive geometric join gives', async () => {
    const [difference] = await workspace.session((session) => session.query<{ rows: number; differing: number }>(`
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

  it('joins cells by their integers: hashed or merged, never cell by cell through geometry', async () => {
    const lines = await workspace.session((session) => {
      const file = readFileSync(new URL('../../../sql/sections/subsidence/build.sql', import.meta.url), 'utf8');
      const query = /create table subsidence as([\s\S]*?);\n\n/.exec(file)![1]!;
      return session.query<{ 'QUERY PLAN': string }>(`explain ${query}`);
    });
    const plan = lines.map((line) => line['QUERY PLAN']).join('\n');
    expect(plan).toMatch(/(Hash|Merge) Cond: .*ix.*iy|(Hash|Merge) Cond: .*iy.*ix/);
    expect(plan, 'cells are read once into the hash table, not once per parcel').toMatch(/->  Hash  .*\n\s+->  .*Anti Join.*\n(?:\s+.*Filter.*\n)?(?:\s+.*Cond.*\n)?\s+->  (Seq|Bitmap Heap) Scan on egms_cell/);
  });

  it('keeps the series with the best fit where a cell stands twice in a tile, and counts the others; of two tiles each keeps its own', async () => {
    const cells = await database.query<{ velocity: number; rows: number }>(
      `select mean_velocity_mm_year as velocity, count(*)::int4 as rows from layer.egms_cell
       where abs(mean_velocity_mm_year) in (99.9, 77.7, 55.5) and release_id = (select max(release_id) from ledger.release where vintage = $1) group by 1`,
      ['2020_2024'],
    );
    // What the neighbour's cells are said to be in a tile that repeats them, worse.
    expect(cells).toEqual([{ velocity: -77.7, rows: 3 }]);
    const duplicates = await database.query<{ code: string; records: number }>('select code, sum(records)::int4 as records from ledger.duplicate group by code');
    expect(duplicates).toHaveLength(1);
    expect(duplicates[0]!.code).toBe('cell_repeated');
    expect(duplicates[0]!.records).toBeGreaterThanOrEqual(3);
    const rejects = await database.query<{ code: string }>('select code from ledger.reject order by code');
    expect(rejects.map(({ code }) => code)).toEqual(['cell_not_on_grid', 'no_data']);
  });
});
