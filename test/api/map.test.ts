/** The pages for people, in a real browser: search, click, read. */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeEngines } from '../harness/database.ts';
import { BASE, regionService } from './harness.ts';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path));
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
/** Pictures for whoever wants to look; not part of the project. */
const PICTURES = fileURLToPath(new URL('../../.mappale/pictures/', import.meta.url));

/** A busy machine takes its time. */
const SOON = { timeout: 20_000 };

describeEngines('the pages', (engine) => {
  describe.skipIf(CHROMIUM === undefined)(CHROMIUM === undefined ? 'in a browser [not run, no Chromium: apt-get install chromium]' : 'in a browser', () => {
    let service: Awaited<ReturnType<typeof regionService>>;
    let browser: Browser;
    let page: Page;
    let origin: string;
    let key: string;
    const problems: string[] = [];
    const asked = new Set<string>();
    /** Questions that a token paid for. */
    const paid: string[] = [];

    beforeAll(async () => {
      service = await regionService(engine);
      origin = await service.app.listen({ host: '127.0.0.1', port: 0 });
      key = await service.token();
      await mkdir(PICTURES, { recursive: true });
      browser = await chromium.launch({ executablePath: CHROMIUM!, args: FLAGS });
      page = await browser.newPage({ viewport: { width: 1360, height: 860 } });
      page.on('console', (message) => {
        if (message.type() === 'error') problems.push(message.text());
      });
      page.on('pageerror', (error) => void problems.push(String(error)));
      page.on('request', (request) => {
        asked.add(new URL(request.url()).origin);
        if (request.headers()['x-api-key'] !== undefined) paid.push(new URL(request.url()).pathname.slice(BASE.length));
      });
    });
    afterAll(async () => {
      await browser?.close();
      await service?.close();
    });

    it('search an address and show its parcel, its neighbours and every section with its source', async () => {
      const [address] = await service.database.query<{ fid: number; text: string; belfiore: string; label: string }>(
        `select x.fid, s.name || ' ' || a.number as text, a.belfiore, p.label from section.address x join core.parcel p on p.fid = x.fid
         join core.access_point a on a.address_id = x.address_id join core.street s on s.street_id = a.street_id
         where x.ordinal = 1 and a.exponent is null and a.colour is null and st_intersects(p.geom, a.geom) order by x.fid limit 1`,
      );
      await page.goto(`${origin}${BASE}/map`);
      await page.getByLabel('Address, coordinates or fid').fill(address!.text);
      await page.getByLabel('Comune (optional)').fill(address!.belfiore);
      await page.getByLabel('Token').fill(key);
      await page.getByRole('button', { name: 'Search' }).click();
      await page.locator('#record h2').waitFor();
      await page.locator('[data-section=neighbours]').waitFor({ timeout: 30_000 });
      expect(await page.locator('#record h2').first().textContent()).toContain(`Particella ${address!.label}`);
      expect(await page.locator(`path[data-fid="${address!.fid}"]`).count()).toBeGreaterThan(0);
      expect(await page.locator('#map path[data-fid]').count()).toBeGreaterThan(2);
      for (const section of ['basic', 'risk', 'subsidence', 'coastal_erosion', 'valuation', 'valuation_history', 'economics', 'demographics', 'address']) {
        expect(await page.locator(`[data-section=${section}] h3`).count(), section).toBe(1);
      }
      expect(await page.locator('[data-section=risk] .source').textContent()).toMatch(/^Source: .+/);
      expect(await page.locator('[data-section=valuation_history] tbody tr').count()).toBeGreaterThanOrEqual(22);
      expect(await page.locator('.licenses li').count()).toBeGreaterThan(3);
      await page.screenshot({ path: `${PICTURES}map-${engine.name}.png` });
      await page.locator('[data-section=valuation_history]').scrollIntoViewIfNeeded();
      await page.screenshot({ path: `${PICTURES}map-record-${engine.name}.png` });
    });

    it('show a parcel for two questions, and its address above it', async () => {
      expect(paid.map((path) => path.replace(/\d+/, '{id}'))).toEqual(['/geocode/search', '/parcels/locate', '/parcels/{id}']);
      const other = await page.locator('#map path[data-fid]:not([stroke="#0b5c8a"])').first().getAttribute('data-fid');
      paid.length = 0;
      await page.getByLabel('Address, coordinates or fid').fill(other!);
      await page.getByRole('button', { name: 'Search' }).click();
      await expect.poll(() => page.locator('#map path[stroke="#0b5c8a"]').first().getAttribute('data-fid'), SOON).toBe(other);
      await expect.poll(() => paid, SOON).toEqual([`/parcels/${other}`, '/parcels/locate']);
      await expect.poll(() => page.locator('[data-section=neighbours] button').count(), SOON).toBeGreaterThan(1);
      const styled = async (selector: string, property: string): Promise<string> => String(await page.evaluate(`getComputedStyle(document.querySelector('${selector}')).${property}`));
      expect(Number(await styled('.leaflet-marks-pane', 'zIndex'))).toBeGreaterThan(Number(await styled('.leaflet-overlay-pane', 'zIndex')));
    });

    it('name the comune of what was found, and close the list when one is chosen', async () => {
      await page.getByLabel('Address, coordinates or fid').fill('via roma');
      await page.getByLabel('Comune (optional)').fill('');
      await page.getByRole('button', { name: 'Search' }).click();
      const results = page.locator('#results button');
      await expect.poll(() => results.count(), SOON).toBeGreaterThan(1);
      for (const text of await results.allTextContents()) expect(service.region.comuni.some(({ italianName }) => text.includes(italianName)), text).toBe(true);
      expect(await page.locator('#results').isVisible()).toBe(true);
      expect(await page.locator('.leaflet-marks-pane path').count()).toBe(1);
      await results.nth(1).click();
      await expect.poll(() => page.locator('#results').isVisible(), SOON).toBe(false);
      await expect.poll(() => page.locator('#status').textContent(), SOON).toMatch(/^Parcel /);
    });

    it('take nothing that comes from data for HTML, and never break a number', async () => {
      const markup = '<img src=x onerror="document.title=1">';
      // One that was not asked before: what the browser has of it would still be current.
      const [before] = await service.database.query<{ fid: number; label: string }>('select fid, label from core.parcel order by fid desc limit 1');
      await service.database.query('update core.parcel set label = $2 where fid = $1', [before!.fid, markup]);
      try {
        await page.getByLabel('Address, coordinates or fid').fill(String(before!.fid));
        await page.getByRole('button', { name: 'Search' }).click();
        await expect.poll(() => page.locator('#record h2').first().textContent(), SOON).toContain(markup);
        expect(await page.locator('.parcel-label').allTextContents()).toContain(markup);
        expect(await page.locator('main img').count()).toBe(0);
      } finally {
        await service.database.query('update core.parcel set label = $2 where fid = $1', [before!.fid, before!.label]);
      }
      expect(await page.locator('#record .value, #record td.number').count()).toBeGreaterThan(20);
      expect(await page.evaluate("[...document.querySelectorAll('#record .value, #record td.number')].filter((cell) => getComputedStyle(cell).whiteSpace !== 'nowrap').map((cell) => cell.textContent)")).toEqual([]);
    });

    it('go to a neighbour by a click on the map, and by its button', async () => {
      const title = page.locator('#record h2').first();
      const first = await title.textContent();
      const chosen = await page.locator('#map path[stroke="#0b5c8a"]').first().getAttribute('data-fid');
      const others = page.locator(`#map path[data-fid]:not([data-fid="${chosen}"])`);
      // A click lands in the middle of a shape's box, which another parcel may hold: the map answers for whatever is there.
      const box = (await others.first().boundingBox())!;
      const map = (await page.locator('#map').boundingBox())!;
      await page.mouse.click(
        Math.min(Math.max(box.x + box.width / 2, map.x + 60), map.x + map.width - 10),
        Math.min(Math.max(box.y + box.height / 2, map.y + 90), map.y + map.height - 10),
      );
      await expect.poll(() => title.textContent(), { timeout: 20_000 }).not.toBe(first);
      await page.locator('[data-section=neighbours] button').first().waitFor();
      const second = await title.textContent();
      await page.locator('[data-section=neighbours] button').first().press('Enter');
      await expect.poll(() => title.textContent(), { timeout: 20_000 }).not.toBe(second);
    });

    it('tell what went wrong in words', async () => {
      await page.getByLabel('Token').fill('mpl_wrong');
      await page.getByRole('button', { name: 'Search' }).click();
      await expect.poll(() => page.locator('#status').textContent(), SOON).toMatch(/not known, has expired or was revoked/);
      await page.getByLabel('Token').fill(key);
      await page.getByLabel('Address, coordinates or fid').fill('38.5, 6.5');
      await page.getByRole('button', { name: 'Search' }).click();
      await expect.poll(() => page.locator('#status').textContent(), SOON).toMatch(/There is no parcel/);
    });

    it('name every field, and hold nothing that only a mouse could reach', async () => {
      expect(await page.locator('input:not([id])').count()).toBe(0);
      for (const id of await page.locator('input').evaluateAll((inputs) => inputs.map((input) => input.id))) {
        expect(await page.locator(`label:has(#${id}) span`).textContent(), id).toMatch(/\w/);
      }
      expect(await page.locator('html').getAttribute('lang')).toBe('en');
      expect(await page.locator('[role=status][aria-live]').count()).toBe(1);
      expect(await page.locator('[data-section=neighbours] button').count()).toBeGreaterThan(0);
    });

    it('show the document, ready to be tried', async () => {
      await page.goto(`${origin}${BASE}/docs`);
      await page.getByText('From an address to coordinates').waitFor({ timeout: 30_000 });
      expect(await page.locator('.opblock').count()).toBeGreaterThanOrEqual(9);
      await page.screenshot({ path: `${PICTURES}docs-${engine.name}.png` });
      await page.setViewportSize({ width: 390, height: 844 });
      await page.screenshot({ path: `${PICTURES}docs-narrow-${engine.name}.png` });
      await page.goto(origin);
      expect(page.url()).toBe(`${origin}${BASE}/docs`);
    });

    it('ask nothing of anybody but this server, and say nothing on the console', () => {
      expect([...asked].filter((each) => each !== origin && each !== 'null')).toEqual([]);
      // The wrong token of a test above is told by the browser as well.
      expect(problems.filter((problem) => !/401 \(Unauthorized\)/.test(problem))).toEqual([]);
    });
  });
}, ['postgres']);
