/**
 * Tests the views of layers in the workspace of a region that uses a few places of national files. Without statistics of these places, PostgreSQL read the
 * national quotations again for each zone of the region.
 */
import { expect, it } from 'vitest';
import { createSchema } from '../../pipelines/db/ddl.ts';
import { inWorkspace, provideAll, provideMembers, viewOfLayer } from '../../pipelines/db/layers.ts';
import type { Database, Session } from '../../pipelines/db/index.ts';
import { describeDatabase } from '../harness/database.ts';
import { migratedDatabase } from '../harness/fresh-context.ts';
import { sqlOf } from '../harness/sql.ts';

const SCHEMA = 'build_14';
const HALF_YEARS = 4;
const COMUNI = 40;
/** Comuni of the region. */
const OWN = 10;

/** A release of one national file with five zones for each comune and half-year. Each zone except the fifth has a quotation. */
const SETUP = `
  insert into ledger.release (release_id, source_id, vintage, fingerprint, reader, complete, state) overriding system value values (1, 'omi_quotations', '2025_1', 'f', 'r', true, 'loaded');
  insert into ledger.file (file_id, release_id, path, name, role, sha256, size, vintage, complete, present) overriding system value values (1, 1, 'QI.zip', 'QI.zip', 'ARCHIVE', 's', 1, '2025_1', true, true);
  insert into ledger.member (member_id, release_id, file_id, path) overriding system value values (1, 1, 1, 'ZONE.csv'), (2, 1, 1, 'VALORI.csv');
  create table layer.omi_zone_1 partition of layer.omi_zone for values in (1);
  create table layer.omi_quotation_1 partition of layer.omi_quotation for values in (1);
  create table listed as
  select h as half_year, h::text as semester, 'Z' || lpad(c::text, 3, '0') as belfiore, 'B' || z as zona
  from generate_series(1, ${HALF_YEARS}) as h cross join generate_series(1, ${COMUNI}) as c cross join generate_series(1, 5) as z;
  insert into layer.omi_zone (release_id, member_id, position, semester, half_year, elaborated, region_code, belfiore, comune_name, fascia, zona, link_zona, prevalent_cod_tip)
  select 1, 1, row_number() over (), semester, half_year, '2025-09-01', 14, belfiore, belfiore, 'B', zona, belfiore || zona, 20 from listed;
  insert into layer.omi_quotation (release_id, member_id, position, semester, half_year, elaborated, region_code, belfiore, comune_name, fascia, zona, link_zona, cod_tip, type, stato_prev)
  select 1, 2, row_number() over (), semester, half_year, '2025-09-01', 14, belfiore, belfiore, 'B', zona, belfiore || zona, 20, 'Abitazioni', true from listed where zona <> 'B5';
  create table own_zone as select position, half_year, belfiore, zona, member_id from layer.omi_zone where belfiore <= 'Z' || lpad('${OWN}', 3, '0');
  create table own_quotation as select half_year, belfiore, zona, member_id from layer.omi_quotation where belfiore <= 'Z' || lpad('${OWN}', 3, '0');
`;

/** Creates the views of the layers in the workspace, with the region's comuni as the current places of the file. */
async function provideLayers(session: Session): Promise<void> {
  await createSchema(session, SCHEMA);
  await provideMembers(session, SCHEMA, [{ fileId: 1, rank: 1, vintage: '2025_1' }]);
  const places = Array.from({ length: HALF_YEARS * OWN }, (_, at) => ({ series: String(1 + at % HALF_YEARS), place: `Z${String(1 + Math.floor(at / HALF_YEARS)).padStart(3, '0')}` }));
  const rows = { releases: [], files: [], parts: [{ fileId: 1, releaseIds: [1], places }], columns: { series: ['semester'], place: 'belfiore' } };
  const views = [await viewOfLayer(session, SCHEMA, 'layer.omi_zone', rows), await viewOfLayer(session, SCHEMA, 'layer.omi_quotation', rows)];
  await provideAll(session, SCHEMA, views);
  await session.script(`create table ${SCHEMA}.quotation_zone as select * from own_zone; create table ${SCHEMA}.quotation as select * from own_quotation`, import.meta.url);
}

describeDatabase('the workspace of a region that uses a few comuni of national OMI files', (engine) => {
  it('has statistics of the current places before SQL reads the layers, and finds the quotations of each zone', async () => {
    const database: Database = await engine.openDatabase(await migratedDatabase(engine));
    await database.session((session) => session.script(SETUP, import.meta.url));
    await inWorkspace(database, SCHEMA, async (session) => {
      await provideLayers(session);
      expect(await session.query(`select reltuples from pg_class where oid = '${SCHEMA}.current_place'::regclass`)).toEqual([{ reltuples: 2 * HALF_YEARS * OWN }]);
      const rows = await session.query<{ known: unknown; broken: unknown }>(sqlOf('sql/gates/quotation_zone.sql'));
      expect(rows.map(({ known, broken }) => [Number(known), Number(broken)])).toEqual(Array.from({ length: HALF_YEARS }, () => [5 * OWN, OWN]));
    });
  });
});
