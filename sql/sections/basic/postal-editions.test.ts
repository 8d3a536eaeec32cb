/** Uses small tables to test which edition determines a parcel's postal code, and to which parcel an access point belongs. */
import { beforeAll, expect, it } from 'vitest';
import type { Database } from '../../../pipelines/db/index.ts';
import { describeDatabase } from '../../../test/harness/database.ts';
import { freshContext } from '../../../test/harness/fresh-context.ts';
import { rolledBack } from '../../../test/harness/rolled-back.ts';
import { NO_MERGERS, sqlOf } from '../../../test/harness/sql.ts';

describeDatabase('the build of postal codes and addresses', (engine) => {
  let database: Database;
  beforeAll(async () => {
    ({ database } = await freshContext(engine));
  });

  const run = <T extends Record<string, unknown>>(setup: string, file: string, question: string): Promise<T[]> => rolledBack(database, async (session) => {
    await session.script(`create schema cases; set search_path to cases, public; ${setup}`, 'test');
    await session.script(sqlOf(file), file);
    return await session.query<T>(question);
  });

  // Parcels 1 and 2 are in Z001, parcel 3 in Z002, and parcel 4 in Z003. The points of consecutive parcels are 0.01° apart. The number of a file's member is
  // also the rank of the file.
  const codes = (rows: string): Promise<{ fid: number; cap: string; edition: string | null }[]> => run(`
    create table parcel (fid int4, belfiore text, point geometry(point, 4326));
    insert into parcel select fid, belfiore, st_setsrid(st_point(14 + fid * 0.01, 41), 4326) from (values (1, 'Z001'), (2, 'Z001'), (3, 'Z002'), (4, 'Z003')) as v (fid, belfiore);
    create index on parcel using gist (point);
    ${NO_MERGERS}
    create table comune_code (belfiore text);
    create table comune_register (old_istat_code text, istat_code text, belfiore text, divided bool);
    insert into comune_register values ('094001', '094001', 'Z001', false), ('094002', '094002', 'Z002', false), ('094099', '094002', 'Z002', false);
    create table comune_postal_code (member_id int4, edition text, belfiore text, istat_code text, cap text);
    create table postal_code_area (member_id int4, position int8, edition text, cap text, geom geometry(multipolygon, 4326));
    create table current_member as select n::int4 as member_id, 1 as release_id, n::int4 as file_id, n::int4 as rank from generate_series(1, 9) as n;
    ${rows}`, 'sql/sections/basic/build_postal_code.sql', 'select fid, cap, edition from postal_code order by fid');
  const area = (member: number, edition: string, cap: string, fid: number): string =>
    `insert into postal_code_area values (${member}, 1, '${edition}', '${cap}', st_multi(st_expand(st_setsrid(st_point(14 + ${fid} * 0.01, 41), 4326), 0.001)));`;

  it('keeps the postal codes of all other comuni when a newer list has only one comune', async () => {
    expect(await codes(`insert into comune_postal_code values
      (2, '2019', 'Z001', null, '86001'), (2, '2019', 'Z002', null, '86002'), (2, '2019', null, '094099', '86002'), (1, '2025', null, '094001', '86101');`)).toEqual([
      { fid: 1, cap: '86101', edition: '2025' }, { fid: 2, cap: '86101', edition: '2025' }, { fid: 3, cap: '86002', edition: '2019' },
    ]);
  });

  it('keeps the areas that a newer file lacks, and stores no edition for a list without a year', async () => {
    expect(await codes(`insert into comune_postal_code values (1, '0000', 'Z001', null, '86001'), (1, '0000', 'Z001', null, '86002');
      ${area(2, '2019', '86001', 1)} ${area(2, '2019', '86001', 2)} ${area(1, '2025', '86002', 2)} ${area(1, '2025', '86002', 4)}`)).toEqual([
      { fid: 1, cap: '86001', edition: '2019' }, { fid: 2, cap: '86002', edition: '2025' }, { fid: 4, cap: '86002', edition: '2025' },
    ]);
    expect(await codes("insert into comune_postal_code values (1, '0000', 'Z003', null, '86003');")).toEqual([{ fid: 4, cap: '86003', edition: null }]);
  });

  it('assigns an access point on the border of two parcels, or equally far from both, to the parcel with the first reference', async () => {
    const owners = (fids: readonly [number, number]): Promise<Record<string, unknown>[]> => run(`
      create table parcel (fid int4, belfiore text, kind text, reference text, area_m2 float8, geom geometry(multipolygon, 4326));
      insert into parcel values
        (${fids[0]}, 'Z001', 'land', 'Z001_000100.2', 100, st_multi(st_makeenvelope(14, 41, 14.0001, 41.0001, 4326))),
        (${fids[1]}, 'Z001', 'land', 'Z001_000100.10', 100, st_multi(st_makeenvelope(14.0001, 41, 14.0002, 41.0001, 4326)));
      create table access_point (address_id int8, belfiore text, geom geometry(point, 4326));
      insert into access_point values (1, 'Z001', st_setsrid(st_point(14.0001, 41.00005), 4326)), (2, 'Z001', st_setsrid(st_point(14.0001, 41.00015), 4326));`,
    'sql/sections/address/build.sql', 'select a.address_id, a.inside, p.reference from address a join parcel p using (fid) order by a.address_id');
    const first = [{ address_id: 1, inside: true, reference: 'Z001_000100.10' }, { address_id: 2, inside: false, reference: 'Z001_000100.10' }];
    expect(await owners([1, 2])).toEqual(first);
    expect(await owners([2, 1])).toEqual(first);
  });
});
