/** Tests the configured base map: its template, the content security policy, and its tiles and attribution in a browser. */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { baseMapOf, originOfTiles } from '../../api/base-map.ts';
import { CHROMIUM, PICTURES } from '../harness/browser.ts';
import { describeEngines } from '../harness/database.ts';
import { regionService, serviceOn } from './harness.ts';
import { openMapBrowser, overlaps, PHONE, pixels, type MapBrowser } from './map-browser.ts';

/** A PNG of one pixel, and its colour. */
const [PIXEL, COLOUR] = ['iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGM4obEAAANMAZEBDUXwAAAAAElFTkSuQmCC', 'rgb(200, 40, 160)'];

describe('the template of a base map', () => {
  it.each([
    ['https://tiles.example.org/{z}/{x}/{y}.png', 'https://tiles.example.org/{z}/{x}/{y}.png'],
    ['https://example.org/wmts/l/default/g/{TileMatrix}/{TileRow}/{TileCol}.png', 'https://example.org/wmts/l/default/g/{z}/{y}/{x}.png'],
    ['https://example.org:8443/?TILEMATRIX={TileMatrix}&TILEROW={TileRow}&TILECOL={TileCol}', 'https://example.org:8443/?TILEMATRIX={z}&TILEROW={y}&TILECOL={x}'],
  ])('may be XYZ or WMTS: %s', (template, tiles) => {
    const base = baseMapOf(template, ' © Example ', 18);
    expect(base).toEqual({ tiles, attribution: '© Example', maxzoom: 18 });
    expect(template.startsWith(`${originOfTiles(base)}/`)).toBe(true);
  });
});

describeEngines('a server with a base map', (engine) => {
  describe.skipIf(CHROMIUM === undefined)(CHROMIUM === undefined ? 'in a browser [not run, no Chromium: apt-get install chromium]' : 'in a browser', () => {
    let plain: Awaited<ReturnType<typeof regionService>>;
    let service: Awaited<ReturnType<typeof serviceOn>>;
    let other: Server;
    let origin: string;
    let map: MapBrowser;
    const asked: { path: string; headers: IncomingHttpHeaders }[] = [];

    beforeAll(async () => {
      plain = await regionService(engine);
      other = createServer((request, response) => {
        asked.push({ path: request.url ?? '', headers: request.headers });
        response.writeHead(200, { 'content-type': 'image/png', 'access-control-allow-origin': '*' }).end(Buffer.from(PIXEL, 'base64'));
      });
      await new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve));
      origin = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
      service = await serviceOn(plain.database, plain.url, { baseMap: baseMapOf(`${origin}/{z}/{x}/{y}.png`, '© <b>Example</b> 2026', 17) });
      map = await openMapBrowser({ ...service, token: plain.token });
    });
    afterAll(async () => {
      await map?.close();
      await service?.close();
      await plain?.close();
      other?.close();
    });

    const policyOf = async (server: Pick<typeof service, 'ask'>, path: string): Promise<string> => (await server.ask(path)).headers['content-security-policy']!;

    it('adds only the origin of the tiles to the content security policy of the map, for requests and not for scripts or pictures', async () => {
      const without = await policyOf(plain, '/map');
      expect(without).toContain("connect-src 'self';");
      expect(await policyOf(service, '/map')).toBe(without.replace("connect-src 'self';", `connect-src 'self' ${origin};`));
      expect(await policyOf(service, '/docs')).toBe(await policyOf(plain, '/docs'));
      const overview = async (server: Pick<typeof service, 'ask'>): Promise<unknown> => (await server.ask('/map/overview.json')).body!['base_map'];
      expect([await overview(plain), await overview(service)]).toEqual([null, { tiles: `${origin}/{z}/{x}/{y}.png`, attribution: '© <b>Example</b> 2026', maxzoom: 17 }]);
    });

    it('does not cover the attribution on a small screen while the tiles are loading', async () => {
      const tiles = createServer(() => undefined);
      await new Promise<void>((resolve) => void tiles.listen(0, '127.0.0.1', resolve));
      const { port } = tiles.address() as AddressInfo;
      const slow = await serviceOn(plain.database, plain.url, { baseMap: baseMapOf(`http://127.0.0.1:${port}/{z}/{x}/{y}.png`, '© OpenStreetMap contributors, © Region (CC BY 4.0)', 17) });
      const phone = await openMapBrowser({ ...slow, token: plain.token });
      try {
        const page = await phone.open('#map=6/42/14', { ...PHONE, isAwaited: false });
        await page.locator('#loading', { hasText: 'Loading the map …' }).waitFor();
        expect(await page.locator('#base-credit').isVisible()).toBe(true);
        await expect.poll(() => overlaps(page)).toEqual([]);
        await page.screenshot({ path: `${PICTURES}map-base-loading-390.png` });
      } finally {
        await phone.close();
        await slow.close();
        tiles.closeAllConnections();
        tiles.close();
      }
    });

    it('draws the tiles with their attribution until the user switches the base map off, and sends no token and no referrer to the tile server', async () => {
      const [{ lat, lng }] = await plain.database.query<{ lat: number; lng: number }>('select st_y(point) as lat, st_x(point) as lng from core.parcel order by fid limit 1') as [{ lat: number; lng: number }];
      for (const [viewport, name] of [[{ width: 1280, height: 800 }, '1280'], [{ width: 390, height: 844 }, '390']] as const) {
        asked.length = 0;
        const page = await map.open(`#map=18/${lat}/${lng}&layer=parcels`, { viewport });
        await expect.poll(async () => (await pixels(page)).get(COLOUR) ?? 0).toBeGreaterThan(10_000);
        const credit = page.locator('#base-credit');
        expect([await credit.isVisible(), await credit.textContent()]).toEqual([true, '© <b>Example</b> 2026']);
        await page.screenshot({ path: `${PICTURES}map-base-${name}.png` });
        expect(asked.length).toBeGreaterThan(0);
        expect(asked.map(({ path }) => path).filter((path) => !/^\/1[0-7]\/\d+\/\d+\.png$|^\/\d\/\d+\/\d+\.png$/.test(path))).toEqual([]);
        for (const { headers } of asked) expect([headers['x-api-key'], headers.referer, headers.cookie]).toEqual([undefined, undefined, undefined]);
        await page.evaluate("document.querySelector('#layers').setAttribute('open', '')");
        await page.locator('#base input').uncheck();
        await expect.poll(async () => (await pixels(page)).get(COLOUR) ?? 0).toBe(0);
        expect(await credit.isVisible()).toBe(false);
        await page.reload();
        await page.locator('body[data-ready]').waitFor();
        expect([await page.locator('#base input').isChecked(), await credit.isVisible()]).toEqual([false, false]);
        await page.context().close();
      }
      expect([...map.asked].sort()).toEqual([origin, map.origin].sort());
      expect(map.problems.filter((each) => !/GPU stall|WebGL/.test(each))).toEqual([]);
    });
  });
});
