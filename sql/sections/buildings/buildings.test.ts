import { expect, it } from 'vitest';
import { BuildingTruth, buildingSource } from '../../../pipelines/synthetic/buildings.ts';
import { makeRegion } from '../../../pipelines/synthetic/make-region.ts';
import { polygonsAreaM2 } from '../../../pipelines/synthetic/plane-geometry.ts';
import { describeWorkspace, syntheticFid } from '../../../test/harness/section-workspace.ts';

const region = makeRegion({ parcels: 6_000, seed: 7 });
const SOURCES = ['istat_comuni', 'istat_soppressi', 'istat_boundaries', 'dpc_buildings', 'igm_dbsn', 'trento_cadastre', 'bolzano_cadastre'];

interface Row extends Record<string, unknown> {
  readonly fid: number;
  readonly count: number;
  readonly footprint_m2: number;
  readonly residential_count: number | null;
  readonly residential_footprint_m2: number | null;
  readonly built_share: number;
  readonly roof_count: number;
  readonly roof_area_m2: number;
}

function near(found: number | null, wanted: number | null, within: number): boolean {
  return found === null || wanted === null ? found === wanted : Math.abs(found - wanted) <= within;
}

describeWorkspace('the section buildings', { region, sources: SOURCES, sql: [] }, async (workspace) => {
  for (const file of ['sql/core/comune_register.sql', 'sql/core/comune_catastale.sql', 'sql/core/building_coverage.sql', 'sql/sections/buildings/build.sql']) await workspace.run(file);
}, (built) => {
  it('uses the source with the highest precedence in each comune', async () => {
    const rows = await built.workspace.session((session) => session.query<{ belfiore: string; source: string | null }>('select belfiore, source from building_coverage order by 1'));
    const source = { topographic: 'igm_dbsn', register: 'trento_cadastre', aggregates: 'dpc_buildings' };
    expect(rows).toEqual(region.comuni.map((comune) => ({ belfiore: comune.belfiore, source: source[buildingSource(region, comune)!] ?? null })));
    expect(new Set(rows.map(({ source }) => source))).toEqual(new Set(['igm_dbsn', 'dpc_buildings', null]));
  });

  it('matches the expected values of every synthetic parcel', async () => {
    const truth = new BuildingTruth(region);
    const rows = new Map((await built.workspace.session((session) => session.query<Row>('select * from buildings'))).map((row) => [row.fid, row]));
    const wrong: string[] = [];
    const seen = { shared: 0, overlapping: 0, over: 0, unknown: 0 };
    let expected = 0;
    for (const parcel of region.parcels()) {
      const fid = syntheticFid(region, parcel.index);
      const [row, wanted] = [rows.get(fid), parcel.kind === 'land' ? truth.of(parcel) : null];
      if (row === undefined || wanted === null) {
        if (row !== undefined || wanted !== null) wrong.push(`${parcel.reference}: expected ${JSON.stringify(wanted)}, found ${JSON.stringify(row)}`);
        continue;
      }
      expected += 1;
      const uses = buildingSource(region, parcel.comune) === 'topographic';
      const holds = row.count === wanted.count
        && near(row.footprint_m2, wanted.footprintM2, 0.0101)
        && row.residential_count === (uses ? wanted.residentialCount : null)
        && near(row.residential_footprint_m2, uses ? wanted.residentialM2 : null, 0.0101)
        && near(row.built_share, wanted.builtShare, 2e-6)
        && row.roof_count === wanted.roofCount
        // Walls of 40 m are straight in the file's CRS, and expected walls are straight in degrees. The roof areas differ by a few thousandths of a square
        // metre.
        && near(row.roof_area_m2, wanted.roofM2, 5e-3);
      if (!holds) wrong.push(`${parcel.reference}: expected ${JSON.stringify(wanted)}, found ${JSON.stringify(row)}`);
      if (row.count === 0) seen.over += 1;
      if (row.roof_count < row.count) seen.shared += 1;
      if (row.residential_count === null) seen.unknown += 1;
      // The sum of the footprints exceeds the built area, because overlaps count once in the built area.
      if (row.footprint_m2 - row.built_share * polygonsAreaM2(parcel.polygons) > 1) seen.overlapping += 1;
    }
    expect(wrong.slice(0, 5)).toEqual([]);
    expect(rows.size).toBe(expected);
    for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(20);
  });
});
