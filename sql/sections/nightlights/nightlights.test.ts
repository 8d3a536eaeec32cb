import { expect, it } from 'vitest';
import { dropOthers } from '../../../pipelines/db/ddl.ts';
import { makeRegion } from '../../../pipelines/synthetic/make-region.ts';
import synthetic from '../../../sources/viirs_nightlights/synthetic.ts';
import { describeWorkspace, syntheticFid } from '../../../test/harness/section-workspace.ts';
import { queryRecords } from '../../../test/harness/records.ts';

const region = makeRegion({ parcels: 1_200, seed: 11 });
/** Workspace tables that the build of the section reads. */
const KEPT = [
  'region', 'published_parcel', 'current_member', 'current_file', 'current_place', 'parcel', 'comune_register', 'comune_code', 'comune_suppressed', 'boundary', 'radiance_tile', 'raster_tile',
];
const BUILD = 'sql/sections/nightlights/build.sql';

type Row = Readonly<{ fid: number; belfiore: string; ntl_parcel: number; ntl_mean_comune: number | null; ntl_ratio: number | null }>;

describeWorkspace('the section nightlights', {
  region, sources: ['viirs_nightlights', 'tinitaly_dem', 'copernicus_dem', 'gsa_pvout', 'istat_boundaries', 'istat_comuni', 'istat_soppressi'], sql: ['sql/sections/nightlights/record.sql'],
}, async (workspace, database) => {
  await workspace.run('sql/core/comune_register.sql');
  await workspace.run('sql/core/raster_tile.sql');
  await workspace.run(BUILD);
  await workspace.publish('nightlights', 'section.nightlights');
  await database.query('create or replace function api.raster_reaches(text, int4, geometry, anyelement) returns bool language sql immutable as $$ select true $$');
  // The kind of a parcel (land, road or water) is read from the published parcels.
  await database.query(`create table core.parcel_test partition of core.parcel for values from (${syntheticFid(region, 0)}) to (${syntheticFid(region, 99_999_999)})`);
  await database.query(`insert into core.parcel_test (fid, belfiore, sheet, attachment, development, label, reference, gml_id, kind, area_m2, made_valid, point, geom, document_id)
    select fid, belfiore, sheet, '0', '0', label, reference, gml_id, kind, area_m2, made_valid, point, geom, document_id from ${workspace.schema}.parcel`);
}, (built) => {
  const rows = (): Promise<{ fid: number; json: Record<string, unknown> | null }[]> => queryRecords(
    built.database,
    `select p.fid, (api.section_nightlights(p.fid, null::core.parcel)).value as json from ${built.workspace.schema}.parcel p order by p.fid`,
  );

  it('matches the expected values of every synthetic parcel', async () => {
    const truth = synthetic.truth!(region);
    const expected = [...region.parcels()].map((parcel) => {
      const truthful = truth(parcel)['nightlights'] as Record<string, unknown> | undefined;
      return { fid: syntheticFid(region, parcel.index), json: truthful === undefined ? null : { ...truthful, source: null } };
    });
    expect(await rows()).toEqual(expected);
    const classes = new Set(expected.map(({ json }) => (json as Record<string, unknown> | null)?.['ntl_class']));
    for (const each of ['dark', 'dim', 'medium', 'bright', 'very_bright']) expect(classes, each).toContain(each);
    expect(expected.some(({ json }) => (json as Record<string, unknown> | null)?.['available'] === false)).toBe(true);
  });

  it('gives no mean if no boundary of the comune is loaded, and uses the cell of the comune\'s point if no cell centre is inside the boundary', async () => {
    const [first, second] = region.comuni;
    const before = await built.database.query<{ fid: number; ntl_parcel: number }>('select fid, ntl_parcel from section.nightlights order by fid');
    await built.database.query('delete from layer.boundary where kind = $1 and code = $2', ['comune', first.istatCode]);
    // Replaces the boundary by a circle with a radius of about 1 m, around a point inside the comune.
    await built.database.query('update layer.boundary set geom = st_multi(st_buffer(st_pointonsurface(geom), 1e-5)) where kind = $1 and code = $2', ['comune', second.istatCode]);
    await built.workspace.session((session) => dropOthers(session, built.workspace.schema, new Set(KEPT)));
    await built.workspace.run(BUILD);
    const after = await built.workspace.session((session) => session.query<Row>(
      'select n.*, p.belfiore from nightlights n join parcel p using (fid) order by fid',
    ));
    expect(after.map(({ fid, ntl_parcel }) => ({ fid, ntl_parcel }))).toEqual(before);
    const of = (belfiore: string): typeof after => after.filter((row) => row.belfiore === belfiore);
    expect(of(first.belfiore).length).toBeGreaterThan(50);
    expect(new Set(of(first.belfiore).map((row) => `${row.ntl_mean_comune} ${row.ntl_ratio}`))).toEqual(new Set(['null null']));
    const [cell] = await built.workspace.session((session) => session.query<{ value: number | null; cells: number }>(
      'select value, cells from comune_radiance join outline using (id) where belfiore = $1', [second.belfiore],
    ));
    expect(cell!.cells).toBe(1);
    for (const { ntl_mean_comune: mean } of of(second.belfiore)) expect(mean).toBeCloseTo(cell!.value!, 2);
  });
});
