/** Tests that a search reports the comune in the query, with province and region, if no addresses of the comune are loaded. */
import { beforeAll, expect, it } from 'vitest';
import { search } from '../../api/geocoding.ts';
import { suggestions } from '../../api/suggestions.ts';
import type { Database } from '../../pipelines/db/index.ts';
import type { Reader } from '../../pipelines/db/reader.ts';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import { ADDRESS_SOURCES, ADDRESS_SQL, buildAddresses } from '../harness/address-workspace.ts';
import { describeDatabase } from '../harness/database.ts';
import { sectionWorkspace } from '../harness/section-workspace.ts';

const region = makeRegion({ parcels: 2_000, seed: 11 });

describeDatabase('the address search', (engine) => {
  let database: Database;
  beforeAll(async () => {
    database = await engine.openDatabase();
    const sql = [...ADDRESS_SQL, 'sql/api/geocoding_answer.sql', 'sql/api/completions.sql'];
    const workspace = await sectionWorkspace(database, { region, sources: ADDRESS_SOURCES, sql });
    await buildAddresses(workspace, database, region);
    await database.query("insert into core.region (code, name) values (20, 'Sardegna')");
    await database.query("insert into core.comune (belfiore, istat_code, name, province_code, province_name, sigla, region_code) values ('Y001', '999001', 'Vallescura', '999', 'Nessuna', 'VX', 20)");
    await database.query("insert into core.place_name values ('vallescura', 'name', 'Y001')");
    // Replaces the functions that need a publication, because this database contains no publication.
    await database.session((session) => session.script(
      `create or replace function api.hold_publication() returns void language sql as 'select';
       create or replace function api.publication_tag(p_day date) returns text language sql as 'select null::text';
       create or replace function api.envelope(p_data json, p_meta json) returns text language sql as 'select json_build_object(''data'', p_data, ''meta'', p_meta)::text'`, 'test',
    ));
  });

  const reader = { call: async (sql: string, values: readonly unknown[]) => (await database.query(sql, values))[0] } as unknown as Reader;
  const unloaded = [{ municipality: 'Vallescura', province: 'Nessuna', region: 'Sardegna' }];
  const asked = async (q: string, city: string | null = null): Promise<{ data: unknown[]; meta: { count: number; not_loaded?: unknown } }> =>
    JSON.parse((await search(reader, q, city, 10)).answer!) as never;

  it('returns no address, but the name, province and region of the comune, if the query names a comune without loaded addresses', async () => {
    for (const [q, city] of [['Via Roma 112, Vallescura', null], ['Vallescura', null], ['vallescura (VX)', null], ['Via Roma 112', 'Vallescura'], ['Via Roma 112', 'Y001'], ['Vallescura, Via Roma', null]] as const) {
      const { data, meta } = await asked(q, city);
      expect([q, data, meta.count, meta.not_loaded]).toEqual([q, [], 0, unloaded]);
    }
  });

  it('reports no comune as not loaded if the query names a comune with addresses, or names no known comune', async () => {
    const [{ italianName: loaded }] = region.comuni;
    for (const q of [`Via Roma 112, ${loaded}`, `Via Inesistentissima 1, ${loaded}`, 'Via Roma 112', 'Via Roma 112, Atlantidopoli', `Via Roma 112, ${loaded}, Vallescura`]) {
      expect((await asked(q)).meta, q).not.toHaveProperty('not_loaded');
    }
  });

  it('reports a comune without addresses in the map\'s suggestions, and marks each suggestion as an address or a street', async () => {
    expect((JSON.parse(await suggestions(reader, { q: 'Vallescura' })) as { meta: unknown }).meta).toMatchObject({ count: 0, not_loaded: unloaded });
    const kinds = async (q: string): Promise<unknown> => (JSON.parse(await suggestions(reader, { q })) as { data: { kind: string }[] }).data[0]!.kind;
    expect([await kinds(`Via Roma 112, ${region.comuni[0].italianName}`), await kinds(`Via Roma, ${region.comuni[0].italianName}`)]).toEqual(['address', 'street']);
  });
});
