/** Tests edge cases of each rule for locating points, with small lists, comuni, streets and parcels. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Database, Session } from '../../../pipelines/db/index.ts';
import { addressValues } from '../../../pipelines/address/point-address.ts';
import { regionOfPlate } from '../../../pipelines/contract/regions.ts';
import { describeDatabase } from '../../../test/harness/database.ts';
import { createFunctions } from '../../../test/harness/functions.ts';
import { rolledBack } from '../../../test/harness/rolled-back.ts';
import { sqlOf } from '../../../test/harness/sql.ts';

// Comuni in a row, each 0.02 degrees wide if it has a boundary. At 42° north a degree of longitude is 82,853 m and a degree of latitude 111,071 m (GRS80).
const SETUP = `
  create schema cases;
  set search_path to cases, public;
  create view region as select 14::int2 as code, 'Molise'::text as name;
  create table current_member (member_id int4, file_id int4, rank int4);
  insert into current_member values (1, 1, 1), (2, 2, 2);
  create table published (category text, code text, name text, type text, class text, catalog_code text, address text, comune text, province text, belfiore text, istat_code text, region_code int2,
    lon float8, lat float8, comune_key text, street_types text[], street_words text[], number int4, exponent text, colour text, school_year text, member_id int4);
  create table comune_code (belfiore text, istat_code text, name text, province_code text, province_historic_code text, province_name text, sigla text, region_code int2,
    code_107_2017 text, code_110 text, code_107 text, code_103 text);
  insert into comune_code (belfiore, istat_code, name, province_code, province_historic_code, province_name, sigla, region_code, code_103) values
    ('Z001', '070901', 'Campo Finto', '070', '070', 'Campobasso', 'CB', 14, null),
    ('Z002', '094902', 'Borgo Finto', '094', '094', 'Isernia', 'IS', 14, '070902'),
    ('Z003', '070903', 'Senza Confine', '070', '070', 'Campobasso', 'CB', 14, null),
    ('Z009', '094909', 'Due Volte', '094', '094', 'Isernia', 'IS', 14, null),
    ('Y001', '015146', 'Città Grande', '015', '015', 'Milano', 'MI', 3, null),
    ('Y002', '015147', 'Due Volte', '015', '015', 'Milano', 'MI', 3, null),
    -- Was formerly in Abruzzo (AQ), as the former code 066910 shows.
    ('Z010', '070910', 'Venuto da Fuori', '070', '070', 'Campobasso', 'CB', 14, '066910'),
    ('Y003', '066001', 'Aquila Finta', '066', '066', 'L''Aquila', 'AQ', 13, null);
  create view comune_register as
    select istat_code as old_istat_code, belfiore, false as divided from comune_code where region_code = 14
    union all values ('070801', 'Z001', false), ('070802', 'Z001', true), ('070802', 'Z002', true), ('066910', 'Z010', false);
  create view comune_name as
    select core.comune_key(name) as key, belfiore, 'name' as kind from comune_code where region_code = 14
    union all values ('antico finto', 'Z001', 'former'), ('diviso', 'Z001', 'former'), ('diviso', 'Z002', 'former'), ('borgo finto', 'Z001', 'locality');
  create table boundary (member_id int4, position int8, kind text, code text, belfiore text, geom geometry(multipolygon, 4326));
  insert into boundary
  select member_id, row_number() over (), 'comune', code, null, st_multi(st_makeenvelope(west, 42.00, west + 0.02, 42.02, 4326))
  from (values (1, '070901', 14.00), (1, '094902', 14.02), (2, '070901', 15.00), (1, '070910', 14.06)) as v (member_id, code, west);
  create table parcel (fid int4, belfiore text, reference text, kind text, area_m2 float8, geom geometry(multipolygon, 4326));
  create index on parcel using gist (geom);
  create table street (street_id int8, belfiore text, member_id int4, position int8);
  create table odonimo (member_id int4, position int8, progressivo_nazionale int8, search_types text[], search_tokens text[]);
  create table odonimo_indir (like odonimo);
  create table access_point (address_id int8, street_id int8, belfiore text, number int4, exponent text, colour text, geom geometry(point, 4326));
  insert into odonimo values
    (1, 1, 1, '{via}', '{roma}'), (1, 2, 2, '{viale}', '{roma}'), (1, 3, 3, '{via}', '{giuseppe garibaldi}'), (1, 4, 4, '{contrada}', '{fornace}'), (1, 5, 5, '{contrada}', '{fornace}'),
    (1, 6, 6, '{via,strasse}', '{museo,museum}'), (1, 7, 7, '{via}', '{garibaldi menotti}'), (1, 8, 8, '{via}', '{roma}');
  insert into street select progressivo_nazionale, case when progressivo_nazionale = 8 then 'Z002' else 'Z001' end, member_id, position from odonimo;
  insert into access_point
  select address_id, street_id, s.belfiore, number, exponent, colour, case when located then st_setsrid(st_makepoint(14.001 + address_id * 0.0001, 42.001), 4326) end
  from (values
    (1, 1, 12, null, null, true), (2, 1, 12, 'A', null, true), (3, 1, 13, null, 'ROSSO', true), (4, 1, 13, null, null, true), (5, 1, 14, null, null, false), (6, 2, 12, null, null, true),
    (7, 3, 5, null, null, true), (8, 4, 9, null, null, true), (9, 5, 9, null, null, true), (10, 6, 3, null, null, true), (11, 7, 6, null, null, true), (12, 8, 77, null, null, true),
    (13, 1, 15, null, 'ROSSO', true), (14, 1, 16, 'R', null, true)
  ) as v (address_id, street_id, number, exponent, colour, located)
  join street s using (street_id);
  create view school as select 1 as release_id, member_id, row_number() over () as position, code as school_id, name, type, address, comune, comune_key, province, belfiore, region_code, street_types,
    street_words, number, exponent, colour, 1::int2 as regions_reached, school_year from published where category = 'school';
  create view pharmacy as select 1 as release_id, member_id, row_number() over () as position, code as pharmacy_id, name, type, address, comune, comune_key, istat_code, lon, lat, street_types,
    street_words, number, exponent, colour, 1::int2 as regions_reached, class is distinct from 'closed' as open from published where category = 'pharmacy';
  create view fuel_station as select 1 as release_id, member_id, row_number() over () as position, code as station_id, nullif(name, '') as name, 'Q8' as brand, type, address, comune, comune_key,
    province, region_code, lon, lat, street_types, street_words, number, exponent, colour, 1::int2 as regions_reached from published where category = 'fuel';
  create view cultural_place as select 1 as release_id, member_id, row_number() over () as position, code as place_id, name, type, class, catalog_code, address, comune, comune_key, province,
    region_code, lon, lat, street_types, street_words, number, exponent, colour, 1::int2 as regions_reached from published where category = 'culture';
`;

interface Given {
  readonly category?: 'school' | 'pharmacy' | 'fuel' | 'culture';
  readonly name?: string;
  readonly address?: string | null;
  readonly comune?: string | null;
  readonly province?: string | null;
  readonly belfiore?: string;
  readonly istat_code?: string;
  readonly at?: readonly [lon: number, lat: number] | null;
  readonly school_year?: string;
  readonly closed?: boolean;
  readonly member?: number;
}

async function publish(session: Session, code: string, { category = 'fuel', name = `point ${code}`, address = null, comune = 'CAMPO FINTO', province = 'CB', ...more }: Given): Promise<void> {
  await session.query(
    `insert into published (category, code, name, class, address, comune, province, belfiore, istat_code, region_code, lon, lat, school_year, member_id, comune_key, street_types, street_words, number, exponent, colour)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)`,
    [
      category, code, name, more.closed === true ? 'closed' : null, address, comune, province, more.belfiore ?? null, more.istat_code ?? null, regionOfPlate(province ?? ''),
      more.at?.[0] ?? null, more.at?.[1] ?? null, more.school_year ?? '2025_2026', more.member ?? 1, ...addressValues(address, comune),
    ],
  );
}

/** Points inside Campo Finto, inside Borgo Finto, and 190 m and 210 m south of Campo Finto. */
const [CAMPO, BORGO, NEAR, FAR] = [[14.005, 42.005], [14.03, 42.005], [14.005, 41.99829], [14.005, 41.99811]] as const;

