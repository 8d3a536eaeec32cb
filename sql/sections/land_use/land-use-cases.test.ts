/** Tests edge cases of the section land_use, with rectangular parcels, polygons and boundaries. */
import { beforeAll, expect, it } from 'vitest';
import type { Database } from '../../../pipelines/db/index.ts';
import { describeDatabase } from '../../../test/harness/database.ts';
import { createTables } from '../../../test/harness/functions.ts';
import { rolledBack } from '../../../test/harness/rolled-back.ts';
import { sqlOf } from '../../../test/harness/sql.ts';
import { inAllRegions } from '../../../test/harness/records.ts';

const SETUP = `
  create schema cases;
  set search_path to cases, public;
  create table region as select 14::int2 as code, 'Molise' as name;
  create table parcel (fid int4, kind text default 'land', area_m2 float8, point geometry(point, 4326), geom geometry(multipolygon, 4326), belfiore text default 'Z001');
  create table land_use_piece (release_id int4 default 1, member_id int4 default 1, position int8, code text, geom geometry(polygon, 4326));
  create table land_use_class (release_id int4 default 1, member_id int4 default 1, position int8 default 1, code text, class text);
  create table urban_boundary_piece (release_id int4 default 1, member_id int4 default 2, position int8 default 1, geom geometry(polygon, 4326));
  create index on parcel using gist (geom);
  create index on land_use_piece using gist (geom);
  insert into land_use_class (member_id, code, class) values (1, '11100', 'Continuous'), (1, '12220', 'Other roads'), (3, '11100', 'CONTINUOUS');
`;

type Box = readonly [west: number, south: number, east: number, north: number];

/** A box in units of 0.0002° (16 by 22 m) from 10° E 44° N. */
const envelope = ([west, south, east, north]: Box): string => `st_makeenvelope(${10 + west * 0.0002}, ${44 + south * 0.0002}, ${10 + east * 0.0002}, ${44 + north * 0.0002}, 4326)`;

const parcel = (fid: number, box: Box, kind = 'land'): string => `insert into parcel (fid, kind, area_m2, point, geom)
  select ${fid}, '${kind}', st_area(st_transform(g, 3035)), st_pointonsurface(g), st_multi(g) from (select ${envelope(box)} as g) as drawn;`;

const polygon = (position: number, code: string, box: Box, member = 1): string => `insert into land_use_piece (member_id, position, code, geom) values (${member}, ${position}, '${code}', ${envelope(box)});`;

describeDatabase('the build of the section land_use', (engine) => {
  let database: Database;
  beforeAll(async () => {
    database = await engine.openDatabase();
    await database.session(createTables);
    await database.session(async (session) => {
      await session.query('create schema if not exists api');
      await session.query('set check_function_bodies to off');
      await session.script(sqlOf('sql/sections/land_use/record.sql'), 'sql/sections/land_use/record.sql');
    });
  });

  const inCase = <T>(statements: readonly string[], query: string): Promise<T[]> => rolledBack(database, async (session) => {
    await session.script(SETUP, 'setup');
    await session.script(statements.join('\n'), 'test');
    await session.script(sqlOf('sql/sections/land_use/build.sql'), 'sql/sections/land_use/build.sql');
    await session.script(sqlOf('sql/core/urban_area.sql'), 'sql/core/urban_area.sql');
    return (await session.query(query)) as T[];
  });
  const uses = (...statements: string[]): Promise<unknown[]> => inCase(statements, 'select fid, code, class, share from land_use order by fid');

  it('gives a class the name in its file, and no name if the file does not name the class', async () => {
    expect(await uses(
      parcel(1, [0, 0, 1, 1]), parcel(2, [20, 0, 21, 1]), parcel(3, [40, 0, 41, 1]),
      polygon(1, '11100', [-1, -1, 2, 2]), polygon(1, '11100', [19, -1, 22, 2], 3), polygon(2, '31000', [39, -1, 42, 2]),
    )).toEqual([
      { fid: 1, code: '11100', class: 'Continuous', share: 1 }, { fid: 2, code: '11100', class: 'CONTINUOUS', share: 1 }, { fid: 3, code: '31000', class: null, share: 1 },
    ]);
  });

  it('counts an area that is in two files once, and returns the smaller class code if areas are equal', async () => {
    expect(await uses(parcel(1, [-5, 0, 5, 1]), polygon(1, '12220', [-6, -1, -2, 2]), polygon(1, '12220', [-6, -1, -2, 2], 3), polygon(2, '31000', [-2, -1, 6, 2])))
      .toMatchObject([{ code: '31000', share: 0.7 }]);
    expect(await uses(parcel(1, [-1, 0, 1, 1]), polygon(1, '12220', [0, -1, 2, 2]), polygon(2, '11100', [-2, -1, 0, 2]))).toMatchObject([{ code: '11100', share: 0.5 }]);
  });

  it('gives no class if no feature of the map is near the parcels, even after ANALYZE', async () => {
    const many = (table: string, select: string): string => `insert into ${table} ${select} from generate_series(1, 30) as x cross join generate_series(1, 30) as y;`;
    expect(await uses(
      many('parcel', `select 100 * x + y, 'land', 350, st_setsrid(st_point(10 + x / 1000.0, 44 + y / 1000.0), 4326), st_multi(st_makeenvelope(10 + x / 1000.0, 44 + y / 1000.0, 10.001 + x / 1000.0, 44.001 + y / 1000.0, 4326))`),
      many('land_use_piece', `select 1, 1, x, '11100', st_makeenvelope(16 + x / 1000.0, 40 + y / 1000.0, 16.001 + x / 1000.0, 40.001 + y / 1000.0, 4326)`),
      'analyze parcel; analyze land_use_piece;',
    )).toEqual([]);
  });

  it('covers land parcels that overlap a mapped area by at least 1 m²', async () => {
    expect(await uses(parcel(1, [0, 0, 1, 1], 'road'), parcel(2, [9.999, 0, 11, 1]), parcel(3, [9.99, 2, 11, 3]), polygon(1, '11100', [-10, -10, 10, 10]))).toMatchObject([{ fid: 3 }]);
  });

  it('returns the coverage mapped for parcels, including roads, whose representative point is in an urban area, and null for other parcels', async () => {
    const rows = await rolledBack(database, async (session) => {
      await session.script(`${SETUP} ${[parcel(1, [0, 0, 1, 1]), parcel(2, [3, 0, 4, 1], 'road'), parcel(3, [20, 0, 21, 1]), parcel(4, [9.7, 0, 10.5, 1])].join('\n')}
        insert into urban_boundary_piece (geom) values (${envelope([-1, -1, 10, 10])}), (${envelope([9000, 0, 9001, 1])});`, 'setup');
      await session.script(sqlOf('sql/core/urban_area.sql'), 'sql/core/urban_area.sql');
      await session.script('create table core.urban_area_14 partition of core.urban_area for values in (14); insert into core.urban_area_14 select * from urban_area', 'test');
      expect(await session.query('select count(*)::int4 as pieces from urban_area')).toEqual([{ pieces: 1 }]);
      return inAllRegions(session, () => session.query("select fid, api.coverage_land_use(14, 'Z001', point, null::core.parcel) as coverage, api.coverage_land_use(15, 'Z001', point, null::core.parcel) as elsewhere from cases.parcel order by fid"));
    });
    expect(rows).toEqual([
      { fid: 1, coverage: 'mapped', elsewhere: null }, { fid: 2, coverage: 'mapped', elsewhere: null }, { fid: 3, coverage: null, elsewhere: null }, { fid: 4, coverage: null, elsewhere: null },
    ]);
  });
});
