import { expect, it } from 'vitest';
import { makeRegion } from '../../../pipelines/synthetic/make-region.ts';
import synthetic from '../../../sources/ispra_shoreline/synthetic.ts';
import { describeWorkspace, syntheticFid } from '../../../test/harness/section-workspace.ts';
import { queryRecords } from '../../../test/harness/records.ts';
import { splitAt, sqlOf } from '../../../test/harness/sql.ts';

const region = makeRegion({ parcels: 6_000, seed: 7 });

interface Shore {
  readonly dynamic: string;
  readonly avg_change_m_year: number | null;
  readonly severity_index: number | null;
  readonly distance_m: number;
}

describeWorkspace('the section coastal_erosion', {
  region, sources: ['istat_comuni', 'istat_soppressi', 'istat_boundaries', 'ispra_shoreline'],
  sql: ['sql/sections/coastal_erosion/record.sql'],
}, async (workspace) => {
  for (const file of ['core/comune_register', 'core/shore_piece', 'core/coast_coverage', 'sections/coastal_erosion/build']) await workspace.run(`sql/${file}.sql`);
  await workspace.publish('coastal_erosion', 'section.coastal_erosion');
  await workspace.publish('coast_coverage', 'core.coast_coverage');
  await workspace.publish('parcel', 'core.parcel');
}, (built) => {
  it('gives every synthetic parcel the expected segments within 1,000 m, at most five, nearest first', async () => {
    const truth = synthetic.truth!(region);
    const rows = await queryRecords<{ fid: number; json: Shore[] }>(built.database, `select p.fid, (api.section_coastal_erosion(p.fid, null::core.parcel)).value as json from ${built.workspace.schema}.parcel p order by p.fid`);
    expect(rows).toHaveLength(region.parcelCount);
    const parcels = [...region.parcels()];
    const counts = new Set<number>();
    const severities = new Set<unknown>();
    let farthest = 0;
    for (const [index, { fid, json }] of rows.entries()) {
      const expected = truth(parcels[index]!)['coastal_erosion'] as Shore[];
      expect(fid).toBe(syntheticFid(region, index));
      expect(json.map(({ dynamic, avg_change_m_year, severity_index }) => [dynamic, avg_change_m_year, severity_index]), `${fid}`)
        .toEqual(expected.map(({ dynamic, avg_change_m_year, severity_index }) => [dynamic, avg_change_m_year, severity_index]));
      // The database finds the nearest point on the sphere, and the expected point is computed in the plane. The two results differ by millimetres.
      json.forEach(({ distance_m }, place) => expect(Math.abs(distance_m - expected[place]!.distance_m), `${fid}`).toBeLessThan(0.011));
      counts.add(json.length);
      for (const shore of json) severities.add(shore.severity_index);
      farthest = Math.max(farthest, ...json.map(({ distance_m }) => distance_m));
    }
    expect(counts).toContain(0);
    expect(counts).toContain(5);
    expect(severities).toEqual(new Set([0, 1, 2, 3, 4, null]));
    expect(farthest).toBeGreaterThan(950);
    expect(farthest).toBeLessThanOrEqual(1000);
  });

  it('finds the same segments as a query that computes all distances', async () => {
    const [found] = await built.workspace.session((session) => session.query<{ differing: number; rows: number }>(`
      with naive as (
        select p.fid, row_number() over (partition by p.fid order by round(d.m::numeric, 2), coalesce(s.avg_change_m_year, case s.dynamic when 'stable' then 0 end), s.dynamic collate "C") as ordinal, s.dynamic, round(d.m::numeric, 2)::float8 as distance_m
        from parcel p
        cross join shoreline_segment s
        cross join lateral (select st_distance(p.geom::geography, s.geom::geography) as m) d
        where p.fid % 10 = 3 and s.dynamic is not null and round(d.m::numeric, 2) <= 1000
      )
      select count(*) filter (where n.fid is null or c.fid is null or n.dynamic <> c.dynamic or abs(n.distance_m - c.distance_m) > 0.011) as differing, count(*) as rows
      from (select * from naive where ordinal <= 5) n
      full join (select * from coastal_erosion where fid % 10 = 3) c using (fid, ordinal)`));
    expect(found!.differing).toBe(0);
    expect(found!.rows).toBeGreaterThan(100);
  });

  it('reads pieces of the shore first and finds parcels with an index', async () => {
    // Reads the table shore_piece, which shore_piece.sql created in the workspace.
    const { query } = splitAt(sqlOf('sql/sections/coastal_erosion/build.sql'), 'shore_pair');
    const plan = await built.workspace.session((session) => session.query<{ 'QUERY PLAN': string }>(`explain ${query}`));
    const text = plan.map((line) => line['QUERY PLAN']).join('\n');
    expect(text).toMatch(/Nested Loop[\s\S]*Seq Scan on shore_piece[\s\S]*Index Scan using \S+ on parcel/);
  });
});
