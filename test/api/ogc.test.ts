/**
 * Tests the requirements in docs/ogc-conformance.md. Each requirement has a test with the name of the requirement. Also tests other documented properties of
 * the paths below /ogc.
 */
import { readFileSync } from 'node:fs';
import { deserialize } from 'flatgeobuf/lib/mjs/geojson.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CRS84 } from '../../api/crs.ts';
import { FILTER_PROPERTIES, parseFilter } from '../../api/cql2.ts';
import { COLLECTIONS, CONFORMS_TO, INDEXED } from '../../api/ogc.ts';
import { firstFid } from '../../pipelines/contract/regions.ts';
import { SECTIONS } from '../../pipelines/contract/sections.ts';
import { describeDatabase } from '../harness/database.ts';
import { REGIONS } from '../harness/loaded-region.ts';
import { BASE, DOCUMENT, violationsOf, regionService, type Answered } from './harness.ts';

type Json = Record<string, unknown>;
type Link = { href: string; rel: string; type?: string };
type Feature = { type: string; id: number; geometry: { type: string; coordinates: unknown[] }; properties: Json };
type Sides = Readonly<Record<'west' | 'south' | 'east' | 'north', number>>;
type Row = Sides & { fid: number; belfiore: string; reference: string; kind: string; label: string; sheet: string | null; area: number };
type Page = { type: string; features: Feature[]; numberReturned: number; links: Link[]; licenses: Json[] };

const PAGE = readFileSync(new URL('../../docs/ogc-conformance.md', import.meta.url), 'utf8');
const NAMED = [...PAGE.matchAll(/^\| `(\/req\/[\w/-]+)` \|/gm)].map((match) => match[1]!);

