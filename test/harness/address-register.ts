/** Publishes a comune with addresses, an earlier file and a boundary that a test defines. */
import type { Database } from '../../pipelines/db/index.ts';

export interface MadeAddress {
  readonly id: number;
  /** Key of the street: 1 VIA UNO, 2 VIA DUE, 3 VIA TRE. */
  readonly street: number;
  /** Null if the address has no number. */
  readonly number: number | null;
  readonly exponent?: string;
  readonly colour?: string;
  /** Longitude and latitude in degrees. Absent if there is no point. */
  readonly at?: readonly [number, number];
}

/** Files of the database in addition to the current file of the comune `A001`. */
export interface MadeRegister {
  /** Addresses of the earlier file. Absent if there is no earlier file. */
  readonly earlier?: readonly MadeAddress[];
  /** Square of the comune in degrees: west, south, east, north. Absent if no boundary is loaded. */
  readonly square?: readonly [number, number, number, number];
}

export const REGION = 14;
export const COMUNE = 'A001';
/** Names of the streets of the comune. The first street has the key 1. */
const STREETS = ['VIA UNO', 'VIA DUE', 'VIA TRE'];
const [EARLIER, CURRENT, BOUNDARY] = [1, 2, 3];

const ROW = "nullif(a ->> 'number', '')::int4";
const POINT = "case when a ? 'at' then st_setsrid(st_makepoint((a #>> '{at,0}')::float8, (a #>> '{at,1}')::float8), 4326) end";

/** Creates the comune, the partitions and a current publication, but no addresses. Call it once on a migrated, empty database, before `writeRegister`. */
export async function publishRegister(database: Database): Promise<void> {
  await database.session((session) => session.script(`
    insert into ledger.run (command, arguments, version, host, pid) values ('test', '{}', '0', 'test', 1);
    insert into core.comune (istat_code, belfiore, name, region_code, province_code, province_name) values ('070001', '${COMUNE}', 'Prova', ${REGION}, '070', 'Campobasso');
    create table core.street_made partition of core.street for values in (${REGION});
    create table core.access_point_made partition of core.access_point for values in (${REGION});
    create table layer.accesso_made partition of layer.accesso for values in (${EARLIER}, ${CURRENT});
    create table layer.odonimo_indir_made partition of layer.odonimo_indir for values in (${EARLIER}, ${CURRENT});
    create table layer.boundary_made partition of layer.boundary for values in (${BOUNDARY});
    insert into ledger.publication (unit_code, run_id, state) select ${REGION}, run_id, 'current' from ledger.run;
  `, 'test/harness/address-register.ts'));
}

/** Replaces the streets, addresses and files of the comune. VIA TRE is written only if it has an address. */
export async function writeRegister(database: Database, addresses: readonly MadeAddress[], { earlier, square }: MadeRegister = {}): Promise<void> {
  await database.query('delete from ledger.release');
  for (const table of ['core.street', 'core.access_point', 'layer.accesso', 'layer.odonimo_indir', 'layer.boundary']) await database.query(`delete from ${table}`);
  if (earlier !== undefined) await writeFile(database, { release: EARLIER, vintage: '2026-01', layer: 'accesso', isUsed: false });
  await writeFile(database, { release: CURRENT, vintage: '2026-02', layer: 'accesso', isUsed: true });
  if (square !== undefined) {
    await writeFile(database, { release: BOUNDARY, vintage: '2026', layer: 'boundary', isUsed: true });
    await database.query(
      `insert into layer.boundary (release_id, member_id, position, kind, code, name, vintage, area_m2, made_valid, geom)
       values (${BOUNDARY}, ${BOUNDARY}, 1, 'comune', '070001', 'Prova', '2026', 1, false, st_multi(st_makeenvelope($1, $2, $3, $4, 4326)))`, square,
    );
  }
  await database.query(
    `insert into core.street (region_code, street_id, belfiore, name, odonimo, accesses, located, release_id, member_id, position)
     select ${REGION}, s.id, '${COMUNE}', initcap(s.name), s.name, count(a), count(a -> 'at'), ${CURRENT}, ${CURRENT}, s.id
     from unnest($1::text[]) with ordinality as s (name, id) left join jsonb_array_elements($2::jsonb) a on (a ->> 'street')::int8 = s.id
     group by s.id, s.name having s.id < 3 or count(a) > 0`, [STREETS, JSON.stringify(addresses)],
  );
  await database.query(
    `insert into core.access_point (region_code, address_id, street_id, belfiore, number, exponent, colour, geom, quality, release_id, member_id, position)
     select ${REGION}, (a ->> 'id')::int8, (a ->> 'street')::int8, '${COMUNE}', ${ROW}, a ->> 'exponent', a ->> 'colour', ${POINT}, 'good', ${CURRENT}, ${CURRENT}, 1
     from jsonb_array_elements($1::jsonb) a`, [JSON.stringify(addresses)],
  );
  for (const [release, rows] of [[EARLIER, earlier ?? []], [CURRENT, addresses]] as const) {
    await database.query(
      `insert into layer.accesso (release_id, member_id, position, progressivo_accesso, progressivo_nazionale, belfiore, civico, esponente, specificita, geom, coordinate_flag)
       select ${release}, ${release}, 1, (a ->> 'id')::int8, (a ->> 'street')::int8, '${COMUNE}', ${ROW}, a ->> 'exponent', a ->> 'colour', ${POINT}, 'good'
       from jsonb_array_elements($1::jsonb) a`, [JSON.stringify(rows)],
    );
  }
  await database.query(
    `insert into layer.odonimo_indir (release_id, member_id, position, progressivo_nazionale, belfiore, odonimo, display_name, search_kinds, search_types, search_tokens)
     select ${EARLIER}, ${EARLIER}, s.id, s.id, '${COMUNE}', s.name, initcap(s.name), '{}', '{}', '{}' from unnest($1::text[]) with ordinality as s (name, id)`, [STREETS],
  );
}

interface MadeFile {
  readonly release: number;
  readonly vintage: string;
  readonly layer: string;
  /** Whether the current publication uses the file. */
  readonly isUsed: boolean;
}

async function writeFile(database: Database, { release, vintage, layer, isUsed }: MadeFile): Promise<void> {
  await database.query(
    `insert into ledger.release (release_id, source_id, vintage, fingerprint, reader, complete, state)
     overriding system value values ($1, 'made', $2, $2, 'made', true, 'loaded')`, [release, vintage],
  );
  await database.query(
    `insert into ledger.file (file_id, release_id, path, name, role, sha256, size, vintage, complete)
     overriding system value values ($1, $1, '', $3, 'made', $2, 1, $2, true)`, [release, vintage, `${vintage}.zip`],
  );
  await database.query(
    `insert into ledger.file_place (file_id, layer, series, named, places) values ($1, $2, '', true, array['${COMUNE}'])`, [release, layer],
  );
  await database.query('insert into ledger.member (member_id, release_id, file_id, path) overriding system value values ($1, $1, $1, $2)', [release, '']);
  if (isUsed) await database.query("insert into ledger.publication_file select publication_id, $1 from ledger.publication where state = 'current'", [release]);
}
