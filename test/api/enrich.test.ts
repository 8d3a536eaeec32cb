/** Tests POST /tools/enrich. The endpoint is off by default, limits the size of uploads, and counts each row as a request. */
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../pipelines/db/index.ts';
import { describeDatabase } from '../harness/database.ts';
import { REGIONS } from '../harness/loaded-region.ts';
import { emptyService, regionService, serviceOn, type Answered, type Service } from './harness.ts';

const PATH = '/tools/enrich';
const HEADERS = { 'content-type': 'text/csv' };

describeDatabase('the endpoint that enriches tables', (engine) => {
  let on: Service;
  let database: Database;
  let fids: number[];

  beforeAll(async () => {
    const region = await regionService(engine, ...REGIONS.whole);
    ({ database } = region);
    on = await serviceOn(database, region.url, { enrich: true });
    await region.close();
    fids = (await database.query<{ fid: number }>('select fid from core.parcel order by fid')).map(({ fid }) => fid);
  });

  afterAll(() => on?.close());

  const post = async (body: string, { key, query = '' }: { key?: string | undefined; query?: string } = {}): Promise<Answered> => (
    on.ask(`${PATH}${query}`, { method: 'POST', body, headers: HEADERS, key: key ?? await on.token(['parcels:read']) })
  );

  it('exists only if the server enables enrich, and accepts only POST', async () => {
    const off = await emptyService(engine);
    try {
      expect((await off.ask(PATH, { method: 'POST', body: 'fid\n1\n', headers: HEADERS, key: await off.token() })).status).toBe(404);
    } finally {
      await off.close();
    }
    const got = await on.ask(PATH, { key: await on.token() });
    expect([got.status, got.headers['allow'], got.body?.['error']]).toEqual([405, 'POST', 'METHOD_NOT_ALLOWED']);
    const posted = await on.ask('/admin/regions', { method: 'POST', key: await on.token() });
    expect([posted.status, posted.headers['allow']]).toEqual([405, 'GET']);
  });

  it('returns the rows of several batches in their order, with the licences in the header Link', async () => {
    const asked = Array.from({ length: 250 }, (_, index) => (index % 50 === 49 ? 'x' : String(fids[index % fids.length])));
    const { status, headers, text } = await post(['fid;note', ...asked.map((fid, index) => `${fid};${index}`)].join('\n'), { query: '?sections=risk,terrain' });
    expect([status, headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8']);
    const rows: Record<string, string>[] = parse(text, { columns: true, delimiter: ';' });
    expect(rows.map(({ note }) => note)).toEqual(asked.map((_, index) => String(index)));
    expect(rows.map(({ status: found, mappale_fid: fid }) => [found, fid])).toEqual(asked.map((fid) => (fid === 'x' ? ['invalid', ''] : ['found', fid])));
    expect(Object.keys(rows[0]!)).toEqual(expect.arrayContaining(['risk_pga_g', 'terrain_elevation_mean_m', 'terrain_coverage']));
    expect(Object.keys(rows[0]!)).not.toContain('land_cover_code');
    expect(String(headers['link'])).toMatch(/^<http[^>]*>; rel="license"; title\*=UTF-8''/);
  });

  it('counts each row as a request, and accepts either all rows of a table or none', async () => {
    const key = await on.token(['parcels:read']);
    const table = (rows: number): string => `fid\n${Array.from({ length: rows }, () => fids[0]).join('\n')}\n`;
    const first = await post(table(600), { key });
    expect([first.status, first.headers['x-ratelimit-remaining']]).toEqual([200, '400']);
    const refused = await post(table(600), { key });
    expect([refused.status, refused.body?.['error'], Number(refused.headers['retry-after']) > 0]).toEqual([429, 'RATE_LIMITED', true]);
    // The refused upload counted as one request.
    const last = await post(table(399), { key });
    expect([last.status, last.headers['x-ratelimit-remaining']]).toEqual([200, '0']);
  });

  it('refuses uploads that are too large or invalid, have no key, or need a scope that the token lacks', async () => {
    const messageOf = async (body: string, query = ''): Promise<unknown[]> => {
      const { status, body: answer } = await post(body, { query });
      return [status, answer?.['error'], String(answer?.['message'])];
    };
    expect(await messageOf(`fid\n${'1\n'.repeat(1001)}`)).toEqual([400, 'INVALID_PARAMS', expect.stringContaining('at most 1000 rows')]);
    expect(await messageOf(`fid,note\n1,${'a'.repeat(1_100_000)}`)).toEqual([400, 'INVALID_PARAMS', expect.stringContaining('body')]);
    expect(await messageOf('')).toEqual([400, 'INVALID_PARAMS', expect.stringContaining('empty')]);
    expect(await messageOf('a,b\n1,2\n')).toEqual([400, 'INVALID_PARAMS', expect.stringContaining('lat,lng')]);
    expect(await messageOf('fid\n1\n', '?sections=rsk')).toEqual([400, 'INVALID_PARAMS', expect.stringContaining('sections')]);
    expect((await on.ask(PATH, { method: 'POST', body: 'fid\n1\n', headers: HEADERS })).status).toBe(401);
    expect((await post('fid\n1\n', { key: await on.token(['admin_data:read']) })).status).toBe(403);
    // A table of addresses needs the scope of the address search.
    const addresses = await post('address,city\nVia Roma 1,Campobasso\n');
    expect([addresses.status, addresses.body?.['details']]).toEqual([403, { required_scope: 'geocoding:read' }]);
    expect((await post('address,city\nVia Roma 1,Campobasso\n', { key: await on.token(['parcels:read', 'geocoding:read']) })).status).toBe(200);
  });
});
