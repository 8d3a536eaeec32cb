import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { REGIONS } from '../../pipelines/contract/regions.ts';
import type { Database } from '../../pipelines/db/index.ts';
import source from '../../sources/mimit_fuel/source.ts';
import { describeDatabase } from '../harness/database.ts';
import { createFunctions } from '../harness/functions.ts';
import { realData } from '../harness/real-data.ts';
import { rolledBack } from '../harness/rolled-back.ts';
import { trial } from '../harness/trial.ts';

const FILE = realData('poi/anagrafica_impianti_attivi-20260821-first-3998.csv');
const LIST = realData('istat-admin');

interface Station extends Record<string, unknown> {
  readonly station_id: string;
  readonly name: string | null;
  readonly province: string | null;
  readonly region_code: number | null;
  readonly lat: number | null;
  readonly lon: number | null;
  readonly number: number | null;
}

describe('the real fuel stations', () => {
  it.skipIf(FILE === null)('have 3,998 rows without rejects, complete names that contain the separator, and no tabs', async () => {
    const { recognition, collected } = await trial(source, FILE!);
    expect(recognition).toEqual({ role: 'stations', vintage: '2026-08-21', region: null, complete: false });
    const [member] = collected!.members;
    expect(member!.records).toBe(3_998);
    expect(member!.rejects).toEqual([]);
    const rows = collected!.rows['raw_fuel_station'] as Station[];
    expect(rows).toHaveLength(3_998);
    expect(new Set(rows.map(({ station_id }) => station_id)).size).toBe(3_998);
    expect(rows.filter(({ name }) => name?.includes('|') === true)).toHaveLength(5);
    expect(rows.every((row) => Object.values(row).every((value) => typeof value !== 'string' || !/[\t]|^ | $| {2}/.test(value)))).toBe(true);
    expect(rows.filter(({ region_code }) => region_code === null)).toEqual([]);
    expect(rows.filter(({ lat, lon }) => lat === null || lon === null).length).toBe(1);
    // About half of the stations have a house number. All other stations have a kilometre or no number.
    expect(rows.filter(({ number }) => number !== null)).toHaveLength(2_042);
  });
});

describeDatabase('real fuel stations in the regions of their comuni', (engine) => {
  let database: Database;
  beforeAll(async () => {
    database = await engine.openDatabase();
    await database.session(createFunctions);
  });

  it.skipIf(FILE === null || LIST === null)('are each reported in exactly one region, with the reason why they cannot be located', async () => {
    const { collected } = await trial(source, FILE!);
    const rows = collected!.rows['raw_fuel_station'] as Station[];
    // Creates the comuni that the stations name, without boundaries and streets. Only the assignment of stations to regions is tested.
    const counts = new Map<string, number>();
    const announced = new Map<string, number>();
    await rolledBack(database, async (session) => {
      await session.script(`
        create schema cases;
        set search_path to cases, public;
        create table fuel_station as select 1 as release_id, 1 as member_id, 0::int8 as position, null::text as station_id, null::text as brand, null::text as type, null::text as name,
          null::text as address, null::text as comune, null::text as province, null::int2 as region_code, null::float8 as lat, null::float8 as lon, null::text as comune_key,
          '{}'::text[] as street_types, '{}'::text[] as street_words, null::int4 as number, null::text as exponent, null::text as colour, 13::int2 as regions_reached limit 0;
        create table region (code int2, name text);
        create table current_member as select 1 as member_id, 1 as file_id, 1 as rank;
        create table school (school_id text, name text, type text, address text, comune text, comune_key text, province text, belfiore text, region_code int2, street_types text[], street_words text[],
          number int4, exponent text, colour text, regions_reached int2, school_year text, release_id int4, member_id int4, position int8);
        create table pharmacy (pharmacy_id text, name text, type text, address text, comune text, comune_key text, istat_code text, lon float8, lat float8, street_types text[], street_words text[],
          number int4, exponent text, colour text, regions_reached int2, open bool, release_id int4, member_id int4, position int8);
        create table cultural_place (place_id text, name text, type text, class text, catalog_code text, address text, comune text, comune_key text, province text, region_code int2, lon float8, lat float8,
          street_types text[], street_words text[], number int4, exponent text, colour text, regions_reached int2, release_id int4, member_id int4, position int8);
        create table comune_code (belfiore text, istat_code text, name text, province_code text, province_historic_code text, province_name text, sigla text, region_code int2, code_107_2017 text,
          code_110 text, code_107 text, code_103 text);
        create table comune_register (old_istat_code text, belfiore text, divided bool);
        create table comune_name (key text, belfiore text, kind text);
        create table boundary (member_id int4, position int8, kind text, code text, belfiore text, geom geometry(multipolygon, 4326));
        create table parcel (belfiore text, geom geometry(multipolygon, 4326));
        create table street (street_id int8, belfiore text, member_id int4, position int8);
        create table odonimo (member_id int4, position int8, progressivo_nazionale int8, search_types text[], search_tokens text[]);
        create table odonimo_indir (like odonimo);
        create table access_point (address_id int8, street_id int8, belfiore text, number int4, exponent text, colour text, geom geometry(point, 4326));`, 'test');
      await session.query(
        `insert into fuel_station select 1, 1, position, station_id, brand, type, name, address, comune, province, region_code, lat, lon, comune_key, array(select json_array_elements_text(street_types)),
           array(select json_array_elements_text(street_words)), number, exponent, colour, 13
         from json_to_recordset($1) as r (position int8, station_id text, brand text, type text, name text, address text, comune text, province text, region_code int2, lat float8, lon float8,
           comune_key text, street_types json, street_words json, number int4, exponent text, colour text)`, [JSON.stringify(rows)],
      );
      await session.script(
        "insert into comune_name select distinct comune_key, province || ' ' || comune_key, 'name' from fuel_station; insert into comune_code (belfiore, name, sigla, province_name, region_code, province_code, province_historic_code, istat_code) "
        + "select distinct province || ' ' || comune_key, comune, province, province, region_code, province, province, province || '000' from fuel_station", 'test',
      );
      const text = readFileSync(new URL('../../sql/core/point_of_interest.sql', import.meta.url), 'utf8');
      for (const { code, name } of REGIONS) {
        await session.script('savepoint region', 'test');
        await session.query('insert into region values ($1, $2)', [code, name]);
        await session.script(text, 'sql/core/point_of_interest.sql');
        for (const { id, reason } of await session.query<{ id: string; reason: string | null }>('select id, reason from point_of_interest')) {
          announced.set(id, (announced.get(id) ?? 0) + 1);
          counts.set(reason ?? 'placed', (counts.get(reason ?? 'placed') ?? 0) + 1);
        }
        await session.script('rollback to savepoint region', 'test');
      }
    });
    expect(announced.size).toBe(3_998);
    expect([...announced.values()].every((times) => times === 1)).toBe(true);
    expect([...counts.values()].reduce((sum, n) => sum + n, 0)).toBe(3_998);
    // No comune has data, so no station can be located.
    expect(Object.fromEntries([...counts].sort())).toEqual({ comune_not_loaded: 3_998 });
  });
});
