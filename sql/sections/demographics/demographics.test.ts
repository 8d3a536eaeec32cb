import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { makeRegion } from '../../../pipelines/synthetic/make-region.ts';
import synthetic from '../../../sources/istat_census/synthetic.ts';
import { describeWorkspace, syntheticFid } from '../../../test/harness/section-workspace.ts';
import { queryRecords } from '../../../test/harness/records.ts';

const region = makeRegion({ parcels: 4_400, seed: 5 });

describeWorkspace('the section demographics', {
  region, sources: ['istat_census'], sql: ['sql/migrations/0016_demographics.sql', 'sql/sections/demographics/record.sql'],
}, async (workspace) => {
  await workspace.run('sql/core/census_figures.sql');
  await workspace.run('sql/sections/demographics/build.sql');
  await workspace.publish('census_figures', 'core.census_figures');
  await workspace.publish('demographics', 'section.demographics');
}, (built) => {
  it('matches the expected values of every synthetic parcel', async () => {
    const truth = synthetic.truth!(region);
    const rows = await queryRecords<{ fid: number; json: Record<string, unknown> | null }>(
      built.database,
      `select p.fid, x.value as json from ${built.workspace.schema}.parcel p cross join lateral api.section_demographics(p.fid, null::core.parcel) x order by p.fid`,
    );
    const expected = [...region.parcels()].map((parcel) => {
      const { demographics } = truth(parcel) as { demographics: Record<string, unknown> | null };
      return { fid: syntheticFid(region, parcel.index), json: demographics === null ? null : { ...demographics, source: null } };
    });
    expect(rows).toEqual(expected);
    const objects = expected.flatMap(({ json }) => (json === null ? [] : [json as Record<string, unknown>]));
    // Checks that the synthetic region has every case.
    expect(objects.length).toBeGreaterThan(3_000);
    expect(expected.length - objects.length).toBeGreaterThan(100);
    expect(objects.some((json) => json['population_total'] === 0)).toBe(true);
    expect(objects.some((json) => String(json['section_id']).slice(-7).startsWith('500')), 'an enclave').toBe(true);
  });

  it('assigns no census section to roads and waters, and computes shares that add up to 1 in each section', async () => {
    const [found] = await built.workspace.session((session) => session.query<{ others: number; sections: number; off: number }>(`
      select
        (select count(*) from demographics d join parcel p using (fid) where p.kind <> 'land') as others,
        count(*) as sections,
        count(*) filter (where abs(share - 1) > 1e-4) as off
      from (select section_id, sum(parcel_share) as share from demographics group by section_id) s`));
    expect(found!.others).toBe(0);
    expect(found!.off, 'computes shares that add up to 1 in each section').toBe(0);
    expect(found!.sections).toBeGreaterThan(20);
  });

  it('never uses a fictitious section, although it covers parcels', async () => {
    const [found] = await built.workspace.session((session) => session.query<{ under: number; matched: number }>(`
      select
        (select count(*) from parcel p join census_section s on s.fictitious and st_covers(s.geom, p.point)) as under,
        (select count(*) from demographics where right(section_id, 7) in ('8888888', '9999999')) as matched`));
    expect(found!.under).toBeGreaterThan(100);
    expect(found!.matched).toBe(0);
  });

  it('returns the same result as one lookup per parcel', async () => {
    const [found] = await built.workspace.session((session) => session.query<{ differing: number; rows: number }>(`
      select count(*) as rows, count(*) filter (where d.section_id is distinct from n.section_id) as differing
      from (
        select p.fid, (select s.section_id from census_section s where not s.fictitious and st_intersects(p.point, s.geom) order by s.section_id collate "C" limit 1) as section_id
        from parcel p where p.kind = 'land'
      ) n
      left join demographics d using (fid)`));
    expect(found!.differing).toBe(0);
    expect(found!.rows).toBeGreaterThan(4_000);
  });

  it('reads sections first and finds parcels with the index of their points', async () => {
    const plan = await built.workspace.session(async (session) => {
      const file = readFileSync(new URL('../../../sql/sections/demographics/build.sql', import.meta.url), 'utf8');
      const query = /create table demographics as([\s\S]*?);\n\n/.exec(file)![1]!;
      return (await session.query<{ 'QUERY PLAN': string }>(`explain ${query}`)).map((line) => line['QUERY PLAN']).join('\n');
    });
    expect(plan).toMatch(/Nested Loop[\s\S]*Scan on census_section[\s\S]*Index Scan using \w+ on parcel/);
  });

  it('counts repeated and rejected rows and repairs invalid polygons', async () => {
    expect(await built.database.query('select code, records::int4 as records from ledger.duplicate order by code')).toEqual([{ code: 'section_repeated', records: 1 }]);
    expect(await built.database.query('select code from ledger.reject')).toEqual([{ code: 'population_total_invalid' }]);
    const [repaired] = await built.database.query<{ n: number; valid: boolean }>('select count(*) filter (where made_valid)::int4 as n, bool_and(st_isvalid(geom)) as valid from layer.census_section');
    expect(repaired!.n).toBeGreaterThan(0);
    expect(repaired!.valid).toBe(true);
  });

  it('treats a missing row as zeros only in the edition of 2021', async () => {
    await built.database.session(async (session) => {
      await session.query('create schema rule');
      await session.query('set search_path to rule, public');
      await session.query(`create view region as select ${region.code}::int2 as code, 'x'::text as name`);
      await session.query('create view current_member as select member_id, 1 as rank from ledger.member');
      await session.query('create table census_section as select * from layer.census_section where not fictitious order by section_id limit 3');
      await session.query('update census_section set population = case when section_id = (select min(section_id) from census_section) then 0 else population end');
      const run = async (year: number): Promise<{ section_id: string; population_total: number; reference_year: number }[]> => {
        await session.query('drop table if exists census_indicator');
        await session.query('drop table if exists census_figures');
        // Only the last of the three sections has a row in the file. The table of geometries has residents in the second section.
        await session.query('create table census_indicator as select * from layer.census_indicator where section_id = (select max(section_id) from census_section)');
        await session.query(`insert into census_indicator select * from layer.census_indicator where not exists (select from census_indicator) and right(section_id, 7) < '5' limit 1`);
        await session.query(`update census_indicator set reference_year = ${year}, section_id = (select max(section_id) from census_section)`);
        await session.query('update census_section set population = 7 where section_id = (select section_id from census_section order by section_id offset 1 limit 1)');
        await session.script(readFileSync(new URL('../../../sql/core/census_figures.sql', import.meta.url), 'utf8'), 'census_figures.sql');
        return session.query('select section_id, population_total, reference_year from census_figures order by section_id');
      };
      const in2021 = await run(2021);
      expect(in2021).toHaveLength(2);
      expect(in2021[0]).toMatchObject({ population_total: 0, reference_year: 2021 });
      expect(in2021[1]!.population_total).toBeGreaterThan(0);
      const in2023 = await run(2023);
      expect(in2023).toHaveLength(1);
      expect(in2023[0]).toMatchObject({ section_id: in2021[1]!.section_id, reference_year: 2023 });
    });
  });
});
