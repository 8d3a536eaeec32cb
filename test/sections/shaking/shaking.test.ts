/** Tests the SQL of the section with rows that the test defines. */
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { readSqlFile } from '../../../pipelines/contract/sql-files.ts';
import { describeDatabase } from '../../../test/harness/database.ts';

const BUILD = readSqlFile(fileURLToPath(new URL('build.sql', import.meta.url)));

describeDatabase('the section shaking', (engine) => {
  it('has the least and greatest value of the corners around a parcel, and their number', async () => {
    const database = await engine.openDatabase();
    const rows = await database.session(async (session) => {
      await session.script(`
        create schema cases;
        set search_path to cases, public;
        -- With a step of 0.02°, 14.00° E and 14.02° E are the columns 700 and 701, and 41.00° N and 41.02° N are the rows 2050 and 2051.
        create table pga_node (member_id int4, ix int4, iy int4, ag_g float8, spacing_deg float8);
        insert into pga_node values (1, 700, 2050, 0.12, 0.02), (1, 701, 2050, 0.10, 0.02), (1, 700, 2051, 0.16, 0.02), (1, 701, 2051, 0.14, 0.02), (1, 702, 2050, 0.99, 0.02);
        create table parcel (fid int4, point geometry(point, 4326));
        insert into parcel values
          (1, st_setsrid(st_point(14.013, 41.007), 4326)),
          (2, st_setsrid(st_point(14.045, 41.007), 4326)),
          (3, st_setsrid(st_point(15.000, 41.007), 4326));`, 'test');
      await session.script(BUILD.text, BUILD.file);
      return session.query('select * from shaking order by fid');
    });
    expect(rows).toEqual([{ fid: 1, ag_min_g: 0.1, ag_max_g: 0.16, corners: 4 }, { fid: 2, ag_min_g: 0.99, ag_max_g: 0.99, corners: 1 }]);
  });
});
