/**
 * Tests with PostgreSQL's scan counters that requests use indexes. No request may completely read a table or an index that grows with the region.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ENDPOINTS } from '../../api/endpoints.ts';
import { warmUp } from '../../api/warm-up.ts';
import { SECTION_NAMES } from '../../pipelines/contract/sections.ts';
import { openReader } from '../../pipelines/db/reader.ts';
import { TILE_LAYERS } from '../../pipelines/deliver/tiles.ts';
import { tileAt } from '../../pipelines/formats/vector-tile.ts';
import { describeEngines } from '../harness/database.ts';
import { regionService, serviceOn } from './harness.ts';
import { inAllRegions } from '../harness/records.ts';

/** Number of parcels, large enough that the planner prefers an index in every table that grows with the region. */
const PARCELS = 20_000;
/** Number of rows above which a table is large. Other tables may be read completely. */
const LARGE = 5_000;

const UTM33 = 'http://www.opengis.net/def/crs/EPSG/0/32633';

/** Returns a filter's request parameters, encoded as in requests of QGIS. */
function qgis(filter: string): string {
  return `filter=${encodeURIComponent(filter)}&filter-lang=cql2-text`;
}

const SECTION_LAYERS = TILE_LAYERS.filter(({ section }) => section !== null).map(({ name }) => name);

function tilesOf(points: readonly { readonly lng: number; readonly lat: number }[], layer: string): string[] {
  return points.map(({ lng, lat }) => tileAt(16, lng, lat)).map(({ z, x, y }) => `/tiles/${z}/${x}/${y}?layer=${layer}`);
}

interface Scans extends Record<string, unknown> {
  readonly name: string;
  readonly rows: number;
  readonly sequential: number;
  readonly indexed: number;
  /** Highest number of entries that were read from a single index of the table. */
  readonly entries: number;
}

