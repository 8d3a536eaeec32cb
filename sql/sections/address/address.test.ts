import { describe, expect, it } from 'vitest';
import { comuneKey } from '../../../pipelines/address/normalise.ts';
import { makeRegion } from '../../../pipelines/synthetic/make-region.ts';
import synthetic from '../../../sources/anncsu_addresses/synthetic.ts';
import { ADDRESS_SOURCES, ADDRESS_SQL, buildAddresses } from '../../../test/harness/address-workspace.ts';
import { describeDatabase } from '../../../test/harness/database.ts';
import { createFunctions } from '../../../test/harness/functions.ts';
import { describeWorkspace, syntheticFid } from '../../../test/harness/section-workspace.ts';
import { splitAt, sqlOf } from '../../../test/harness/sql.ts';
import { queryRecords } from '../../../test/harness/records.ts';

const region = makeRegion({ parcels: 2_000, seed: 11 });

describeWorkspace('the section address', { region, sources: ADDRESS_SOURCES, sql: ADDRESS_SQL }, async (workspace, database) => {
  await buildAddresses(workspace, database, region);
}, (built) => {
  it('gives every synthetic parcel, including roads and waters, the expected addresses', async () => {
    const truth = synthetic.truth!(region);
    const rows = await queryRecords<{ fid: number; json: unknown[] }>(built.database, `select p.fid, (api.section_address(p.fid, null::core.parcel)).value as json from ${built.workspace.schema}.parcel p order by p.fid`);
    expect(rows).toHaveLength(region.parcelCount);
    const expected = [...region.parcels()].map((parcel) => ({
      fid: syntheticFid(region, parcel.index),
      json: (truth(parcel) as { address: Record<string, unknown>[] }).address,
    }));
    expect(rows).toEqual(expected);
    // Checks that the synthetic data has every case.
    const lengths = expected.map(({ json }) => json.length);
    expect(lengths).toContain(0);
    expect(lengths.filter((length) => length === 20).length).toBeGreaterThan(0);
    expect(lengths.filter((length) => length > 0).length).toBeGreaterThan(300);
    const shown = new Set(expected.flatMap(({ json }) => json.map((address) => address['street_number'])));
    for (const number of ['KM 3+200', 'KM 0+045', 'SNC', '112/A', '130/BIS', '151 ROSSO']) expect(shown).toContain(number);
  });

  it('assigns to a land parcel only access points inside or within 15 m, and assigns none to roads and waters', async () => {
    const rows = await built.workspace.session((session) => session.query<{ inside: boolean; n: number; farthest: number }>(
      'select inside, count(*)::int4 as n, max(distance_m) as farthest from address group by inside order by inside',
    ));
    expect(rows.map(({ inside }) => inside)).toEqual([false, true]);
    expect(rows[0]!.n).toBeGreaterThan(15);
    expect(rows[0]!.farthest).toBeGreaterThan(5);
    expect(rows[0]!.farthest).toBeLessThanOrEqual(15);
    expect(rows[1]!.farthest).toBe(0);
    const [roads] = await built.workspace.session((session) => session.query<{ n: number }>("select count(*)::int4 as n from address join parcel using (fid) where kind <> 'land'"));
    expect(roads!.n).toBe(0);
  });

  it('finds parcels with an index and measures only parcels whose boxes match', async () => {
    const near = splitAt(sqlOf('sql/steps/placement.sql'), 'point_near').query;
    const plan = await built.workspace.session(async (session) => {
      await session.script(`set enable_seqscan to off;
        create temporary view point as select address_id as id, belfiore, geom from access_point;
        create temporary view point_inside as select address_id as id from address where inside;`, 'test');
      const lines = await session.query<{ 'QUERY PLAN': string }>(`explain ${near}`);
      await session.script('drop view point, point_inside', 'test');
      return lines.map((line) => line['QUERY PLAN']).join('\n');
    });
    expect(plan).toMatch(/Index Scan using parcel_geom\w* on parcel/);
    expect(plan).not.toMatch(/SubPlan/);
  });
});

describeDatabase('the key of a comune', (engine) => {
  it('is the same in SQL and in the query parser, even for names with accents, abbreviations or two languages', async () => {
    const database = await engine.openDatabase();
    await database.session(createFunctions);
    const names = [
      ...region.comuni.flatMap(({ name, italianName, otherName }) => [name, italianName, otherName ?? '']), ...makeRegion({ parcels: 400_000, seed: 3 }).comuni.map(({ name }) => name),
      "Reggio nell'Emilia", 'Reggio di Calabria', 'La Spezia', "L'Aquila", 'Forlì', "FORLI'", 'S. Giorgio a Cremano', 'San Giorgio a Cremano', "Sant'Angelo dei Lombardi", 'SS. Cosma e Damiano',
      'Bolzano/Bozen', 'St. Ulrich in Gröden', 'Weißenbach', 'Duino Aurisina-Devin Nabrežina', "Valle d'Aosta/Vallée d'Aoste", "Canale d'Agordo", 'Aosta', 'Re', 'Ne', 'Lu', 'E', 'San', 'La Valle/Wengen',
      'Ampezzo 2', 'Però', 'ÈÀÒ', '',
    ];
    const rows = await database.query<{ name: string; key: string }>('select name, core.comune_key(name) as key from unnest($1::text[]) as n (name)', [names]);
    expect(rows).toHaveLength(names.length);
    for (const { name, key } of rows) expect(key, name).toBe(comuneKey(name));
    expect(rows.find(({ name }) => name === "Reggio nell'Emilia")!.key).toBe('reggio emilia');
  });
});

describe('the synthetic addresses', () => {
  it('belong to more than 300 parcels, which are all of kind land', () => {
    const truth = synthetic.truth!(region);
    const owners = [...region.parcels()].filter((parcel) => (truth(parcel) as { address: unknown[] }).address.length > 0);
    expect(owners.length).toBeGreaterThan(300);
    expect(owners.every(({ kind }) => kind === 'land')).toBe(true);
  });
});
