/** Tests, case by case, to which current comune a code of any edition leads. Also tests the effects on the areas of regions and on postal codes. */
import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import type { Database, Session } from '../../pipelines/db/index.ts';
import { describeDatabase } from '../harness/database.ts';
import { createFunctions } from '../harness/functions.ts';
import { rolledBack } from '../harness/rolled-back.ts';
import { NO_MERGERS, sqlOf } from '../harness/sql.ts';

const sql = (path: string): string => readFileSync(new URL(`../../sql/${path}`, import.meta.url), 'utf8');

// Region 20: province 112 had the number 090 until 2025. Before 2017, a part of the province had the number 104, which was separated from 090 in 2006.
// Region 14: province 070 never changed its number.
const SETUP = `
  create schema codes;
  set search_path to codes, public;
  create table region (code int2, name text);
  insert into region values (20, 'Sardegna');
  create table comune_code (
    belfiore text, istat_code text, name text, region_code int2, region_name text, code_107_2017 text, code_110 text, code_107 text, code_103 text
  );
  insert into comune_code (belfiore, istat_code, region_code, region_name, code_107_2017, code_110, code_107, code_103) values
    ('Z001', '112001', 20, 'Sardegna', '090001', '090001', '090001', '090001'),
    ('Z002', '112002', 20, 'Sardegna', '090002', '104002', '104002', '090802'),
    ('Z003', '112003', 20, 'Sardegna', '090003', '090003', '090003', '090003'),
    ('Z101', '070001', 14, 'Molise', '070001', '070001', '070001', '070001'),
    ('Z102', '070002', 14, 'Molise', '070002', '094002', '094002', '094002'),
    ('Z103', '094003', 14, 'Molise', '094003', '094003', '094003', '094003'),
    -- Created in 2024, without former codes. Until 1960, a different comune had this number.
    ('Z104', '070104', 14, 'Molise', null, null, null, null);
  create table comune_suppressed (istat_code text, name text, divided bool, event_date date, successor_istat_code text, successor_name text);
`;

interface Row {
  readonly old_istat_code: string;
  readonly istat_code: string;
  readonly belfiore: string;
  readonly reason: string;
  readonly event_date: string | null;
  readonly divided: boolean;
}

