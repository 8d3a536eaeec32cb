/** Tests the contract of the server on a synthetic region: every endpoint, error, header and limit, and the order of checks. */
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENDPOINTS } from '../../api/endpoints.ts';
import { SCOPES } from '../../api/access.ts';
import type { SyntheticParcel } from '../../pipelines/synthetic/region.ts';
import { readParameters } from '../../api/parameters.ts';
import { firstFid } from '../../pipelines/contract/regions.ts';
import { SECTION_NAMES } from '../../pipelines/contract/sections.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { ROOT } from '../harness/architecture/project.ts';
import { describeEngines } from '../harness/database.ts';
import { testEnvironment } from '../harness/environment.ts';
import { answerGoldenOf, goldenText, readGolden } from '../harness/golden.ts';
import { BASE, DOCUMENT, violationsOf, regionService, VERSION, type Answered } from './harness.ts';
import { STATEMENTS } from './statements.ts';
import { Trial } from '../harness/api-trial.ts';
import { REGIONS } from '../harness/loaded-region.ts';

type Service = Awaited<ReturnType<typeof regionService>>;
type Json = Record<string, unknown>;

const RATE = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];

describeEngines('the REST API', (engine) => {
  let service: Service;
  let key: string;
  let parcel: { fid: number; lat: number; lng: number; record: Json };
  let address: Json;
  let sheet: string;

  const ask = async (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answered> => {
    const answered = await service.ask(path, { key, headers });
    expect(violationsOf(path, answered)).toEqual([]);
    return answered;
  };
  const dataOf = (answered: Answered): Json[] => answered.body!['data'] as Json[];
  const metaOf = (answered: Answered): Json => answered.body!['meta'] as Json;
  /** Returns one request path per endpoint. Each request finds data. */
  const questions = (): string[] => [
    `/geocode/search?q=${encodeURIComponent(`${String(address['street_name'])} ${String(address['street_number'])}`)}`, `/geocode/reverse?lat=${parcel.lat}&lng=${parcel.lng}`, `/parcels/locate?lat=${parcel.lat}&lng=${parcel.lng}`, `/parcels/search?comune=${String(address['municipality_code'])}&foglio=${sheet}`,
    `/parcels/${parcel.fid}`, `/parcels/${parcel.fid}/neighbours`, `/parcels/${parcel.fid}/lineage`, '/admin/regions', '/admin/provinces', '/admin/municipalities',
    `/admin/municipalities/${String(address['municipality_code'])}/quality`, '/changes?region=molise&since=0&limit=5', '/changes/publications/2',
    '/ogc', '/ogc/conformance', '/ogc/collections', '/ogc/collections/parcels', '/ogc/collections/parcels/queryables', '/ogc/collections/parcels/items?limit=5',
    `/ogc/collections/parcels/items/${parcel.fid}`,
  ];

  beforeAll(async () => {
    service = await regionService(engine, ...REGIONS.whole);
    key = await service.token();
    const [row] = await service.database.query<{ fid: number; lat: number; lng: number }>(
      `select p.fid, st_y(p.point) as lat, st_x(p.point) as lng from core.parcel p join section.address a on a.fid = p.fid where p.kind = 'land' order by p.fid limit 1`,
    );
    const found = await service.ask(`/parcels/${row!.fid}`, { key });
    parcel = { fid: row!.fid, lat: Number(row!.lat.toFixed(7)), lng: Number(row!.lng.toFixed(7)), record: found.body as Json };
    sheet = String(((parcel.record['basic'] as Json)['cadastral'] as Json)['sheet']);
    address = (parcel.record['address'] as Json[])[0]!;
  });
  afterAll(() => service?.close());

  it('responds to requests for every endpoint as the OpenAPI document describes', async () => {
    expect(questions().length).toBe(ENDPOINTS.length);
    for (const path of questions()) {
      const answered = await ask(path);
      expect(answered.status, `${path}: ${answered.text}`).toBe(200);
      if (!/^\/parcels\/1|\/quality$|^\/ogc/.test(path)) expect(dataOf(answered).length, path).toBeGreaterThan(0);
    }
  });

  describe('health', () => {
    it('needs no key and lists the published regions', async () => {
      const answered = await service.ask('/health');
      expect(violationsOf('/health', answered)).toEqual([]);
      expect(answered.status).toBe(200);
      const [counts] = await service.database.query<{ parcels: number; addresses: number }>('select (select count(*) from core.parcel) as parcels, (select count(*) from core.access_point) as addresses');
      expect(answered.body).toMatchObject({ status: 'ok', version: VERSION, database: 'ok', dataset: { published: true, ...counts, regions: [{ code: service.region.code, name: service.region.name }] } });
      expect(Math.abs(Date.now() - Date.parse(String(answered.body!['timestamp'])))).toBeLessThan(60_000);
      expect(RATE.filter((name) => answered.headers[name] !== undefined)).toEqual([]);
    });

    it('reports `published: false` and an empty list of regions if no region is published', async () => {
      const withdrawn = new Error('rolled back');
      await service.database.transaction(async (session) => {
        await session.query("update ledger.publication set state = 'past' where state = 'current' and unit_code > 0");
        const [row] = await session.query<{ dataset: string }>('select dataset from api.health()');
        expect(JSON.parse(row!.dataset)).toMatchObject({ published: false, regions: [] });
        throw withdrawn;
      }).catch((error: unknown) => {
        if (error !== withdrawn) throw error;
      });
    });
  });

  describe('locate', () => {
    it('finds a parcel at its representative point', async () => {
      const answered = await ask(`/parcels/locate?lat=${parcel.lat}&lng=${parcel.lng}`);
      expect(dataOf(answered)).toEqual([{
        fid: parcel.fid, ...Object.fromEntries(['gml_id', 'label', 'cadastral_reference', 'area_m2', 'centroid', 'municipality'].map((field) => [field, (parcel.record['basic'] as Json)[field]])),
      }]);
      expect(metaOf(answered)).toEqual({ mode: 'point', lat: parcel.lat, lng: parcel.lng, limit: 50, count: 1, truncated: false });
    });

    it('finds every parcel at a point on a border, smallest first', async () => {
      const corners = new Map<string, SyntheticParcel[]>();
      for (const each of service.region.parcels()) {
        for (const point of new Set(each.polygons[0][0].map((corner) => corner.join(',')))) corners.set(point, [...(corners.get(point) ?? []), each]);
      }
      const [shared, owners] = [...corners].find(([, all]) => all.length >= 3 && new Set(all.map(({ reference }) => reference)).size === all.length)!;
      const [lng, lat] = shared.split(',');
      const answered = await ask(`/parcels/locate?lat=${lat}&lng=${lng}`);
      expect(dataOf(answered).map((each) => each['cadastral_reference'])).toEqual(expect.arrayContaining(owners.map(({ reference }) => reference)));
      const areas = dataOf(answered).map((each) => each['area_m2'] as number);
      expect(areas).toEqual([...areas].sort((a, b) => a - b));
    });

    it('returns at most `limit` parcels of a box, ordered by fid, and reports whether there are more', async () => {
      const box = [parcel.lng - 0.002, parcel.lat - 0.002, parcel.lng + 0.002, parcel.lat + 0.002].map((side) => Number(side.toFixed(7)));
      const [west, south, east, north] = box as [number, number, number, number];
      const expected = [...service.region.parcels()].filter(({ polygons }) => {
        const ring = polygons.flatMap((rings) => rings[0]);
        const lngs = ring.map(([lng]) => lng);
        const lats = ring.map(([, lat]) => lat);
        return Math.min(...lngs) <= east && Math.max(...lngs) >= west && Math.min(...lats) <= north && Math.max(...lats) >= south;
      });
      const all = await ask(`/parcels/locate?bbox=${box.join(',')}&limit=200`);
      const fids = dataOf(all).map(({ fid }) => fid as number);
      expect(fids).toEqual([...fids].sort((a, b) => a - b));
      expect(fids.length).toBeGreaterThan(3);
      // If a parcel intersects a box, the bounding box of the parcel also intersects the box. The converse is not always true.
      const references = new Set(expected.map(({ reference }) => reference));
      expect(dataOf(all).filter((each) => !references.has(String(each['cadastral_reference'])))).toEqual([]);
      expect(metaOf(all)).toEqual({ mode: 'bbox', bbox: box, after: null, limit: 200, count: fids.length, truncated: false });
      const few = await ask(`/parcels/locate?bbox=${box.join(',')}&limit=2`);
      expect(dataOf(few).map(({ fid }) => fid)).toEqual(fids.slice(0, 2));
      expect(metaOf(few)).toMatchObject({ limit: 2, count: 2, truncated: true });
      const exactly = await ask(`/parcels/locate?bbox=${box.join(',')}&limit=${fids.length}`);
      expect(metaOf(exactly)).toMatchObject({ count: fids.length, truncated: false });
    });

    it('returns an empty list with 200 for a point in the sea', async () => {
      const answered = await ask('/parcels/locate?lat=38.5&lng=6.5');
      expect(answered.status).toBe(200);
      expect(answered.body).toEqual({ data: [], meta: { mode: 'point', lat: 38.5, lng: 6.5, limit: 50, count: 0, truncated: false } });
    });
  });

  describe('the record', () => {
    it('has every section, in the order of the contract, if the request names no section', async () => {
      for (const path of [`/parcels/${parcel.fid}`, `/parcels/${parcel.fid}?include=`]) {
        const { body } = await ask(path);
        expect(Object.keys(body!)).toEqual(['fid', 'municipality', ...SECTION_NAMES, 'meta']);
        expect((body!['meta'] as Json)['sections_included']).toEqual([...SECTION_NAMES]);
      }
    });

    it('has the requested sections and basic, and no others', async () => {
      const combinations = [...SECTION_NAMES.map((section) => [section]), ['basic', 'economics', 'demographics'], ['risk', 'subsidence', 'coastal_erosion'], ['address', 'risk', 'risk']];
      for (const names of combinations) {
        const { body } = await ask(`/parcels/${parcel.fid}?include=${names.join(',')}`);
        const expected = SECTION_NAMES.filter((section) => section === 'basic' || names.includes(section));
        expect(Object.keys(body!)).toEqual(['fid', 'municipality', ...expected, 'meta']);
        for (const section of expected) expect(body![section], section).toEqual(parcel.record[section]);
      }
    });

    it('shows the three mandatory attributions even if the request names only basic', async () => {
      const { body } = await ask(`/parcels/${parcel.fid}?include=basic`);
      const words = ((body!['meta'] as Json)['licenses'] as Json[]).map(({ attribution }) => String(attribution)).join('\n');
      expect(words).toMatch(/Agenzia Entrate - OMI/);
      expect(words).toMatch(/Ministero dell'Economia/);
      expect(words).toMatch(/Istat/);
    });

    it('matches the OpenAPI document for land, road and water parcels', async () => {
      const rows = await service.database.query<{ fid: number; kind: string }>("select fid, kind from core.parcel where kind <> 'land' or fid % 5 = 0 order by fid");
      expect(new Set(rows.map(({ kind }) => kind))).toEqual(new Set(['land', 'road', 'water']));
      const other = await service.token();
      for (const { fid } of rows) {
        const path = `/parcels/${fid}`;
        expect(violationsOf(path, await service.ask(path, { key: other }))).toEqual([]);
      }
    });
  });

  describe('geocoding', () => {
    it('finds an address by its displayed text, and repeats the query in the response', async () => {
      const q = `${String(address['street_name'])} ${String(address['street_number'])}`;
      const city = String(address['municipality_code']);
      const answered = await ask(`/geocode/search?q=${encodeURIComponent(q)}&city=${city}`);
      expect(dataOf(answered)[0]).toMatchObject({ street_name: address['street_name'], municipality_code: city });
      expect(metaOf(answered)).toEqual({ query: q, city, count: dataOf(answered).length });
      const alone = await ask(`/geocode/search?q=${encodeURIComponent(q)}`);
      expect(metaOf(alone)).toMatchObject({ query: q, city: null });
    });

    it('returns an empty list for an unknown comune', async () => {
      const answered = await ask('/geocode/search?q=Via%20Roma%205&city=Atlantide');
      expect(answered.body).toEqual({ data: [], meta: { query: 'Via Roma 5', city: 'Atlantide', count: 0 } });
    });

    it('finds the nearest addresses first, within the radius', async () => {
      const lat = Number(address['latitude']);
      const lng = Number(address['longitude']);
      const answered = await ask(`/geocode/reverse?lat=${lat}&lng=${lng}&radius=500&limit=20`);
      const distances = dataOf(answered).map((each) => each['distance_meters'] as number);
      expect(dataOf(answered)[0]).toMatchObject({ distance_meters: 0 });
      expect(distances).toEqual([...distances].sort((a, b) => a - b));
      expect(Math.max(...distances)).toBeLessThanOrEqual(500);
      expect(metaOf(answered)).toEqual({ lat, lng, radius_m: 500, count: distances.length });
      expect(dataOf(await ask(`/geocode/reverse?lat=${lat}&lng=${lng}&limit=1`))).toHaveLength(1);
    });
  });

  describe('the administrative lists', () => {
    it('contain every region, province and comune of the synthetic region', async () => {
      expect(dataOf(await ask('/admin/regions')).map(({ name }) => name)).toEqual([service.region.name]);
      expect(new Set(dataOf(await ask('/admin/provinces')).map(({ name }) => name))).toEqual(new Set(service.region.provinces.map(({ name }) => name)));
      expect(new Set(dataOf(await ask('/admin/municipalities')).map(({ code }) => code))).toEqual(new Set(service.region.comuni.map(({ belfiore }) => belfiore)));
    });

    it('are filtered by code, or by name regardless of case and accents', async () => {
      const { region } = service;
      const { provinces } = region;
      const all = (await ask('/admin/municipalities')).body!['data'];
      for (const name of [region.name, region.name.toUpperCase(), ` ${region.name.toLowerCase()} `, String(region.code), String(region.code).padStart(2, '0')]) {
        expect((await ask(`/admin/municipalities?region=${encodeURIComponent(name)}`)).body!['data'], name).toEqual(all);
        expect(dataOf(await ask(`/admin/provinces?region=${encodeURIComponent(name)}`)), name).toHaveLength(provinces.length);
      }
      for (const province of provinces) {
        const expected = new Set(service.region.comuni.filter((comune) => comune.province.code === province.code).map(({ belfiore }) => belfiore));
        for (const name of [province.name, province.name.normalize('NFD').replace(/\p{M}/gu, '').toUpperCase(), province.code, province.sigla, province.sigla.toLowerCase()]) {
          expect(new Set(dataOf(await ask(`/admin/municipalities?province=${encodeURIComponent(name)}`)).map(({ code }) => code)), name).toEqual(expected);
        }
      }
      expect((await ask('/admin/provinces?region=Atlantide')).body).toEqual({ data: [], meta: { count: 0 } });
      expect((await ask(`/admin/municipalities?province=${provinces[0]!.code}&region=Atlantide`)).body).toEqual({ data: [], meta: { count: 0 } });
    });
  });

  describe('parameters', () => {
    const refused: readonly (readonly [path: string, code: string, parameter: string | null])[] = [
      ['/geocode/search', 'INVALID_PARAMS', 'q'],
      ['/geocode/search?q=', 'INVALID_PARAMS', 'q'],
      ['/geocode/search?q=%20a%20', 'INVALID_PARAMS', 'q'],
      [`/geocode/search?q=${'a'.repeat(201)}`, 'INVALID_PARAMS', 'q'],
      ['/geocode/search?q=ab%00', 'INVALID_PARAMS', 'q'],
      ['/geocode/search?q=Via&q=Roma', 'INVALID_PARAMS', 'q'],
      ['/geocode/search?q=Via%20Roma&city=', 'INVALID_PARAMS', 'city'],
      ['/geocode/search?q=Via%20Roma%205,%20Forl%C3%AC%20Finto&city=Z001', 'INVALID_PARAMS', 'city'],
      ...['0', '51', '-1', '1.5', 'NaN', '', 'ten', '1e1', '0x1', ' 5', '99999999999'].map((limit) => [`/geocode/search?q=Via%20Roma&limit=${encodeURIComponent(limit)}`, 'INVALID_PARAMS', 'limit'] as const),
      ['/geocode/search?q=Via%20Roma&limit=5&limit=5', 'INVALID_PARAMS', 'limit'],
      ['/geocode/search?q=Via%20Roma&limt=5', 'INVALID_PARAMS', 'limt'],
      ['/geocode/reverse?lng=14', 'INVALID_PARAMS', 'lat'],
      ['/geocode/reverse?lat=41', 'INVALID_PARAMS', 'lng'],
      ...['NaN', '', 'Infinity', '1e1', '41,5', '0x29', '41.', '.5', '--41', 'undefined'].map((lat) => [`/geocode/reverse?lat=${lat}&lng=14`, 'INVALID_PARAMS', 'lat'] as const),
      ['/geocode/reverse?lat=41&lng=14&radius=0', 'INVALID_PARAMS', 'radius'],
      ['/geocode/reverse?lat=41&lng=14&radius=501', 'INVALID_PARAMS', 'radius'],
      ['/geocode/reverse?lat=41&lng=14&limit=21', 'INVALID_PARAMS', 'limit'],
      ['/geocode/reverse?lat=34.9999&lng=14', 'OUT_OF_BOUNDS', null],
      ['/geocode/reverse?lat=47.5001&lng=14', 'OUT_OF_BOUNDS', null],
      ['/geocode/reverse?lat=41&lng=5.9999', 'OUT_OF_BOUNDS', null],
      ['/parcels/locate?lat=41&lng=19.0001', 'OUT_OF_BOUNDS', null],
      ['/parcels/locate?lat=-41&lng=14', 'OUT_OF_BOUNDS', null],
      ['/parcels/locate', 'INVALID_PARAMS', 'lat'],
      ['/parcels/locate?lat=41', 'INVALID_PARAMS', 'lng'],
      ['/parcels/locate?lng=14', 'INVALID_PARAMS', 'lat'],
      ['/parcels/locate?lat=41&lng=14&bbox=14,41,14.01,41.01', 'INVALID_PARAMS', 'bbox'],
      ['/parcels/locate?lat=41&bbox=14,41,14.01,41.01', 'INVALID_PARAMS', 'bbox'],
      ...['', '14,41,14.01', '14,41,14.01,41.01,0', '14,41,14.01,', '14,41,14.01,NaN', '14 41 14.01 41.01', '14.01,41,14,41.01', '14,41.01,14.01,41'].map((box) => [`/parcels/locate?bbox=${box}`, 'INVALID_PARAMS', 'bbox'] as const),
      ['/parcels/locate?bbox=5,41,5.01,41.01', 'OUT_OF_BOUNDS', null],
      ['/parcels/locate?bbox=14,47.49,14.01,47.51', 'OUT_OF_BOUNDS', null],
      ['/parcels/locate?bbox=14,41,14.0501,41.01', 'BBOX_TOO_LARGE', null],
      ['/parcels/locate?bbox=14,41,14.01,41.0501', 'BBOX_TOO_LARGE', null],
      ['/parcels/locate?lat=41&lng=14&limit=201', 'INVALID_PARAMS', 'limit'],
      ...['abc', '-1', '1.5', '2147483648', '0x10', '%20', '1%27', '99999999999999999999'].map((id) => [`/parcels/${id}`, 'INVALID_PARAMS', 'id'] as const),
      ['/parcels/1?include=nonsense', 'INVALID_PARAMS', 'include'],
      ['/parcels/1?include=risk,', 'INVALID_PARAMS', 'include'],
      ['/parcels/1?include=RISK', 'INVALID_PARAMS', 'include'],
      ['/parcels/1?include=weather', 'INVALID_PARAMS', 'include'],
      ['/parcels/1?include=risk&include=basic', 'INVALID_PARAMS', 'include'],
      ['/admin/regions?region=1', 'INVALID_PARAMS', 'region'],
      ['/admin/provinces?region=', 'INVALID_PARAMS', 'region'],
      ['/admin/municipalities?province=A&province=B', 'INVALID_PARAMS', 'province'],
    ];

    it('with invalid values are refused, and the error contains the parameter\'s name and the allowed values', async () => {
      const fresh = await service.token();
      for (const [path, code, parameter] of refused) {
        const answered = await service.ask(path, { key: fresh });
        expect(violationsOf(path, answered), path).toEqual([]);
        expect({ path, status: answered.status, error: answered.body!['error'] }).toEqual({ path, status: 400, error: code });
        if (parameter !== null) {
          expect(answered.body!['details'], path).toMatchObject({ parameter });
          expect((answered.body!['details'] as Json)['allowed'], path).toMatch(/\S{2}/);
          expect(answered.body!['message'], path).toContain(parameter);
        }
      }
    });

    it('with values at their limits are accepted', async () => {
      for (const path of [
        '/geocode/search?q=ab&limit=50', `/geocode/search?q=${'a'.repeat(200)}&limit=1`, '/geocode/reverse?lat=35&lng=6&radius=1&limit=20', '/geocode/reverse?lat=47.5&lng=19.0&radius=500&limit=1',
        '/parcels/locate?lat=47.50000&lng=6&limit=200', '/parcels/locate?bbox=14,41,14.05,41.05&limit=1', '/parcels/locate?bbox=7.5,45,7.55,45.05', '/parcels/locate?bbox=14,41,14,41',
        `/parcels/${parcel.fid}?include=risk,%20basic`,
      ]) expect((await ask(path)).status, path).toBe(200);
    });

    it('lead to 404 if they name a parcel that does not exist', async () => {
      for (const fid of [0, 1, 2_147_483_647, firstFid(service.region.code + 1) - 1]) {
        const answered = await ask(`/parcels/${fid}`);
        expect(answered.status).toBe(404);
        expect(answered.body).toMatchObject({ error: 'NOT_FOUND', details: { id: fid } });
      }
    });
  });

  describe('a request', () => {
    it('is checked in the order path, method, key, scope, rate limit, parameters, existence, and the first failed check determines the response', async () => {
      const narrow = await service.token(['admin_data:read']);
      const spent = await service.token();
      const spentId = (await service.database.query<{ id: number }>('select max(token_id) as id from access.token'))[0]!.id;
      await service.database.query('insert into access.rate_window (token_id, started_at, used) values ($1, now(), 1000)', [spentId]);
      const status = async (path: string, options: Parameters<Service['ask']>[1]): Promise<unknown> => {
        const { status: code, body } = await service.ask(path, { from: '192.0.2.77', ...options });
        return [code, body!['error']];
      };
      expect(await status('/parcel/x?include=no', { method: 'POST' })).toEqual([404, 'NOT_FOUND']);
      expect(await status('/parcels/x?include=no', { method: 'POST' })).toEqual([405, 'METHOD_NOT_ALLOWED']);
      expect(await status('/parcels/x?include=no', {})).toEqual([401, 'API_KEY_REQUIRED']);
      expect(await status('/parcels/x?include=no', { key: '' })).toEqual([401, 'API_KEY_REQUIRED']);
      expect(await status('/parcels/x?include=no', { key: 'mpl_no' })).toEqual([401, 'INVALID_API_KEY']);
      expect(await status('/parcels/x?include=no', { key: narrow })).toEqual([403, 'INSUFFICIENT_SCOPE']);
      expect(await status('/parcels/x?include=no', { key: spent })).toEqual([429, 'RATE_LIMITED']);
      expect(await status('/parcels/x?include=no', { key })).toEqual([400, 'INVALID_PARAMS']);
      expect(await status('/parcels/1?include=no', { key })).toEqual([400, 'INVALID_PARAMS']);
      expect(await status('/parcels/1?include=risk', { key })).toEqual([404, 'NOT_FOUND']);
    });

    it('with a method other than GET gets 405 with the header Allow on every path, with or without a body', async () => {
      for (const path of ['/health', '/openapi.json', '/docs', '/map', ...questions().map((question) => question.split('?')[0]!)]) {
        for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']) {
          const answered = await service.ask(path, { method, headers: { 'content-type': 'text/plain' }, ...(method === 'HEAD' ? {} : { body: '{' }) });
          expect([path, method, answered.status, answered.headers['allow']]).toEqual([path, method, 405, 'GET']);
          if (method !== 'HEAD') expect(answered.body).toMatchObject({ error: 'METHOD_NOT_ALLOWED' });
        }
      }
    });

    it('for an unknown path gets 404', async () => {
      for (const path of ['', '/', '/nothing', '/health/', '/Health', '/parcels', '/parcels/', '/parcels/1/2', '/parcels//', '/../../etc/passwd', `/parcels/${'1'.repeat(5000)}`, '/admin', '/docs/../../package.json', '/map/..%2f..%2fserver.ts']) {
        const answered = await service.ask(path, { key });
        expect([path.slice(0, 40), answered.status]).toEqual([path.slice(0, 40), 404]);
        expect(answered.body).toMatchObject({ error: 'NOT_FOUND' });
      }
    });
  });

  describe('headers and metadata', () => {
    it('report the requests left in the hour to every client with a valid token, even if the request is refused', async () => {
      const fresh = await service.token();
      const narrow = await service.token(['admin_data:read']);
      const seen: string[] = [];
      for (const path of [`/parcels/${parcel.fid}`, '/parcels/1', '/parcels/x', '/admin/regions']) {
        const { headers } = await service.ask(path, { key: fresh });
        seen.push(`${headers['x-ratelimit-limit']} ${headers['x-ratelimit-remaining']}`);
        expect(Number(headers['x-ratelimit-reset']) - Date.now() / 1000).toBeGreaterThan(3500);
        expect(Number(headers['x-ratelimit-reset']) - Date.now() / 1000).toBeLessThanOrEqual(3601);
      }
      expect(seen).toEqual(['1000 999', '1000 998', '1000 997', '1000 996']);
      const refusedScope = await service.ask('/parcels/1', { key: narrow });
      expect(refusedScope.headers['x-ratelimit-remaining']).toBe('1000');
      expect(refusedScope.body).toMatchObject({ details: { required_scope: 'parcels:read' } });
    });

    it('allow pages of any origin to send a key and to read the rate limits', async () => {
      const preflight = await service.ask(`/parcels/${parcel.fid}`, { method: 'OPTIONS', headers: { origin: 'https://example.org', 'access-control-request-method': 'GET', 'access-control-request-headers': 'x-api-key' } });
      expect(preflight.status).toBe(204);
      expect(preflight.headers['access-control-allow-origin']).toBe('*');
      expect(preflight.headers['access-control-allow-headers']?.toLowerCase()).toContain('x-api-key');
      expect(preflight.headers['access-control-allow-methods']).toContain('GET');
      for (const [path, options] of [[`/parcels/${parcel.fid}`, { key }], ['/parcels/x', { key }], ['/parcels/1', {}], ['/nothing', {}], ['/health', {}], ['/%zz', {}], ['/health', { method: 'POST' }]] as const) {
        const { headers } = await service.ask(path, { ...options, headers: { origin: 'https://example.org' } });
        expect(headers['access-control-allow-origin'], path).toBe('*');
        for (const name of RATE) expect(headers['access-control-expose-headers']?.toLowerCase(), path).toContain(name);
      }
    });

    it('contain a weak ETag that allows a 304, depends on the requested sections, and changes with the publication', async () => {
      for (const path of questions()) {
        const first = await ask(path);
        expect(first.headers['etag'], path).toMatch(/^W\/"[^"]+"$/);
        const again = await ask(path, { 'if-none-match': `"other", ${first.headers['etag']}` });
        expect([again.status, again.text, again.headers['etag']], path).toEqual([304, '', first.headers['etag']]);
        expect((await ask(path, { 'if-none-match': 'W/"other"' })).status).toBe(200);
      }
      const tags = await Promise.all(['risk', 'basic', 'risk,basic', 'address'].map(async (include) => (await ask(`/parcels/${parcel.fid}?include=${include}`)).headers['etag']));
      expect(new Set(tags).size).toBe(4);
      const before = (await ask('/admin/regions')).headers['etag'];
      const [publication] = await service.database.query<{ id: number; run: number }>("select publication_id as id, run_id as run from ledger.publication where unit_code = 0 and state = 'current'");
      await service.database.query("update ledger.publication set state = 'past' where publication_id = $1", [publication!.id]);
      await service.database.query("insert into ledger.publication (unit_code, run_id, state) values (0, $1, 'current')", [publication!.run]);
      try {
        const after = await ask('/admin/regions', { 'if-none-match': before! });
        expect(after.status).toBe(200);
        expect(after.headers['etag']).not.toBe(before);
      } finally {
        await service.database.query("delete from ledger.publication where unit_code = 0 and state = 'current'");
        await service.database.query("update ledger.publication set state = 'current' where publication_id = $1", [publication!.id]);
      }
    });

    it('contain a different ETag for lists and neighbours if another region is published, and for a past day after a swap', async () => {
      const { database } = service;
      const [{ today }] = await database.query<{ today: string }>("select (now() at time zone 'Europe/Rome')::date::text as today") as [{ today: string }];
      const tag = async (path: string): Promise<string> => (await ask(path)).headers['etag']!;
      const tags = (paths: readonly string[]): Promise<string[]> => Promise.all(paths.map(tag));
      const changed = async (paths: readonly string[], there: string, back: string): Promise<void> => {
        const before = await tags(paths);
        await database.query(there);
        const after = await tags(paths);
        await database.query(back);
        for (const [index, path] of paths.entries()) expect(after[index], path).not.toBe(before[index]);
        expect(await tags(paths)).toEqual(before);
      };
      await changed(
        ['/admin/regions', '/admin/provinces', '/admin/municipalities', `/parcels/${parcel.fid}/neighbours`],
        "insert into ledger.publication (unit_code, run_id, state) select 12, run_id, 'current' from ledger.publication where unit_code = 0 and state = 'current'",
        'delete from ledger.publication where unit_code = 12',
      );
      await changed(
        [`/parcels/${parcel.fid}?include=basic&as_of=${today}`],
        "insert into ledger.swap (unit_code, publication_id, happened_at) select unit_code, publication_id, now() from ledger.publication where unit_code = 14 and state = 'current'",
        'delete from ledger.swap where swap_id = (select max(swap_id) from ledger.swap)',
      );
    });

    it('contain a different ETag if the content, the publication time or the SQL changed, even with the same publication number', async () => {
      const { database } = service;
      const tag = async (): Promise<string> => (await ask('/admin/regions')).headers['etag']!;
      const before = await tag();
      const [publication] = await database.query<{ id: number; digest: string; published_at: string }>(
        `select p.publication_id as id, p.digest, p.published_at::text
         from ledger.publication p where unit_code = 0 and state = 'current'`,
      );
      expect(publication!.digest).toMatch(/^[0-9a-f]{32}$/);
      const changes: readonly (readonly [there: string, back: string, value: unknown])[] = [
        ["update ledger.publication set digest = 'another' where publication_id = $1", 'update ledger.publication set digest = $2 where publication_id = $1', publication!.digest],
        ["update ledger.publication set published_at = published_at - interval '1 day' where publication_id = $1", 'update ledger.publication set published_at = $2::timestamptz where publication_id = $1', publication!.published_at],
        ["update ledger.applied_file set applied_at = applied_at + interval '1 day' where file = 'sql/api/admin.sql' and $1 > 0", "update ledger.applied_file set applied_at = applied_at - interval '1 day' where file = 'sql/api/admin.sql' and $1 > 0 and $2::text is null", null],
      ];
      for (const [there, back, value] of changes) {
        await database.query(there, [publication!.id]);
        const changed = await tag();
        await database.query(back, [publication!.id, value]);
        expect(changed, there).not.toBe(before);
        expect(await tag(), back).toBe(before);
      }
      // The digests of Italy and of the region must differ, because their content differs.
      const digests = await database.query<{ digest: string }>("select digest from ledger.publication where state = 'current'");
      expect(new Set(digests.map(({ digest }) => digest)).size).toBe(digests.length);
    });

    it('contain the licences of the database, even if the server has cached older licences', async () => {
      const { database } = service;
      const licences = async (include: string): Promise<unknown[]> => {
        const { meta } = (await ask(`/parcels/${parcel.fid}?include=${include}`)).body as { meta: { licenses: unknown[] } };
        return meta.licenses;
      };
      const stated = async (include: string): Promise<unknown[]> => {
        const [row] = await database.query<{ licenses: unknown[] }>("select api.parcel($1, $2) -> 'meta' -> 'licenses' as licenses", [parcel.fid, include.split(',')]);
        return row!.licenses;
      };
      for (const include of ['basic,risk', 'basic,solar', 'basic,risk', 'basic']) expect(await licences(include), include).toEqual(await stated(include));
      const before = await licences('basic,risk');
      const region = "(select publication_id from ledger.publication where unit_code = 14 and state = 'current')";
      const [was] = await database.query<{ citation: string }>(`select distinct citation from ledger.cited where publication_id = ${region} and section = 'risk' and key = 'risk'`);
      await database.query(`insert into ledger.citation select md5('made_')::uuid, section, source, source_ids, array(select replace(l, '(', '?(') from unnest(licenses) l), terms
        from ledger.citation where citation = '${was!.citation}'`);
      await database.query(`update ledger.cited set citation = md5('made_')::uuid where publication_id = ${region} and citation = '${was!.citation}'`);
      const after = await licences('basic,risk');
      expect(after).not.toEqual(before);
      expect(after).toEqual(await stated('basic,risk'));
      await database.query(`update ledger.cited set citation = '${was!.citation}' where publication_id = ${region} and citation = md5('made_')::uuid`);
      await database.query("delete from ledger.citation where citation = md5('made_')::uuid");
      expect(await licences('basic,risk')).toEqual(before);
    });

    it('contain the same licences in the same order as api.parcel, for any choice of sections', async () => {
      const random = randomOf('licences', testEnvironment().seed);
      const parcels = await service.database.query<{ fid: number }>('select fid from core.parcel order by hashint4(fid) limit 40');
      for (const { fid } of parcels) {
        const include = SECTION_NAMES.filter(() => random.next() < 0.5);
        if (include.length === 0) continue;
        const { meta } = (await ask(`/parcels/${fid}?include=${include.join(',')}`)).body as { meta: { licenses: unknown[] } };
        const [row] = await service.database.query<{ licenses: unknown[] }>("select api.parcel($1, $2) -> 'meta' -> 'licenses' as licenses", [fid, include]);
        expect(meta.licenses, `${fid} ${include.join(',')}, MAPPALE_TEST_SEED=${testEnvironment().seed}`).toEqual(row!.licenses);
      }
    });

    // Runs on one engine only, because the result does not depend on the engine.
    it.runIf(engine.name === 'postgres')('contain a different ETag if another database has the same publication numbers but different content', async () => {
      const other = await regionService(engine, 40, 12, { comuni: 2 });
      try {
        const numbers = async ({ database }: Service): Promise<unknown> => database.query("select publication_id, unit_code, run_id from ledger.publication where state = 'current' order by 1");
        expect(await numbers(other)).toEqual(await numbers(service));
        const [mine, its] = [key, await other.token()];
        for (const path of ['/admin/regions', '/admin/municipalities', '/geocode/search?q=Roma', '/parcels/locate?lat=41.5&lng=14.5']) {
          const tag = (await service.ask(path, { key: mine })).headers['etag']!;
          const answered = await other.ask(path, { key: its, headers: { 'if-none-match': tag } });
          expect([answered.status, answered.headers['etag'] === tag], path).toEqual([200, false]);
        }
      } finally {
        await other.close();
      }
    });

    it('contain Vary, and a different request ID in each response', async () => {
      const seen = new Set<string | undefined>();
      for (const [path, options] of [[`/parcels/${parcel.fid}`, { key }], ['/parcels/x', { key }], ['/parcels/1', {}], ['/nothing', {}], ['/health', {}], ['/openapi.json', {}], ['/docs', {}], ['/map/map.js', {}], ['/%zz', {}], ['/health', { method: 'POST' }], ['/health', { method: 'OPTIONS' }]] as const) {
        const { headers } = await service.ask(path, options);
        expect(headers['vary']?.toLowerCase(), path).toBe('accept-encoding, x-api-key');
        expect(headers['x-request-id'], path).toMatch(/^[0-9a-f-]{36}$/);
        seen.add(headers['x-request-id']);
      }
      expect(seen.size).toBe(11);
      const { headers } = await service.ask('/admin/regions', { key });
      const again = await service.ask('/admin/regions', { key, headers: { 'if-none-match': headers['etag']! } });
      expect([again.status, again.headers['vary'], typeof again.headers['x-request-id']]).toEqual([304, headers['vary'], 'string']);
    });

    it('declare gzip compression only to clients that accept gzip', async () => {
      const plain = await service.ask(`/parcels/${parcel.fid}`, { key });
      expect(plain.headers['content-encoding']).toBeUndefined();
      const packed = await service.app.inject({ method: 'GET', url: `${BASE}/parcels/${parcel.fid}`, headers: { 'x-api-key': key, 'accept-encoding': 'gzip' } });
      expect(packed.headers['content-encoding']).toBe('gzip');
      expect(String(packed.headers['vary']).toLowerCase()).toContain('accept-encoding');
      expect(gunzipSync(packed.rawPayload).toString()).toBe(plain.text);
      expect(packed.rawPayload.length).toBeLessThan(plain.text.length / 2);
    });

    it('declare JSON in UTF-8, and forbid content sniffing', async () => {
      for (const path of [...questions(), '/health', '/openapi.json', '/nothing', '/parcels/x']) {
        const { headers } = await service.ask(path, { key });
        expect(headers['content-type'], path).toMatch(/^application\/((geo|schema|problem)\+)?json; charset=utf-8$/);
        expect(headers['x-content-type-options'], path).toBe('nosniff');
      }
    });
  });

  // Runs on PostgreSQL only, because the statements do not depend on the engine.
  if (engine.name === 'postgres') {
    describe('statements', () => {
      let trial: Trial;
      let held = 0;
      beforeAll(() => {
        trial = new Trial(service);
      });
      afterAll(() => void process.stderr.write(`statements of the interface: ${held} of ${STATEMENTS.length} hold\n`));

      for (const { about, says, holds } of STATEMENTS) {
        it(`${about}: ${says}`, async () => {
          await holds(trial);
          held += 1;
        });
      }
    });
  }

  describe('golden answers', () => {
    it('are equal on both engines if shares are rounded to three decimals', async () => {
      const other = await service.token();
      const golden: Readonly<Record<string, string>> = {
        parcel: `/parcels/${parcel.fid}`, 'parcel-basic-risk': `/parcels/${parcel.fid}?include=basic,risk`, 'locate-point': `/parcels/locate?lat=${parcel.lat}&lng=${parcel.lng}`,
        'locate-box': `/parcels/locate?bbox=${[parcel.lng - 0.0005, parcel.lat - 0.0005, parcel.lng + 0.0005, parcel.lat + 0.0005].map((side) => side.toFixed(7)).join(',')}&limit=5`,
        reverse: `/geocode/reverse?lat=${parcel.lat}&lng=${parcel.lng}&radius=200&limit=3`,
        search: `/geocode/search?q=${encodeURIComponent(`${String(address['street_name'])} ${String(address['street_number'])}`)}&city=${String(address['municipality_code'])}&limit=3`,
        regions: '/admin/regions', provinces: '/admin/provinces', municipalities: '/admin/municipalities', 'bad-parameter': '/geocode/reverse?lat=41&lng=14&radius=501', 'not-found': '/parcels/1',
      };
      let whole: Sections = {};
      for (const [name, path] of Object.entries(golden)) {
        const { status, text } = await service.ask(path, { key: other });
        let answer = JSON.parse(text, roughShares) as Json;
        if (name.startsWith('parcel')) {
          // The golden file of a section contains the section's part of a complete record.
          const { rest, sections } = splitRecord(answer);
          expect(JSON.stringify(joinRecord(rest, sections))).toBe(JSON.stringify(answer));
          if (name === 'parcel') whole = sections;
          else expect(sections).toEqual(Object.fromEntries(Object.entries(whole).filter(([section]) => section in sections)));
          answer = rest;
        }
        await expect(`${JSON.stringify({ request: `GET ${path}`, status, answer }, null, 2)}\n`).toMatchFileSnapshot(`golden/${name}.json`);
      }
      expect(Object.keys(whole)).toEqual(SECTION_NAMES);
      for (const [section, part] of Object.entries(whole)) {
        const path = answerGoldenOf(section);
        await expect(goldenText({ ...readGolden(path), answer: JSON.stringify(part, null, 1) })).toMatchFileSnapshot(join(ROOT, path));
      }
    });
  });
});

/** Parts of a record by section. */
type Sections = Readonly<Record<string, { readonly block: unknown; readonly coverage?: unknown; readonly licenses: readonly unknown[] }>>;

interface RecordMeta extends Json {
  readonly sections_included: readonly string[];
  readonly coverage: Json;
  readonly licenses: readonly { readonly section: string }[];
}

/** Splits a record into the parts of its sections and the remaining fields. */
function splitRecord(answer: Json): { rest: Json; sections: Sections } {
  const { sections_included: names, coverage, licenses, ...others } = answer['meta'] as RecordMeta;
  const sections = Object.fromEntries(names.map((name) => [name, {
    block: answer[name], ...(name in coverage ? { coverage: coverage[name] } : {}), licenses: licenses.filter(({ section }) => section === name),
  }]));
  const rest = Object.fromEntries(Object.entries(answer).filter(([name]) => !names.includes(name)));
  return { rest: { ...rest, meta: { licenses: licenses.filter(({ section }) => !names.includes(section)), ...others } }, sections };
}

/** Joins the results of `splitRecord` into the original record. */
function joinRecord({ meta, ...first }: Json, sections: Sections): Json {
  const { licenses, ...others } = meta as Pick<RecordMeta, 'licenses'>;
  const parts = Object.entries(sections);
  return {
    ...first, ...Object.fromEntries(parts.map(([name, { block }]) => [name, block])),
    meta: {
      sections_included: parts.map(([name]) => name), coverage: Object.fromEntries(parts.flatMap(([name, part]) => ('coverage' in part ? [[name, part.coverage]] : []))),
      licenses: [...parts.flatMap(([, part]) => part.licenses), ...licenses], ...others,
    },
  };
}

/**
 * Rounds shares to three decimals. The border of an area differs by half a millimetre between versions of PROJ. For a small parcel, this changes the later
 * decimals.
 */
function roughShares(key: string, value: unknown): unknown {
  return typeof value === 'number' && /^(?:(?:flood|landslide|built)_)?share$/.test(key) ? Math.round(value * 1000) / 1000 : value;
}

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1 according to the official schema', async () => {
    expect(await new Validator().validate(JSON.parse(JSON.stringify(DOCUMENT)))).toMatchObject({ valid: true });
  });

  it('describes every property, parameter, header and response', () => {
    const silent: string[] = [];
    const look = (node: unknown, at: string): void => {
      if (node === null || typeof node !== 'object') return;
      for (const [name, value] of Object.entries(node)) {
        if (['properties', 'headers', 'responses'].includes(name) && !Array.isArray(value)) {
          for (const [key, one] of Object.entries(value as Readonly<Record<string, Json>>)) {
            const target = typeof one['$ref'] === 'string' ? (DOCUMENT.components.schemas[one['$ref'].split('/').at(-1)!] as Json) : {};
            if (!/\w/.test(String(one['description'] ?? target['description'] ?? ''))) silent.push(`${at}/${name}/${key}`);
            look(one, `${at}/${name}/${key}`);
          }
          continue;
        }
        if (name === 'parameters') for (const one of value as Json[]) if (!/\w/.test(String(one['description'] ?? ''))) silent.push(`${at}/${String(one['name'])}`);
        look(value, `${at}/${name}`);
      }
    };
    look(DOCUMENT, '');
    expect(silent).toEqual([]);
  });

  it('has a valid example for every parameter', () => {
    for (const { path, parameters, pathParameters } of ENDPOINTS) {
      const examples = Object.fromEntries(DOCUMENT.paths[path]!.get.parameters.map((parameter) => {
        const [value] = parameter.example === undefined ? Object.values(parameter.examples!).map((each) => each.value) : [parameter.example];
        return [parameter.name, Array.isArray(value) ? value.join(',') : String(value)];
      }));
      for (const schema of [parameters, pathParameters]) {
        const own = Object.fromEntries(Object.keys(schema.shape).map((name) => [name, examples[name]]));
        expect(Object.keys(readParameters(schema, own)), path).toEqual(Object.keys(schema.shape));
      }
    }
  });

  it('has an example of every error code under its HTTP status', () => {
    for (const [path, { get }] of Object.entries(DOCUMENT.paths)) {
      for (const [status, { content, description }] of Object.entries(get.responses)) {
        if (Number(status) < 400) continue;
        const { example, examples = { only: { value: example } } } = content!['application/problem+json'] ?? content!['application/json']!;
        const shown = Object.values(examples).map(({ value }) => value as Json);
        for (const body of shown) if (path !== '/health') expect(violationsOf(path, { status: Number(status), body, text: '', headers: new Proxy({}, { get: () => '' }) })).toEqual([]);
        for (const code of description!.match(/[A-Z_]{4,}/g) ?? []) expect(shown.map((body) => body['error']), `${path} ${status}`).toContain(code);
      }
    }
  });

  it('lists every endpoint with all its errors, and every scope', () => {
    for (const { path, scope } of ENDPOINTS) {
      const operation = DOCUMENT.paths[path]!.get;
      expect(Object.keys(operation.responses), path).toEqual(expect.arrayContaining(['200', '304', '400', ...(scope === null ? [] : ['401', '403']), '405', '429', '500', '503']));
      expect(operation.security, path).toEqual(scope === null ? [] : [{ key: [scope] }]);
    }
    expect(new Set(ENDPOINTS.map(({ scope }) => scope))).toEqual(new Set([...SCOPES, null]));
    expect(ENDPOINTS.filter(({ scope }) => scope === null).map(({ path }) => path)).toEqual(['', '/conformance', '/collections', '/collections/{collectionId}', '/collections/{collectionId}/queryables'].map((path) => `/ogc${path}`));
    expect(Object.keys(DOCUMENT.paths)).toEqual(expect.arrayContaining(['/health', '/openapi.json']));
  });

  it('refers only to schemas that it contains', () => {
    const references = [...JSON.stringify(DOCUMENT).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name!);
    expect(references.length).toBeGreaterThan(20);
    expect(references.filter((name) => DOCUMENT.components.schemas[name] === undefined)).toEqual([]);
  });
});
