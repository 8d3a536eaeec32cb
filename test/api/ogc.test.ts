/** Tests of the requirements in docs/ogc-conformance.md, each under the name of its requirement, and of the other promises of the paths below /ogc. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COLLECTIONS, CONFORMS_TO } from '../../api/ogc.ts';
import { SECTIONS } from '../../pipelines/contract/sections.ts';
import { describeDatabase } from '../harness/database.ts';
import { BASE, DOCUMENT, violationsOf, regionService, type Answered } from './harness.ts';

type Json = Record<string, unknown>;
type Link = { href: string; rel: string; type?: string };
type Feature = { type: string; id: number; geometry: { type: string; coordinates: unknown[] }; properties: Json };
type Page = { type: string; features: Feature[]; numberReturned: number; links: Link[]; licenses: Json[] };

const PAGE = readFileSync(new URL('../../docs/ogc-conformance.md', import.meta.url), 'utf8');
const NAMED = [...PAGE.matchAll(/^\| `(\/req\/[\w/-]+)` \|/gm)].map((match) => match[1]!);

describeDatabase('OGC API - Features', (engine) => {
  let service: Awaited<ReturnType<typeof regionService>>;
  let key: string;
  let all: { fid: number; belfiore: string; reference: string; kind: string; west: number; south: number; east: number; north: number }[];

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
  /** Returns the path of a link below /ogc. */
  const pathOf = ({ href }: Link): string => href.slice(href.indexOf(`${BASE}/ogc`) + `${BASE}/ogc`.length);
  /** Returns all pages from the first on. */
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
    service = await regionService(engine, 400, 17, { comuni: 3, only: ['ade_cadastre', 'istat_comuni', 'istat_boundaries', 'ispra_flood', 'anncsu_addresses'] });
    key = await service.token();
    all = await service.database.query(
      'select fid, belfiore, reference, kind, st_xmin(geom) as west, st_ymin(geom) as south, st_xmax(geom) as east, st_ymax(geom) as north from core.parcel order by fid',
    );
  });
  afterAll(() => service?.close());

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
      // A conformance class is declared only if its requirements are in the page.
      expect(new Set(conformsTo.map((uri) => uri.slice(uri.lastIndexOf('/') + 1)))).toEqual(new Set(NAMED.map((id) => id.split('/')[2])));
    },
    '/req/core/http': async () => {
      const { headers } = await ask('/collections');
      expect((await ask('/collections', { 'if-none-match': headers['etag']! })).status).toBe(304);
      expect((await service.ask('/ogc/collections', { key, method: 'POST' })).status).toBe(405);
      expect((await service.ask('/ogc/collections')).status).toBe(401);
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
        'datetime=today', 'datetime=2026-01-01', 'datetime=2026-13-01T00:00:00Z', 'datetime=../..', 'datetime=2026-01-01T00:00:00Z/x', 'datetime=2026-02-30T00:00:00Z', 'datetime=2027-01-01T00:00:00Z/2026-01-01T00:00:00Z', 'kind=house', 'region_code=21', 'municipality_code=Roma', 'after=x', 'after=9999999999',
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
      for (const each of (await get<{ collections: Json[] }>('/collections')).collections) expect(linksOf(each, 'items'), String(each['id'])).toMatchObject([{ type: 'application/geo+json' }]);
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
      // Boxes: small, large, empty, a point, and one across the antimeridian.
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

  for (const [id, holds] of Object.entries(REQUIREMENTS)) it(id, holds);

  it('lists in its page exactly the requirements that are tested here', () => {
    expect(NAMED.length).toBe(37);
    expect(Object.keys(REQUIREMENTS)).toEqual(NAMED);
  });

  it('reaches every parcel once by pages, for every kind of query, and never by an offset', async () => {
    const { belfiore } = all[0]!;
    const walk = await pages('/collections/parcels/items?limit=37');
    expect(fids(walk)).toEqual(all.map(({ fid }) => fid));
    const ofComune = await pages(`/collections/parcels/items?limit=11&municipality_code=${belfiore}`);
    expect(sorted(fids(ofComune))).toEqual(all.filter((each) => each.belfiore === belfiore).map(({ fid }) => fid));
    for (const { links } of [...walk, ...ofComune]) for (const { href } of links) expect(href).not.toMatch(/offset|startindex/i);
  });

  it('has the same content as the record for each section, and its coverage', async () => {
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

  it('accepts the parameters in its queryables, and builds links from the requested host', async () => {
    const { properties } = await get<{ properties: Json }>('/collections/parcels/queryables');
    expect(Object.keys(properties)).toEqual(['region_code', 'municipality_code', 'cadastral_reference', 'kind']);
    const response = await service.app.inject({ method: 'GET', url: `${BASE}/ogc`, headers: { 'x-api-key': key, host: 'maps.example:8443' } });
    for (const { href } of response.json<{ links: Link[] }>().links) expect(href.startsWith(`http://maps.example:8443${BASE}/`)).toBe(true);
  });
});

describe('the page of OGC requirements', () => {
  it('lists each requirement once', () => expect(new Set(NAMED).size).toBe(NAMED.length));
});
