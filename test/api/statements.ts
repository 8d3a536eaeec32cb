/** Lists statements about the API. Each statement has a check over HTTP on a served region. */
import { expect } from 'vitest';
import { ENDPOINTS } from '../../api/endpoints.ts';
import { OPEN_QUOTA, SCOPES, type Scope } from '../../api/access.ts';
import { MappaleError } from '../../pipelines/errors.ts';
import { BASE, DOCUMENT, violationsOf, VERSION, type Answered } from './harness.ts';
import { PARCELS } from './statements-parcels.ts';
import { answersWith, metaOf, query, type Json, type Statement, type Trial } from '../harness/api-trial.ts';

const OF_SEARCH = 'searching addresses';
const OF_REVERSE = 'searching addresses around a point';
const OF_LISTS = 'the lists';
const OF_ADDRESSES = 'an address';
const OF_ERRORS = 'errors';
const OF_LIMITS = 'rate limits';
const OF_HEADERS = 'headers';

/** Returns one request path per endpoint, in the order of `ENDPOINTS`. Each request finds data. */
async function questions(trial: Trial): Promise<string[]> {
  const { centroid, fid, municipality, cadastral } = await trial.parcel();
  return [
    '/geocode/search?q=via%20roma', `/geocode/reverse?${query(centroid)}`, `/parcels/locate?${query(centroid)}`, `/parcels/search?comune=${municipality.code}&foglio=${cadastral.sheet}`,
    `/parcels/${fid}`, `/parcels/${fid}/neighbours`, `/parcels/${fid}/lineage`, '/admin/regions', '/admin/provinces', '/admin/municipalities',
    `/admin/municipalities/${municipality.code}/quality`, '/changes?region=molise&since=0&limit=5', '/changes/publications/2',
    '/ogc', '/ogc/conformance', '/ogc/collections', '/ogc/collections/parcels', '/ogc/collections/parcels/queryables', '/ogc/collections/parcels/items?limit=5',
    `/ogc/collections/parcels/items/${fid}`,
  ];
}

