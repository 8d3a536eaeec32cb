/** Tests tiles with an independent decoder. A tile contains the parcels that SQL finds in its box, at their positions, with the values of their records. */
import { VectorTile } from '@mapbox/vector-tile';
import { PbfReader } from 'pbf';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildServer } from '../../api/server.ts';
import { SignInLink } from '../../api/sign-in.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { SECTION_NAMES, SECTIONS } from '../../pipelines/contract/sections.ts';
import { LEGENDS, TILE_LAYERS, TILE_TYPE } from '../../pipelines/deliver/tiles.ts';
import { SILENT } from '../../pipelines/log.ts';
import { explain } from '../../pipelines/operate/explain.ts';
import { describeEngines } from '../harness/database.ts';
import { REGIONS } from '../harness/loaded-region.ts';
import { BASE, violationsOf, regionService, VERSION } from './harness.ts';

type Json = Record<string, unknown>;

interface Feature {
  readonly id: number | undefined;
  readonly properties: Readonly<Record<string, unknown>>;
  /** The geometry as GeoJSON. */
  readonly geometry: object;
}

/** Names of the layers that draw a value of a section. */
const VALUED = TILE_LAYERS.filter(({ section }) => section !== null).map(({ name }) => name);

type TileRow = { readonly x: number; readonly y: number };