describeDatabase('OGC API - Features', (engine) => {
  let service: Awaited<ReturnType<typeof regionService>>;
  let key: string;
  let all: Row[];

  const ask = async (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answered> => {
    const answered = await service.ask(`/ogc${path}`, { key, headers });
    expect(violationsOf(`/ogc${path}`, answered), path).toEqual([]);
    return answered;
  };
  const get = async <T = Json>(path: string): Promise<T> => {
    const { status, text, body } = await ask(path);
    expect(status, `${path}: ${text.slice(0, 300)}`).toBe(200);
    return body as T;
  };
  const refused = async (path: string): Promise<unknown[]> => {
    const { status, body } = await ask(path);
    return [status, body!['error']];
  };
  const linksOf = (body: Json, rel: string): Link[] => (body['links'] as Link[]).filter((link) => link.rel === rel);
  /** Returns the path of a link, relative to /ogc. */
  const pathOf = ({ href }: Link): string => href.slice(href.indexOf(`${BASE}/ogc`) + `${BASE}/ogc`.length);
  /** Requests a page and, through the `next` links, all following pages. */
  const pages = async (path: string): Promise<Page[]> => {
    const found: Page[] = [];
    for (let next: string | undefined = path; next !== undefined;) {
      const page: Page = await get<Page>(next);
      found.push(page);
      const link = page.links.find(({ rel }) => rel === 'next');
      next = link === undefined ? undefined : pathOf(link);
      expect(found.length).toBeLessThan(200);
    }
    return found;
  };
  const fids = (found: readonly Page[]): number[] => found.flatMap(({ features }) => features.map(({ id }) => id));
  const sorted = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);
  const parameter = (name: string): Json => (DOCUMENT.paths['/ogc/collections/{collectionId}/items']!.get.parameters as unknown as Json[]).find((each) => each['name'] === name)!;
  const corners = ({ geometry }: Feature): [number, number][] => (geometry.coordinates).flat(geometry.type === 'Polygon' ? 1 : 2) as [number, number][];

  beforeAll(async () => {
    service = await regionService(engine, ...REGIONS.floods);
    key = await service.token();
    all = await service.database.query(
      "select fid, belfiore, reference, kind, label, nullif(ltrim(sheet, '0'), '') as sheet, api.shown_area(area_m2)::float8 as area, st_xmin(geom) as west, st_ymin(geom) as south, st_xmax(geom) as east, st_ymax(geom) as north from core.parcel order by fid",
    );
  });
  afterAll(() => service?.close());

  type Parcel = (typeof all)[number];
  /** Box that contains every parcel. Tests of filters add the box, because a filter needs at least one condition that can use an index. */
  const EVERYWHERE = 'bbox=6,35,19,47';
  /** Expects that a filter in CQL2 text and, if `json` is given, in CQL2 JSON selects the same parcels as a predicate: some parcels, but not all. */
  const selects = async (filter: string, predicate: (parcel: Parcel) => boolean, json?: unknown): Promise<void> => {
    const expected = all.filter(predicate).map(({ fid }) => fid);
    const languages = [['cql2-text', filter], ...(json === undefined ? [] : [['cql2-json', JSON.stringify(json)]])] as const;
    for (const [language, text] of languages) {
      const found = await pages(`/collections/parcels/items?limit=90&${EVERYWHERE}&filter-lang=${language}&filter=${encodeURIComponent(text)}`);
      expect(fids(found), text).toEqual(expected);
    }
    expect([filter, expected.length > 0 && expected.length < all.length]).toEqual([filter, true]);
  };
  const area = { property: 'area_m2' };
  const median = (): number => [...all].sort((a, b) => a.area - b.area)[Math.floor(all.length / 2)]!.area;
  const meets = ({ west, east, south, north }: Parcel, [left, low, right, high]: readonly [number, number, number, number]): boolean => (
    west <= right && east >= left && south <= high && north >= low
  );

  const REQUIREMENTS: Readonly<Record<string, () => Promise<void>>> = {
    '/req/core/root-op': async () => expect((await ask('')).status).toBe(200),
    '/req/core/root-success': async () => {
      const body = await get('');
      for (const rel of ['service-desc', 'service-doc', 'conformance', 'data']) expect([rel, linksOf(body, rel).length]).toEqual([rel, 1]);
    },
    '/req/core/api-definition-op': async () => {
      const body = await get('');
      for (const { href } of [...linksOf(body, 'service-desc'), ...linksOf(body, 'service-doc')]) expect((await service.app.inject({ method: 'GET', url: href })).statusCode, href).toBe(200);
    },
    '/req/core/api-definition-success': async () => {
      const body = await get('');
      for (const { href, type } of [...linksOf(body, 'service-desc'), ...linksOf(body, 'service-doc')]) {
        expect(String((await service.app.inject({ method: 'GET', url: href, headers: { accept: type! } })).headers['content-type']), href).toContain(type);
      }
      const [{ href }] = linksOf(body, 'service-desc') as [Link];
      expect((await service.app.inject({ method: 'GET', url: href })).json()).toMatchObject({ openapi: '3.1.0', paths: { '/ogc/collections': {} } });
      // The media types that GDAL 3.6 accepts.
      const accept = 'application/vnd.oai.openapi+json;version=3.0, application/openapi+json;version=3.0, application/json';
      expect((await service.app.inject({ method: 'GET', url: href, headers: { accept } })).headers['content-type']).toBe('application/json; charset=utf-8');
      expect((await service.app.inject({ method: 'GET', url: `${href}?f=json` })).statusCode).toBe(400);
    },
    '/req/core/conformance-op': async () => expect((await ask('/conformance')).status).toBe(200),
    '/req/core/conformance-success': async () => {
      const { conformsTo } = await get<{ conformsTo: string[] }>('/conformance');
      expect(conformsTo).toEqual(CONFORMS_TO);
      // A conformance class may be declared only if docs/ogc-conformance.md lists its requirements.
      expect(new Set(conformsTo.map((uri) => uri.slice(uri.lastIndexOf('/') + 1)))).toEqual(new Set(NAMED.map((id) => id.split('/')[2])));
    },
    '/req/core/http': async () => {
      const { headers } = await ask('/collections');
      expect((await ask('/collections', { 'if-none-match': headers['etag']! })).status).toBe(304);
      expect((await service.ask('/ogc/collections', { key, method: 'POST' })).status).toBe(405);
      expect((await service.ask('/ogc/collections/parcels/items')).status).toBe(401);
      for (const path of ['/collections/roads', '/collections/roads/items', '/collections/parcels/items/1', '/collections/parcels/items/x', '/collections/parcels/items/9999999999']) {
        expect([path, ...await refused(path)]).toEqual([path, 404, 'NOT_FOUND']);
      }
    },
    '/req/core/query-param-unknown': async () => {
      for (const path of ['?f=json', '/conformance?x=1', '/collections?limit=1', '/collections/parcels/items?area_m2=1', '/collections/parcels/items?bbox-crs=x']) {
        expect([path, ...await refused(path)]).toEqual([path, 400, 'INVALID_PARAMS']);
      }
    },
    '/req/core/query-param-invalid': async () => {
      const wrong = [
        'limit=0', 'limit=-1', 'limit=ten', 'limit=1.5', 'bbox=1,2,3', 'bbox=1,2,3,4,5', 'bbox=a,b,c,d', 'bbox=14,42,15,41', 'bbox=-181,0,0,1', 'bbox=0,0,1,91', 'bbox=14,41,9,15,42,1',
        'datetime=today', 'datetime=2026-01-01', 'datetime=2026-13-01T00:00:00Z', 'datetime=../..', 'datetime=2026-01-01T00:00:00Z/x', 'datetime=2026-02-30T00:00:00Z', 'datetime=2027-01-01T00:00:00Z/2026-01-01T00:00:00Z', 'kind=house', 'region_code=21', 'municipality_code=Roma', 'after=x', 'after=9999999999', 'after=2147483647', 'after=H501~2147483647',
      ];
      for (const query of wrong) expect([query, ...await refused(`/collections/parcels/items?${query}`)]).toEqual([query, 400, 'INVALID_PARAMS']);
    },
    '/req/core/crs84': async () => {
      for (const feature of (await get<Page>('/collections/parcels/items?limit=50')).features) {
        for (const [lng, lat] of corners(feature)) expect([lng > 6 && lng < 19, lat > 35 && lat < 48]).toEqual([true, true]);
      }
    },
    '/req/core/fc-md-op': async () => expect((await ask('/collections')).status).toBe(200),
    '/req/core/fc-md-success': async () => {
      const body = await get('/collections');
      expect([Array.isArray(body['links']), Array.isArray(body['collections'])]).toEqual([true, true]);
    },
    '/req/core/fc-md-links': async () => expect(linksOf(await get('/collections'), 'self')).toMatchObject([{ type: 'application/json' }]),
    '/req/core/fc-md-items': async () => {
      const { collections } = await get<{ collections: Json[] }>('/collections');
      expect(collections.map(({ id }) => id)).toEqual(['parcels', ...SECTIONS.map(({ name }) => name).filter((name) => name !== 'basic')]);
    },
    '/req/core/fc-md-items-links': async () => {
      for (const each of (await get<{ collections: Json[] }>('/collections')).collections) expect(linksOf(each, 'items'), String(each['id'])).toMatchObject([{ type: 'application/geo+json' }, { type: 'application/flatgeobuf' }]);
    },
    '/req/core/fc-md-extent': async () => {
      const { extent } = await get<{ extent: { spatial: { bbox: [number, number, number, number][]; crs: string } } }>('/collections/parcels');
      const [[west, south, east, north]] = extent.spatial.bbox as [[number, number, number, number]];
      expect(all.filter((each) => each.west < west || each.south < south || each.east > east || each.north > north)).toEqual([]);
    },
    '/req/core/fc-md-extent-multi': async () => {
      for (const { extent } of (await get<{ collections: { extent: { spatial: { bbox: unknown[] }; temporal?: unknown } }[] }>('/collections')).collections) {
        expect([extent.spatial.bbox.length, extent.temporal]).toEqual([1, undefined]);
      }
    },
    '/req/core/sfc-md-op': async () => {
      for (const { id } of COLLECTIONS) await get(`/collections/${id}`);
    },
    '/req/core/sfc-md-success': async () => {
      for (const each of (await get<{ collections: Json[] }>('/collections')).collections) expect(await get(`/collections/${String(each['id'])}`)).toEqual(each);
    },
    '/req/core/fc-op': async () => {
      for (const { id } of COLLECTIONS) expect((await get<Page>(`/collections/${id}/items?limit=3`)).features.length, id).toBe(3);
    },
    '/req/core/fc-limit-definition': async () => expect(parameter('limit')).toMatchObject({ in: 'query', required: false, schema: { type: 'integer', minimum: 1, maximum: 1000, default: 100 } }),
    '/req/core/fc-limit-response-1': async () => {
      for (const limit of [1, 7]) expect((await get<Page>(`/collections/parcels/items?limit=${limit}`)).features.length).toBe(limit);
      expect((await get<Page>('/collections/parcels/items')).features.length).toBe(100);
      expect((await get<Page>('/collections/parcels/items?limit=999999')).features.length).toBe(all.length);
    },
    '/req/core/fc-bbox-definition': async () => {
      expect(parameter('bbox')).toMatchObject({ in: 'query', required: false, style: 'form', explode: false, schema: { type: 'array', minItems: 4, maxItems: 6, items: { type: 'number' } } });
      const four = fids(await pages('/collections/parcels/items?bbox=14,41.9,14.005,42.1'));
      expect(fids(await pages('/collections/parcels/items?bbox=14,41.9,0,14.005,42.1,3000'))).toEqual(four);
    },
    '/req/core/fc-bbox-response': async () => {
      const middle = all[Math.floor(all.length / 2)]!;
      const around = (by: number): [number, number, number, number] => [middle.west - by, middle.south - by, middle.east + by, middle.north + by];
      // The boxes are a small box, a large box, a box without parcels, and a point.
      for (const box of [around(0.001), around(0.1), [7, 45, 7.01, 45.01], [middle.west, middle.south, middle.west, middle.south]] as const) {
        const found = fids(await pages(`/collections/parcels/items?limit=40&bbox=${box.join(',')}`));
        const meeting = all.filter((each) => each.west <= box[2] && each.east >= box[0] && each.south <= box[3] && each.north >= box[1]).map(({ fid }) => fid);
        const inside = all.filter((each) => each.west >= box[0] && each.east <= box[2] && each.south >= box[1] && each.north <= box[3]).map(({ fid }) => fid);
        expect(found).toEqual(sorted(found));
        expect(found.filter((fid) => !meeting.includes(fid))).toEqual([]);
        expect(inside.filter((fid) => !found.includes(fid))).toEqual([]);
      }
      expect(fids(await pages('/collections/parcels/items?limit=1000&bbox=170,-90,15,90'))).toEqual(all.map(({ fid }) => fid));
      expect(fids(await pages('/collections/parcels/items?limit=1000&bbox=170,-90,-170,90'))).toEqual([]);
    },
    '/req/core/fc-time-definition': async () => {
      expect(parameter('datetime')).toMatchObject({ in: 'query', required: false, schema: { type: 'string' } });
      for (const moment of ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.5+01:00', '2025-01-01T00:00:00Z/2026-01-01T00:00:00Z', '../2026-01-01T00:00:00Z', '/2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z/..', '2026-01-01T00:00:00Z/']) {
        await get(`/collections/parcels/items?limit=1&datetime=${encodeURIComponent(moment)}`);
      }
    },
    '/req/core/fc-time-response': async () => expect(fids(await pages('/collections/parcels/items?limit=1000&datetime=1999-01-01T00:00:00Z'))).toEqual(all.map(({ fid }) => fid)),
    '/req/core/fc-response': async () => {
      const { belfiore, reference } = all[5]!;
      const selections = [
        ['kind=road', all.filter(({ kind }) => kind === 'road')], [`municipality_code=${belfiore}`, all.filter((each) => each.belfiore === belfiore)],
        [`municipality_code=${belfiore.toLowerCase()}&kind=water`, all.filter((each) => each.belfiore === belfiore && each.kind === 'water')],
        [`cadastral_reference=${encodeURIComponent(reference)}`, [all[5]!]], ['region_code=14', all], ['region_code=3', []], ['municipality_code=H501', []],
      ] as const;
      for (const [query, expected] of selections) expect(sorted(fids(await pages(`/collections/parcels/items?limit=13&${query}`))), query).toEqual(expected.map(({ fid }) => fid));
    },
    '/req/core/fc-links': async () => {
      const page = await get<Page & Json>('/collections/parcels/items?limit=2&kind=land');
      const [self] = linksOf(page, 'self');
      expect((await get<Page>(pathOf(self!))).features).toEqual(page.features);
    },
    '/req/core/fc-rel-type': async () => {
      for (const { rel, type } of (await get<Page>('/collections/parcels/items?limit=2')).links) expect([rel, type]).toEqual([rel, rel === 'collection' ? 'application/json' : 'application/geo+json']);
    },
    '/req/core/fc-timeStamp': async () => expect(await get('/collections/parcels/items?limit=1')).not.toHaveProperty('timeStamp'),
    '/req/core/fc-numberMatched': async () => expect(await get('/collections/parcels/items?limit=1')).not.toHaveProperty('numberMatched'),
    '/req/core/fc-numberReturned': async () => {
      for (const { numberReturned, features } of await pages('/collections/parcels/items?limit=150')) expect(numberReturned).toBe(features.length);
    },
    '/req/core/f-op': async () => {
      for (const { id } of COLLECTIONS) {
        const { features: [first] } = await get<Page>(`/collections/${id}/items?limit=1`);
        expect(await get(`/collections/${id}/items/${first!.id}`)).toMatchObject(first!);
      }
    },
    '/req/core/f-success': async () => expect((await ask(`/collections/parcels/items/${all[0]!.fid}`)).status).toBe(200),
    '/req/core/f-links': async () => {
      const body = await get(`/collections/parcels/items/${all[0]!.fid}`);
      expect([linksOf(body, 'self'), linksOf(body, 'collection')]).toMatchObject([[{ type: 'application/geo+json' }], [{ type: 'application/json' }]]);
    },
    '/req/geojson/definition': async () => {
      for (const path of ['/collections/parcels/items?limit=1', `/collections/parcels/items/${all[0]!.fid}`]) expect((await ask(path)).headers['content-type']).toMatch(/^application\/geo\+json/);
      for (const path of ['', '/conformance', '/collections', '/collections/parcels']) expect((await ask(path)).headers['content-type']).toMatch(/^application\/json/);
    },
    '/req/geojson/content': async () => {
      const page = await get<Page>('/collections/parcels/items?limit=5');
      expect(page.type).toBe('FeatureCollection');
      for (const { type, id, geometry, properties } of page.features) {
        expect([type, typeof properties]).toEqual(['Feature', 'object']);
        expect(geometry.type).toMatch(/^(Multi)?Polygon$/);
        expect(await get(`/collections/parcels/items/${id}`)).toMatchObject({ type: 'Feature', id });
      }
    },
  };

  const uriOf = (code: number): string => `http://www.opengis.net/def/crs/EPSG/0/${code}`;
  const SYSTEMS = [3035, 32632, 32633, 6706];
  const northFirst = (code: number): boolean => [3035, 6706].includes(code);
  /** Returns the corners of parcels, keyed by fid. PostGIS transforms the corners to a coordinate system, and the axes have the order of the system. */
  const outlinesIn = async (code: number, ids: readonly number[]): Promise<Map<number, [number, number][]>> => {
    const rows = await service.database.query<{ fid: number; points: [number, number][] }>(
      `select p.fid, json_agg(json_build_array(${northFirst(code) ? 'st_y(d.geom), st_x(d.geom)' : 'st_x(d.geom), st_y(d.geom)'})) as points
       from core.parcel p cross join lateral st_dumppoints(st_transform(p.geom, ${code})) d where p.fid = any ($1::int4[]) group by p.fid`, [ids],
    );
    return new Map(rows.map(({ fid, points }) => [fid, points]));
  };
  /** Expects that each corner of a feature is within 1 cm (EPSG:6706: 1e-7°) of a corner of the parcel. */
  const expectOutlines = async (code: number, features: readonly Feature[]): Promise<void> => {
    const outlines = await outlinesIn(code, features.map(({ id }) => id));
    const nearest = code === 6706 ? 1e-7 : 0.01;
    for (const feature of features) {
      const expected = outlines.get(feature.id)!;
      for (const [a, b] of corners(feature)) expect(expected.some(([x, y]) => Math.abs(a - x) <= nearest && Math.abs(b - y) <= nearest), `${code} ${feature.id}: ${a} ${b}`).toBe(true);
    }
  };

  const CRS_REQUIREMENTS: Readonly<Record<string, () => Promise<void>>> = {
    '/req/crs/crs-uri': async () => {
      for (const { crs } of (await get<{ collections: { crs: string[] }[] }>('/collections')).collections) expect(crs).toEqual([CRS84, ...SYSTEMS.map(uriOf)]);
    },
    '/req/crs/fc-md-crs-list': async () => {
      for (const { id } of COLLECTIONS) expect((await get<{ crs: string[] }>(`/collections/${id}`)).crs).toContain(CRS84);
    },
    '/req/crs/fc-md-storageCrs': async () => expect(await get('/collections/parcels')).toHaveProperty('storageCrs', CRS84),
    '/req/crs/fc-md-storageCrs-valid-value': async () => {
      for (const { crs, storageCrs } of (await get<{ collections: { crs: string[]; storageCrs: string }[] }>('/collections')).collections) expect(crs).toContain(storageCrs);
    },
    '/req/crs/fc-bbox-crs-definition': async () => expect(parameter('bbox-crs')).toMatchObject({ in: 'query', required: false, schema: { type: 'string', format: 'uri' } }),
    '/req/crs/fc-bbox-crs-valid-value': async () => {
      for (const wrong of ['EPSG:3035', uriOf(3003), 'http://www.opengis.net/def/crs/OGC/0/CRS84h', '']) {
        expect([wrong, ...await refused(`/collections/parcels/items?bbox=14,41,15,42&bbox-crs=${encodeURIComponent(wrong)}`)]).toEqual([wrong, 400, 'INVALID_PARAMS']);
      }
    },
    '/req/crs/fc-bbox-crs-default-value': async () => {
      const { west, south, east, north } = all[7]!;
      const path = `/collections/parcels/items?bbox=${west},${south},${east},${north}`;
      expect(fids(await pages(`${path}&bbox-crs=${encodeURIComponent(CRS84)}`))).toEqual(fids(await pages(path)));
    },
    '/req/crs/fc-bbox-crs-action': async () => {
      const middle = all[Math.floor(all.length / 2)]!;
      for (const code of SYSTEMS) {
        for (const by of code === 6706 ? [0.0005, 0.05] : [40, 5000]) {
          const [box] = await service.database.query<{ sides: number[] }>(
            `select array[st_xmin(b.geom) - $2, st_ymin(b.geom) - $2, st_xmax(b.geom) + $2, st_ymax(b.geom) + $2]::float8[] as sides
             from (select st_transform(geom, ${code}) as geom from core.parcel where fid = $1) b`, [middle.fid, by],
          );
          const sides = box!.sides.map((side) => Number(side.toFixed(8)));
          const [{ expected }] = await service.database.query<{ expected: number[] }>(
            `select array_agg(fid order by fid) as expected from core.parcel
             where st_intersects(geom, st_transform(st_segmentize(st_makeenvelope($1, $2, $3, $4, ${code}), ${code === 6706 ? 0.001 : 100}), 4326))`, sides,
          ) as [{ expected: number[] }];
          const [west, south, east, north] = sides;
          const asked = northFirst(code) ? [south, west, north, east] : [west, south, east, north];
          expect(fids(await pages(`/collections/parcels/items?limit=50&bbox=${asked.join(',')}&bbox-crs=${encodeURIComponent(uriOf(code))}`)), String(code)).toEqual(expected);
          expect(expected.length).toBeGreaterThan(0);
        }
      }
      // Two boxes where the projection cannot be computed, a box with corners in the wrong order, and a box with longitudes above 180°.
      const utm = `bbox-crs=${encodeURIComponent(uriOf(32632))}`;
      expect(fids(await pages(`/collections/parcels/items?limit=1000&bbox=-999999999,-999999999,999999999,999999999&${utm}`))).toEqual(all.map(({ fid }) => fid));
      expect(fids(await pages(`/collections/parcels/items?bbox=999999998,999999998,999999999,999999999&${utm}`))).toEqual([]);
      expect(await refused(`/collections/parcels/items?bbox=500000,4600000,400000,4700000&${utm}`)).toEqual([400, 'INVALID_PARAMS']);
      expect(await refused(`/collections/parcels/items?bbox=41,181,42,182&bbox-crs=${encodeURIComponent(uriOf(6706))}`)).toEqual([400, 'INVALID_PARAMS']);
    },
    '/req/crs/bbox-crs-exception': async () => {
      const { status, body } = await ask('/collections/parcels/items?bbox=14,41,15,42&bbox-crs=x');
      expect([status, body!['message']]).toEqual([400, expect.stringContaining(CRS84)]);
    },
    '/req/crs/fc-crs-definition': async () => {
      expect(parameter('crs')).toMatchObject({ in: 'query', required: false, schema: { type: 'string', format: 'uri' } });
      expect((DOCUMENT.paths['/ogc/collections/{collectionId}/items/{featureId}']!.get.parameters).map(({ name }) => name)).toContain('crs');
    },
    '/req/crs/fc-crs-valid-value': async () => {
      for (const path of ['/collections/parcels/items', `/collections/parcels/items/${all[0]!.fid}`]) expect(await refused(`${path}?crs=${encodeURIComponent(uriOf(4326))}`)).toEqual([400, 'INVALID_PARAMS']);
    },
    '/req/crs/crs-exception': async () => {
      const { status, body } = await ask('/collections/parcels/items?crs=EPSG:25832');
      expect([status, body!['message']]).toEqual([400, expect.stringContaining('crs is not valid')]);
    },
    '/req/crs/fc-crs-default-value': async () => {
      const path = '/collections/parcels/items?limit=20';
      expect((await get<Page>(`${path}&crs=${encodeURIComponent(CRS84)}`)).features).toEqual((await get<Page>(path)).features);
    },
    '/req/crs/fc-crs-action': async () => {
      for (const code of SYSTEMS) {
        const asked = `crs=${encodeURIComponent(uriOf(code))}`;
        const found = await pages(`/collections/parcels/items?limit=300&${asked}`);
        expect(fids(found)).toEqual(all.map(({ fid }) => fid));
        await expectOutlines(code, found[0]!.features.slice(0, 40));
        const [{ id, geometry }] = found[0]!.features as [Feature];
        expect(await get(`/collections/risk/items/${id}?${asked}`)).toMatchObject({ id, geometry });
      }
    },
    '/req/crs/ogc-crs-header': async () => {
      for (const { id } of COLLECTIONS) {
        for (const path of [`/collections/${id}/items?limit=1`, `/collections/${id}/items/${all[0]!.fid}?`]) {
          for (const code of SYSTEMS) expect((await ask(`${path}&crs=${encodeURIComponent(uriOf(code))}`)).headers['content-crs']).toBe(`<${uriOf(code)}>`);
          expect((await ask(path)).headers['content-crs']).toBe(`<${CRS84}>`);
        }
      }
    },
    '/req/crs/ogc-crs-header-value': async () => expect((await ask('/collections/parcels/items?limit=1')).headers['content-crs']).toMatch(/^<http:\/\/[^<>]+>$/),
    '/req/crs/geojson': async () => {
      const page = await get<Page>(`/collections/parcels/items?limit=1&crs=${encodeURIComponent(uriOf(32633))}`);
      expect([page.type, page.features[0]!.geometry.type]).toEqual(['FeatureCollection', expect.stringMatching(/Polygon$/)]);
    },
  };

  const FILTER_REQUIREMENTS: Readonly<Record<string, () => Promise<void>>> = {
    '/req/queryables/get-queryables-op': async () => {
      for (const { id } of COLLECTIONS) expect((await ask(`/collections/${id}/queryables`)).headers['content-type']).toMatch(/^application\/schema\+json/);
    },
    '/req/queryables/get-queryables-response': async () => {
      const body = await get<{ $schema: string; type: string; properties: Json }>('/collections/parcels/queryables');
      expect([body.$schema, body.type, Object.keys(body.properties)]).toEqual(['https://json-schema.org/draft/2020-12/schema', 'object', [...Object.keys(FILTER_PROPERTIES), 'geometry']]);
    },
    '/req/queryables/queryables-link': async () => {
      for (const each of (await get<{ collections: Json[] }>('/collections')).collections) expect(linksOf(each, 'http://www.opengis.net/def/rel/ogc/1.0/queryables')).toMatchObject([{ type: 'application/schema+json' }]);
    },
    '/req/filter/filter-param': async () => expect(parameter('filter')).toMatchObject({ in: 'query', required: false, schema: { type: 'string' } }),
    '/req/filter/filter-lang-param': async () => {
      expect(parameter('filter-lang')).toMatchObject({ schema: { enum: ['cql2-text', 'cql2-json'] } });
      expect(await refused(`/collections/parcels/items?${EVERYWHERE}&filter-lang=ecql&filter=true`)).toEqual([400, 'INVALID_PARAMS']);
    },
    '/req/filter/filter-crs-wgs84': async () => {
      const [first] = all;
      const point = `S_INTERSECTS(geometry, POINT(${(first!.west + first!.east) / 2} ${(first!.south + first!.north) / 2}))`;
      expect((await pages(`/collections/parcels/items?filter=${encodeURIComponent(point)}`)).flatMap(({ features }) => features).length).toBeGreaterThan(0);
    },
    '/req/filter/filter-crs-param': async () => {
      const crs = encodeURIComponent('http://www.opengis.net/def/crs/OGC/1.3/CRS84');
      await get(`/collections/parcels/items?${EVERYWHERE}&filter=true&filter-crs=${crs}`);
      expect(await refused(`/collections/parcels/items?${EVERYWHERE}&filter=true&filter-crs=EPSG:3035`)).toEqual([400, 'INVALID_PARAMS']);
      const { fid } = all[9]!;
      for (const code of SYSTEMS) {
        const [point] = await service.database.query<{ x: number; y: number }>(`select st_x(p.point) as x, st_y(p.point) as y from (select st_transform(st_pointonsurface(geom), ${code}) as point from core.parcel where fid = $1) p`, [fid]);
        const { x, y } = point!;
        const filter = `S_INTERSECTS("geometry",POINT(${northFirst(code) ? `${y} ${x}` : `${x} ${y}`}))`;
        expect(fids(await pages(`/collections/parcels/items?filter=${encodeURIComponent(filter)}&filter-crs=${encodeURIComponent(uriOf(code))}`))).toContain(fid);
        const far = `S_INTERSECTS(geometry, LINESTRING(0 0, ${x} ${y}))`;
        expect(await refused(`/collections/parcels/items?filter=${encodeURIComponent(northFirst(code) ? far.replace(/0 0/, '99 999') : far)}&filter-crs=${encodeURIComponent(uriOf(code))}`)).toEqual([400, 'INVALID_PARAMS']);
      }
    },
    '/req/filter/mixing-expressions': async () => {
      const { belfiore } = all[0]!;
      const found = await pages(`/collections/parcels/items?limit=50&municipality_code=${belfiore}&kind=land&filter=${encodeURIComponent(`area_m2 > ${median()}`)}`);
      expect(sorted(fids(found))).toEqual(all.filter((each) => each.belfiore === belfiore && each.kind === 'land' && each.area > median()).map(({ fid }) => fid));
    },
    '/req/filter/response': async () => {
      for (const filter of ['area_m2 >', 'owner = 1', "area_m2 = 'x'", 'S_WITHIN(geometry, POINT(14 42))', 'S_INTERSECTS(geometry, POLYGON((14 42, 15 43, 15 42, 14 43, 14 42)))']) {
        expect([filter, ...await refused(`/collections/parcels/items?${EVERYWHERE}&filter=${encodeURIComponent(filter)}`)]).toEqual([filter, 400, 'INVALID_PARAMS']);
      }
    },
    '/req/features-filter/get-queryables-op': async () => expect((await ask('/collections/risk/queryables')).status).toBe(200),
    '/req/features-filter/response': async () => {
      const page = await get<Page>(`/collections/risk/items?limit=5&${EVERYWHERE}&filter=${encodeURIComponent("kind = 'land'")}`);
      expect(page.features.map(({ properties }) => properties['kind'])).toEqual(Array.from({ length: 5 }, () => 'land'));
    },
    '/req/basic-cql2/cql2-filter': async () => selects(`not (kind = 'land' or area_m2 < ${median()}) and true`, ({ kind, area: m2 }) => !(kind === 'land' || m2 < median())),
    '/req/basic-cql2/binary-comparison-predicate': async () => {
      const limit = median();
      await selects(`area_m2 = ${limit}`, (each) => each.area === limit, { op: '=', args: [area, limit] });
      await selects(`area_m2 <> ${limit}`, (each) => each.area !== limit, { op: '<>', args: [area, limit] });
      await selects(`area_m2 < ${limit}`, (each) => each.area < limit, { op: '<', args: [area, limit] });
      await selects(`area_m2 <= ${limit}`, (each) => each.area <= limit, { op: '<=', args: [area, limit] });
      await selects(`area_m2 > ${limit}`, (each) => each.area > limit, { op: '>', args: [area, limit] });
      await selects(`area_m2 >= ${limit}`, (each) => each.area >= limit, { op: '>=', args: [area, limit] });
      await selects("label >= '5'", ({ label }) => label >= '5', { op: '>=', args: [{ property: 'label' }, '5'] });
    },
    '/req/basic-cql2/null-predicate': async () => {
      await selects('sheet is not null and kind = \'road\'', ({ sheet, kind }) => sheet !== null && kind === 'road');
      expect(fids(await pages(`/collections/parcels/items?${EVERYWHERE}&filter=${encodeURIComponent('label is null')}`))).toEqual([]);
    },
    '/req/basic-cql2/property': async () => {
      for (const [name, schema] of Object.entries((await get<{ properties: Record<string, Json> }>('/collections/parcels/queryables')).properties)) {
        if (name !== 'geometry') await get(`/collections/parcels/items?limit=1&${EVERYWHERE}&filter=${encodeURIComponent(`${name} = ${/number|integer/.test(String(schema['type'])) ? '1' : "'x'"} or true`)}`.replace("municipality_code%20%3D%20'x'", "municipality_code%20%3D%20'A001'"));
      }
    },
    '/req/advanced-comparison-operators/like-predicate': async () => {
      await selects("label like '1%'", ({ label }) => label.startsWith('1'), { op: 'like', args: [{ property: 'label' }, '1%'] });
      await selects("label like '_'", ({ label }) => label.length === 1);
    },
    '/req/advanced-comparison-operators/between-predicate': async () => {
      await selects(`area_m2 between 10 and ${median()}`, (each) => each.area >= 10 && each.area <= median(), { op: 'between', args: [area, 10, median()] });
    },
    '/req/advanced-comparison-operators/in-predicate': async () => {
      await selects("kind in ('road', 'water')", ({ kind }) => kind !== 'land', { op: 'in', args: [{ property: 'kind' }, ['road', 'water']] });
    },
    '/req/basic-spatial-functions/spatial-predicate': async () => {
      const middle = all[Math.floor(all.length / 2)]!;
      const box = [middle.west, middle.south, middle.east, middle.north] as const;
      const found = fids(await pages(`/collections/parcels/items?filter=${encodeURIComponent(`S_INTERSECTS(geometry, BBOX(${box.join(',')}))`)}`));
      expect(found).toEqual(fids(await pages(`/collections/parcels/items?bbox=${box.join(',')}`)));
      expect(found.filter((fid) => !all.some((each) => each.fid === fid && meets(each, box)))).toEqual([]);
    },
    '/req/basic-spatial-functions-plus/spatial-data-types': async () => {
      const { west, south, east, north } = all[3]!;
      const ring = `(${west} ${south}, ${east} ${south}, ${east} ${north}, ${west} ${south})`;
      for (const shape of [`LINESTRING(${west} ${south}, ${east} ${north})`, `MULTIPOINT(${west} ${south}, ${east} ${north})`, `POLYGON(${ring})`, `MULTIPOLYGON((${ring}))`, `MULTILINESTRING((${west} ${south}, ${east} ${north}))`]) {
        const found = await pages(`/collections/parcels/items?filter=${encodeURIComponent(`S_INTERSECTS(geometry, ${shape})`)}`);
        const [expected] = await service.database.query<{ fids: number[] }>('select array_agg(fid order by fid) as fids from core.parcel where st_intersects(geom, st_setsrid(st_geomfromtext($1), 4326))', [shape]);
        expect(fids(found), shape).toEqual(expected!.fids);
      }
    },
    '/req/cql2-text/advanced-comparison-operators': async () => selects("label not in ('1', '2') and label not like '3%'", ({ label }) => !['1', '2'].includes(label) && !label.startsWith('3')),
    '/req/cql2-text/escaping': async () => expect((await get<Page>(`/collections/parcels/items?${EVERYWHERE}&filter=${encodeURIComponent("label = 'it''s'")}`)).features).toEqual([]),
    '/req/cql2-json/basic-cql2': async () => selects("kind = 'water' or kind = 'road'", ({ kind }) => kind !== 'land', { op: 'or', args: ['water', 'road'].map((kind) => ({ op: '=', args: [{ property: 'kind' }, kind] })) }),
    '/req/cql2-json/advanced-comparison-operators': async () => selects("kind in ('land')", ({ kind }) => kind === 'land', { op: 'in', args: [{ property: 'kind' }, ['land']] }),
  };

  for (const [id, holds] of Object.entries({ ...REQUIREMENTS, ...CRS_REQUIREMENTS, ...FILTER_REQUIREMENTS })) it(id, holds);

  it('refuses a filter that no index can answer, and names the conditions that have an index', async () => {
    for (const filter of ['area_m2 > 5', "municipality_code = 'Z001' or area_m2 > 5", "not municipality_code = 'Z001'", 'not S_INTERSECTS(geometry, POINT(14 42))', "kind = 'land'"]) {
      const { status, body } = await ask(`/collections/parcels/items?filter=${encodeURIComponent(filter)}`);
      expect([filter, status, body!['error'], (body!['details'] as Json)['indexed']]).toEqual([filter, 400, 'FILTER_NOT_INDEXED', INDEXED]);
    }
  });

  it('returns page by page all parcels that match a filter on the comune, even without the query parameter municipality_code', async () => {
    const { belfiore } = all[0]!;
    const found = await pages(`/collections/parcels/items?limit=7&filter=${encodeURIComponent(`municipality_code = '${belfiore}' and area_m2 > ${median()}`)}`);
    expect(found.length).toBeGreaterThan(2);
    expect(sorted(fids(found))).toEqual(all.filter((each) => each.belfiore === belfiore && each.area > median()).map(({ fid }) => fid));
  });

  it('evaluates at most 20,000 filter conditions for a page, and all pages in total contain each matching parcel once', async () => {
    const [{ belfiore }] = all as [Row];
    const { where } = parseFilter(`municipality_code = '${belfiore}' and area_m2 >= 0`, 'cql2-text');
    // The HTTP API accepts at most 50 conditions. With 2,000 conditions, 10 parcels are tested for a page.
    const filter = { where, shapes: [], srid: 4326, conditions: 2_000, box: null, small: 0 };
    const found: number[] = [];
    const lengths: number[] = [];
    let start: { next: number | null; next_reference: string | null } = { next: -1, next_reference: '' };
    while (start.next !== null) {
      const [page] = await service.database.query<typeof start & { features: string; returned: number }>(
        'select features, returned, next, next_reference from api.features(null, null, false, null, $1, $2, $3, $4, 100)',
        [[firstFid(14), firstFid(15)], JSON.stringify({ municipality_code: belfiore, filter, box_srid: 4326 }), start.next_reference, start.next],
      );
      found.push(...(JSON.parse(`[${page!.features}]`) as Feature[]).map(({ id }) => id));
      lengths.push(page!.returned);
      expect(lengths.length).toBeLessThan(100);
      start = page!;
    }
    expect([lengths.length > 2, Math.max(...lengths)]).toEqual([true, 10]);
    expect(sorted(found)).toEqual(all.filter((each) => each.belfiore === belfiore).map(({ fid }) => fid));
  });

  it('is tested against exactly the requirements that docs/ogc-conformance.md lists', () => {
    expect(NAMED.length).toBe(78);
    expect([REQUIREMENTS, CRS_REQUIREMENTS, FILTER_REQUIREMENTS].flatMap((each) => Object.keys(each))).toEqual(NAMED);
  });

  it('returns each parcel once on the pages of all parcels and of a comune, and uses no offset in links', async () => {
    const { belfiore } = all[0]!;
    const walk = await pages('/collections/parcels/items?limit=37');
    expect(fids(walk)).toEqual(all.map(({ fid }) => fid));
    const ofComune = await pages(`/collections/parcels/items?limit=11&municipality_code=${belfiore}`);
    expect(sorted(fids(ofComune))).toEqual(all.filter((each) => each.belfiore === belfiore).map(({ fid }) => fid));
    for (const { links } of [...walk, ...ofComune]) for (const { href } of links) expect(href).not.toMatch(/offset|startindex/i);
  });

  it('returns features of each section with the same content, coverage and licences as the record', async () => {
    for (const { id, section } of COLLECTIONS.filter((each) => each.section !== null)) {
      const { features, licenses } = await get<Page>(`/collections/${id}/items?limit=4`);
      for (const { id: fid, properties } of features) {
        const { body } = await service.ask(`/parcels/${fid}?include=${section!}`, { key });
        expect(properties[id], `${id} of ${fid}`).toEqual(body![section!]);
        expect(properties['coverage']).toBe(((body!['meta'] as Json)['coverage'] as Json)[section!]);
        for (const license of (body!['meta'] as { licenses: Json[] }).licenses) expect(licenses).toContainEqual(license);
      }
    }
  });

  it('returns the same features, links and licences in FlatGeobuf as in JSON, with x before y', async () => {
    const inBinary = async (path: string, headers: Readonly<Record<string, string>> = {}): Promise<{ features: Feature[]; crs: number; link: string }> => {
      const answered = await service.app.inject({ method: 'GET', url: `${BASE}/ogc${path}`, headers: { 'x-api-key': key, ...headers } });
      expect([answered.statusCode, answered.headers['content-type'], answered.headers['vary']], path).toEqual([200, 'application/flatgeobuf', 'Accept-Encoding, X-Api-Key, Accept']);
      let crs = 0;
      const features: Feature[] = [];
      const read = deserialize(new Uint8Array(answered.rawPayload), undefined, (meta) => (crs = meta.crs?.code ?? 0));
      for await (const feature of read) features.push(feature as unknown as Feature);
      return { features, crs, link: String(answered.headers['link']) };
    };
    for (const { id } of COLLECTIONS) {
      const json = await get<Page>(`/collections/${id}/items?limit=9`);
      const { features, crs, link } = await inBinary(`/collections/${id}/items?limit=9&f=fgb`);
      expect(crs).toBe(4326);
      expect(features.map(({ properties }) => properties['fid'])).toEqual(json.features.map((feature) => feature.id));
      json.features.forEach((feature, index) => {
        const { fid: _fid, ...properties } = features[index]!.properties;
        // A FlatGeobuf feature has no property for a column without a value.
        expect(properties).toEqual(Object.fromEntries(Object.entries(feature.properties).filter(([, value]) => value !== null)));
        expect(corners(features[index]!)).toEqual(corners(feature));
      });
      expect(link).toContain('rel="license"');
      const next = /<([^>]+)>; rel="next"; type="application\/flatgeobuf"/.exec(link)![1]!;
      expect((await inBinary(next.slice(next.indexOf(`${BASE}/ogc`) + `${BASE}/ogc`.length))).features[0]!.properties['fid']).toBe(all[9]!.fid);
    }
    const metric = await inBinary(`/collections/parcels/items?limit=5&crs=${encodeURIComponent(uriOf(3035))}`, { accept: 'application/flatgeobuf' });
    const ids = metric.features.map(({ properties }) => Number(properties['fid']));
    const outlines = await outlinesIn(3035, ids);
    expect(metric.crs).toBe(3035);
    metric.features.forEach((feature, index) => {
      const [x, y] = corners(feature)[0]!;
      expect(outlines.get(ids[index]!)!.some(([north, east]) => Math.abs(x - east) <= 0.01 && Math.abs(y - north) <= 0.01)).toBe(true);
    });
    expect((await inBinary('/collections/parcels/items?bbox=7,45,7.01,45.01&f=fgb')).features).toEqual([]);
    for (const [accept, f] of [['application/geo+json', ''], ['*/*', ''], ['application/flatgeobuf', '&f=json'], ['application/geo+json, application/flatgeobuf;q=0.5', '']]) {
      expect((await ask(`/collections/parcels/items?limit=1${f}`, { accept: accept! })).headers['content-type'], accept).toMatch(/^application\/geo\+json/);
    }
    expect(await refused('/collections/parcels/items?f=shapefile')).toEqual([400, 'INVALID_PARAMS']);
  });

  it('shows the landing page, conformance, collections and queryables to browsers without a key', async () => {
    for (const [path, shown] of [
      ['', 'Conformance classes'], ['/conformance', 'conf/geojson'], ['/collections', 'valuation_history'], ['/collections/risk', 'risk/items'], ['/collections/parcels/queryables', 'cadastral_reference'],
    ] as const) {
      const page = await service.ask(`/ogc${path}`, { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } });
      expect([page.status, page.headers['content-type'], page.headers['vary']], path).toEqual([200, 'text/html; charset=utf-8', 'Accept-Encoding, X-Api-Key, Accept']);
      expect(page.headers['content-security-policy']).toContain("default-src 'none'");
      expect(page.text).toContain(shown);
      expect(page.text).not.toContain('<script');
      const again = await service.ask(`/ogc${path}`, { headers: { accept: 'text/html', 'if-none-match': page.headers['etag']! } });
      const json = await service.ask(`/ogc${path}`, { headers: { accept: '*/*', 'if-none-match': page.headers['etag']! } });
      expect([again.status, json.status, json.headers['content-type']]).toEqual([304, 200, expect.stringContaining('json')]);
    }
  });

  it('accepts four queryables as query parameters, and builds links from the host of the request', async () => {
    const { properties } = await get<{ properties: Json }>('/collections/parcels/queryables');
    expect(Object.keys(properties).filter((name) => parameter(name) !== undefined).sort()).toEqual(['cadastral_reference', 'kind', 'municipality_code', 'region_code']);
    const response = await service.app.inject({ method: 'GET', url: `${BASE}/ogc`, headers: { 'x-api-key': key, host: 'maps.example:8443' } });
    for (const { href } of response.json<{ links: Link[] }>().links) expect(href.startsWith(`http://maps.example:8443${BASE}/`)).toBe(true);
  });
});

describe('the page of OGC requirements', () => {
  it('lists each requirement once', () => expect(new Set(NAMED).size).toBe(NAMED.length));
});