export const STATEMENTS: readonly Statement[] = [
  ...PARCELS,

  // --- The whole API ---------------------------------------------------------------------------------------------------
  {
    about: 'the interface', says: 'is below /api/v2, and nowhere else',
    holds: async ({ service }) => {
      expect((await service.app.inject({ method: 'GET', url: '/health' })).statusCode).toBe(404);
      expect((await service.app.inject({ method: 'GET', url: '/api/v1/health' })).statusCode).toBe(404);
      expect((await service.app.inject({ method: 'GET', url: '/api/v2/health' })).statusCode).toBe(200);
    },
  },
  {
    about: 'the interface', says: 'returns JSON from every endpoint, including errors',
    holds: async (trial) => {
      for (const path of [...(await questions(trial)), '/health', '/openapi.json', '/nothing']) expect((await trial.service.ask(path, { key: await trial.key() })).headers['content-type'], path).toMatch(/^application\/((geo|schema|problem)\+)?json/);
    },
  },
  {
    about: 'the interface', says: 'has an OpenAPI 3.1 document and a page to try requests, both without a key',
    holds: async ({ service }) => {
      expect((await service.ask('/openapi.json')).body).toMatchObject({ openapi: expect.stringMatching(/^3\.1\./), servers: [{ url: BASE }] });
      const page = await service.ask('/docs');
      expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    },
  },
  ...ENDPOINTS.map(({ path, scope }, index): Statement => ({
    about: 'the interface', says: scope === null ? `${path} needs no key` : `${path} accepts only keys with the scope ${scope}`,
    holds: async (trial) => {
      const question = (await questions(trial))[index]!;
      if (scope === null) {
        const answered = await trial.service.ask(question);
        expect([answered.status, violationsOf(question, answered)]).toEqual([200, []]);
        return;
      }
      expect((await trial.service.ask(question)).status).toBe(401);
      for (const each of SCOPES) {
        const { status } = await trial.service.ask(question, { key: await trial.service.token([each]) });
        expect([each, status]).toEqual([each, each === scope ? 200 : 403]);
      }
    },
  })),
  {
    about: 'health', says: 'needs no key, and returns status, version, time, database and the published regions',
    holds: async ({ service }) => {
      const answered = await service.ask('/health');
      expect(violationsOf('/health', answered)).toEqual([]);
      const [counts] = await service.database.query<Json>('select (select count(*) from core.parcel) as parcels, (select count(*) from core.access_point) as addresses');
      expect(answered.body).toMatchObject({ status: 'ok', version: VERSION, database: 'ok', dataset: { ...counts, regions: [{ code: 14, name: service.region.name }] } });
      expect(Number.isNaN(Date.parse(String(answered.body!['timestamp'])))).toBe(false);
    },
  },
  {
    about: 'health', says: 'is 503 with status unavailable if the database is not reachable',
    holds: async () => {
      const [health] = await answersWith(async () => Promise.reject(new MappaleError('gone', { code: 'SQL_ECONNREFUSED', kind: 'database' })), ['/health']);
      expect([health!.status, health!.body!['status']]).toEqual([503, 'unavailable']);
      expect(violationsOf('/health', health!)).toEqual([]);
    },
  },

  // --- Searching addresses ----------------------------------------------------------------------------------------------
  {
    about: OF_SEARCH, says: 'needs q of 2 to 200 characters after trimming',
    holds: async (trial) => {
      for (const path of ['/geocode/search', '/geocode/search?q=', '/geocode/search?q=a', '/geocode/search?q=%20a%20', `/geocode/search?q=${'a'.repeat(201)}`]) expect(await trial.refusal(path)).toEqual([400, 'INVALID_PARAMS', 'q']);
      for (const path of ['/geocode/search?q=ab', `/geocode/search?q=%20${'a'.repeat(200)}%20`]) await trial.get(path);
    },
  },
  {
    about: OF_SEARCH, says: 'accepts as city a name in Italian or in the second language, a former name, or a cadastral code',
    holds: async (trial) => {
      const bilingual = trial.service.region.comuni.find(({ otherName }) => otherName !== null)!;
      const [former] = await trial.service.database.query<{ key: string; belfiore: string }>("select key, belfiore from core.comune_name where kind = 'former' order by key limit 1");
      for (const [city, code] of [
        [bilingual.italianName, bilingual.belfiore], [bilingual.otherName!, bilingual.belfiore], [bilingual.belfiore, bilingual.belfiore],
        [bilingual.belfiore.toLowerCase(), bilingual.belfiore], [former!.key, former!.belfiore],
      ]) {
        const found = await trial.list(`/geocode/search?${query({ q: 'via roma', city: city!, limit: 50 })}`);
        expect(new Set(found.map(({ municipality_code: each }) => each)), city).toEqual(new Set([code]));
      }
    },
  },
  {
    about: OF_SEARCH, says: 'returns at most 10 addresses by default, and accepts a limit of 1 to 50',
    holds: async (trial) => {
      const { municipality_code: city } = await trial.address();
      const all = await trial.list(`/geocode/search?${query({ q: 'via snc', city: String(city), limit: 50 })}`);
      const many = all.length > 10 ? 'via snc' : 'via roma';
      expect((await trial.list(`/geocode/search?${query({ q: many })}`)).length).toBeLessThanOrEqual(10);
      expect(await trial.list(`/geocode/search?${query({ q: many, limit: 1 })}`)).toHaveLength(1);
      for (const limit of [0, 51]) expect(await trial.refusal(`/geocode/search?q=via&limit=${limit}`)).toEqual([400, 'INVALID_PARAMS', 'limit']);
    },
  },
  {
    about: OF_SEARCH, says: 'returns data, and meta with query, city and count',
    holds: async (trial) => {
      const { data, meta } = (await trial.get('/geocode/search?q=%20via%20roma%20&city=Z001')) as { data: Json[]; meta: Json };
      expect(meta).toEqual({ query: 'via roma', city: 'Z001', count: data.length });
      expect(metaOf(await trial.get('/geocode/search?q=via%20roma'))['city']).toBe(null);
    },
  },
  {
    about: OF_SEARCH, says: 'returns match_type and a score of 0 to 1 for each address, best first',
    holds: async (trial) => {
      const found = await trial.list('/geocode/search?q=via%20roma%20112&limit=50');
      const scores = found.map(({ score }) => score as number);
      expect(found.length).toBeGreaterThan(0);
      for (const { match_type: type, score } of found) {
        expect(['number', 'number_without_exponent', 'nearest_number', 'street']).toContain(type);
        expect(score).toBeGreaterThanOrEqual(0);
        expect(score).toBeLessThanOrEqual(1);
      }
      expect(scores).toEqual([...scores].sort((a, b) => b - a));
    },
  },
  {
    about: OF_SEARCH, says: 'returns 200 and an empty list if nothing is found',
    holds: async (trial) => expect(await trial.get('/geocode/search?q=via%20roma&city=Atlantide')).toEqual({ data: [], meta: { query: 'via roma', city: 'Atlantide', count: 0 } }),
  },
  {
    about: OF_SEARCH, says: 'returns addresses of the named comune, or nothing',
    holds: async (trial) => {
      const { comuni } = trial.service.region;
      for (const comune of comuni) {
        const found = await trial.list(`/geocode/search?${query({ q: `Via Roma 5, ${comune.italianName}` })}`);
        expect([...new Set(found.map(({ municipality_code: code }) => code))].filter((code) => code !== comune.belfiore), comune.name).toEqual([]);
      }
      const [{ province, italianName }] = comuni;
      expect(await trial.list(`/geocode/search?${query({ q: `Via Roma 5, ${italianName} (${province.sigla === 'IS' ? 'CB' : 'IS'})` })}`)).toEqual([]);
    },
  },

  {
    about: OF_SEARCH, says: 'recognises comuni of all Italy, and finds no address in a different comune if the named comune is not loaded',
    holds: async (trial) => {
      for (const comune of ['Salerno', 'Siderno', 'Lamezia Terme', 'Campobasso']) expect(await trial.list(`/geocode/search?${query({ q: `Via Roma 112, ${comune}` })}`), comune).toEqual([]);
    },
  },
  {
    about: OF_SEARCH, says: 'finds nothing if a second comune follows the named comune',
    holds: async (trial) => {
      const [{ italianName: first }, { italianName: second }] = trial.service.region.comuni;
      expect(await trial.list(`/geocode/search?${query({ q: `Via Roma 112, ${second}, ${first}` })}`)).toEqual([]);
      expect((await trial.list(`/geocode/search?${query({ q: `Via Roma 112, ${second}, ${trial.service.region.name}` })}`))[0]).toMatchObject({ municipality_name: second });
    },
  },
  {
    about: OF_SEARCH, says: 'gives a lower score to the nearest number than to the number itself',
    holds: async (trial) => {
      const { street_name: street, municipality_code: city } = await trial.address();
      const best = async (number: string): Promise<Json> => (await trial.list(`/geocode/search?${query({ q: `${String(street)} ${number}`, city: String(city) })}`))[0]!;
      const exact = await best(String((await trial.address())['street_number']));
      const nearest = await best('4999');
      expect([exact['match_type'], nearest['match_type']]).toEqual(['number', 'nearest_number']);
      expect(nearest['score']).toBeLessThan(exact['score'] as number);
    },
  },

  // --- Addresses around a point -----------------------------------------------------------------------------------------
  {
    about: OF_REVERSE, says: 'needs lat and lng',
    holds: async (trial) => {
      expect(await trial.refusal('/geocode/reverse?lng=14')).toEqual([400, 'INVALID_PARAMS', 'lat']);
      expect(await trial.refusal('/geocode/reverse?lat=42')).toEqual([400, 'INVALID_PARAMS', 'lng']);
    },
  },
  {
    about: OF_REVERSE, says: 'accepts a radius of 1 to 500 metres, 100 by default, and a limit of 1 to 20, 5 by default',
    holds: async (trial) => {
      const { latitude: lat, longitude: lng } = (await trial.address()) as { latitude: number; longitude: number };
      const usual = await trial.get(`/geocode/reverse?${query({ lat, lng })}`);
      expect(metaOf(usual)).toMatchObject({ lat, lng, radius_m: 100 });
      expect((usual['data'] as Json[]).length).toBeLessThanOrEqual(5);
      for (const [name, values] of [['radius', [0, 501]], ['limit', [0, 21]]] as const) for (const value of values) expect(await trial.refusal(`/geocode/reverse?lat=42&lng=14&${name}=${value}`)).toEqual([400, 'INVALID_PARAMS', name]);
      const near = await trial.list(`/geocode/reverse?${query({ lat, lng, radius: 1, limit: 20 })}`);
      expect(near.every(({ distance_meters: distance }) => (distance as number) <= 1)).toBe(true);
    },
  },
  {
    about: OF_REVERSE, says: 'returns the number of addresses, and addresses with distance_meters, sorted by distance, then by address_id',
    holds: async (trial) => {
      const { latitude: lat, longitude: lng } = (await trial.address()) as { latitude: number; longitude: number };
      const { data, meta } = (await trial.get(`/geocode/reverse?${query({ lat, lng, radius: 500, limit: 20 })}`)) as { data: { distance_meters: number; address_id: number }[]; meta: Json };
      expect(meta).toEqual({ lat, lng, radius_m: 500, count: data.length });
      expect(data[0]!.distance_meters).toBe(0);
      expect(data).toEqual([...data].sort((a, b) => a.distance_meters - b.distance_meters || a.address_id - b.address_id));
    },
  },

  // --- Lists ------------------------------------------------------------------------------------------------------------
  {
    about: OF_LISTS, says: 'of regions have code, name and area',
    holds: async (trial) => {
      const { data, meta } = (await trial.get('/admin/regions')) as { data: Json[]; meta: Json };
      expect(meta).toEqual({ count: data.length });
      expect(Object.keys(data[0]!)).toEqual(['code', 'name', 'area_km2']);
    },
  },
  {
    about: OF_LISTS, says: 'of provinces have code, name, abbreviation and region, and are filtered by the region\'s code, or by its name regardless of case and accents',
    holds: async (trial) => {
      const all = await trial.list('/admin/provinces');
      expect(Object.keys(all[0]!)).toEqual(['code', 'name', 'abbreviation', 'region_code']);
      for (const region of ['Molise', 'MOLISE', 'mólise', '14']) expect(await trial.list(`/admin/provinces?${query({ region })}`), region).toEqual(all);
      expect(await trial.list('/admin/provinces?region=Atlantide')).toEqual([]);
    },
  },
  {
    about: OF_LISTS, says: 'of comuni have cadastral and Istat code, name, province and region, and are filtered by province and region',
    holds: async (trial) => {
      const all = await trial.list('/admin/municipalities');
      expect(Object.keys(all[0]!)).toEqual(['code', 'istat_code', 'name', 'province', 'region']);
      for (const { code, name, sigla } of trial.service.region.provinces) {
        const expected = all.filter(({ province }) => province === name);
        for (const province of [name, name.toUpperCase(), code, sigla, sigla.toLowerCase()]) expect(await trial.list(`/admin/municipalities?${query({ province })}`), province).toEqual(expected);
      }
      expect(await trial.list('/admin/municipalities?province=IS&region=Atlantide')).toEqual([]);
    },
  },

  // --- Addresses --------------------------------------------------------------------------------------------------------
  {
    about: OF_ADDRESSES, says: 'has the same fields in every response, and additional fields only in results of a search',
    holds: async (trial) => {
      const fields = ['address_id', 'street_name', 'street_number', 'locality', 'municipality_code', 'municipality_name', 'province', 'region', 'latitude', 'longitude', 'formatted_address'];
      for (const address of await trial.addresses()) expect(Object.keys(address).sort()).toEqual([...fields].sort());
      expect(Object.keys((await trial.list('/geocode/search?q=via%20roma'))[0]!).sort()).toEqual([...fields, 'match_type', 'score'].sort());
      const { latitude: lat, longitude: lng } = (await trial.address()) as { latitude: number; longitude: number };
      expect(Object.keys((await trial.list(`/geocode/reverse?${query({ lat, lng })}`))[0]!).sort()).toEqual([...fields, 'distance_meters'].sort());
    },
  },
  {
    about: OF_ADDRESSES, says: 'has a number in the form 12, 12/A, 12/BIS, 12 ROSSO, KM 3+200 or SNC',
    holds: async (trial) => {
      const shown = (await trial.service.database.query<{ shown: string }>('select distinct api.street_number(number, exponent, colour, metric_m) as shown from core.access_point')).map(({ shown: number }) => number);
      const forms = [/^\d+$/, /^\d+\/[A-Z]$/, /^\d+\/BIS$/, /^\d+ ROSSO$/, /^SNC$/];
      for (const form of forms) expect(shown.some((number) => form.test(number)), String(form)).toBe(true);
      expect(shown.filter((number) => !/^(\d+|KM \d+\+\d{3})(\/[A-Z0-9/]+)?( (ROSSO|NERO))?$|^SNC$/.test(number))).toEqual([]);
      for (const { street_number: number } of await trial.addresses()) expect(shown).toContain(number);
    },
  },
  {
    about: OF_ADDRESSES, says: 'has its street and locality in Italian title case, and empty text for an unknown locality',
    holds: async (trial) => {
      const addresses = await trial.addresses();
      for (const { street_name: street, locality } of addresses) {
        expect(street).toMatch(/\p{Ll}/u);
        expect(locality).toMatch(/^$|\p{Ll}/u);
      }
      expect(addresses.some(({ locality }) => locality === '')).toBe(true);
    },
  },
  {
    about: OF_ADDRESSES, says: 'has a formatted text of street and number, locality or else comune, and province, without empty or repeated parts',
    holds: async (trial) => {
      for (const {
        street_name: street,
        street_number: number,
        locality,
        municipality_name: comune,
        province,
        formatted_address: written,
      } of await trial.addresses()) {
        expect(written).toBe([...new Set([`${String(street)} ${String(number)}`, locality === '' ? comune : locality, province])].join(', '));
      }
    },
  },

  {
    about: OF_ADDRESSES, says: 'is found by its formatted text',
    holds: async (trial) => {
      const { formatted_address: written, address_id: id } = await trial.address();
      expect((await trial.list(`/geocode/search?${query({ q: String(written) })}`))[0]).toMatchObject({ address_id: id, match_type: 'number' });
    },
  },

  // --- Errors -----------------------------------------------------------------------------------------------------------
  {
    about: OF_ERRORS, says: 'are problem details with error, message and optional details',
    holds: async (trial) => {
      for (const [path, options] of [['/nothing', {}], ['/health', { method: 'POST' }], ['/parcels/1', {}], ['/parcels/1', { key: 'mpl_no', from: '192.0.2.60' }], ['/parcels/x', { key: await trial.key() }], ['/parcels/1', { key: await trial.key() }]] as const) {
        const { body } = await trial.service.ask(path, options);
        expect(Object.keys(body!).filter((name) => !['type', 'title', 'status', 'detail', 'error', 'message', 'details'].includes(name))).toEqual([]);
        expect([body!['type'], body!['detail']]).toEqual([`urn:mappale:error:${String(body!['error'])}`, body!['message']]);
        expect([typeof body!['error'], typeof body!['message']]).toEqual(['string', 'string']);
      }
    },
  },
  {
    about: OF_ERRORS, says: 'are 401 API_KEY_REQUIRED without a key, and 401 INVALID_API_KEY with a key that is unknown, expired or revoked',
    holds: async ({ service }) => {
      const code = async (key?: string): Promise<unknown> => {
        const { status, body } = await service.ask('/parcels/1', { ...(key === undefined ? {} : { key }), from: '192.0.2.61' });
        return [status, body!['error']];
      };
      expect(await code()).toEqual([401, 'API_KEY_REQUIRED']);
      expect(await code('')).toEqual([401, 'API_KEY_REQUIRED']);
      expect(await code(`mpl_${'x'.repeat(43)}`)).toEqual([401, 'INVALID_API_KEY']);
      expect(await code(await service.token(SCOPES, new Date(Date.now() - 1000)))).toEqual([401, 'INVALID_API_KEY']);
      const revoked = await service.token();
      await service.database.query('update access.token set revoked_at = now() where token_id = (select max(token_id) from access.token)');
      expect(await code(revoked)).toEqual([401, 'INVALID_API_KEY']);
    },
  },
  {
    about: OF_ERRORS, says: 'are 403 INSUFFICIENT_SCOPE with the required scope if the key lacks this scope',
    holds: async ({ service }) => {
      const scope: Scope = 'admin_data:read';
      const { status, body } = await service.ask('/parcels/1', { key: await service.token([scope]) });
      expect([status, body]).toEqual([403, expect.objectContaining({ error: 'INSUFFICIENT_SCOPE', details: { required_scope: 'parcels:read' } })]);
    },
  },
  {
    about: OF_ERRORS, says: 'are 429 RATE_LIMITED after 1,000 requests, with retry_after_seconds, limit and Retry-After',
    holds: async ({ service }) => {
      const spent = await service.token();
      await service.database.query('insert into access.rate_window (token_id, started_at, used) select max(token_id), now(), 999 from access.token');
      expect((await service.ask('/admin/regions', { key: spent })).headers['x-ratelimit-remaining']).toBe('0');
      const { status, body, headers } = await service.ask('/admin/regions', { key: spent });
      const details = body!['details'] as { retry_after_seconds: number; limit: number };
      expect([status, body!['error'], details.limit, headers['retry-after']]).toEqual([429, 'RATE_LIMITED', 1000, String(details.retry_after_seconds)]);
      expect(details.retry_after_seconds).toBeGreaterThan(3500);
    },
  },
  {
    about: OF_ERRORS, says: 'are 429 TOO_MANY_ATTEMPTS after 20 invalid keys from a network address, but not for a valid key',
    holds: async ({ service }) => {
      const from = '192.0.2.62';
      const codes: unknown[] = [];
      for (let count = 0; count < 21; count += 1) codes.push((await service.ask('/admin/regions', { key: `mpl_${String(count).padStart(43, 'b')}`, from })).body!['error']);
      expect(codes).toEqual([...Array.from({ length: 20 }, () => 'INVALID_API_KEY'), 'TOO_MANY_ATTEMPTS']);
      expect((await service.ask('/admin/regions', { key: await service.token(), from })).status).toBe(200);
    },
  },
  {
    about: OF_ERRORS, says: 'are 400 OUT_OF_BOUNDS outside latitude 35.0–47.5 and longitude 6.0–19.0, but not on these bounds',
    holds: async (trial) => {
      for (const place of ['lat=34.9999&lng=14', 'lat=47.5001&lng=14', 'lat=42&lng=5.9999', 'lat=42&lng=19.0001']) {
        for (const path of ['/geocode/reverse', '/parcels/locate']) expect(await trial.refusal(`${path}?${place}`)).toEqual([400, 'OUT_OF_BOUNDS', undefined]);
      }
      for (const place of ['lat=35.0&lng=6.0', 'lat=47.5&lng=19.0']) await trial.get(`/parcels/locate?${place}`);
    },
  },
  {
    about: OF_ERRORS, says: 'are 404 NOT_FOUND for unknown paths and for parcels that never existed',
    holds: async (trial) => {
      for (const path of ['/nothing', '/parcels', '/parcels/1/2', '/health/']) expect((await trial.service.ask(path, { key: await trial.key() })).body).toMatchObject({ error: 'NOT_FOUND' });
      expect(await trial.refusal('/parcels/0')).toEqual([404, 'NOT_FOUND', undefined]);
    },
  },
  {
    about: OF_ERRORS, says: 'are 405 METHOD_NOT_ALLOWED with the header Allow for POST, PUT, PATCH, DELETE and OPTIONS, on every path that accepts only GET',
    holds: async (trial) => {
      for (const path of [...(await questions(trial)), '/health', '/openapi.json', '/docs', '/map']) {
        for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
          const { status, headers, body } = await trial.service.ask(path.split('?')[0]!, { method });
          expect([path, method, status, headers['allow'], body!['error']]).toEqual([path, method, 405, 'GET', 'METHOD_NOT_ALLOWED']);
        }
      }
    },
  },
  {
    about: OF_ERRORS, says: 'are 503 SERVICE_UNAVAILABLE with Retry-After while the database is not available',
    holds: async () => {
      const paths = ['/parcels/1', '/admin/regions', '/geocode/search?q=via'];
      const answers = await answersWith(async () => Promise.reject(new MappaleError('gone', { code: 'SQL_57P01', kind: 'database' })), paths);
      answers.forEach((answered, index) => {
        expect([answered.status, answered.body!['error'], Number(answered.headers['retry-after']) > 0]).toEqual([503, 'SERVICE_UNAVAILABLE', true]);
        expect(violationsOf(paths[index]!, answered)).toEqual([]);
      });
    },
  },
  {
    about: OF_ERRORS, says: 'are 500 INTERNAL_ERROR for an unexpected failure, without the message of the failure',
    holds: async () => {
      const [answered] = await answersWith(async () => Promise.reject(new Error('secret')), ['/admin/regions']);
      expect([answered!.status, answered!.body!['error']]).toEqual([500, 'INTERNAL_ERROR']);
      expect(answered!.text).not.toContain('secret');
      expect(violationsOf('/admin/regions', answered!)).toEqual([]);
    },
  },
  {
    about: OF_ERRORS, says: 'are checked in the order path, method, key, scope, rate, parameters, existence',
    holds: async ({ service }) => {
      const spent = await service.token();
      await service.database.query('insert into access.rate_window (token_id, started_at, used) select max(token_id), now(), 1000 from access.token');
      const narrow = await service.token(['admin_data:read']);
      const wide = await service.token();
      for (const [path, options, code] of [
        ['/parcel/x?include=no', { method: 'POST' }, 'NOT_FOUND'], ['/parcels/x?include=no', { method: 'POST' }, 'METHOD_NOT_ALLOWED'], ['/parcels/x?include=no', {}, 'API_KEY_REQUIRED'],
        ['/parcels/x?include=no', { key: 'mpl_no' }, 'INVALID_API_KEY'], ['/parcels/x?include=no', { key: narrow }, 'INSUFFICIENT_SCOPE'], ['/parcels/x?include=no', { key: spent }, 'RATE_LIMITED'],
        ['/parcels/1?include=no', { key: wide }, 'INVALID_PARAMS'], ['/parcels/1?include=risk', { key: wide }, 'NOT_FOUND'],
      ] as const) expect((await service.ask(path, { from: '192.0.2.63', ...options })).body!['error'], path).toBe(code);
    },
  },
  {
    about: OF_ERRORS, says: 'name a parameter that is repeated, not a number, empty, unknown or over its limit, with the allowed values',
    holds: async (trial) => {
      for (const [path, parameter] of [
        ['/geocode/search?q=via&q=roma', 'q'], ['/geocode/search?q=via&limit=5&limit=5', 'limit'], ['/geocode/search?q=via&limit=', 'limit'], ['/geocode/search?q=via&limit=1e1', 'limit'], ['/geocode/search?q=via&limit=51', 'limit'],
        ['/geocode/search?q=via&limt=5', 'limt'], ['/geocode/reverse?lat=NaN&lng=14', 'lat'], ['/geocode/reverse?lat=&lng=14', 'lat'], ['/geocode/reverse?lat=42&lng=Infinity', 'lng'], ['/geocode/reverse?lat=42&lng=14&radius=501', 'radius'],
        ['/parcels/locate?bbox=14,42,14.01', 'bbox'], ['/parcels/locate?bbox=14,42,14.01,NaN', 'bbox'], ['/parcels/locate?lat=42&lng=14&limit=201', 'limit'], ['/parcels/locate?lat=42&lng=14&geometry=1', 'geometry'],
        ['/parcels/x', 'id'], ['/parcels/2147483648', 'id'], ['/parcels/1?include=nonsense', 'include'], ['/parcels/1?include=risk,', 'include'], ['/parcels/1?include=RISK', 'include'], ['/parcels/1?include=risk&include=basic', 'include'],
        ['/admin/regions?region=1', 'region'], ['/admin/provinces?region=', 'region'], ['/admin/municipalities?province=A&province=B', 'province'],
      ]) expect(await trial.refusal(path!), path).toEqual([400, 'INVALID_PARAMS', parameter]);
    },
  },

  {
    about: OF_ERRORS, says: 'have the same form in the OpenAPI document as in responses',
    holds: async (trial) => {
      const { service } = trial;
      // Request IDs and numbers may differ.
      const shape = (body: unknown): string => JSON.stringify(body).replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID').replace(/\d+/g, '#');
      const spent = await service.token();
      await service.database.query('insert into access.rate_window (token_id, started_at, used) select max(token_id), now(), 1000 from access.token');
      for (let count = 0; count < 21; count += 1) await service.ask('/admin/regions', { key: `mpl_${String(count).padStart(43, 'c')}`, from: '192.0.2.64' });
      for (let count = 0; count < OPEN_QUOTA; count += 1) await service.ask('/ogc/conformance', { from: '192.0.2.66' });
      const unable = async (error: Error): Promise<Answered> => (await answersWith(async () => Promise.reject(error), ['/admin/regions']))[0]!;
      for (const { path, scope, refused } of ENDPOINTS) {
        const other = SCOPES.find((each) => each !== scope)!;
        const plain = path.replace('{id}', '1499999996').replace('{code}', 'H501').replace('{publication}', '999999999').replace('{collectionId}', 'roads').replace('{featureId}', '1');
        const answers: readonly Answered[] = scope === null ? [
          await service.ask(plain, { method: 'POST' }), await service.ask(plain, { from: '192.0.2.66' }), await trial.ask(`${plain}?${query(refused)}`),
          await unable(new Error('a bug')), await unable(new MappaleError('gone', { code: 'SQL_57P01', kind: 'database' })),
          ...(path.includes('{') ? [await trial.ask(plain)] : []),
        ] : [
          await service.ask(plain), await service.ask(plain, { key: 'mpl_no', from: '192.0.2.65' }), await service.ask(plain, { key: await service.token([other]) }), await service.ask(plain, { method: 'POST' }),
          await service.ask(plain, { key: spent }), await service.ask(plain, { key: 'mpl_no', from: '192.0.2.64' }), await trial.ask(`${plain}?${query(refused)}`),
          await unable(new Error('a bug')), await unable(new MappaleError('gone', { code: 'SQL_57P01', kind: 'database' })),
          ...(path.includes('{') ? [await trial.ask(plain)] : []),
          ...(path === '/parcels/locate' ? [await trial.ask(`${plain}?lat=48.8566&lng=2.3522`), await trial.ask(`${plain}?bbox=14.6,41.5,14.7,41.6`)] : []),
          ...(path === '/geocode/reverse' ? [await trial.ask(`${plain}?lat=48.8566&lng=2.3522`)] : []),
        ];
        for (const { status, body } of answers) {
          const shown = Object.values(DOCUMENT.paths[path]!.get.responses[String(status)]!.content!['application/problem+json']!.examples!).map(({ value }) => shape(value));
          expect(shown, `${path} ${status}`).toContain(shape(body));
        }
      }
    },
  },

  // --- Limits and tokens ------------------------------------------------------------------------------------------------
  {
    about: OF_LIMITS, says: 'count down in a fixed hour that starts at the first request, in every response to a valid token',
    holds: async ({ service }) => {
      const key = await service.token();
      const seen: unknown[] = [];
      const resets = new Set<string | undefined>();
      for (const path of ['/admin/regions', '/parcels/1', '/parcels/x', '/admin/provinces']) {
        const { headers } = await service.ask(path, { key });
        seen.push([headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']]);
        resets.add(headers['x-ratelimit-reset']);
      }
      expect(seen).toEqual([['1000', '999'], ['1000', '998'], ['1000', '997'], ['1000', '996']]);
      expect(resets.size).toBe(1);
      const seconds = Number([...resets][0]) - Date.now() / 1000;
      expect(seconds).toBeGreaterThan(3500);
      expect(seconds).toBeLessThanOrEqual(3601);
    },
  },
  {
    about: OF_LIMITS, says: 'start again in the next hour',
    holds: async ({ service }) => {
      const key = await service.token();
      await service.database.query("insert into access.rate_window (token_id, started_at, used) select max(token_id), now() - interval '61 minutes', 1000 from access.token");
      expect((await service.ask('/admin/regions', { key })).headers['x-ratelimit-remaining']).toBe('999');
    },
  },

  // --- Headers ----------------------------------------------------------------------------------------------------------
  {
    about: OF_HEADERS, says: 'allow pages of any origin to send x-api-key and to read the rate limits',
    holds: async ({ service }) => {
      const preflight = await service.ask('/admin/regions', { method: 'OPTIONS', headers: { origin: 'https://example.org', 'access-control-request-method': 'GET', 'access-control-request-headers': 'x-api-key' } });
      expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([204, '*']);
      expect(preflight.headers['access-control-allow-headers']?.toLowerCase()).toContain('x-api-key');
      const { headers } = await service.ask('/admin/regions', { headers: { origin: 'https://example.org' } });
      expect(headers['access-control-allow-origin']).toBe('*');
      for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'link', 'content-crs']) expect(headers['access-control-expose-headers']?.toLowerCase()).toContain(name);
    },
  },
  {
    about: OF_HEADERS, says: 'contain a weak ETag that differs between paths, and a request with this ETag gets 304',
    holds: async (trial) => {
      const tags = new Set<string | undefined>();
      const paths = await questions(trial);
      for (const path of paths) {
        const first = await trial.ask(path);
        expect(first.headers['etag'], path).toMatch(/^W\/"[^"]+"$/);
        tags.add(first.headers['etag']);
        const again = await trial.ask(path, { 'if-none-match': first.headers['etag']! });
        expect([again.status, again.text, again.headers['etag']], path).toEqual([304, '', first.headers['etag']]);
      }
      expect(tags.size).toBe(paths.length);
    },
  },
  {
    about: OF_HEADERS, says: 'contain a different X-Request-Id in every response',
    holds: async (trial) => {
      const seen: (string | undefined)[] = [];
      for (const [path, options] of [['/health', {}], ['/nothing', {}], ['/health', { method: 'POST' }], ['/admin/regions', {}], ['/admin/regions', { key: await trial.key() }], ['/openapi.json', {}]] as const) seen.push((await trial.service.ask(path, options)).headers['x-request-id']);
      expect(seen.filter((id) => !id)).toEqual([]);
      expect(new Set(seen).size).toBe(seen.length);
    },
  },
];
