import { expect, it } from 'vitest';
import { makeRegion } from '../../../pipelines/synthetic/make-region.ts';
import { loadSynthetic, type Synthetic } from '../../../pipelines/synthetic/synthetic.ts';
import type { SyntheticParcel } from '../../../pipelines/synthetic/region.ts';
import { describeWorkspace, syntheticFid } from '../../../test/harness/section-workspace.ts';
import { queryRecords } from '../../../test/harness/records.ts';

const region = makeRegion({ parcels: 6_000, seed: 7 });
const SOURCES = ['istat_comuni', 'istat_soppressi', 'istat_boundaries', 'dpc_seismic', 'ispra_flood', 'ispra_landslide', 'ingv_mps04'];

/** Returns a function that merges the expected values of several sources into the expected section of a parcel. */
async function truthOf(ids: readonly string[]): Promise<(parcel: SyntheticParcel) => Record<string, unknown>> {
  const synthetics: Synthetic[] = await Promise.all(ids.map(loadSynthetic));
  const parts = synthetics.flatMap(({ truth }) => (truth === undefined ? [] : [truth(region)]));
  return (parcel) => {
    const risk: Record<string, unknown> = {};
    let coverage: Record<string, unknown> = {};
    for (const part of parts) {
      const found = (part(parcel)['risk'] ?? {}) as Record<string, unknown>;
      coverage = { ...coverage, ...(found['coverage'] as object | undefined) };
      Object.assign(risk, found);
    }
    return { ...risk, coverage };
  };
}

describeWorkspace('the section risk', { region, sources: SOURCES, sql: ['sql/sections/risk/record.sql'] }, async (workspace) => {
  await workspace.run('sql/core/comune_register.sql');
  await workspace.run('sql/core/coverage.sql');
  await workspace.run('sql/sections/risk/build.sql');
  await workspace.publish('risk', 'section.risk');
}, (built) => {
  it('gives every synthetic parcel its expected hazards, including roads and waters', async () => {
    const truth = await truthOf(SOURCES);
    const rows = await queryRecords<{ fid: number; json: Record<string, unknown> }>(built.database, `select p.fid, (api.section_risk(p.fid, null::core.parcel)).value as json from ${built.workspace.schema}.parcel p order by p.fid`);
    expect(rows).toHaveLength(region.parcelCount);
    const expected: { readonly fid: number; readonly json: Record<string, unknown> }[] = [...region.parcels()].map((parcel) => (
      { fid: syntheticFid(region, parcel.index), json: { ...truth(parcel), source: null } }
    ));
    // Shares are compared below, with a tolerance, because both the found and the expected shares are rounded to six decimals.
    const withoutShares = ({ fid, json }: { fid: number; json: Record<string, unknown> }): unknown => ({ fid, json: { ...json, flood_share: json['flood_share'] === null, landslide_share: json['landslide_share'] === null } });
    expect(rows.map(withoutShares)).toEqual(expected.map(withoutShares));
    const off = rows.flatMap(({ fid, json }, index) => ['flood_share', 'landslide_share'].flatMap((field) => {
      const [found, wanted] = [json[field], expected[index]!.json[field]] as [number | null, number | null];
      return Math.abs((found ?? 0) - (wanted ?? 0)) <= 2e-6 ? [] : [`${fid} ${field}: expected ${wanted}, found ${found}`];
    }));
    expect(off).toEqual([]);
    // Checks that the synthetic region has every case.
    const seen = (field: string): Set<unknown> => new Set(expected.map(({ json }) => json[field]));
    expect(seen('flood_level')).toEqual(new Set([null, 'P1', 'P2', 'P3', 'HPH']));
    expect(seen('landslide_level')).toEqual(new Set([null, 'AA', 'P1', 'P2', 'P3', 'P4']));
    expect(new Set(expected.map(({ json }) => (json['coverage'] as Record<string, string>)['landslide']))).toEqual(new Set(['mapped', 'not_mapped']));
    expect(seen('landslide_attention')).toEqual(new Set([true, false, null]));
    expect(seen('seismic_zone_exact')).toEqual(new Set([true, false]));
    for (const field of ['flood_share', 'landslide_share']) expect([...seen(field)].filter((share) => typeof share === 'number' && share > 0 && share < 1).length, field).toBeGreaterThan(100);
    expect(seen('pga').size).toBeGreaterThan(100);
  });

  it('gives the same levels as an overlay of complete polygons, for every twentieth parcel', async () => {
    const [found] = await built.workspace.session((session) => session.query<{ flood: number; landslide: number; hit: number }>(`
      with flood_naive as (
        select p.fid, (array['HPH', 'P1', 'P2', 'P3'])[max(array_position(array['HPH', 'P1', 'P2', 'P3'], h.class))] as level
        from parcel p join layer.flood_hazard h on h.release_id = (select release_id from ledger.release where source_id = 'ispra_flood') and st_area(st_intersection(h.geom, p.geom)::geography) > 0.5
        where p.fid % 20 = 3
        group by p.fid
      ),
      landslide_naive as (
        select p.fid, (array['AA', 'P1', 'P2', 'P3', 'P4'])[max(array_position(array['AA', 'P1', 'P2', 'P3', 'P4'], h.class))] as level
        from parcel p join layer.landslide_hazard h on h.release_id = (select release_id from ledger.release where source_id = 'ispra_landslide' and vintage = '2024') and st_area(st_intersection(h.geom, p.geom)::geography) > 0.5
        where p.fid % 20 = 3
        group by p.fid
      )
      select
        count(*) filter (where f.level is distinct from r.flood_level) as flood,
        count(*) filter (where l.level is distinct from r.landslide_level) as landslide,
        count(*) filter (where r.flood_level is not null or r.landslide_level is not null) as hit
      from risk r left join flood_naive f using (fid) left join landslide_naive l using (fid)
      where r.fid % 20 = 3`));
    expect(found).toMatchObject({ flood: 0, landslide: 0 });
    expect(found!.hit).toBeGreaterThan(50);
  });
});