describeDatabase('the placement of points', (engine) => {
  let database: Database;
  beforeAll(async () => {
    database = await engine.openDatabase();
    await database.session(createFunctions);
  });

  /** Returns the placement of each point, such as `coordinates Z001` or `address 7`, or the reason why the point is unplaced. */
  const placed = (given: Readonly<Record<string, Given>>, statements = ''): Promise<Record<string, string>> => rolledBack(database, async (session) => {
    await session.script(`${SETUP} ${statements}`, 'test');
    for (const [code, point] of Object.entries(given)) await publish(session, code, point);
    await session.script(sqlOf('sql/core/point_of_interest.sql'), 'sql/core/point_of_interest.sql');
    const rows = await session.query<{ code: string; how: string }>(`
      select code, coalesce(placed_by || ' ' || coalesce(address_id::text, belfiore), reason) as how from point_of_interest order by id collate "C"`);
    return Object.fromEntries(rows.map(({ code, how }) => [code, how]));
  });

  it('locates a point by its coordinates in the stated comune, up to 200 m beyond the border', async () => {
    expect(await placed({ a: { at: CAMPO }, b: { at: NEAR }, c: { at: FAR }, d: { at: BORGO }, e: { at: BORGO, comune: 'Borgo Finto', province: 'IS' } }))
      .toEqual({ a: 'coordinates Z001', b: 'coordinates Z001', c: 'elsewhere', d: 'elsewhere', e: 'coordinates Z002' });
  });

  it('locates a point within 15 m of a parcel of the comune if no boundary is loaded', async () => {
    const parcels = `insert into parcel values (1, 'Z003', 'Z003_000100.1', 'road', 100, st_multi(st_makeenvelope(14.05, 42.05, 14.051, 42.051, 4326))),
      (2, 'Z001', 'Z001_000100.1', 'land', 100, st_multi(st_makeenvelope(14.06, 42.05, 14.061, 42.051, 4326)));`;
    const given = { comune: 'SENZA CONFINE' };
    expect(await placed({
      a: { ...given, at: [14.0505, 42.0505] }, b: { ...given, at: [14.0505, 42.05113] }, c: { ...given, at: [14.0505, 42.05115] },
      d: { ...given, at: [14.0605, 42.0505] },
      e: { at: [14.0605, 42.0505] },
    }, parcels)).toEqual({ a: 'coordinates Z003', b: 'coordinates Z003', c: 'elsewhere', d: 'elsewhere', e: 'elsewhere' });
  });

  it('reports comune_not_loaded if no boundary, parcels or addresses of the comune are loaded, unless the coordinates are wrong', async () => {
    const parcels = "insert into parcel values (1, 'Z003', 'Z003_000100.1', 'road', 100, st_multi(st_makeenvelope(14.05, 42.05, 14.051, 42.051, 4326)));";
    const given = { comune: 'SENZA CONFINE' };
    const points = {
      near: { ...given, at: [14.0505, 42.0505] }, abroad: { ...given, at: [2.35, 48.85] }, swapped: { ...given, at: [42.005, 14.005] },
      address: { ...given, address: 'VIA ROMA, 12' }, noNumber: { ...given, address: 'VIA ROMA' }, drawn: { at: FAR },
    } as const;
    const wrong = { abroad: 'elsewhere', swapped: 'swapped', drawn: 'elsewhere' };
    expect(await placed(points)).toEqual({ ...wrong, near: 'comune_not_loaded', address: 'comune_not_loaded', noNumber: 'comune_not_loaded' });
    expect(await placed(points, parcels)).toEqual({ ...wrong, near: 'coordinates Z003', address: 'not_found', noNumber: 'no_number' });
  });

  it('uses only the newest boundary of a comune', async () => {
    expect(await placed({ a: { at: [15.005, 42.005] } })).toEqual({ a: 'elsewhere' });
  });

  it('reports swapped, zero or distant coordinates as the reason if the address gives no location either', async () => {
    const wrong = { swapped: [42.005, 14.005], zero: [0, 0], zeroLat: [14.005, 0], abroad: [2.35, 48.85], half: null } as const;
    expect(await placed(Object.fromEntries(Object.entries(wrong).map(([code, at]) => [code, { at, address: 'VIA ROMA 99' }]))))
      .toEqual({ swapped: 'swapped', zero: 'zero', zeroLat: 'zero', abroad: 'elsewhere', half: 'not_found' });
    expect(await placed(Object.fromEntries(Object.entries(wrong).map(([code, at]) => [code, { at, address: 'VIA ROMA, 12' }]))))
      .toEqual(Object.fromEntries(Object.keys(wrong).map((code) => [code, 'address 1'])));
  });

  it.each([
    ['VIA ROMA, 12', 'address 1'], ['VIA ROMA 12 86100', 'address 1'], ['Via Roma n. 12', 'address 1'], ['VIA ROMA, 12/A', 'address 2'], ['VIALE ROMA, 12', 'address 6'],
    ['VIA ROMA 12 INT. 3', 'address 1'], ['VIA VIALE ROMA 12', 'address 6'],
    ['VIA ROMA, 12/B', 'not_found'], ['VIA ROMA, 13', 'address 4'], ['VIA ROMA, 13 ROSSO', 'address 3'], ['VIA ROMA, 15R', 'address 13'], ['VIA ROMA, 16R', 'address 14'],
    ['VIA ROMA, 15', 'not_found'], ['VIA ROMA, 14', 'not_found'], ['VIA ROMA', 'no_number'], ['VIA ROMA, SNC', 'no_number'], [null, 'no_number'], ['CONTRADA FORNACE, 9', 'ambiguous'],
    ['VIA GIUSEPPE GARIBALDI 5', 'address 7'], ['VIA GARIBALDI, 5', 'address 7'], ['VIA G. GARIBALDI, 6', 'address 11'], ['PIAZZA GARIBALDI, 5', 'not_found'], ['GARIBALDI, 5', 'address 7'],
    ['Museumstraße 3', 'address 10'], ['VIA ROMA, 77', 'not_found'], ['VIA CHE NON ESISTE, 1', 'not_found'],
  ])('locates a point without coordinates by its address: %j gives %s', async (address, how) => {
    expect(await placed({ a: { category: 'school', belfiore: 'Z001', address } })).toEqual({ a: how });
  });

  it('locates a place of culture without coordinates by street and number, and never by the comune only', async () => {
    const culture = { category: 'culture', comune: 'Campo Finto', province: 'Campobasso' } as const;
    expect(await placed({
      numbered: { ...culture, address: 'Via Roma, 12' }, street: { ...culture, address: 'Via Roma' }, comune: { ...culture, address: null }, named: { ...culture, address: 'Campo Finto' },
      unknown: { ...culture, address: 'Via Roma, 99' }, located: { ...culture, at: CAMPO, address: 'Via Roma, 12' },
    })).toEqual({ comune: 'no_number', located: 'coordinates Z001', named: 'no_number', numbered: 'address 1', street: 'no_number', unknown: 'not_found' });
  });

  it('finds the comune of a point by an ISTAT code of any year', async () => {
    expect(await placed({
      a: { category: 'pharmacy', istat_code: '070901', at: CAMPO }, b: { category: 'pharmacy', istat_code: '070801', at: CAMPO, comune: 'NON ESISTE' },
      c: { category: 'pharmacy', istat_code: '070899', at: CAMPO, comune: 'NON ESISTE' }, d: { category: 'pharmacy', istat_code: '015146', at: CAMPO, comune: 'CITTA GRANDE' },
      // The comune was divided between two comuni, and the coordinates select one.
      e: { category: 'pharmacy', istat_code: '070802', at: BORGO, comune: 'DIVISO' }, f: { category: 'pharmacy', istat_code: '070901', at: CAMPO, closed: true },
    })).toEqual({ a: 'coordinates Z001', b: 'coordinates Z001', c: 'not_found', e: 'coordinates Z002' });
  });

  it('finds the comune of a point by name and car plate code, including former names and provinces', async () => {
    expect(await placed({
      now: { at: BORGO, comune: 'BORGO FINTO', province: 'IS' }, oldPlate: { at: BORGO, comune: 'BORGO FINTO', province: 'CB' }, oldName: { at: CAMPO, comune: 'ANTICO FINTO' },
      divided: { at: BORGO, comune: 'DIVISO' }, unknown: { at: CAMPO, comune: 'NON ESISTE' }, elsewhere: { at: CAMPO, comune: 'CITTA\' GRANDE', province: 'MI' },
      namesake: { at: CAMPO, comune: 'DUE VOLTE', province: 'MI' }, moved: { at: [14.065, 42.005], comune: 'VENUTO DA FUORI', province: 'AQ' },
      stayed: { at: CAMPO, comune: 'AQUILA FINTA', province: 'AQ' }, noPlate: { at: BORGO, comune: 'Borgo Finto', province: null }, none: { at: CAMPO, comune: null, province: null },
      byName: { category: 'culture', at: BORGO, comune: 'Borgo Finto', province: 'Isernia' }, byOtherName: { category: 'culture', at: CAMPO, comune: 'Città Grande', province: 'Milano' },
    })).toEqual({
      now: 'coordinates Z002', oldPlate: 'coordinates Z002', oldName: 'coordinates Z001', divided: 'coordinates Z002', unknown: 'not_found', moved: 'coordinates Z010',
      noPlate: 'coordinates Z002', none: 'not_found', byName: 'coordinates Z002',
    });
  });

  it('finds a school\'s comune by name if its cadastral code is unknown', async () => {
    const school = { category: 'school', address: 'VIA ROMA, 12', province: 'CAMPOBASSO' } as const;
    expect(await placed({ a: { ...school, belfiore: 'X999', comune: 'CAMPO FINTO' }, b: { ...school, belfiore: 'X999', comune: 'NON ESISTE' }, c: { ...school, belfiore: 'Y001' } }))
      .toEqual({ a: 'address 1', b: 'not_found' });
  });

  it('uses the newest school year of a school, the newer of two files for other points, and the brand of a fuel station without a name', async () => {
    const rows = await rolledBack(database, async (session) => {
      await session.script(SETUP, 'test');
      await publish(session, 's', { category: 'school', belfiore: 'Z001', name: 'old', school_year: '2024_2025' });
      await publish(session, 's', { category: 'school', belfiore: 'Z001', name: 'new', school_year: '2025_2026', member: 2 });
      await publish(session, 'f', { name: 'newer file' });
      await publish(session, 'f', { name: 'older file', member: 2 });
      await publish(session, 'b', { name: '' });
      await session.script(sqlOf('sql/core/point_of_interest.sql'), 'sql/core/point_of_interest.sql');
      return session.query<{ id: string; name: string }>('select id, name from point_of_interest order by id collate "C"');
    });
    expect(rows).toEqual([{ id: 'fuel:b', name: 'Q8' }, { id: 'fuel:f', name: 'newer file' }, { id: 'school:s', name: 'new' }]);
  });

  it('needs no list of comuni if a file names the comuni', async () => {
    const without = "delete from comune_code; drop view comune_name; create table comune_name as select 'campo finto' as key, 'Z001' as belfiore, 'name' as kind; update boundary set belfiore = 'Z001' where code = '070901';";
    expect(await placed({ a: { at: CAMPO }, b: { at: CAMPO, comune: 'NON ESISTE' }, c: { category: 'school', belfiore: 'Z001', address: 'VIA ROMA, 12' } }, without))
      .toEqual({ a: 'coordinates Z001', b: 'not_found', c: 'address 1' });
  });
});

