import { expect, it } from 'vitest';
import { makeRegion } from '../../../pipelines/synthetic/make-region.ts';
import synthetic from '../../../sources/gsa_pvout/synthetic.ts';
import { describeWorkspace, syntheticFid } from '../../../test/harness/section-workspace.ts';
import { queryRecords } from '../../../test/harness/records.ts';

const region = makeRegion({ parcels: 800, seed: 3 });

describeWorkspace('the section solar', { region, sources: ['gsa_pvout'], sql: ['sql/sections/solar/record.sql'] }, async (workspace) => {
  // Land parcels have roofs of 10 m² and more if their fid is divisible by 3 but not by 5. All other parcels have no building, or only smaller sheds, which are
  // ignored.
  await workspace.session((session) => session.query(
    'create table buildings as select fid, (fid % 3 = 0)::int4 * (1 + fid % 4) as roof_count, (fid % 3 = 0)::int4 * (10 + fid % 1000 / 7.0::float8) as roof_area_m2 from parcel where kind = $1 and fid % 5 > 0',
    ['land'],
  ));
  await workspace.run('sql/sections/solar/build.sql');
  await workspace.publish('solar', 'section.solar');
}, (built) => {
  it('multiplies the peak power of roofs of at least 10 m² by the yield interpolated between four cells, and classifies the rounded yield', async () => {
    const truth = synthetic.truth!(region);
    const kwhOf = new Map([...region.parcels()].map((parcel) => [syntheticFid(region, parcel.index), truth(parcel)['pvout_kwh_per_kwp'] as number | undefined]));
    const rows = await queryRecords<{ fid: number; area: number; roofs: number; json: Record<string, unknown> }>(
      built.database,
      `select b.fid, b.roof_area_m2 as area, b.roof_count as roofs, (api.section_solar(b.fid, null::core.parcel)).value as json from ${built.workspace.schema}.buildings b where b.roof_count > 0 order by b.fid`,
    );
    expect(rows.length).toBeGreaterThan(150);
    const classes = new Set<unknown>();
    for (const { fid, area, roofs, json } of rows) {
      const kwh = kwhOf.get(fid)!;
      const kwp = area * 0.45 * 0.21;
      const printed = Math.round(kwh);
      expect(json, String(fid)).toMatchObject({
        available: true, n_buildings: roofs, pvout_kwh_per_kwp: printed, methodology_version: '1', viability_class: printed >= 1400 ? 'alta' : printed >= 1200 ? 'media' : 'bassa',
      });
      expect(json['roof_area_m2']).toBeCloseTo(area, 2);
      expect(json['kwp_max_total']).toBeCloseTo(kwp, 2);
      expect(Math.abs((json['pvout_kwh_year_total'] as number) - kwp * kwh)).toBeLessThan(0.51);
      classes.add(json['viability_class']);
    }
    expect(classes).toEqual(new Set(['alta', 'media', 'bassa']));
    const [others] = await built.database.query<{ n: number }>(`select count(*) as n from section.solar s join ${built.workspace.schema}.buildings b using (fid) where b.roof_count = 0`);
    expect(others!.n).toBe(0);
  });
});