describeDatabase('the register of ISTAT codes', (engine) => {
  let database: Database;
  beforeAll(async () => {
    database = await engine.openDatabase();
    await database.session(createFunctions);
  });

  const inCodes = <T>(statements: string, work: (session: Session) => Promise<T>): Promise<T> => rolledBack(database, async (session) => {
    await session.script(SETUP, 'setup');
    await session.script(statements, 'test');
    return await work(session);
  });
  const rowsOf = async (session: Session): Promise<Row[]> => {
    await session.script(sql('core/comune_register.sql'), 'sql/core/comune_register.sql');
    return session.query<Row & Record<string, unknown>>(
      'select old_istat_code, istat_code, belfiore, reason, event_date::text as event_date, divided from comune_register order by old_istat_code, istat_code',
    );
  };
  /** Returns the rows of a region for former codes. A row has code, comune, reason, day, and whether the comune was divided. */
  const build = (suppressed: string, region = 14): Promise<unknown[][]> => inCodes(
    `update region set code = ${region}; ${suppressed === '' ? '' : `insert into comune_suppressed values ${suppressed}`}`,
    async (session) => (await rowsOf(session)).filter(({ reason }) => reason !== 'in force').map((row) => [row.old_istat_code, row.belfiore, row.reason, row.event_date, row.divided]),
  );

  it('maps every current code of the region to itself', async () => {
    const rows = await inCodes('select 1', rowsOf);
    expect(rows.filter(({ reason }) => reason === 'in force')).toEqual(['1', '2', '3'].map((n) => (
      { old_istat_code: `11200${n}`, istat_code: `11200${n}`, belfiore: `Z00${n}`, reason: 'in force', event_date: null, divided: false })));
  });

  it('dates former numberings by the first day of the next numbering, and gives no date for a move to another province', async () => {
    expect(await build('', 20)).toEqual([
      ['090001', 'Z001', 'province renumbered', '2026-01-01', false],
      ['090002', 'Z002', 'province renumbered', '2026-01-01', false],
      ['090003', 'Z003', 'province renumbered', '2026-01-01', false],
      ['090802', 'Z002', 'province renumbered', '2006-01-01', false],
      ['104002', 'Z002', 'province renumbered', '2017-01-01', false],
    ]);
    expect(await build('')).toEqual([['094002', 'Z102', 'moved to another province', null, false]]);
  });

  it('uses the current code as the code of 2017 if the edition is older than 2026', async () => {
    const rows = await inCodes('update comune_code set istat_code = code_107_2017, code_107_2017 = null where region_code = 20', rowsOf);
    expect(rows.map(({ old_istat_code, istat_code, reason, event_date }) => [old_istat_code, istat_code, reason, event_date])).toEqual([
      ['090001', '090001', 'in force', null], ['090002', '090002', 'in force', null], ['090003', '090003', 'in force', null],
      // The code 090802 and the current code 090002 have the same province number, 090.
      ['090802', '090002', 'province renumbered', '2006-01-01'], ['104002', '090002', 'province renumbered', '2017-01-01'],
    ]);
  });

  it('follows mergers and renumberings to the current comune', async () => {
    expect(await build(`
      ('090901', 'A', false, '1928-01-01', '090902', 'B'), ('090902', 'B', false, '1950-07-01', '090001', 'C'),
      ('104903', 'D', false, '2012-03-04', '104002', 'E')`, 20)).toEqual(expect.arrayContaining([
      ['090901', 'Z001', 'merged', '1928-01-01', false],
      ['090902', 'Z001', 'merged', '1950-07-01', false],
      ['104903', 'Z002', 'merged', '2012-03-04', false],
    ]));
  });

  it('marks a former code as divided if the comune, or a comune into which it merged, was divided, even if a part is in another region or not in the list', async () => {
    const suppressed = `
      ('070801', 'A', true, '1928-01-01', '070001', ''), ('070801', 'A', true, '1928-01-01', '070002', ''),
      ('070802', 'B', false, '1920-01-01', '070801', ''),
      ('070803', 'C', true, '1930-01-01', '070001', ''), ('070803', 'C', true, '1930-01-01', '090001', ''),
      ('070804', 'D', true, '1947-01-01', '070001', ''), ('070804', 'D', true, '1947-01-01', null, 'Stato estero'),
      ('070805', 'E', true, '1931-01-01', '070001', ''),
      ('070806', 'F', true, '1931-01-01', '070001', ''), ('070806', 'F', true, '1931-01-01', '070999', '')`;
    expect((await build(suppressed)).filter(([code]) => (code as string).startsWith('0708'))).toEqual([
      ['070801', 'Z101', 'divided', '1928-01-01', true], ['070801', 'Z102', 'divided', '1928-01-01', true],
      ['070802', 'Z101', 'merged', '1920-01-01', true], ['070802', 'Z102', 'merged', '1920-01-01', true],
      ['070803', 'Z101', 'divided', '1930-01-01', true],
      ['070804', 'Z101', 'divided', '1947-01-01', true],
      ['070805', 'Z101', 'divided', '1931-01-01', true],
      ['070806', 'Z101', 'divided', '1931-01-01', true],
    ]);
    expect((await build(suppressed, 20)).filter(([code]) => (code as string).startsWith('0708'))).toEqual([['070803', 'Z001', 'divided', '1930-01-01', true]]);
  });

  it('treats a division as reversed if all parts came to the same comune', async () => {
    expect(await build(`
      ('070801', 'A', true, '1928-01-01', '070001', ''), ('070801', 'A', true, '1928-01-01', '070802', ''),
      ('070802', 'B', false, '1950-01-01', '070001', '')`)).toEqual(expect.arrayContaining([['070801', 'Z101', 'divided', '1928-01-01', false]]));
  });

  it('maps a current code only to its comune, and a reused code to its last use', async () => {
    expect(await build("('070104', 'Old', false, '1960-01-01', '070001', ''), ('070801', 'X', false, '1928-01-01', '070001', ''), ('070801', 'Y', false, '1999-01-01', '070002', '')")).toEqual([
      ['070801', 'Z102', 'merged', '1999-01-01', false], ['094002', 'Z102', 'moved to another province', null, false],
    ]);
    // In a chain, the next use of a code is followed. A comune that merged into the first 070801 is mapped to the successor of the first 070801.
    expect(await build(`
      ('070801', 'X', false, '1928-01-01', '070001', ''), ('070801', 'Y', false, '1999-01-01', '070002', ''), ('070800', 'W', false, '1900-01-01', '070801', '')`))
      .toEqual(expect.arrayContaining([['070800', 'Z101', 'merged', '1900-01-01', false]]));
  });

  it('omits codes that lead into a cycle or to no comune in the lists', async () => {
    expect(await build(`
      ('070801', 'A', false, '1928-01-01', '070802', ''), ('070802', 'B', false, '1928-01-01', '070801', ''), ('070803', 'C', false, '1947-01-01', null, 'Stato estero'),
      ('070804', 'D', false, '1950-01-01', '070999', ''), ('070805', 'E', false, '1950-01-01', '070805', '')`)).toEqual([['094002', 'Z102', 'moved to another province', null, false]]);
  });

  it('lists a real comune in its former region and in its present region, under its codes of all years', async () => {
    const list = `
      delete from comune_code;
      insert into comune_code (belfiore, istat_code, name, region_code, code_107_2017, code_110, code_107, code_103) values
        ('A757', '025006', 'Belluno', 5, '025006', '025006', '025006', '025006'),
        ('I421', '030189', 'Sappada', 6, '030189', '025052', '025052', '025052'),
        ('L483', '030129', 'Udine', 6, '030129', '030129', '030129', '030129'),
        ('F478', '099030', 'Montecopiolo', 8, '099030', '041033', '041033', '041033'),
        ('I460', '099031', 'Sassofeltrio', 8, '099031', '041060', '041060', '041060'),
        ('C080', '099021', 'Casteldelci', 8, '099021', '099021', '041009', '041009'),
        ('H294', '099014', 'Rimini', 8, '099014', '099014', '099014', '099014'),
        ('M320', '037061', 'Valsamoggia', 8, '037061', '037061', null, null),
        ('L500', '041067', 'Urbino', 11, '041067', '041067', '041067', '041067');
    `;
    const suppressed = ['037004', '037018', '037023', '037043', '037058'].map((code) => `('${code}', null, false, '2014-01-01', '037061', null)`).join(', ');
    const codesIn = (region: number): Promise<string[]> => inCodes(
      `${list} update region set code = ${region}; insert into comune_suppressed values ${suppressed}`,
      async (session) => (await rowsOf(session)).map((row) => `${row.old_istat_code} ${row.belfiore}`),
    );
    const sappada = ['025052 I421', '030189 I421'];
    const marecchia = ['041009 C080', '041033 F478', '041060 I460', '099021 C080', '099030 F478', '099031 I460'];
    expect(await codesIn(5)).toEqual(['025006 A757', ...sappada].sort());
    expect(await codesIn(6)).toEqual([...sappada, '030129 L483'].sort());
    expect(await codesIn(11)).toEqual([...marecchia, '041067 L500'].sort());
    expect(await codesIn(8)).toEqual([
      ...marecchia, '099014 H294', '037004 M320', '037018 M320', '037023 M320', '037043 M320', '037058 M320', '037061 M320',
    ].sort());
  });

  it('never maps the code of an undivided comune to two comuni', async () => {
    const twice = await inCodes(`
      insert into comune_suppressed
      select '0708' || lpad((i % 40)::text, 2, '0'), '', i % 3 = 0, date '1900-01-01' + i * 97, case when i % 7 = 0 then '07000' || 1 + i % 2 else '0708' || lpad((i * 13 % 40)::text, 2, '0') end, ''
      from generate_series(1, 200) as i`, async (session) => {
      await session.script('update region set code = 14', 'test');
      await rowsOf(session);
      return session.query('select old_istat_code from comune_register group by old_istat_code having count(*) > 1 and not bool_and(divided)');
    });
    expect(twice).toEqual([]);
  });

  it('gives the area of a region from its outline, else from its comuni if all have a boundary of any year, else no area', async () => {
    const areas = (more: string): Promise<unknown> => inCodes(`
      create table boundary (kind text, code text, area_m2 float8);
      insert into boundary values ('comune', '090001', 1e6), ('comune', '104002', 2e6), ('comune', '112003', 4e6), ('comune', '070001', 8e6), ('comune', '094002', 16e6),
        ('comune', '999999', 32e6), ('provincia', '070', 64e6)${more}`, async (session) => {
      await session.script('drop table region', 'test');
      await session.script(sql('core/region.sql'), 'sql/core/region.sql');
      return session.query('select code::int4 as code, area_km2 from region order by code');
    });
    // Two comuni of region 14 are missing, so their sum would be incomplete.
    expect(await areas('')).toEqual([{ code: 14, area_km2: null }, { code: 20, area_km2: 7 }]);
    expect(await areas(", ('comune', '094003', 1e6), ('comune', '070104', 1e6)")).toEqual([{ code: 14, area_km2: 26 }, { code: 20, area_km2: 7 }]);
    expect(await areas(", ('regione', '14', 99e6)")).toEqual([{ code: 14, area_km2: 99 }, { code: 20, area_km2: 7 }]);
  });

  it('gives postal codes of a former code to the current comune, and postal codes of a divided comune to no comune', async () => {
    const caps = await inCodes(`
      update region set code = 14;
      insert into comune_suppressed values ('070801', 'A', true, '1928-01-01', '070001', ''), ('070801', 'A', true, '1928-01-01', '070002', '');
      create table parcel (fid int4, belfiore text, point geometry(point, 4326));
      insert into parcel select i, b, st_setsrid(st_point(14 + i, 41), 4326) from (values (1, 'Z101'), (2, 'Z102'), (3, 'Z103')) as v (i, b);
      ${NO_MERGERS}
      create table current_member as select 1 as member_id, 1 as release_id, 1 as file_id, 1 as rank, '2025' as vintage;
      create table comune_postal_code (member_id int4 default 1, belfiore text, istat_code text, cap text, edition text);
      insert into comune_postal_code (belfiore, istat_code, cap, edition) values ('Z101', null, '86001', '2025'), (null, '094002', '86002', '2025'), (null, '070801', '86003', '2025'), (null, '094003', '86004', '2024');
      create table postal_code_area (member_id int4, position int8, cap text, edition text, geom geometry)`, async (session) => {
      await rowsOf(session);
      await session.script(sqlOf('sql/sections/basic/build_postal_code.sql'), 'sql/sections/basic/build_postal_code.sql');
      return session.query('select fid, cap from postal_code order by fid');
    });
    // Only an earlier edition contains Z103, so that edition is used for Z103.
    expect(caps).toEqual([{ fid: 1, cap: '86001' }, { fid: 2, cap: '86002' }, { fid: 3, cap: '86004' }]);
  });
});