describeEngines('a tile of the map', (engine) => {
  let service: Awaited<ReturnType<typeof regionService>>;
  let key: string;
  let all: number[];

  beforeAll(async () => {
    service = await regionService(engine, ...REGIONS.whole);
    key = await service.token();
    all = (await service.database.query<{ fid: number }>('select p.fid from core.parcel p order by p.fid')).map(({ fid }) => fid);
  });
  afterAll(() => service?.close());

  const features = async (layer: string, z: number, { x, y }: TileRow): Promise<Feature[]> => {
    const response = await service.app.inject({ method: 'GET', url: `${BASE}/tiles/${z}/${x}/${y}?layer=${layer}`, headers: { 'x-api-key': key } });
    if (response.statusCode === 204) return [];
    expect([response.statusCode, response.headers['content-type']]).toEqual([200, TILE_TYPE]);
    const { layers } = new VectorTile(new PbfReader(response.rawPayload));
    expect(Object.keys(layers)).toEqual([layer]);
    const found = layers[layer]!;
    expect([found.version, found.extent]).toEqual([2, 4096]);
    return Array.from({ length: found.length }, (_, index) => {
      const feature = found.feature(index);
      return { id: feature.id, properties: { ...feature.properties }, geometry: feature.toGeoJSON(x, y, z).geometry };
    });
  };

  /** Returns the tiles of a zoom that contain representative points of parcels, sorted by decreasing number of these points. */
  const tiles = (z: number): Promise<TileRow[]> => service.database.query<TileRow>(
    `select floor((st_x(p.point) + 180) / 360 * 2 ^ $1)::int4 as x,
       floor((0.5 - ln(tan(pi() / 4 + radians(st_y(p.point)) / 2)) / (2 * pi())) * 2 ^ $1)::int4 as y
     from core.parcel p group by 1, 2 order by count(*) desc, 1, 2`, [z],
  );

  /** SQL expression for the box of a tile, including the margin around the tile. */
  const BOX = 'st_transform(st_tileenvelope($1, $2, $3, margin => 64 / 4096.0), 4326)';

  it.each([14, 16])('contains each parcel that SQL finds in its box exactly once at zoom %i, within one tile unit of the parcel\'s position', async (z) => {
    const found = new Set<number>();
    // One unit of the tile in degrees of longitude. A tile has 4,096 units on each side.
    const unit = 360 / 2 ** z / 4096;
    for (const tile of await tiles(z)) {
      const read = await features('parcels', z, tile);
      const fids = read.map(({ properties }) => properties['fid'] as number);
      const inside = await service.database.query<{ fid: number; area: number }>(
        `select p.fid, st_area(st_intersection(p.geom, ${BOX})) as area from core.parcel p where st_intersects(p.geom, ${BOX}) order by 1`, [z, tile.x, tile.y],
      );
      expect(new Set(fids).size).toBe(fids.length);
      expect(read.map(({ id }) => id)).toEqual(fids);
      // Parcels that only touch a side of the box may be missing.
      expect(inside.filter(({ fid, area }) => area > 0 && !fids.includes(fid))).toEqual([]);
      expect(fids.filter((fid) => !inside.some((each) => each.fid === fid))).toEqual([]);
      const apart = await service.database.query<{ fid: number; units: number }>(
        `select g.fid, st_hausdorffdistance(st_intersection(p.geom, ${BOX}), st_setsrid(st_geomfromgeojson(g.geometry), 4326)) / $4 as units
         from jsonb_to_recordset($5::jsonb) as g (fid int4, geometry jsonb) join core.parcel p on p.fid = g.fid`,
        [z, tile.x, tile.y, unit, JSON.stringify(read.map(({ properties, geometry }) => ({ fid: properties['fid'], geometry })))],
      );
      expect(apart.length).toBe(fids.length);
      expect(apart.filter(({ units }) => units > 1)).toEqual([]);
      for (const fid of fids) found.add(fid);
    }
    // In total, the tiles contain every parcel.
    expect([...found].sort((a, b) => a - b)).toEqual(all);
  });

  it('draws outer rings clockwise on the screen, as the specification of vector tiles requires', async () => {
    const [tile] = await tiles(14);
    const response = await service.app.inject({ method: 'GET', url: `${BASE}/tiles/14/${tile!.x}/${tile!.y}?layer=parcels`, headers: { 'x-api-key': key } });
    const layer = new VectorTile(new PbfReader(response.rawPayload)).layers['parcels']!;
    for (let index = 0; index < layer.length; index += 1) {
      const [outer] = layer.feature(index).loadGeometry();
      const area = outer!.reduce((sum, point, at) => sum + point.x * outer![(at + 1) % outer!.length]!.y - outer![(at + 1) % outer!.length]!.x * point.y, 0);
      expect(area).toBeGreaterThan(0);
    }
  });

  it('has labels, kinds and areas in whole square metres in the layer parcels, and only roads and water in the layer ground', async () => {
    const parcels = new Map((await service.database.query<{ fid: number; label: string; kind: string; area_m2: number }>('select p.fid, p.label, p.kind, round(p.area_m2)::int4 as area_m2 from core.parcel p')).map((row) => [row.fid, row]));
    for (const tile of await tiles(14)) {
      for (const { properties } of await features('parcels', 14, tile)) expect(properties).toEqual({ ...parcels.get(properties['fid'] as number) });
      for (const { properties } of await features('ground', 14, tile)) {
        const { fid, kind } = parcels.get(properties['fid'] as number)!;
        expect([properties, kind === 'land']).toEqual([{ fid, kind }, false]);
      }
    }
  });

  describe('of footprints', () => {
    /** SQL query of the buildings from all sources that the section buildings counts. */
    const COUNTED = `(
      select 'igm_dbsn' as source, d.geom, d.area_m2 from layer.dbsn_building d where d.counts
      union all select 'dpc_buildings', d.geom, d.area_m2 from layer.dpc_building d
    )`;

    async function expectCounted(z: number): Promise<Set<string>> {
      const unit = 360 / 2 ** z / 4096;
      const sources = new Set<string>();
      let drawn = 0;
      for (const tile of await tiles(z)) {
        const read = await features('footprints', z, tile);
        drawn += read.length;
        for (const { properties } of read) {
          expect(Object.keys(properties)).toEqual(['source']);
          sources.add(String(properties['source']));
        }
        const [compared] = await service.database.query<{ missing: number; invented: number }>(
          `with source as (select c.source, p.geom from core.parcel p join core.building_coverage c using (belfiore) where st_intersects(p.geom, ${BOX})),
           inside as materialized (
             select i.source, i.geom, st_isempty(st_buffer(i.geom, -1 * $4::float8)) as thin
             from (select b.source, st_intersection(b.geom, ${BOX}) as geom from ${COUNTED} b where st_intersects(b.geom, ${BOX})) i
             -- If a point inside a building is on a parcel, the building comes from the source of the parcel's comune.
             where i.source in (select s.source from source s)
               and not exists (select from source s where s.source <> i.source and st_intersects(s.geom, st_pointonsurface(i.geom)))
           ),
           read as materialized (select r.source, st_setsrid(st_geomfromgeojson(r.geometry), 4326) as geom from jsonb_to_recordset($5::jsonb) as r (source text, geometry jsonb)),
           pair as (
             select i.geom as inside, r.geom as read
             from inside i join read r on r.source = i.source and case when i.thin then st_dwithin(r.geom, i.geom, $4) else st_hausdorffdistance(r.geom, i.geom) <= $4 end
           )
           select
             (select count(*)::int4 from inside i where not i.thin and not exists (select from pair where pair.inside = i.geom)) as missing,
             (select count(*)::int4 from read r where not exists (select from pair where pair.read = r.geom)) as invented`,
          [z, tile.x, tile.y, unit, JSON.stringify(read.map(({ properties, geometry }) => ({ source: properties['source'], geometry })))],
        );
        expect([tile, compared]).toEqual([tile, { missing: 0, invented: 0 }]);
      }
      expect(drawn).toBeGreaterThan(50);
      return sources;
    }

    it.each([15, 16])('has each building of the section buildings at zoom %i, within a unit of its position', async (z) => {
      expect((await expectCounted(z)).size).toBeGreaterThan(0);
    });

    it('has for each comune only buildings from the source of the comune, even if neighbouring comuni have different sources', async () => {
      const before = await service.database.query<{ belfiore: string; source: string }>('select belfiore, source from core.building_coverage order by belfiore');
      await service.database.query("update core.building_coverage set source = case when belfiore in ($1, $2) then 'dpc_buildings' else 'igm_dbsn' end", [before[0]!.belfiore, before[2]!.belfiore]);
      try {
        expect([...await expectCounted(15)].sort()).toEqual(['dpc_buildings', 'igm_dbsn']);
        await service.database.query('update core.building_coverage set source = null');
        const [tile] = await tiles(15);
        expect(await features('footprints', 15, tile!)).toEqual([]);
      } finally {
        for (const { belfiore, source } of before) await service.database.query('update core.building_coverage set source = $2 where belfiore = $1', [belfiore, source]);
      }
    });

    it('has only the largest buildings if there are too many', async () => {
      const box = '{13,41,15,43}';
      const count = async (most: number): Promise<number> => {
        const [row] = await service.database.query<{ count: number }>('select json_array_length(facts::json) as count from api.tile_footprints($1, $2)', [box, most]);
        return row!.count;
      };
      const [largest] = await service.database.query<{ same: boolean }>(
        `select st_equals(st_setsrid(st_geomfromtwkb(t.drawings), 4326), st_setsrid(st_geomfromtwkb(st_astwkb((
           select b.geom from ${COUNTED} b
           where not exists (select from core.parcel p join core.building_coverage c using (belfiore) where c.source <> b.source and st_intersects(p.geom, st_pointonsurface(b.geom)))
           order by b.area_m2 desc limit 1
         ), 7)), 4326)) as same
         from api.tile_footprints($1, 1) t`, [box],
      );
      expect([await count(3), await count(1), largest]).toEqual([3, 1, { same: true }]);
    });
  });

  it('has each located access point with its street and house number in the layer of house numbers, at its position', async () => {
    const unit = 360 / 2 ** 16 / 4096;
    let drawn = 0;
    for (const tile of await tiles(16)) {
      const read = await features('house_numbers', 16, tile);
      drawn += read.length;
      const near = await service.database.query<{ street: number; name: string; number: string; lng: number; lat: number; within: boolean }>(
        `select s.street_id::float8 as street, s.name, api.street_number(a.number, a.exponent, a.colour, a.metric_m) as number, st_x(a.geom) as lng, st_y(a.geom) as lat, st_intersects(a.geom, ${BOX}) as within
         from core.access_point a join core.street s on s.region_code = a.region_code and s.street_id = a.street_id where st_dwithin(a.geom, ${BOX}, 1e-5) order by a.address_id`, [16, tile.x, tile.y],
      );
      // The tile may have points up to 1e-5 degrees outside its box, because the index rounds positions to single precision.
      let at = 0;
      const inside = near.filter(({ within, street, number }) => {
        const isRead = within || (read[at]?.properties['street'] === street && read[at]?.properties['number'] === number);
        at += Number(isRead);
        return isRead;
      });
      expect(read.map(({ properties }) => properties)).toEqual(inside.map(({ street, name, number }) => ({ street, name, number })));
      for (const [index, { geometry }] of read.entries()) {
        const { type, coordinates } = geometry as { type: string; coordinates: [number, number] };
        const { lng, lat } = inside[index]!;
        expect([type, Math.abs(coordinates[0] - lng) <= unit, Math.abs(coordinates[1] - lat) <= unit]).toEqual(['Point', true, true]);
      }
    }
    expect(drawn).toBeGreaterThan(100);
    const [limited] = await service.database.query<{ count: number }>("select json_array_length(facts::json) as count from api.tile_house_numbers('{13,41,15,43}', 7)");
    expect(limited).toEqual({ count: 7 });
    expect(await features('house_numbers', 15, (await tiles(15))[0]!)).toEqual([]);
  });

  it.each(VALUED)('has the shapes of parcels and the values of records in the layer %s, and distinguishes unmapped from missing values', async (name) => {
    const { name: sectionName, layer } = TILE_LAYERS.find((each) => each.name === name)!.section!;
    const section = SECTIONS.find((each) => each.name === sectionName)!;
    const path = (section.flat[layer.value]!.of ?? layer.value).split('.');
    const kinds = new Map((await service.database.query<{ fid: number; kind: string }>('select p.fid, p.kind from core.parcel p')).map(({ fid, kind }) => [fid, kind]));
    const [tile] = await tiles(14);
    const read = await features(name, 14, tile!);
    expect(read.length).toBeGreaterThan(20);
    const shapes = new Map((await features('parcels', 14, tile!)).map(({ properties, geometry }) => [properties['fid'], geometry]));
    for (const { properties: { fid }, geometry } of read) expect([fid, geometry]).toEqual([fid, shapes.get(fid)]);
    expect(read.filter(({ properties }) => !section.kinds.includes(kinds.get(properties['fid'] as number) as 'land'))).toEqual([]);
    // Compares at most two parcels with the same value, or without a value and with the same coverage. Compares at most 16 parcels in total.
    const times = new Map<string, number>();
    const some = read.filter(({ properties: { fid: _fid, ...said } }) => {
      const seen = (times.get(JSON.stringify(said)) ?? 0) + 1;
      times.set(JSON.stringify(said), seen);
      return seen <= 2;
    }).slice(0, 16);
    for (const { properties: { fid, ...said } } of some) {
      const record = (await service.ask(`/parcels/${String(fid)}?include=${sectionName}`, { key })).body!;
      const meta = (record['meta'] as { coverage: Json }).coverage[sectionName];
      let value: unknown = record[sectionName];
      for (const step of path) value = value === null || value === undefined ? null : (value as Json)[step] ?? null;
      const ofBlock = layer.coverage === undefined ? meta : (section.flat[layer.coverage]!.of ?? '').split('.').reduce<unknown>((inside, step) => (inside as Json | null)?.[step], record[sectionName]);
      expect([fid, said]).toEqual([fid, value === null ? { coverage: ofBlock } : { value }]);
    }
  });

  it('has each comune with its name, codes and published boundary in the layer of comuni', async () => {
    const comuni = await service.database.query<{ belfiore: string; name: string; istat_code: string; region: number }>(
      'select c.belfiore, c.name, c.istat_code, c.region_code::int4 as region from core.comune c where c.belfiore in (select belfiore from core.parcel) order by 1',
    );
    const found = new Map<string, unknown>();
    // One unit of the tile in degrees of longitude.
    const unit = 360 / 2 ** 12 / 4096;
    for (const tile of await tiles(12)) {
      const read = await features('comuni', 12, tile);
      for (const { properties } of read) found.set(String(properties['belfiore']), properties);
      const apart = await service.database.query<{ code: string; units: number }>(
        `select g.code, min(st_hausdorffdistance(st_intersection(b.geom, ${BOX}), st_setsrid(st_geomfromgeojson(g.geometry), 4326))) / $4 as units
         from jsonb_to_recordset($5::jsonb) as g (code text, belfiore text, geometry jsonb)
         left join core.comune_register r on r.belfiore = g.belfiore
         join layer.boundary b on b.kind = 'comune' and b.code in (g.code, r.old_istat_code)
         group by g.code`,
        [12, tile.x, tile.y, unit, JSON.stringify(read.map(({ properties, geometry }) => (
          { code: properties['istat_code'], belfiore: properties['belfiore'], geometry })))],
      );
      expect(apart.length).toBe(new Set(read.map(({ properties }) => properties['istat_code'])).size);
      // Boundaries are simplified with a tolerance of one unit, and corners are rounded to units.
      expect(apart.filter(({ units }) => units > 2)).toEqual([]);
    }
    expect([...found.values()].filter((each) => comuni.some(({ belfiore }) => belfiore === (each as Json)['belfiore'])).sort((a, b) => (String((a as Json)['belfiore']) < String((b as Json)['belfiore']) ? -1 : 1)))
      .toEqual(comuni);
  });

  it('is empty if there are no features in the tile, or if the layer is not drawn at the zoom of the tile', async () => {
    for (const [layer, tile] of [['parcels', '14/1/1'], ['parcels', '0/0/0'], ['comuni', '7/68/47'], ['ground', '5/17/11'], ['footprints', '14/8829/6085']] as const) {
      const path = `/tiles/${tile}?layer=${layer}`;
      const answered = await service.ask(path, { key });
      expect([path, answered.status, answered.text]).toEqual([path, 204, '']);
      expect(violationsOf(path, answered)).toEqual([]);
    }
  });

  it.each([
    ['/tiles/23/0/0?layer=parcels', 'z'], ['/tiles/x/0/0?layer=parcels', 'z'], ['/tiles/14/16384/0?layer=parcels', 'x'], ['/tiles/14/0/16384?layer=parcels', 'y'], ['/tiles/14/0/-1?layer=parcels', 'y'],
    ['/tiles/0/1/0?layer=parcels', 'x'], ['/tiles/14/1/1?layer=nowhere', 'layer'], ['/tiles/14/1/1', 'layer'], ['/tiles/14/1/1?layer=parcels&layer=risk', 'layer'],
  ])('with invalid parameters is refused, and the error names the parameter: %s', async (path, parameter) => {
    const answered = await service.ask(path, { key });
    expect(violationsOf(path, answered)).toEqual([]);
    expect([answered.status, answered.body!['error'], (answered.body!['details'] as Json)['parameter']]).toEqual([400, 'INVALID_PARAMS', parameter]);
  });

  it('requires a token with the scope parcels:read', async () => {
    const [tile] = await tiles(14);
    const path = `/tiles/14/${tile!.x}/${tile!.y}?layer=parcels`;
    expect((await service.ask(path, { key: await service.token(['parcels:read']) })).status).toBe(200);
    expect((await service.ask(path, { key: await service.token(['geocoding:read']) })).status).toBe(403);
    expect((await service.ask(path)).status).toBe(401);
  });

  it('is not sent again to clients that have the tile, and does not count against the hourly limit', async () => {
    const [tile] = await tiles(14);
    const path = `/tiles/14/${tile!.x}/${tile!.y}?layer=parcels`;
    const own = await service.token(['parcels:read']);
    const first = await service.ask(path, { key: own });
    const again = await service.ask(path, { key: own, headers: { 'if-none-match': first.headers['etag']! } });
    expect([first.status, again.status, again.text, again.headers['etag'], again.headers['x-ratelimit-remaining']]).toEqual([200, 304, '', first.headers['etag'], '1000']);
    expect((await service.ask(path.replace('parcels', 'ground'), { key: own })).headers['etag']).not.toBe(first.headers['etag']);
  });

  it('is served even if the hourly limit is reached', async () => {
    const [tile] = await tiles(14);
    const path = `/tiles/14/${tile!.x}/${tile!.y}?layer=parcels`;
    const own = await service.token(['parcels:read']);
    await service.database.query('update access.rate_window set used = 1001');
    await service.ask('/parcels/locate?lat=42&lng=14', { key: own });
    await service.database.query('update access.rate_window set used = 1001');
    expect([(await service.ask('/parcels/locate?lat=42&lng=14', { key: own })).status, (await service.ask(path, { key: own })).status]).toEqual([429, 200]);
    key = await service.token();
  });

  it('is on a map whose suggestions complete the names of streets and comuni, and whose first suggestion for complete names equals the first search result', async () => {
    const streets = await service.database.query<{ name: string; comune: string; belfiore: string }>(
      `select distinct on (regexp_replace(s.name, '^.* ', '')) s.name, c.name as comune, s.belfiore
       from core.street s join core.comune c on c.belfiore = s.belfiore
       where s.located > 0 and s.name ~ ' [A-Za-z]{5,}$' and s.name !~ '/' order by regexp_replace(s.name, '^.* ', ''), s.street_id limit 6`,
    );
    expect(streets.length).toBe(6);
    const suggest = async (q: string): Promise<{ street_name: string; municipality_code: string }[]> => {
      const answered = await service.ask(`/map/suggestions?q=${encodeURIComponent(q)}`, { key });
      expect([q, answered.status]).toEqual([q, 200]);
      return answered.body!['data'] as { street_name: string; municipality_code: string }[];
    };
    for (const { name, comune, belfiore } of streets) {
      const begun = name.slice(0, -2);
      const word = name.slice(name.lastIndexOf(' ') + 1).toLowerCase();
      const found = await suggest(begun);
      expect([begun, found[0]?.street_name.toLowerCase().includes(word)]).toEqual([begun, true]);
      const inComune = await suggest(`${name}, ${comune.slice(0, 4)}`);
      expect([name, comune, inComune[0]?.street_name, inComune[0]?.municipality_code]).toEqual([name, comune, name, belfiore]);
      const whole = await service.ask(`/geocode/search?q=${encodeURIComponent(`${name}, ${comune}`)}&limit=8`, { key });
      const [first] = whole.body!['data'] as { match_type: string }[];
      expect((await suggest(`${name}, ${comune}`))[0]).toEqual({ ...first, kind: first!.match_type === 'street' ? 'street' : 'address' });
    }
    expect(await suggest('xyzxyz')).toEqual([]);
    const refused = async (path: string, given?: string): Promise<number> => (await service.ask(path, { key: given })).status;
    const path = '/map/suggestions?q=via';
    expect([await refused(path), await refused(path, await service.token(['parcels:read'])), await refused('/map/suggestions?q=v', key), await refused('/map/suggestions', key)])
      .toEqual([401, 403, 400, 400]);
  });

  it('is on a map whose explanations for a signed-in browser equal the output of mappale explain', async () => {
    const [sources, link] = [await loadSources(), new SignInLink()];
    const app = await buildServer({
      reader: service.reader, version: VERSION, log: SILENT, signIn: link,
      explain: (fid, section) => explain({ database: service.database, sources }, fid, section, 60_000),
    });
    const host = '127.0.0.1:8080';
    const get = (path: string, cookie: string) => app.inject({ method: 'GET', url: BASE + path, remoteAddress: '127.0.0.1', headers: { host, cookie } });
    const settings = async (): Promise<unknown> => service.database.query(
      "select count(*)::int4 as tables, current_setting('search_path') as path, current_setting('statement_timeout') as longest, current_setting('work_mem') as memory from pg_class where relpersistence = 't'",
    );
    const before = await settings();
    const signed = await app.inject({
      method: 'POST', url: `${BASE}/map/sign-in`, remoteAddress: '127.0.0.1', payload: JSON.stringify({ secret: link.secret }),
      headers: { host, origin: `http://${host}`, 'content-type': 'application/json' },
    });
    const cookie = String(signed.headers['set-cookie']).split(';')[0]!;
    // Chooses a parcel with a value, because the region's files no longer exist, and an explanation of a missing value reads the raster file.
    const lit = await service.database.query<{ fid: number }>('select fid from section.nightlights where ntl_parcel is not null order by fid');
    const { fid } = lit[Math.floor(lit.length / 2)]!;
    const [parcels, records] = await Promise.all([
      Promise.all(SECTION_NAMES.map(async (section) => [section, JSON.parse((await get(`/map/explain/${fid}/${section}`, cookie)).payload)] as const)),
      Promise.all(all.slice(0, 5).map(async (each) => (await service.ask(`/parcels/${each}`, { key })).status)),
    ]);
    expect(records).toEqual([200, 200, 200, 200, 200]);
    for (const [section, explanation] of parcels) {
      expect([section, explanation]).toEqual([section, JSON.parse(JSON.stringify(await explain({ database: service.database, sources }, fid, section)))]);
    }
    expect(parcels.filter(([, { reproduced, evidence }]) => reproduced !== true || evidence === undefined)).toEqual([]);
    expect((await get(`/map/explain/${fid + 50_000_000}/basic`, cookie)).statusCode).toBe(200);
    expect((await get('/map/explain/100000000/basic', cookie)).statusCode).toBe(404);
    expect(await settings()).toEqual(before);
    await app.close();
  });

  it('is on a map whose overview needs no key and contains the coverage of each comune as in the quality passport of the comune', async () => {
    const overview = (await service.ask('/map/overview.json')).body as { regions: Json[]; layers: Json[]; attribution: string[] };
    expect(overview.regions).toMatchObject([{ code: service.region.code, name: service.region.name, parcels: all.length }]);
    expect(overview.layers.map(({ name }) => name)).toEqual(LEGENDS.map(({ name }) => name));
    expect(overview.attribution.length).toBeGreaterThan(3);
    const answered = await service.ask(`/map/overview.json?region=${service.region.code}`);
    const { comuni } = answered.body as {
      comuni: { belfiore: string; parcels: number; bbox: number[]; outline: unknown; coverage: Readonly<Record<string, string>> }[];
    };
    expect(comuni.reduce((sum, { parcels }) => sum + (parcels ?? 0), 0)).toBe(all.length);
    for (const { belfiore, coverage, bbox, outline } of comuni.filter(({ parcels }) => parcels > 0)) {
      const passport = (await service.ask(`/admin/municipalities/${belfiore}/quality`, { key })).body as { coverage: { sections: { section: string; map: string | null; state: string }[] } };
      for (const { section, state } of passport.coverage.sections.filter(({ map }) => map === null)) {
        // The passport uses more sample parcels than the overview, so it may state `partial` for a comune that has a different state in the overview.
        if (section !== 'basic' && state !== 'partial') expect([belfiore, section, coverage[section]]).toEqual([belfiore, section, state === 'none' ? 'mapped' : state]);
      }
      // The files assign a few parcels to a comune although the parcels are outside the comune's outline.
      const [inside] = await service.database.query<{ box: number; outline: number }>(
        `select avg(st_covers(st_makeenvelope($2, $3, $4, $5, 4326), p.point)::int4)::float8 as box, avg(st_dwithin(st_setsrid(st_geomfromgeojson($6::text), 4326), p.point, 0.001)::int4)::float8 as outline
         from core.parcel p where p.belfiore = $1`, [belfiore, ...bbox, JSON.stringify(outline)],
      );
      expect([belfiore, inside!.box > 0.9, inside!.outline > 0.9]).toEqual([belfiore, true, true]);
    }
    expect((await service.ask(`/map/overview.json?region=${service.region.code}`, { headers: { 'if-none-match': answered.headers['etag']! } })).status).toBe(304);
    expect([(await service.ask('/map/overview.json?region=9')).status, (await service.ask('/map/overview.json?region=21')).status, (await service.ask('/map/overview.json?x=1')).status]).toEqual([404, 400, 400]);
  });
});