describeEngines('the REST API on a large region', (engine) => {
  let service: Awaited<ReturnType<typeof regionService>>;
  let questions: Readonly<Record<string, readonly string[]>>;

  beforeAll(async () => {
    service = await regionService(engine, PARCELS, 3, {});
    type Found = Record<'fid' | 'lat' | 'lng' | 'x' | 'y', number> & Record<'belfiore' | 'sheet' | 'label' | 'reference', string>;
    const parcels = await service.database.query<Found>(
      'select fid, reference, belfiore, sheet, label, round(st_y(point)::numeric, 7)::float8 as lat, round(st_x(point)::numeric, 7)::float8 as lng, st_x(st_transform(point, 32633)) as x, st_y(st_transform(point, 32633)) as y from core.parcel order by hashint4(fid) limit 40',
    );
    const addresses = await service.database.query<{ text: string; belfiore: string }>(
      `select s.name || ' ' || a.number as text, a.belfiore from core.access_point a join core.street s on s.region_code = a.region_code and s.street_id = a.street_id
       where a.number is not null and a.geom is not null order by hashint8(a.address_id) limit 40`,
    );
    const builtOn = await service.database.query<Pick<Found, 'lat' | 'lng'>>(
      'select st_y(point) as lat, st_x(point) as lng from core.parcel join section.buildings using (fid) where count > 0 order by hashint4(fid) limit 40',
    );
    questions = {
      detail: parcels.map(({ fid }) => `/parcels/${fid}`),
      'detail by reference': parcels.map(({ reference }) => `/parcels/${encodeURIComponent(reference.toLowerCase())}`),
      'locate by point': parcels.map(({ lat, lng }) => `/parcels/locate?lat=${lat}&lng=${lng}`),
      'locate by box': parcels.map(({ lat, lng }) => `/parcels/locate?bbox=${[lng - 0.0005, lat - 0.0005, lng + 0.0005, lat + 0.0005].map((side) => side.toFixed(7)).join(',')}`),
      'locate by polygon': parcels.map(({ lat, lng }) => `/parcels/locate?polygon=${encodeURIComponent(`POLYGON((${lng} ${lat}, ${lng + 0.001} ${lat}, ${lng} ${lat + 0.001}, ${lng} ${lat}))`)}`),
      neighbours: parcels.map(({ fid }) => `/parcels/${fid}/neighbours`),
      'locate by ten points': [0, 10, 20, 30].map((from) => `/parcels/locate?points=${parcels.slice(from, from + 10).map(({ lat, lng }) => `${lat},${lng}`).join(';')}`),
      'search for a sheet': parcels.map(({ belfiore, sheet }) => `/parcels/search?comune=${belfiore}&foglio=${sheet}`),
      'search for a parcel': parcels.map(({ belfiore, sheet, label }) => `/parcels/search?comune=${belfiore}&foglio=${sheet}&label=${label}`),
      reverse: parcels.map(({ lat, lng }) => `/geocode/reverse?lat=${lat}&lng=${lng}`),
      'search in a comune': addresses.map(({ text, belfiore }) => `/geocode/search?q=${encodeURIComponent(text)}&city=${belfiore}`),
      'search everywhere': addresses.map(({ text }) => `/geocode/search?q=${encodeURIComponent(text)}`),
      'search with a typo': addresses.map(({ text, belfiore }) => `/geocode/search?q=${encodeURIComponent(text.replace(/(\w\w)(\w)(\w)/, '$1$3$2'))}&city=${belfiore}`),
      // Queries while the user types. The last word, or the comune's name after the street, is incomplete.
      suggestions: addresses.map(({ text }, index) => `/map/suggestions?q=${encodeURIComponent(index % 2 === 0 ? text.replace(/\w{2} \d+$/, '') : `${text}, Cas`)}`),
      'features in a small box': parcels.map(({ lat, lng }) => `/ogc/collections/parcels/items?limit=20&bbox=${[lng - 0.0005, lat - 0.0005, lng + 0.0005, lat + 0.0005].map((side) => side.toFixed(7)).join(',')}`),
      'features of a comune': parcels.map(({ belfiore }) => `/ogc/collections/parcels/items?limit=20&municipality_code=${belfiore}`),
      // Requests of QGIS, as in docs/ogc-conformance.md. Each request has the filter of the layer and the box of the view in CRS84 or UTM, or only the filter.
      'features for QGIS in a map view': parcels.map(({ lat, lng }) => `/ogc/collections/parcels/items?limit=1000&${qgis(`(("kind" = 'land') AND ("area_m2" > 100))`)}&bbox=${[lng - 0.0005, lat - 0.0005, lng + 0.0005, lat + 0.0005].map(String).join(',')}`),
      'features for QGIS in a map view in UTM': parcels.map(({ x, y }) => `/ogc/collections/parcels/items?limit=1000&${qgis(`(("kind" = 'land') AND ("area_m2" > 100))`)}&bbox=${[x - 50, y - 50, x + 50, y + 50].map(String).join(',')}&bbox-crs=${UTM33}&crs=${UTM33}`),
      'features for QGIS without a box': parcels.map(({ belfiore }) => `/ogc/collections/parcels/items?limit=20&${qgis(`(("municipality_code" = '${belfiore}') AND "label" IN ('1','2','3'))`)}&crs=${UTM33}`),
      'features for QGIS at a point': parcels.map(({ x, y }) => `/ogc/collections/parcels/items?limit=1000&${qgis(`S_INTERSECTS(geometry,POINT(${x} ${y}))`)}&filter-crs=${UTM33}&crs=${UTM33}`),
      'features for QGIS in a box': parcels.map(({ x, y }) => `/ogc/collections/parcels/items?limit=1000&${qgis(`S_INTERSECTS(geometry,BBOX(${[x - 50, y - 50, x + 50, y + 50].join(',')}))`)}&filter-crs=${UTM33}&crs=${UTM33}`),
      'features in a box with a filter': parcels.map(({ lat, lng }) => `/ogc/collections/parcels/items?limit=20&filter-lang=cql2-text&filter=${encodeURIComponent("(area_m2 > 100) AND (kind = 'land')")}&bbox=${[lng - 0.0005, lat - 0.0005, lng + 0.0005, lat + 0.0005].map((side) => side.toFixed(7)).join(',')}`),
      'features by a filter on the comune': parcels.map(({ belfiore }) => `/ogc/collections/parcels/items?limit=20&filter=${encodeURIComponent(`(municipality_code = '${belfiore}') AND (label LIKE '1%')`)}`),
      'features by a filter on the reference': parcels.map(({ reference }) => `/ogc/collections/parcels/items?filter=${encodeURIComponent(`cadastral_reference = '${reference}'`)}`),
      'features by a filter on the geometry': parcels.map(({ lat, lng }) => `/ogc/collections/parcels/items?limit=20&filter=${encodeURIComponent(`S_INTERSECTS(geometry, POLYGON((${lng} ${lat}, ${lng + 0.001} ${lat}, ${lng} ${lat + 0.001}, ${lng} ${lat}))) AND area_m2 BETWEEN 1 AND 1000000`)}`),
      'features after a fid': parcels.map(({ fid }) => `/ogc/collections/parcels/items?limit=20&after=${fid}`),
      'tile of parcels': tilesOf(parcels, 'parcels'),
      'tile of building outlines': tilesOf(builtOn, 'footprints'),
      'tile of house numbers': tilesOf(parcels, 'house_numbers'),
      'tile of a section': SECTION_LAYERS.flatMap((layer) => tilesOf(parcels.slice(0, 3), layer)),
      'quality of a comune': parcels.map(({ belfiore }) => `/admin/municipalities/${belfiore}/quality`),
      lists: Array.from({ length: 14 }, () => ['/admin/regions', '/admin/provinces?region=14', '/admin/municipalities?province=IS']).flat(),
    };
  });
  afterAll(() => service?.close());

  /** Waits up to 10 seconds until the server has no connections. A connection reports its counts before it closes. */
  async function reported(): Promise<void> {
    for (let wait = 0; wait < 100; wait += 1) {
      const [open] = await service.database.query<{ n: number }>("select count(*)::int4 as n from pg_stat_activity where datname = current_database() and application_name = 'mappale server'");
      if (open!.n === 0) return;
      await sleep(100);
    }
  }

  /** Returns the scans of large tables during requests to a separate server. The connections of that server report their counts when they close. */
  async function scansOf(paths: readonly string[]): Promise<Scans[]> {
    // The connection must report the scans of its earlier queries before the counts are reset. Otherwise, it may report them up to a minute later.
    await service.database.query('select pg_stat_force_next_flush()');
    await service.database.query('select pg_stat_reset()');
    const server = await serviceOn(service.database, service.url);
    const key = await service.token();
    for (const path of paths) expect((await server.ask(path, { key })).status, path).toBe(200);
    await server.close();
    await reported();
    return service.database.query<Scans>(
      `select s.schemaname || '.' || s.relname as name, c.reltuples::int8 as rows, s.seq_scan as sequential, coalesce(s.idx_scan, 0) as indexed,
         (select coalesce(max(i.idx_tup_read), 0) from pg_stat_user_indexes i where i.relid = s.relid) as entries
       from pg_stat_user_tables s join pg_class c on c.oid = s.relid
       where s.schemaname in ('core', 'section', 'layer', 'access') and c.reltuples > $1 and s.seq_scan + coalesce(s.idx_scan, 0) > 0 order by 1`, [LARGE],
    );
  }

  it.each(['detail', 'detail by reference', 'locate by point', 'locate by ten points', 'locate by box', 'locate by polygon', 'neighbours', 'search for a sheet', 'search for a parcel', 'reverse', 'search in a comune', 'search everywhere', 'search with a typo', 'suggestions', 'features in a small box', 'features of a comune', 'features for QGIS in a map view', 'features for QGIS in a map view in UTM', 'features for QGIS without a box', 'features for QGIS at a point', 'features for QGIS in a box', 'features in a box with a filter', 'features by a filter on the comune', 'features by a filter on the reference', 'features by a filter on the geometry', 'features after a fid', 'tile of parcels', 'tile of building outlines', 'tile of house numbers', 'tile of a section', 'quality of a comune', 'lists'])('reads no large table or index completely: %s', async (name) => {
    const paths = questions[name]!;
    const scans = await scansOf(paths);
    // Connections that loaded the region may still report a few scans. A plan with a complete scan would cause a scan in every request.
    expect(scans.filter(({ sequential }) => sequential * 4 > paths.length)).toEqual([]);
    // A plan could also read an index completely, for example as a bitmap of all fids that is combined with the parcels of a box.
    expect(scans.filter(({ entries, rows }) => entries > paths.length * rows / 2)).toEqual([]);
    if (name !== 'lists') expect(scans.filter(({ indexed }) => indexed > 0).length).toBeGreaterThan(0);
  });

  it('reads the parcel once and each requested section once for a record with meta.coverage', async () => {
    // Four sections are not requested, because they read other tables, too. Population reads the census section of the parcel. Solar and nightlights without
    // values read the coverage at the parcel. Economics reads the editions of the postal code and of the prices.
    const include = SECTION_NAMES.filter((name) => !['population', 'solar', 'nightlights', 'economics'].includes(name)).join(',');
    const paths = questions['detail']!.map((path) => `${path}?include=${include}`);
    const scans = await scansOf(paths);
    const perRecord = new Map(scans.map(({ name, indexed }) => [name.replace(/_\d+_\d+$/, ''), indexed / paths.length]));
    // The planner may read both ends of an index each time it plans a statement again, which happens if other tests change many catalogs.
    const once = expect.toSatisfy((count: number) => count >= 1 && count < 1.25);
    expect(perRecord.get('core.parcel')).toEqual(once);
    for (const [table, count] of perRecord) if (table.startsWith('section.')) expect([table, count]).toEqual([table, once]);
  });

  it('locks only partitions for a record, and returns the same record as a read from the tables of all regions', async () => {
    const { database } = service;
    const [parcel] = await database.query<{ fid: number }>('select fid from core.parcel order by hashint4(fid) limit 1');
    const asked = [parcel!.fid, SECTION_NAMES] as const;
    await database.session((session) => session.transaction(async () => {
      const [own] = await session.query<{ record: string }>('select head as record from api.region_record($1, $2)', asked);
      const held = await session.query<{ name: string; kind: string }>(
        "select c.oid::regclass::text as name, c.relkind as kind from pg_locks l join pg_class c on c.oid = l.relation where l.pid = pg_backend_pid() and c.relnamespace in ('core'::regnamespace, 'section'::regnamespace)",
      );
      // The partitioned tables themselves are never locked, only their partitions.
      expect(held.filter(({ kind }) => kind === 'p')).toEqual([]);
      expect(held.filter(({ name }) => name.startsWith('section.')).length).toBeGreaterThan(SECTION_NAMES.length - 3);
      const [all] = await inAllRegions(session, () => session.query<{ record: string }>('select head as record from api.parcel_record($1, $2, null::core.parcel)', asked));
      expect(own!.record).toBe(all!.record);
    }));
  });

  it('plans no query of a record again, because functions in SQL are inlined', async () => {
    type Called = { name: string; language: string; of_region: boolean };
    const rounds = await service.database.session(async (session) => {
      const ask = async (): Promise<void> => {
        // The server uses the same setting.
        await session.query("set local plan_cache_mode to 'force_generic_plan'");
        for (const path of questions['detail']!) await session.query('select head from api.parcel_answer($1, $2)', [Number(path.split('/').at(-1)), SECTION_NAMES]);
      };
      // A connection plans each statement once, at the first request.
      await session.transaction(ask);
      const counted = (): Promise<Called[]> => session.transaction(async () => {
        await session.query("set local track_functions to 'all'");
        await ask();
        return session.query<Called>(
          `select p.proname as name, l.lanname as language, 'anyelement'::regtype = any (p.proargtypes::oid[]) as of_region
           from pg_proc p join pg_language l on l.oid = p.prolang
           where pg_stat_get_xact_function_calls(p.oid) > 0 and l.lanname in ('sql', 'plpgsql') order by 1`,
        );
      });
      const rounds: Called[][] = [];
      do rounds.push(await counted());
      while (rounds.length < 20 && rounds.at(-1)!.some(({ language }) => language === 'sql'));
      return rounds;
    });
    // Catalogue changes in other databases of the cluster drop a session's plans. The planner then calls functions with constant arguments, but not in every
    // round. A function that is not inlined is called in every round.
    const called = rounds.at(-1)!;
    expect(called.filter(({ language }) => language === 'plpgsql').length).toBeGreaterThan(SECTION_NAMES.length);
    expect(called.filter(({ language }) => language === 'sql')).toEqual([]);
    // A function with an argument of the region's type has separate plans for each region. The functions listed below run outside the search path of a region,
    // or plan no query.
    expect(called.filter(({ language, of_region }) => language === 'plpgsql' && !of_region).map(({ name }) => name))
      .toEqual(['hold_publication', 'parcel_answer', 'publication_tag', 'region_record']);
  });

  it('runs the examples of the endpoints on each connection before the server starts, even if the publication in an example does not exist', async () => {
    const reader = await openReader(service.database, service.url, { connections: 2, statementTimeoutMs: 20_000 });
    const asked: Set<string>[] = [];
    const onEach: typeof reader.onEach = (work) => reader.onEach((connection) => {
      const texts = new Set<string>();
      asked.push(texts);
      const call: typeof reader.call = (statement, parameters, bounds) => {
        texts.add(statement);
        return connection.call(statement, parameters, bounds);
      };
      return work({ ...connection, call });
    });
    await warmUp({ ...reader, onEach });
    await reader.close();
    const statements = asked.map((texts) => [...texts].join('\n'));
    expect(statements.length).toBe(2);
    for (const text of statements) for (const name of ['publication_counts', 'parcel_answer', 'parcel_neighbours', 'search_answer', 'features']) expect(text).toContain(`api.${name}(`);
    for (const { size } of asked) expect(size).toBeGreaterThan(ENDPOINTS.length / 2);
  });

  it('starts no parallel workers for a query', async () => {
    const reader = await openReader(service.database, service.url, { connections: 1, statementTimeoutMs: 20_000 });
    expect(await reader.call("select current_setting('max_parallel_workers_per_gather') as workers", [])).toEqual({ workers: '0' });
    await reader.close();
  });

  it('updates one row in place for a counted request', async () => {
    // The connection must report the scans of its earlier queries before the counts are reset. Otherwise, it may report them up to a minute later.
    await service.database.query('select pg_stat_force_next_flush()');
    await service.database.query('select pg_stat_reset()');
    const server = await serviceOn(service.database, service.url);
    const key = await service.token();
    for (let count = 0; count < 60; count += 1) await server.ask('/admin/regions', { key });
    await server.close();
    let row: { updated: number; hot: number } | undefined;
    for (let wait = 0; wait < 50 && (row?.updated ?? 0) < 59; wait += 1) {
      await sleep(100);
      [row] = await service.database.query<{ updated: number; hot: number }>("select n_tup_upd as updated, n_tup_hot_upd as hot from pg_stat_user_tables where schemaname = 'access' and relname = 'rate_window'");
    }
    expect(row).toEqual({ updated: 59, hot: 59 });
  });
}, ['postgres']);
