import { expect, it } from 'vitest';
import { makeRegion } from '../../../pipelines/synthetic/make-region.ts';
import synthetic from '../../../sources/clc_land_cover/synthetic.ts';
import { expectClasses, type ClassRow } from '../../../test/harness/class-shares.ts';
import { describeWorkspace, syntheticFid } from '../../../test/harness/section-workspace.ts';
import { queryRecords } from '../../../test/harness/records.ts';

const region = makeRegion({ parcels: 3_000, seed: 7 });

describeWorkspace('the section land_cover', {
  region, sources: ['istat_comuni', 'istat_soppressi', 'istat_boundaries', 'clc_land_cover'], sql: ['sql/sections/land_cover/record.sql'],
}, async (workspace) => {
  for (const file of ['sql/core/comune_register.sql', 'sql/core/land_coverage.sql', 'sql/sections/land_cover/build.sql']) await workspace.run(file);
  await workspace.publish('land_cover', 'section.land_cover');
  await workspace.publish('land_coverage', 'core.land_coverage');
}, (built) => {
  it('matches the expected class of every synthetic land parcel, and gives no class to roads and water', async () => {
    const truth = synthetic.truth!(region);
    const rows = await queryRecords<ClassRow>(
      built.database,
      `select p.fid, (api.section_land_cover(p.fid, null::core.parcel)).value as json, api.coverage_land_cover(${region.code}, p.belfiore, p.point, null::core.parcel) as coverage from ${built.workspace.schema}.parcel p order by p.fid`,
    );
    expect(rows).toHaveLength(region.parcelCount);
    const expected: ClassRow[] = [...region.parcels()].map((parcel) => {
      const { land_cover: cover } = truth(parcel) as { land_cover: Record<string, unknown> | null };
      return { fid: syntheticFid(region, parcel.index), json: cover === null ? null : { ...cover, source: null }, coverage: 'mapped' };
    });
    expectClasses(rows, expected);
  });

  it('counts polygons outside Italy, and rejects unknown classes', async () => {
    expect(await built.database.query("select code, records::int4 as records from ledger.duplicate where code = 'beside_italy'")).toEqual([{ code: 'beside_italy', records: 3 }]);
    expect(await built.database.query("select code from ledger.reject join ledger.release using (release_id) where source_id = 'clc_land_cover'")).toEqual([{ code: 'code_invalid' }]);
  });
});
