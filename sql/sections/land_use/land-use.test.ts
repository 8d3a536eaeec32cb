import { expect, it } from 'vitest';
import { makeRegion } from '../../../pipelines/synthetic/make-region.ts';
import synthetic from '../../../sources/urban_atlas/synthetic.ts';
import { expectClasses, type ClassRow } from '../../../test/harness/class-shares.ts';
import { describeWorkspace, syntheticFid } from '../../../test/harness/section-workspace.ts';
import { queryRecords } from '../../../test/harness/records.ts';

const region = makeRegion({ parcels: 3_000, seed: 7 });

describeWorkspace('the section land_use', {
  region, sources: ['urban_atlas'], sql: ['sql/sections/land_use/record.sql'],
}, async (workspace) => {
  for (const file of ['sql/core/urban_area.sql', 'sql/sections/land_use/build.sql']) await workspace.run(file);
  await workspace.publish('land_use', 'section.land_use');
  await workspace.publish('urban_area', 'core.urban_area');
}, (built) => {
  it('matches the expected class of every synthetic land parcel, inside and outside the mapped urban area', async () => {
    const truth = synthetic.truth!(region);
    const rows = await queryRecords<ClassRow>(
      built.database,
      `select p.fid, (api.section_land_use(p.fid, null::core.parcel)).value as json, api.coverage_land_use(${region.code}, p.belfiore, p.point, null::core.parcel) as coverage from ${built.workspace.schema}.parcel p order by p.fid`,
    );
    expect(rows).toHaveLength(region.parcelCount);
    const expected: ClassRow[] = [...region.parcels()].map((parcel) => {
      const { land_use: use, coverage } = truth(parcel) as { land_use: Record<string, unknown> | null; coverage: Record<string, string> };
      return { fid: syntheticFid(region, parcel.index), json: use === null ? null : { ...use, source: null }, coverage: coverage['land_use'] === 'mapped' ? 'mapped' : null };
    });
    expectClasses(rows, expected);
  });

  it('rejects polygons of areas without a satellite image', async () => {
    expect(await built.database.query('select code from ledger.reject')).toEqual([{ code: 'no_data' }]);
  });
});
