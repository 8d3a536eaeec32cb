/** Builds the address tables of a synthetic region with the project's SQL, in the schemas that the API functions read. */
import type { Database } from '../../pipelines/db/index.ts';
import type { SyntheticRegion } from '../../pipelines/synthetic/region.ts';
import type { SectionWorkspace } from './section-workspace.ts';

/** Sources of the synthetic files. */
export const ADDRESS_SOURCES: readonly string[] = ['istat_comuni', 'istat_soppressi', 'postal_codes', 'anncsu_addresses'];

/** SQL files that `sectionWorkspace` needs in addition to the core. */
export const ADDRESS_SQL: readonly string[] = [
  'sql/migrations/0017_address.sql', 'sql/migrations/0018_comune_register.sql', 'sql/record/address_json.sql', 'sql/sections/address/record.sql', 'sql/api/geocode_comune.sql',
  'sql/api/geocode_search.sql', 'sql/api/geocode_reverse.sql',
];

const TABLES: readonly (readonly [string, string])[] = [
  ['sql/core/access_point.sql', 'core.access_point'], ['sql/core/street.sql', 'core.street'], ['sql/core/token.sql', 'core.token'],
  ['sql/core/street_name.sql', 'core.street_name'], ['sql/core/comune_register.sql', 'core.comune_register'], ['sql/core/comune_found.sql', 'core.comune_found'], ['sql/core/comune_name.sql', 'core.comune_name'], ['sql/core/place_name.sql', 'core.place_name'],
  ['sql/sections/address/build.sql', 'section.address'],
];

/** Builds and publishes the tables. Fills `core.province`, `core.region` and `core.comune` from the synthetic region. */
export async function buildAddresses(workspace: SectionWorkspace, database: Database, region: SyntheticRegion): Promise<void> {
  for (const [file] of TABLES) await workspace.run(file);
  for (const [, relation] of TABLES) await workspace.publish(relation.split('.')[1]!, relation);
  await database.query(
    'insert into core.province (code, name, abbreviation, region_code) select distinct province_code, province_name, sigla, region_code from layer.comune_code',
  );
  await database.query('insert into core.region (code, name) values ($1, $2)', [region.code, region.name]);
  await database.query(
    `insert into core.comune (belfiore, istat_code, name, name_other, province_code, province_name, sigla, region_code)
     select belfiore, istat_code, name, name_other, province_code, province_name, sigla, region_code from layer.comune_code`,
  );
  await database.query('analyze');
}
