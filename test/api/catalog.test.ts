/** Tests that the server's catalogue needs no key, that its requests are counted per network, and that its links contain the host of the request. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { OPEN_QUOTA } from '../../api/access.ts';
import { catalogDocuments } from '../../pipelines/deliver/catalog/index.ts';
import { describeDatabase } from '../harness/database.ts';
import { BASE, DOCUMENT, emptyService, violationsOf, type Service } from './harness.ts';

const PATHS = ['/catalog/dcat.ttl', '/catalog/dcat.jsonld', '/catalog/stac/catalog.json'];

describeDatabase('the catalogue', (engine) => {
  let service: Service;
  beforeAll(async () => {
    const publisher = { id: 'c_b519', name: 'Comune' };
    service = await emptyService(engine, {
      catalog: async (api) => catalogDocuments({ base: `${api}/catalog`, files: '', api, publisher, exports: [], highValue: [], today: '2026-06-01' }),
    });
  });
  afterAll(() => service?.close());

  it('needs no key, has the documented media types, and counts each request', async () => {
    let left = OPEN_QUOTA;
    for (const path of PATHS) {
      const answered = await service.ask(path, { from: '192.0.2.71' });
      expect(violationsOf(path, answered), path).toEqual([]);
      expect([path, answered.status, answered.headers['content-type']?.replace(/;.*/, '')]).toEqual([path, 200, Object.keys(DOCUMENT.paths[path]!.get.responses['200']!.content!)[0]]);
      expect(answered.headers['x-ratelimit-remaining']).toBe(String(left -= 1));
      const again = await service.ask(path, { from: '192.0.2.71', headers: { 'if-none-match': answered.headers['etag']! } });
      expect([path, again.status, violationsOf(path, again)]).toEqual([path, 304, []]);
      left -= 1;
    }
  });

  it('contains URLs of the API with the host of the request', async () => {
    const { payload } = await service.app.inject({ method: 'GET', url: `${BASE}/catalog/dcat.ttl`, headers: { host: 'maps.example:8443' } });
    expect(payload).toContain(`<http://maps.example:8443${BASE}/catalog#parcels>`);
    expect(payload).toContain(`<http://maps.example:8443${BASE}/openapi.json>`);
  });

  it('refuses parameters, the method POST and unknown documents', async () => {
    for (const [path, method, status] of [['/catalog/dcat.ttl?f=x', 'GET', 400], ['/catalog/dcat.ttl', 'POST', 405], ['/catalog', 'GET', 404], ['/catalog/stac/molise/collection.json', 'GET', 404], ['/catalog/stac/x/..%2Fdcat.ttl', 'GET', 404]] as const) {
      expect([path, method, (await service.ask(path, { method })).status]).toEqual([path, method, status]);
    }
  });

  it('refuses POST, DELETE, OPTIONS and HEAD with 405 and the header Allow, even below the folder of a region', async () => {
    for (const path of ['/catalog/dcat.ttl', '/catalog/stac/catalog.json', '/catalog/stac/molise/collection.json']) {
      for (const method of ['POST', 'DELETE', 'OPTIONS', 'HEAD'] as const) {
        const { status, headers, body } = await service.ask(path, { method });
        expect([path, method, status, headers['allow']]).toEqual([path, method, 405, 'GET']);
        if (method !== 'HEAD') expect(body).toMatchObject({ error: 'METHOD_NOT_ALLOWED' });
      }
    }
  });
});