describeDatabase('the assignment of points to parcels', (engine) => {
  let database: Database;
  beforeAll(async () => {
    database = await engine.openDatabase();
  });

  /**
   * Returns the points of each parcel in the order of the section. Parcels 1 and 2 share a border at 14.001°. Parcel 3 is a road south of parcels 1 and 2.
   * Parcel 4 is in a different comune.
   */
  const of = (points: string, section: 'poi' | 'cultural_heritage' = 'poi'): Promise<Record<number, string[]>> => rolledBack(database, async (session) => {
    await session.script(`
      create schema cases;
      set search_path to cases, public;
      create table parcel (fid int4, belfiore text, reference text, kind text, area_m2 float8, geom geometry(multipolygon, 4326));
      insert into parcel
      select fid, belfiore, 'R' || fid, kind, area, st_multi(st_makeenvelope(west, south, east, north, 4326))
      from (values (1, 'Z001', 'land', 200, 14.000, 42.000, 14.001, 42.001), (2, 'Z001', 'land', 100, 14.001, 42.000, 14.002, 42.001), (3, 'Z001', 'road', 10, 14.000, 41.999, 14.002, 42.000),
        (4, 'Z002', 'land', 50, 14.000, 41.9987, 14.002, 41.999)) as v (fid, belfiore, kind, area, west, south, east, north);
      create index on parcel using gist (geom);
      create table point_of_interest (id text, code text, category text, name text, belfiore text, geom geometry(point, 4326));
      insert into point_of_interest
      select category || ':' || code, code, category, name, 'Z001', st_setsrid(st_makepoint(lon, lat), 4326) from (${points}) as v (category, code, name, lon, lat);`, 'test');
    await session.script(sqlOf(`sql/sections/${section}/build.sql`), section);
    const found: Record<number, string[]> = {};
    for (const { fid, id } of await session.query<{ fid: number; id: string }>(`select fid, id from ${section} order by fid, ordinal`)) (found[fid] ??= []).push(id);
    return found;
  });

  it('gives a parcel the points inside, the points on a border with a larger parcel, and the points within 15 m if no land parcel of the comune is nearer', async () => {
    expect(await of(`values ('fuel', '1', 'inside', 14.0005, 42.0005), ('fuel', '2', 'border', 14.001, 42.0005), ('fuel', '3', 'near', 14.0005, 41.9999), ('fuel', '4', 'far', 14.0005, 41.9998),
      ('fuel', '5', 'nearer to another comune', 14.0005, 41.99905)`)).toEqual({ 1: ['fuel:1', 'fuel:3'], 2: ['fuel:2'] });
  });

  it('sorts points by category, name and id in byte order, and places of culture by name and code', async () => {
    const at = (list: readonly string[]): string => `values ${list.map((each) => `(${each}, 14.0005, 42.0005)`).join(', ')}`;
    expect(await of(at(["'school', '1', 'a'", "'fuel', '9', 'b'", "'fuel', '10', 'b'", "'fuel', '3', 'Z'", "'pharmacy', '4', 'é'", "'pharmacy', '5', 'z'", "'culture', '6', 'a'"])))
      .toEqual({ 1: ['fuel:3', 'fuel:10', 'fuel:9', 'pharmacy:5', 'pharmacy:4', 'school:1'] });
    expect(await of(at(["'culture', 'b', 'x'", "'culture', 'a', 'x'", "'culture', 'c', 'X'", "'fuel', '1', 'a'"]), 'cultural_heritage')).toEqual({ 1: ['culture:c', 'culture:a', 'culture:b'] });
  });

  it.each([['poi', 'fuel', 50], ['cultural_heritage', 'culture', 20]] as const)('limits the number of points per parcel in %s', async (section, category, most) => {
    const found = await of(`select '${category}', n::text, lpad(n::text, 3, '0'), 14.0005, 42.0005 from generate_series(1, 60) as n`, section);
    expect(found[1]).toEqual(Array.from({ length: most }, (_, index) => `${category}:${index + 1}`));
  });
});

describe('a car plate code', () => {
  it.each([['CB', 14], ['cb', 14], ['PS', 11], ['FO', 8], ['OT', 20], ['RM', 12], ['XX', null], ['', null]])('%j belongs to the region %j', (plate, region) => {
    expect(regionOfPlate(plate)).toBe(region);
  });
});
